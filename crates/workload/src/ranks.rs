//! The record of a request: popularity ranks and their mapping to records.

use crate::distribution::Distribution;
use crate::keys::Lane;
use rand::{Rng, RngExt};
use rand_distr::Zipf;

/// Draws records out of `0..records`, by a distribution's popularity.
#[derive(Debug, Clone)]
pub struct Ranks {
    records: u64,
    sampler: Sampler,
}

#[derive(Debug, Clone)]
enum Sampler {
    Even,
    /// One after the other, from the first again after the last.
    Walk {
        next: u64,
    },
    Exact(Zipf<f64>),
    Ycsb(Gray),
}

impl Ranks {
    /// A sampler over `records` records, at least one; the distribution's skew has been checked.
    /// `start` is where a sequential walk begins. YCSB's formula takes linear time to set up.
    pub fn new(distribution: Distribution, records: u64, start: u64) -> Self {
        let records = records.max(1);
        let sampler = match distribution {
            Distribution::Uniform | Distribution::Dense | Distribution::Sparse => Sampler::Even,
            Distribution::Sequential => Sampler::Walk { next: start % records },
            // A skew that the library refuses can't get here; θ = 0 means even.
            Distribution::Zipf { theta } => {
                Zipf::new(records as f64, theta).map_or(Sampler::Even, Sampler::Exact)
            }
            Distribution::ZipfYcsb { theta } => Sampler::Ycsb(Gray::new(records, theta)),
        };
        Self { records, sampler }
    }

    /// A popularity rank, 0 the most popular.
    pub fn rank(&mut self, random: &mut impl Rng) -> u64 {
        match &mut self.sampler {
            Sampler::Even => random.random_range(0..self.records),
            Sampler::Walk { next } => {
                let rank = *next;
                *next = (rank + 1) % self.records;
                rank
            }
            Sampler::Exact(zipf) => (random.sample(*zipf) as u64).clamp(1, self.records) - 1,
            Sampler::Ycsb(gray) => gray.rank(random.random(), self.records),
        }
    }

    /// A record. Each rank has a record of its own if the distribution requires it. YCSB hashes its ranks
    /// instead, which lets some records share a rank's requests and leaves others none.
    pub fn record(&mut self, random: &mut impl Rng) -> u64 {
        let rank = self.rank(random);
        match self.sampler {
            Sampler::Ycsb(_) => rank.wrapping_add(0xcbf2_9ce4_8422_2325).scatter() % self.records,
            _ => rank,
        }
    }
}

/// The closed formula of Gray et al., *Quickly Generating Billion-Record Synthetic Databases*
/// (SIGMOD 1994), as YCSB's generator uses it.
#[derive(Debug, Clone)]
struct Gray {
    alpha: f64,
    eta: f64,
    zeta: f64,
    /// Below this, a draw is of the second rank.
    second: f64,
}

impl Gray {
    fn new(records: u64, theta: f64) -> Self {
        let zeta: f64 = (1..=records).map(|rank| (rank as f64).powf(-theta)).sum();
        let zeta_two = 1.0 + 0.5f64.powf(theta);
        let eta = (1.0 - (2.0 / records as f64).powf(1.0 - theta)) / (1.0 - zeta_two / zeta);
        Self { alpha: 1.0 / (1.0 - theta), eta, zeta, second: zeta_two }
    }

    fn rank(&self, draw: f64, records: u64) -> u64 {
        let scaled = draw * self.zeta;
        let rank = if scaled < 1.0 {
            0
        } else if scaled < self.second {
            1
        } else {
            (records as f64 * (self.eta * draw - self.eta + 1.0).powf(self.alpha)) as u64
        };
        rank.min(records - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;

    fn counts(distribution: Distribution, records: u64, draws: usize, scrambled: bool) -> Vec<u64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut ranks = Ranks::new(distribution, records, 0);
        let mut counts = vec![0; records as usize];
        for _ in 0..draws {
            let at = if scrambled { ranks.record(&mut random) } else { ranks.rank(&mut random) };
            counts[at as usize] += 1;
        }
        counts
    }

    /// The share of the most popular record, by the definition of Zipf's law.
    fn top_share(records: u64, theta: f64) -> f64 {
        1.0 / (1..=records).map(|rank| (rank as f64).powf(-theta)).sum::<f64>()
    }

    #[test]
    fn zipf_follows_its_law_from_the_first_rank_to_the_hundredth() {
        let (records, draws, theta) = (1000, 400_000, 0.99);
        let counts = counts(Distribution::Zipf { theta }, records, draws, false);
        for rank in [1u32, 2, 3, 10, 100] {
            let expected = draws as f64 * top_share(records, theta) / f64::from(rank).powf(theta);
            let seen = counts[rank as usize - 1] as f64;
            assert!((seen - expected).abs() < 6.0 * expected.sqrt(), "rank {rank}: {seen}, not {expected}");
        }
    }

    #[test]
    fn ycsb_agrees_with_the_law_on_its_first_two_ranks() {
        let (records, draws, theta) = (1000, 400_000, 0.99);
        let counts = counts(Distribution::ZipfYcsb { theta }, records, draws, false);
        for rank in [1u32, 2] {
            let expected = draws as f64 * top_share(records, theta) / f64::from(rank).powf(theta);
            let seen = counts[rank as usize - 1] as f64;
            assert!((seen - expected).abs() < 6.0 * expected.sqrt(), "rank {rank}: {seen}, not {expected}");
        }
    }

    #[test]
    fn ycsb_scatters_its_hot_ranks() {
        let counts = counts(Distribution::ZipfYcsb { theta: 0.99 }, 1000, 100_000, true);
        let hottest = (0..1000).max_by_key(|&record| counts[record]).unwrap();
        assert_ne!(hottest, 0);
        assert!(counts[hottest] > 10_000);
    }

    #[test]
    fn even_draws_are_even() {
        let counts = counts(Distribution::Uniform, 100, 100_000, true);
        assert!(counts.iter().all(|count| (810..1190).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_walk_starts_where_it_is_told_and_comes_round() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut ranks = Ranks::new(Distribution::Sequential, 3, 2);
        let walked: Vec<_> = (0..4).map(|_| ranks.record(&mut random)).collect();
        assert_eq!(walked, [2, 0, 1, 2]);
    }

    #[test]
    fn one_record_is_always_found() {
        for distribution in [
            Distribution::Uniform,
            Distribution::Sequential,
            Distribution::Zipf { theta: 0.99 },
            Distribution::ZipfYcsb { theta: 0.99 },
        ] {
            assert_eq!(counts(distribution, 1, 100, true), [100]);
        }
    }
}
