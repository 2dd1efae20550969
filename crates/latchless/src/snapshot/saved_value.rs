//! The form in which a file's column has the values of an index of byte strings.

use super::data_type::{DataType, Native};
use crate::bytes::Lent;
use core::net::Ipv6Addr;
use latchless_core::base::bytes_value::BytesValue;
use std::borrow::Cow;

/// A value that is stored as a byte string and can be saved in a snapshot.
///
/// The numbers that Arrow has ([`Native`]) are saved as such, `Vec<u8>` as `binary`, and `String` as
/// `string`. All others are a `fixed_size_binary`, without padding: `[u8; N]`, `Ipv6Addr` and `Uuid` as
/// their bytes; `u128`, `i128`, pairs of numbers of 32 or 64 bits, and triples and arrays of `u64`, `i64`
/// or `f64` as their numbers in order, each little-endian. `latchless.value` in the schema's metadata names
/// the type.
///
/// A type of your own implements it by its bytes in a file:
///
/// ```
/// use latchless::bytes::Words;
/// use latchless::Index;
/// use latchless::snapshot::{DataType, SavedValue, strings};
/// use latchless::{BytesValue, WideValue};
/// use std::borrow::Cow;
///
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// struct Extent {
///     file: u32,
///     start: u64,
/// }
/// impl WideValue<2> for Extent {
///     fn to_words(self) -> [u64; 2] {
///         [self.file.into(), self.start]
///     }
///     fn from_words([file, start]: [u64; 2]) -> Self {
///         Self { file: file as u32, start }
///     }
/// }
/// impl BytesValue for Extent {
///     type Form = Words<2>;
/// }
/// impl SavedValue for Extent {
///     const COLUMN: DataType = DataType::FixedSizeBinary(12);
///     fn type_name() -> Cow<'static, str> {
///         "extent".into()
///     }
///     fn with_cell<R>(value: Self, see: impl FnOnce(&[u8]) -> R) -> R {
///         <(u32, u64)>::with_cell((value.file, value.start), see)
///     }
///     fn of_cell(cell: &[u8]) -> Option<Self> {
///         <(u32, u64)>::of_cell(cell).map(|(file, start)| Self { file, start })
///     }
/// }
/// let extents: Index<String, Extent> = [("a".into(), Extent { file: 3, start: 1 << 40 })].into();
/// let mut file = Vec::new();
/// strings::write(&extents, &mut file)?;
/// let again: Index<String, Extent> = strings::read(&file[..])?;
/// assert_eq!(again.get("a"), extents.get("a"));
/// # Ok::<(), latchless::snapshot::Error>(())
/// ```
///
/// # Contract
/// `V::with_cell(value, V::of_cell)` is the value again. Saving a value whose number of bytes isn't the
/// column's width is an error, [`NoCell`](super::Error::NoCell).
pub trait SavedValue: BytesValue {
    /// The type of the column `value`.
    const COLUMN: DataType;

    /// The type's name in a file, so that its values aren't taken for those of another type.
    fn type_name() -> Cow<'static, str>;

    /// Shows `see` a value's bytes: as many as [`SavedValue::COLUMN`] is wide, or those of a string.
    fn with_cell<R>(value: Lent<'_, Self>, see: impl FnOnce(&[u8]) -> R) -> R;

    /// The value that has these bytes, or nothing if none has: a file may have been made on purpose.
    fn of_cell(cell: &[u8]) -> Option<Self>;
}

/// The number of a cell of at most eight bytes; of more, that of the first eight.
#[inline]
pub(super) fn number_of(cell: &[u8]) -> u64 {
    let mut number = [0; 8];
    let bytes = cell.len().min(number.len());
    number[..bytes].copy_from_slice(&cell[..bytes]);
    u64::from_le_bytes(number)
}

impl<V: Native> SavedValue for V {
    const COLUMN: DataType = V::DATA_TYPE;

    fn type_name() -> Cow<'static, str> {
        V::DATA_TYPE.value_name().into()
    }

    #[inline]
    fn with_cell<R>(value: V, see: impl FnOnce(&[u8]) -> R) -> R {
        see(&value.to_cell().to_le_bytes()[..V::DATA_TYPE.width_bytes()])
    }

    #[inline]
    fn of_cell(cell: &[u8]) -> Option<V> {
        (cell.len() == V::DATA_TYPE.width_bytes()).then(|| V::from_cell(number_of(cell)))
    }
}

impl SavedValue for Vec<u8> {
    const COLUMN: DataType = DataType::Binary;

    fn type_name() -> Cow<'static, str> {
        Self::COLUMN.value_name().into()
    }

    #[inline]
    fn with_cell<R>(value: &[u8], see: impl FnOnce(&[u8]) -> R) -> R {
        see(value)
    }

    fn of_cell(cell: &[u8]) -> Option<Self> {
        Some(cell.to_vec())
    }
}

impl SavedValue for String {
    const COLUMN: DataType = DataType::Utf8;

    fn type_name() -> Cow<'static, str> {
        Self::COLUMN.value_name().into()
    }

    #[inline]
    fn with_cell<R>(value: &str, see: impl FnOnce(&[u8]) -> R) -> R {
        see(value.as_bytes())
    }

    fn of_cell(cell: &[u8]) -> Option<Self> {
        core::str::from_utf8(cell).ok().map(str::to_owned)
    }
}

/// Values that are the same as arrays of bytes: their names, how many bytes they have, to them and back.
macro_rules! as_bytes {
    ($($(#[$condition:meta])* $value:ty: $name:expr, $bytes:expr, $to:expr, $from:expr;)*) => {$(
        $(#[$condition])*
        impl SavedValue for $value {
            const COLUMN: DataType = DataType::FixedSizeBinary($bytes);

            fn type_name() -> Cow<'static, str> {
                $name.into()
            }

            #[inline]
            fn with_cell<R>(value: $value, see: impl FnOnce(&[u8]) -> R) -> R {
                let to: fn($value) -> [u8; $bytes] = $to;
                see(&to(value))
            }

            #[inline]
            fn of_cell(cell: &[u8]) -> Option<Self> {
                let from: fn([u8; $bytes]) -> $value = $from;
                cell.try_into().ok().map(from)
            }
        }
    )*};
}
as_bytes! {
    u128: "u128", 16, u128::to_le_bytes, u128::from_le_bytes;
    i128: "i128", 16, i128::to_le_bytes, i128::from_le_bytes;
    Ipv6Addr: "ipv6", 16, |value| value.octets(), Ipv6Addr::from;
    #[cfg(feature = "uuid")]
    uuid::Uuid: "uuid", 16, uuid::Uuid::into_bytes, uuid::Uuid::from_bytes;
}

macro_rules! byte_arrays {
    ($($len:literal)*) => {
        as_bytes! {$(
            [u8; $len]: concat!("[u8; ", $len, "]"), $len, |value| value, |bytes| bytes;
        )*}
    };
}
byte_arrays! {
    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
    33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
}

/// The next bytes of a cell.
fn next<const N: usize>(cell: &mut &[u8]) -> [u8; N] {
    let (&next, rest) = cell.split_first_chunk().expect("a cell has the bytes of all its numbers");
    *cell = rest;
    next
}

/// Writes bytes into the next places of a cell.
fn put<const N: usize>(cell: &mut &mut [u8], bytes: [u8; N]) {
    let (next, rest) =
        core::mem::take(cell).split_first_chunk_mut().expect("a cell has room for its numbers");
    *next = bytes;
    *cell = rest;
}

macro_rules! number_arrays {
    ($($number:ident: $($len:literal)*;)*) => {
        as_bytes! {$($(
            [$number; $len]: concat!("[", stringify!($number), "; ", $len, "]"), 8 * $len,
            |numbers| {
                let mut cell = [0; 8 * $len];
                let mut rest = &mut cell[..];
                numbers.into_iter().for_each(|number| put(&mut rest, number.to_le_bytes()));
                cell
            },
            |cell| {
                let mut rest = &cell[..];
                core::array::from_fn(|_| $number::from_le_bytes(next(&mut rest)))
            };
        )*)*}
    };
}
number_arrays! {
    u64: 1 2 3 4 5 6 7 8;
    i64: 1 2 3 4 5 6 7 8;
    f64: 1 2 3 4 5 6 7 8;
}

macro_rules! tuple {
    ($name:expr, $($at:tt $number:ident),*) => {
        as_bytes! {
            ($($number),*): $name, (0 $(+ size_of::<$number>())*) as _,
            |numbers| {
                let mut cell = [0; 0 $(+ size_of::<$number>())*];
                let mut rest = &mut cell[..];
                $(put(&mut rest, numbers.$at.to_le_bytes());)*
                cell
            },
            |cell| {
                let mut rest = &cell[..];
                ($($number::from_le_bytes(next(&mut rest))),*)
            };
        }
    };
}
macro_rules! pairs {
    ($($first:ident: $($second:ident)*;)*) => {$($(
        tuple!(concat!("(", stringify!($first), ", ", stringify!($second), ")"), 0 $first, 1 $second);
    )*)*};
}
pairs! {
    u32: u32 i32 f32 u64 i64 f64;
    i32: u32 i32 f32 u64 i64 f64;
    f32: u32 i32 f32 u64 i64 f64;
    u64: u32 i32 f32 u64 i64 f64;
    i64: u32 i32 f32 u64 i64 f64;
    f64: u32 i32 f32 u64 i64 f64;
}
macro_rules! triples {
    ($($first:ident: $(($second:ident $third:ident))*;)*) => {$($(
        tuple!(
            concat!("(", stringify!($first), ", ", stringify!($second), ", ", stringify!($third), ")"),
            0 $first, 1 $second, 2 $third
        );
    )*)*};
}
triples! {
    u64: (u64 u64) (u64 i64) (u64 f64) (i64 u64) (i64 i64) (i64 f64) (f64 u64) (f64 i64) (f64 f64);
    i64: (u64 u64) (u64 i64) (u64 f64) (i64 u64) (i64 i64) (i64 f64) (f64 u64) (f64 i64) (f64 f64);
    f64: (u64 u64) (u64 i64) (u64 f64) (i64 u64) (i64 i64) (i64 f64) (f64 u64) (f64 i64) (f64 f64);
}
