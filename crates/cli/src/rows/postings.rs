//! An index of distinct keys from keys that may repeat.
//!
//! The index holds every distinct key once. Its value is the number of a *run*: run `r` is the rows
//! `rows[starts[r]..starts[r + 1]]`, in the order of the file. Runs are numbered in the order of their
//! keys, so the rows of a range of keys are stored contiguously, and counting them takes the range's two
//! ends and no walk. A file without duplicates is stored in the same way: one form to reason about, for
//! eight bytes per row.

use latchless::Direction;
use std::ops::Range;

/// Runs, and which rows they have.
pub trait Groups {
    /// How many rows there are, of all runs.
    fn len(&self) -> usize;

    /// The row at a position in the order of the keys; of equal keys in the order of the file.
    fn row(&self, position: usize) -> u32;

    /// The positions of a run's rows.
    fn positions(&self, run: u32) -> Range<usize>;

    /// The run after another one in a direction; the first one there after none.
    fn step(&self, from: Option<u32>, direction: Direction) -> Option<u32>;

    /// Bytes that they take.
    fn memory_bytes(&self) -> usize;
}

impl Groups for Postings {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, position: usize) -> u32 {
        self.rows[position]
    }

    fn positions(&self, run: u32) -> Range<usize> {
        self.starts[run as usize] as usize..self.starts[run as usize + 1] as usize
    }

    fn step(&self, from: Option<u32>, direction: Direction) -> Option<u32> {
        let runs = self.starts.len() as u32 - 1;
        let next = match (from, direction) {
            (None, Direction::Forward) => Some(0),
            (None, Direction::Reverse) => runs.checked_sub(1),
            (Some(run), Direction::Forward) => Some(run + 1),
            (Some(run), Direction::Reverse) => run.checked_sub(1),
        };
        next.filter(|&run| run < runs)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&self.starts[..]) + size_of_val(&self.rows[..])
    }
}

/// The rows of every run.
#[derive(Debug, PartialEq, Eq)]
pub struct Postings {
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Postings {
    /// Groups rows by key: the entries to load into the index, ascending, and the rows of their
    /// runs. `keys` gives each row's key, and at most `u32::MAX` of them; `sort` sorts them, those that are
    /// equal by their rows.
    pub fn group<K: Ord>(
        keys: impl Iterator<Item = K>,
        sort: impl FnOnce(&mut Vec<(K, u32)>),
    ) -> (Vec<(K, u32)>, Self) {
        let mut by_key: Vec<(K, u32)> = keys.zip(0..).collect();
        if !by_key.is_sorted() {
            sort(&mut by_key);
        }
        let rows: Vec<u32> = by_key.iter().map(|&(_, row)| row).collect();
        let mut starts = Vec::new();
        let mut place = 0;
        by_key.dedup_by(|next, kept| {
            place += 1;
            let repeats = next.0 == kept.0;
            if !repeats {
                starts.push(place);
            }
            repeats
        });
        if !by_key.is_empty() {
            starts.insert(0, 0);
        }
        starts.push(rows.len() as u32);
        for (entry, run) in by_key.iter_mut().zip(0..) {
            entry.1 = run;
        }
        (by_key, Self { starts, rows })
    }

    /// The rows of one run, in the order of the file.
    pub fn rows(&self, run: u32) -> &[u32] {
        &self.rows[self.positions(run)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn no_rows_make_no_runs() {
        let (entries, postings) = Postings::group(std::iter::empty::<u64>(), |pairs| pairs.sort_unstable());
        assert_eq!(entries, []);
        assert_eq!(postings, Postings { starts: vec![0], rows: vec![] });
    }

    proptest! {
        #[test]
        fn runs_are_the_rows_of_each_key_in_order(keys in prop::collection::vec(0u32..20, 0..60), sort: bool) {
            let mut keys = keys;
            if sort {
                keys.sort_unstable();
            }
            let mut expected = BTreeMap::<u32, Vec<u32>>::new();
            for (&key, row) in keys.iter().zip(0..) {
                expected.entry(key).or_default().push(row);
            }
            let (entries, postings) = Postings::group(keys.iter().copied(), |pairs| pairs.sort_unstable());
            prop_assert_eq!(entries.len(), expected.len());
            for ((key, run), (expected_key, expected_rows)) in entries.iter().zip(&expected) {
                prop_assert_eq!(key, expected_key);
                prop_assert_eq!(postings.rows(*run), &expected_rows[..]);
            }
            let walk = |direction| {
                let mut runs = Vec::new();
                while let Some(run) = postings.step(runs.last().copied(), direction) {
                    runs.push(run);
                }
                runs
            };
            let runs: Vec<u32> = entries.iter().map(|&(_, run)| run).collect();
            prop_assert_eq!(walk(Direction::Forward), runs.clone());
            prop_assert_eq!(walk(Direction::Reverse), runs.into_iter().rev().collect::<Vec<_>>());
            let all: Vec<u32> = expected.into_values().flatten().collect();
            prop_assert_eq!((0..postings.len()).map(|at| postings.row(at)).collect::<Vec<_>>(), all);
        }
    }
}
