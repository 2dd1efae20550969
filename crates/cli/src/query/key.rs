//! Numbers as text: their types, how they are read, and which type a column's texts call for.
//!
//! An index only ever sees the order-keeping bits of a number ([`latchless::Key::encode`]), so all
//! six key types are served by two kinds of index, over 32-bit and over 64-bit keys.

use super::number::Number;
use super::numeric::{Numeric, Unfit};
use latchless::snapshot::DataType;
use latchless::{Bits, Key};
use std::fmt;

/// Every integer up to here has an `f64` of its own; above, neighbours fall together.
const EXACT_IN_F64: f64 = 9_007_199_254_740_992.0; // 2^53

/// What key types differ in.
struct Codec {
    name: &'static str,
    is_narrow: bool,
    /// The order-keeping bits of the key that a text is written for.
    read: fn(&str) -> Result<u64, Unfit>,
    at_most: fn(&Number) -> Option<u64>,
    at_least: fn(&Number) -> Option<u64>,
    ends: fn() -> (u64, u64),
    data_type: DataType,
    /// The cell of a snapshot for a key's order-keeping bits, and back.
    cell: fn(u64) -> u64,
    of_cell: fn(u64) -> u64,
}

impl Codec {
    const fn of<K: Numeric>(name: &'static str) -> Self {
        Self {
            name,
            is_narrow: size_of::<<K as Key>::Bits>() == size_of::<u32>(),
            read: |text| K::read(text).map(bits),
            at_most: |number| K::at_most(number).map(bits),
            at_least: |number| K::at_least(number).map(bits),
            ends: || (bits(K::SMALLEST), bits(K::LARGEST)),
            data_type: K::DATA_TYPE,
            cell: |bits| <K as Key>::decode(Bits::truncate(bits)).to_cell(),
            of_cell: |cell| bits(K::from_cell(cell).unified()),
        }
    }
}

fn bits(key: impl Key) -> u64 {
    key.encode().to_u64()
}

macro_rules! key_types {
    ($($(#[$about:meta])* $name:ident: $K:ident,)*) => {
        /// What a column's numbers are read as.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
        pub enum KeyType {
            $($(#[$about])* $name,)*
        }

        impl KeyType {
            fn codec(self) -> &'static Codec {
                match self {
                    $(Self::$name => &const { Codec::of::<$K>(stringify!($K)) },)*
                }
            }
        }
    };
}

key_types! {
    /// Unsigned, 32 bits.
    U32: u32,
    /// Unsigned, 64 bits.
    U64: u64,
    /// Signed, 32 bits.
    I32: i32,
    /// Signed, 64 bits.
    I64: i64,
    /// Floating point, 32 bits.
    F32: f32,
    /// Floating point, 64 bits.
    F64: f64,
}

impl KeyType {
    /// Whether the keys have 32 bits.
    pub fn is_narrow(self) -> bool {
        self.codec().is_narrow
    }

    /// The order-keeping bits of a number in this type.
    fn bits(self, text: &str) -> Result<u64, Complaint> {
        (self.codec().read)(text).map_err(|unfit| match unfit {
            Unfit::Syntax if text.is_empty() => Complaint::Empty(self),
            Unfit::Syntax if !is_number(text) => Complaint::NotANumber(quoted(text)),
            Unfit::Syntax => Complaint::NotOfType(quoted(text), self),
            Unfit::Size => Complaint::Beyond(quoted(text), self),
        })
    }

    /// What keys of a snapshot are read as; narrow ones as the narrowest type here that holds them.
    pub fn of(data_type: DataType) -> Option<Self> {
        Some(match data_type {
            DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => Self::U32,
            DataType::UInt64 => Self::U64,
            DataType::Int8 | DataType::Int16 | DataType::Int32 => Self::I32,
            DataType::Int64 | DataType::Timestamp(_) | DataType::Duration(_) => Self::I64,
            DataType::Float32 => Self::F32,
            DataType::Float64 => Self::F64,
            _ => return None,
        })
    }

    /// What a snapshot of these keys has.
    pub fn data_type(self) -> DataType {
        self.codec().data_type
    }

    /// The cell of a key, which is given by its order-keeping bits.
    pub fn cell(self, bits: u64) -> u64 {
        (self.codec().cell)(bits)
    }

    /// The order-keeping bits of the key in a cell of a column `from`, of which this is the type here.
    pub fn bits_of_cell(self, from: DataType, cell: u64) -> u64 {
        (self.codec().of_cell)(match from {
            DataType::Int8 => cell as i8 as u64,
            DataType::Int16 => cell as i16 as u64,
            _ => cell,
        })
    }

    /// The bits of the smallest and the largest key that are numbers: infinities are, NaN isn't.
    pub fn ends(self) -> (u64, u64) {
        (self.codec().ends)()
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.codec().name)
    }
}

/// Why a text isn't a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Complaint {
    /// Nothing there.
    #[error("the field is empty where a number of type {0} should be")]
    Empty(KeyType),
    /// Something else than a number.
    #[error("{0} is not a number")]
    NotANumber(String),
    /// A number, but not of this type.
    #[error("{0} is not a number of type {1}")]
    NotOfType(String, KeyType),
    /// A number beyond all finite ones of this type.
    #[error("{0} is beyond the range of type {1}")]
    Beyond(String, KeyType),
    /// An integer that no inferred type holds exactly.
    #[error(
        "{0} would be rounded, or not fit, next to the column's other numbers; --key-type names a type for all of them"
    )]
    WouldRound(String),
    /// A text, or several parts together, of more bytes than a key may have.
    #[error("the key has {0} bytes, more than the 65,535 that a key may have")]
    TooLong(usize),
}

impl Complaint {
    /// Whether there is no number at all: such rows can be left out.
    pub fn is_no_number(&self) -> bool {
        matches!(self, Self::Empty(_) | Self::NotANumber(_))
    }
}

/// How a column's texts are read: as a type that was named, or as the narrowest that fits so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// What the texts are read as.
    pub key_type: KeyType,
    /// Whether that follows from the column rather than from an argument.
    pub inferred: bool,
}

impl Rule {
    /// The rule to begin with, given what was named.
    pub fn new(named: Option<KeyType>) -> Self {
        Self { key_type: named.unwrap_or(KeyType::U64), inferred: named.is_none() }
    }

    /// The order-keeping bits of the number in `text`, blanks around it ignored.
    ///
    /// # Errors
    /// A [`Complaint`] that quotes the text.
    pub fn read(self, text: &str) -> Result<u64, Complaint> {
        let text = text.trim_ascii();
        let bits = self.key_type.bits(text)?;
        if self.inferred && self.key_type == KeyType::F64 && rounds(text) {
            return Err(Complaint::WouldRound(quoted(text)));
        }
        Ok(bits)
    }

    /// The rule to start the column over with, after this one didn't read `text`.
    ///
    /// # Errors
    /// The [`Complaint`] to report when no wider type reads it either.
    pub fn widened(self, text: &str, complaint: Complaint) -> Result<Self, Complaint> {
        let text = text.trim_ascii();
        let wider = |key_type| Ok(Self { key_type, inferred: true });
        match self.key_type {
            _ if !self.inferred || text.is_empty() => Err(complaint),
            KeyType::U64 if KeyType::I64.bits(text).is_ok() => wider(KeyType::I64),
            KeyType::U64 | KeyType::I64 if is_integer(text) => Err(Complaint::WouldRound(quoted(text))),
            KeyType::U64 | KeyType::I64 => KeyType::F64.bits(text).and_then(|_| wider(KeyType::F64)),
            _ => Err(complaint),
        }
    }

    /// The keys that are this number or larger, from which one, and those that are this number or
    /// smaller, up to which one; `None` where there are none.
    ///
    /// A number that the column could hold is read as the column's are: rounded, if they are, so
    /// that every row is found by its own text. All others are compared as what they are.
    pub fn place(self, text: &str, number: &Number) -> (Option<u64>, Option<u64>) {
        match self.read(text) {
            Ok(bits) => (Some(bits), Some(bits)),
            Err(_) => {
                let codec = self.key_type.codec();
                ((codec.at_least)(number), (codec.at_most)(number))
            }
        }
    }
}

/// Whether the text is a number of any type, NaN included.
pub fn is_number(text: &str) -> bool {
    text.trim_ascii().parse::<f64>().is_ok()
}

/// Whether the text means NaN.
pub fn is_nan(text: &str) -> bool {
    text.trim_ascii().parse::<f64>().is_ok_and(f64::is_nan)
}

/// Digits, perhaps after a sign.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether reading this integer as an `f64` might give another one's number.
fn rounds(text: &str) -> bool {
    is_integer(text) && text.parse::<f64>().is_ok_and(|number| number.abs() > EXACT_IN_F64 - 1.0)
}

/// The text in quotes, control characters escaped, cut to what a message has room for.
pub fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown:?}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The type that a column of these texts ends up with.
    fn infer(texts: &[&str]) -> Result<KeyType, Complaint> {
        let mut rule = Rule::new(None);
        'again: loop {
            for text in texts {
                if let Err(complaint) = rule.read(text) {
                    rule = rule.widened(text, complaint)?;
                    continue 'again;
                }
            }
            return Ok(rule.key_type);
        }
    }

    #[test]
    fn a_column_takes_the_first_type_that_holds_every_number_exactly() {
        assert_eq!(infer(&["1", " 18446744073709551615 ", "+3"]), Ok(KeyType::U64));
        assert_eq!(infer(&["1", "-2", "9223372036854775807"]), Ok(KeyType::I64));
        assert_eq!(infer(&["1", "-2", "1e3"]), Ok(KeyType::F64));
        assert_eq!(infer(&["0.5", "-7", "inf"]), Ok(KeyType::F64));
        assert_eq!(infer(&["0.5", "9007199254740991"]), Ok(KeyType::F64));
    }

    #[test]
    fn no_inferred_type_makes_two_numbers_of_a_column_equal() {
        for texts in [
            &["18446744073709551616"][..],
            &["18446744073709551615", "-1"],
            &["9007199254740993", "0.5"],
            &["0.5", "9007199254740993"],
            &["-1", "-9223372036854775809"],
        ] {
            assert!(matches!(infer(texts), Err(Complaint::WouldRound(_))), "{texts:?}");
        }
        let named = Rule::new(Some(KeyType::F64));
        assert_eq!(named.read("9007199254740993"), named.read("9007199254740992"));
    }

    #[test]
    fn what_is_no_number_is_quoted() {
        assert_eq!(infer(&["1", "rs74"]).unwrap_err().to_string(), "\"rs74\" is not a number");
        assert_eq!(infer(&["1", " "]), Err(Complaint::Empty(KeyType::U64)));
        let narrow = Rule::new(Some(KeyType::U32));
        let complaint = narrow.read("4294967296").unwrap_err();
        assert_eq!(complaint.to_string(), "\"4294967296\" is not a number of type u32");
        assert_eq!(narrow.widened("4294967296", complaint.clone()), Err(complaint));
        assert!(quoted(&"é".repeat(500)).chars().count() < 50);
        assert_eq!(quoted("a\u{1b}[31m"), "\"a\\u{1b}[31m\"");
    }

    #[test]
    fn bits_keep_the_order_of_every_type() {
        for (key_type, ascending) in [
            (KeyType::U32, &["0", "7", "4294967295"][..]),
            (KeyType::I32, &["-2147483648", "-1", "0", "2147483647"]),
            (KeyType::I64, &["-9223372036854775808", "-1", "0", "1"]),
            (KeyType::F32, &["-inf", "-1.5", "0", "1e-30", "inf", "NaN"]),
            (KeyType::F64, &["-inf", "-1.5", "0", "1e-300", "inf", "NaN"]),
        ] {
            let bits: Vec<u64> = ascending.iter().map(|text| key_type.bits(text).unwrap()).collect();
            assert!(bits.is_sorted_by(|a, b| a < b), "{key_type}");
        }
    }
}
