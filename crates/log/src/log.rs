//! The end of the log: all writers append to it, and a thread syncs it.

use crate::commit::{Commit, Written};
use crate::error::{Error, Result};
use crate::file::LogFile;
use crate::folder::Folder;
use crate::measured;
use crate::record::Draft;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The end of the log.
#[derive(Debug)]
pub struct Tail {
    pub file: LogFile,
    /// The log's number.
    pub log_number: u64,
    /// The number of the last record.
    pub record_number: u64,
    /// The number of the last log that this index has made or opened: larger than `log_number` while the
    /// next log is begun.
    pub own_number: u64,
}

/// The state that the syncing thread shares with the index.
#[derive(Debug)]
pub struct Log {
    tail: Mutex<Tail>,
    pub commit: Commit,
}

impl Log {
    /// A log of which everything so far is on the disk.
    pub fn new(tail: Tail) -> Self {
        let commit = Commit::default();
        commit.reached(tail.record_number);
        Self { tail: Mutex::new(tail), commit }
    }

    pub fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a record, and returns its number.
    pub fn append(&self, draft: &mut Draft) -> Result<u64> {
        let mut tail = self.tail();
        // Checked under the latch, so that nothing follows a record whose end is unknown.
        let synced = self.commit.check()?;
        let number = tail.record_number + 1;
        match tail.file.append(draft, number, synced) {
            Ok(()) => {
                tail.record_number = number;
                Ok(number)
            }
            Err((error, true)) => Err(error),
            Err((error, false)) => {
                self.commit.fail(&error);
                Err(error)
            }
        }
    }

    /// The end of the written records.
    pub fn written(&self) -> Written {
        let tail = self.tail();
        Written { number: tail.record_number, file: tail.file.file(), path: tail.file.path().into() }
    }

    /// Refuses if another opening has begun a log since. An opening first begins its log and then reads the
    /// earlier ones. So a record that was appended before this check has been read, or will be.
    pub fn check_fence(&self, folder: &Folder) -> Result<()> {
        let tail = self.tail();
        let next = folder.log(tail.own_number + 1);
        if !folder.disk().exists(&next).map_err(Error::io("look for", &next))? {
            return Ok(());
        }
        let fenced = Error::Fenced { folder: folder.path().into() };
        self.commit.fail(&fenced);
        Err(fenced)
    }

    /// Makes the file of the next log, which has another number than anybody else's.
    pub fn reserve_next(&self, folder: &Folder) -> Result<(LogFile, u64)> {
        let mut tail = self.tail();
        let number = tail.own_number + 1;
        let path = folder.log(number);
        let next = LogFile::reserve(folder.disk(), path.clone()).map_err(|cause| {
            if cause.kind() != std::io::ErrorKind::AlreadyExists {
                return Error::io("create", &path)(cause);
            }
            let fenced = Error::Fenced { folder: folder.path().into() };
            self.commit.fail(&fenced);
            fenced
        })?;
        tail.own_number = number;
        Ok((next, number))
    }

    /// Returns when all that was appended before is on the disk.
    pub fn sync(&self) -> Result<()> {
        let number = self.tail().record_number;
        self.commit.wait(number, || self.written())
    }

    /// Syncs, and appends a mark of that, unless a later record says so already: by it a recovery
    /// distinguishes damage of synced records from an end that a power failure left. Returns whether it
    /// wrote the mark.
    pub fn sync_and_mark(&self) -> Result<bool> {
        self.sync()?;
        let mut tail = self.tail();
        // Nothing is appended any more to a log that was closed.
        let Ok(synced) = self.commit.check() else { return Ok(false) };
        let number = tail.record_number;
        match tail.file.mark(number, synced) {
            Ok(marked) => Ok(marked),
            // Everything is on the disk all the same.
            Err((_, true)) => Ok(false),
            Err((error, false)) => {
                self.commit.fail(&error);
                Err(error)
            }
        }
    }

    /// Syncs, appends a mark of that, and returns when the mark is on the disk as well.
    pub fn seal(&self) -> Result<()> {
        if self.sync_and_mark()? {
            let Written { file, path, .. } = self.written();
            measured::sync(|| file.sync_data())
                .map_err(Error::io("sync", &path))
                .inspect_err(|error| self.commit.fail(error))?;
        }
        Ok(())
    }
}

/// The thread that syncs every so often.
#[derive(Debug)]
pub struct Syncer {
    /// Ends the thread when it is dropped.
    stop: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

impl Syncer {
    pub fn start(log: Arc<Log>, every: Duration, folder: &Folder) -> Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let work = move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                // A failure closes the log, which the next change reports.
                if log.sync_and_mark().is_err() {
                    return;
                }
            }
        };
        let started = std::thread::Builder::new().name("latchless-log".into()).spawn(work);
        let thread = started.map_err(Error::io("start a thread for", folder.path()))?;
        Ok(Self { stop, thread })
    }

    /// Ends the thread: at once, or when its sync is done.
    pub fn stop(self) {
        drop(self.stop);
        let _ = self.thread.join();
    }
}
