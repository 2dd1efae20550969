//! The key-independent part of a durable index: the order of changes, the end of the log, the wait for the
//! disk, snapshots that shorten the log, and closing.

use crate::due::Due;
use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::log::{Log, Syncer, Tail};
use crate::options::{Opening, SyncMode};
use crate::record::Draft;
use crate::stripes::{Held, Set, Stripes};
use latchless::snapshot::{self, DataType};
use latchless::spans;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// See the file's head.
#[derive(Debug)]
pub struct Journal {
    /// The types of keys and values.
    types: [DataType; 2],
    log: Arc<Log>,
    stripes: Stripes,
    /// Held during a snapshot.
    snapshots: Mutex<()>,
    sync: SyncMode,
    fenced: bool,
    folder: Folder,
    syncer: Mutex<Option<Syncer>>,
    due: Due,
}

impl Journal {
    /// That of a folder which has been recovered, and whose log ends there.
    pub fn new(folder: Folder, types: [DataType; 2], tail: Tail, opening: Opening, due: Due) -> Result<Self> {
        let log = Arc::new(Log::new(tail));
        let Opening { sync, fenced, .. } = opening;
        let syncer = match sync {
            SyncMode::Every(every) => Some(Syncer::start(log.clone(), every, &folder)?),
            SyncMode::Each | SyncMode::Never => None,
        };
        let (stripes, snapshots) = Default::default();
        Ok(Self { types, log, stripes, snapshots, sync, fenced, folder, syncer: Mutex::new(syncer), due })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// When the next snapshot is due.
    pub fn due(&self) -> &Due {
        &self.due
    }

    /// The end of the log.
    #[cfg(test)]
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The log's bytes since the last snapshot.
    pub fn log_bytes(&self) -> u64 {
        self.log.tail().file.len()
    }

    /// Refuses a fork of the process that opened the folder.
    pub fn check_process(&self) -> Result<()> {
        self.folder.check_process()
    }

    /// Holds stripes: changes of their keys wait.
    pub fn hold(&self, set: Set) -> Held<'_> {
        self.stripes.hold(set)
    }

    /// Logs a change of these keys, applies it, and waits for the disk if the options say so.
    pub fn change<T>(&self, set: Set, draft: Draft, change: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check_process()?;
        let draft = draft.seal();
        let held = self.hold(set);
        self.change_held(held, draft, change)
    }

    /// Logs and applies a change of keys whose stripes are held, and waits for the disk if the options say
    /// so.
    pub fn change_held<T>(
        &self,
        held: Held<'_>,
        mut draft: Draft,
        change: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let number = self.append(&mut draft)?;
        // Debug builds let others run here, where an order that isn't kept would show.
        if cfg!(debug_assertions) {
            std::thread::yield_now();
        }
        let changed = change();
        drop(held);
        match &changed {
            Ok(_) => self.acknowledge(number)?,
            // The error is an answer, too: entries that weren't refused are applied, and refused ones were
            // taken back.
            Err(Error::Index { .. }) => self.acknowledge_all()?,
            Err(_) => {}
        }
        changed
    }

    /// Logs the commit of this number, which the index has accepted and no reader sees yet; publishes it; and
    /// waits for the disk if the options say so. No other commit is under way until it is published.
    pub fn commit(&self, number: u64, mut draft: Draft, publish: impl FnOnce() -> u64) -> Result<()> {
        // A new log doesn't begin meanwhile.
        let held = self.hold(Set::of([0]));
        assert_eq!(self.log.tail().record_number + 1, number, "each commit is a record, and each record one");
        let number = self.append(&mut draft)?;
        publish();
        drop(held);
        self.acknowledge(number)
    }

    /// Returns when the record of this number may be acknowledged: it is on the disk, if the options say
    /// so, and an index that took over has read it, or will.
    fn acknowledge(&self, number: u64) -> Result<()> {
        if self.sync == SyncMode::Each {
            self.log.commit.wait(number, || self.log.written())?;
        }
        self.check_fence()
    }

    /// Returns when all records so far may be acknowledged.
    fn acknowledge_all(&self) -> Result<()> {
        let last = self.log.tail().record_number;
        self.acknowledge(last)
    }

    /// Answers an operation that has changed nothing: its reads are acknowledged like changes, once
    /// everything that it may have read may be acknowledged. No stripe is held.
    pub fn unchanged<T>(&self, answer: T) -> Result<T> {
        self.log.commit.check()?;
        self.acknowledge_all()?;
        Ok(answer)
    }

    /// Answers an operation that read nothing, such as an empty batch.
    pub fn nothing<T>(&self, answer: T) -> Result<T> {
        self.check_process()?;
        self.unchanged(answer)
    }

    fn append(&self, draft: &mut Draft) -> Result<u64> {
        let number = self.log.append(draft)?;
        self.due.add(draft.len());
        Ok(number)
    }

    /// The error for a value that can't be in a record.
    pub fn refuse(&self, cause: snapshot::Error) -> Error {
        Error::snapshot(self.folder.path())(cause)
    }

    /// Logs the inverse of records that the index refused. Without it a recovery would do that.
    pub fn take_back(&self, draft: Draft) -> Result<()> {
        let appended = self.append(&mut draft.seal());
        appended.map(drop).inspect_err(|error| self.log.commit.fail(error))
    }

    /// Returns when every change that returned before is on the disk.
    pub fn sync(&self) -> Result<()> {
        self.check_process()?;
        self.log.sync_and_mark()?;
        self.check_fence()
    }

    /// Refuses if the index is fenced, and a later opening has taken the folder over.
    fn check_fence(&self) -> Result<()> {
        if self.fenced { self.log.check_fence(&self.folder) } else { Ok(()) }
    }

    /// Has a snapshot saved, removes the logs that it makes useless, and returns how many entries it has.
    pub fn snapshot(&self, save: impl FnOnce(&mut dyn Write) -> snapshot::Result<u64>) -> Result<u64> {
        self.check_process()?;
        let _one_at_a_time = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        self.snapshot_alone(save)
    }

    /// Does something with the folder while no snapshot is saved and no file is removed.
    pub fn without_snapshots<T>(&self, read: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        self.check_process()?;
        let _no_snapshot = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        self.log.commit.check()?;
        read(self.folder.path())
    }

    /// Saves a snapshot if one is due: another thread may have saved one while this one waited.
    pub fn snapshot_if_due(&self, save: impl FnOnce(&mut dyn Write) -> snapshot::Result<u64>) -> Result<()> {
        let _one_at_a_time = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        if self.due.is_due() { self.snapshot_alone(save).map(drop) } else { Ok(()) }
    }

    fn snapshot_alone(&self, save: impl FnOnce(&mut dyn Write) -> snapshot::Result<u64>) -> Result<u64> {
        self.log.commit.check()?;
        let span = spans::checkpoint();
        let (number, logged_bytes) = self.begin_next_log()?;
        let saved = self.folder.save(number, save, || {
            // It was saved during writes. Any changes that it has are in the log as well, and now on the
            // disk: otherwise a power failure would leave changes without earlier ones.
            self.log.seal()?;
            // Records in it of an index that was taken over have been read by the one that took over, or
            // will be.
            self.check_fence()
        })?;
        let bytes = self.folder.bytes_of(&self.folder.snapshot(number));
        span.record("entries", saved);
        span.record("bytes", bytes);
        self.due.saved(bytes, logged_bytes);
        self.folder.remove_older_than(number)?;
        Ok(saved)
    }

    /// Directs further records to a new log, and returns its number, and the number of bytes of records in
    /// the earlier ones. All of these are on the disk, and in the index.
    fn begin_next_log(&self) -> Result<(u64, u64)> {
        // Most of the wait, while others write.
        self.log.sync()?;
        // If anything fails from here on, its file stays: empty, and after it comes another.
        let (mut next, number) = self.log.reserve_next(&self.folder)?;
        self.folder.sync()?;
        // No thread is between an append and its change.
        let _held = self.stripes.hold(Set::ALL);
        self.log.sync()?;
        let follows = self.log.tail().record_number;
        next.begin(self.types, number, follows).inspect_err(|error| {
            // A next log with a header would void the records that the previous one still takes.
            if !next.unbegin() {
                self.log.commit.fail(error);
            }
        })?;
        let mut tail = self.log.tail();
        tail.file = next;
        tail.log_number = number;
        Ok((number, self.due.unsaved_bytes()))
    }

    /// Waits until everything is on the disk, lets others open the folder, and refuses changes from here on.
    pub fn close(&self) -> Result<()> {
        self.check_process()?;
        let _no_snapshot = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(syncer) = self.syncer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            syncer.stop();
        }
        // Every change that has begun is done, and none begins.
        let held = self.hold(Set::ALL);
        let synced = self.log.seal();
        self.log.commit.end(self.folder.path());
        drop(held);
        self.folder.unlock();
        synced
    }

    /// In a fork of the process that opened the folder: gives up this process's share of the lock.
    pub fn forsake(&self) {
        if !self.folder.is_ours() {
            self.folder.forsake();
        }
    }
}

impl Drop for Journal {
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
            // No caller is left to receive the error; `close` reports it.
            let _ = self.log.seal();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{DurableIndex, Options, SyncMode, columns};

    /// A power failure right after it would leave the snapshot, and only the synced part of the log.
    #[test]
    fn what_a_snapshot_saw_is_in_the_synced_part_of_the_log() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options { sync: SyncMode::Never, ..Options::default() };
        let (durable, _) = DurableIndex::<u64, u64>::open(folder.path(), options).expect("it opens");
        durable.insert(1, 1).expect("a put");
        let (journal, name) = (&durable.journal, durable.journal.folder.snapshot(2));
        let saved = journal.snapshot(|out| {
            durable.insert(2, 2).expect("a put among others");
            assert!(!name.exists(), "it has its name before it is written");
            columns::write(&durable.index, out, &durable.columns)
        });
        assert_eq!((saved.expect("a snapshot"), name.exists()), (2, true));
        assert_eq!(journal.log.commit.synced(), journal.log.tail().record_number);
    }
}
