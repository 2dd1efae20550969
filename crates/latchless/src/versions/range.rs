//! The entries of a range as of one commit.

use super::version::Version;
use crate::KeyFor;
use crate::index::Range;
use core::fmt;
use core::iter::FusedIterator;
use latchless_core::base::index_value::IndexValue;

/// The entries of a range of a [`Snapshot`](super::Snapshot), from both ends.
///
/// The iterator of the index is weakly consistent, but a key that the snapshot sees is in the index
/// throughout, with the version that the snapshot sees.
pub struct SnapshotRange<'s, K: KeyFor<Version<V>>, V: IndexValue> {
    entries: Range<'s, K, Version<V>>,
    number: u64,
}

impl<'s, K: KeyFor<Version<V>>, V: IndexValue> SnapshotRange<'s, K, V> {
    pub(super) fn new(entries: Range<'s, K, Version<V>>, number: u64) -> Self {
        Self { entries, number }
    }
}

/// Returns the entry, if the key has a value at this number.
fn seen<K, V: IndexValue>((key, version): (K, Version<V>), number: u64) -> Option<(K, V)> {
    Some((key, version.into_value_at(number)?))
}

impl<K: KeyFor<Version<V>>, V: IndexValue> Iterator for SnapshotRange<'_, K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        let number = self.number;
        self.entries.find_map(|entry| seen(entry, number))
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> DoubleEndedIterator for SnapshotRange<'_, K, V> {
    fn next_back(&mut self) -> Option<(K, V)> {
        let number = self.number;
        self.entries.by_ref().rev().find_map(|entry| seen(entry, number))
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> FusedIterator for SnapshotRange<'_, K, V> {}

/// A clone goes on from the same entry.
impl<K: KeyFor<Version<V>>, V: IndexValue> Clone for SnapshotRange<'_, K, V> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), number: self.number }
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> fmt::Debug for SnapshotRange<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SnapshotRange").field("number", &self.number).finish_non_exhaustive()
    }
}
