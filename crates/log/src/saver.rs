//! The thread that takes the snapshots that are due.

use crate::error::{Error, Result};
use crate::journal::Journal;
use latchless::snapshot;
use std::fmt;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// The thread that takes snapshots, if there is a policy. It ends when this is dropped: at once, or when the
/// snapshot is done that it is taking.
pub struct Saver {
    journal: Arc<Journal>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for Saver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Saver").field(&self.thread).finish()
    }
}

impl Saver {
    /// `save` writes all entries, and returns how many they are.
    pub fn start(
        journal: &Arc<Journal>,
        save: impl Fn(&mut dyn Write) -> snapshot::Result<u64> + Send + 'static,
    ) -> Result<Self> {
        let journal = journal.clone();
        if !journal.due().has_policy() {
            return Ok(Self { journal, thread: Mutex::new(None) });
        }
        let its = journal.clone();
        let work = move || {
            while its.due().wait() {
                let taken = catch_unwind(AssertUnwindSafe(|| its.snapshot_if_due(&save)));
                let panicked = || Error::io("save a snapshot in", its.path())(io::Error::other("a panic"));
                if let Err(error) = taken.unwrap_or_else(|_| Err(panicked())) {
                    its.due().failed(error);
                }
            }
        };
        let started = std::thread::Builder::new().name("latchless-snapshot".into()).spawn(work);
        let thread = started.map_err(Error::io("start a thread for", journal.path()))?;
        Ok(Self { journal, thread: Mutex::new(Some(thread)) })
    }

    /// Closes the journal, after the thread has ended.
    pub fn close(&self) -> Result<()> {
        self.journal.check_process()?;
        self.stop();
        self.journal.close()?;
        self.journal.due().failure().map_or(Ok(()), |cause| Err(Error::NotShortened { cause }))
    }

    /// Ends the thread.
    fn stop(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return };
        if self.journal.check_process().is_err() {
            // A fork hasn't the thread, whose share of the journal stays for ever.
            self.journal.forsake();
            return;
        }
        self.journal.due().stop();
        // It has reported its panics.
        let _ = thread.join();
    }
}

impl Drop for Saver {
    fn drop(&mut self) {
        self.stop();
    }
}
