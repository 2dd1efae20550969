//! The types that a snapshot's columns may have, and the Rust types that they correspond to.

use core::fmt;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

/// The unit of a timestamp or a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Seconds.
    Second,
    /// Thousandths of a second.
    Millisecond,
    /// Millionths of a second.
    Microsecond,
    /// Billionths of a second.
    Nanosecond,
}

/// The type of a snapshot's column, as Arrow has it. [`Display`](fmt::Display) prints Arrow's name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are Arrow's")]
#[non_exhaustive]
pub enum DataType {
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Int8,
    Int16,
    Int32,
    Int64,
    Float32,
    Float64,
    /// 64 bits, signed, since 1970, without a time zone.
    Timestamp(TimeUnit),
    /// 64 bits, signed.
    Duration(TimeUnit),
    /// Strings of bytes, where keys are strings: see [`strings`](super::strings).
    Binary,
    /// Texts, where keys are strings: see [`strings`](super::strings).
    Utf8,
    /// This many bytes, from 1 to 64, as values of keys that are strings.
    FixedSizeBinary(u8),
}

impl DataType {
    /// How many bytes a cell takes: 1, 2, 4 or 8 of a number; 0 of strings, each of which has a length of
    /// its own.
    pub fn width_bytes(self) -> usize {
        match self {
            Self::Binary | Self::Utf8 => 0,
            Self::UInt8 | Self::Int8 => 1,
            Self::UInt16 | Self::Int16 => 2,
            Self::UInt32 | Self::Int32 | Self::Float32 => 4,
            Self::UInt64 | Self::Int64 | Self::Float64 | Self::Timestamp(_) | Self::Duration(_) => 8,
            Self::FixedSizeBinary(bytes) => bytes.into(),
        }
    }
}

/// The most bytes of a [`DataType::FixedSizeBinary`].
const FIXED_BYTES_MAX: u8 = 64;

impl DataType {
    /// Whether cells are numbers.
    pub(super) fn is_number(self) -> bool {
        !self.is_string() && !matches!(self, Self::FixedSizeBinary(_))
    }

    /// Whether a column of values may be of this type, where keys are strings.
    pub(super) fn is_value(self) -> bool {
        match self {
            Self::FixedSizeBinary(bytes) => (1..=FIXED_BYTES_MAX).contains(&bytes),
            _ => true,
        }
    }

    /// Whether a number has room for a cell.
    pub(super) fn has_cells(self) -> bool {
        (1..=size_of::<u64>()).contains(&self.width_bytes())
    }

    /// The name in a file of the type of values that are this and nothing more.
    pub(super) fn value_name(self) -> String {
        match self {
            Self::Binary => "bytes".into(),
            Self::Utf8 => "text".into(),
            Self::FixedSizeBinary(bytes) => format!("[u8; {bytes}]"),
            number => number.to_string(),
        }
    }

    /// Whether cells are strings.
    pub(super) fn is_string(self) -> bool {
        matches!(self, Self::Binary | Self::Utf8)
    }

    /// How many parts a column has in a record batch: cells, or the strings' ends and their bytes.
    pub(super) fn parts(self) -> usize {
        if self.is_string() { 2 } else { 1 }
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Second => "s",
            Self::Millisecond => "ms",
            Self::Microsecond => "us",
            Self::Nanosecond => "ns",
        })
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UInt8 => f.write_str("uint8"),
            Self::UInt16 => f.write_str("uint16"),
            Self::UInt32 => f.write_str("uint32"),
            Self::UInt64 => f.write_str("uint64"),
            Self::Int8 => f.write_str("int8"),
            Self::Int16 => f.write_str("int16"),
            Self::Int32 => f.write_str("int32"),
            Self::Int64 => f.write_str("int64"),
            Self::Float32 => f.write_str("float32"),
            Self::Float64 => f.write_str("float64"),
            Self::Timestamp(unit) => write!(f, "timestamp[{unit}]"),
            Self::Duration(unit) => write!(f, "duration[{unit}]"),
            Self::Binary => f.write_str("binary"),
            Self::Utf8 => f.write_str("string"),
            Self::FixedSizeBinary(bytes) => write!(f, "fixed_size_binary[{bytes}]"),
        }
    }
}

mod sealed {
    /// Keeps [`super::Native`] to the types that Arrow has as they are.
    pub trait Sealed {}
}

/// A type that is a key, a value and a column of Arrow: the integers of 8 to 64 bits, `f32` and `f64`.
/// Sealed. Indexes of other types are saved by [`Layout`](super::Layout), with a function that gives their
/// cells.
pub trait Native: Key + Value + sealed::Sealed {
    /// The column's type.
    const DATA_TYPE: DataType;
    /// The cell's bytes, little-endian, as the low bytes of a number; those above are zero.
    fn to_cell(self) -> u64;
    /// The value of a number's low bytes; those above are ignored.
    fn from_cell(cell: u64) -> Self;
}

macro_rules! native {
    ($($native:ty: $bits:ty => $data_type:ident, $to:expr, $from:expr;)*) => {$(
        impl sealed::Sealed for $native {}

        impl Native for $native {
            const DATA_TYPE: DataType = DataType::$data_type;

            #[inline(always)]
            fn to_cell(self) -> u64 {
                let to: fn($native) -> $bits = $to;
                u64::from(to(self))
            }

            #[inline(always)]
            fn from_cell(cell: u64) -> Self {
                let from: fn($bits) -> $native = $from;
                from(cell as $bits)
            }
        }
    )*};
}
native! {
    u8: u8 => UInt8, |cell| cell, |bits| bits;
    u16: u16 => UInt16, |cell| cell, |bits| bits;
    u32: u32 => UInt32, |cell| cell, |bits| bits;
    u64: u64 => UInt64, |cell| cell, |bits| bits;
    i8: u8 => Int8, |cell| cell as u8, |bits| bits as i8;
    i16: u16 => Int16, |cell| cell as u16, |bits| bits as i16;
    i32: u32 => Int32, |cell| cell as u32, |bits| bits as i32;
    i64: u64 => Int64, |cell| cell as u64, |bits| bits as i64;
    f32: u32 => Float32, f32::to_bits, f32::from_bits;
    f64: u64 => Float64, f64::to_bits, f64::from_bits;
}
