//! The keys of an index, and plans of the processors' operations: generated from fixed seeds before
//! anything is timed, so that every index gets the same requests and every answer is known.

use crate::experiment::{Hot, ParallelCase};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};

/// Every plan's random numbers start from here and from how many plans there were before.
const SEED: u64 = 2001;

/// One request. Entries are numbered: [`key_of`] is the key, the number is the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Search for an entry that is present throughout the plan.
    Search(u32),
    /// Insert a new one.
    Insert(u32),
    /// Remove a present one that no other thread uses.
    Remove(u32),
}

/// The key of an entry. All keys are different and look random: the steps are those that finish a hash
/// (MurmurHash3), and each of them can be undone.
pub const fn key_of(entry: u32) -> u32 {
    let mut key = entry;
    key = (key ^ (key >> 16)).wrapping_mul(0x85eb_ca6b);
    key = (key ^ (key >> 13)).wrapping_mul(0xc2b2_ae35);
    key ^ (key >> 16)
}

/// The contents of an index.
#[derive(Debug, Clone)]
pub struct Population {
    present: Vec<u32>,
    /// The first entry that there never was.
    next: u32,
    /// Plans that were made.
    plans: u64,
}

impl Population {
    /// Creates that many entries, from 1 on; at most a quarter of all numbers.
    pub fn new(keys: usize) -> Self {
        let keys = u32::try_from(keys).unwrap_or(u32::MAX).min(u32::MAX / 4);
        Self { present: (1..=keys).collect(), next: keys + 1, plans: 0 }
    }

    /// Returns the entries that are present.
    pub fn present(&self) -> &[u32] {
        &self.present
    }

    /// Plans the operations of each processor of `case`. The case's percentage are updates, half of them
    /// inserts and half removals unless inserts are alone; searches and removals are for entries drawn
    /// uniformly from all that were present before, or, under skew, from the hot or the other ones. After
    /// the whole plan, the index has the contents of the population. O(operations), under skew O(entries).
    pub fn plan(&mut self, case: &ParallelCase) -> Vec<Vec<Request>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED ^ self.plans << 32);
        self.plans += 1;
        let hot = case.setting.hot;
        let mut pools = Pool::all(core::mem::take(&mut self.present), hot);
        // Removals first, so that no search is for a removed entry.
        let mut inserted = Vec::new();
        let mut plans: Vec<Vec<Option<Request>>> = (0..case.processors)
            .map(|_| {
                let one = |_| {
                    if random.random_range(0..100) >= case.updates_percent {
                        return None;
                    }
                    let nth = nth_pool(&mut random, hot, &pools);
                    if !case.setting.inserts_alone
                        && random.random_range(0..2) == 0
                        && pools[nth].removable > 0
                    {
                        return Some(Request::Remove(pools[nth].remove(&mut random)));
                    }
                    let entry = self.new_entry(hot.filter(|_| nth > 0));
                    inserted.push(entry);
                    Some(Request::Insert(entry))
                };
                (0..case.operations).map(one).collect()
            })
            .collect();
        let mut searched = || {
            let present = &pools[nth_pool(&mut random, hot, &pools)].present;
            let nth = random.next_u64() as usize % present.len().max(1);
            Request::Search(present.get(nth).copied().unwrap_or(0))
        };
        let plans = plans
            .iter_mut()
            .map(|plan| plan.drain(..).map(|one| one.unwrap_or_else(&mut searched)).collect())
            .collect();
        self.present = pools.into_iter().flat_map(|pool| pool.present).collect();
        self.present.extend(inserted);
        plans
    }

    /// Returns an entry that was never present, a hot one if requested.
    fn new_entry(&mut self, hot: Option<Hot>) -> u32 {
        while hot.is_some_and(|hot| !is_hot(self.next, hot)) {
            self.next += 1;
        }
        self.next += 1;
        self.next - 1
    }
}

/// Hot keys are the smallest ones.
const fn is_hot(entry: u32, hot: Hot) -> bool {
    key_of(entry) < u32::MAX / hot.one_of
}

/// Returns the pool of the next operation.
fn nth_pool(random: &mut impl RngExt, hot: Option<Hot>, pools: &[Pool]) -> usize {
    let to_hot = hot.is_some_and(|hot| random.random_range(0..100) < hot.operations_percent);
    usize::from(to_hot && !pools[1].present.is_empty())
}

/// Entries that are alike, while a plan is made.
struct Pool {
    present: Vec<u32>,
    /// At least half stays.
    removable: usize,
}

impl Pool {
    fn new(present: Vec<u32>) -> Self {
        Self { removable: present.len() / 2, present }
    }

    /// All entries, or, under skew, the others and the hot ones.
    fn all(present: Vec<u32>, hot: Option<Hot>) -> Vec<Self> {
        let Some(hot) = hot else { return vec![Self::new(present)] };
        let (hot, others) = present.into_iter().partition(|&entry| is_hot(entry, hot));
        vec![Self::new(others), Self::new(hot)]
    }

    fn remove(&mut self, random: &mut impl RngExt) -> u32 {
        self.removable -= 1;
        self.present.swap_remove(random.random_range(0..self.present.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Setting;
    use std::collections::HashSet;

    fn case(processors: usize, operations: usize, updates_percent: usize) -> ParallelCase {
        let setting = Setting::PLAIN;
        ParallelCase { keys: 0, processors, updates_percent, node_bytes: 128, setting, operations }
    }

    #[test]
    fn keys_are_different_and_scattered() {
        let keys: HashSet<u32> = (0..100_000).map(key_of).collect();
        assert_eq!(keys.len(), 100_000);
        let low = keys.iter().filter(|&&key| key < u32::MAX / 4).count();
        assert!((24_000..26_000).contains(&low), "{low} in the lowest quarter");
    }

    #[test]
    fn every_answer_is_known_beforehand() {
        let mut population = Population::new(10_000);
        let before: HashSet<u32> = population.present().iter().copied().collect();
        let plans = population.plan(&case(4, 1000, 50));
        let after: HashSet<u32> = population.present().iter().copied().collect();
        let (mut new, mut gone, mut found) = (HashSet::new(), HashSet::new(), 0);
        for request in plans.iter().flatten() {
            match *request {
                Request::Search(entry) => {
                    assert!(before.contains(&entry) && after.contains(&entry));
                    found += 1;
                }
                Request::Insert(entry) => assert!(!before.contains(&entry) && new.insert(entry)),
                Request::Remove(entry) => assert!(before.contains(&entry) && gone.insert(entry)),
            }
        }
        let expected: HashSet<u32> = before.union(&new).copied().collect();
        assert_eq!(after, expected.difference(&gone).copied().collect());
        assert_eq!((plans.len(), plans[3].len()), (4, 1000));
        for (count, share) in [(found, 2000), (new.len(), 1000), (gone.len(), 1000)] {
            assert!(count.abs_diff(share) < 150, "{count} of {share}");
        }
    }

    #[test]
    fn plans_differ_but_not_from_run_to_run() {
        let two = || {
            let mut population = Population::new(1000);
            (population.plan(&case(2, 50, 20)), population.plan(&case(2, 50, 20)))
        };
        assert_eq!(two(), two());
        assert_ne!(two().0, two().1);
    }

    #[test]
    fn a_small_population_isn_t_emptied() {
        let mut population = Population::new(3);
        for _ in 0..20 {
            population.plan(&case(2, 10, 100));
            assert!(!population.present().is_empty());
        }
    }

    #[test]
    fn inserts_can_be_alone() {
        let plain = case(2, 500, 100);
        let alone = ParallelCase { setting: Setting { inserts_alone: true, ..plain.setting }, ..plain };
        let plans = Population::new(1000).plan(&alone);
        assert!(plans.iter().flatten().all(|request| matches!(request, Request::Insert(_))));
    }

    #[test]
    fn skew_sends_its_share_to_the_smallest_keys() {
        let hot = Hot { one_of: 20, operations_percent: 80 };
        let plain = case(2, 2000, 50);
        let skewed = ParallelCase { setting: Setting { hot: Some(hot), ..plain.setting }, ..plain };
        let mut population = Population::new(20_000);
        let before: HashSet<u32> = population.present().iter().copied().collect();
        let plans = population.plan(&skewed);
        let mut seen = HashSet::new();
        let mut at_hot = 0;
        for request in plans.iter().flatten() {
            let (Request::Search(entry) | Request::Insert(entry) | Request::Remove(entry)) = *request;
            at_hot += usize::from(is_hot(entry, hot));
            match request {
                Request::Search(_) => assert!(before.contains(&entry)),
                Request::Insert(_) => assert!(!before.contains(&entry) && seen.insert(entry)),
                Request::Remove(_) => assert!(before.contains(&entry) && seen.insert(entry)),
            }
        }
        // A twentieth of the others' inserts is hot by chance.
        assert!((3100..3350).contains(&at_hot), "{at_hot} of 4000");
        let after: HashSet<u32> = population.present().iter().copied().collect();
        assert_eq!(after.len(), population.present().len(), "each once");
    }
}
