//! The end of a durable index: closed, dropped, or left behind in a fork.

use crate::columns::Columns;
use crate::durable::{DurableIndex, SyncMode};
use crate::error::Result;
use crate::stripes::Set;
use latchless::{Key, Value};
use std::sync::PoisonError;

impl<K: Key, V: Value, C: Columns<K, V>> DurableIndex<K, V, C> {
    /// Waits until everything is on the disk, and lets others open the folder. Reads go on; changes and
    /// snapshots are refused from here on. Dropping the index does the same without telling of errors; under
    /// [`SyncMode::Never`] it doesn't wait.
    ///
    /// # Errors
    /// [`Error::Closed`](crate::Error::Closed): not everything is on the disk. The folder is unlocked all the
    /// same. [`Error::Forked`](crate::Error::Forked).
    pub fn close(&self) -> Result<()> {
        self.folder.check_process()?;
        let _no_snapshot = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(syncer) = self.syncer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            syncer.stop();
        }
        // Every change that has begun is done, and none begins.
        let held = self.stripes.hold(Set::ALL);
        let synced = self.log.sync();
        self.log.commit.end(self.folder.path());
        drop(held);
        self.folder.unlock();
        synced
    }

    /// For a fork of the process that opened the index: gives up this process's share of the folder's lock,
    /// so that it ends with the process that opened the folder. In that process it does nothing.
    pub fn forsake(&self) {
        if !self.folder.is_ours() {
            self.folder.forsake();
        }
    }
}

impl<K: Key, V: Value, C: Columns<K, V>> Drop for DurableIndex<K, V, C> {
    fn drop(&mut self) {
        let syncer = self.syncer.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if !self.folder.is_ours() {
            // A fork hasn't the thread that it would wait for, and has no log to sync.
            std::mem::forget(syncer);
            return;
        }
        if let Some(syncer) = syncer {
            syncer.stop();
        }
        if self.sync != SyncMode::Never {
            // Nobody is left who could be told; `close` tells.
            let _ = self.log.sync();
        }
    }
}
