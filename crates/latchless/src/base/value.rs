//! Values: anything `Copy` that fits a lane of four or eight bytes.

use super::key::Bits;
use core::fmt::Debug;

/// A value that stands inline beside its key, in a lane of the same width `B`.
///
/// # Contract
/// `V::from_bits(v.to_bits())` gives `v` back. Unlike a key's bits, a value's bits carry no order.
///
/// ```
/// use latchless::Value;
/// let bits: u64 = Value::<u64>::to_bits(-3i16);
/// assert_eq!(<i16 as Value<u64>>::from_bits(bits), -3);
/// ```
pub trait Value<B: Bits>: Copy + Debug + Send + Sync + 'static {
    /// The value as a lane.
    fn to_bits(self) -> B;
    /// The value that a lane stands for.
    fn from_bits(bits: B) -> Self;
}

macro_rules! integer_value {
    ($bits:ty: $($value:ty),*) => {$(
        impl Value<$bits> for $value {
            #[inline(always)]
            fn to_bits(self) -> $bits {
                self as $bits
            }

            #[inline(always)]
            fn from_bits(bits: $bits) -> Self {
                bits as $value
            }
        }
    )*};
}
integer_value!(u32: u8, u16, u32, i8, i16, i32);
integer_value!(u64: u8, u16, u32, u64, i8, i16, i32, i64);

macro_rules! common_value {
    ($($bits:ty),*) => {$(
        impl Value<$bits> for () {
            #[inline(always)]
            fn to_bits(self) -> $bits {
                0
            }

            #[inline(always)]
            fn from_bits(_: $bits) -> Self {}
        }

        impl Value<$bits> for bool {
            #[inline(always)]
            fn to_bits(self) -> $bits {
                <$bits>::from(self)
            }

            #[inline(always)]
            fn from_bits(bits: $bits) -> Self {
                bits != 0
            }
        }

        impl Value<$bits> for f32 {
            #[inline(always)]
            fn to_bits(self) -> $bits {
                <$bits>::from(f32::to_bits(self))
            }

            #[inline(always)]
            fn from_bits(bits: $bits) -> Self {
                f32::from_bits(bits as u32)
            }
        }
    )*};
}
common_value!(u32, u64);

impl Value<u64> for f64 {
    #[inline(always)]
    fn to_bits(self) -> u64 {
        f64::to_bits(self)
    }

    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        f64::from_bits(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<B: Bits, V: Value<B> + PartialEq>(value: V) {
        assert_eq!(V::from_bits(value.to_bits()), value);
    }

    #[test]
    fn every_value_comes_back() {
        round_trip::<u32, _>(-5i8);
        round_trip::<u32, _>(i32::MIN);
        round_trip::<u64, _>(-5i8);
        round_trip::<u64, _>(i64::MIN);
        round_trip::<u64, _>(u64::MAX);
        round_trip::<u64, _>(-0.5f64);
        round_trip::<u64, _>(f32::MAX);
        round_trip::<u32, _>(f32::MIN_POSITIVE);
        round_trip::<u32, _>(true);
        round_trip::<u64, _>(false);
        round_trip::<u64, _>(());
    }
}
