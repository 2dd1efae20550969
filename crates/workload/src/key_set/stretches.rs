//! Keys in stretches: neighbours of one user, runs, positions on a chromosome. Ascending or nearly so; the
//! caller shuffles them.

use crate::ask::Ask;
use crate::keys::Lane;
use rand::RngExt;

/// The largest gap after a run.
const GAP_MAX: u64 = 1 << 28;

/// The sample data of the repository: one variant per line, its position in the second column.
const VARIANTS: &str = include_str!("../../../../examples/data/chr22_variants.csv");

/// Users with several items each.
pub fn composite(ask: Ask, mean: u32, step: u32) -> Vec<u64> {
    let mut random = ask.generator(1);
    let total = ask.total();
    let mut keys = Vec::with_capacity(total);
    for user in 0u32.. {
        // A permutation of 32 bits, so that no two users share a hash.
        let hash = user.wrapping_add(ask.seed.scatter() as u32).scatter();
        let items = random.random_range(1..2 * u64::from(mean)).min((total - keys.len()) as u64);
        keys.extend((0..items).map(|item| (u64::from(hash) << 32) | (item * u64::from(step))));
        if keys.len() == total {
            break;
        }
    }
    keys
}

/// Consecutive keys, with a gap after each run of `length`.
pub fn runs(ask: Ask, length: u32) -> Vec<u64> {
    let mut random = ask.generator(1);
    let mut next = random.random_range(0..GAP_MAX);
    let keys = (1..=ask.total() as u64).map(|number| {
        let key = next;
        let ends = number % u64::from(length) == 0;
        next += 1 + if ends { random.random_range(1..GAP_MAX) } else { 0 };
        key
    });
    keys.collect()
}

/// The gaps between neighbouring variants, drawn at random and laid end to end.
pub fn chr22(ask: Ask) -> Vec<u64> {
    let mut random = ask.generator(1);
    let gaps = variant_gaps();
    let mut position = 0;
    let keys = (0..ask.total()).map(|_| {
        position += gaps[random.random_range(0..gaps.len())];
        position
    });
    keys.collect()
}

/// The gaps between the positions of the sample data, each above 0.
pub fn variant_gaps() -> Vec<u64> {
    let second = |line: &str| line.split(',').nth(1)?.parse().ok();
    let mut positions: Vec<u64> = VARIANTS.lines().filter_map(second).collect();
    positions.dedup();
    positions.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `examples/data/README.md` has the number of variants and their range.
    #[test]
    fn the_sample_data_is_read_whole() {
        let gaps = variant_gaps();
        // Seven positions carry two variants.
        assert_eq!(gaps.len(), 10_376 - 7 - 1);
        assert_eq!(gaps.iter().sum::<u64>(), 50_999_964 - 50_300_078);
        assert!(gaps.iter().all(|&gap| gap > 0));
    }

    #[test]
    fn resampled_gaps_are_those_of_the_data() {
        let ask = Ask { loaded: 200_000, fresh: 0, seed: 3 };
        let keys = chr22(ask);
        let gaps = variant_gaps();
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        let ours = (keys[keys.len() - 1] - keys[0]) as f64 / (keys.len() - 1) as f64;
        assert!((ours / mean - 1.0).abs() < 0.05, "{ours}, not {mean}");
        let ones = |gaps: &[u64]| gaps.iter().filter(|&&gap| gap == 1).count() as f64 / gaps.len() as f64;
        let drawn: Vec<u64> = keys.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!((ones(&drawn) - ones(&gaps)).abs() < 0.005);
    }
}
