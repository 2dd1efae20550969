//! The standard library's traits. Those that can't return an error panic if memory is refused or a key or a
//! value is too long, as the standard library's own containers do.

use super::range::SnapshotRange;
use super::snapshot::Snapshot;
use super::version::Version;
use super::versioned::VersionedIndex;
use crate::KeyFor;
use core::ops::Deref;
use latchless_core::base::error::Result;
use latchless_core::base::index_value::IndexValue;

fn expect<T>(made: Result<T>) -> T {
    made.unwrap_or_else(|error| panic!("an index can't be made or extended: {error}"))
}

impl<K: KeyFor<Version<V>>, V: IndexValue> Default for VersionedIndex<K, V> {
    /// Creates an empty index.
    ///
    /// # Panics
    /// If the system has no memory for a first node.
    fn default() -> Self {
        expect(Self::new())
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> FromIterator<(K, V)> for VersionedIndex<K, V> {
    /// Creates an index from all entries of an iterator. See [`VersionedIndex::try_from_iter`].
    ///
    /// # Panics
    /// If memory is refused, or a key or a value is too long.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        expect(Self::try_from_iter(entries))
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue, const N: usize> From<[(K, V); N]> for VersionedIndex<K, V> {
    /// Creates an index from an array of entries. See [`VersionedIndex::try_from_iter`].
    ///
    /// # Panics
    /// If memory is refused, or a key or a value is too long.
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<'s, K, V, H> IntoIterator for &'s Snapshot<K, V, H>
where
    K: KeyFor<Version<V>>,
    V: IndexValue,
    H: Deref<Target = VersionedIndex<K, V>>,
{
    type Item = (K, V);
    type IntoIter = SnapshotRange<'s, K, V>;

    fn into_iter(self) -> SnapshotRange<'s, K, V> {
        self.iter()
    }
}
