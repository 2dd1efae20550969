//! Byte strings as the words that nodes store and compare.
//!
//! A word holds eight bytes, the first one lowest, and zeros after the end of the string. So equality of
//! words is equality of bytes. Reversed ([`head`]) words compare as their bytes do. Strings that differ
//! only in trailing zero bytes, `"a"` and `"a\0"`, are distinguished by their lengths.

use core::cmp::Ordering;
use latchless_core::base::versioned::place_of;

/// Words that a string of this length takes.
#[inline(always)]
pub const fn words_of(len: usize) -> usize {
    len.div_ceil(8)
}

/// The eight bytes from `at` on, the first one lowest, and zeros after the end.
#[inline(always)]
pub fn word(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..) {
        Some(&[a, b, c, d, e, f, g, h, ..]) => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        Some(rest) => last_word(rest),
        None => 0,
    }
}

/// The eight bytes from bit `bits` of one word on, of which the last ones are in the next word. `bits`: less
/// than 64.
#[inline(always)]
pub(super) fn shifted(word: u64, next: u64, bits: usize) -> u64 {
    // In two steps: by no bits at all, the next word gives nothing.
    word >> bits | next << 1 << (63 - bits)
}

/// Fewer than eight bytes, by loads that overlap.
#[inline(always)]
pub(super) fn last_word(rest: &[u8]) -> u64 {
    let shifted = |byte: usize| u64::from(rest[byte]) << (8 * byte);
    match (rest, rest.last_chunk::<4>()) {
        (&[a, b, c, d, ..], Some(&end)) => {
            let low = u64::from(u32::from_le_bytes([a, b, c, d]));
            low | u64::from(u32::from_le_bytes(end)) << (8 * (rest.len() - 4))
        }
        ([], _) => 0,
        _ => shifted(0) | shifted(rest.len() / 2) | shifted(rest.len() - 1),
    }
}

/// Whether `stored(at)` are the words of a string.
#[inline(always)]
pub fn are_words_of(bytes: &[u8], stored: impl Fn(usize) -> u64) -> bool {
    let (whole, end) = bytes.as_chunks::<8>();
    for (at, &word) in whole.iter().enumerate() {
        if stored(at) != u64::from_le_bytes(word) {
            return false;
        }
    }
    end.is_empty() || stored(whole.len()) == last_word(end)
}

/// The eight bytes from `at` on as a number that compares as they do.
#[inline(always)]
pub fn head(bytes: &[u8], at: usize) -> u64 {
    word(bytes, at).swap_bytes()
}

/// How many bytes two strings begin with alike.
pub fn common(one: &[u8], other: &[u8]) -> usize {
    let len = one.len().min(other.len());
    for at in (0..len).step_by(8) {
        let different = word(one, at) ^ word(other, at);
        if different != 0 {
            return (at + different.trailing_zeros() as usize / 8).min(len);
        }
    }
    len
}

/// How a stored string of `len` bytes compares with another one. `stored(at)`: its word at this place.
#[inline(always)]
pub fn compare(len: usize, other: &[u8], stored: impl Fn(usize) -> u64) -> Ordering {
    for at in 0..words_of(len.min(other.len())) {
        let (one, two) = (stored(at), word(other, 8 * at));
        if one != two {
            return one.swap_bytes().cmp(&two.swap_bytes());
        }
    }
    len.cmp(&other.len())
}

/// The seed of hashes: each index has its own, so that keys with equal tags can't be chosen. Its lowest bit
/// says whether keys are versioned: then all versions of a key have one hash, that of the bytes before the
/// version.
#[derive(Debug, Clone, Copy)]
pub struct Seed(u64);

impl Seed {
    pub const fn new(bits: u64, versioned: bool) -> Self {
        Self(bits & !1 | versioned as u64)
    }

    const fn is_versioned(self) -> bool {
        self.0 & 1 != 0
    }

    /// The hash of a key.
    #[inline(always)]
    pub fn hash(self, key: &[u8]) -> u64 {
        hash(if self.is_versioned() { before_version(key) } else { key }, self.0)
    }

    /// The hash of a versioned key, whose version begins at this place.
    #[inline(always)]
    pub fn hash_before(self, key: &[u8], place: usize) -> u64 {
        hash(key.get(..place).unwrap_or(key), self.0)
    }

    /// The hash of a key that begins with one string and ends with another.
    pub fn hash_of_two(self, start: &[u8], end: &[u8]) -> u64 {
        if self.is_versioned() {
            return self.hash(&[start, end].concat());
        }
        let len = start.len() + end.len();
        let mut state = begin(self.0, len);
        for at in (0..len).step_by(16) {
            let mut pair = [0; 16];
            let own = start.iter().chain(end).skip(at);
            pair.iter_mut().zip(own).for_each(|(to, from)| *to = *from);
            state = go_on(state, &pair);
        }
        finish(state)
    }

    /// The tag of a key with this hash.
    #[inline(always)]
    pub fn tag(hash: u64) -> u8 {
        (hash >> 48) as u8
    }
}

/// The bytes that all versions of a key have. Apart: other keys don't need it.
#[inline(never)]
fn before_version(key: &[u8]) -> &[u8] {
    place_of(key).map_or(key, |place| &key[..place])
}

/// A key and its hash.
#[derive(Debug, Clone, Copy)]
pub struct Hashed<'k> {
    pub key: &'k [u8],
    pub hash: u64,
}

/// A hash of all bytes. Equal strings have equal ones.
#[inline(always)]
fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mut state = begin(seed, bytes.len());
    let (pairs, end) = bytes.as_chunks::<16>();
    for pair in pairs {
        state = go_on(state, pair);
    }
    if !end.is_empty() {
        state = go_on(state, end);
    }
    finish(state)
}

const ODD: [u64; 3] = [0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93, 0xA076_1D64_78BD_642F];

/// The hash of no bytes yet, of this many.
#[inline(always)]
fn begin(seed: u64, len: usize) -> u64 {
    seed ^ (len as u64).wrapping_mul(ODD[0])
}

/// Hashes with two words more. After the end of the last bytes are zeros.
#[inline(always)]
fn go_on(state: u64, bytes: &[u8]) -> u64 {
    fold(word(bytes, 0) ^ state, word(bytes, 8) ^ ODD[1])
}

#[inline(always)]
fn finish(state: u64) -> u64 {
    fold(state ^ ODD[2], ODD[0])
}

/// Both halves of a product, one over the other.
#[inline(always)]
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// The shortest string that is greater than `last` and at most `first`, as a length of `first`.
/// `last` comes before `first`.
pub fn separator_len(last: &[u8], first: &[u8]) -> usize {
    (common(last, first) + 1).min(first.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_core::base::versioned::VersionedKey;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_are_the_bytes(bytes: Vec<u8>, at in 0usize..40) {
            let mut expected = [0; 8];
            for (to, byte) in expected.iter_mut().zip(bytes.iter().skip(at)) {
                *to = *byte;
            }
            prop_assert_eq!(word(&bytes, at), u64::from_le_bytes(expected));
            prop_assert_eq!(head(&bytes, at), u64::from_be_bytes(expected));
        }

        #[test]
        fn strings_compare_by_words_as_by_bytes(
            start in prop::collection::vec(0u8..2, 0..20),
            one in prop::collection::vec(0u8..2, 0..20),
            other in prop::collection::vec(0u8..2, 0..20),
        ) {
            let (one, other) = ([&start[..], &one[..]].concat(), [&start[..], &other[..]].concat());
            let alike = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
            prop_assert_eq!(common(&one, &other), alike);
            prop_assert_eq!(compare(one.len(), &other, |at| word(&one, 8 * at)), one.cmp(&other));
            if one < other {
                let separator = &other[..separator_len(&one, &other)];
                prop_assert!(&one[..] < separator && separator <= &other[..]);
            }
            prop_assert_eq!(hash(&one, 6) == hash(&other, 6), one == other);
            for seed in [false, true].map(|versioned| Seed::new(7, versioned)) {
                prop_assert_eq!(seed.hash_of_two(&start, &one[start.len()..]), seed.hash(&one));
            }
        }
    }

    #[test]
    fn versions_of_a_key_have_one_hash() {
        let hash = |key: &'static [u8], number| {
            VersionedKey(key, number).with_place::<Vec<u8>, _>(|bytes, _| Seed::new(7, true).hash(bytes))
        };
        for number in [0, 1, 255, 256, 1 << 40, u64::MAX] {
            assert_eq!(hash(b"a\0b", number), hash(b"a\0b", 7));
            assert_ne!(hash(b"a\0b", number), hash(b"a\0c", number));
        }
    }
}
