//! The standard library's traits.
//!
//! `FromIterator`, `Extend`, `Clone` and `Default` can't return an error, so they panic if memory is refused,
//! as the standard library's own containers do; [`Index::new`], [`Index::from_sorted`], [`Index::try_clone`]
//! and [`Index::try_extend`] return it.

use super::Index;
use super::access::Access;
use super::bulk::Bulk;
use super::common::{IntoRange, Range};
use super::engine::{Engine, KeyFor};
use super::refused::Incomplete;
use crate::tree::Shared;
use core::cmp::Ordering;
use core::fmt;
use latchless_core::base::error::Result;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

/// Entries that are inserted together.
const TOGETHER: usize = 256;

impl<K: Key, V: Value> Access<'_, K, V, Shared> {
    /// Implements [`Index::try_extend`], in batches.
    pub(super) fn extend(self, entries: impl IntoIterator<Item = (K, V)>) -> Result<()> {
        let mut entries = entries.into_iter();
        let mut batch = Vec::with_capacity(TOGETHER);
        let mut replaced = [None; TOGETHER];
        loop {
            batch.clear();
            batch.extend(entries.by_ref().take(TOGETHER));
            if batch.is_empty() {
                return Ok(());
            }
            self.insert_many(&batch, &mut replaced[..batch.len()])
                .map_err(|Incomplete { error, .. }| error)?;
        }
    }
}

/// Sorts entries by key; of equal keys the last one stays.
pub(super) fn sort_and_dedup<K, T>(entries: &mut Vec<(K, T)>, compare: impl Fn(&K, &K) -> Ordering) {
    if entries.is_sorted_by(|a, b| compare(&a.0, &b.0).is_lt()) {
        return;
    }
    // Stable, so that of equal keys the last one comes last; that one is kept.
    entries.sort_by(|a, b| compare(&a.0, &b.0));
    entries.dedup_by(|later, kept| {
        let equal = compare(&later.0, &kept.0).is_eq();
        if equal {
            core::mem::swap(kept, later);
        }
        equal
    });
}

/// Returns whether two sequences of one length are equal, entry by entry.
pub(crate) fn equal<E>(
    mut one: impl Iterator<Item = E>,
    mut other: impl Iterator<Item = E>,
    is_same: impl Fn(E, E) -> bool,
) -> bool {
    one.all(|own| other.next().is_some_and(|their| is_same(own, their)))
}

impl<K: KeyFor<V>, V: IndexValue> FromIterator<(K, V)> for Index<K, V> {
    /// Creates an index from all entries of an iterator. See [`Index::try_from_iter`].
    ///
    /// # Panics
    /// If memory is refused.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self::try_from_iter(entries).unwrap_or_else(|error| panic!("an index can't be made: {error}"))
    }
}

impl<K: KeyFor<V>, V: IndexValue, const N: usize> From<[(K, V); N]> for Index<K, V> {
    /// Creates an index from an array of entries. See [`Index::try_from_iter`].
    ///
    /// # Panics
    /// If memory is refused.
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K: KeyFor<V>, V: IndexValue> Extend<(K, V)> for Index<K, V> {
    /// Inserts all entries of an iterator. See [`Index::try_extend`].
    ///
    /// # Panics
    /// If memory is refused.
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        self.try_extend(entries).unwrap_or_else(|error| panic!("an index can't be extended: {error}"));
    }
}

impl<K: KeyFor<V>, V: IndexValue> Extend<(K, V)> for &Index<K, V> {
    /// Inserts all entries of an iterator. See [`Index::try_extend`].
    ///
    /// # Panics
    /// If memory is refused.
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        self.try_extend(entries).unwrap_or_else(|error| panic!("an index can't be extended: {error}"));
    }
}

impl<K: KeyFor<V>, V: IndexValue> Default for Index<K, V> {
    /// Creates an empty index.
    ///
    /// # Panics
    /// If the system has no memory for a first node.
    fn default() -> Self {
        Self::new().unwrap_or_else(|error| panic!("an index can't be made: {error}"))
    }
}

impl<K: KeyFor<V>, V: IndexValue> Clone for Index<K, V> {
    /// Creates an index of the same entries. See [`Index::try_clone`].
    ///
    /// # Panics
    /// If memory is refused.
    fn clone(&self) -> Self {
        self.try_clone().unwrap_or_else(|error| panic!("an index can't be cloned: {error}"))
    }
}

impl<K: KeyFor<V>, V: IndexValue + PartialEq> PartialEq for Index<K, V> {
    /// Returns whether both indexes have the same entries. O(n). Keys are equal if they are in the order of
    /// the index.
    ///
    /// Of indexes that other threads change, it compares entries of different moments, as
    /// [`iter`](Index::iter) sees them; the result then says nothing of any one moment.
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && equal(self.iter(), other.iter(), |(key, value), (other_key, other)| {
                K::Engine::order(&key, &other_key).is_eq() && value == other
            })
    }
}

impl<K: KeyFor<V>, V: IndexValue + Eq> Eq for Index<K, V> {}

impl<K: KeyFor<V> + fmt::Debug, V: IndexValue + fmt::Debug> fmt::Debug for Index<K, V> {
    /// Formats the index as a map: `{7: 70, 9: 90}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<'a, K: KeyFor<V>, V: IndexValue> IntoIterator for &'a Index<K, V> {
    type Item = (K, V);
    type IntoIter = Range<'a, K, V>;

    fn into_iter(self) -> Range<'a, K, V> {
        self.iter()
    }
}

impl<K: KeyFor<V>, V: IndexValue> IntoIterator for Index<K, V> {
    type Item = (K, V);
    type IntoIter = IntoRange<K, V>;

    fn into_iter(self) -> IntoRange<K, V> {
        self.engine.into_entries()
    }
}
