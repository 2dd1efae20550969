//! What the unit tests share.

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
