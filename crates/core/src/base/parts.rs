//! Composite keys as bytes: tuples, `Option` and `Reverse`.
//!
//! The bytes of a tuple are those of its parts, in order. Plain concatenation would break the order: `"a"`
//! followed by a number that begins with `z` would sort after `"ab"`. So a part may be followed by another
//! one only if its end can be recognized:
//! * a part of fixed length is stored as it is;
//! * any other part is *closed*, unless it is the last one: a run of zero bytes, and the end, become `00` and
//!   a byte that says how long the run is and whether the end follows it. No closed part begins another one,
//!   and closed parts have the order of the parts;
//! * the last part is stored as it is, because nothing follows.
//!
//! `None` is `00`, with as many zeros after it as a `Some` has bytes, if all have as many; `Some` is `01` and
//! its key. `Reverse` inverts every byte. A reversed key must come *after* those that it begins, and inverted
//! bytes still come before them, so a key of varying length is closed before it is inverted, even where it is
//! last. In the middle of a tuple it is closed once more: `(Reverse<&str>, u64)` is right and takes four
//! bytes more than its parts, `(&str, u64)` two.

use super::bytes_key::BytesKey;
use super::closed::{Buffer, Ending, open};
use core::cmp::Reverse;
use std::borrow::Cow;

/// Removes the first part from the bytes of several and decodes it. [`Buffer::push_part`] wrote it.
#[inline(always)]
fn take<K, Q: BytesKey<K>>(bytes: &mut &[u8]) -> K {
    let (part, rest) = match Q::FIXED {
        Some(length) => bytes.split_at(length),
        None => return take_closed::<K, Q>(bytes),
    };
    *bytes = rest;
    Q::from_bytes(part)
}

/// Removes a closed part from the bytes of several and decodes it.
fn take_closed<K, Q: BytesKey<K>>(bytes: &mut &[u8]) -> K {
    let (mut part, _) = open(bytes, Ending::PLAIN).expect("a closed part has an end");
    Q::from_bytes(part.bytes())
}

/// Removes the first part from the bytes of several. Returns whether it was a valid one.
fn take_key<K: BytesKey, Q: BytesKey<K>>(bytes: &mut &[u8]) -> bool {
    let Some(length) = Q::FIXED else {
        return open(bytes, Ending::PLAIN).is_some_and(|(mut part, _)| Q::is_key(part.bytes()));
    };
    let Some((part, rest)) = bytes.split_at_checked(length) else { return false };
    *bytes = rest;
    Q::is_key(part)
}

/// The sum of the parts' lengths, if each part has a fixed one.
const fn sum(parts: &[Option<usize>]) -> Option<usize> {
    let mut sum = 0;
    let mut at = 0;
    while at < parts.len() {
        match parts[at] {
            Some(length) => sum += length,
            None => return None,
        }
        at += 1;
    }
    Some(sum)
}

macro_rules! tuple {
    ($($owned:ident $part:ident $at:tt),*; $last_owned:ident $last:ident $last_at:tt) => {
        /// Ordered by the first part, then by the next one, as tuples are.
        impl<$($owned: BytesKey, $part: BytesKey<$owned>,)* $last_owned: BytesKey, $last: BytesKey<$last_owned>>
            BytesKey<($($owned,)* $last_owned)> for ($($part,)* $last)
        {
            const FIXED: Option<usize> = sum(&[$($part::FIXED,)* $last::FIXED]);

            #[inline]
            fn with_bytes<Out>(&self, f: impl FnOnce(&[u8]) -> Out) -> Out {
                let mut buffer = Buffer::new();
                $(buffer.push_part(&self.$at);)*
                self.$last_at.with_bytes(|bytes| buffer.push(bytes));
                f(buffer.bytes())
            }

            #[inline]
            fn from_bytes(mut bytes: &[u8]) -> ($($owned,)* $last_owned) {
                ($(take::<$owned, $part>(&mut bytes),)* $last::from_bytes(bytes))
            }

            fn is_key(mut bytes: &[u8]) -> bool {
                $(take_key::<$owned, $part>(&mut bytes) &&)* $last::is_key(bytes)
            }

            fn type_name() -> Cow<'static, str> {
                format!("({})", [$($part::type_name(),)* $last::type_name()].join(", ")).into()
            }
        }
    };
}
tuple!(A P 0; B Q 1);
tuple!(A P 0, B Q 1; C R 2);
tuple!(A P 0, B Q 1, C R 2; D S 3);
tuple!(A P 0, B Q 1, C R 2, D S 3; E T 4);
tuple!(A P 0, B Q 1, C R 2, D S 3, E T 4; F U 5);

/// `None` sorts first.
impl<K: BytesKey, Q: BytesKey<K>> BytesKey<Option<K>> for Option<Q> {
    const FIXED: Option<usize> = sum(&[Some(1), Q::FIXED]);

    #[inline]
    fn with_bytes<Out>(&self, f: impl FnOnce(&[u8]) -> Out) -> Out {
        let mut buffer = Buffer::new();
        buffer.push(&[u8::from(self.is_some())]);
        match (self, Q::FIXED) {
            (Some(key), _) => key.with_bytes(|bytes| buffer.push(bytes)),
            (None, Some(length)) => (0..length).for_each(|_| buffer.push(&[0])),
            (None, None) => {}
        }
        f(buffer.bytes())
    }

    #[inline]
    fn from_bytes(bytes: &[u8]) -> Option<K> {
        let (some, key) = bytes.split_first().expect("an optional key says whether it is there");
        (*some != 0).then(|| Q::from_bytes(key))
    }

    fn is_key(bytes: &[u8]) -> bool {
        match bytes.split_first() {
            Some((1, key)) => Q::is_key(key),
            Some((0, zeros)) => zeros.len() == Q::FIXED.unwrap_or(0) && zeros.iter().all(|&byte| byte == 0),
            _ => false,
        }
    }

    fn type_name() -> Cow<'static, str> {
        format!("optional {}", Q::type_name()).into()
    }
}

/// The order of the wrapped key, reversed.
impl<K: BytesKey, Q: BytesKey<K>> BytesKey<Reverse<K>> for Reverse<Q> {
    const FIXED: Option<usize> = Q::FIXED;

    #[inline]
    fn with_bytes<Out>(&self, f: impl FnOnce(&[u8]) -> Out) -> Out {
        let mut buffer = Buffer::new();
        buffer.push_part(&self.0);
        buffer.invert();
        f(buffer.bytes())
    }

    #[inline]
    fn from_bytes(bytes: &[u8]) -> Reverse<K> {
        let mut buffer = Buffer::new();
        buffer.push(bytes);
        buffer.invert();
        Reverse(take::<K, Q>(&mut &*buffer.bytes()))
    }

    fn is_key(bytes: &[u8]) -> bool {
        let mut buffer = Buffer::new();
        buffer.push(bytes);
        buffer.invert();
        let mut part: &[u8] = buffer.bytes();
        take_key::<K, Q>(&mut part) && part.is_empty()
    }

    fn type_name() -> Cow<'static, str> {
        format!("reverse {}", Q::type_name()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bytes_are_lawful, bytes_of, random_cases};
    use core::fmt::Debug;
    use proptest::prelude::*;

    fn lawful<K: BytesKey + Ord + Debug>(a: &K, b: &K) {
        bytes_are_lawful(a, b, a.cmp(b));
    }

    /// Checks a key alone and as a part of every composite key, against another one.
    fn lawful_everywhere<K: BytesKey + Ord + Clone + Debug>(a: &K, b: &K, low: u64, high: u64) {
        let (a, b) = (a.clone(), b.clone());
        lawful(&a, &b);
        for (low, high) in [(low, high), (high, low), (low, low)] {
            lawful(&(a.clone(), low), &(b.clone(), high));
            lawful(&(low, a.clone()), &(high, b.clone()));
            lawful(&(low, a.clone(), Reverse(high)), &(low, b.clone(), Reverse(low)));
            lawful(&(Reverse(a.clone()), low), &(Reverse(b.clone()), high));
            lawful(&(Some(a.clone()), low), &(Some(b.clone()), high));
            lawful(&((a.clone(), low), a.clone()), &((b.clone(), high), a.clone()));
            lawful(&((low, a.clone()), high), &((low, b.clone()), low));
            lawful(&((low, Reverse(a.clone())), high), &((low, Reverse(b.clone())), low));
        }
        lawful(&Reverse(a.clone()), &Reverse(b.clone()));
        lawful(&Reverse(Reverse(a.clone())), &Reverse(Reverse(b.clone())));
        lawful(&Reverse((low, a.clone())), &Reverse((low, b.clone())));
        lawful(&Some(a.clone()), &Some(b.clone()));
        lawful(&Some(a.clone()), &None);
        lawful(&Some(Some(a.clone())), &Some(None));
        lawful(&Reverse(Some(a.clone())), &Reverse(None));
        lawful(&(Some(a.clone()), Reverse(b.clone())), &(None, Reverse(a.clone())));
        lawful(&(a.clone(), b.clone()), &(b.clone(), a.clone()));
        lawful(&(a.clone(), b.clone(), low), &(a.clone(), a.clone(), high));
    }

    /// Byte strings that may break an encoding: with zeros, common prefixes and the highest byte.
    fn byte_strings() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(vec![0, 0, 1, b'a', 0xfe, 0xff]), 0..6)
    }

    /// Byte strings with runs of zeros of every length that is encoded in another way.
    fn runs() -> impl Strategy<Value = Vec<u8>> {
        let run =
            (prop::sample::select(vec![0, 1, 2, 125, 126, 127, 128, 129, 253, 254, 255, 256, 400]), 0..3u8);
        prop::collection::vec(run, 0..4).prop_map(|runs| {
            runs.into_iter()
                .flat_map(|(zeros, end)| vec![0; zeros].into_iter().chain(vec![1; end.into()]))
                .collect()
        })
    }

    #[test]
    fn appending_parts_as_they_are_would_break_the_order() {
        let sequences = [u64::from_be_bytes(*b"zzzzzzzz"), 1];
        let keys = [("a", sequences[0]), ("ab", sequences[1])];
        let naive = keys.map(|(text, sequence)| [text.as_bytes(), &sequence.to_be_bytes()].concat());
        assert!(keys[0] < keys[1] && naive[0] > naive[1], "the naive bytes are in the wrong order");
        let [one, other] = keys.map(|key| bytes_of::<(String, u64), _>(&key));
        assert!(one < other);

        // Two keys whose plain concatenations are the same.
        let [x, y] = [(&b"a"[..], &b"bc"[..]), (&b"ab"[..], &b"c"[..])];
        assert_eq!([x.0, x.1].concat(), [y.0, y.1].concat());
        assert_ne!(bytes_of::<(Vec<u8>, Vec<u8>), _>(&x), bytes_of::<(Vec<u8>, Vec<u8>), _>(&y));
    }

    #[test]
    fn inverting_a_text_as_it_is_would_break_the_order() {
        let inverted = |text: &str| text.bytes().map(|byte| !byte).collect::<Vec<_>>();
        assert!(Reverse("ab") < Reverse("a") && inverted("ab") > inverted("a"));
        let [two, one] = ["ab", "a"].map(|text| bytes_of(&Reverse(text.to_owned())));
        assert!(two < one);
    }

    #[test]
    fn their_bytes_are_these() {
        assert_eq!(bytes_of::<(u16, String), _>(&(1u16, "a\0b")), b"\0\x01a\0b");
        assert_eq!(bytes_of::<(String, u16), _>(&("a\0b", 1u16)), b"a\0\xffb\0\0\0\x01");
        assert_eq!(bytes_of(&("a\0\0\0b\0\0".to_owned(), 1u16)), b"a\0\xfdb\0\x02\0\x01");
        assert_eq!(bytes_of(&(vec![0; 8], 1u16)), b"\0\x08\0\x01");
        let run = |zeros: usize, then: &[u8]| bytes_of(&([&vec![0; zeros], then].concat(), 1u8));
        assert_eq!([run(126, b""), run(127, b"")], [vec![0, 126, 1], vec![0, 127, 0, 0, 1]]);
        assert_eq!(
            [run(127, b"a"), run(128, b"a")],
            [b"\0\x81a\0\0\x01".to_vec(), b"\0\x80\0\xffa\0\0\x01".to_vec()]
        );
        assert_eq!(bytes_of::<(String, String, String), _>(&("", "", "")), [0; 4]);
        assert_eq!(bytes_of(&Some("a".to_owned())), b"\x01a");
        assert_eq!(bytes_of(&None::<String>), b"\0");
        assert_eq!(bytes_of(&None::<u32>), [0; 5]);
        assert_eq!(bytes_of(&Reverse("a".to_owned())), [!b'a', 0xff, 0xff]);
        assert_eq!(bytes_of(&Reverse(1u16)), [0xff, 0xfe]);
        assert_eq!(bytes_of(&(-1i8, true, 'x')), b"\x7f\x01\0\0\0x");
    }

    #[test]
    fn bytes_that_no_key_has_are_told() {
        // A terminator is missing or cut; a run ends otherwise than it says; the last part is invalid.
        for bytes in [&b"a"[..], b"a\0", b"a\0\xff\0\0cccccccc", b"a\0\0ccccccc", b"a\0\0ccccccccc"] {
            assert!(!<(String, u64)>::is_key(bytes), "{bytes:?}");
        }
        for bytes in [&b"\0\x7f\0\xffa\0\0cccccccc"[..], b"\0\x80\0\0cccccccc", b"\0\x80a\0\0cccccccc"] {
            assert!(!<(String, u64)>::is_key(bytes), "{bytes:?}");
        }
        assert!(<(String, u64)>::is_key(b"a\0\xffb\0\0cccccccc"));
        assert!(!<(String, u64)>::is_key(b"\xff\0\0cccccccc"));
        assert!(!<(u64, u64)>::is_key(&[0; 5]) && !<(u64, String)>::is_key(&[0; 7]));
        for bytes in [&[][..], &[2, 0, 0], &[0, 0, 1], &[0, 0], &[1, 0]] {
            assert!(!<Option<u16>>::is_key(bytes), "{bytes:?}");
        }
        assert!(!<Option<String>>::is_key(b"\0\0") && <Option<String>>::is_key(b"\0"));
        assert!(!<Reverse<String>>::is_key(b"") && !<Reverse<String>>::is_key(&[!b'a', 0xff, 0xff, 0]));
        assert!(!<Reverse<String>>::is_key(&[!b'a', 0xff]) && !<Reverse<u16>>::is_key(&[0; 3]));
    }

    #[test]
    fn a_type_is_named_by_its_parts() {
        assert_eq!(<(u64, String)>::type_name(), "(u64, text)");
        let nested = <(Option<[u8; 7]>, Reverse<(i128, Vec<u8>)>, bool)>::type_name();
        assert_eq!(nested, "(optional [u8; 7], reverse (i128, bytes), bool)");
        assert_eq!(
            <(String, u64)>::type_name(),
            <(Box<str>, core::num::NonZero<u64>) as BytesKey>::type_name()
        );
    }

    #[test]
    fn tuples_say_whether_their_length_is_fixed() {
        assert_eq!(<(u64, i64)>::FIXED, Some(16));
        assert_eq!(<(u32, Option<u64>, Reverse<[u8; 7]>)>::FIXED, Some(4 + 9 + 7));
        assert_eq!(<(u32, &String)>::FIXED, None);
        assert_eq!(<(&String, u32)>::FIXED, None);
        assert_eq!(<(u8, u8, u8, u8, u8, (u8, u8))>::FIXED, Some(7));
    }

    #[test]
    fn keys_that_are_too_long_for_the_stack_are_whole() {
        for length in [0, 1, 125, 126, 127, 128, 129, 300, 5_000] {
            for byte in [0, 1, 0xff] {
                let long = vec![byte; length];
                lawful_everywhere(&long, &vec![byte; length + 1], 3, u64::MAX);
            }
        }
        let array = [0u8; 200];
        lawful(&(array, Reverse(array)), &(array, Reverse(array)));
        lawful(&None, &Some(array));
    }

    proptest! {
        #![proptest_config(random_cases(512))]

        #[test]
        fn byte_strings_in_every_place(a in byte_strings(), b in byte_strings(), low: u64, high: u64) {
            lawful_everywhere(&a, &b, low, high);
        }

        #[test]
        fn runs_of_zeros_in_every_place(a in runs(), b in runs(), low: u64, high: u64) {
            lawful_everywhere(&a, &b, low, high);
        }

        #[test]
        fn what_is_told_to_be_a_key_is_one(
            bytes in prop::collection::vec(prop::sample::select(vec![0, 0, 0, 1, 2, 127, 128, 129, 0xff, 0xff]), 0..9),
        ) {
            macro_rules! all {
                ($($key:ty),*) => {$(
                    if <$key>::is_key(&bytes) {
                        prop_assert_eq!(bytes_of(&<$key>::from_bytes(&bytes)), &bytes[..]);
                    }
                )*};
            }
            all!((String, u16), (Vec<u8>, Vec<u8>), (bool, Option<Vec<u8>>), (Option<u8>, u8), Reverse<Vec<u8>>);
            all!(Reverse<(Vec<u8>, u8)>, ((Vec<u8>, bool), u8), (Reverse<String>, Vec<u8>), char, Option<bool>);
        }

        #[test]
        fn texts_in_every_place(a: String, b: String, low: u64, high: u64) {
            lawful_everywhere(&a, &b, low, high);
        }

        #[test]
        fn numbers_in_every_place(a: i64, b in -2i64..3, low: u64, high: u64) {
            lawful_everywhere(&a, &a.wrapping_add(b), low, high);
            lawful_everywhere(&(a as u8, a as i128), &(b as u8, a as i128), low, high);
        }

        #[test]
        fn tuples_of_every_size(a in byte_strings(), b in byte_strings(), c: u8, d: u8, e: bool) {
            let x = (a.clone(), c, e, b.clone());
            let y = (b.clone(), d, !e, a.clone());
            lawful(&x, &y);
            lawful(&(x.0.clone(), x.1, x.2, x.3.clone(), c), &(x.0.clone(), x.1, x.2, x.3.clone(), d));
            let six = |last: &Vec<u8>, c| (1u8, a.clone(), c, (b.clone(), e), Some(a.clone()), last.clone());
            lawful(&six(&a, c), &six(&b, c));
            lawful(&six(&a, c), &six(&a, d));
        }

        #[test]
        fn borrowed_parts_have_the_bytes_of_owned_ones(a in byte_strings(), text: String, n: u64) {
            let borrowed = (&text[..], n, &a[..]);
            let owned = (text.clone(), n, a.clone());
            prop_assert_eq!(bytes_of::<(String, u64, Vec<u8>), _>(&borrowed), bytes_of(&owned));
            prop_assert_eq!(<(String, u64, Vec<u8>)>::from_bytes(&bytes_of(&owned)), owned);
            let borrowed = (Some(&a[..]), Reverse(&text[..]), Reverse(&n));
            let owned = (Some(a.clone()), Reverse(text.clone()), Reverse(n));
            let bytes = bytes_of::<(Option<Vec<u8>>, Reverse<String>, Reverse<u64>), _>(&borrowed);
            prop_assert_eq!(bytes, bytes_of(&owned));
        }
    }
}
