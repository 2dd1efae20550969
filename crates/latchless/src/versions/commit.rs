//! One commit: the versions that it writes have its number, which becomes visible when all are there.

use super::batch::{Change, WriteBatch};
use super::version::Version;
use super::versioned::{Retention, VersionedIndex};
use crate::KeyFor;
use core::ops::Bound::{self, Excluded, Unbounded};
use core::ops::ControlFlow::{Break, Continue};
use latchless_core::base::error::Result;
use latchless_core::base::index_value::IndexValue;
use std::sync::MutexGuard;

/// Keys that one commit removes where a whole index is looked through.
const TOGETHER: usize = 256;

/// The commit that holds the lock of all commits. One that is dropped before it is published, by an error or
/// a panic of a value's `clone`, abandons what it has written; that needs no memory.
pub(super) struct Commit<'i, K: KeyFor<Version<V>>, V: IndexValue> {
    index: &'i VersionedIndex<K, V>,
    number: u64,
    /// The smallest number that a snapshot has or will have.
    horizon: u64,
    /// The keys that have a version of this commit.
    written: Vec<K>,
    inserted: usize,
    removed: usize,
    _held: MutexGuard<'i, ()>,
}

impl<'i, K: KeyFor<Version<V>>, V: IndexValue> Commit<'i, K, V> {
    /// Waits for the lock of commits.
    pub(super) fn begin(index: &'i VersionedIndex<K, V>) -> Self {
        let _held = index.commits.lock();
        let horizon = index.readers.horizon(index.retention == Retention::All);
        let number = index.newest() + 1;
        Self { index, number, horizon, written: Vec::new(), inserted: 0, removed: 0, _held }
    }

    /// Gives a key a version, unless it has no value and gets none, and returns the value before.
    fn put(&mut self, key: K::Probe<'_>, value: Option<V>) -> Result<Option<V>> {
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

    /// Changes one key and publishes that.
    pub(super) fn write_one(mut self, key: K::Probe<'_>, value: Option<V>) -> Result<Option<V>> {
        let is_removal = value.is_none();
        let before = self.put(key, value)?;
        if !is_removal || before.is_some() {
            self.publish();
        }
        Ok(before)
    }

    /// Makes the changes of a batch and publishes them.
    pub(super) fn write_all(mut self, batch: WriteBatch<K, V>) -> Result<u64> {
        for change in batch.changes {
            match change {
                Change::Put(key, value) => self.write(key, value)?,
                Change::RemoveRange(low, high) => self.remove_range(&low, &high)?,
            }
        }
        Ok(self.publish())
    }

    fn write(&mut self, key: K, value: Option<V>) -> Result<()> {
        self.put(key.probe(), value)?;
        self.written.push(key);
        Ok(())
    }

    fn remove_range(&mut self, low: &Bound<K>, high: &Bound<K>) -> Result<()> {
        let range = (low.as_ref().map(K::probe), high.as_ref().map(K::probe));
        let mut keys: Vec<K> = Vec::new();
        self.index.index.for_each(range, |key, version| {
            if version.newest_value().is_some() {
                keys.push(key);
            }
        });
        keys.into_iter().try_for_each(|key| self.write(key, None))
    }

    /// Returns whether a commit after this number wrote a key, in which the caller has found a value, or
    /// none. A key without any version had a value only if it was removed and pruned.
    pub(super) fn has_changed_since(&self, key: K::Probe<'_>, number: u64, had_value: bool) -> bool {
        let index = &self.index.index;
        index.get_with(key, |version| version.has_changed_since(number)).unwrap_or(had_value)
    }

    /// Lets readers see the commit, and returns its number.
    pub(super) fn publish(mut self) -> u64 {
        self.written.clear();
        self.index.keys.add(self.inserted);
        self.index.keys.subtract(self.removed);
        self.index.readers.publish(self.number);
        self.number
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> Drop for Commit<'_, K, V> {
    fn drop(&mut self) {
        for key in &self.written {
            let index = &self.index.index;
            if index.get_with(key.probe(), |version| version.abandon(self.number)) == Some(true) {
                index.remove(key.probe());
            }
        }
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> VersionedIndex<K, V> {
    /// Inserts an entry, as a commit of its own, and returns the value that it replaces. O(log n).
    ///
    /// # Errors
    /// Those of [`Index::insert`](crate::Index::insert); the index is then unchanged.
    pub fn insert(&self, key: K::Probe<'_>, value: V::Given<'_>) -> Result<Option<V>> {
        Commit::begin(self).write_one(key, Some(V::given(value)))
    }

    /// Removes a key, as a commit of its own, and returns its value. O(log n). If the key has no value,
    /// there is no commit.
    ///
    /// # Errors
    /// Those of [`Index::insert`](crate::Index::insert), as a removal is a version; the index is then
    /// unchanged.
    pub fn remove(&self, key: K::Probe<'_>) -> Result<Option<V>> {
        Commit::begin(self).write_one(key, None)
    }

    /// Sets a key to the result of a closure, as a commit of its own, and returns the value before. The
    /// closure gets the newest value, or `None`; it runs again if another commit writes the key meanwhile.
    /// It may use the index, but must not write its own key: see [races](crate::index#races). O(log n).
    ///
    /// # Errors
    /// Those of [`Index::insert`](crate::Index::insert); the index is then unchanged.
    /// [`Error::ClosureChangesItsKey`](crate::Error::ClosureChangesItsKey).
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// let counts = VersionedIndex::<String, u64>::new()?;
    /// for word in ["a", "b", "a"] {
    ///     counts.upsert(word, |count| count.unwrap_or(0) + 1)?;
    /// }
    /// assert_eq!((counts.get("a"), counts.get("b")), (Some(2), Some(1)));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn upsert(
        &self,
        key: K::Probe<'_>,
        mut change: impl FnMut(Option<V::Lent<'_>>) -> V,
    ) -> Result<Option<V>> {
        let mut tries = None;
        loop {
            let number = self.newest();
            // As in `get`, a number that is read after the key finds a version.
            let changed = self.index.get_with(key, |version| {
                version.value_at(self.newest()).map(|value| change(Some(value.lend())))
            });
            let (changed, had_value) = match changed.flatten() {
                Some(changed) => (changed, true),
                None => (change(None), false),
            };
            let commit = Commit::begin(self);
            if !commit.has_changed_since(key, number, had_value) {
                return commit.write_one(key, Some(changed));
            }
            drop(commit);
            tries.get_or_insert_with(|| self.index.tries(key)).failed()?;
        }
    }

    /// Removes all keys whose newest value a closure doesn't keep, such as those that have expired, and
    /// returns their number. A value that is committed meanwhile stays. O(n); each commit of it removes some
    /// hundred keys.
    ///
    /// # Errors
    /// Those of [`Index::insert`](crate::Index::insert); what was removed until then stays so.
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// let sessions = VersionedIndex::<u64, u64>::try_from_iter((0..1000).map(|user| (user, user / 10)))?;
    /// assert_eq!(sessions.retain(|_, expires| expires >= 20)?, 200);
    /// assert_eq!(sessions.snapshot().first(), Some((200, 20)));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn retain(&self, mut keep: impl FnMut(K::Probe<'_>, V::Lent<'_>) -> bool) -> Result<usize> {
        let snapshot = self.snapshot();
        let (mut last, mut removed): (Option<K>, usize) = (None, 0);
        loop {
            let from = last.as_ref().map_or(Unbounded, |last| Excluded(last.probe()));
            let mut keys = Vec::new();
            let seen = snapshot.scan((from, Unbounded), |key, value| {
                if !keep(key.probe(), value) {
                    keys.push(key);
                }
                if keys.len() < TOGETHER { Continue(()) } else { Break(()) }
            });
            let mut commit = Commit::begin(self);
            for key in &keys {
                if !commit.has_changed_since(key.probe(), snapshot.number(), true) {
                    commit.write(K::own(key.probe()), None)?;
                }
            }
            if commit.removed > 0 {
                removed += commit.removed;
                commit.publish();
            }
            if seen.is_continue() {
                return Ok(removed);
            }
            last = keys.pop();
        }
    }

    /// Makes the changes of a batch: all or none, for every reader. Returns the number of the commit. Of two
    /// changes of one key the later one counts. O(m log n) for m keys.
    ///
    /// # Errors
    /// Those of [`Index::insert`](crate::Index::insert); the index is then unchanged.
    pub fn commit(&self, batch: WriteBatch<K, V>) -> Result<u64> {
        Commit::begin(self).write_all(batch)
    }
}
