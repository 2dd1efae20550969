//! An index with a redo log, whichever its keys are: how it is opened, saved and closed.

use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::kept::{Kept, Usual};
use crate::reader::Reader;
use crate::reading::ReadOnly;
use crate::recover::{DamagedTail, Found, Recovery};
use crate::saver::{Saver, SnapshotPolicy};
use std::fmt;
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
    /// When the system pleases, or at [`Durable::sync`].
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

/// An index in memory with a redo log in a folder. See the [crate's head](crate). `I` is the index:
/// [`DurableIndex`](crate::DurableIndex), [`DurableBytesIndex`](crate::DurableBytesIndex) and
/// [`DurableMultiIndex`](crate::DurableMultiIndex) are names of this type for the three kinds, each with its
/// own changes. `C` is the [`Columns`](crate::Columns) of numbers.
///
/// All operations take `&self` and may be called from any thread. Reads cost what the index's own do. A
/// change writes its record (about a microsecond), changes the index, and waits for the disk if the options
/// say so.
pub struct Durable<I, C = ()> {
    /// The first that is dropped: its thread has a share of the others.
    pub(crate) saver: Saver,
    pub(crate) index: Arc<I>,
    pub(crate) columns: Arc<C>,
    pub(crate) journal: Arc<Journal>,
}

impl<I, C> fmt::Debug for Durable<I, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Durable").field("journal", &self.journal).finish_non_exhaustive()
    }
}

impl<I: Usual> Durable<I, I::Columns> {
    /// Opens a folder, which is made if it isn't there, and returns the recovery's findings. Of the options
    /// of an index, byte strings and rows have the memory limit alone.
    ///
    /// # Errors
    /// [`Error::Locked`] if it is open elsewhere; [`Error::Damaged`], [`Error::Missing`],
    /// [`Error::OtherType`], [`Error::Version`] and [`Error::Snapshot`] if its files aren't intact;
    /// [`Error::Io`]; [`Error::Index`] if memory is refused. The files are then unchanged.
    pub fn open(folder: impl AsRef<Path>, options: Options) -> Result<(Self, Recovery)> {
        let found = Found::open(folder)?;
        found.recover(I::with_options(options.index)?, I::Columns::default(), options.into())
    }

    /// Reads the entries of a folder into an index in memory, which is then independent of the folder; also
    /// returns the recovery's findings. Nothing is written or locked: see [`ReadOnly`].
    ///
    /// # Errors
    /// Those of [`Durable::open`], except that [`Error::Missing`] reports a folder without a durable
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
    pub fn read(folder: impl AsRef<Path>, options: latchless::index::Options) -> Result<(I, Recovery)> {
        let index = I::with_options(options)?;
        ReadOnly::open(folder)?.load(index, &I::Columns::default(), DamagedTail::Refuse)
    }
}

impl<I: Kept<C>, C> Durable<I, C> {
    /// The index, for reading: every operation that leaves it as it is.
    pub fn index(&self) -> Reader<'_, I> {
        Reader(&self.index)
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
        self.journal.snapshot(|out| self.index.write(&self.columns, out))
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
