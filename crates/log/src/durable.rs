//! The index whose changes are logged.

use crate::commit::{Commit, Written};
use crate::error::{Error, Result};
use crate::file::LogFile;
use crate::folder::Folder;
use crate::record::{Draft, ENTRIES_MAX};
use crate::recover::{Recovered, Recovery, recover};
use crate::stripes::{Set, Stripes};
use latchless::Index;
use latchless::snapshot::{self, Native};
use std::ops::RangeBounds;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// When a change is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncMode {
    /// Before the operation returns. Threads that wait at the same time share one wait.
    #[default]
    Each,
    /// At most so long after it, by a thread of its own.
    Every(Duration),
    /// When the system pleases, or at [`DurableIndex::sync`].
    Never,
}

/// How a folder is opened.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// When changes are on the disk.
    pub sync: SyncMode,
    /// The index's own: its memory limit, its pages.
    pub index: latchless::index::Options,
}

/// The end of the log.
#[derive(Debug)]
struct Tail {
    file: LogFile,
    /// The log's number.
    log_number: u64,
    /// The number of the last record.
    record_number: u64,
}

/// What the thread that syncs shares with the index.
#[derive(Debug)]
struct Log {
    tail: Mutex<Tail>,
    commit: Commit,
}

/// An [`Index`] in memory with a redo log in a folder. See the [crate's head](crate).
///
/// All operations take `&self` and may be called from any thread. Reads cost what the index's own do. A
/// change writes its record (about a microsecond), changes the index, and waits for the disk if it is told
/// to.
#[derive(Debug)]
pub struct DurableIndex<K: Native, V: Native> {
    index: Index<K, V>,
    log: Arc<Log>,
    stripes: Stripes,
    /// Held during a snapshot.
    snapshots: Mutex<()>,
    sync: SyncMode,
    folder: Folder,
    syncer: Option<Syncer>,
}

impl Log {
    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a record, and says its number.
    fn append(&self, draft: &mut Draft) -> Result<u64> {
        let mut tail = self.tail();
        // Checked under the latch, so that nothing follows a record that nobody knows the end of.
        self.commit.check()?;
        let number = tail.record_number + 1;
        match tail.file.append(draft, number) {
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

    /// What has been written.
    fn written(&self) -> Written {
        let tail = self.tail();
        Written { number: tail.record_number, file: tail.file.file(), path: tail.file.path().into() }
    }

    /// Returns when all that was appended before is on the disk.
    fn sync(&self) -> Result<()> {
        let number = self.tail().record_number;
        self.commit.wait(number, || self.written())
    }
}

/// The thread that syncs every so often.
#[derive(Debug)]
struct Syncer {
    /// Ends the thread when it is dropped.
    stop: mpsc::Sender<()>,
    thread: JoinHandle<()>,
}

impl Syncer {
    fn start(log: Arc<Log>, every: Duration) -> Result<Self, std::io::Error> {
        let (stop, stopped) = mpsc::channel();
        let work = move || {
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                // A failure closes the log, which the next change is told.
                if log.sync().is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("latchless-log".into()).spawn(work)?;
        Ok(Self { stop, thread })
    }
}

impl<K: Native, V: Native> DurableIndex<K, V> {
    /// Opens a folder, which is made if it isn't there, and says what was in it.
    ///
    /// # Errors
    /// [`Error::Locked`] if it is open elsewhere; [`Error::Damaged`], [`Error::Missing`],
    /// [`Error::OtherType`], [`Error::Version`] and [`Error::Snapshot`] if its files aren't what was
    /// written; [`Error::Io`]; [`Error::Index`] if memory is refused. The files are then as they were.
    pub fn open(folder: impl AsRef<Path>, options: Options) -> Result<(Self, Recovery)> {
        let folder = Folder::open(folder.as_ref())?;
        let Recovered { index, log, log_number, record_number, recovery } = recover(&folder, options.index)?;
        let commit = Commit::default();
        commit.reached(record_number);
        let log = Arc::new(Log { tail: Mutex::new(Tail { file: log, log_number, record_number }), commit });
        let syncer = match options.sync {
            SyncMode::Every(every) => {
                let started = Syncer::start(log.clone(), every);
                Some(started.map_err(Error::io("start a thread for", folder.path()))?)
            }
            SyncMode::Each | SyncMode::Never => None,
        };
        let (stripes, snapshots) = Default::default();
        Ok((Self { index, log, stripes, snapshots, sync: options.sync, folder, syncer }, recovery))
    }

    /// The index, for reading: every operation that takes no part in changes. What is changed through it
    /// isn't in the log, and a recovery doesn't know of it.
    pub fn index(&self) -> &Index<K, V> {
        &self.index
    }

    /// The value of a key.
    pub fn get(&self, key: K) -> Option<V> {
        self.index.get(key)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The log's bytes since the last snapshot: what the next start has to replay.
    pub fn log_bytes(&self) -> u64 {
        self.log.tail().file.len()
    }

    /// Logs a change of these keys, does it, and waits for the disk if the options say so.
    fn change<T>(&self, set: Set, draft: Draft, change: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut draft = draft.seal();
        let held = self.stripes.hold(set);
        let number = self.log.append(&mut draft)?;
        // Debug builds let others run here, where an order that isn't kept would show.
        if cfg!(debug_assertions) {
            std::thread::yield_now();
        }
        let changed = change();
        drop(held);
        match (changed, self.sync) {
            (Ok(changed), SyncMode::Each) => {
                self.log.commit.wait(number, || self.log.written())?;
                Ok(changed)
            }
            (changed, _) => changed,
        }
    }

    /// Logs that keys of a batch have the values that they have now: those that the index refused.
    fn take_back(&self, keys: &[K], refused: &[usize]) -> Result<()> {
        let (mut there, mut values, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        for key in refused.iter().map(|&at| keys[at]) {
            match self.index.get(key) {
                Some(value) => {
                    there.push(key);
                    values.push(value);
                }
                None => gone.push(key),
            }
        }
        for draft in [Draft::put(&there, &values), Draft::remove(&gone)] {
            // Without it a recovery would do what was refused.
            self.log.append(&mut draft.seal()).inspect_err(|error| self.log.commit.fail(error))?;
        }
        Ok(())
    }

    /// Sets a key to a value, and gives back the one it had.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Index`]: nothing has changed. [`Error::Closed`]: nothing has changed, or, if
    /// the disk failed while the operation waited for it, it is in the index and perhaps not on the disk.
    pub fn insert(&self, key: K, value: V) -> Result<Option<V>> {
        self.change(Set::of([key.to_cell()]), Draft::put(&[key], &[value]), || {
            let inserted = self.index.insert(key, value);
            if inserted.is_err() {
                self.take_back(&[key], &[0])?;
            }
            Ok(inserted?)
        })
    }

    /// Sets the keys of a column to the values of another, and says how many keys weren't there before. Of
    /// a key that comes twice the last value stays. One record for up to 2^20 entries, one wait for the
    /// disk.
    ///
    /// # Errors
    /// [`Error::Index`] says which entries were refused: all of them, if the columns aren't of one length.
    /// The others as [`DurableIndex::insert`]; of a batch of over 2^20 entries, the records before the one
    /// that failed are done.
    pub fn insert_columns(&self, keys: &[K], values: &[V]) -> Result<usize> {
        if keys.len() != values.len() {
            // Refused by the index's own words, before anything is logged.
            return Ok(self.index.insert_columns(keys, values).map_err(latchless::Error::from)?);
        }
        let mut new = 0;
        let parts = keys.chunks(ENTRIES_MAX).zip(values.chunks(ENTRIES_MAX));
        for (part, (keys, values)) in parts.enumerate() {
            let set = Set::of(keys.iter().map(|key| key.to_cell()));
            new += self.change(set, Draft::put(keys, values), || {
                self.index.insert_columns(keys, values).or_else(|incomplete| {
                    self.take_back(keys, &incomplete.refused)?;
                    let refused = incomplete.refused.iter().map(|at| at + part * ENTRIES_MAX).collect();
                    Err(Error::Index { cause: incomplete.error, refused })
                })
            })?;
        }
        Ok(new)
    }

    /// As [`DurableIndex::insert_columns`], of pairs.
    ///
    /// # Errors
    /// As there.
    pub fn insert_many(&self, entries: &[(K, V)]) -> Result<usize> {
        let (keys, values): (Vec<K>, Vec<V>) = entries.iter().copied().unzip();
        self.insert_columns(&keys, &values)
    }

    /// Removes a key, and gives back the value it had.
    ///
    /// # Errors
    /// As [`DurableIndex::insert`].
    pub fn remove(&self, key: K) -> Result<Option<V>> {
        self.change(Set::of([key.to_cell()]), Draft::remove(&[key]), || Ok(self.index.remove(key)))
    }

    /// Removes the keys of a batch, and says how many were there. One record for up to 2^20 keys.
    ///
    /// # Errors
    /// As [`DurableIndex::insert_columns`].
    pub fn remove_many(&self, keys: &[K]) -> Result<usize> {
        let mut removed = 0;
        for keys in keys.chunks(ENTRIES_MAX) {
            let set = Set::of(keys.iter().map(|key| key.to_cell()));
            removed += self.change(set, Draft::remove(keys), || {
                let mut values = vec![V::from_cell(0); keys.len()];
                let mut found = vec![false; keys.len()];
                Ok(self.index.remove_columns(keys, &mut values, &mut found)?)
            })?;
        }
        Ok(removed)
    }

    /// Removes all keys of a range, and says how many there were. Other changes wait meanwhile.
    ///
    /// # Errors
    /// [`Error::Index`] if the range ends before it starts. The others as [`DurableIndex::insert`].
    pub fn remove_range(&self, range: impl RangeBounds<K>) -> Result<usize> {
        // A range that the index refuses isn't logged.
        let range = (range.start_bound().cloned(), range.end_bound().cloned());
        self.index.range(range)?;
        self.change(Set::ALL, Draft::remove_range(&range), || Ok(self.index.remove_range(range)?))
    }

    /// Returns when every change that returned before is on the disk.
    ///
    /// # Errors
    /// [`Error::Closed`] if the disk fails, or failed before.
    pub fn sync(&self) -> Result<()> {
        self.log.sync()
    }

    /// Saves a snapshot and removes the logs that it makes useless, and says how many entries it has.
    /// Readers and writers go on; writers wait while the disk is asked twice to sync a few bytes. A second
    /// snapshot at the same time waits for the first.
    ///
    /// # Errors
    /// [`Error::Snapshot`], [`Error::Io`]: nothing is lost, and the logs so far are kept.
    pub fn snapshot(&self) -> Result<u64> {
        let _one_at_a_time = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        let number = self.begin_next_log()?;
        let path = self.folder.snapshot(number);
        let saved = snapshot::save(&self.index, &path).map_err(Error::snapshot(&path))?;
        self.folder.remove_older_than(number)?;
        Ok(saved)
    }

    /// Lets further records go to a new log, and says its number. All records of the logs before it are on
    /// the disk, and in the index.
    fn begin_next_log(&self) -> Result<u64> {
        // Most of the wait, while others write.
        self.log.sync()?;
        let number = self.log.tail().log_number + 1;
        let next = LogFile::create::<K, V>(self.folder.log(number), number)?;
        self.folder.sync()?;
        // Nobody is between an append and its change.
        let _held = self.stripes.hold(Set::ALL);
        self.log.sync()?;
        let mut tail = self.log.tail();
        tail.file = next;
        tail.log_number = number;
        Ok(number)
    }

    /// Waits until everything is on the disk, and closes the folder. Dropping the index does the same
    /// without telling of errors.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn close(self) -> Result<()> {
        self.log.sync()
    }
}

impl<K: Native, V: Native> Drop for DurableIndex<K, V> {
    fn drop(&mut self) {
        if let Some(Syncer { stop, thread }) = self.syncer.take() {
            drop(stop);
            // It ends at once, or when its sync does.
            let _ = thread.join();
        }
        if self.sync != SyncMode::Never {
            // Nobody is left who could be told; `close` tells.
            let _ = self.log.sync();
        }
    }
}
