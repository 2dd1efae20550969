//! Group commit: of all threads that wait for the disk one syncs for the others.

use crate::error::{Error, Result};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// What is on the disk.
#[derive(Debug, Default)]
struct State {
    /// The number of the last record that is.
    synced: u64,
    /// Whether a thread is syncing.
    syncing: bool,
    /// What failed, once something has. A file whose sync failed may never be trusted again: the system may
    /// have dropped the pages that it couldn't write.
    failed: Option<String>,
    /// The folder, once the index was closed.
    ended: Option<PathBuf>,
}

/// Who waits for the disk, and what is there already.
#[derive(Debug, Default)]
pub struct Commit {
    state: Mutex<State>,
    changed: Condvar,
}

/// What has been written, for the thread that syncs.
#[derive(Debug)]
pub struct Written {
    /// The number of the last record.
    pub number: u64,
    pub file: Arc<File>,
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
            if let Some(why) = &state.failed {
                return Err(Error::Closed { why: why.clone() });
            }
            if state.syncing {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            state.syncing = true;
            drop(state);
            // Everything that was appended up to now goes with it.
            let Written { number: reached, file, path } = written();
            let synced = file.sync_data();
            state = self.state();
            state.syncing = false;
            match synced {
                Ok(()) => state.synced = state.synced.max(reached),
                Err(cause) => state.failed = Some(Error::io("sync", &path)(cause).to_string()),
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

    /// Nobody knows any more what is on the disk.
    pub fn fail(&self, error: &Error) {
        self.state().failed.get_or_insert_with(|| error.to_string());
        self.changed.notify_all();
    }

    /// Nothing is appended any more.
    pub fn end(&self, folder: &Path) {
        self.state().ended = Some(folder.into());
    }

    /// Refuses once something has failed, or when the index was closed.
    pub fn check(&self) -> Result<()> {
        match &*self.state() {
            State { ended: Some(folder), .. } => Err(Error::Ended { folder: folder.clone() }),
            State { failed: Some(why), .. } => Err(Error::Closed { why: why.clone() }),
            _ => Ok(()),
        }
    }
}
