//! Tuples as keys and as values: their parts packed into 64 bits, the first one in the highest bits.
//!
//! Each part is encoded as a `u32`, so that there is room for another one. An index stores any other tuple as
//! bytes.

use super::key::{Bits, Key};
use super::value::Value;

/// Returns a mask of the `width_bits` lowest bits.
#[inline(always)]
pub(super) const fn ones(width_bits: u32) -> u64 {
    if width_bits == 0 { 0 } else { u64::MAX >> (64 - width_bits) }
}

/// Puts a part's bits above `below_bits` others. A part without bits may have 64 below it.
#[inline(always)]
const fn part(bits: u64, below_bits: u32, width_bits: u32) -> u64 {
    if width_bits == 0 { 0 } else { bits >> below_bits & ones(width_bits) }
}

macro_rules! packed {
    ($trait:ident: $($part:ident $at:tt),*) => {
        impl<$($part: $trait<Bits = u32>),*> $trait for ($($part),*) {
            type Bits = u64;

            #[inline(always)]
            fn encode(self) -> u64 {
                const {
                    let width_bits = 0 $(+ <$part as $trait>::WIDTH_BITS)*;
                    assert!(
                        width_bits <= 64,
                        "the parts of this tuple have more than 64 bits together: make a tuple of its first \
                         two parts, as in `((u32, u32), u32)`, which is stored as bytes in the same order"
                    );
                }
                let bits = 0u64;
                $(let bits = bits << <$part as $trait>::WIDTH_BITS | self.$at.encode().to_u64();)*
                bits
            }

            #[inline(always)]
            fn decode(bits: u64) -> Self {
                let mut below = 0 $(+ <$part as $trait>::WIDTH_BITS)*;
                ($({
                    below -= <$part as $trait>::WIDTH_BITS;
                    let own = part(bits, below, <$part as $trait>::WIDTH_BITS);
                    <$part as $trait>::decode(Bits::truncate(own))
                }),*)
            }
        }
    };
}
packed!(Key: A 0, B 1);
packed!(Key: A 0, B 1, C 2);
packed!(Key: A 0, B 1, C 2, D 3);
packed!(Value: A 0, B 1);
packed!(Value: A 0, B 1, C 2);
packed!(Value: A 0, B 1, C 2, D 3);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ordered_and_itself, random_cases};
    use core::cmp::Reverse;
    use core::num::NonZero;
    use proptest::prelude::*;

    fn comes_back<V: Value + PartialEq>(value: V) {
        assert_eq!(V::decode(value.encode()), value);
    }

    #[test]
    fn the_first_part_decides_even_at_the_ends() {
        ordered_and_itself((0u32, u32::MAX), (1u32, 0u32));
        ordered_and_itself((0u16, u16::MAX, u32::MAX), (1u16, 0, 0));
        ordered_and_itself((i8::MIN, u8::MAX, true, u32::MAX), (i8::MIN + 1, 0, false, 0));
        ordered_and_itself((u32::MAX, u16::MAX, u16::MAX), (u32::MAX, u16::MAX, u16::MAX - 1));
        assert_eq!(Key::encode((u32::MAX, [0xffu8; 3], u8::MAX)), u64::MAX);
    }

    #[test]
    fn values_of_every_part_come_back() {
        comes_back((i32::MIN, 0.5f32));
        comes_back(('x', false));
        comes_back((-1i8, i16::MIN, u32::MAX));
        comes_back(((), u32::MAX, i32::MIN));
        comes_back((NonZero::new(3u16).unwrap(), None::<NonZero<u8>>, ()));
        comes_back((i16::MIN, -1i16, i16::MAX, u16::MAX));
    }

    proptest! {
        #![proptest_config(random_cases(256))]

        #[test]
        fn order_and_identity_of_tuples(a: (u32, i32), b: (u32, i32), same in 0usize..4, c: char, d: char) {
            // Many of them differ in a later part only.
            let b = if same > 1 { (a.0, b.1) } else { b };
            ordered_and_itself(a, b);
            ordered_and_itself((a.1, a.0), (b.1, b.0));
            ordered_and_itself((c, same == 1), (d, false));
            let parts = |x: (u32, i32)| (x.0 as u16, (x.0 >> 16) as u16, x.1);
            ordered_and_itself(parts(a), parts(b));
            let bytes = |x: (u32, i32)| (x.0 as u8, (x.0 >> 8) as i8, (x.0 >> 16) as u8);
            ordered_and_itself(bytes(a), bytes(b));
            let four = |x: (u32, i32)| (x.0 as i16, Reverse(x.1 as i16), (x.0 >> 16) as u16, x.1 as u8);
            ordered_and_itself(four(a), four(b));
            let mixed = |x: (u32, i32), c: char| (x.1 > 0, c, x.0);
            ordered_and_itself(mixed(a, c), mixed(b, if same == 2 { c } else { d }));
            comes_back(parts(a));
            comes_back(mixed(b, c));
        }
    }
}
