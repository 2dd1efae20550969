//! The traffic on an index: keys, new ones between them, and batches of queries, skewed as the paper's
//! are. Generated from fixed seeds before anything is timed.

use latchless_papers::pi::Query;
use latchless_workload::{Distribution, Ranks};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};

/// NUMA nodes of the paper's machine (§6).
pub const NODES: usize = 4;

/// A number of keys, evenly distributed over 32 bits, with room between them.
#[derive(Debug, Clone, Copy)]
pub struct Keys {
    count: usize,
    step: u32,
}

impl Keys {
    /// At most 2^28 keys.
    pub fn new(count: usize) -> Self {
        let count = count.clamp(1, 1 << 28);
        Self { count, step: u32::MAX / count as u32 }
    }

    /// Returns their number.
    pub fn count(self) -> usize {
        self.count
    }

    /// The key of this rank in their order.
    pub fn key(self, rank: usize) -> u32 {
        rank as u32 * self.step + 1
    }

    /// Returns all of them with their ranks, in ascending order.
    pub fn entries(self) -> Vec<(u32, u32)> {
        (0..self.count).map(|rank| (self.key(rank), rank as u32)).collect()
    }
}

/// The Zipf-distributed quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skewed {
    /// The nodes' ranges of keys. Within a range all keys are as likely.
    Ranges,
    /// Single keys, the popular ones anywhere.
    Keys,
}

/// A kind of queries.
#[derive(Debug, Clone, Copy)]
pub struct Traffic {
    /// The skew of the accesses to keys, by Zipf; 0: evenly.
    pub theta: f64,
    /// The Zipf-distributed quantity.
    pub skewed: Skewed,
    /// Inserts of new keys, in percent; all else searches.
    pub inserts_percent: u32,
    /// Keys that a range query covers; `None`: point queries.
    pub range: Option<usize>,
}

impl Traffic {
    /// Evenly spread searches.
    pub const SEARCHES: Self = Self { theta: 0.0, skewed: Skewed::Ranges, inserts_percent: 0, range: None };
    /// Evenly spread inserts.
    pub const INSERTS: Self = Self { inserts_percent: 100, ..Self::SEARCHES };

    /// Each node's share of the queries: Zipf over the nodes' ranges.
    pub fn shares(self) -> [f64; NODES] {
        let theta = if self.skewed == Skewed::Ranges { self.theta } else { 0.0 };
        let weight = |node: usize| ((node + 1) as f64).powf(-theta);
        let sum: f64 = (0..NODES).map(weight).sum();
        core::array::from_fn(|node| weight(node) / sum)
    }
}

/// Makes batches.
#[derive(Debug)]
pub struct Source {
    random: Xoshiro256PlusPlus,
    /// Draws popular keys, once there are some.
    popular: Option<Ranks>,
}

impl Source {
    /// Creates the source with this seed.
    pub fn new(seed: u64) -> Self {
        Self { random: Xoshiro256PlusPlus::seed_from_u64(seed), popular: None }
    }

    /// Returns that many queries.
    pub fn batch(&mut self, keys: Keys, traffic: Traffic, len: usize) -> Vec<Query<u32, u32>> {
        let mut ends = traffic.shares();
        let mut sum = 0.0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        (0..len).map(|_| self.query(keys, traffic, &ends)).collect()
    }

    fn query(&mut self, keys: Keys, traffic: Traffic, ends: &[f64; NODES]) -> Query<u32, u32> {
        let rank = match traffic.skewed {
            Skewed::Ranges => self.rank_in_ranges(keys, ends),
            Skewed::Keys => self.popular_rank(keys, traffic.theta),
        };
        let random = &mut self.random;
        let key = keys.key(rank);
        if random.random_range(0..100) < traffic.inserts_percent {
            return Query::Insert(key + 1 + below(random, keys.step.max(3) - 2), rank as u32);
        }
        match traffic.range {
            None => Query::Search(key),
            // The paper's ranges end at a key, too.
            Some(entries) => {
                let high = keys.key((rank + entries - 1).min(keys.count - 1));
                Query::Range { low: key, high, limit: usize::MAX }
            }
        }
    }

    fn rank_in_ranges(&mut self, keys: Keys, ends: &[f64; NODES]) -> usize {
        let drawn: f64 = self.random.random();
        let node = ends.iter().position(|&end| drawn < end).unwrap_or(NODES - 1);
        let range = keys.count * node / NODES..(keys.count * (node + 1) / NODES).max(1);
        if range.is_empty() { 0 } else { self.random.random_range(range) }
    }

    /// Draws a key by Zipf; its popularity is independent of its place among the keys.
    fn popular_rank(&mut self, keys: Keys, theta: f64) -> usize {
        let distribution = Distribution::Zipf { theta };
        let ranks = self.popular.get_or_insert_with(|| Ranks::new(distribution, keys.count as u64, 0));
        let places = keys.count.next_power_of_two();
        let mut place = ranks.record(&mut self.random) as usize;
        // An odd step reaches each of a power of two of places once; those that are no key's are passed over.
        loop {
            place = place.wrapping_mul(0x9E37_79B1) & (places - 1);
            if place < keys.count {
                return place;
            }
        }
    }
}

fn below(random: &mut impl Rng, end: u32) -> u32 {
    random.random_range(0..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_papers::pi::batch::pool::threads_per_node;

    #[test]
    fn shares_give_the_paper_s_threads() {
        let threads = |theta: f64| {
            let shares = Traffic { theta, ..Traffic::SEARCHES }.shares();
            threads_per_node(&shares.map(|share| (share * 65536.0) as usize), 8)
        };
        assert_eq!(threads(0.0), [2, 2, 2, 2]);
        assert_eq!(threads(0.5), [3, 2, 2, 1], "§6.5");
        assert_eq!(threads(0.9), [4, 2, 1, 1], "§6.5");
    }

    #[test]
    fn popular_keys_are_spread_over_all_ranges() {
        let keys = Keys::new(1000);
        let traffic = Traffic { theta: 0.9, skewed: Skewed::Keys, ..Traffic::SEARCHES };
        let mut asked = vec![0; 1000];
        for query in Source::new(1).batch(keys, traffic, 100_000) {
            let Query::Search(key) = query else { panic!("{query:?}") };
            asked[((key - 1) / keys.step) as usize] += 1;
        }
        for quarter in asked.chunks(250) {
            let share = quarter.iter().sum::<usize>();
            assert!((15_000..40_000).contains(&share), "{share} of the queries are one quarter's");
        }
        asked.sort_unstable();
        let hundredth = asked[990..].iter().sum::<usize>();
        assert!((25_000..40_000).contains(&hundredth), "{hundredth} are for the ten most popular keys");
        assert!(asked[0] > 0);
    }

    #[test]
    fn batches_are_as_asked_for() {
        let keys = Keys::new(1000);
        let traffic = Traffic { theta: 0.9, inserts_percent: 50, ..Traffic::SEARCHES };
        let batch = Source::new(1).batch(keys, traffic, 4000);
        let inserts = batch.iter().filter(|query| matches!(query, Query::Insert(..))).count();
        assert!((1800..2200).contains(&inserts));
        let known = |key: u32| (key - 1).is_multiple_of(keys.step);
        assert!(batch.iter().all(|query| match *query {
            Query::Search(key) => known(key),
            Query::Insert(key, _) => !known(key),
            _ => false,
        }));
        let first = batch.iter().filter(|query| matches!(**query, Query::Search(key) if key < keys.key(250)));
        let share = first.count() as f64 / (4000 - inserts) as f64;
        assert!((0.40..0.51).contains(&share), "{share} of the queries are the first node's");
        let ranges = Source::new(2).batch(keys, Traffic { range: Some(10), ..Traffic::SEARCHES }, 100);
        assert!(ranges.iter().all(|query| match *query {
            Query::Range { low, high, .. } => high == keys.key(999) || high - low == 9 * keys.step,
            _ => false,
        }));
        assert_eq!(Keys::new(usize::MAX).count(), 1 << 28);
        let entries = Keys::new(1 << 20).entries();
        assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
