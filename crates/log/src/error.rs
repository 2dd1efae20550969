//! Errors of opening and of changing a durable index.

use latchless::snapshot::{self, DataType};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of an operation on a durable index.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Why a durable index couldn't be opened, or refused an operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to read or write. A change that was refused so isn't in the index.
    #[error("can't {doing} {}: {cause}", path.display())]
    Io {
        /// The operation that failed.
        doing: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// The system's own error.
        #[source]
        cause: io::Error,
    },
    /// Another process, or another index of this one, has the folder open.
    #[error("another index has {} open", folder.display())]
    Locked {
        /// The folder.
        folder: PathBuf,
    },
    /// A file that recovery needs isn't there.
    #[error("{} is missing: without it, changes would be lost", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A byte of a log has changed since it was written, at a place where no kill or power failure could
    /// have left it. [`DamagedTail`](crate::DamagedTail) has the choices if it is the last log.
    #[error("{} is damaged at byte {at}: {what}; {whole} whole records follow", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        at: u64,
        /// The kind of damage.
        what: &'static str,
        /// How many whole records follow in the file; 0 if its first bytes are damaged.
        whole: u64,
    },
    /// The log was written for another type of keys or values.
    #[error("{} has the {part} type {found}, but the index that was asked for has {asked}", path.display())]
    OtherType {
        /// The file.
        path: PathBuf,
        /// `key` or `value`.
        part: &'static str,
        /// The type in the file.
        found: String,
        /// The requested type.
        asked: DataType,
    },
    /// The log was written by another version of this library.
    #[error("{} is a log of version {found}; versions 2 and 3 are known", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The snapshot couldn't be read or written.
    #[error("{}: {cause}", path.display())]
    Snapshot {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: snapshot::Error,
    },
    /// The disk failed before, so that the state of the log on it is unknown. Open the folder again.
    #[error("the log failed before and takes nothing more: {why}")]
    Closed {
        /// The earlier failure.
        why: String,
    },
    /// The index was closed.
    #[error("the index in {} was closed", folder.display())]
    Ended {
        /// The folder.
        folder: PathBuf,
    },
    /// This process is a fork of the one that opened the folder. It can read the index that it has a copy of.
    #[error("{} is open in the process that this one is a fork of: only that one can change it", folder.display())]
    Forked {
        /// The folder.
        folder: PathBuf,
    },
    /// A later opening has taken the folder over: see [`Opening::fenced`](crate::Opening::fenced). Whether
    /// the change is in the folder isn't known.
    #[error("{} was opened anew since: this index changes nothing there any more", folder.display())]
    Fenced {
        /// The folder.
        folder: PathBuf,
    },
    /// Everything is on the disk, but the last snapshot failed that was due by the
    /// [`SnapshotPolicy`](crate::SnapshotPolicy): the log is as long as it is.
    #[error("the log wasn't shortened: {cause}")]
    NotShortened {
        /// Why the snapshot failed.
        #[source]
        cause: Arc<Error>,
    },
    /// The changes of a commit take more bytes than a record may have. Nothing is changed.
    #[error("a commit takes over {limit} bytes: it is one record, which has no room for more")]
    CommitTooLong {
        /// The most bytes of a commit.
        limit: usize,
    },
    /// An owned snapshot, or a handle of an index of a table, has a share of the index, so it can't be moved
    /// to other nodes. Nothing is changed.
    #[error("an owned snapshot or a handle of the index is there: it is shrunk and loaded again without any")]
    Shared,
    /// Two rows of a folder have the same key of a unique index of the table that it was opened with. The
    /// folder is unchanged.
    #[error("the rows {existing} and {rejected} have the same key of the unique index `{index}`")]
    Duplicate {
        /// The name of the index.
        index: Arc<str>,
        /// The primary key of one of them, as [`dump`](crate::dump()) shows it.
        existing: String,
        /// That of the other.
        rejected: String,
    },
    /// A row of a folder has another primary key than the one under which it was saved: the function that
    /// computes primary keys isn't the one of then, or not the row's bytes. The folder is unchanged.
    #[error("the row that was saved under the primary key {key} has another one, {found}")]
    OtherPrimaryKey {
        /// The key under which it was saved, as [`dump`](crate::dump()) shows it.
        key: String,
        /// The one that it has.
        found: String,
    },
    /// The index refused: memory, or a range whose ends are in the wrong order. Of a batch the entries at
    /// the positions `refused` aren't done, now or after a recovery; all others are.
    #[error("the index refused {} of the entries; the first because {cause}", refused.len().max(1))]
    Index {
        /// Why the first was refused.
        #[source]
        cause: latchless::Error,
        /// The refused entries of a batch, ascending; empty for an operation that isn't a batch.
        refused: Vec<usize>,
    },
}

impl From<latchless::Error> for Error {
    fn from(cause: latchless::Error) -> Self {
        Self::Index { cause, refused: Vec::new() }
    }
}

impl Error {
    /// An error of the system, `doing` something to a file or folder.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { doing, path: path.into(), cause }
    }

    /// An error of a snapshot.
    pub(crate) fn snapshot(path: &Path) -> impl FnOnce(snapshot::Error) -> Self {
        move |cause| Self::Snapshot { path: path.into(), cause }
    }
}
