//! Keys and their order-keeping bits.
//!
//! Inside an index only two kinds of key exist: `u32` and `u64` *lanes*, compared as unsigned
//! integers, which is what SIMD kernels and node layouts are written for. Every other key type is
//! mapped to a lane so that `a < b` exactly when `a.to_bits() < b.to_bits()`.

use core::fmt::Debug;
use core::hash::Hash;

mod sealed {
    /// Keeps [`super::Bits`] to the two lane types that the kernels are written for.
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A lane: the unsigned integer that stands for a key (or a value) inside a node.
///
/// Implemented by `u32` and `u64` only; sealed, because the search kernels and the node layouts
/// are written for these two widths.
pub trait Bits: sealed::Sealed + Copy + Ord + Default + Debug + Hash + Send + Sync + 'static {
    /// Width in bytes: 4 or 8.
    const BYTES: usize;
    /// The smallest lane, 0.
    const MIN: Self;
    /// The largest lane.
    const MAX: Self;
    /// The lane as a 64-bit number.
    fn to_u64(self) -> u64;
    /// The lane of a 64-bit number, cut to the lane's width.
    fn truncate(bits: u64) -> Self;
}

impl Bits for u32 {
    const BYTES: usize = 4;
    const MIN: Self = 0;
    const MAX: Self = u32::MAX;

    #[inline(always)]
    fn to_u64(self) -> u64 {
        u64::from(self)
    }

    #[inline(always)]
    fn truncate(bits: u64) -> Self {
        bits as u32
    }
}

impl Bits for u64 {
    const BYTES: usize = 8;
    const MIN: Self = 0;
    const MAX: Self = u64::MAX;

    #[inline(always)]
    fn to_u64(self) -> u64 {
        self
    }

    #[inline(always)]
    fn truncate(bits: u64) -> Self {
        bits
    }
}

/// A fixed-width key with a total order, kept by its bits.
///
/// # Contract
/// For all keys `a` and `b`: `a.to_bits() < b.to_bits()` exactly when `a` comes before `b` in the
/// key's total order, and `K::from_bits(a.to_bits())` gives `a` back bit for bit.
///
/// Floats are ordered as [`f64::total_cmp`] orders them: −NaN, −∞, …, −0, +0, …, +∞, +NaN. So −0
/// and +0 are two different keys, and a NaN is a key like any other.
///
/// ```
/// use latchless::Key;
/// assert!((-1i64).to_bits() < 1i64.to_bits());
/// assert!(Key::to_bits(-0.0f64) < Key::to_bits(0.0f64));
/// assert_eq!(<f32 as Key>::from_bits(Key::to_bits(2.5f32)), 2.5);
/// ```
pub trait Key: Copy + Debug + Send + Sync + 'static {
    /// The lane that stands for this key inside a node.
    type Bits: Bits;
    /// The key's order-keeping bits.
    fn to_bits(self) -> Self::Bits;
    /// The key that has these bits.
    fn from_bits(bits: Self::Bits) -> Self;
}

macro_rules! unsigned_key {
    ($($key:ty),*) => {$(
        impl Key for $key {
            type Bits = $key;

            #[inline(always)]
            fn to_bits(self) -> $key {
                self
            }

            #[inline(always)]
            fn from_bits(bits: $key) -> Self {
                bits
            }
        }
    )*};
}
unsigned_key!(u32, u64);

macro_rules! signed_key {
    ($($key:ty => $bits:ty),*) => {$(
        impl Key for $key {
            type Bits = $bits;

            #[inline(always)]
            fn to_bits(self) -> $bits {
                // Flipping the sign bit moves the negative half below the positive one.
                (self as $bits) ^ (1 << (<$bits>::BITS - 1))
            }

            #[inline(always)]
            fn from_bits(bits: $bits) -> Self {
                (bits ^ (1 << (<$bits>::BITS - 1))) as $key
            }
        }
    )*};
}
signed_key!(i32 => u32, i64 => u64);

macro_rules! float_key {
    ($($key:ty => $bits:ty, $signed:ty);*) => {$(
        impl Key for $key {
            type Bits = $bits;

            #[inline(always)]
            fn to_bits(self) -> $bits {
                let raw = <$key>::to_bits(self);
                // Negative numbers grow towards zero in their raw bits, so all of them flip;
                // positive ones only move above the negative half.
                let negative = ((raw as $signed) >> (<$bits>::BITS - 1)) as $bits;
                raw ^ (negative | 1 << (<$bits>::BITS - 1))
            }

            #[inline(always)]
            fn from_bits(bits: $bits) -> Self {
                let negative = !(((bits as $signed) >> (<$bits>::BITS - 1)) as $bits);
                <$key>::from_bits(bits ^ (negative | 1 << (<$bits>::BITS - 1)))
            }
        }
    )*};
}
float_key!(f32 => u32, i32; f64 => u64, i64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_cases;
    use core::cmp::Ordering;
    use proptest::prelude::*;

    fn same_order<K: Key>(a: K, b: K, expected: Ordering) {
        assert_eq!(a.to_bits().cmp(&b.to_bits()), expected, "{a:?} against {b:?}");
    }

    #[test]
    fn floats_follow_the_total_order_at_its_corners() {
        let corners = [
            -f64::NAN,
            f64::NEG_INFINITY,
            f64::MIN,
            -1.0,
            -f64::MIN_POSITIVE,
            -f64::from_bits(1),
            -0.0,
            0.0,
            f64::from_bits(1),
            f64::MIN_POSITIVE,
            1.0,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
        ];
        for (i, &a) in corners.iter().enumerate() {
            for (j, &b) in corners.iter().enumerate() {
                same_order(a, b, i.cmp(&j));
                // Cast once: which NaN a cast gives is not promised to be the same twice.
                let (a, b) = (a as f32, b as f32);
                same_order(a, b, a.total_cmp(&b));
            }
            assert_eq!(<f64 as Key>::from_bits(Key::to_bits(a)).to_bits(), a.to_bits());
        }
    }

    #[test]
    fn integers_keep_their_ends() {
        for window in [i64::MIN, -1, 0, 1, i64::MAX].windows(2) {
            same_order(window[0], window[1], Ordering::Less);
        }
        for window in [i32::MIN, -1, 0, 1, i32::MAX].windows(2) {
            same_order(window[0], window[1], Ordering::Less);
        }
        assert_eq!(i64::MIN.to_bits(), u64::MIN);
        assert_eq!(i32::MAX.to_bits(), u32::MAX);
    }

    proptest! {
        #![proptest_config(random_cases(256))]

        #[test]
        fn order_and_identity_of_every_key_type(a: u64, b: u64) {
            let (i, j) = (a as i64, b as i64);
            same_order(i, j, i.cmp(&j));
            prop_assert_eq!(i64::from_bits(i.to_bits()), i);
            let (i, j) = (a as i32, b as i32);
            same_order(i, j, i.cmp(&j));
            prop_assert_eq!(i32::from_bits(i.to_bits()), i);
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            same_order(x, y, x.total_cmp(&y));
            prop_assert_eq!(<f64 as Key>::from_bits(Key::to_bits(x)).to_bits(), x.to_bits());
            let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            same_order(x, y, x.total_cmp(&y));
            prop_assert_eq!(<f32 as Key>::from_bits(Key::to_bits(x)).to_bits(), x.to_bits());
            same_order(a, b, a.cmp(&b));
            same_order(a as u32, b as u32, (a as u32).cmp(&(b as u32)));
        }
    }
}
