//! Wrapper types as keys and values: `Reverse`, `NonZero` and `Option`.

use super::key::{Bits, Key};
use super::tuples::ones;
use super::value::Value;
use core::cmp::Reverse;
use core::net::Ipv4Addr;
use core::num::NonZero;

/// The order of the wrapped key, reversed.
///
/// ```
/// # use latchless_core as latchless;
/// use latchless::Key;
/// use std::cmp::Reverse;
/// assert!(Reverse(5u32).encode() < Reverse(3u32).encode());
/// ```
impl<K: Key> Key for Reverse<K> {
    type Bits = K::Bits;
    const WIDTH_BITS: u32 = K::WIDTH_BITS;

    #[inline(always)]
    fn encode(self) -> K::Bits {
        flip::<K>(self.0.encode())
    }

    #[inline(always)]
    fn decode(bits: K::Bits) -> Self {
        Self(K::decode(flip::<K>(bits)))
    }
}

/// Flips all bits of a key's width, which reverses the order.
#[inline(always)]
fn flip<K: Key>(bits: K::Bits) -> K::Bits {
    Bits::truncate(bits.to_u64() ^ ones(K::WIDTH_BITS))
}

/// The encoding of the wrapped value.
impl<V: Value> Value for Reverse<V> {
    type Bits = V::Bits;
    const WIDTH_BITS: u32 = V::WIDTH_BITS;

    #[inline(always)]
    fn encode(self) -> V::Bits {
        self.0.encode()
    }

    #[inline(always)]
    fn decode(bits: V::Bits) -> Self {
        Self(V::decode(bits))
    }
}

/// Returns the number, which was stored as one that isn't zero.
#[inline(always)]
fn not_zero<T>(number: Option<T>) -> T {
    number.expect("only bits that were stored are decoded, and zero never was")
}

/// Integers that aren't zero. `None` is encoded as zero, so it is the smallest key.
macro_rules! nonzero {
    ($($number:ty),*) => {$(
        impl Key for NonZero<$number> {
            type Bits = <$number as Key>::Bits;
            const WIDTH_BITS: u32 = <$number as Key>::WIDTH_BITS;

            #[inline(always)]
            fn encode(self) -> Self::Bits {
                Key::encode(self.get())
            }

            #[inline(always)]
            fn decode(bits: Self::Bits) -> Self {
                not_zero(Self::new(Key::decode(bits)))
            }
        }

        impl Key for Option<NonZero<$number>> {
            type Bits = <$number as Key>::Bits;
            const WIDTH_BITS: u32 = <$number as Key>::WIDTH_BITS;

            #[inline(always)]
            fn encode(self) -> Self::Bits {
                // Zero is free for `None`, so the numbers below it move up by one.
                self.map_or(0, |key| {
                    let bits = Key::encode(key);
                    if bits < Key::encode(<$number>::default()) { bits + 1 } else { bits }
                })
            }

            #[inline(always)]
            fn decode(bits: Self::Bits) -> Self {
                let moved = bits <= Key::encode(<$number>::default());
                (bits != 0).then(|| Key::decode(if moved { bits - 1 } else { bits }))
            }
        }

        impl Value for NonZero<$number> {
            type Bits = <$number as Value>::Bits;
            const WIDTH_BITS: u32 = <$number as Value>::WIDTH_BITS;

            #[inline(always)]
            fn encode(self) -> Self::Bits {
                Value::encode(self.get())
            }

            #[inline(always)]
            fn decode(bits: Self::Bits) -> Self {
                not_zero(Self::new(Value::decode(bits)))
            }
        }

        impl Value for Option<NonZero<$number>> {
            type Bits = <$number as Value>::Bits;
            const WIDTH_BITS: u32 = <$number as Value>::WIDTH_BITS;

            #[inline(always)]
            fn encode(self) -> Self::Bits {
                Value::encode(self.map_or(0, NonZero::get))
            }

            #[inline(always)]
            fn decode(bits: Self::Bits) -> Self {
                NonZero::new(Value::decode(bits))
            }
        }
    )*};
}
nonzero!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);

/// Optional keys; `None` sorts first. They need one more bit, so those of 32 bits are encoded in 64.
macro_rules! optional {
    ($bits:ty: $($key:ty),*) => {$(
        impl Key for Option<$key> {
            type Bits = $bits;
            const WIDTH_BITS: u32 = <$key as Key>::WIDTH_BITS + 1;

            #[inline(always)]
            fn encode(self) -> $bits {
                self.map_or(0, |key| <$bits>::from(Key::encode(key)) + 1)
            }

            #[inline(always)]
            fn decode(bits: $bits) -> Self {
                bits.checked_sub(1).map(|bits| Key::decode(bits as u32))
            }
        }

        impl Value for Option<$key> {
            type Bits = $bits;
            const WIDTH_BITS: u32 = <$key as Key>::WIDTH_BITS + 1;

            #[inline(always)]
            fn encode(self) -> $bits {
                Key::encode(self)
            }

            #[inline(always)]
            fn decode(bits: $bits) -> Self {
                Key::decode(bits)
            }
        }
    )*};
}
optional!(u32: bool, u8, u16, i8, i16, char, [u8; 1], [u8; 2], [u8; 3]);
optional!(u64: u32, i32, f32, [u8; 4], Ipv4Addr);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ordered_and_itself, random_cases};
    use proptest::prelude::*;

    /// Checks a type as a key, also in reverse order, and as a value.
    fn both<T: Key + Value + Ord>(a: T, b: T) {
        ordered_and_itself(a, b);
        ordered_and_itself(Reverse(a), Reverse(b));
        for value in [a, b] {
            assert_eq!(<T as Value>::decode(Value::encode(value)), value);
            assert!(Value::encode(value).to_u64().checked_shr(<T as Value>::WIDTH_BITS).unwrap_or(0) == 0);
            let value = Reverse(value);
            assert_eq!(<Reverse<T> as Value>::decode(Value::encode(value)), value);
        }
    }

    macro_rules! nonzero_order {
        ($a:expr, $b:expr; $($number:ty),*) => {$({
            let (a, b) = (NonZero::new($a as $number), NonZero::new($b as $number));
            both(a, b);
            both(a, None);
            if let (Some(a), Some(b)) = (a, b) {
                both(a, b);
            }
            for end in [<$number>::MIN, <$number>::MAX, 1, (0 as $number).wrapping_sub(1)] {
                both(a, NonZero::new(end));
            }
        })*};
    }

    #[test]
    fn ends_keep_their_order() {
        nonzero_order!(1, 2; u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);
        for at in 0..=u8::MAX {
            nonzero_order!(at, 1; u8, i8);
        }
        both(Some(u32::MAX), None);
        both(Some(i32::MIN), None);
        both(Some(char::MAX), Some('\0'));
        both(Some(true), None);
        both(Some([255u8; 3]), Some([0; 3]));
    }

    #[test]
    #[should_panic(expected = "zero never was")]
    fn bits_that_no_key_has_are_refused() {
        let _ = <NonZero<u64> as Key>::decode(0);
    }

    proptest! {
        #![proptest_config(random_cases(256))]

        #[test]
        fn order_and_identity_of_wrapped_keys(a: u64, b: u64, near: bool, c: Option<char>, d: char) {
            let b = if near { a.wrapping_add(b % 3).wrapping_sub(1) } else { b };
            nonzero_order!(a, b; u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);
            both(a, b);
            both(c, Some(d));
            both((b > a).then_some(a as u32), Some(b as u32));
            both((b > a).then_some(a as i32), Some(b as i32));
            both((b > a).then_some(a as u16), Some(b as u16));
            both((b > a).then_some(a as i8), Some(b as i8));
            both((b > a).then_some(Ipv4Addr::from(a as u32)), Some(Ipv4Addr::from(b as u32)));
            both((b > a).then_some((a as u32).to_be_bytes()), Some((b as u32).to_be_bytes()));
            let (x, y) = (Some(f32::from_bits(a as u32)), Some(f32::from_bits(b as u32)));
            prop_assert_eq!(Key::encode(x).cmp(&Key::encode(y)), x.unwrap().total_cmp(&y.unwrap()));
            prop_assert!(Key::encode(x) > Key::encode(None::<f32>));
        }
    }
}
