//! How a folder is opened.

use crate::due::SnapshotPolicy;
use crate::findings::DamagedTail;
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
    /// When the system pleases, or at [`Durable::sync`](crate::Durable::sync).
    Never,
}

/// How a folder is opened.
#[derive(Debug, Clone, Default)]
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
    /// process as long as the system keeps the lock. A network file system may lose it while the machine that
    /// held it is cut off and still writes. A fenced opening begins a log of its own, with the next number,
    /// before it reads the earlier ones; and a change returns only after a check that no later log has been
    /// begun. So everything that an index acknowledged before it was taken over is in the index that took
    /// over. Its later changes fail with [`Error::Fenced`](crate::Error::Fenced); each of them is lost, or
    /// kept like a change that was under way. Each change looks up a name in the file system, which takes
    /// about a microsecond locally. All openings of a folder must be fenced for that, on a file system that
    /// shows a new name to all machines at once.
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
