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

/// The share of an index that the thread has, unless the owner needs the index for itself.
pub struct Share<I>(Mutex<Option<Arc<I>>>);

impl<I> Share<I> {
    pub fn of(index: &Arc<I>) -> Self {
        Self(Mutex::new(Some(Arc::clone(index))))
    }

    /// Uses the index, once the owner doesn't need it for itself.
    pub fn with<R>(&self, read: impl FnOnce(&I) -> R) -> R {
        let share = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        read(share.as_ref().expect("it was given back: no change of the owner's has panicked"))
    }

    /// Changes the owner's index, unless somebody else has a share of it.
    pub fn apart<R>(&self, index: &mut Arc<I>, change: impl FnOnce(&mut I) -> R) -> Option<R> {
        let mut share = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *share = None;
        let changed = Arc::get_mut(index).map(change);
        *share = Some(Arc::clone(index));
        changed
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
