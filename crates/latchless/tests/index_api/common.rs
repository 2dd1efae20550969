//! Helpers of the tests.

use latchless::Index;
use latchless::index::Options;
pub use latchless_core::testing::Rng;

/// Returns the number of steps of a test: all of them, or few under Miri.
pub fn scaled(steps: usize) -> usize {
    if cfg!(miri) { (steps / 100).clamp(20, 200) } else { steps }
}

/// Returns an index of the keys `0, step, 2 step, …` below `end`, each with ten times the key as its value.
pub fn tens(end: u64, step: usize) -> Index<u64, u64> {
    (0..end).step_by(step).map(|key| (key, 10 * key)).collect()
}

/// Returns an empty index with a small memory limit.
pub fn tiny() -> Index<u64, u64> {
    let options = Options { limit_bytes: Some(32 << 10), huge_pages: false, ..Options::default() };
    Index::with_options(options).expect("a first node")
}
