//! A history of `MultiIndex`'s operations, compared with a `BTreeSet` of pairs step by step.

use crate::drawn::{End, Keys, Name, Range, Run, contains, lent};
use crate::{Limits, spread};
use arbitrary::Arbitrary;
use latchless::bytes::MultiIndex;
use latchless::index::Incomplete;
use latchless::{Error, FillFactor};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// An index and its history.
#[derive(Debug, Arbitrary)]
pub struct Calls {
    limits: Limits,
    keys: Keys,
    calls: Vec<Call>,
}

#[derive(Debug, Arbitrary)]
enum Call {
    Insert(Name, u16),
    InsertMany(Vec<(Name, u16)>),
    /// A row under many keys.
    InsertRun(Run, u16),
    /// Many rows under a key, from one on and so far apart.
    InsertRows(Name, u16, u16, u8),
    Remove(Name, u16),
    RemoveAll(Name),
    /// The end from which each step is taken.
    Rows(Name, Vec<bool>),
    /// How many rows are seen.
    ScanRows(Name, u8),
    Range(End, End, Vec<bool>),
    RemoveRange(End, End),
    /// A bulk load of an index that is emptied before.
    Load(Run, Vec<u16>, f64),
    Clear,
    Check,
}

impl Calls {
    /// Runs the history.
    ///
    /// # Panics
    /// When the index answers otherwise than the set, breaks an invariant, or refuses without a reason.
    pub fn run(&self) {
        let Some(index) = self.limits.built(MultiIndex::with_options(self.limits.options())) else { return };
        let mut pair = Pair { keys: &self.keys, limits: self.limits, index, model: BTreeSet::new() };
        self.calls.iter().for_each(|call| pair.apply(call));
        pair.check();
    }
}

/// The index and its model.
struct Pair<'a> {
    keys: &'a Keys,
    limits: Limits,
    index: MultiIndex<Vec<u8>>,
    model: BTreeSet<(Vec<u8>, u64)>,
}

impl Pair<'_> {
    fn apply(&mut self, call: &Call) {
        match call {
            Call::Insert(name, row) => self.insert(self.keys.key(*name), spread(*row)),
            Call::InsertMany(pairs) => {
                let pair = |&(name, row): &(Name, u16)| (self.keys.key(name), spread(row));
                self.insert_many(&pairs.iter().map(pair).collect::<Vec<_>>());
            }
            Call::InsertRun(run, row) => {
                let keys = self.keys.run(*run).into_iter();
                self.insert_many(&keys.map(|key| (key, spread(*row))).collect::<Vec<_>>());
            }
            Call::InsertRows(name, from, step, count) => {
                let row = |at: u16| spread(from.wrapping_add(step.wrapping_mul(at)));
                let key = self.keys.key(*name);
                self.insert_many(&(0..(*count).into()).map(|at| (&key[..], row(at))).collect::<Vec<_>>());
            }
            Call::Remove(name, row) => self.remove(self.keys.key(*name), spread(*row)),
            Call::RemoveAll(name) => self.remove_all(&self.keys.key(*name)),
            Call::Rows(name, steps) => self.rows(&self.keys.key(*name), steps),
            Call::ScanRows(name, limit) => self.scan_rows(&self.keys.key(*name), *limit),
            Call::Range(low, high, steps) => self.range(&self.keys.range((*low, *high)), steps),
            Call::RemoveRange(low, high) => self.remove_range(self.keys.range((*low, *high))),
            Call::Load(run, rows, fill) => self.load(*run, rows, *fill),
            Call::Clear => {
                self.index.clear();
                self.model.clear();
            }
            Call::Check => self.check(),
        }
    }

    /// Refusals come from the limits, or the key and its row are too long.
    fn assert_refusal(&self, key: &[u8], error: &Error) {
        match error {
            Error::KeyTooLong { len, limit } => assert!(*len > key.len() && len > limit, "{error}"),
            error => self.limits.assert_refusal(error),
        }
    }

    /// The rows of a key.
    fn rows_of(&self, key: &[u8]) -> Vec<u64> {
        let rows = self.model.range((key.to_vec(), 0)..=(key.to_vec(), u64::MAX));
        rows.map(|&(_, row)| row).collect()
    }

    fn insert(&mut self, key: Vec<u8>, row: u64) {
        let pair = (key, row);
        match self.index.insert(&pair.0[..], row) {
            Ok(new) => assert_eq!(new, self.model.insert(pair)),
            Err(error) => {
                self.assert_refusal(&pair.0, &error);
                assert!(!self.model.contains(&pair), "{pair:x?} is there, which needs no memory");
            }
        }
    }

    fn insert_many(&mut self, pairs: &[(impl AsRef<[u8]> + latchless::BytesKey<Vec<u8>>, u64)]) {
        let before = self.model.len();
        let (new, refused) = match self.index.insert_many(pairs) {
            Ok(new) => (Some(new), Vec::new()),
            Err(Incomplete { error, refused }) => {
                self.assert_refusal(pairs[refused[0]].0.as_ref(), &error);
                (None, refused)
            }
        };
        for (at, (key, row)) in pairs.iter().enumerate() {
            let pair = (key.as_ref().to_vec(), *row);
            match refused.contains(&at) {
                true => assert!(!self.model.contains(&pair), "{pair:x?} is there, which needs no memory"),
                false => drop(self.model.insert(pair)),
            }
        }
        assert!(new.is_none_or(|new| new == self.model.len() - before), "{new:?}");
    }

    fn remove(&mut self, key: Vec<u8>, row: u64) {
        let pair = (key, row);
        assert_eq!(self.index.contains(&pair.0[..], row), self.model.contains(&pair));
        assert_eq!(self.index.remove(&pair.0[..], row), self.model.remove(&pair));
    }

    fn remove_all(&mut self, key: &[u8]) {
        let rows = self.rows_of(key);
        assert_eq!(
            (self.index.count_rows(key), self.index.contains_key(key)),
            (rows.len(), !rows.is_empty())
        );
        assert_eq!(self.index.remove_all(key), rows.len());
        self.model.retain(|(other, _)| other != key);
        assert_eq!(self.index.count_rows(key), 0);
    }

    fn rows(&self, key: &[u8], from_the_back: &[bool]) {
        follows(self.index.rows(key), self.rows_of(key).into_iter(), from_the_back);
    }

    fn scan_rows(&self, key: &[u8], limit: u8) {
        let (limit, mut found) = (usize::from(limit) + 1, Vec::new());
        let _ = self.index.scan_rows(key, |row| {
            found.push(row);
            if found.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let expected = self.rows_of(key);
        assert_eq!(found, expected[..limit.min(expected.len())]);
    }

    fn range(&self, (range, is_inverted): &(Range, bool), from_the_back: &[bool]) {
        let expected = self.model.iter().filter(|(key, _)| contains(range, key)).cloned();
        assert_eq!(self.index.count::<[u8]>(lent(range)), expected.clone().count(), "{range:x?}");
        assert_eq!(self.index.try_range::<[u8]>(lent(range)).is_err(), *is_inverted, "{range:x?}");
        follows(self.index.range::<[u8]>(lent(range)), expected, from_the_back);
    }

    fn remove_range(&mut self, (range, is_inverted): (Range, bool)) {
        let removed = self.index.remove_range::<[u8]>(lent(&range));
        if is_inverted {
            assert_eq!(removed, Err(Error::InvertedRange));
            return;
        }
        let before = self.model.len();
        self.model.retain(|(key, _)| !contains(&range, key));
        assert_eq!(removed, Ok(before - self.model.len()), "{range:x?}");
    }

    fn load(&mut self, run: Run, rows: &[u16], fill: f64) {
        self.index.clear();
        self.model.clear();
        let keys = self.keys.run(run).into_iter();
        let of_key = |key: Vec<u8>| rows.iter().map(move |&row| (key.clone(), spread(row)));
        let pairs: BTreeSet<(Vec<u8>, u64)> = keys.flat_map(of_key).collect();
        let fill = FillFactor::new(fill).unwrap_or_default();
        match self.index.bulk_load(pairs.iter().map(|(key, row)| (&key[..], *row)), fill) {
            Ok(()) => self.model = pairs,
            Err(Error::KeyTooLong { len, limit }) => assert!(len > limit),
            Err(error) => self.limits.assert_refusal(&error),
        }
        self.check();
    }

    fn check(&self) {
        self.index.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
        assert_eq!(self.index.len(), self.model.len());
        assert_eq!((self.index.first(), self.index.last()), {
            (self.model.first().cloned(), self.model.last().cloned())
        });
        assert!(self.index.iter().eq(self.model.iter().cloned()));
    }
}

/// Takes steps from both ends, and then the rest.
fn follows<T: PartialEq + std::fmt::Debug>(
    mut found: impl DoubleEndedIterator<Item = T>,
    mut expected: impl DoubleEndedIterator<Item = T>,
    from_the_back: &[bool],
) {
    for &back in from_the_back {
        match back {
            true => assert_eq!(found.next_back(), expected.next_back()),
            false => assert_eq!(found.next(), expected.next()),
        }
    }
    assert!(found.eq(expected));
}
