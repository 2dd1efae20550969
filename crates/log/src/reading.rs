//! Reading a folder without changing it.

use crate::disk::System;
use crate::durable::Durable;
use crate::error::{Error, Result};
use crate::findings::{DamagedTail, Recovery};
use crate::folder::{Contents, Folder};
use crate::kept::{Kept, Usual};
use crate::recover::{Look, replay};
use crate::replay::Target;
use latchless::snapshot::{self, DataType};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

/// The most rereads of a folder from which a writer has removed files meanwhile.
pub const LOOKS_MAX: usize = 100;

/// The number of a log, the byte at which its whole records end, and the number of the last one.
type Place = Option<(u64, u64, u64)>;

/// The folder of a durable index, for reading: its entries are copied into an index in memory, which is
/// then independent of the folder. Nothing is written, made, removed or locked. So it works on a full disk
/// and on a file system that is mounted read-only, and other processes may open the folder meanwhile.
///
/// While another process has the folder open, the copy has the changes up to some record, and none after
/// it: at least all those that were acknowledged before the reading began. A record that is being written
/// isn't there yet, and [`Recovery::stopped`] reports its first bytes. When the other process takes a
/// snapshot and removes a file that is being read, the reading restarts.
///
/// [`Durable::read`](crate::Durable::read) is enough where the types are known beforehand.
#[derive(Debug)]
pub struct ReadOnly {
    pub(crate) folder: Folder,
    pub(crate) contents: Contents,
    look: Look,
}

impl ReadOnly {
    /// Looks into a folder.
    ///
    /// # Errors
    /// [`Error::Missing`] if it has no durable index; [`Error::Snapshot`]; [`Error::Io`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = Folder::unlocked(Arc::new(System), folder.as_ref());
        let mut looks = 0;
        loop {
            let contents = folder.contents()?;
            if contents == Contents::default() {
                return Err(Error::Missing { path: folder.log(1) });
            }
            match Look::at(&folder, &contents) {
                Err(error) if is_gone(&error) && looks < LOOKS_MAX && folder.contents()? != contents => {
                    looks += 1
                }
                look => return Ok(Self { look: look?, contents, folder }),
            }
        }
    }

    /// The types of keys and values, unless the folder's first log was only being begun.
    pub fn types(&self) -> Option<[DataType; 2]> {
        self.look.types
    }

    /// The metadata of the newest snapshot: see [`Columns::metadata`](crate::Columns::metadata).
    pub fn metadata(&self) -> &[(String, String)] {
        self.look.metadata()
    }

    /// Loads the entries into an index, which must be empty, and returns the recovery's findings.
    /// [`Stopped::rejected`](crate::Stopped::rejected) is the log itself, because nothing is cut off.
    ///
    /// # Errors
    /// Those of [`Durable::open`](crate::Durable::open), except [`Error::Locked`].
    pub fn load<I: Kept<C>, C>(
        self,
        mut index: I,
        columns: &C,
        damaged: DamagedTail,
    ) -> Result<(I, Recovery)> {
        let mut target = index.target(columns).map_err(Error::snapshot(self.folder.path()))?;
        let (recovery, _) = self.load_into(&mut target, damaged)?;
        drop(target);
        Ok((index, recovery))
    }

    /// The same, and where the next record would be.
    pub(crate) fn load_to<I: Kept<C>, C>(self, mut index: I, columns: &C) -> Result<(I, Place)> {
        let mut target = index.target(columns).map_err(Error::snapshot(self.folder.path()))?;
        let (_, place) = self.load_into(&mut target, DamagedTail::Refuse)?;
        drop(target);
        Ok((index, place))
    }

    fn load_into(mut self, target: &mut impl Target, damaged: DamagedTail) -> Result<(Recovery, Place)> {
        if target.len() > 0 {
            return Err(latchless::Error::NotEmpty { len: target.len() }.into());
        }
        let mut looks = 0;
        loop {
            let written = self.log_bytes();
            match self.attempt(target, damaged) {
                // A record that was being written, and meanwhile is.
                Ok((Recovery { stopped: Some(_), .. }, _)) | Err(Error::Damaged { .. })
                    if looks < LOOKS_MAX && self.log_bytes() != written =>
                {
                    looks += 1;
                    self = Self::open(self.folder.path())?;
                    target.clear()?;
                }
                Err(error) if is_gone(&error) && looks < LOOKS_MAX => {
                    let now = self.folder.contents()?;
                    // A file that is missing from an unchanged folder was lost.
                    if now == self.contents {
                        return Err(error);
                    }
                    looks += 1;
                    self = Self::open(self.folder.path())?;
                    target.clear()?;
                }
                done => return done,
            }
        }
    }

    /// The bytes of all logs.
    pub(crate) fn log_bytes(&self) -> u64 {
        let logs = self.contents.logs.iter().map(|&number| self.folder.log(number));
        logs.map(|log| self.folder.bytes_of(&log)).sum()
    }

    fn attempt(&mut self, target: &mut impl Target, damaged: DamagedTail) -> Result<(Recovery, Place)> {
        let (mut recovery, mut place, mut first) = (Recovery::default(), None, 1);
        if let Some((number, base)) = self.look.snapshot.take() {
            let loaded = target.load(base).map_err(Error::snapshot(&self.folder.snapshot(number)))??;
            recovery.snapshot_entries = loaded as u64;
            first = number;
        }
        let logs: Vec<u64> = self.contents.logs.iter().copied().filter(|&number| number >= first).collect();
        if !logs.is_empty() || first > 1 {
            let found = replay(&self.folder, first, &logs, target, &mut recovery)?;
            target.settle()?;
            recovery.stopped = found.stopped(&self.folder, target.types(), damaged)?;
            place = found.end();
        }
        Ok((recovery, place))
    }
}

impl<I: Usual> Durable<I, I::Columns> {
    /// Reads the entries of a folder into an index in memory, which is then independent of the folder; also
    /// returns the recovery's findings. Nothing is written or locked: see [`ReadOnly`].
    ///
    /// # Errors
    /// Those of [`Durable::open`], except that [`Error::Missing`] reports a folder without a durable
    /// index, and [`Error::Locked`] never occurs.
    ///
    /// ```
    /// use latchless_log::{DurableIndex, Options};
    ///
    /// # let folder = std::env::temp_dir().join(format!("latchless-log-read-{}", std::process::id()));
    /// let (prices, _) = DurableIndex::<u64, u64>::open(&folder, Options::default())?;
    /// prices.insert(101, 7)?;
    /// // Beside the index that is open:
    /// let (copy, _) = DurableIndex::<u64, u64>::read(&folder, Options::default().index)?;
    /// prices.insert(102, 8)?;
    /// assert_eq!((copy.get(101), copy.get(102)), (Some(7), None));
    /// # drop(prices);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(folder: impl AsRef<Path>, options: latchless::index::Options) -> Result<(I, Recovery)> {
        let index = I::with_options(options)?;
        ReadOnly::open(folder)?.load(index, &I::Columns::default(), DamagedTail::Refuse)
    }
}

/// Whether an error means that a file isn't there.
pub fn is_gone(error: &Error) -> bool {
    match error {
        Error::Missing { .. } => true,
        Error::Io { cause, .. } | Error::Snapshot { cause: snapshot::Error::Io { cause, .. }, .. } => {
            cause.kind() == ErrorKind::NotFound
        }
        _ => false,
    }
}
