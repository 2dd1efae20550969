//! The meanings of a column's values, and their exact notation.

use crate::rows::form::date;
use crate::rows::form::moment::{self, Moment};
use crate::rows::form::{Form, Mark, Order, Zone, clock};
use crate::rows::key::{KeyType, Rule};
use crate::rows::kind::Kind;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::data_type::Int96;
use parquet::errors::{ParquetError, Result};
use parquet::schema::types::ColumnDescriptor;

/// Nanoseconds of a second.
const SECOND_NS: i64 = 1_000_000_000;

/// The Julian day that 1970-01-01 is.
const JULIAN_EPOCH: i64 = 2_440_588;

/// The meaning of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Numbers of this type, as they are.
    Number(KeyType),
    /// Integers with this many digits after the point.
    Decimal { scale: usize },
    /// Days since 1970-01-01.
    Date,
    /// Times of day, of which a second has this many units.
    Time { per_second: i64 },
    /// Units since 1970-01-01, of which a second has this many.
    Timestamp { per_second: i64, zone: Zone },
    /// Texts.
    Text,
    /// 16 bytes.
    Uuid,
    /// Floats of two bytes.
    Half,
    /// Whatever it is.
    Bytes,
}

impl Meaning {
    /// The meaning according to the schema.
    pub fn of(column: &ColumnDescriptor) -> Self {
        let physical = column.physical_type();
        if physical == Type::INT96 {
            return Self::Timestamp { per_second: SECOND_NS, zone: Zone::Without };
        }
        let is_wide = physical == Type::INT64;
        let unsigned = Self::Number(if is_wide { KeyType::U64 } else { KeyType::U32 });
        let plain = match physical {
            Type::INT32 => Self::Number(KeyType::I32),
            Type::INT64 => Self::Number(KeyType::I64),
            Type::FLOAT => Self::Number(KeyType::F32),
            Type::DOUBLE => Self::Number(KeyType::F64),
            _ => Self::Bytes,
        };
        let decimal = |scale| Self::Decimal { scale: usize::try_from(scale).unwrap_or(0) };
        match column.logical_type_ref() {
            Some(LogicalType::Decimal(about)) => decimal(about.scale),
            Some(LogicalType::Date) => Self::Date,
            Some(LogicalType::Time(about)) => Self::Time { per_second: per_second(about.unit) },
            Some(LogicalType::Timestamp(about)) => {
                let zone = if about.is_adjusted_to_u_t_c { Zone::With } else { Zone::Without };
                Self::Timestamp { per_second: per_second(about.unit), zone }
            }
            Some(LogicalType::Integer(about)) if !about.is_signed => unsigned,
            Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) => Self::Text,
            Some(LogicalType::Uuid) => Self::Uuid,
            Some(LogicalType::Float16) => Self::Half,
            Some(_) => plain,
            // The older annotation; its time stamps are instants.
            None => match column.converted_type() {
                ConvertedType::DECIMAL => decimal(column.type_scale()),
                ConvertedType::DATE => Self::Date,
                ConvertedType::TIME_MILLIS => Self::Time { per_second: 1_000 },
                ConvertedType::TIME_MICROS => Self::Time { per_second: 1_000_000 },
                ConvertedType::TIMESTAMP_MILLIS => Self::Timestamp { per_second: 1_000, zone: Zone::With },
                ConvertedType::TIMESTAMP_MICROS => {
                    Self::Timestamp { per_second: 1_000_000, zone: Zone::With }
                }
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64 => unsigned,
                ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON => Self::Text,
                _ => plain,
            },
        }
    }

    /// The type of keys of these values; `None` for texts, whose cells decide it.
    pub fn kind(self) -> Option<Kind> {
        Some(match self {
            Self::Number(key_type) => Kind::Number(Rule::new(Some(key_type))),
            Self::Half => Kind::Number(Rule::new(Some(KeyType::F32))),
            Self::Decimal { .. } => Kind::Form(Form::Decimal(Mark::Point)),
            Self::Date => Kind::Form(Form::Date(Order::Ymd)),
            Self::Time { .. } => Kind::Form(Form::Time),
            Self::Timestamp { zone, .. } => Kind::Form(Form::Timestamp(Order::Ymd, zone)),
            Self::Text | Self::Uuid | Self::Bytes => return None,
        })
    }

    /// An integer, which is given with its sign and without.
    pub fn of_integer(self, value: i64, bits: u64) -> String {
        match self {
            Self::Number(KeyType::U32 | KeyType::U64) => bits.to_string(),
            Self::Decimal { scale } => decimal(&value.to_be_bytes(), scale),
            Self::Date => date::written(value),
            Self::Time { per_second } if (0..86_400 * per_second).contains(&value) => {
                clock::written((value * (SECOND_NS / per_second)) as u64)
            }
            Self::Timestamp { per_second, zone } => {
                let nanoseconds = value.rem_euclid(per_second) * (SECOND_NS / per_second);
                let seconds = value.div_euclid(per_second);
                moment::written(Moment { seconds, nanoseconds: nanoseconds as u32 }, zone)
            }
            // Also a time that no day has.
            _ => value.to_string(),
        }
    }

    /// A Julian day and nanoseconds since its midnight.
    pub fn of_int96(self, value: &Int96) -> String {
        let [low, high, day] = [0, 1, 2].map(|word| value.data()[word]);
        let nanoseconds = ((u64::from(high) << 32) | u64::from(low)) as i64;
        let days = i64::from(day as i32) - JULIAN_EPOCH;
        let seconds = days * 86_400 + nanoseconds.div_euclid(SECOND_NS);
        let nanoseconds = nanoseconds.rem_euclid(SECOND_NS) as u32;
        moment::written(Moment { seconds, nanoseconds }, Zone::Without)
    }

    /// Bytes.
    ///
    /// # Errors
    /// They don't have the column's meaning.
    pub fn of_bytes(self, bytes: &[u8]) -> Result<String> {
        let wrong = |what: &str| ParquetError::General(format!("a cell is not {what}"));
        Ok(match self {
            Self::Text => std::str::from_utf8(bytes).map_err(|_| wrong("UTF-8"))?.to_owned(),
            Self::Decimal { scale } => decimal(bytes, scale),
            Self::Uuid => {
                let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                let groups = [0..4, 4..6, 6..8, 8..10, 10..16];
                let group = |range| hex.get(range).map(|hex: &[String]| hex.concat());
                groups
                    .map(group)
                    .into_iter()
                    .collect::<Option<Vec<_>>>()
                    .ok_or_else(|| wrong("a UUID"))?
                    .join("-")
            }
            Self::Half => {
                let bytes = bytes.try_into().map_err(|_| wrong("a float of two bytes"))?;
                format!("{:?}", half(u16::from_le_bytes(bytes)))
            }
            _ => bytes.escape_ascii().to_string(),
        })
    }
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::MILLIS => 1_000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => SECOND_NS,
    }
}

/// A float of two bytes: a sign, five bits of exponent, ten of fraction.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f32::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f32.powi(-24),
        0x1f if fraction == 0.0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    }
}

/// A number of any size, its most significant byte first and negative ones as the complement of two, with so
/// many digits after the point.
fn decimal(bytes: &[u8], scale: usize) -> String {
    /// The divisor of each step.
    const PART: u64 = 1_000_000_000;
    let is_negative = bytes.first().is_some_and(|&byte| byte >= 0x80);
    let mut magnitude = bytes.to_vec();
    if is_negative {
        let mut carries = true;
        for byte in magnitude.iter_mut().rev() {
            let (next, carry) = (!*byte).overflowing_add(carries.into());
            (*byte, carries) = (next, carry);
        }
    }
    let mut digits = String::new();
    while magnitude.iter().any(|&byte| byte != 0) {
        let mut rest = 0;
        for byte in &mut magnitude {
            let value = rest << 8 | u64::from(*byte);
            *byte = (value / PART) as u8;
            rest = value % PART;
        }
        digits.insert_str(0, &format!("{rest:09}"));
    }
    let significant = digits.trim_start_matches('0');
    let padded = format!("{significant:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    let sign = if is_negative { "-" } else { "" };
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_of_any_width_are_written_to_the_last_digit() {
        for (bytes, scale, expected) in [
            (&[][..], 0, "0"),
            (&[0], 2, "0.00"),
            (&[0xff], 1, "-0.1"),
            (&[0x80], 0, "-128"),
            (&[0x30, 0x39], 2, "123.45"),
            (&[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 3, "9223372036854775.807"),
        ] {
            assert_eq!(decimal(bytes, scale), expected);
        }
        let mut wide = [0xff; 32];
        wide[0] = 0x7f;
        let expected = "57896044618658097711785492504343953926634992332820282019728792003956564819967";
        assert_eq!(decimal(&wide, 0), expected);
        wide = [0; 32];
        wide[0] = 0x80;
        let expected = "-5789604461865809771178549250434395392663499233282028201972879200395656481996.8";
        assert_eq!(decimal(&wide, 1), expected);
    }

    #[test]
    fn floats_of_two_bytes_are_what_they_are() {
        for (bits, expected) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0400, 2f32.powi(-14)),
            (0x0001, 2f32.powi(-24)),
            (0x8000, 0.0),
            (0x7c00, f32::INFINITY),
        ] {
            assert_eq!(half(bits), expected);
        }
        assert!(half(0x7e00).is_nan());
    }

    proptest! {
        #[test]
        fn decimals_are_as_in_128_bits(value: i128) {
            prop_assert_eq!(decimal(&value.to_be_bytes(), 0), value.to_string());
        }

        /// Written cells are parsed to the same value, to the nanosecond.
        #[test]
        fn moments_are_read_as_they_were_written(value: i64, per_second in prop::sample::select(vec![1_000i64, 1_000_000, 1_000_000_000])) {
            for zone in [Zone::With, Zone::Without] {
                let meaning = Meaning::Timestamp { per_second, zone };
                let text = meaning.of_integer(value, value as u64);
                let read = moment::read(&text, Order::Ymd, zone, true).unwrap()[0];
                let nanoseconds = i128::from(read.seconds) * 1_000_000_000 + i128::from(read.nanoseconds);
                prop_assert_eq!(nanoseconds, i128::from(value) * i128::from(SECOND_NS / per_second), "{}", text);
            }
        }
    }
}
