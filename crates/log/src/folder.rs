//! The folder of a durable index: its files by name, and the lock that keeps others out.

use crate::error::{Error, Result};
use latchless::snapshot;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A folder that this process has to itself.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Locked until it is unlocked.
    lock: Mutex<Option<File>>,
    /// The process that opened it. A fork has the folder's files, but not the folder.
    process: u32,
}

/// The numbers of the snapshots and of the logs in a folder, ascending.
#[derive(Debug, Default)]
pub struct Contents {
    pub snapshots: Vec<u64>,
    pub logs: Vec<u64>,
}

/// The number in a name such as `log-000000000000002a.redo`.
fn number(name: &str, before: &str, after: &str) -> Option<u64> {
    let digits = name.strip_prefix(before)?.strip_suffix(after)?;
    if digits.len() != 16 {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}

impl Folder {
    /// Makes the folder if it isn't there, and locks it.
    pub fn open(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(Error::io("create", path))?;
        let name = path.join("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&name);
        let lock = lock.map_err(Error::io("open", &name))?;
        match lock.try_lock() {
            Ok(()) => {
                Ok(Self { path: path.into(), lock: Mutex::new(Some(lock)), process: std::process::id() })
            }
            Err(TryLockError::WouldBlock) => Err(Error::Locked { folder: path.into() }),
            Err(TryLockError::Error(cause)) => Err(Error::io("lock", &name)(cause)),
        }
    }

    /// Whether this is the process that opened it.
    pub fn is_ours(&self) -> bool {
        self.process == std::process::id()
    }

    /// Refuses a fork of the process that opened it: both would write at one place of one file.
    pub fn check_process(&self) -> Result<()> {
        if self.is_ours() { Ok(()) } else { Err(Error::Forked { folder: self.path.clone() }) }
    }

    /// Lets others open it. In the process that opened it, forks notwithstanding, which share its lock.
    pub fn unlock(&self) {
        if let Some(lock) = self.lock.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // Without an answer it is unlocked when the last process has closed it.
            let _ = lock.unlock();
        }
    }

    /// Gives up this process's share of the lock, so that it ends with the process that opened the folder.
    pub fn forsake(&self) {
        // In a fork no other thread is there that could give a latch back.
        if let Ok(mut lock) = self.lock.try_lock() {
            drop(lock.take());
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The log of this number.
    pub fn log(&self, number: u64) -> PathBuf {
        self.path.join(format!("log-{number:016x}.redo"))
    }

    /// What was cut off that log.
    pub fn rejected(&self, number: u64) -> PathBuf {
        self.path.join(format!("log-{number:016x}.rejected"))
    }

    /// The snapshot of this number.
    pub fn snapshot(&self, number: u64) -> PathBuf {
        self.path.join(format!("snapshot-{number:016x}.arrow"))
    }

    /// Saves the snapshot of this number, and says how many entries it has. It is written beside its name,
    /// synced, and takes its name once `ready` has returned. Nothing of it stays if anything fails.
    pub fn save(
        &self,
        number: u64,
        save: impl FnOnce(&mut dyn Write) -> snapshot::Result<u64>,
        ready: impl FnOnce() -> Result<()>,
    ) -> Result<u64> {
        let path = self.snapshot(number);
        // What a killed process left is replaced.
        let beside = path.with_extension(format!("arrow.tmp-{}", self.process));
        let saved = File::create(&beside).map_err(Error::io("create", &beside)).and_then(|mut file| {
            let saved = save(&mut file).map_err(Error::snapshot(&path))?;
            file.sync_all().map_err(Error::io("sync", &beside))?;
            ready()?;
            fs::rename(&beside, &path).map_err(Error::io("rename", &beside))?;
            Ok(saved)
        });
        let saved = saved.inspect_err(|_| {
            // That error says more than the one of a file that can't be removed.
            let _ = fs::remove_file(&beside);
        })?;
        self.sync()?;
        Ok(saved)
    }

    /// Which snapshots and logs there are.
    pub fn contents(&self) -> Result<Contents> {
        let mut contents = Contents::default();
        for entry in fs::read_dir(&self.path).map_err(Error::io("read", &self.path))? {
            let name = entry.map_err(Error::io("read", &self.path))?.file_name();
            let Some(name) = name.to_str() else { continue };
            contents.snapshots.extend(number(name, "snapshot-", ".arrow"));
            contents.logs.extend(number(name, "log-", ".redo"));
        }
        contents.snapshots.sort_unstable();
        contents.logs.sort_unstable();
        Ok(contents)
    }

    /// Removes what a snapshot has made useless: older snapshots, older logs, and what a killed save left.
    pub fn remove_older_than(&self, snapshot: u64) -> Result<()> {
        for entry in fs::read_dir(&self.path).map_err(Error::io("read", &self.path))? {
            let entry = entry.map_err(Error::io("read", &self.path))?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let older = [number(name, "snapshot-", ".arrow"), number(name, "log-", ".redo")];
            let unfinished = name.starts_with("snapshot-") && name.contains(".arrow.tmp-");
            if unfinished || older.into_iter().flatten().any(|number| number < snapshot) {
                fs::remove_file(entry.path()).map_err(Error::io("remove", &entry.path()))?;
            }
        }
        Ok(())
    }

    /// Makes names in the folder outlast a power failure.
    pub fn sync(&self) -> Result<()> {
        if cfg!(unix) {
            let folder = File::open(&self.path).map_err(Error::io("open", &self.path))?;
            folder.sync_all().map_err(Error::io("sync", &self.path))?;
        }
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_ours() {
            self.unlock();
        }
    }
}
