//! What one commit writes into one index.

use super::clock::Turn;
use super::version::Version;
use super::versioned::VersionedIndex;
use crate::KeyFor;
use core::ops::Bound;
use latchless_core::base::error::Result;
use latchless_core::base::index_value::IndexValue;

/// The versions of a commit in one index. Dropped before it is [kept](Part::keep), by an error or a panic of
/// a value's `clone`, it abandons what it has written; that needs no memory. Its turn must last as long.
pub(crate) struct Part<'i, K: KeyFor<Version<V>>, V: IndexValue> {
    index: &'i VersionedIndex<K, V>,
    number: u64,
    horizon: u64,
    /// The keys that have a version of this commit.
    written: Vec<K>,
    inserted: usize,
    removed: usize,
}

impl<'i, K: KeyFor<Version<V>>, V: IndexValue> Part<'i, K, V> {
    pub(crate) fn new(index: &'i VersionedIndex<K, V>, turn: &Turn<'_>) -> Self {
        let (number, horizon) = (turn.number, turn.horizon);
        Self { index, number, horizon, written: Vec::new(), inserted: 0, removed: 0 }
    }

    /// Gives a key a version, unless it has no value and gets none, and returns the value before. The key
    /// isn't abandoned with the others.
    pub(super) fn put(&mut self, key: K::Probe<'_>, value: Option<V>) -> Result<Option<V>> {
        let (number, horizon) = (self.number, self.horizon);
        let after = |newest: &Version<V>| {
            let before = newest.newest_value().cloned();
            (value.is_some() || before.is_some())
                .then(|| (Version::after(Some(newest), number, value.clone(), horizon), before))
        };
        let (version, before) = match self.index.index.get_with(key, after) {
            Some(Some(changed)) => changed,
            None if value.is_some() => (Version::after(None, number, value.clone(), horizon), None),
            Some(None) | None => return Ok(None),
        };
        self.index.index.insert(key, version)?;
        match (before.is_some(), value.is_some()) {
            (false, true) => self.inserted += 1,
            (true, false) => self.removed += 1,
            _ => {}
        }
        Ok(before)
    }

    /// Gives a key a value, or none, and returns the value before.
    pub(crate) fn write(&mut self, key: K, value: Option<V>) -> Result<Option<V>> {
        let before = self.put(key.probe(), value)?;
        self.written.push(key);
        Ok(before)
    }

    /// Returns the keys that have a version of this commit, in the order in which they were written.
    pub(crate) fn written(&self) -> &[K] {
        &self.written
    }

    /// Removes the keys of a range that have a value.
    pub(super) fn remove_range(&mut self, low: &Bound<K>, high: &Bound<K>) -> Result<()> {
        let range = (low.as_ref().map(K::probe), high.as_ref().map(K::probe));
        let mut keys: Vec<K> = Vec::new();
        self.index.index.for_each(range, |key, version| {
            if version.newest_value().is_some() {
                keys.push(key);
            }
        });
        keys.into_iter().try_for_each(|key| self.write(key, None).map(drop))
    }

    /// Returns the newest value of a key, that of this commit included.
    pub(crate) fn newest(&self, key: K::Probe<'_>) -> Option<V> {
        self.index.index.get_with(key, |version| version.newest_value().cloned()).flatten()
    }

    /// Returns whether a commit after this number wrote a key, in which the caller has found a value, or
    /// none. A key without any version had a value only if it was removed and pruned.
    pub(super) fn has_changed_since(&self, key: K::Probe<'_>, number: u64, had_value: bool) -> bool {
        let index = &self.index.index;
        index.get_with(key, |version| version.has_changed_since(number)).unwrap_or(had_value)
    }

    /// Keeps what was written, before the commit is published.
    pub(crate) fn keep(mut self) {
        self.written.clear();
        self.index.keys.add(self.inserted);
        self.index.keys.subtract(self.removed);
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> Drop for Part<'_, K, V> {
    fn drop(&mut self) {
        for key in &self.written {
            let index = &self.index.index;
            if index.get_with(key.probe(), |version| version.abandon(self.number)) == Some(true) {
                index.remove(key.probe());
            }
        }
    }
}
