//! Numbers as text: their types, how they are read, and which type a column's texts call for.
//!
//! An index only ever sees the order-keeping bits of a number ([`latchless::Key::encode`]), so all
//! six key types are served by two kinds of index, over 32-bit and over 64-bit keys.

use super::few::Few;
use super::form::Form;
use super::number::{Number, has_leading_zero};
use super::numeric::{Numeric, Unfit};
use latchless::snapshot::DataType;
use latchless::{Bits, Key};
use std::fmt;

/// The differences between key types.
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
        /// The type as which a column's numbers are read.
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

    /// The type of a snapshot's keys; for narrow ones the narrowest type here that holds them.
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

    /// The type of these keys in a snapshot.
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
    /// A number that the inferred type doesn't hold exactly; decimals do.
    #[error("{0} would be rounded, or not fit; --key-type decimal holds all numbers")]
    WouldRound(String),
    /// Digits with a zero in front, where no type was named.
    #[error(
        "{0} has a zero in front, as ids have; with --key-type text the keys are texts, with --key-type u64 numbers"
    )]
    LeadingZero(String),
    /// Nothing there.
    #[error("the field is empty where a cell of type {0} should be")]
    EmptyForm(Form),
    /// Something of another form.
    #[error("{0} is not of type {1}, as {example} is", example = .1.example())]
    NotOfForm(String, Form),
    /// An interval that ends before it begins.
    #[error("the interval from {0} to {1} ends before it begins")]
    Inverted(String, String),
    /// Something else than a stretch of a chromosome.
    #[error("{0} is not a region, as chr22:50300000-50400000 is")]
    NotARegion(String),
    /// A text, or several parts together, of more bytes than a key may have.
    #[error("the key has {0} bytes, more than the {max} that a key may have", max = latchless::bytes::KEY_LEN_MAX)]
    TooLong(usize),
}

impl Complaint {
    /// Why a cell isn't of a form.
    pub fn of_form(cell: &str, form: Form) -> Self {
        match cell.trim_ascii() {
            "" => Self::EmptyForm(form),
            cell => Self::NotOfForm(quoted(cell), form),
        }
    }

    /// Whether there is no such value at all: rows like this can be left out.
    pub fn is_no_value(&self) -> bool {
        matches!(
            self,
            Self::Empty(_)
                | Self::NotANumber(_)
                | Self::EmptyForm(_)
                | Self::NotOfForm(..)
                | Self::Inverted(..)
                | Self::NotARegion(_)
        )
    }
}

/// How a column's texts are read: as a type that was named, or as the narrowest that fits so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The type of the numbers.
    pub key_type: KeyType,
    /// Whether that follows from the column rather than from an argument.
    pub inferred: bool,
}

impl Rule {
    /// The rule to begin with, given the named type.
    pub fn new(named: Option<KeyType>) -> Self {
        Self { key_type: named.unwrap_or(KeyType::U64), inferred: named.is_none() }
    }

    /// The order-keeping bits of the number in `text`, blanks around it ignored.
    ///
    /// # Errors
    /// A [`Complaint`] that quotes the text.
    pub fn read(self, text: &str) -> Result<u64, Complaint> {
        self.read_trimmed(text.trim_ascii())
    }

    fn read_trimmed(self, text: &str) -> Result<u64, Complaint> {
        let bits = self.key_type.bits(text)?;
        if self.inferred {
            if has_leading_zero(text) {
                return Err(Complaint::LeadingZero(quoted(text)));
            }
            if self.key_type == KeyType::F64 && !is_exact(text, bits) {
                return Err(Complaint::WouldRound(quoted(text)));
            }
        }
        Ok(bits)
    }

    /// Reads a cell's bytes, which are UTF-8.
    ///
    /// # Errors
    /// A [`Complaint`] that quotes them.
    pub fn read_cell(self, cell: &[u8]) -> Result<u64, Complaint> {
        let cell = cell.trim_ascii();
        let few = || Few::read(cell);
        let quickly = match self.key_type {
            KeyType::U64 => few().and_then(Few::unsigned).map(bits),
            KeyType::I64 => few().and_then(Few::signed).map(bits),
            KeyType::F64 => few().and_then(Few::float).or_else(|| printed(cell)).map(bits),
            KeyType::U32 | KeyType::I32 | KeyType::F32 => None,
        };
        match quickly {
            Some(bits) => Ok(bits),
            None => self.read_trimmed(std::str::from_utf8(cell).unwrap_or_default()),
        }
    }

    /// The rule to start the column over with, after this one didn't read `text`.
    ///
    /// # Errors
    /// The [`Complaint`] to report when no wider type reads it either.
    pub fn widened(self, text: &str, complaint: Complaint) -> Result<Self, Complaint> {
        let text = text.trim_ascii();
        let wider = |key_type| Self { key_type, inferred: true };
        let next = match self.key_type {
            _ if !self.inferred || text.is_empty() => return Err(complaint),
            KeyType::U64 if KeyType::I64.bits(text).is_ok() => wider(KeyType::I64),
            KeyType::U64 | KeyType::I64 => wider(KeyType::F64),
            _ => return Err(complaint),
        };
        next.read(text).map(|_| next)
    }

    /// The smallest key that is this number or larger, and the largest one that is this number or smaller;
    /// `None` where there is none.
    ///
    /// A number that the column could hold is read as the column's are: rounded, if they are, so that
    /// every row is found by its own text. All others are compared by their exact values.
    pub fn place(self, text: &str, number: &Number) -> (Option<u64>, Option<u64>) {
        match self.read(text) {
            Ok(bits) => (Some(bits), Some(bits)),
            Err(_) if self.inferred && self.key_type == KeyType::F64 => around(number),
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

/// The float in a cell that is written as most programs write it, so that it is this cell's own.
fn printed(cell: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(cell).ok()?;
    let float: f64 = text.parse().ok().filter(|float: &f64| float.is_finite())?;
    (zmij::Buffer::new().format_finite(float) == text).then_some(float + 0.0)
}

/// Whether a number's digits are those of a float with these bits: no other number with other digits that
/// passes this test is read as it. Of the decimals that share a float, the shortest one passes.
fn is_exact(text: &str, bits: u64) -> bool {
    Number::parse(text) == Number::shortest(f64::decode(bits))
}

/// The floats around a number that has none of its own, among those that [`is_exact`] lets pass.
fn around(number: &Number) -> (Option<u64>, Option<u64>) {
    let Some((near, decimal)) =
        number.nearest::<f64>().and_then(|near| Some((near, Number::shortest(near)?)))
    else {
        return (None, None);
    };
    let at_least = if decimal >= *number { near } else { near.next_up() };
    let at_most = if decimal <= *number { near } else { near.next_down() };
    (Some(bits(at_least + 0.0)), Some(bits(at_most + 0.0)))
}

/// The text in quotes, control characters escaped, cut to fit a message.
pub fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown:?}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        assert_eq!(infer(&["0.5", "0.30000000000000004", "NaN", "5e-324", "0e-999"]), Ok(KeyType::F64));
    }

    #[test]
    fn no_inferred_type_makes_two_numbers_of_a_column_equal() {
        for texts in [
            &["18446744073709551616"][..],
            &["18446744073709551615", "-1"],
            &["9007199254740993", "0.5"],
            &["0.5", "9007199254740993"],
            &["-1", "-9223372036854775809"],
            &["649686000000001631.440"],
            &["0.1000000000000000055"],
            &["1e-400"],
            &["4e-324"],
        ] {
            let complaint = infer(texts).unwrap_err();
            assert!(matches!(complaint, Complaint::WouldRound(_)), "{texts:?}: {complaint}");
        }
        let named = Rule::new(Some(KeyType::F64));
        assert_eq!(named.read("9007199254740993"), named.read("9007199254740992"));
    }

    #[test]
    fn ids_with_zeros_in_front_are_numbers_only_where_that_is_said() {
        assert_eq!(infer(&["1000", "01000"]), Err(Complaint::LeadingZero("\"01000\"".to_owned())));
        assert_eq!(infer(&["0.5", "00.5"]), Err(Complaint::LeadingZero("\"00.5\"".to_owned())));
        let named = Rule::new(Some(KeyType::U64));
        assert_eq!(named.read("01000"), named.read("1000"));
    }

    proptest! {
        /// Of two decimals that are kept as floats, the larger one has the larger float; and a bound is
        /// between the floats of its neighbours.
        #[test]
        fn decimals_that_are_kept_as_floats_are_not_mixed_up(
            digits in prop::array::uniform2(0u64..1_000_000_000_000_000_000),
            shift in 0u32..20,
            near: bool,
            more in 0u64..3,
        ) {
            let digits = if near { [digits[0], digits[0] + more] } else { digits };
            let texts = digits.map(|digits| format!("{digits}e-{shift}"));
            let numbers = [0, 1].map(|at| Number::parse(&texts[at]).unwrap());
            let rule = Rule { key_type: KeyType::F64, inferred: true };
            let read = [0, 1].map(|at| rule.read(&texts[at]).ok());
            if let [Some(a), Some(b)] = read {
                prop_assert_eq!(a.cmp(&b), numbers[0].cmp(&numbers[1]));
            }
            if let Some(key) = read[0] {
                let (from, up_to) = rule.place(&texts[1], &numbers[1]);
                prop_assert_eq!(from.is_some_and(|from| key >= from), numbers[0] >= numbers[1]);
                prop_assert_eq!(up_to.is_some_and(|up_to| key <= up_to), numbers[0] <= numbers[1]);
            }
        }
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
