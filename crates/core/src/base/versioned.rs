//! Keys that end in a version: a key and the number of one of its versions, the highest number first.
//!
//! # Bytes
//! Plain concatenation of the key's bytes and the inverted number breaks the order where one key begins
//! another: of `a` and `ab`, a number may decide. So the key is [closed](super::parts). The byte that
//! closes it also says how many bytes the number has without its leading zeros: fewer bytes, a lower
//! number, a higher byte. Then come these bytes, inverted. So a version takes two bytes and those of its
//! number, in place of eight and an escape of each zero byte: five for numbers below 2^24, and no more than
//! eight below 2^48.
//!
//! All versions of a key have the bytes before that one in common, and no version of any other key has all
//! of them and a byte there that ends a key with as many zeros.

use super::bytes_key::BytesKey;
use super::closed::{Buffer, Ending, open, zero_in};
use super::index_key::{InBytes, IndexKey};
use core::cmp::{Ordering, Reverse};
use std::borrow::Cow;

/// A key, and the number of one of its versions. Ordered by key, and of one key the highest number first:
/// the order in which a storage engine keeps the entries of a memtable.
///
/// An index of such keys is named by them in borrowed form: `VersionedKey("apple", 7)`. The key may be of
/// any type that an index stores, not of texts and byte strings alone.
///
/// ```
/// # mod latchless { pub use latchless_core::base::versioned::VersionedKey; }
/// use latchless::VersionedKey;
///
/// let mut keys = [VersionedKey("ab", 1), VersionedKey("a", 1), VersionedKey("a", 2)];
/// keys.sort();
/// assert_eq!(keys, [VersionedKey("a", 2), VersionedKey("a", 1), VersionedKey("ab", 1)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VersionedKey<K = Vec<u8>>(pub K, pub u64);

impl<K: Ord> Ord for VersionedKey<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.0, Reverse(self.1)).cmp(&(&other.0, Reverse(other.1)))
    }
}

impl<K: Ord> PartialOrd for VersionedKey<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K> VersionedKey<K> {
    /// Calls `serve` with the bytes of the key, and the place of the byte that closes it: all before that
    /// are the same in all versions.
    #[inline]
    pub fn with_place<Owned, R>(&self, serve: impl FnOnce(&[u8], usize) -> R) -> R
    where
        K: BytesKey<Owned>,
    {
        let zeros = self.1.leading_zeros() / 8;
        let number = (!self.1).checked_shl(8 * zeros).unwrap_or(0).to_be_bytes();
        let mut buffer = Buffer::new();
        self.0.with_bytes(|key| buffer.push_closed(key, Ending::NUMBERED, zeros as u8));
        buffer.push(&number[..8 - zeros as usize]);
        let bytes = buffer.bytes();
        let place = self.place_in(bytes.len());
        serve(bytes, place)
    }

    /// Returns the place of the byte that closes the key, if its bytes are so many.
    #[inline]
    pub fn place_in(&self, len: usize) -> usize {
        len - (8 - self.1.leading_zeros() as usize / 8) - 1
    }
}

/// Returns the place of the byte that closes the key, if these are the bytes of a [`VersionedKey`].
#[inline]
pub fn place_of(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let mark = from + zero_in(&bytes[from..])? + 1;
        if Ending::NUMBERED.read(*bytes.get(mark)?).is_some() {
            return Some(mark);
        }
        from = mark + 1;
    }
}

/// Returns whether a byte that closes a key closes one with as many zeros at its end as another such byte.
#[inline(always)]
pub fn closes_alike(mark: u8, other: u8) -> bool {
    match (Ending::NUMBERED.read(mark), Ending::NUMBERED.read(other)) {
        (Some((zeros, _)), Some((others, _))) => zeros == others,
        _ => false,
    }
}

/// Returns the number that the last `len` bytes of a key say, of the last eight as a big-endian number.
#[inline(always)]
pub fn number_of(last: u64, len: usize) -> u64 {
    !last & u64::MAX.checked_shr(64 - 8 * len.min(8) as u32).unwrap_or(0)
}

/// Takes a key apart: the bytes of the part before the number, and the number.
fn apart(bytes: &[u8]) -> Option<(Buffer, u64)> {
    let mut rest = bytes;
    let (key, zeros) = open(&mut rest, Ending::NUMBERED)?;
    let len = 8 - usize::from(zeros);
    let mut number = [0; 8];
    if rest.len() != len {
        return None;
    }
    number[8 - len..].iter_mut().zip(rest).for_each(|(to, byte)| *to = !byte);
    // Leading zeros aren't stored.
    (number[8 - len..].first() != Some(&0)).then(|| (key, u64::from_be_bytes(number)))
}

/// Takes a key apart whose part before the number has no zeros, as most have: its bytes are stored as they
/// are.
#[inline]
fn apart_without_zeros(bytes: &[u8]) -> Option<(&[u8], u64)> {
    let end = zero_in(bytes)?;
    let (&[_, mark], rest) = bytes[end..].split_first_chunk()?;
    let (zeros, missing) = Ending::NUMBERED.read(mark)?;
    let is_whole = zeros == 0 && rest.len() + usize::from(missing) == 8;
    let number = || rest.iter().fold(0, |number, &byte| number << 8 | u64::from(!byte));
    is_whole.then(|| (&bytes[..end], number()))
}

/// The panic message for bytes that no key has.
const STORED: &str = "a versioned key ends in its number";

impl<K: BytesKey, Q: BytesKey<K>> BytesKey<VersionedKey<K>> for VersionedKey<Q> {
    const FIXED: Option<usize> = None;
    const IS_VERSIONED: bool = true;

    #[inline]
    fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        self.with_place(|bytes, _| f(bytes))
    }

    fn from_bytes(bytes: &[u8]) -> VersionedKey<K> {
        if let Some((key, number)) = apart_without_zeros(bytes) {
            return VersionedKey(Q::from_bytes(key), number);
        }
        let (mut key, number) = apart(bytes).expect(STORED);
        VersionedKey(Q::from_bytes(key.bytes()), number)
    }

    fn is_key(bytes: &[u8]) -> bool {
        apart(bytes).is_some_and(|(mut key, _)| Q::is_key(key.bytes()))
    }

    fn type_name() -> Cow<'static, str> {
        format!("versioned {}", Q::type_name()).into()
    }
}

impl<K: IndexKey> IndexKey for VersionedKey<K> {
    type Form = InBytes;
    type Probe<'q> = VersionedKey<K::Probe<'q>>;

    #[inline(always)]
    fn probe(&self) -> VersionedKey<K::Probe<'_>> {
        VersionedKey(self.0.probe(), self.1)
    }

    #[inline(always)]
    fn own(VersionedKey(probe, number): Self::Probe<'_>) -> Self {
        Self(K::own(probe), number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bytes_are_lawful, bytes_of, random_cases};
    use proptest::prelude::*;

    type Key = VersionedKey<Vec<u8>>;

    /// Byte strings that may break an encoding: runs of zeros of every kind, common prefixes, the highest
    /// byte.
    fn keys() -> impl Strategy<Value = Vec<u8>> {
        let run = prop::sample::select(vec![0usize, 1, 2, 13, 14, 15, 28, 126, 127, 128, 400]);
        let piece =
            (run, prop::collection::vec(prop::sample::select(vec![0, 1, 8, 9, 126, 127, 128, 0xff]), 0..3));
        prop::collection::vec(piece, 0..3).prop_map(|pieces| {
            pieces.into_iter().flat_map(|(zeros, rest)| [vec![0; zeros], rest].concat()).collect()
        })
    }

    fn numbers() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0u32..65).prop_map(|(number, shift)| number.checked_shr(shift).unwrap_or(0))
    }

    #[test]
    fn their_bytes_are_these() {
        assert_eq!(bytes_of::<Key, _>(&VersionedKey(&b"ab"[..], 5)), b"ab\0\x07\xfa");
        assert_eq!(bytes_of::<Key, _>(&VersionedKey(&b""[..], 0)), b"\0\x08");
        assert_eq!(bytes_of::<Key, _>(&VersionedKey(&b"a\0"[..], u64::MAX)), b"a\0\x09\0\0\0\0\0\0\0\0");
        assert_eq!(bytes_of::<Key, _>(&VersionedKey(&b"a\0b"[..], 1 << 16)), b"a\0\xffb\0\x05\xfe\xff\xff");
        let run = |zeros| bytes_of(&VersionedKey(vec![0; zeros], 1));
        assert_eq!([run(13), run(14)], [vec![0, 124, 0xfe], vec![0, 126, 0, 7, 0xfe]]);
        assert_eq!(bytes_of(&VersionedKey(7u64, 1)), b"\0\xf9\x07\0\x07\xfe");
    }

    #[test]
    fn bytes_that_no_key_has_are_told() {
        let no_keys =
            [&b""[..], b"a", b"a\0", b"a\0\x07", b"a\0\x07\xfa\xfa", b"a\0\x07\xff", b"a\0\x7f\0\x08"];
        for bytes in no_keys {
            assert!(!Key::is_key(bytes), "{bytes:?}");
        }
        assert!(!VersionedKey::<String>::is_key(b"\xff\0\x08") && Key::is_key(b"\xff\0\x08"));
        assert_eq!(VersionedKey::<String>::type_name(), "versioned text");
    }

    proptest! {
        #![proptest_config(random_cases(1024))]

        #[test]
        fn keys_of_all_kinds(a in keys(), b in keys(), cut in 0usize..40, m in numbers(), n in numbers()) {
            let prefix = a[..cut.min(a.len())].to_vec();
            let all = [&a, &b, &prefix].map(|key| [m, n].map(|number| VersionedKey(key.clone(), number)));
            for (one, other) in all.iter().flatten().flat_map(|one| all.iter().flatten().map(move |other| (one, other))) {
                bytes_are_lawful(one, other, one.cmp(other));
                prop_assert_eq!(one.cmp(other), (&one.0, Reverse(one.1)).cmp(&(&other.0, Reverse(other.1))));
                one.with_place(|one_bytes, place| {
                    assert_eq!(place_of(one_bytes), Some(place));
                    let mut last = [0; 8];
                    last.iter_mut().rev().zip(one_bytes.iter().rev()).for_each(|(to, byte)| *to = *byte);
                    assert_eq!(number_of(u64::from_be_bytes(last), one_bytes.len() - place - 1), one.1);
                    other.with_place(|bytes, other_place| {
                        let is_alike = bytes.get(..place) == Some(&one_bytes[..place])
                            && closes_alike(bytes[place], one_bytes[place]);
                        assert_eq!(is_alike, one.0 == other.0, "{one:?} {other:?}");
                        assert!(!is_alike || place == other_place);
                    });
                });
            }
        }

        #[test]
        fn keys_of_texts_and_numbers(a: String, b: String, x: u64, y: u64, m in numbers(), n in numbers()) {
            let (one, other) = (VersionedKey(a, m), VersionedKey(b, n));
            bytes_are_lawful(&one, &other, one.cmp(&other));
            let (one, other) = (VersionedKey((x, one.0), m), VersionedKey((y, other.0), n));
            bytes_are_lawful(&one, &other, one.cmp(&other));
            bytes_are_lawful(&VersionedKey(x, m), &VersionedKey(y, n), VersionedKey(x, m).cmp(&VersionedKey(y, n)));
        }

        #[test]
        fn what_is_told_to_be_a_key_is_one(
            bytes in prop::collection::vec(prop::sample::select(vec![0, 0, 0, 1, 7, 8, 9, 126, 127, 128, 0xff]), 0..9),
        ) {
            if Key::is_key(&bytes) {
                prop_assert_eq!(bytes_of(&Key::from_bytes(&bytes)), &bytes[..]);
            }
        }
    }
}
