//! Helpers of the unit tests.

use crate::base::bytes_key::BytesKey;
use crate::base::key::{Bits, Key};
use core::cmp::Ordering;
use core::fmt::Debug;
use proptest::test_runner::Config;

/// Configures property tests: `cases` random cases, or a few under Miri, which is a thousand times slower
/// and denies tests access to files.
pub fn random_cases(cases: u32) -> Config {
    if cfg!(miri) {
        Config { failure_persistence: None, ..Config::with_cases(4) }
    } else {
        Config::with_cases(cases)
    }
}

/// Returns a step: every `one_in`-th case under Miri, and all of them elsewhere.
pub fn sample(one_in: usize) -> usize {
    if cfg!(miri) { one_in } else { 1 }
}

/// SplitMix64: small, good enough, and the same on every machine.
#[derive(Debug, Clone)]
pub struct Rng(pub u64);

impl Rng {
    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "it has no end")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// Checks that the bits of two keys compare as expected.
pub fn same_order<K: Key>(a: K, b: K, expected: Ordering) {
    assert_eq!(a.encode().cmp(&b.encode()), expected, "{a:?} against {b:?}");
}

/// Checks keys whose own order is the one that the index keeps, within their declared width.
pub fn ordered_and_itself<K: Key + Ord>(a: K, b: K) {
    same_order(a, b, a.cmp(&b));
    assert_eq!(K::decode(a.encode()), a);
    assert_eq!(a.encode().to_u64().checked_shr(K::WIDTH_BITS).unwrap_or(0), 0, "{a:?} is wider");
}

/// Returns the bytes of a key of any length.
pub fn bytes_of<K: BytesKey, Q: BytesKey<K> + ?Sized>(key: &Q) -> Vec<u8> {
    key.with_bytes(<[u8]>::to_vec)
}

/// Checks that the bytes of two keys compare as expected, have their type's length, and decode to the keys.
pub fn bytes_are_lawful<K: BytesKey + PartialEq + Debug>(a: &K, b: &K, expected: Ordering) {
    assert_eq!(bytes_of(a).cmp(&bytes_of(b)), expected, "{a:?} against {b:?}");
    for key in [a, b] {
        let bytes = bytes_of(key);
        assert!(K::is_key(&bytes), "{key:?}");
        assert!(key.held_bytes().is_none_or(|held| held == bytes), "{key:?}");
        assert_eq!(K::from_bytes(&bytes), *key);
        assert_eq!(K::FIXED.unwrap_or(bytes.len()), bytes.len(), "{key:?}");
    }
}
