//! A durable index of numbers.

use crate::columns::{Columns, Plain};
use crate::durable::Durable;
use crate::error::{Error, Result};
use crate::record::{Draft, ENTRIES_MAX};
use crate::stripes::Set;
use latchless::{Index, Key, Value};
use std::ops::Bound::{Excluded, Included};
use std::ops::RangeBounds;

/// An [`Index`] in memory with a redo log in a folder. See the [crate's head](crate).
pub type DurableIndex<K, V, C = Plain> = Durable<Index<K, V>, C>;

impl<K: Key, V: Value, C: Columns<K, V>> DurableIndex<K, V, C> {
    /// The value of a key.
    pub fn get(&self, key: K) -> Option<V> {
        self.index.get(key)
    }

    /// Logs that keys of a batch have the values that they have now: those that the index refused.
    fn take_back(&self, keys: &[K], refused: &[usize]) -> Result<()> {
        let (mut there, mut values, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        for key in refused.iter().map(|&at| keys[at]) {
            match self.index.get(key) {
                Some(value) => {
                    there.push(key);
                    values.push(value);
                }
                None => gone.push(key),
            }
        }
        self.journal.take_back(Draft::put(&self.columns, &there, &values))?;
        self.journal.take_back(Draft::remove(&self.columns, &gone))
    }

    /// Sets a key in the index, after it was logged. Compiled once for all callers, as is its counterpart:
    /// next to a record's write a call costs nothing.
    #[inline(never)]
    pub(crate) fn put_logged(&self, key: K, value: V) -> Result<Option<V>> {
        let inserted = self.index.insert(key, value);
        if inserted.is_err() {
            self.take_back(&[key], &[0])?;
        }
        Ok(inserted?)
    }

    /// Removes a key from the index, after that was logged.
    #[inline(never)]
    pub(crate) fn remove_logged(&self, key: K) -> Option<V> {
        self.index.remove(key)
    }

    /// The stripes of these keys.
    pub(crate) fn stripes_of(&self, keys: &[K]) -> Set {
        Set::of(keys.iter().map(|&key| self.columns.key_to_cell(key)))
    }

    /// Sets a key to a value, and returns the one it had.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Index`]: nothing has changed. [`Error::Closed`]: nothing has changed, or, if
    /// the disk failed while the operation waited for it, it is in the index and perhaps not on the disk.
    pub fn insert(&self, key: K, value: V) -> Result<Option<V>> {
        let draft = Draft::put(&self.columns, &[key], &[value]);
        self.journal.change(self.stripes_of(&[key]), draft, || self.put_logged(key, value))
    }

    /// Sets the keys of a column to the values of another, and returns how many keys are new. Of a key that
    /// occurs twice the last value stays. One record for up to 2^20 entries, one wait for the disk.
    ///
    /// # Errors
    /// [`Error::Index`] names the refused entries: all of them, if the columns aren't of one length. The
    /// others are those of [`DurableIndex::insert`]; of a batch of over 2^20 entries, the records before
    /// the one that failed are done.
    pub fn insert_columns(&self, keys: &[K], values: &[V]) -> Result<usize> {
        if keys.len() != values.len() {
            // Refused by the index's own words, before anything is logged.
            return Ok(self.index.insert_columns(keys, values).map_err(latchless::Error::from)?);
        }
        if keys.is_empty() {
            return self.journal.nothing(0);
        }
        let mut new = 0;
        let parts = keys.chunks(ENTRIES_MAX).zip(values.chunks(ENTRIES_MAX));
        for (part, (keys, values)) in parts.enumerate() {
            let draft = Draft::put(&self.columns, keys, values);
            new += self.journal.change(self.stripes_of(keys), draft, || {
                self.index.insert_columns(keys, values).or_else(|incomplete| {
                    self.take_back(keys, &incomplete.refused)?;
                    let refused = incomplete.refused.iter().map(|at| at + part * ENTRIES_MAX).collect();
                    Err(Error::Index { cause: incomplete.error, refused })
                })
            })?;
        }
        Ok(new)
    }

    /// Sets keys to values, and returns how many keys are new. See [`DurableIndex::insert_columns`].
    ///
    /// # Errors
    /// Those of [`DurableIndex::insert_columns`].
    pub fn insert_many(&self, entries: &[(K, V)]) -> Result<usize> {
        let (keys, values): (Vec<K>, Vec<V>) = entries.iter().copied().unzip();
        self.insert_columns(&keys, &values)
    }

    /// Removes a key, and returns the value it had.
    ///
    /// # Errors
    /// Those of [`DurableIndex::insert`].
    pub fn remove(&self, key: K) -> Result<Option<V>> {
        let draft = Draft::remove(&self.columns, &[key]);
        self.journal.change(self.stripes_of(&[key]), draft, || Ok(self.remove_logged(key)))
    }

    /// Removes the keys of a batch, and returns how many were there. One record for up to 2^20 keys.
    ///
    /// # Errors
    /// Those of [`DurableIndex::insert_columns`].
    pub fn remove_many(&self, keys: &[K]) -> Result<usize> {
        if keys.is_empty() {
            return self.journal.nothing(0);
        }
        let mut removed = 0;
        for keys in keys.chunks(ENTRIES_MAX) {
            removed +=
                self.journal.change(self.stripes_of(keys), Draft::remove(&self.columns, keys), || {
                    let mut before = vec![None; keys.len()];
                    self.index.remove_many(keys, &mut before)?;
                    Ok(before.iter().flatten().count())
                })?;
        }
        Ok(removed)
    }

    /// Removes all keys of a range, and returns how many there were. Other changes wait meanwhile.
    ///
    /// # Errors
    /// [`Error::Index`] if the range ends before it starts. The others as [`DurableIndex::insert`].
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
