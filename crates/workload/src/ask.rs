//! The request for a key set.

use crate::keys::Lane;
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;

/// How many keys are wanted, and from which seed.
#[derive(Debug, Clone, Copy)]
pub struct Ask {
    /// Keys to load.
    pub loaded: usize,
    /// Keys that come later.
    pub fresh: usize,
    /// Same seed, same keys.
    pub seed: u64,
}

impl Ask {
    /// All keys.
    pub fn total(self) -> usize {
        self.loaded + self.fresh
    }

    /// A generator for one purpose, apart from all others of the same seed.
    pub fn generator(self, purpose: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(self.seed.scatter() ^ purpose.scatter())
    }

    /// The same keys in random order.
    pub fn shuffled<T>(self, mut keys: Vec<T>) -> Vec<T> {
        keys.shuffle(&mut self.generator(0));
        keys
    }
}
