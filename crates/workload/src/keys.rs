//! Keys by number: the n-th key of a distribution, computed without storing the keys.

use crate::distribution::Distribution;
use crate::error::Error;
use rand::{Rng, RngExt};

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A key's width: `u32` or `u64`.
pub trait Lane: sealed::Sealed + Copy + Ord + core::fmt::Debug + Default + Send + Sync + 'static {
    /// The width in bits.
    const BITS: u32;
    /// The lane that holds the low bits of `number`.
    fn truncate(number: u64) -> Self;
    /// The lane as a number.
    fn to_u64(self) -> u64;
    /// A permutation of all lanes that looks random: no two inputs meet.
    fn scatter(self) -> Self;
}

impl Lane for u32 {
    const BITS: u32 = 32;

    fn truncate(number: u64) -> Self {
        number as u32
    }

    fn to_u64(self) -> u64 {
        u64::from(self)
    }

    /// The finaliser of MurmurHash3: each step can be undone, so the whole is a permutation.
    fn scatter(self) -> Self {
        let mut lane = self;
        lane = (lane ^ (lane >> 16)).wrapping_mul(0x85eb_ca6b);
        lane = (lane ^ (lane >> 13)).wrapping_mul(0xc2b2_ae35);
        lane ^ (lane >> 16)
    }
}

impl Lane for u64 {
    const BITS: u32 = 64;

    fn truncate(number: u64) -> Self {
        number
    }

    fn to_u64(self) -> u64 {
        self
    }

    /// The finaliser of SplitMix64: each step can be undone, so the whole is a permutation.
    fn scatter(self) -> Self {
        let mut lane = self;
        lane = (lane ^ (lane >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        lane = (lane ^ (lane >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        lane ^ (lane >> 31)
    }
}

/// The value of `key` after `version` updates. Differs from key to key and from
/// version to version.
pub fn value_of<L: Lane>(key: L, version: u64) -> L {
    let mixed = key.to_u64() ^ 0x5851_f42d_4c95_7f2d ^ version.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    L::truncate(mixed.scatter())
}

/// Every key that a plan can use: `loaded` ones, then `fresh` ones. Each number below their sum has a
/// distinct key.
#[derive(Debug, Clone, Copy)]
pub struct KeySpace<'a> {
    source: Source<'a>,
    loaded: u64,
    fresh: u64,
    bits: u32,
}

/// The source of keys.
#[derive(Debug, Clone, Copy)]
enum Source<'a> {
    /// A formula.
    Formula {
        distribution: Distribution,
        /// Where the random keys start.
        offset: u64,
    },
    /// A list.
    List {
        /// By number.
        keys: &'a [u64],
        /// The loaded ones, ascending, if there are ranges.
        ascending: &'a [u64],
    },
}

impl KeySpace<'static> {
    /// The keys of `distribution` for lanes of type `L`.
    ///
    /// # Errors
    /// [`Error::KeySpace`] if the lane has fewer distinct keys.
    pub fn new<L: Lane>(
        distribution: Distribution,
        loaded: u64,
        fresh: u64,
        seed: u64,
    ) -> Result<Self, Error> {
        let wanted = loaded.saturating_add(fresh);
        if wanted > 1u64.checked_shl(L::BITS).unwrap_or(u64::MAX) {
            return Err(Error::KeySpace { wanted, bits: L::BITS });
        }
        let source = Source::Formula { distribution, offset: seed.scatter() };
        let space = Self { source, loaded, fresh, bits: L::BITS };
        // Even distances cost up to one layer more than there are keys.
        if distribution == Distribution::Sparse && space.sparse_places() > 1u128 << L::BITS {
            return Err(Error::KeySpace { wanted, bits: L::BITS });
        }
        Ok(space)
    }
}

impl<'a> KeySpace<'a> {
    /// The keys of a list, of which the first `loaded` are there at the start. `ascending` are these in
    /// order; it may be empty if there are no ranges.
    pub(crate) fn of_list(keys: &'a [u64], loaded: usize, ascending: &'a [u64]) -> Self {
        let fresh = (keys.len() - loaded) as u64;
        Self { source: Source::List { keys, ascending }, loaded: loaded as u64, fresh, bits: u64::BITS }
    }

    /// How many keys there are.
    pub fn len(&self) -> u64 {
        self.loaded + self.fresh
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key of that number. Numbers below the count of loaded keys are loaded ones; a number
    /// beyond [`KeySpace::len`] may share another's key.
    pub fn key<L: Lane>(&self, number: u64) -> L {
        let (distribution, offset) = match self.source {
            Source::Formula { distribution, offset } => (distribution, offset),
            Source::List { keys, .. } => return L::truncate(keys[number as usize % keys.len()]),
        };
        match distribution {
            Distribution::Uniform | Distribution::Zipf { .. } | Distribution::ZipfYcsb { .. } => {
                // A step with an odd stride is a permutation too, and keeps seeds apart.
                let stride = 0x9e37_79b9_7f4a_7c15u64;
                L::truncate(offset.wrapping_add(number.wrapping_mul(stride))).scatter()
            }
            Distribution::Sequential | Distribution::Dense => L::truncate(number),
            Distribution::Sparse => L::truncate(self.sparse(number)),
        }
    }

    /// A range that takes `share` of the space of the loaded keys, both ends inclusive,
    /// anywhere in it with the same likelihood. Of a list of keys it takes that share of them.
    pub fn range<L: Lane>(&self, share: f64, random: &mut impl Rng) -> (L, L) {
        let extent = match self.source {
            Source::List { ascending, .. } => ascending.len().max(1) as u128,
            Source::Formula { distribution: Distribution::Sequential | Distribution::Dense, .. } => {
                u128::from(self.loaded.max(1))
            }
            Source::Formula { .. } => 1 << self.bits,
        };
        let width = ((extent as f64 * share) as u128).clamp(1, extent);
        let low = random.random_range(0..=extent - width);
        let (low, high) = (low as u64, (low + width - 1) as u64);
        match self.source {
            Source::List { ascending, .. } => {
                let key = |at: u64| L::truncate(ascending.get(at as usize).copied().unwrap_or_default());
                (key(low), key(high))
            }
            Source::Formula { .. } => (L::truncate(low), L::truncate(high)),
        }
    }

    fn sparse_layers(&self) -> u64 {
        1 + self.fresh.div_ceil(self.loaded.max(1))
    }

    fn sparse_places(&self) -> u128 {
        u128::from(self.loaded.max(1)) * u128::from(self.sparse_layers())
    }

    /// Loaded keys are at even distances; fresh ones take the places in between, a layer of
    /// midpoints at a time.
    fn sparse(&self, number: u64) -> u64 {
        let layers = self.sparse_layers();
        let stride = (1u128 << self.bits) / self.sparse_places();
        let (slot, layer) = (number % self.loaded.max(1), number / self.loaded.max(1));
        (stride * (u128::from(slot) * u128::from(layers) + u128::from(layer))) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;
    use std::collections::HashSet;

    fn all_distinct<L: Lane + std::hash::Hash>(space: &KeySpace) {
        let keys: HashSet<L> = (0..space.len()).map(|number| space.key(number)).collect();
        assert_eq!(keys.len() as u64, space.len(), "{space:?}");
    }

    fn distributions() -> [Distribution; 6] {
        let theta = 0.9;
        [
            Distribution::Uniform,
            Distribution::Zipf { theta },
            Distribution::ZipfYcsb { theta },
            Distribution::Sequential,
            Distribution::Dense,
            Distribution::Sparse,
        ]
    }

    proptest! {
        #[test]
        fn no_two_numbers_share_a_key(loaded in 1u64..3000, fresh in 0u64..9000, seed: u64) {
            for distribution in distributions() {
                all_distinct::<u32>(&KeySpace::new::<u32>(distribution, loaded, fresh, seed).unwrap());
                all_distinct::<u64>(&KeySpace::new::<u64>(distribution, loaded, fresh, seed).unwrap());
            }
        }
    }

    #[test]
    fn scattering_32_bits_is_a_permutation() {
        // A sample of residues spread over the whole width: any collision would show a lost bit.
        let seen: HashSet<u32> = (0..1 << 20).map(|number: u32| (number << 12 | 5).scatter()).collect();
        assert_eq!(seen.len(), 1 << 20);
    }

    #[test]
    fn sparse_keys_span_the_width() {
        let space = KeySpace::new::<u64>(Distribution::Sparse, 1000, 0, 0).unwrap();
        assert_eq!(space.key::<u64>(0), 0);
        assert!(space.key::<u64>(999) > u64::MAX / 1000 * 998);
    }

    #[test]
    fn random_keys_fill_every_part_of_the_width_evenly() {
        let space = KeySpace::new::<u32>(Distribution::Uniform, 64_000, 0, 7).unwrap();
        let mut parts = [0; 64];
        for number in 0..64_000 {
            parts[(space.key::<u32>(number) >> 26) as usize] += 1;
        }
        // Mean 1000, standard deviation about 31: six of them on either side.
        assert!(parts.iter().all(|part| (810..1190).contains(part)), "{parts:?}");
    }

    #[test]
    fn ranges_take_their_share_of_the_keys_and_stay_among_them() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for distribution in distributions() {
            let space = KeySpace::new::<u32>(distribution, 50_000, 0, 3).unwrap();
            let keys: Vec<u32> = (0..50_000).map(|number| space.key(number)).collect();
            for share in [0.01, 0.2, 1.0] {
                let (low, high) = space.range::<u32>(share, &mut random);
                let inside = keys.iter().filter(|&&key| low <= key && key <= high).count() as f64;
                let (expected, deviation) = (50_000.0 * share, (50_000.0 * share * (1.0 - share)).sqrt());
                let off = (inside - expected).abs();
                assert!(off <= 6.0 * deviation + 1.0, "{distribution} {share}: {inside}, not {expected}");
            }
        }
    }

    #[test]
    fn too_many_keys_are_refused() {
        let refused = KeySpace::new::<u32>(Distribution::Uniform, 1 << 32, 1, 0);
        assert_eq!(refused.err(), Some(Error::KeySpace { wanted: (1 << 32) + 1, bits: 32 }));
        assert!(KeySpace::new::<u32>(Distribution::Uniform, 1 << 32, 0, 0).is_ok());
        assert!(KeySpace::new::<u64>(Distribution::Uniform, 1 << 40, 1, 0).is_ok());
    }

    #[test]
    fn values_differ_by_key_and_by_version() {
        let values: HashSet<u64> =
            (0..100u64).flat_map(|key| (0..100).map(move |version| value_of(key, version))).collect();
        assert_eq!(values.len(), 10_000);
    }
}
