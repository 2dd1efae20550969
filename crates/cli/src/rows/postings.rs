//! An index of distinct keys from keys that may repeat.
//!
//! The index holds every distinct key once. Its value is the number of a *run*: run `r` is the rows
//! `rows[starts[r]..starts[r + 1]]`, in the order of the file. Runs are numbered in the order of their
//! keys, so the rows of a range of keys are stored contiguously, and counting them takes the range's two
//! ends and no walk. A file without duplicates is stored in the same way: one form to reason about, for
//! eight bytes per row.

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
        self.span(run, run)
    }

    /// The rows of the runs from `first` to `last`, both included, in the order of their keys.
    pub fn span(&self, first: u32, last: u32) -> &[u32] {
        &self.rows[self.starts[first as usize] as usize..self.starts[last as usize + 1] as usize]
    }

    /// How many rows have a key before that of a run.
    pub fn before(&self, run: u32) -> usize {
        self.starts[run as usize] as usize
    }

    /// How many runs there are.
    pub fn runs(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// All rows, in the order of their keys.
    pub fn all(&self) -> &[u32] {
        &self.rows
    }

    /// How much memory the postings take, in bytes.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&self.starts[..]) + size_of_val(&self.rows[..])
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
            if let (Some(first), Some(last)) = (entries.first(), entries.last()) {
                let all: Vec<u32> = expected.into_values().flatten().collect();
                prop_assert_eq!(postings.span(first.1, last.1), &all[..]);
            }
        }
    }
}
