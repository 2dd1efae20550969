//! A durable index of numbers.

use crate::columns::{self, Columns, Plain};
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::reader::Reader;
use crate::reading::ReadOnly;
use crate::record::{Draft, ENTRIES_MAX};
use crate::recover::{DamagedTail, Found, Recovery};
use crate::saver::{Saver, SnapshotPolicy};
use crate::stripes::Set;
use latchless::snapshot::Native;
use latchless::{Index, Key, Value};
use std::ops::Bound::{Excluded, Included};
use std::ops::RangeBounds;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// When a change is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SyncMode {
    /// Before the operation returns. Threads that wait at the same time share one wait.
    #[default]
    Each,
    /// A background thread syncs within this interval.
    Every(Duration),
    /// When the system pleases, or at [`DurableIndex::sync`].
    Never,
}

/// How a folder is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// When changes are on the disk.
    pub sync: SyncMode,
    /// See [`Opening::fenced`].
    pub fenced: bool,
    /// How to treat damage in the last log.
    pub damaged_tail: DamagedTail,
    /// When a snapshot is taken that shortens the log.
    pub snapshots: SnapshotPolicy,
    /// The index's own: its memory limit, its pages.
    pub index: latchless::index::Options,
}

/// How a folder that was found is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct Opening {
    /// When changes are on the disk.
    pub sync: SyncMode,
    /// Whether a later opening takes the folder over from this one. The folder's lock excludes a second
    /// process as long as the system keeps the lock. A network file system may lose it while the machine
    /// that held it is cut off and still writes. A fenced opening begins a log of its own, with the next
    /// number, before it reads the earlier ones; and a change returns only after a check that no later log
    /// has been begun. So everything that an index acknowledged before it was taken over is in the index
    /// that took over. Its later changes fail with [`Error::Fenced`]; each of them is lost, or kept like a
    /// change that was under way. Each change looks up a name in the file system, which takes about a
    /// microsecond locally. All openings of a folder must be fenced for that, on a file system that shows a
    /// new name to all machines at once.
    pub fenced: bool,
    /// How to treat damage in the last log.
    pub damaged_tail: DamagedTail,
    /// When a snapshot is taken that shortens the log.
    pub snapshots: SnapshotPolicy,
}

impl From<Options> for Opening {
    fn from(Options { sync, fenced, damaged_tail, snapshots, .. }: Options) -> Self {
        Self { sync, fenced, damaged_tail, snapshots }
    }
}

/// An [`Index`] in memory with a redo log in a folder. See the [crate's head](crate).
///
/// All operations take `&self` and may be called from any thread. Reads cost what the index's own do. A
/// change writes its record (about a microsecond), changes the index, and waits for the disk if the options
/// say so.
#[derive(Debug)]
pub struct DurableIndex<K: Key, V: Value, C: Columns<K, V> = Plain> {
    /// The first that is dropped: its thread has a share of the others.
    pub(crate) saver: Saver,
    pub(crate) index: Arc<Index<K, V>>,
    pub(crate) columns: Arc<C>,
    pub(crate) journal: Arc<Journal>,
}

impl<K: Native, V: Native> DurableIndex<K, V> {
    /// Opens a folder, which is made if it isn't there, and returns the recovery's findings.
    ///
    /// # Errors
    /// [`Error::Locked`] if it is open elsewhere; [`Error::Damaged`], [`Error::Missing`],
    /// [`Error::OtherType`], [`Error::Version`] and [`Error::Snapshot`] if its files aren't intact;
    /// [`Error::Io`]; [`Error::Index`] if memory is refused. The files are then unchanged.
    pub fn open(folder: impl AsRef<Path>, options: Options) -> Result<(Self, Recovery)> {
        let found = Found::open(folder)?;
        found.recover(Index::with_options(options.index)?, Plain, options.into())
    }

    /// Reads the entries of a folder into an index in memory, which is then independent of the folder; also
    /// returns the recovery's findings. Nothing is written or locked: see [`ReadOnly`].
    ///
    /// # Errors
    /// Those of [`DurableIndex::open`], except that [`Error::Missing`] reports a folder without a durable
    /// index, and [`Error::Locked`] never occurs.
    ///
    /// ```
    /// use latchless_log::{DurableIndex, Options};
    ///
    /// # let folder = std::env::temp_dir().join(format!("latchless-log-read-{}", std::process::id()));
    /// let (prices, _) = DurableIndex::<u64, u64>::open(&folder, Options::default())?;
    /// prices.insert(101, 7)?;
    /// // Beside the index that is open:
    /// let (copy, _) = DurableIndex::<u64, u64>::read(&folder, Options::default().index)?;
    /// prices.insert(102, 8)?;
    /// assert_eq!((copy.get(101), copy.get(102)), (Some(7), None));
    /// # drop(prices);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(
        folder: impl AsRef<Path>,
        options: latchless::index::Options,
    ) -> Result<(Index<K, V>, Recovery)> {
        let index = Index::with_options(options)?;
        ReadOnly::open(folder)?.load(index, &Plain, DamagedTail::Refuse)
    }
}

impl<K: Key, V: Value, C: Columns<K, V>> DurableIndex<K, V, C> {
    /// The index, for reading: every operation that leaves it as it is.
    pub fn index(&self) -> Reader<'_, Index<K, V>> {
        Reader(&self.index)
    }

    /// The value of a key.
    pub fn get(&self, key: K) -> Option<V> {
        self.index.get(key)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The log's bytes since the last snapshot: the next start has to replay them.
    pub fn log_bytes(&self) -> u64 {
        self.journal.log_bytes()
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

    /// Returns when every change that returned before is on the disk.
    ///
    /// # Errors
    /// [`Error::Closed`] if the disk fails, or failed before.
    pub fn sync(&self) -> Result<()> {
        self.journal.sync()
    }

    /// The failure of the last snapshot that was due by [`SnapshotPolicy`], unless one was saved since.
    pub fn snapshot_failure(&self) -> Option<Arc<Error>> {
        self.journal.due().failure()
    }

    /// Saves a snapshot and removes the logs that it makes useless. Returns the number of its entries.
    /// Readers and writers go on; writers wait while a few bytes are synced twice. A second snapshot at the
    /// same time waits for the first.
    ///
    /// # Errors
    /// [`Error::Snapshot`], [`Error::Io`]: nothing is lost, and the logs so far are kept.
    pub fn snapshot(&self) -> Result<u64> {
        self.journal.snapshot(|out| columns::write(&self.index, out, &self.columns))
    }

    /// Waits until everything is on the disk, and releases the folder for other openings. Reads go on;
    /// changes and snapshots are refused from here on. Dropping the index does the same without reporting
    /// errors; under [`SyncMode::Never`] it doesn't wait.
    ///
    /// # Errors
    /// [`Error::Closed`]: not everything is on the disk. [`Error::NotShortened`]: everything is, but the
    /// last snapshot that was due failed. The folder is unlocked in either case. [`Error::Forked`].
    pub fn close(&self) -> Result<()> {
        self.saver.close()
    }

    /// For a fork of the process that opened the index: gives up this process's share of the folder's lock,
    /// so that it ends with the process that opened the folder. In that process it does nothing.
    pub fn forsake(&self) {
        self.journal.forsake();
    }
}
