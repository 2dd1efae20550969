//! Arrays of integers as keys: numbers that are wider than 128 bits, and short vectors.
//!
//! They have the order of [`Ord`], which compares the first elements first: a number of 256 bits is a
//! `[u64; 4]` whose first element has the highest bits.

use super::bytes_key::BytesKey;
use std::borrow::Cow;

macro_rules! wide {
    ($($number:ty: $name:literal, $bits:ty;)*) => {$(
        /// Ordered by the first element that differs.
        impl<const N: usize> BytesKey for [$number; N] {
            const FIXED: Option<usize> = Some(N * size_of::<$number>());

            #[inline]
            fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
                // The smallest unsigned value is zero already; for signed values, this flips the sign bit.
                let bytes = self.map(|number| (number as $bits ^ <$number>::MIN as $bits).to_be_bytes());
                f(bytes.as_flattened())
            }

            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                let (numbers, rest) = bytes.as_chunks();
                assert!(numbers.len() == N && rest.is_empty(), "only bytes of keys that were stored are decoded");
                core::array::from_fn(|at| {
                    (<$bits>::from_be_bytes(numbers[at]) ^ <$number>::MIN as $bits) as $number
                })
            }

            fn is_key(bytes: &[u8]) -> bool {
                Some(bytes.len()) == <Self as BytesKey>::FIXED
            }

            fn type_name() -> Cow<'static, str> {
                format!("[{}; {N}]", $name).into()
            }
        }
    )*};
}
wide! {
    u16: "u16", u16;
    u32: "u32", u32;
    u64: "u64", u64;
    u128: "u128", u128;
    i8: "i8", u8;
    i16: "i16", u16;
    i32: "i32", u32;
    i64: "i64", u64;
    i128: "i128", u128;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bytes_are_lawful, random_cases};
    use proptest::prelude::*;

    #[test]
    fn bytes_of_another_length_are_no_key() {
        assert!(
            <[u64; 4]>::is_key(&[7; 32]) && !<[u64; 4]>::is_key(&[7; 31]) && !<[u16; 2]>::is_key(&[7; 5])
        );
        assert_eq!((<[u64; 4]>::FIXED, <[i8; 3]>::FIXED, <[u128; 0]>::FIXED), (Some(32), Some(3), Some(0)));
        assert_eq!(<[i32; 2]>::type_name(), "[i32; 2]");
    }

    #[test]
    #[should_panic(expected = "keys that were stored")]
    fn bytes_of_more_numbers_are_refused() {
        let _ = <[u64; 4]>::from_bytes(&[0; 40]);
    }

    proptest! {
        #![proptest_config(random_cases(256))]

        #[test]
        fn arrays_have_the_order_of_their_elements(a: [u64; 4], b: [u64; 4], same in 0usize..5) {
            // Many of them differ in their later elements alone.
            let b: [u64; 4] = core::array::from_fn(|at| if at < same { a[at] } else { b[at] });
            macro_rules! all {
                ($($number:ty),*) => {$(
                    let [x, y] = [a, b].map(|key| key.map(|number| number as $number));
                    bytes_are_lawful(&x, &y, x.cmp(&y));
                    bytes_are_lawful(&(x, a), &(y, b), (x, a).cmp(&(y, b)));
                )*};
            }
            all!(u16, u32, u64, u128, i8, i16, i32, i64, i128);
        }
    }
}
