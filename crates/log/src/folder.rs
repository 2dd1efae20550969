//! The folder of a durable index: its files by name, and the lock that excludes other processes.

use crate::disk::{Disk, DiskFile, How, Writing};
use crate::error::{Error, Result};
use latchless::snapshot;
use std::fs::TryLockError;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Extensions of files with the part that was cut off a log: an unfinished record, or more than that.
const TORN: &str = ".torn";
const REJECTED: &str = ".rejected";

/// A folder that this process has to itself.
#[derive(Debug)]
pub struct Folder {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// Locked until it is unlocked.
    lock: Mutex<Option<Box<dyn DiskFile>>>,
    /// The process that opened it. A fork has the folder's files, but not the folder.
    process: u32,
}

/// The numbers of the snapshots and of the logs in a folder, ascending.
#[derive(Debug, Default, PartialEq, Eq)]
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
    pub fn open(disk: Arc<dyn Disk>, path: &Path) -> Result<Self> {
        let name = path.join("lock");
        // The file is made after the folder's own name is on the disk, and those of the folders above it.
        if !disk.exists(&name).unwrap_or(false) {
            create(&*disk, path)?;
        }
        let lock = disk.open(&name, How::Make).map_err(Error::io("open", &name))?;
        match lock.try_lock() {
            Ok(()) => {
                let lock = Mutex::new(Some(lock));
                Ok(Self { disk, path: path.into(), lock, process: std::process::id() })
            }
            Err(TryLockError::WouldBlock) => Err(Error::Locked { folder: path.into() }),
            Err(TryLockError::Error(cause)) => Err(Error::io("lock", &name)(cause)),
        }
    }

    /// A folder that is only read: it isn't locked, and need not be there.
    pub fn unlocked(disk: Arc<dyn Disk>, path: &Path) -> Self {
        Self { disk, path: path.into(), lock: Mutex::default(), process: std::process::id() }
    }

    /// The bytes of one of its files; 0 if the system doesn't report them.
    pub fn bytes_of(&self, path: &Path) -> u64 {
        self.disk.open(path, How::Read).and_then(|file| file.len()).unwrap_or(0)
    }

    /// The file system that it is on.
    pub fn disk(&self) -> &dyn Disk {
        &*self.disk
    }

    /// Another folder on the same file system, which isn't locked.
    pub fn other(&self, path: &Path) -> Self {
        Self::unlocked(self.disk.clone(), path)
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

    /// The snapshot of this number.
    pub fn snapshot(&self, number: u64) -> PathBuf {
        self.path.join(format!("snapshot-{number:016x}.arrow"))
    }

    /// Saves the snapshot of this number, and returns the number of its entries. It is written under a
    /// temporary name, synced, and renamed once `ready` has returned. If anything fails, nothing of it
    /// stays.
    pub fn save(
        &self,
        number: u64,
        save: impl FnOnce(&mut dyn Write) -> snapshot::Result<u64>,
        ready: impl FnOnce() -> Result<()>,
    ) -> Result<u64> {
        let path = self.snapshot(number);
        // A killed process's leftovers are replaced.
        let beside = path.with_extension(format!("arrow.tmp-{}", self.process));
        let file = self.disk.open(&beside, How::Make).map_err(Error::io("create", &beside))?;
        let written = || -> Result<u64> {
            file.set_len(0).map_err(Error::io("write", &beside))?;
            let saved = save(&mut Writing(&*file)).map_err(Error::snapshot(&path))?;
            file.sync_all().map_err(Error::io("sync", &beside))?;
            ready()?;
            self.disk.rename(&beside, &path).map_err(Error::io("rename", &beside))?;
            Ok(saved)
        };
        let saved = written().inspect_err(|_| {
            // That error is more informative than the one of a file that can't be removed.
            let _ = self.disk.remove(&beside);
        })?;
        self.sync()?;
        Ok(saved)
    }

    /// Makes a file for the part that is cut off that log, at a free name, which depends on whether it has
    /// whole records.
    pub fn aside(&self, number: u64, whole: bool) -> Result<(PathBuf, Box<dyn DiskFile>)> {
        let kind = if whole { REJECTED } else { TORN };
        let mut path = self.path.join(format!("log-{number:016x}{kind}"));
        let mut count = 1_u64;
        loop {
            match self.disk.open(&path, How::New) {
                Ok(file) => return Ok((path, file)),
                Err(cause) if cause.kind() == ErrorKind::AlreadyExists => count += 1,
                Err(cause) => return Err(Error::io("create", &path)(cause)),
            }
            path.set_file_name(format!("log-{number:016x}{kind}-{count}"));
        }
    }

    /// The folder's snapshots and logs.
    pub fn contents(&self) -> Result<Contents> {
        let mut contents = Contents::default();
        for name in &self.names()? {
            contents.snapshots.extend(number(name, "snapshot-", ".arrow"));
            contents.logs.extend(number(name, "log-", ".redo"));
        }
        contents.snapshots.sort_unstable();
        contents.logs.sort_unstable();
        Ok(contents)
    }

    fn names(&self) -> Result<Vec<String>> {
        self.disk.names(&self.path).map_err(Error::io("read", &self.path))
    }

    fn remove(&self, is_useless: impl Fn(&str) -> bool) -> Result<()> {
        for name in self.names()?.into_iter().filter(|name| is_useless(name)) {
            let path = self.path.join(name);
            self.disk.remove(&path).map_err(Error::io("remove", &path))?;
        }
        Ok(())
    }

    /// Removes the leftovers of a killed save.
    pub fn remove_unfinished(&self) -> Result<()> {
        self.remove(|name| name.starts_with("snapshot-") && name.contains(".arrow.tmp-"))
    }

    /// Removes the files that a snapshot, whose name is on the disk, has made useless: older snapshots,
    /// older logs, and the parts that were cut off these, unless they have whole records.
    pub fn remove_older_than(&self, snapshot: u64) -> Result<()> {
        self.remove(|name| {
            let torn = name.find(TORN).and_then(|end| number(&name[..end], "log-", ""));
            let older = [number(name, "snapshot-", ".arrow"), number(name, "log-", ".redo"), torn];
            older.into_iter().flatten().any(|number| number < snapshot)
        })
    }

    /// Makes names in the folder outlast a power failure.
    pub fn sync(&self) -> Result<()> {
        self.disk.sync_folder(&self.path).map_err(Error::io("sync", &self.path))
    }
}

/// Syncs the folder that a path is in.
pub fn sync_above(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(above) if above == Path::new("") => disk.sync_folder(Path::new(".")),
        Some(above) => disk.sync_folder(above),
        None => Ok(()),
    }
}

/// Makes a folder, and those above it, as far as they aren't there. The name of each is on the disk before
/// there is anything in it.
pub fn create(disk: &dyn Disk, path: &Path) -> Result<()> {
    let is_there = |path: &Path| path == Path::new("") || disk.exists(path).unwrap_or(false);
    let sync_above = |path: &Path| sync_above(disk, path);
    let new: Vec<&Path> = path.ancestors().take_while(|path| !is_there(path)).collect();
    if let Some(there) = path.ancestors().nth(new.len()) {
        // A process may have made it that was killed before it synced its name. If the system refuses that,
        // another user made it.
        let _ = sync_above(there);
    }
    for path in new.into_iter().rev() {
        match disk.create_folder(path) {
            Ok(()) => {}
            // Another process was first.
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists && is_there(path) => {}
            Err(cause) => return Err(Error::io("create", path)(cause)),
        }
        sync_above(path).map_err(Error::io("sync the folder of", path))?;
    }
    Ok(())
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_ours() {
            self.unlock();
        }
    }
}
