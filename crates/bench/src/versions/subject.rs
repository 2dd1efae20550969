//! The indexes, each called as its users call it.

use latchless::versions::{VersionedIndex, WriteBatch};
use latchless::{Index, IndexValue, KeyFor, Result};
use std::hint::black_box;
use std::sync::Arc;

/// Entries of a range.
const RANGE: usize = 48;
/// Requests of a batch.
const BATCH: usize = 1024;
/// Changes that are committed together.
const COMMIT: usize = 16;

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Get,
    GetAtSnapshot,
    GetMany,
    Range,
    Snapshot,
    Overwrite,
    Batch,
}

impl Operation {
    /// In the order of the table: first those that leave the index as it is.
    pub const ALL: [Self; 7] = [
        Self::Get,
        Self::GetAtSnapshot,
        Self::GetMany,
        Self::Range,
        Self::Snapshot,
        Self::Overwrite,
        Self::Batch,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::GetAtSnapshot => "get at a snapshot",
            Self::GetMany => "get in batches of 1024, at a snapshot",
            Self::Range => "range of 48, at a snapshot",
            Self::Snapshot => "snapshot, and its end",
            Self::Overwrite => "overwrite",
            Self::Batch => "overwrite in commits of 16",
        }
    }
}

/// An index with its operations.
pub trait Subject {
    fn name(&self) -> &'static str;
    /// Performs an operation with each key, and returns how many were performed; `None` if the index doesn't
    /// have it. Without snapshots, those of a snapshot are those of the newest values.
    fn perform(&self, operation: Operation, keys: &[u64]) -> Result<Option<usize>>;
}

/// Returns all indexes, with these keys.
pub fn all(keys: &[u64]) -> Result<Vec<Box<dyn Subject>>> {
    let entries = || keys.iter().map(|&key| (key, key));
    let shared = entries().map(|(key, value)| (key, Arc::new(value)));
    Ok(vec![
        Box::new(Plain {
            name: "Index<u64, u64>",
            index: Index::try_from_iter(entries())?,
            value: |key| key,
        }),
        Box::new(Plain { name: "Index<u64, Arc>", index: Index::try_from_iter(shared)?, value: Arc::new }),
        Box::new(VersionedIndex::try_from_iter(entries())?),
        #[cfg(feature = "skip-list")]
        Box::new(skip_list::Versions::new(entries())),
    ])
}

/// An index of one value per key.
struct Plain<V: IndexValue>
where
    u64: KeyFor<V>,
{
    name: &'static str,
    index: Index<u64, V>,
    value: fn(u64) -> V,
}

impl<V: IndexValue> Subject for Plain<V>
where
    u64: KeyFor<V> + for<'q> latchless::IndexKey<Probe<'q> = u64>,
    for<'v> V: IndexValue<Given<'v> = V>,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn perform(&self, operation: Operation, keys: &[u64]) -> Result<Option<usize>> {
        match operation {
            Operation::Get | Operation::GetAtSnapshot => {
                keys.iter().for_each(|&key| _ = black_box(self.index.get(key)));
            }
            Operation::GetMany => {
                let mut answers = vec![None; BATCH];
                for keys in keys.chunks(BATCH) {
                    self.index.get_many(keys, &mut answers[..keys.len()])?;
                    black_box(&answers);
                }
            }
            Operation::Range => {
                for &key in keys {
                    self.index.range(key..).take(RANGE).for_each(|entry| _ = black_box(entry));
                }
            }
            Operation::Overwrite => {
                for &key in keys {
                    black_box(self.index.insert(key, (self.value)(key))?);
                }
            }
            Operation::Snapshot | Operation::Batch => return Ok(None),
        }
        Ok(Some(keys.len()))
    }
}

impl Subject for VersionedIndex<u64, u64> {
    fn name(&self) -> &'static str {
        "VersionedIndex"
    }

    fn perform(&self, operation: Operation, keys: &[u64]) -> Result<Option<usize>> {
        let snapshot = self.snapshot();
        match operation {
            Operation::Get => keys.iter().for_each(|&key| _ = black_box(self.get(key))),
            Operation::GetAtSnapshot => keys.iter().for_each(|&key| _ = black_box(snapshot.get(key))),
            Operation::GetMany => {
                let mut answers = vec![None; BATCH];
                for keys in keys.chunks(BATCH) {
                    snapshot.get_many(keys, &mut answers[..keys.len()])?;
                    black_box(&answers);
                }
            }
            Operation::Range => {
                for &key in keys {
                    snapshot.range(key..).take(RANGE).for_each(|entry| _ = black_box(entry));
                }
            }
            Operation::Snapshot => keys.iter().for_each(|_| _ = black_box(self.snapshot())),
            Operation::Overwrite => {
                drop(snapshot);
                for &key in keys {
                    black_box(self.insert(key, key)?);
                }
            }
            Operation::Batch => {
                drop(snapshot);
                for keys in keys.chunks(COMMIT) {
                    self.commit(keys.iter().map(|&key| (key, key)).collect::<WriteBatch<u64, u64>>())?;
                }
            }
        }
        Ok(Some(keys.len()))
    }
}

/// A skip list of versions: (key, falling number).
#[cfg(feature = "skip-list")]
mod skip_list {
    use super::{Operation, RANGE, Subject};
    use crossbeam_skiplist::SkipMap;
    use latchless::Result;
    use std::cmp::Reverse;
    use std::hint::black_box;
    use std::sync::atomic::{AtomicU64, Ordering};

    pub struct Versions {
        map: SkipMap<(u64, Reverse<u64>), u64>,
        newest: AtomicU64,
    }

    impl Versions {
        pub fn new(entries: impl Iterator<Item = (u64, u64)>) -> Self {
            let map = entries.map(|(key, value)| ((key, Reverse(0)), value)).collect();
            Self { map, newest: AtomicU64::new(0) }
        }

        /// Returns the value of a key at a number.
        fn get(&self, key: u64, number: u64) -> Option<u64> {
            let entry = self.map.range((key, Reverse(number))..).next()?;
            (entry.key().0 == key).then(|| *entry.value())
        }

        /// Returns the first entries from a key on, at a number.
        fn range(&self, key: u64, number: u64) -> usize {
            let mut last = None;
            let versions = self.map.range((key, Reverse(u64::MAX))..);
            let seen = versions.filter(|entry| {
                let (key, Reverse(written)) = *entry.key();
                let is_first = written <= number && last != Some(key);
                if is_first {
                    last = Some(key);
                }
                is_first
            });
            seen.take(RANGE).inspect(|entry| _ = black_box(*entry.value())).count()
        }
    }

    impl Subject for Versions {
        fn name(&self) -> &'static str {
            "SkipMap of versions"
        }

        fn perform(&self, operation: Operation, keys: &[u64]) -> Result<Option<usize>> {
            let number = self.newest.load(Ordering::Acquire);
            match operation {
                Operation::Get | Operation::GetAtSnapshot | Operation::GetMany => {
                    keys.iter().for_each(|&key| _ = black_box(self.get(key, number)));
                }
                Operation::Range => keys.iter().for_each(|&key| _ = black_box(self.range(key, number))),
                Operation::Overwrite => {
                    for &key in keys {
                        let next = self.newest.fetch_add(1, Ordering::AcqRel) + 1;
                        self.map.insert((key, Reverse(next)), key);
                        // The version before it, which nothing reads any more.
                        if let Some(before) = self.map.range((key, Reverse(next - 1))..).next()
                            && before.key().0 == key
                        {
                            before.remove();
                        }
                    }
                }
                Operation::Snapshot | Operation::Batch => return Ok(None),
            }
            Ok(Some(keys.len()))
        }
    }
}
