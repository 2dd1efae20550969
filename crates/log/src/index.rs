//! A durable index of numbers.

use crate::columns::{Columns, Plain};
use crate::durable::Durable;
use crate::error::Result;
use crate::logged::{KeyOf, LentOf, Logged, Map, Part};
use crate::record::{Draft, ENTRIES_MAX};
use crate::stripes::Set;
use latchless::{Index, Key, Value};
use std::ops::Bound::{Excluded, Included};
use std::ops::RangeBounds;

/// An [`Index`] in memory with a redo log in a folder. See the [crate's head](crate).
pub type DurableIndex<K, V, C = Plain> = Durable<Index<K, V>, C>;

impl<K: Key, V: Value, C: Columns<K, V> + 'static> Logged<C> for Index<K, V> {
    type Value = V;
    type Lent<'v> = V;
    type Entry = (K, V);

    fn lend(&value: &V) -> V {
        value
    }

    fn own(value: V) -> V {
        value
    }

    fn is_alike(columns: &C, one: V, other: V) -> bool {
        columns.value_to_cell(one) == columns.value_to_cell(other)
    }

    fn first(&self) -> Option<(K, V)> {
        self.first()
    }

    fn last(&self) -> Option<(K, V)> {
        self.last()
    }

    fn key(&(key, _): &(K, V)) -> impl KeyOf<Self, C> {
        key
    }
}

impl<K: Key, V: Value, C: Columns<K, V> + 'static> Map<C> for Index<K, V> {}

/// The stripes of these keys.
fn stripes_of<K: Key, V: Value>(columns: &impl Columns<K, V>, keys: impl Iterator<Item = K>) -> Set {
    Set::of(keys.map(|key| columns.key_to_cell(key)))
}

impl<K: Key, V: Value, C: Columns<K, V> + 'static> KeyOf<Index<K, V>, C> for K {
    fn stripe(self, columns: &C) -> Set {
        stripes_of(columns, std::iter::once(self))
    }

    fn puts<'v>(
        columns: &C,
        entries: impl ExactSizeIterator<Item = (K, LentOf<'v, Index<K, V>, C>)> + Clone,
    ) -> Part {
        let entries = entries.take(ENTRIES_MAX);
        let keys = entries.clone().map(|(key, _)| key);
        Part { set: stripes_of(columns, keys), entries: entries.len(), draft: Draft::put(columns, entries) }
    }

    fn removals(columns: &C, keys: impl ExactSizeIterator<Item = K> + Clone) -> Part {
        let keys = keys.take(ENTRIES_MAX);
        let set = stripes_of(columns, keys.clone());
        Part { set, entries: keys.len(), draft: Draft::remove(columns, keys) }
    }

    #[inline]
    fn get(self, index: &Index<K, V>) -> Option<V> {
        index.get(self)
    }

    fn put(self, index: &Index<K, V>, value: V) -> latchless::Result<Option<V>> {
        index.insert(self, value)
    }

    fn remove(self, index: &Index<K, V>) -> Option<V> {
        index.remove(self)
    }

    fn remove_many(index: &Index<K, V>, keys: &[K]) -> latchless::Result<usize> {
        let mut before = vec![None; keys.len()];
        index.remove_many(keys, &mut before)?;
        Ok(before.iter().flatten().count())
    }
}

impl<K: Key, V: Value, C: Columns<K, V> + 'static> DurableIndex<K, V, C> {
    /// Sets the keys of a column to the values of another, and returns how many keys are new. Of a key that
    /// occurs twice the last value stays. One record for up to 2^20 entries, one wait for the disk.
    ///
    /// # Errors
    /// [`Error::Index`](crate::Error::Index) names the refused entries: all of them, if the columns aren't of
    /// one length. The others are those of [`Durable::insert`]; of a batch of over 2^20 entries, the records
    /// before the one that failed are done.
    pub fn insert_columns(&self, keys: &[K], values: &[V]) -> Result<usize> {
        if keys.len() != values.len() {
            // Refused by the index's own words, before anything is logged.
            return Ok(self.index.insert_columns(keys, values).map_err(latchless::Error::from)?);
        }
        let entries = keys.iter().copied().zip(values.iter().copied());
        self.put_many(entries, |now| self.index.insert_columns(&keys[now.clone()], &values[now]))
    }

    /// Sets keys to values, and returns how many keys are new. See [`DurableIndex::insert_columns`].
    ///
    /// # Errors
    /// Those of [`DurableIndex::insert_columns`].
    pub fn insert_many(&self, entries: &[(K, V)]) -> Result<usize> {
        let (keys, values): (Vec<K>, Vec<V>) = entries.iter().copied().unzip();
        self.insert_columns(&keys, &values)
    }

    /// Removes the keys of a batch, and returns how many were there. One record for up to 2^20 keys.
    ///
    /// # Errors
    /// Those of [`DurableIndex::insert_columns`].
    pub fn remove_many(&self, keys: &[K]) -> Result<usize> {
        self.take_many(keys.iter().copied())
    }

    /// Removes all keys of a range, and returns how many there were. Other changes wait meanwhile.
    ///
    /// # Errors
    /// [`Error::Index`](crate::Error::Index) if the range ends before it starts. The others as [`Durable::insert`].
    pub fn remove_range(&self, range: impl RangeBounds<K>) -> Result<usize> {
        let range = (range.start_bound().cloned(), range.end_bound().cloned());
        // A range that the index refuses isn't logged.
        if let (Included(start) | Excluded(start), Included(end) | Excluded(end)) = range
            && start.encode() > end.encode()
        {
            return Err(latchless::Error::InvertedRange.into());
        }
        self.journal.change(Set::ALL, Draft::remove_range(&self.columns, &range), || {
            Ok(self.index.remove_range(range)?)
        })
    }
}
