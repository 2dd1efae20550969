//! An index with a redo log, whichever its keys are: what it keeps, and how it is saved and closed.

use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::kept::Kept;
use crate::saver::{Saver, Share};
use latchless::{FillFactor, Reader};
use std::fmt;
use std::sync::Arc;

/// An index in memory with a redo log in a folder. See the [crate's head](crate). `I` is the index:
/// [`DurableIndex`](crate::DurableIndex), [`DurableBytesIndex`](crate::DurableBytesIndex),
/// [`DurableMultiIndex`](crate::DurableMultiIndex),
/// [`DurableVersionedIndex`](crate::DurableVersionedIndex) and [`DurableTable`](crate::DurableTable) are names
/// of this type for its kinds. `C` is the [`Columns`](crate::Columns) of numbers.
///
/// All operations take `&self` and may be called from any thread. Reads cost what the index's own do. A
/// change writes its record (about a microsecond), changes the index, and waits for the disk if the options
/// say so.
pub struct Durable<I, C = ()> {
    /// The first that is dropped: its thread has a share of the others.
    pub(crate) saver: Saver,
    pub(crate) share: Arc<Share<I>>,
    pub(crate) index: Arc<I>,
    pub(crate) columns: Arc<C>,
    pub(crate) journal: Arc<Journal>,
}

impl<I, C> fmt::Debug for Durable<I, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Durable").field("journal", &self.journal).finish_non_exhaustive()
    }
}

impl<I: Kept<C>, C> Durable<I, C> {
    /// The index, for reading: every operation that leaves it as it is.
    pub fn index(&self) -> &Reader<I> {
        Reader::of(&self.index)
    }

    /// How many entries there are; in an index of rows, pairs.
    pub fn len(&self) -> usize {
        self.index.entries()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The log's bytes since the last snapshot: the next start has to replay them.
    pub fn log_bytes(&self) -> u64 {
        self.journal.log_bytes()
    }

    /// Returns when every change that returned before is on the disk.
    ///
    /// # Errors
    /// [`Error::Closed`] if the disk fails, or failed before.
    pub fn sync(&self) -> Result<()> {
        self.journal.sync()
    }

    /// The failure of the last snapshot that was due by [`SnapshotPolicy`](crate::SnapshotPolicy), unless one
    /// was saved since.
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
        self.journal.snapshot(|out| self.index.write(&self.columns, out))
    }

    /// Moves all entries to new nodes, each filled to this degree, and returns the memory of the old ones to
    /// the system: after many removals. The log is unchanged. Waits for a snapshot that is being saved. See
    /// [`Index::shrink`](latchless::Index::shrink).
    ///
    /// # Errors
    /// [`Error::Index`], [`Error::Shared`]. Nothing has changed then.
    ///
    /// ```
    /// # use latchless_log::{DurableIndex, Options};
    /// use latchless::FillFactor;
    ///
    /// # let folder = std::env::temp_dir().join(format!("latchless-log-shrunk-{}", std::process::id()));
    /// let (mut prices, _) = DurableIndex::<u64, u64>::open(&folder, Options::default())?;
    /// prices.insert_many(&(0..10_000).map(|key| (key, 7)).collect::<Vec<_>>())?;
    /// let full = prices.index().memory_bytes();
    /// prices.remove_range(100..)?;
    /// prices.shrink(FillFactor::default())?;
    /// assert!(prices.index().memory_bytes() < full / 2);
    /// # drop(prices);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        let shrunk = self.share.apart(&mut self.index, |index| I::shrink(index, fill));
        shrunk.ok_or(Error::Shared)?
    }

    /// Waits until everything is on the disk, and releases the folder for other openings. Reads go on;
    /// changes and snapshots are refused from here on. Dropping the index does the same without reporting
    /// errors; under [`SyncMode::Never`](crate::SyncMode::Never) it doesn't wait.
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
