//! Backups: copies of a folder's files that are an index by themselves.

use crate::disk::{How, Reading, Writing};
use crate::durable::Durable;
use crate::error::{Error, Result};
use crate::folder::{self, Contents, Folder};
use crate::kept::Kept;
use crate::reading::{LOOKS_MAX, ReadOnly, is_gone};
use crate::scan::Scan;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// What a backup has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backup {
    /// The number of the last record; of a versioned index, the number of the newest commit.
    pub record: u64,
    /// The bytes of all files.
    pub bytes: u64,
}

/// The folder of a backup that isn't complete, beside its place.
struct Stage {
    folder: Folder,
    to: PathBuf,
    is_done: bool,
}

impl Stage {
    fn new(source: &Folder, to: &Path) -> Result<Self> {
        let disk = source.disk();
        if disk.exists(to).map_err(Error::io("look for", to))? {
            return Err(Error::io("create", to)(ErrorKind::AlreadyExists.into()));
        }
        let mut name = to.file_name().unwrap_or_default().to_owned();
        name.push(format!(".partial-{}", std::process::id()));
        let path = to.with_file_name(name);
        folder::create(disk, &path)?;
        Ok(Self { folder: source.other(&path), to: to.into(), is_done: false })
    }

    /// Copies the first bytes of a file, and returns how many there were.
    fn copy(&self, from: &Path, bytes: u64) -> Result<u64> {
        let disk = self.folder.disk();
        let file = disk.open(from, How::Read).map_err(Error::io("open", from))?;
        let to = self.folder.path().join(from.file_name().unwrap_or_default());
        let copy = disk.open(&to, How::New).map_err(Error::io("create", &to))?;
        let copied = io::copy(&mut Reading(&*file).take(bytes), &mut Writing(&*copy));
        let copied = copied.map_err(Error::io("copy", from))?;
        copy.sync_all().map_err(Error::io("sync", &to))?;
        Ok(copied)
    }

    /// Removes what was copied.
    fn clear(&self) -> Result<()> {
        let (disk, path) = (self.folder.disk(), self.folder.path());
        for name in disk.names(path).map_err(Error::io("read", path))? {
            let path = path.join(name);
            disk.remove(&path).map_err(Error::io("remove", &path))?;
        }
        Ok(())
    }

    /// Gives the backup its name, in one step.
    fn finish(mut self) -> Result<()> {
        let (disk, path) = (self.folder.disk(), self.folder.path());
        self.folder.sync()?;
        disk.rename(path, &self.to).map_err(Error::io("rename", path))?;
        folder::sync_above(disk, &self.to).map_err(Error::io("sync the folder of", &self.to))?;
        self.is_done = true;
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !self.is_done {
            // The error that led here is more informative.
            let _ = self.clear().and_then(|()| {
                let path = self.folder.path();
                self.folder.disk().remove_folder(path).map_err(Error::io("remove", path))
            });
        }
    }
}

/// How damage of a log counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// There is no copy.
    IsRefused,
    /// The copy ends there.
    Ends,
}

/// Copies the newest snapshot and the logs from it on, the last one up to its last whole record.
fn copy(folder: &Folder, contents: &Contents, stage: &Stage, damage: Damage) -> Result<Backup> {
    let first = contents.snapshots.last().copied();
    let mut backup = Backup { record: 0, bytes: 0 };
    if let Some(number) = first {
        backup.bytes += stage.copy(&folder.snapshot(number), u64::MAX)?;
    }
    let logs: Vec<u64> =
        contents.logs.iter().copied().filter(|&number| number >= first.unwrap_or(1)).collect();
    let mut before: Option<Scan> = None;
    for number in logs {
        let path = folder.log(number);
        let Some(mut log) = Scan::open(folder.disk(), &path, number)? else { continue };
        if let Some(before) = before.take_if(|before| log.follows > before.last) {
            match damage {
                Damage::Ends => break,
                Damage::IsRefused => {
                    return Err(before.damaged("it ends before the record that the next log follows")?);
                }
            }
        }
        if let Some(what) = log.pass_whole()?
            && damage == Damage::IsRefused
        {
            log.refuse_damage(what)?;
        }
        backup.record = log.last;
        backup.bytes += stage.copy(&path, log.at)?;
        before = Some(log);
    }
    Ok(backup)
}

impl ReadOnly {
    /// Copies the index's files to a new folder, which opens as an index by itself. It has the changes up to
    /// some record, and none after it: at least all that were acknowledged before the backup began, even if
    /// another process has the folder open and writes. Nothing is changed or locked there. The folder `to`
    /// has its name once everything in it is on the disk; a process that is killed before leaves a folder
    /// with `.partial` in its name.
    ///
    /// # Errors
    /// [`Error::Io`], also if there is something at `to`; [`Error::Damaged`]; [`Error::Snapshot`].
    pub fn backup(self, to: impl AsRef<Path>) -> Result<Backup> {
        self.copy_to(to.as_ref(), Damage::IsRefused)
    }

    pub(crate) fn copy_to(mut self, to: &Path, damage: Damage) -> Result<Backup> {
        let stage = Stage::new(&self.folder, to)?;
        let mut looks = 0;
        loop {
            let written = self.log_bytes();
            match copy(&self.folder, &self.contents, &stage, damage) {
                Err(error) if looks < LOOKS_MAX && self.may_be_transient(&error, written)? => {
                    looks += 1;
                    self = Self::open(self.folder.path())?;
                    stage.clear()?;
                }
                copied => {
                    let backup = copied?;
                    stage.finish()?;
                    return Ok(backup);
                }
            }
        }
    }

    /// Whether an error may come from another process that writes, whose logs had this many bytes.
    fn may_be_transient(&self, error: &Error, written: u64) -> Result<bool> {
        Ok(match error {
            Error::Damaged { .. } => self.log_bytes() != written,
            error => is_gone(error) && self.folder.contents()? != self.contents,
        })
    }
}

impl<I: Kept<C>, C> Durable<I, C> {
    /// Copies the index's files to a new folder, which opens as an index by itself, while readers and writers
    /// go on; a snapshot waits. The copy is of one moment: it has the changes up to some record, at least all
    /// that returned before. It takes as long as copying the newest snapshot and the log, which
    /// [`Durable::snapshot`] shortens. See [`ReadOnly::backup`].
    ///
    /// # Errors
    /// Those of [`ReadOnly::backup`].
    ///
    /// ```
    /// use latchless_log::{DurableIndex, Options};
    ///
    /// # let folder = std::env::temp_dir().join(format!("latchless-log-backup-{}", std::process::id()));
    /// let (prices, _) = DurableIndex::<u64, u64>::open(folder.join("prices"), Options::default())?;
    /// prices.insert(101, 7)?;
    /// assert_eq!(prices.backup(folder.join("friday"))?.record, 1);
    /// prices.insert(101, 8)?;
    /// let (friday, _) = DurableIndex::<u64, u64>::open(folder.join("friday"), Options::default())?;
    /// assert_eq!((friday.get(101), prices.get(101)), (Some(7), Some(8)));
    /// # drop((friday, prices));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn backup(&self, to: impl AsRef<Path>) -> Result<Backup> {
        self.journal.without_snapshots(|folder| ReadOnly::open(folder)?.backup(to))
    }
}
