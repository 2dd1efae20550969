//! Transactions: reads of one moment, and a commit that takes place only if they still hold.
//!
//! A transaction reads from a snapshot and collects its writes. Its commit, while no other one is under way,
//! looks whether a later commit has written a key or into a range that the transaction has read. If not, the
//! reads would give the same answers now, so the transaction is equivalent to one that runs at the moment of
//! its commit, alone. This is the validation of OLFIT's Section 5.4, for keys in place of nodes.

use super::batch::{WriteBatch, owned};
use super::commit::Commit;
use super::snapshot::Snapshot;
use super::version::Version;
use super::versioned::VersionedIndex;
use crate::KeyFor;
use crate::blink::Conflicts;
use core::fmt;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::error::{Error, Result};
use latchless_core::base::index_value::IndexValue;
use std::collections::BTreeMap;

/// The reason why a transaction wasn't committed. The index is then unchanged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CommitError<K> {
    /// A later commit has written this key, which the transaction has read by name or in a range.
    #[error("another commit has changed a key that the transaction has read")]
    Conflict {
        /// The key.
        key: K,
    },
    /// The index refused the changes.
    #[error(transparent)]
    Index(#[from] Error),
}

/// A transaction of a [`VersionedIndex`]: see [`VersionedIndex::begin`].
pub struct Transaction<'i, K: KeyFor<Version<V>>, V: IndexValue> {
    snapshot: Snapshot<K, V, &'i VersionedIndex<K, V>>,
    read: Vec<K>,
    ranges: Vec<(Bound<K>, Bound<K>)>,
    writes: BTreeMap<K, Option<V>>,
}

impl<K: KeyFor<Version<V>> + Ord, V: IndexValue> VersionedIndex<K, V> {
    /// Begins a transaction: it reads the newest commit and its own writes, and changes the index when it is
    /// committed, if no other commit has changed what it has read. One that is dropped changes nothing.
    ///
    /// ```
    /// use latchless::versions::{CommitError, VersionedIndex};
    ///
    /// let accounts = VersionedIndex::<String, i64>::try_from_iter([
    ///     ("Ada".to_owned(), 100),
    ///     ("Bob".to_owned(), 20),
    /// ])?;
    /// let mut transfer = accounts.begin();
    /// let (ada, bob) = (transfer.get("Ada").unwrap(), transfer.get("Bob").unwrap());
    /// transfer.insert("Ada", ada - 30).insert("Bob", bob + 30);
    /// accounts.insert("Bob", 0)?;
    /// let conflict = transfer.commit();
    /// assert_eq!(conflict, Err(CommitError::Conflict { key: "Bob".to_owned() }));
    /// assert_eq!(accounts.get("Ada"), Some(100));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn begin(&self) -> Transaction<'_, K, V> {
        Transaction {
            snapshot: self.snapshot(),
            read: Vec::new(),
            ranges: Vec::new(),
            writes: BTreeMap::new(),
        }
    }

    /// Runs a transaction again and again until it is committed without a conflict, and returns the result
    /// of `run`. An error of `run` ends it, and nothing is changed. Of transactions that conflict one is
    /// always committed. `run` must not write past the transaction what it has read: that is a conflict
    /// each time, which ends like a closure that changes its own key: see [races](crate::index#races).
    ///
    /// # Errors
    /// That of `run`, or of the index. [`Error::ClosureChangesItsKey`].
    ///
    /// ```
    /// use latchless::{Error, versions::VersionedIndex};
    ///
    /// let counts = VersionedIndex::<u64, u64>::new()?;
    /// std::thread::scope(|scope| {
    ///     for _ in 0..2 {
    ///         scope.spawn(|| {
    ///             for _ in 0..100 {
    ///                 counts
    ///                     .transact(|count| {
    ///                         let next = count.get(7).unwrap_or(0) + 1;
    ///                         count.insert(7, next);
    ///                         Ok::<_, Error>(())
    ///                     })
    ///                     .unwrap();
    ///             }
    ///         });
    ///     }
    /// });
    /// assert_eq!(counts.get(7), Some(200));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn transact<R, E: From<Error>>(
        &self,
        mut run: impl FnMut(&mut Transaction<'_, K, V>) -> Result<R, E>,
    ) -> Result<R, E> {
        self.until_committed(|| {
            let mut transaction = self.begin();
            let result = run(&mut transaction)?;
            match transaction.commit() {
                Ok(_) => Ok(Ok(result)),
                Err(CommitError::Conflict { key }) => Ok(Err(key)),
                Err(CommitError::Index(error)) => Err(error.into()),
            }
        })?
    }

    /// Calls `attempt` again and again until it is committed or refused, and returns its result, or that it
    /// writes the key past itself that it conflicts at. It returns that key as the inner error.
    #[doc(hidden)]
    pub fn until_committed<R, E>(
        &self,
        mut attempt: impl FnMut() -> Result<Result<R, K>, E>,
    ) -> Result<Result<R, E>> {
        let mut conflicts = Conflicts::default();
        loop {
            match attempt() {
                Ok(Ok(result)) => return Ok(Ok(result)),
                Ok(Err(key)) => conflicts.failed(self.tries(key.probe()))?,
                Err(error) => return Ok(Err(error)),
            }
        }
    }
}

impl<'i, K: KeyFor<Version<V>> + Ord, V: IndexValue> Transaction<'i, K, V> {
    /// Returns the number of the commit that the transaction reads.
    pub fn number(&self) -> u64 {
        self.snapshot.number()
    }

    /// Returns the value of a key: the one that the transaction has written, or the one at its begin.
    pub fn get(&mut self, key: K::Probe<'_>) -> Option<V> {
        let key = K::own(key);
        if let Some(written) = self.writes.get(&key) {
            return written.clone();
        }
        let value = self.snapshot.get(key.probe());
        self.read.push(key);
        value
    }

    /// Returns the entries of a range, with the transaction's own writes. All keys of the range count as
    /// read, those that aren't there included: a key that another commit inserts into it is a conflict.
    /// O(m) for m entries.
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// let index = VersionedIndex::<u64, u64>::try_from_iter([(1, 10), (3, 30), (5, 50)])?;
    /// let mut transaction = index.begin();
    /// transaction.insert(2, 20).remove(3);
    /// assert_eq!(transaction.range(1..=4), [(1, 10), (2, 20)]);
    /// index.insert(4, 40)?;
    /// assert!(transaction.commit().is_err());
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn range<'q>(&mut self, range: impl RangeBounds<K::Probe<'q>>) -> Vec<(K, V)> {
        let (low, high) = owned::<K>(&range);
        if is_empty(&low, &high) {
            return Vec::new();
        }
        let there = self.snapshot.range(range).filter(|(key, _)| !self.writes.contains_key(key));
        let mut entries: Vec<(K, V)> = there.collect();
        let written = self.writes.range((low.as_ref(), high.as_ref()));
        entries.extend(written.filter_map(|(key, value)| Some((K::own(key.probe()), value.clone()?))));
        entries.sort_by(|left, right| left.0.cmp(&right.0));
        self.ranges.push((low, high));
        entries
    }

    /// Inserts an entry.
    pub fn insert(&mut self, key: K::Probe<'_>, value: V::Given<'_>) -> &mut Self {
        self.writes.insert(K::own(key), Some(V::given(value)));
        self
    }

    /// Removes a key.
    pub fn remove(&mut self, key: K::Probe<'_>) -> &mut Self {
        self.writes.insert(K::own(key), None);
        self
    }

    /// Makes the changes, and returns the number of the commit. A transaction without changes has read one
    /// moment, so it never conflicts, and has the number of that.
    ///
    /// # Errors
    /// [`CommitError::Conflict`] if a later commit has written what the transaction has read, or that of the
    /// index. The index is then unchanged.
    pub fn commit(self) -> Result<u64, CommitError<K>> {
        if self.writes.is_empty() {
            return Ok(self.number());
        }
        Ok(self.prepare()?.publish())
    }

    /// Returns the keys that the transaction writes, ascending, and their new values.
    pub fn writes(&self) -> impl Iterator<Item = (&K, Option<&V>)> {
        self.writes.iter().map(|(key, value)| (key, value.as_ref()))
    }

    /// Makes the changes as a commit that isn't published yet, even if there are none.
    ///
    /// # Errors
    /// Those of [`Transaction::commit`].
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// let index = VersionedIndex::<u64, u64>::new()?;
    /// let mut transaction = index.begin();
    /// transaction.insert(7, 70);
    /// let commit = transaction.prepare().unwrap(); // No conflict.
    /// assert_eq!(index.get(7), None);
    /// commit.publish();
    /// assert_eq!(index.get(7), Some(70));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn prepare(self) -> Result<Commit<'i, K, V>, CommitError<K>> {
        let mut commit = self.snapshot.index().begin_commit();
        if let Some(key) = self.conflict(&commit) {
            return Err(CommitError::Conflict { key });
        }
        let mut batch = WriteBatch::new();
        for (key, value) in self.writes {
            batch.put(key, value);
        }
        commit.write_all(batch)?;
        Ok(commit)
    }

    /// Returns a key that the transaction has read and a later commit has written.
    fn conflict(&self, commit: &Commit<'_, K, V>) -> Option<K> {
        let (index, number) = (self.snapshot.index(), self.number());
        // The snapshot keeps a version of each key that had a value.
        let key = self.read.iter().find(|key| commit.has_changed_since(key.probe(), number, false));
        let key = key.map(|key| K::own(key.probe()));
        key.or_else(|| self.ranges.iter().find_map(|range| index.changed_in(range, number)))
    }
}

/// Whether a range ends before it starts, or excludes its only key. `BTreeMap` refuses some of these.
fn is_empty<K: Ord>(low: &Bound<K>, high: &Bound<K>) -> bool {
    use Bound::{Excluded, Included, Unbounded};
    match (low, high) {
        (Unbounded, _) | (_, Unbounded) => false,
        (Included(low), Included(high)) => low > high,
        (Included(low) | Excluded(low), Included(high) | Excluded(high)) => low >= high,
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> fmt::Debug for Transaction<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction")
            .field("number", &self.snapshot.number())
            .field("writes", &self.writes.len())
            .finish_non_exhaustive()
    }
}
