//! What is asked of an index: keys, new ones between them, and batches of queries, skewed as the paper's
//! are. From fixed seeds, made before anything is timed.

use latchless_papers::pi::Query;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};

/// NUMA nodes of the paper's machine (§6).
pub const NODES: usize = 4;

/// So many keys, evenly spread over 32 bits, with room between them.
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

    /// How many there are.
    pub fn count(self) -> usize {
        self.count
    }

    /// The key of this rank in their order.
    pub fn key(self, rank: usize) -> u32 {
        rank as u32 * self.step + 1
    }

    /// All of them with their ranks, in ascending order.
    pub fn entries(self) -> Vec<(u32, u32)> {
        (0..self.count).map(|rank| (self.key(rank), rank as u32)).collect()
    }
}

/// A kind of queries.
#[derive(Debug, Clone, Copy)]
pub struct Traffic {
    /// How unevenly the nodes' ranges of keys are accessed, by Zipf; 0: evenly. Within a range all keys
    /// are as likely.
    pub theta: f64,
    /// Inserts of new keys, in percent; all else searches.
    pub inserts_percent: u32,
    /// Entries of a range query; `None`: point queries.
    pub range: Option<usize>,
}

impl Traffic {
    /// Evenly spread searches.
    pub const SEARCHES: Self = Self { theta: 0.0, inserts_percent: 0, range: None };
    /// Evenly spread inserts.
    pub const INSERTS: Self = Self { inserts_percent: 100, ..Self::SEARCHES };

    /// Each node's share of the queries: Zipf over the nodes' ranges.
    pub fn shares(self) -> [f64; NODES] {
        let weight = |node: usize| ((node + 1) as f64).powf(-self.theta);
        let sum: f64 = (0..NODES).map(weight).sum();
        core::array::from_fn(|node| weight(node) / sum)
    }
}

/// Makes batches.
#[derive(Debug)]
pub struct Source {
    random: Xoshiro256PlusPlus,
}

impl Source {
    /// From this seed.
    pub fn new(seed: u64) -> Self {
        Self { random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// So many queries.
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
        let random = &mut self.random;
        let drawn: f64 = random.random();
        let node = ends.iter().position(|&end| drawn < end).unwrap_or(NODES - 1);
        let range = keys.count * node / NODES..(keys.count * (node + 1) / NODES).max(1);
        let rank = if range.is_empty() { 0 } else { random.random_range(range) };
        let key = keys.key(rank);
        if random.random_range(0..100) < traffic.inserts_percent {
            return Query::Insert(key + 1 + below(random, keys.step.max(3) - 2), rank as u32);
        }
        match traffic.range {
            None => Query::Search(key),
            Some(entries) => Query::Range { low: key, high: u32::MAX, limit: entries },
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
    fn batches_are_as_asked_for() {
        let keys = Keys::new(1000);
        let traffic = Traffic { theta: 0.9, inserts_percent: 50, range: None };
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
        assert_eq!(Keys::new(usize::MAX).count(), 1 << 28);
        let entries = Keys::new(1 << 20).entries();
        assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
