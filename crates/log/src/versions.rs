//! A durable index that keeps versions.

use crate::commits::{Change, draft};
use crate::durable::Durable;
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::record::Draft;
use latchless::bytes::Lent;
use latchless::snapshot::SavedValue;
use latchless::versions::{self, Commit, Pruned, Snapshot, Version, VersionedIndex, View, WriteBatch};
use latchless::{BytesKey, IndexValue, KeyFor};
use std::fmt;
use std::ops::RangeBounds;
use std::sync::Arc;

/// A [`VersionedIndex`] in memory with a redo log in a folder. Each commit, a batch or a transaction as well
/// as a single change, is one record: after a crash it is there as a whole or not at all, and with all
/// commits before it. The promises of the [crate's head](crate) hold here.
///
/// ```
/// use latchless::versions::WriteBatch;
/// use latchless_log::{DurableVersionedIndex, Options};
///
/// # let folder = std::env::temp_dir().join(format!("latchless-log-versions-{}", std::process::id()));
/// let (accounts, _) = DurableVersionedIndex::<String, i64>::open(&folder, Options::default())?;
/// let mut opening = WriteBatch::new();
/// opening.insert("Ada", 100).insert("Bob", 20);
/// assert_eq!(accounts.commit(opening)?, 1); // is on the disk when this returns
///
/// accounts.transact(|transfer| {
///     let (ada, bob) = (transfer.get("Ada").unwrap_or(0), transfer.get("Bob").unwrap_or(0));
///     transfer.insert("Ada", ada - 30).insert("Bob", bob + 30);
///     Ok::<_, latchless_log::Error>(())
/// })?;
/// drop(accounts);
///
/// let (accounts, recovery) = DurableVersionedIndex::<String, i64>::open(&folder, Options::default())?;
/// assert_eq!((accounts.index().newest(), recovery.records), (2, 2));
/// let view = accounts.index().snapshot(); // one moment, whatever is committed meanwhile
/// accounts.insert("Ada", 0)?;
/// assert_eq!((view.get("Ada"), view.get("Bob")), (Some(70), Some(50)));
/// # drop(view);
/// # drop(accounts);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Numbers and versions after an opening
/// A commit has the same number again, and the next one follows. Snapshot files have the newest versions
/// alone. So [`snapshot_at`](latchless::Reader::snapshot_at) reads, after an opening,
///
/// | retention | numbers |
/// |---|---|
/// | [`Snapshots`](versions::Retention::Snapshots), the default | the newest |
/// | [`All`](versions::Retention::All) | all from the commit on that the newest snapshot file has |
///
/// What [`prune`](Durable::prune) has dropped since that file may be there again. The retention isn't saved:
/// it is that of the index given to [`Found::recover`](crate::Found::recover).
///
/// ```
/// use latchless::versions::{Retention, VersionedIndex};
/// use latchless_log::{Found, Opening};
///
/// # let folder = std::env::temp_dir().join(format!("latchless-log-all-versions-{}", std::process::id()));
/// for start in [0, 3] {
///     let index = VersionedIndex::<u64, u64>::with_options(Default::default(), Retention::All)?;
///     let (table, _) = Found::open(&folder)?.recover(index, (), Opening::default())?;
///     assert_eq!(table.index().newest(), start);
///     for version in start + 1..=start + 3 {
///         table.insert(7, version)?;
///     }
///     assert_eq!(table.index().snapshot_at(2)?.get(7), Some(2));
/// }
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Limits
/// A commit has at most 1 GiB of keys and values; a larger one is refused with
/// [`Error::CommitTooLong`] and changes nothing.
pub type DurableVersionedIndex<K, V> = Durable<VersionedIndex<K, V>>;

/// Logs a commit that the index has accepted, publishes it, and returns its number when it may be
/// acknowledged.
fn publish<K, V>(journal: &Journal, commit: Commit<'_, K, V>, draft: Draft) -> Result<u64>
where
    K: KeyFor<Version<V>>,
    V: SavedValue,
{
    let number = commit.number();
    journal.commit(number, draft, || commit.publish())?;
    Ok(number)
}

impl<K: KeyFor<Version<V>> + BytesKey, V: SavedValue> DurableVersionedIndex<K, V> {
    /// Returns a snapshot of the newest commit that owns the index: see [`VersionedIndex::snapshot_owned`].
    pub fn snapshot_owned(&self) -> Snapshot<K, V, View<Arc<VersionedIndex<K, V>>>> {
        Snapshot::newest(View::of(self.index.clone()))
    }

    /// Inserts an entry, as a commit of its own, and returns the value that it replaces.
    ///
    /// # Errors
    /// [`Error::Index`]: the index is unchanged, now and after a recovery. [`Error::Closed`],
    /// [`Error::Ended`], [`Error::Forked`], [`Error::Fenced`], [`Error::Io`], [`Error::Snapshot`].
    pub fn insert(&self, key: K::Probe<'_>, value: Lent<'_, V>) -> Result<Option<V>> {
        self.write_one(K::own(key), Some(V::given(value)))
    }

    /// Removes a key, as a commit of its own, and returns its value. If the key has no value, there is no
    /// commit.
    ///
    /// # Errors
    /// Those of [`DurableVersionedIndex::insert`].
    pub fn remove(&self, key: K::Probe<'_>) -> Result<Option<V>> {
        self.write_one(K::own(key), None)
    }

    fn write_one(&self, key: K, value: Option<V>) -> Result<Option<V>> {
        self.journal.check_process()?;
        let draft = draft([Change::Put(&key, value.as_ref())], &self.journal);
        let mut commit = self.index.begin_commit();
        let before = match &value {
            Some(value) => commit.insert(key.probe(), value.lend())?,
            None => commit.remove(key.probe())?,
        };
        if value.is_none() && before.is_none() {
            drop(commit);
            // A key that is too long isn't there either.
            return self.journal.unchanged(None);
        }
        publish(&self.journal, commit, draft?)?;
        Ok(before)
    }

    /// Makes the changes of a batch, all or none, for every reader and after a crash. Returns the number of
    /// the commit. See [`VersionedIndex::commit`].
    ///
    /// # Errors
    /// Those of [`DurableVersionedIndex::insert`]; [`Error::CommitTooLong`].
    pub fn commit(&self, batch: WriteBatch<K, V>) -> Result<u64> {
        self.journal.check_process()?;
        let changes = batch.changes().iter().map(Change::from);
        let draft = draft(changes, &self.journal)?;
        let mut commit = self.index.begin_commit();
        commit.write_all(batch)?;
        publish(&self.journal, commit, draft)
    }

    /// Removes all keys whose newest value a closure doesn't keep, such as those that have expired, and
    /// returns their number: see [`VersionedIndex::retain`]. Each commit of some hundred removals is one
    /// record.
    ///
    /// # Errors
    /// Those of [`DurableVersionedIndex::commit`]; what was removed until then stays so.
    ///
    /// ```
    /// # use latchless_log::{DurableVersionedIndex, Options};
    /// # let folder = std::env::temp_dir().join(format!("latchless-log-retain-{}", std::process::id()));
    /// let (sessions, _) = DurableVersionedIndex::<String, u64>::open(&folder, Options::default())?;
    /// sessions.insert("ada", 150)?; // The value is the moment at which the session expires.
    /// sessions.insert("bob", 90)?;
    /// assert_eq!(sessions.retain(|_, expires| expires >= 100)?, 1);
    /// sessions.prune()?; // The memory, as soon as no snapshot is older.
    /// assert_eq!((sessions.index().get("ada"), sessions.index().get("bob")), (Some(150), None));
    /// # drop(sessions);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn retain(&self, keep: impl FnMut(K::Probe<'_>, Lent<'_, V>) -> bool) -> Result<usize> {
        self.journal.check_process()?;
        let removed = self.index.retain_by(keep, |commit, keys| {
            let draft = draft(keys.iter().map(|key| Change::<K, V>::Put(key, None)), &self.journal)?;
            publish(&self.journal, commit, draft).map(|_| ())
        })?;
        self.journal.unchanged(removed)
    }

    /// Drops all versions that no snapshot can read any more: see [`VersionedIndex::prune`]. The log is
    /// unchanged.
    ///
    /// # Errors
    /// [`Error::Index`].
    pub fn prune(&self) -> Result<Pruned> {
        Ok(self.index.prune()?)
    }

    /// Drops all versions that neither a snapshot nor a reader at `number` or later needs: see
    /// [`VersionedIndex::prune_before`]. The log is unchanged.
    ///
    /// # Errors
    /// [`Error::Index`].
    pub fn prune_before(&self, number: u64) -> Result<Pruned> {
        Ok(self.index.prune_before(number)?)
    }
}

/// The reason why a transaction of a durable index wasn't committed.
#[derive(Debug, thiserror::Error)]
pub enum CommitError<K> {
    /// A later commit has written this key, which the transaction has read by name or in a range. Nothing is
    /// changed.
    #[error("another commit has changed a key that the transaction has read")]
    Conflict {
        /// The key.
        key: K,
    },
    /// The index or the log refused it.
    #[error(transparent)]
    Refused(#[from] Error),
}

/// A transaction of a [`DurableVersionedIndex`]: see [`versions::Transaction`].
pub struct Transaction<'i, K: KeyFor<Version<V>>, V: SavedValue> {
    inner: versions::Transaction<'i, K, V>,
    journal: &'i Journal,
}

impl<K: KeyFor<Version<V>> + BytesKey + Ord, V: SavedValue> DurableVersionedIndex<K, V> {
    /// Begins a transaction: see [`VersionedIndex::begin`].
    pub fn begin(&self) -> Transaction<'_, K, V> {
        Transaction { inner: self.index.begin(), journal: &self.journal }
    }

    /// Runs a transaction again and again until it is committed without a conflict, and returns the result of
    /// `run`: see [`VersionedIndex::transact`].
    ///
    /// # Errors
    /// That of `run`; those of [`DurableVersionedIndex::commit`].
    pub fn transact<R, E: From<Error>>(
        &self,
        mut run: impl FnMut(&mut Transaction<'_, K, V>) -> Result<R, E>,
    ) -> Result<R, E> {
        let done = self.index.until_committed(|| {
            let mut transaction = self.begin();
            let result = run(&mut transaction)?;
            match transaction.commit() {
                Ok(_) => Ok(Ok(result)),
                Err(CommitError::Conflict { key }) => Ok(Err(key)),
                Err(CommitError::Refused(error)) => Err(error.into()),
            }
        });
        done.map_err(Error::from)?
    }

    /// Sets a key to the result of a closure, as a commit of its own, and returns the value before: see
    /// [`VersionedIndex::upsert`].
    ///
    /// # Errors
    /// Those of [`DurableVersionedIndex::insert`].
    pub fn upsert(
        &self,
        key: K::Probe<'_>,
        mut change: impl FnMut(Option<Lent<'_, V>>) -> V,
    ) -> Result<Option<V>> {
        self.transact(|transaction| {
            let before = transaction.get(key);
            let value = change(before.as_ref().map(IndexValue::lend));
            transaction.insert(key, value.lend());
            Ok(before)
        })
    }
}

impl<K: KeyFor<Version<V>> + BytesKey + Ord, V: SavedValue> Transaction<'_, K, V> {
    /// Returns the number of the commit that the transaction reads. See [`versions::Transaction::number`].
    pub fn number(&self) -> u64 {
        self.inner.number()
    }

    /// Returns the value of a key, its own write included. See [`versions::Transaction::get`].
    pub fn get(&mut self, key: K::Probe<'_>) -> Option<V> {
        self.inner.get(key)
    }

    /// Returns the entries of a range, with its own writes. See [`versions::Transaction::range`].
    pub fn range<'q>(&mut self, range: impl RangeBounds<K::Probe<'q>>) -> Vec<(K, V)> {
        self.inner.range(range)
    }

    /// Sets the value of a key at the commit. See [`versions::Transaction::insert`].
    pub fn insert(&mut self, key: K::Probe<'_>, value: Lent<'_, V>) -> &mut Self {
        self.inner.insert(key, value);
        self
    }

    /// Removes a key at the commit. See [`versions::Transaction::remove`].
    pub fn remove(&mut self, key: K::Probe<'_>) -> &mut Self {
        self.inner.remove(key);
        self
    }

    /// Makes the changes, and returns the number of the commit when it may be acknowledged: see
    /// [`versions::Transaction::commit`]. So are a transaction without changes and a conflict: what they have
    /// read is on the disk then, if the options say so.
    ///
    /// # Errors
    /// [`CommitError::Conflict`]; those of [`DurableVersionedIndex::commit`].
    pub fn commit(self) -> Result<u64, CommitError<K>> {
        let (journal, number) = (self.journal, self.inner.number());
        journal.check_process()?;
        let changes = self.inner.writes().map(|(key, value)| Change::Put(key, value));
        let mut changes = changes.peekable();
        if changes.peek().is_none() {
            return Ok(journal.unchanged(number)?);
        }
        let draft = draft(changes, journal)?;
        match self.inner.prepare() {
            Ok(commit) => Ok(publish(journal, commit, draft)?),
            Err(versions::CommitError::Conflict { key }) => {
                journal.unchanged(())?;
                Err(CommitError::Conflict { key })
            }
            Err(versions::CommitError::Index(error)) => Err(Error::from(error).into()),
        }
    }
}

impl<K: KeyFor<Version<V>>, V: SavedValue> fmt::Debug for Transaction<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
