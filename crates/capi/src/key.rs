//! Keys as words. All indexes of this library have keys of one type inside, `u64`; the keys of a caller are
//! mapped to words of the same order.

use engine::snapshot::DataType;

/// A type of keys.
pub trait Key: Copy + Send + Sync + 'static {
    /// Whether some of its values are no keys.
    const IS_PARTIAL: bool;
    /// The type of the column in a snapshot.
    const DATA_TYPE: DataType;
    /// The word under which a key is stored; nothing for NaN.
    fn encode(self) -> Option<u64>;
    /// The key of a stored word.
    fn decode(word: u64) -> Self;
    /// The key's bits, as a snapshot has them.
    fn to_cell(self) -> u64;
    /// The key of such bits.
    fn from_cell(cell: u64) -> Self;
    /// Whether a column of this type holds such keys.
    fn is_in(column: DataType) -> bool {
        column == Self::DATA_TYPE
    }
}

impl Key for u64 {
    const IS_PARTIAL: bool = false;
    const DATA_TYPE: DataType = DataType::UInt64;

    #[inline(always)]
    fn encode(self) -> Option<u64> {
        Some(self)
    }

    #[inline(always)]
    fn decode(word: u64) -> Self {
        word
    }

    fn to_cell(self) -> u64 {
        self
    }

    fn from_cell(cell: u64) -> Self {
        cell
    }
}

const SIGN: u64 = 1 << 63;

impl Key for i64 {
    const IS_PARTIAL: bool = false;
    const DATA_TYPE: DataType = DataType::Int64;

    #[inline(always)]
    fn encode(self) -> Option<u64> {
        Some(self as u64 ^ SIGN)
    }

    #[inline(always)]
    fn decode(word: u64) -> Self {
        (word ^ SIGN) as i64
    }

    fn to_cell(self) -> u64 {
        self as u64
    }

    fn from_cell(cell: u64) -> Self {
        cell as i64
    }

    fn is_in(column: DataType) -> bool {
        matches!(column, DataType::Int64 | DataType::Timestamp(_) | DataType::Duration(_))
    }
}

impl Key for f64 {
    const IS_PARTIAL: bool = true;
    const DATA_TYPE: DataType = DataType::Float64;

    /// As C compares them: −0.0 equals 0.0, so it is stored as that.
    #[inline(always)]
    fn encode(self) -> Option<u64> {
        let bits = if self == 0.0 { 0 } else { self.to_bits() };
        // Of a negative number all bits are turned, of others the sign alone.
        (!self.is_nan()).then_some(bits ^ ((bits as i64 >> 63) as u64 | SIGN))
    }

    #[inline(always)]
    fn decode(word: u64) -> Self {
        Self::from_bits(word ^ ((word >> 63).wrapping_sub(1) | SIGN))
    }

    fn to_cell(self) -> u64 {
        self.to_bits()
    }

    fn from_cell(cell: u64) -> Self {
        Self::from_bits(cell)
    }
}
