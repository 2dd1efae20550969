//! Keys as words. All indexes of numbers have keys of one type inside, `u64`, and C's numbers have 64 bits.
//! A key arrives as those bits, its *cell*, and is stored as a word of the same order. So everything below
//! the exports is compiled once for all types of numbers. Byte strings are stored unchanged.

use core::marker::PhantomData;
use engine::Distance;
use engine::snapshot::DataType;

/// A type of C's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyType {
    U64,
    I64,
    F64,
}

/// Keys of C's that are byte strings, all of one type, and their values.
#[derive(Debug)]
pub struct ByteStrings<V = u64>(PhantomData<fn() -> V>);

impl<V> ByteStrings<V> {
    /// They are all alike.
    pub const NEW: Self = Self(PhantomData);
}

impl<V> Clone for ByteStrings<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for ByteStrings<V> {}

/// A key of C's that is a number.
pub trait Key {
    /// The type.
    const TYPE: KeyType;
    /// Its bits.
    fn cell(self) -> u64;
}

impl Key for u64 {
    const TYPE: KeyType = KeyType::U64;

    #[inline(always)]
    fn cell(self) -> u64 {
        self
    }
}

impl Key for i64 {
    const TYPE: KeyType = KeyType::I64;

    #[inline(always)]
    fn cell(self) -> u64 {
        self as u64
    }
}

impl Key for f64 {
    const TYPE: KeyType = KeyType::F64;

    #[inline(always)]
    fn cell(self) -> u64 {
        self.to_bits()
    }
}

const SIGN: u64 = 1 << 63;

impl KeyType {
    /// The word under which a cell's key is stored; nothing for NaN. Doubles are ordered as C compares them:
    /// −0.0 equals 0.0, so it is stored as that.
    #[inline(always)]
    pub fn encode(self, cell: u64) -> Option<u64> {
        match self {
            Self::U64 => Some(cell),
            Self::I64 => Some(cell ^ SIGN),
            Self::F64 if f64::from_bits(cell).is_nan() => None,
            Self::F64 if cell == SIGN => Some(SIGN),
            // Of a negative number all bits are turned, of others the sign alone.
            Self::F64 => Some(cell ^ ((cell as i64 >> 63) as u64 | SIGN)),
        }
    }

    /// The cell of a stored word's key.
    #[inline(always)]
    pub fn decode(self, word: u64) -> u64 {
        match self {
            Self::U64 => word,
            Self::I64 => word ^ SIGN,
            Self::F64 => word ^ ((word >> 63).wrapping_sub(1) | SIGN),
        }
    }

    /// How far the keys of two stored words are apart.
    #[inline(always)]
    pub fn distance(self, word: u64, other: u64) -> u64 {
        match self {
            // Both types' words are in steps of one.
            Self::U64 | Self::I64 => word.distance(other),
            Self::F64 => {
                let number = |word| f64::from_bits(self.decode(word));
                number(word).distance(number(other))
            }
        }
    }

    /// Whether some cells are no keys.
    pub fn is_partial(self) -> bool {
        self == Self::F64
    }

    /// The type of the column in a snapshot.
    pub fn data_type(self) -> DataType {
        match self {
            Self::U64 => DataType::UInt64,
            Self::I64 => DataType::Int64,
            Self::F64 => DataType::Float64,
        }
    }

    /// Whether a snapshot's column of this type holds such keys.
    pub fn is_in(self, column: DataType) -> bool {
        let is_time = matches!(column, DataType::Timestamp(_) | DataType::Duration(_));
        column == self.data_type() || self == Self::I64 && is_time
    }
}
