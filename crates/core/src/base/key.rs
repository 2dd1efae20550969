//! Keys and their order-preserving encoding.
//!
//! Inside an index a key is a `u32` or a `u64`, its *encoded key*, compared as an unsigned integer: SIMD
//! kernels and node layouts exist for these two widths only. Every other key type is encoded so that `a < b`
//! exactly when `a.encode() < b.encode()`.

use super::index_key::{InWord, IndexKey};
use crate::sync::{BitsWord, Word, Word32};
use core::fmt::Debug;
use core::hash::Hash;
use core::net::Ipv4Addr;

mod sealed {
    /// Restricts [`super::Bits`] to the two types that the kernels support.
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// An encoded key or value: the unsigned integer that represents it inside a node.
///
/// Sealed, and implemented for `u32` and `u64` only, because search kernels and node layouts exist for these
/// two widths.
pub trait Bits: sealed::Sealed + Copy + Ord + Default + Debug + Hash + Send + Sync + 'static {
    /// Width in bytes: 4 or 8.
    const BYTES: usize;
    /// The smallest encoded key, 0.
    const MIN: Self;
    /// The largest encoded key.
    const MAX: Self;
    /// The wider of `Self` and `Other`: the width of both in an index whose keys have one and whose values
    /// have the other.
    #[doc(hidden)]
    type Wider<Other: Bits>: Bits;
    /// A word of node memory that holds one encoded key.
    #[doc(hidden)]
    type Word: BitsWord<Bits = Self>;
    /// An array of half a kilobyte: as many keys, or values, as fit a leaf of the flagship index.
    #[doc(hidden)]
    type Lanes: AsRef<[Self]> + AsMut<[Self]> + Copy + Debug + Send + Sync + 'static;
    /// An array of zeros.
    #[doc(hidden)]
    const ZEROS: Self::Lanes;
    /// Converts to `u64`.
    fn to_u64(self) -> u64;
    /// Converts from `u64`, keeping the low bits.
    fn truncate(bits: u64) -> Self;
}

impl Bits for u32 {
    const BYTES: usize = 4;
    const MIN: Self = 0;
    const MAX: Self = u32::MAX;
    type Wider<Other: Bits> = Other;
    type Word = Word32;
    type Lanes = [u32; 128];
    const ZEROS: [u32; 128] = [0; 128];

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
    type Wider<Other: Bits> = u64;
    type Word = Word;
    type Lanes = [u64; 64];
    const ZEROS: [u64; 64] = [0; 64];

    #[inline(always)]
    fn to_u64(self) -> u64 {
        self
    }

    #[inline(always)]
    fn truncate(bits: u64) -> Self {
        bits
    }
}

/// A fixed-width key with a total order that its encoding preserves.
///
/// # Contract
/// For all keys `a` and `b`: `a.encode() < b.encode()` exactly when `a` comes before `b` in the key's total
/// order, and `K::decode(a.encode())` returns `a`, bit for bit.
///
/// An index calls `decode` only with the bits of keys that were stored, so an implementation may panic for
/// any others.
///
/// # Types
/// They have the order of [`Ord`], where they implement it:
/// * the integers of up to 64 bits, `bool`, `char`, the floats, [`Ipv4Addr`];
/// * byte strings of fixed length up to `[u8; 8]` (ordered as slices are: by their first differing
///   byte);
/// * [`NonZero`](core::num::NonZero) integers, optional or not;
/// * `Option`s of those types here that have at most 32 bits; `None` comes first;
/// * [`Reverse`](core::cmp::Reverse) of any key;
/// * tuples of two, three or four keys, if each is encoded in 32 bits and they pack into 64 bits
///   ([`Key::WIDTH_BITS`]): `(u32, i32)`, `(u16, u16, u32)`, `(u8, Reverse<u16>, bool, char)`;
/// * [`Nanos`](crate::base::nanos::Nanos): durations that aren't longer than 584 years.
///
/// Any other type can be a key by implementing this trait; most map to one of these types.
///
/// Floats are ordered as [`f64::total_cmp`] orders them: −NaN, −∞, …, −0, +0, …, +∞, +NaN. So −0
/// and +0 are two different keys, and a NaN is a key like any other.
///
/// ```
/// # use latchless_core as latchless;
/// use latchless::Key;
///
/// assert!((-1i64).encode() < 1i64.encode());
/// assert!((-0.0f64).encode() < 0.0f64.encode());
/// assert_eq!(f32::decode(2.5f32.encode()), 2.5);
/// assert!((1u32, -1i32).encode() < (1u32, 0i32).encode());
/// assert!(b"ab".encode() < b"b\0".encode());
/// assert!((7u16, 1u16, 9u32).encode() < (7u16, 2u16, 0u32).encode());
/// assert!(None::<u32>.encode() < Some(0u32).encode());
/// ```
/// A tuple with a part of 64 bits is no `Key`, nor is one whose parts don't pack into 64 bits:
/// ```compile_fail,E0271
/// # use latchless_core as latchless;
/// use latchless::Key;
///
/// let bits = Key::encode((1u32, 2u64));
/// ```
/// ```compile_fail,E0080
/// # use latchless_core as latchless;
/// use latchless::Key;
///
/// let bits = Key::encode((1u32, 2u32, 3u8));
/// ```
/// A custom key type:
/// ```
/// # mod latchless { pub use latchless_core::*; pub use latchless_core::base::index_key::*; }
/// use latchless::{InWord, IndexKey, Key};
///
/// /// Newest first: the order of its seconds, reversed.
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// struct Newest(u32);
/// impl Key for Newest {
///     type Bits = u32;
///     fn encode(self) -> u32 {
///         !self.0
///     }
///     fn decode(bits: u32) -> Self {
///         Self(!bits)
///     }
/// }
/// impl IndexKey for Newest {
///     type Form = InWord<u32>;
///     type Probe<'q> = Self;
///     fn probe(&self) -> Self {
///         *self
///     }
///     fn own(probe: Self) -> Self {
///         probe
///     }
/// }
/// assert!(Newest(7).encode() < Newest(3).encode());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't fit a word: a `Key` is `Copy` and has its order in at most 64 bits",
    label = "not a `Key`",
    note = "an `Index` of strings, byte strings, `u128`, UUIDs, IPv6 addresses and tuples of more than 64 bits has all \
            operations but those that need words",
    note = "a `Duration` is a key as `latchless::Nanos`, a `SystemTime` as the `Nanos` since the epoch",
    note = "a type of your own is a key once it implements `latchless::Key`"
)]
pub trait Key:
    for<'q> IndexKey<Form = InWord<<Self as Key>::Bits>, Probe<'q> = Self> + Copy + Debug + Send + Sync + 'static
{
    /// The unsigned integer that represents this key inside a node.
    type Bits: Bits;
    /// The number of low bits in use: in every encoded key, all bits above are zero. It is the key's width
    /// in a tuple. The default is the full width.
    const WIDTH_BITS: u32 = 8 * Self::Bits::BYTES as u32;
    /// Returns the key's order-preserving bits. Unlike `f64::to_bits`, they sort as the keys do.
    fn encode(self) -> Self::Bits;
    /// Returns the key that has these bits, which come from [`Key::encode`].
    fn decode(bits: Self::Bits) -> Self;
}

macro_rules! unsigned_key {
    ($($key:ty),*) => {$(
        impl Key for $key {
            type Bits = $key;

            #[inline(always)]
            fn encode(self) -> $key {
                self
            }

            #[inline(always)]
            fn decode(bits: $key) -> Self {
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
            fn encode(self) -> $bits {
                // Flipping the sign bit moves the negative half below the positive one.
                (self as $bits) ^ (1 << (<$bits>::BITS - 1))
            }

            #[inline(always)]
            fn decode(bits: $bits) -> Self {
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
            fn encode(self) -> $bits {
                let raw = <$key>::to_bits(self);
                // Negative numbers grow towards zero in their raw bits, so all of them flip;
                // positive ones only move above the negative half.
                let negative = ((raw as $signed) >> (<$bits>::BITS - 1)) as $bits;
                raw ^ (negative | 1 << (<$bits>::BITS - 1))
            }

            #[inline(always)]
            fn decode(bits: $bits) -> Self {
                let negative = !(((bits as $signed) >> (<$bits>::BITS - 1)) as $bits);
                <$key>::from_bits(bits ^ (negative | 1 << (<$bits>::BITS - 1)))
            }
        }
    )*};
}
float_key!(f32 => u32, i32; f64 => u64, i64);

/// Integers of less than 32 bits, stored in the low bits.
macro_rules! small_key {
    ($($key:ty => $unsigned:ty),*) => {$(
        impl Key for $key {
            type Bits = u32;
            const WIDTH_BITS: u32 = <$key>::BITS;

            #[inline(always)]
            fn encode(self) -> u32 {
                // The smallest unsigned value is zero already; for signed values, this flips the sign bit.
                u32::from(self as $unsigned ^ <$key>::MIN as $unsigned)
            }

            #[inline(always)]
            fn decode(bits: u32) -> Self {
                (bits as $unsigned ^ <$key>::MIN as $unsigned) as $key
            }
        }
    )*};
}
small_key!(u8 => u8, u16 => u16, i8 => u8, i16 => u16);

/// Types that are keys by conversion to another key type that contains them in the same order.
macro_rules! key_through {
    ($($key:ty => $through:ty),*) => {$(
        impl Key for $key {
            type Bits = <$through as Key>::Bits;

            #[inline(always)]
            fn encode(self) -> Self::Bits {
                Key::encode(self as $through)
            }

            #[inline(always)]
            fn decode(bits: Self::Bits) -> Self {
                <$through as Key>::decode(bits) as $key
            }
        }
    )*};
}
#[cfg(target_pointer_width = "64")]
key_through!(usize => u64, isize => i64);
#[cfg(target_pointer_width = "32")]
key_through!(usize => u32, isize => i32);

impl Key for bool {
    type Bits = u32;
    const WIDTH_BITS: u32 = 1;

    #[inline(always)]
    fn encode(self) -> u32 {
        u32::from(self)
    }

    #[inline(always)]
    fn decode(bits: u32) -> Self {
        bits != 0
    }
}

impl Key for char {
    type Bits = u32;
    const WIDTH_BITS: u32 = 21;

    #[inline(always)]
    fn encode(self) -> u32 {
        u32::from(self)
    }

    #[inline(always)]
    fn decode(bits: u32) -> Self {
        char::from_u32(bits).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

impl Key for Ipv4Addr {
    type Bits = u32;

    #[inline(always)]
    fn encode(self) -> u32 {
        Self::to_bits(self)
    }

    #[inline(always)]
    fn decode(bits: u32) -> Self {
        Self::from_bits(bits)
    }
}

/// Byte strings of a fixed length: big-endian, the first byte in the highest bits.
macro_rules! bytes_key {
    ($bits:ty: $($len:literal),*) => {$(
        impl Key for [u8; $len] {
            type Bits = $bits;
            const WIDTH_BITS: u32 = 8 * $len;

            #[inline(always)]
            fn encode(self) -> $bits {
                let mut bytes = [0; <$bits>::BYTES];
                bytes[<$bits>::BYTES - $len..].copy_from_slice(&self);
                <$bits>::from_be_bytes(bytes)
            }

            #[inline(always)]
            fn decode(bits: $bits) -> Self {
                let mut key = [0; $len];
                key.copy_from_slice(&bits.to_be_bytes()[<$bits>::BYTES - $len..]);
                key
            }
        }
    )*};
}
bytes_key!(u32: 1, 2, 3, 4);
bytes_key!(u64: 5, 6, 7, 8);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ordered_and_itself, random_cases, same_order};
    use core::cmp::Ordering;
    use proptest::prelude::*;

    #[test]
    fn every_byte_and_its_signed_twin_keep_their_order() {
        // Miri takes every seventeenth key, both ends among them.
        let step = if cfg!(miri) { 17 } else { 1 };
        for a in (0..=u8::MAX).step_by(step) {
            for b in (0..=u8::MAX).step_by(step) {
                ordered_and_itself(a, b);
                ordered_and_itself(a as i8, b as i8);
            }
        }
        ordered_and_itself(false, true);
        ordered_and_itself(char::MAX, '\0');
        ordered_and_itself(Ipv4Addr::LOCALHOST, Ipv4Addr::BROADCAST);
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
                // Cast once: two casts needn't yield the same NaN.
                let (a, b) = (a as f32, b as f32);
                same_order(a, b, a.total_cmp(&b));
            }
            assert_eq!(f64::decode(a.encode()).to_bits(), a.to_bits());
        }
    }

    #[test]
    fn called_as_methods_they_are_not_the_floats_own() {
        assert!((-1.0f64).encode() < 1.0f64.encode() && (-1.0f32).encode() < 1.0f32.encode());
        assert_ne!((-1.0f64).encode(), (-1.0f64).to_bits());
        assert_eq!(f64::decode(0).to_bits(), u64::MAX, "the smallest of all");
    }

    #[test]
    fn integers_keep_their_ends() {
        for window in [i64::MIN, -1, 0, 1, i64::MAX].windows(2) {
            same_order(window[0], window[1], Ordering::Less);
        }
        for window in [i32::MIN, -1, 0, 1, i32::MAX].windows(2) {
            same_order(window[0], window[1], Ordering::Less);
        }
        assert_eq!(i64::MIN.encode(), u64::MIN);
        assert_eq!(i32::MAX.encode(), u32::MAX);
    }

    proptest! {
        #![proptest_config(random_cases(256))]

        #[test]
        fn order_and_identity_of_every_key_type(a: u64, b: u64) {
            let (i, j) = (a as i64, b as i64);
            same_order(i, j, i.cmp(&j));
            prop_assert_eq!(i64::decode(i.encode()), i);
            let (i, j) = (a as i32, b as i32);
            same_order(i, j, i.cmp(&j));
            prop_assert_eq!(i32::decode(i.encode()), i);
            let (x, y) = (f64::from_bits(a), f64::from_bits(b));
            same_order(x, y, x.total_cmp(&y));
            prop_assert_eq!(f64::decode(x.encode()).to_bits(), x.to_bits());
            let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            same_order(x, y, x.total_cmp(&y));
            prop_assert_eq!(f32::decode(x.encode()).to_bits(), x.to_bits());
            same_order(a, b, a.cmp(&b));
            same_order(a as u32, b as u32, (a as u32).cmp(&(b as u32)));
            ordered_and_itself(a as usize, b as usize);
            ordered_and_itself(a as isize, b as isize);
            ordered_and_itself(a as u16, b as u16);
            ordered_and_itself(a as i16, b as i16);
            ordered_and_itself(Ipv4Addr::from(a as u32), Ipv4Addr::from(b as u32));
        }

        #[test]
        fn order_and_identity_of_byte_strings(a: [u8; 8], b: [u8; 8], same in 0usize..8) {
            let mut b = b;
            b[..same].copy_from_slice(&a[..same]);
            ordered_and_itself(a, b);
            ordered_and_itself::<[u8; 7]>(a[..7].try_into().unwrap(), b[..7].try_into().unwrap());
            ordered_and_itself::<[u8; 5]>(a[..5].try_into().unwrap(), b[..5].try_into().unwrap());
            ordered_and_itself::<[u8; 4]>(a[..4].try_into().unwrap(), b[..4].try_into().unwrap());
            ordered_and_itself::<[u8; 3]>(a[..3].try_into().unwrap(), b[..3].try_into().unwrap());
        }
    }
}
