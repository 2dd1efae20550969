//! Keys and queries of the CSSL paper (§5), generated from fixed seeds before anything is timed.

use super::contestant::Query;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

/// Every stream starts from here.
const SEED: u64 = 2016;

/// The largest sparse key: random keys come from [1, 2^31).
const SPARSE_END: u32 = 1 << 31;

/// The distribution of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spread {
    /// Every key in [1, n].
    Dense,
    /// Random ones in [1, 2^31).
    Sparse,
}

impl Spread {
    pub(super) const BOTH: [Self; 2] = [Self::Dense, Self::Sparse];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Sparse => "sparse",
        }
    }

    /// Returns that many keys, ascending.
    pub(super) fn keys(self, count: usize) -> Vec<u32> {
        match self {
            Self::Dense => (1..=count as u32).collect(),
            Self::Sparse => sparse(count),
        }
    }
}

/// Random distinct keys, ascending: drawn into a map of bits, so that 256M of them take no sorting.
fn sparse(count: usize) -> Vec<u32> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut drawn = vec![0u64; SPARSE_END as usize / 64];
    let mut left = count.min(SPARSE_END as usize / 2);
    while left > 0 {
        let key = random.random_range(1..SPARSE_END) as usize;
        let bit = 1 << (key % 64);
        left -= usize::from(drawn[key / 64] & bit == 0);
        drawn[key / 64] |= bit;
    }
    let mut keys = Vec::with_capacity(count);
    for (at, &word) in drawn.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            keys.push(at as u32 * 64 + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
    keys
}

/// Positions of the 10,376 variants that the 1000 Genomes Project found on 0.7 million places of chromosome
/// 22, without those that share a position.
pub(super) fn chromosome_22() -> Vec<u32> {
    const CSV: &str = include_str!("../../../../examples/data/chr22_variants.csv");
    let position = |line: &str| line.split(',').nth(1)?.parse().ok();
    let mut positions: Vec<u32> = CSV.lines().skip(1).filter_map(position).collect();
    positions.sort_unstable();
    positions.dedup();
    positions
}

/// Returns that many positions whose gaps are drawn from those of chromosome 22: as many as the paper has
/// of chromosomes 1 and 2.
pub(super) fn genome(count: usize) -> Vec<u32> {
    let real = chromosome_22();
    let gaps: Vec<u32> = real.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED + 1);
    let mut position = 10_000u32;
    (0..count)
        .map(|_| {
            position += gaps[random.random_range(0..gaps.len())];
            position
        })
        .collect()
}

/// Ranges that begin at random keys and are `width` wide: "selecting a random key from the set of indexed
/// elements as lower bound and adding the range size" (§5.1).
pub(super) fn ranges(keys: &[u32], width: u32, count: usize) -> Vec<(u32, u32)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED + 2);
    let draw = |_| {
        let low = keys[random.random_range(0..keys.len())];
        (low, low.saturating_add(width))
    };
    (0..count).map(draw).collect()
}

/// Returns random present keys.
pub(super) fn present(keys: &[u32], count: usize) -> Vec<u32> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED + 3);
    (0..count).map(|_| keys[random.random_range(0..keys.len())]).collect()
}

/// Lookups and ranges in one stream, as many of each, in random order.
pub(super) fn mixed(lookups: &[u32], ranges: &[(u32, u32)]) -> Vec<Query> {
    let lookups = lookups.iter().map(|&key| Query::Lookup(key));
    let ranges = ranges.iter().map(|&range| Query::Range(range));
    let mut all: Vec<_> = lookups.zip(ranges).flat_map(<[Query; 2]>::from).collect();
    all.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(SEED + 4));
    all
}

/// Returns these in random order.
pub(super) fn in_no_order(mut entries: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    entries.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(SEED + 5));
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_ascend_and_are_as_many_as_asked_for() {
        for keys in [Spread::Dense.keys(1000), Spread::Sparse.keys(1000), genome(1000), chromosome_22()] {
            assert!(keys.len() >= 1000 && keys.windows(2).all(|pair| pair[0] < pair[1]));
        }
        assert_eq!(Spread::Sparse.keys(5000).len(), 5000);
        assert!(Spread::Sparse.keys(5000)[4999] < SPARSE_END);
    }

    #[test]
    fn a_mix_has_as_many_lookups_as_ranges_in_no_order() {
        let mixed = mixed(&[7; 1000], &[(1, 2); 100]);
        let is_lookup: Vec<bool> = mixed.iter().map(|query| matches!(query, Query::Lookup(7))).collect();
        assert_eq!((mixed.len(), is_lookup.iter().filter(|&&is| is).count()), (200, 100));
        assert!(is_lookup.windows(3).any(|three| three == [true; 3]) && !is_lookup.is_sorted());
    }

    #[test]
    fn the_drawn_genome_has_room_for_the_paper_s_positions() {
        let real = chromosome_22();
        let mean = f64::from(real[real.len() - 1] - real[0]) / (real.len() - 1) as f64;
        assert!(mean * 13_571_394.0 * 1.05 < f64::from(u32::MAX), "{mean}");
        assert_eq!((real.len() > 10_000, real[0]), (true, 50_300_078));
    }
}
