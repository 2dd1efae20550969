//! What keys mean. An index of numbers stores words of 64 bits in their order, and C encodes its keys as such
//! words itself, by functions of the header. What they are encoded from matters in three places: files,
//! distances, and NaN. Byte strings are stored unchanged.

#![expect(non_camel_case_types, reason = "C's names")]

use core::marker::PhantomData;
use engine::Distance;
use engine::snapshot::{DataType, TimeUnit};

/// What the keys of a latchless_index are encoded from. It decides the type of keys in files, what is
/// nearest, and which words aren't keys; the order is that of the words in any case.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum latchless_key_kind {
    /// uint64_t, as they are.
    LATCHLESS_KEY_U64 = 0,
    /// int64_t, by latchless_key_from_i64().
    LATCHLESS_KEY_I64 = 1,
    /// double, by latchless_key_from_f64(). NaN isn't a key.
    LATCHLESS_KEY_F64 = 2,
    /// Seconds since 1970, by latchless_key_from_i64().
    LATCHLESS_KEY_TIME_S = 3,
    /// Milliseconds since 1970, by latchless_key_from_i64().
    LATCHLESS_KEY_TIME_MS = 4,
    /// Microseconds since 1970, by latchless_key_from_i64().
    LATCHLESS_KEY_TIME_US = 5,
    /// Nanoseconds since 1970, by latchless_key_from_time() or latchless_key_from_i64().
    LATCHLESS_KEY_TIME_NS = 6,
}

pub use latchless_key_kind as KeyKind;
use latchless_key_kind::*;

/// What the values of a latchless_bytes are.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum latchless_value_kind {
    /// A latchless_value: each value has eight bytes, stored beside its key.
    LATCHLESS_VALUE_WORD = 0,
    /// Byte strings of up to LATCHLESS_VALUE_MAX bytes.
    LATCHLESS_VALUE_BYTES = 1,
}

pub use latchless_value_kind as ValueKind;

/// Keys that are words.
#[derive(Debug, Clone, Copy)]
pub struct WordKeys;

/// Keys that are byte strings and have many rows.
#[derive(Debug, Clone, Copy)]
pub struct RowKeys;

/// Keys that are byte strings, with values of one kind.
#[derive(Debug)]
pub struct ByteStrings<V>(PhantomData<fn() -> V>);

impl<V> Clone for ByteStrings<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for ByteStrings<V> {}

const SIGN: u64 = 1 << 63;
/// The words of the infinite doubles.
const INFINITIES: core::ops::RangeInclusive<u64> =
    !f64::NEG_INFINITY.to_bits()..=f64::INFINITY.to_bits() | SIGN;

impl KeyKind {
    /// All of them, by their numbers.
    ///
    /// cbindgen:ignore
    pub const ALL: [Self; 7] = [
        LATCHLESS_KEY_U64,
        LATCHLESS_KEY_I64,
        LATCHLESS_KEY_F64,
        LATCHLESS_KEY_TIME_S,
        LATCHLESS_KEY_TIME_MS,
        LATCHLESS_KEY_TIME_US,
        LATCHLESS_KEY_TIME_NS,
    ];

    /// Whether a word is a key: of doubles, NaN isn't.
    #[inline(always)]
    pub fn has(self, word: u64) -> bool {
        self != LATCHLESS_KEY_F64 || INFINITIES.contains(&word)
    }

    /// Whether a word is the end of a range: a key, or the end of all words.
    #[inline(always)]
    pub fn ends_at(self, word: u64) -> bool {
        self.has(word) || word == 0 || word == u64::MAX
    }

    /// The word of a file's cell. Doubles are ordered as C compares them: −0.0 equals 0.0, so it is stored as
    /// that. The functions of the header do the same.
    pub fn encode(self, cell: u64) -> u64 {
        match self {
            LATCHLESS_KEY_U64 => cell,
            LATCHLESS_KEY_F64 if cell == SIGN => SIGN,
            // Of a negative number all bits are turned, of others the sign alone.
            LATCHLESS_KEY_F64 => cell ^ ((cell as i64 >> 63) as u64 | SIGN),
            _ => cell ^ SIGN,
        }
    }

    /// The cell of a word in a file.
    pub fn decode(self, word: u64) -> u64 {
        match self {
            LATCHLESS_KEY_U64 => word,
            LATCHLESS_KEY_F64 => word ^ ((word >> 63).wrapping_sub(1) | SIGN),
            _ => word ^ SIGN,
        }
    }

    /// How far the keys of two words are apart.
    #[inline(always)]
    pub fn distance(self, word: u64, other: u64) -> u64 {
        match self {
            LATCHLESS_KEY_F64 => {
                let number = |word| f64::from_bits(self.decode(word));
                number(word).distance(number(other))
            }
            // The words of integers are in steps of one.
            _ => word.distance(other),
        }
    }

    /// The type of the column in a file.
    pub fn data_type(self) -> DataType {
        match self {
            LATCHLESS_KEY_U64 => DataType::UInt64,
            LATCHLESS_KEY_I64 => DataType::Int64,
            LATCHLESS_KEY_F64 => DataType::Float64,
            LATCHLESS_KEY_TIME_S => DataType::Timestamp(TimeUnit::Second),
            LATCHLESS_KEY_TIME_MS => DataType::Timestamp(TimeUnit::Millisecond),
            LATCHLESS_KEY_TIME_US => DataType::Timestamp(TimeUnit::Microsecond),
            LATCHLESS_KEY_TIME_NS => DataType::Timestamp(TimeUnit::Nanosecond),
        }
    }

    /// Whether a file's column of this type holds such keys.
    pub fn is_in(self, column: DataType) -> bool {
        let is_time = matches!(column, DataType::Timestamp(_) | DataType::Duration(_));
        column == self.data_type() || self == LATCHLESS_KEY_I64 && is_time
    }
}
