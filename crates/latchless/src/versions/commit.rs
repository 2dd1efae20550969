//! One commit: the versions that it writes have its number, which becomes visible when all are there.

use super::batch::{Change, WriteBatch};
use super::clock::Turn;
use super::part::Part;
use super::version::Version;
use super::versioned::VersionedIndex;
use crate::KeyFor;
use core::fmt;
use core::ops::Bound::{Excluded, Unbounded};
use core::ops::ControlFlow::{Break, Continue};
use latchless_core::base::error::{Error, Result};
use latchless_core::base::index_value::IndexValue;

/// Keys that one commit removes where a whole index is looked through.
const TOGETHER: usize = 256;

/// A commit under way, from [`VersionedIndex::begin_commit`] or [`Transaction::prepare`]: others wait for it.
/// What it writes is seen once it is [published](Commit::publish). One that is dropped before that, by an
/// error or a panic of a value's `clone`, abandons what it has written; that needs no memory.
///
/// So a program can do something between the last change that may be refused and the moment from which on
/// others see the commit: write it to a log, or commit elsewhere, too.
///
/// ```
/// use latchless::versions::VersionedIndex;
///
/// let index = VersionedIndex::<u64, u64>::try_from_iter([(7, 70)])?;
/// let mut commit = index.begin_commit();
/// assert_eq!(commit.insert(7, 71)?, Some(70));
/// assert_eq!((commit.number(), index.get(7)), (1, Some(70)));
/// commit.publish();
/// assert_eq!(index.get(7), Some(71));
///
/// index.begin_commit().remove(7)?; // Dropped: nothing has happened.
/// assert_eq!((index.get(7), index.newest()), (Some(71), 1));
/// # Ok::<(), latchless::Error>(())
/// ```
///
/// [`Transaction::prepare`]: super::Transaction::prepare
#[must_use = "a commit that is dropped changes nothing"]
pub struct Commit<'i, K: KeyFor<Version<V>>, V: IndexValue> {
    /// Dropped before the turn ends.
    part: Part<'i, K, V>,
    turn: Turn<'i>,
}

impl<'i, K: KeyFor<Version<V>>, V: IndexValue> Commit<'i, K, V> {
    /// Waits until no other commit is under way.
    pub(super) fn begin(index: &'i VersionedIndex<K, V>) -> Self {
        let turn = index.clock.begin();
        Self { part: Part::new(index, &turn), turn }
    }

    /// Changes one key and publishes that.
    pub(super) fn write_one(mut self, key: K::Probe<'_>, value: Option<V>) -> Result<Option<V>> {
        let is_removal = value.is_none();
        let before = self.part.put(key, value)?;
        if !is_removal || before.is_some() {
            self.publish();
        }
        Ok(before)
    }

    /// Returns the number that the commit has once it is published.
    pub fn number(&self) -> u64 {
        self.turn.number
    }

    /// Writes an entry, and returns the value that it replaces.
    ///
    /// # Errors
    /// Those of [`Index::insert`](crate::Index::insert); what was written before stays written.
    pub fn insert(&mut self, key: K::Probe<'_>, value: V::Given<'_>) -> Result<Option<V>> {
        self.part.write(K::own(key), Some(V::given(value)))
    }

    /// Removes a key, and returns its value.
    ///
    /// # Errors
    /// Those of [`Commit::insert`].
    pub fn remove(&mut self, key: K::Probe<'_>) -> Result<Option<V>> {
        self.part.write(K::own(key), None)
    }

    /// Makes the changes of a batch.
    ///
    /// # Errors
    /// Those of [`Commit::insert`]; of the batch the changes before the one that is refused are made.
    pub fn write_all(&mut self, batch: WriteBatch<K, V>) -> Result<()> {
        for change in batch.changes {
            match change {
                Change::Put(key, value) => drop(self.part.write(key, value)?),
                Change::RemoveRange(low, high) => self.part.remove_range(&low, &high)?,
            }
        }
        Ok(())
    }

    /// Returns whether a commit after this number wrote a key, in which the caller has found a value, or
    /// none.
    pub(super) fn has_changed_since(&self, key: K::Probe<'_>, number: u64, had_value: bool) -> bool {
        self.part.has_changed_since(key, number, had_value)
    }

    /// Lets readers see the commit, and returns its number.
    pub fn publish(self) -> u64 {
        self.part.keep();
        self.turn.publish()
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> fmt::Debug for Commit<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commit").field("number", &self.number()).finish_non_exhaustive()
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> VersionedIndex<K, V> {
    /// Waits until no commit is under way, and begins one: see [`Commit`]. A thread that has begun one must
    /// not begin another before it has published or dropped that.
    pub fn begin_commit(&self) -> Commit<'_, K, V> {
        Commit::begin(self)
    }

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
    pub fn retain(&self, keep: impl FnMut(K::Probe<'_>, V::Lent<'_>) -> bool) -> Result<usize> {
        self.retain_by(keep, |commit, _| {
            commit.publish();
            Ok(())
        })
    }

    /// The same, where `publish` publishes each commit, which removes these keys.
    #[doc(hidden)]
    pub fn retain_by<E: From<Error>>(
        &self,
        mut keep: impl FnMut(K::Probe<'_>, V::Lent<'_>) -> bool,
        mut publish: impl FnMut(Commit<'_, K, V>, &[K]) -> Result<(), E>,
    ) -> Result<usize, E> {
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
            last = keys.last().map(|key| K::own(key.probe()));
            let mut commit = Commit::begin(self);
            keys.retain(|key| !commit.has_changed_since(key.probe(), snapshot.number(), true));
            for key in &keys {
                commit.part.write(K::own(key.probe()), None)?;
            }
            if !keys.is_empty() {
                publish(commit, &keys)?;
                removed += keys.len();
            }
            if seen.is_continue() {
                return Ok(removed);
            }
        }
    }

    /// Makes the changes of a batch: all or none, for every reader. Returns the number of the commit. Of two
    /// changes of one key the later one counts. O(m log n) for m keys.
    ///
    /// # Errors
    /// Those of [`Index::insert`](crate::Index::insert); the index is then unchanged.
    pub fn commit(&self, batch: WriteBatch<K, V>) -> Result<u64> {
        let mut commit = Commit::begin(self);
        commit.write_all(batch)?;
        Ok(commit.publish())
    }
}
