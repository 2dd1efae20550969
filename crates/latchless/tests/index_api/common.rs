//! What the tests share.

use latchless::Index;
use latchless::index::Options;

/// SplitMix64: small, good enough, and the same everywhere.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// How much a test does: all of it, or what an interpreter can bear.
pub fn scaled(steps: usize) -> usize {
    if cfg!(miri) { (steps / 100).clamp(20, 200) } else { steps }
}

/// An index of the keys `0, step, 2 step, …` below `end`, each with ten times itself as its value.
pub fn tens(end: u64, step: usize) -> Index<u64, u64> {
    (0..end).step_by(step).map(|key| (key, 10 * key)).collect()
}

/// An empty index whose memory ends soon.
pub fn tiny() -> Index<u64, u64> {
    let options = Options { limit_bytes: Some(32 << 10), huge_pages: false, ..Options::default() };
    Index::with_options(options).expect("a first node")
}
