//! Which keys an index holds, and plans of what processors do to it: made before anything is timed,
//! from fixed seeds, so that every index is asked the same and every answer is known beforehand.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};

/// Every plan's random numbers start from here and from how many plans there were before.
const SEED: u64 = 2001;

/// One request. Entries go by number: [`key_of`] is its key, its number is its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Look for an entry that is there throughout the plan.
    Search(u32),
    /// Insert a new one.
    Insert(u32),
    /// Remove one that is there and that no other thread uses.
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

/// What an index holds.
#[derive(Debug, Clone)]
pub struct Population {
    present: Vec<u32>,
    /// The first entry that there never was.
    next: u32,
    /// Plans that were made.
    plans: u64,
}

impl Population {
    /// So many entries, from 1 on; at most a quarter of all numbers.
    pub fn new(keys: usize) -> Self {
        let keys = u32::try_from(keys).unwrap_or(u32::MAX).min(u32::MAX / 4);
        Self { present: (1..=keys).collect(), next: keys + 1, plans: 0 }
    }

    /// What it holds.
    pub fn present(&self) -> &[u32] {
        &self.present
    }

    /// What each of `processors` processors does. So many percent are updates, half of them inserts and
    /// half removals; searches and removals are for entries drawn uniformly from all that were there
    /// before. When all of the plan is done, it holds what the population then says. O(operations).
    pub fn plan(
        &mut self,
        processors: usize,
        operations: usize,
        updates_percent: usize,
    ) -> Vec<Vec<Request>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED ^ self.plans << 32);
        self.plans += 1;
        // Removals first, so that nobody searches for what another removes. At least half stays.
        let mut removable = self.present.len() / 2;
        let mut inserted = Vec::new();
        let mut plans: Vec<Vec<Option<Request>>> = (0..processors)
            .map(|_| {
                let one = |_| {
                    if random.random_range(0..100) >= updates_percent {
                        return None;
                    }
                    if random.random_range(0..2) == 0 && removable > 0 {
                        removable -= 1;
                        let nth = random.random_range(0..self.present.len());
                        return Some(Request::Remove(self.present.swap_remove(nth)));
                    }
                    inserted.push(self.next);
                    self.next += 1;
                    Some(Request::Insert(self.next - 1))
                };
                (0..operations).map(one).collect()
            })
            .collect();
        let searched = |random: &mut dyn Rng| {
            let nth = random.next_u64() as usize % self.present.len().max(1);
            Request::Search(self.present.get(nth).copied().unwrap_or(0))
        };
        let plans = plans
            .iter_mut()
            .map(|plan| plan.drain(..).map(|one| one.unwrap_or_else(|| searched(&mut random))).collect())
            .collect();
        self.present.extend(inserted);
        plans
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

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
        let plans = population.plan(4, 1000, 50);
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
            (population.plan(2, 50, 20), population.plan(2, 50, 20))
        };
        assert_eq!(two(), two());
        assert_ne!(two().0, two().1);
    }

    #[test]
    fn a_small_population_isn_t_emptied() {
        let mut population = Population::new(3);
        for _ in 0..20 {
            population.plan(2, 10, 100);
            assert!(!population.present().is_empty());
        }
    }
}
