//! Ranges that transactions read, and the check that they are unchanged: optimistic concurrency control
//! over OLFIT's own versions, as Silo validates its nodes (Tu et al., *Speedy Transactions in Multicore
//! In-Memory Databases*, SOSP 2013).
//!
//! The OLFIT paper leaves transactions to locks on keys (§5.4) and says that latches stay as they are.
//! Versions can do more: they detect every insert into a range that was read, even if it was empty.

use super::Kind;
use super::map::OlfitMap;
use super::node::Olfit;
use super::tree::{OlfitTree, SeenLeaves};
use crate::error::{Error, Result};
use core::ops::RangeBounds;
use latchless_core::base::key::Key;
use latchless_core::base::span::encoded_range;
use latchless_core::base::value::Fits;

/// A range of a map as it was read. See [`OlfitMap::read`].
#[derive(Debug)]
pub struct Reading<'a, K, V, D: Kind> {
    tree: &'a OlfitTree<D>,
    entries: Vec<(K, V)>,
    seen: SeenLeaves,
}

impl<K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits, Scheme = Olfit>> OlfitMap<K, V, D> {
    /// Reads a range, and remembers which leaves cover it in which versions.
    ///
    /// A transaction reads what it needs, decides, and then, while no other transaction commits, checks
    /// whether all of its readings still hold. If so, it writes; if not, it restarts. Then transactions
    /// are serializable, and none misses a key that another one has inserted into a range that it read.
    ///
    /// ```
    /// use latchless_papers::olfit::{BPlus, Olfit, OlfitMap, Quiet};
    ///
    /// let rooms = OlfitMap::<u64, u64, Quiet<u64, BPlus<Olfit>>>::new()?;
    /// let reading = rooms.read(900..1000)?;
    /// assert!(reading.entries().is_empty() && reading.still_holds());
    /// rooms.insert(930, 1)?;
    /// assert!(!reading.still_holds(), "a phantom");
    /// # Ok::<(), latchless_papers::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvertedRange`](latchless_core::base::error::Error::InvertedRange), or [`Error::Duplicates`]
    /// if the map has them.
    pub fn read(&self, range: impl RangeBounds<K>) -> Result<Reading<'_, K, V, D>> {
        if self.has_duplicates() {
            return Err(Error::Duplicates);
        }
        let (tree, mut entries) = (self.tree(), Vec::new());
        let span = encoded_range(&(range.start_bound().cloned(), range.end_bound().cloned()))?;
        let seen = span.map_or_else(SeenLeaves::default, |(low, high)| {
            tree.read_leaves(low, high, |key, value| entries.push((K::decode(key), V::decode_from(value))))
        });
        Ok(Reading { tree, entries, seen })
    }
}

impl<K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits, Scheme = Olfit>> Reading<'_, K, V, D> {
    /// Returns the entries, in the keys' order; each leaf's entries as of one moment.
    pub fn entries(&self) -> &[(K, V)] {
        &self.entries
    }

    /// Leaves that were read.
    pub fn leaves(&self) -> usize {
        self.seen.len()
    }

    /// Returns whether the range would be read the same at this moment. If this is true for several
    /// readings, all of them held together at the first check. It may be false although the range is
    /// unchanged, because changes are detected per leaf.
    pub fn still_holds(&self) -> bool {
        self.tree.are_as_seen(&self.seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::olfit::{BPlus, CsbPlus, Options, Quiet};
    use core::ops::RangeInclusive;
    use latchless_core::testing::Rng;
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    type Map<F> = OlfitMap<u32, u32, Quiet<u32, F>>;
    type Read<'a, F> = Reading<'a, u32, u32, Quiet<u32, F>>;

    fn empty<F: crate::olfit::Family<Scheme = Olfit>>() -> Map<F> {
        Map::with_options(&Options { node_bytes: 64, huge_pages: false, ..Options::default() }).unwrap()
    }

    fn every_tenth<F: crate::olfit::Family<Scheme = Olfit>>(keys: u32) -> Map<F> {
        let map = empty::<F>();
        (0..keys).for_each(|key| assert_eq!(map.insert(10 * key, key), Ok(None)));
        map
    }

    fn changes_are_told<F: crate::olfit::Family<Scheme = Olfit>>() {
        let map = every_tenth::<F>(2_000);
        let read = || map.read(500..=900).unwrap();
        let reading = read();
        assert!(reading.entries().iter().map(|entry| entry.0).eq((500..=900).step_by(10)));
        assert!(reading.leaves() > 3 && reading.still_holds());
        map.insert(19_995, 0).unwrap();
        map.remove(19_000);
        assert!(reading.still_holds(), "far away");
        map.insert(701, 1).unwrap();
        assert!(!reading.still_holds(), "an insert");
        let reading = read();
        map.insert(600, 7).unwrap();
        assert!(!reading.still_holds(), "another value");
        let reading = read();
        map.remove(900);
        assert!(!reading.still_holds() && read().still_holds(), "a removal");
    }

    #[test]
    fn whatever_changes_in_a_range_is_told() {
        changes_are_told::<BPlus<Olfit>>();
        changes_are_told::<CsbPlus<Olfit>>();
    }

    fn phantoms_are_told<F: crate::olfit::Family<Scheme = Olfit>>() {
        let map = every_tenth::<F>(500);
        let gap = map.read(1_001..=1_009).unwrap();
        assert!(gap.entries().is_empty() && gap.leaves() >= 1 && gap.still_holds());
        map.insert(1_005, 0).unwrap();
        assert!(!gap.still_holds());
        let beyond = map.read(100_000..).unwrap();
        assert!(beyond.entries().is_empty() && beyond.still_holds());
        map.insert(u32::MAX, 0).unwrap();
        assert!(!beyond.still_holds());
        let nothing = map.read(7..7).unwrap();
        assert!(nothing.leaves() == 0 && nothing.still_holds());
    }

    #[test]
    fn keys_that_come_into_an_empty_range_are_told() {
        phantoms_are_told::<BPlus<Olfit>>();
        phantoms_are_told::<CsbPlus<Olfit>>();
    }

    /// If a reading claims to hold, a model agrees, whatever was done in between: leaves split, are
    /// emptied, leave the tree and are reused.
    fn never_says_yes_wrongly<F: crate::olfit::Family<Scheme = Olfit>>() {
        let (map, mut model, mut rng) = (empty::<F>(), BTreeMap::new(), Rng(7));
        let mut readings: Vec<(RangeInclusive<u32>, Read<'_, F>)> = Vec::new();
        let (mut held, mut broken) = (0, 0);
        for step in 0..if cfg!(miri) { 150 } else { 6_000_u32 } {
            let (key, grows) = (rng.below(600) as u32, step / 700 % 2 == 0);
            if rng.below(10) < if grows { 8 } else { 1 } {
                map.insert(key, step).unwrap();
                model.insert(key, step);
            } else {
                map.remove(key);
                model.remove(&key);
            }
            readings.retain(|(range, reading)| {
                let same = model.range(range.clone()).map(|(&key, &value)| (key, value));
                let holds = reading.still_holds();
                assert!(!holds || same.eq(reading.entries().iter().copied()), "step {step}, {range:?}");
                held += usize::from(holds);
                broken += usize::from(!holds);
                holds
            });
            if readings.len() < 8 {
                let low = rng.below(600) as u32;
                let range = low..=low + rng.below(60) as u32;
                readings.push((range.clone(), map.read(range).unwrap()));
            }
        }
        assert!(cfg!(miri) || (held > 1_000 && broken > 1_000), "{held} held, {broken} didn't");
    }

    #[test]
    fn a_reading_that_holds_is_what_is_there() {
        never_says_yes_wrongly::<BPlus<Olfit>>();
        never_says_yes_wrongly::<CsbPlus<Olfit>>();
    }

    /// Threads that book whatever they find free: two that overlap would both have found their range empty.
    fn bookings_never_overlap<F: crate::olfit::Family<Scheme = Olfit>>() {
        const LONGEST: u32 = 40;
        let (map, commit) = (empty::<F>(), Mutex::new(()));
        let tries = if cfg!(miri) { 15 } else { 3_000 };
        let book = |seed: u64| {
            let (mut rng, mut again) = (Rng(seed), 0);
            for _ in 0..tries {
                let (start, length) = (LONGEST + rng.below(60_000) as u32, 1 + rng.below(40) as u32);
                loop {
                    let reading = map.read(start - LONGEST..start + length).unwrap();
                    if reading.entries().iter().any(|&(other, length)| other + length > start) {
                        break;
                    }
                    let _commits = commit.lock().unwrap();
                    if reading.still_holds() {
                        map.insert(start, length).unwrap();
                        break;
                    }
                    again += 1;
                }
            }
            again
        };
        let again: u64 = std::thread::scope(|threads| {
            let running: Vec<_> = (1..=3).map(|seed| threads.spawn(move || book(seed))).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        let booked: Vec<(u32, u32)> = map.range(..).unwrap().collect();
        assert!(booked.len() > 10 && booked.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0));
        println!("{} bookings, {again} transactions started again", booked.len());
    }

    #[test]
    fn transactions_that_validate_what_they_read_are_serializable() {
        bookings_never_overlap::<BPlus<Olfit>>();
        bookings_never_overlap::<CsbPlus<Olfit>>();
    }

    #[test]
    fn a_map_with_duplicates_refuses() {
        let options = Options { duplicates: true, ..Options::default() };
        let map = Map::<BPlus<Olfit>>::with_options(&options).unwrap();
        assert_eq!(map.read(..).unwrap_err(), Error::Duplicates);
        let map = empty::<BPlus<Olfit>>();
        #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
        let inverted = map.read(9..=3);
        assert!(matches!(inverted.unwrap_err(), Error::Index(_)));
    }
}
