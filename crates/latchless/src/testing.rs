//! What the unit tests share.

use crate::base::key::{Bits, Key};
use core::cmp::Ordering;
use proptest::test_runner::Config;

/// How property tests run: with `cases` random cases, or a handful under Miri, which runs a
/// thousand times slower and lets no test look at files.
pub fn random_cases(cases: u32) -> Config {
    if cfg!(miri) {
        Config { failure_persistence: None, ..Config::with_cases(4) }
    } else {
        Config::with_cases(cases)
    }
}

/// Random numbers that are the same in every run.
#[path = "../tests/index/rng.rs"]
mod rng;
#[cfg(feature = "cssl")]
pub use rng::Rng;

/// The bits of two keys compare as expected.
pub fn same_order<K: Key>(a: K, b: K, expected: Ordering) {
    assert_eq!(a.to_bits().cmp(&b.to_bits()), expected, "{a:?} against {b:?}");
}

/// Keys whose own order is the one that the index keeps, within the width that they claim.
pub fn ordered_and_itself<K: Key + Ord>(a: K, b: K) {
    same_order(a, b, a.cmp(&b));
    assert_eq!(K::from_bits(a.to_bits()), a);
    assert_eq!(a.to_bits().to_u64().checked_shr(K::WIDTH_BITS).unwrap_or(0), 0, "{a:?} is wider");
}
