//! Group commit: of all threads that wait for the disk, one syncs for the others.

use crate::disk::DiskFile;
use crate::error::{Error, Result};
use crate::measured;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Why a log takes nothing more.
#[derive(Debug)]
enum Failed {
    /// Something failed. A file whose sync failed may never be trusted again: the system may have dropped
    /// the pages that it couldn't write.
    Disk { why: String },
    /// Another index took the folder over.
    Fenced { folder: PathBuf },
}

impl Failed {
    fn of(error: &Error) -> Self {
        match error {
            Error::Fenced { folder } => Self::Fenced { folder: folder.clone() },
            other => Self::Disk { why: other.to_string() },
        }
    }

    fn error(&self) -> Error {
        match self {
            Self::Disk { why } => Error::Closed { why: why.clone() },
            Self::Fenced { folder } => Error::Fenced { folder: folder.clone() },
        }
    }
}

/// The state of the disk.
#[derive(Debug, Default)]
struct State {
    /// The number of the last record that is.
    synced: u64,
    /// Whether a thread is syncing.
    syncing: bool,
    /// Why nothing is taken any more, once that is so.
    failed: Option<Failed>,
    /// The folder, once the index was closed.
    ended: Option<PathBuf>,
}

/// The threads that wait for the disk, and the record that it has reached.
#[derive(Debug, Default)]
pub struct Commit {
    state: Mutex<State>,
    changed: Condvar,
}

/// The end of the written records, for the thread that syncs.
#[derive(Debug)]
pub struct Written {
    /// The number of the last record.
    pub number: u64,
    pub file: Arc<dyn DiskFile>,
    pub path: PathBuf,
}

impl Commit {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when the record of this number is on the disk.
    pub fn wait(&self, number: u64, written: impl Fn() -> Written) -> Result<()> {
        let mut state = self.state();
        loop {
            if state.synced >= number {
                return Ok(());
            }
            if let Some(failed) = &state.failed {
                return Err(failed.error());
            }
            if state.syncing {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.syncing = true;
            drop(state);
            // Everything that was appended up to now goes with it.
            let Written { number: reached, file, path } = written();
            let synced = measured::sync(|| file.sync_data());
            state = self.state();
            state.syncing = false;
            match synced {
                Ok(()) => state.synced = state.synced.max(reached),
                Err(cause) => state.failed = Some(Failed::of(&Error::io("sync", &path)(cause))),
            }
            self.changed.notify_all();
        }
    }

    /// The number of the last record that is on the disk.
    #[cfg(test)]
    pub fn synced(&self) -> u64 {
        self.state().synced
    }

    /// Everything up to this record is on the disk.
    pub fn reached(&self, number: u64) {
        let mut state = self.state();
        state.synced = state.synced.max(number);
        drop(state);
        self.changed.notify_all();
    }

    /// After a failed sync, the contents of the disk are unknown.
    pub fn fail(&self, error: &Error) {
        self.state().failed.get_or_insert_with(|| Failed::of(error));
        self.changed.notify_all();
    }

    /// Nothing is appended any more.
    pub fn end(&self, folder: &Path) {
        self.state().ended = Some(folder.into());
    }

    /// The number of the last record that is on the disk. Refuses once something has failed, or when the
    /// index was closed.
    pub fn check(&self) -> Result<u64> {
        match &*self.state() {
            State { ended: Some(folder), .. } => Err(Error::Ended { folder: folder.clone() }),
            State { failed: Some(failed), .. } => Err(failed.error()),
            State { synced, .. } => Ok(*synced),
        }
    }
}
