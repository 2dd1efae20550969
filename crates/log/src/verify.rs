//! The check of a folder's files, and the repair of a damaged one, whatever its index is.

use crate::backup::{Backup, Damage};
use crate::disk::{How, Reading, System, Writing};
use crate::error::{Error, Result};
use crate::file::HEAD_BYTES;
use crate::folder::{Contents, Folder};
use crate::reading::ReadOnly;
use crate::replay::Base;
use crate::scan::Scan;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is wrong with a file.
#[derive(Debug)]
pub enum Trouble {
    /// The log ends within a record, as a kill or a power failure leaves it. An opening cuts that off.
    Unfinished {
        /// The byte at which the record begins.
        at: u64,
        /// How it ends.
        what: &'static str,
    },
    /// The file is damaged or missing: an opening fails with this error.
    Refused(Error),
}

/// A file that an opening of the folder reads.
#[derive(Debug)]
#[non_exhaustive]
pub struct CheckedFile {
    /// The file.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: u64,
    /// Entries of a snapshot, or whole records of a log.
    pub entries: u64,
    /// The number of a log's last record.
    pub last: Option<u64>,
    /// What is wrong with it.
    pub trouble: Option<Trouble>,
}

/// Checks all files that an opening of a folder would read: every sum, the order of the records, and that
/// none is missing. Nothing is locked or changed, and nothing is loaded; what keys and values mean isn't
/// checked. While another process writes, the last log may be unfinished.
///
/// # Errors
/// [`Error::Missing`] if there is no durable index; [`Error::Io`]. What is wrong with the files isn't an
/// error: it is in the answer.
pub fn verify(folder: impl AsRef<Path>) -> Result<Vec<CheckedFile>> {
    let folder = Folder::unlocked(Arc::new(System), folder.as_ref());
    let contents = folder.contents()?;
    if contents == Contents::default() {
        return Err(Error::Missing { path: folder.log(1) });
    }
    let mut files = Vec::new();
    if let Some(&number) = contents.snapshots.last() {
        let path = folder.snapshot(number);
        let (entries, trouble) = match Base::open(&folder, number) {
            Ok(base) => (base.len() as u64, None),
            Err(error) => (0, Some(Trouble::Refused(error))),
        };
        files.push(CheckedFile { bytes: folder.bytes_of(&path), path, entries, last: None, trouble });
    }
    let first = contents.snapshots.last().copied().unwrap_or(1);
    let logs: Vec<u64> = contents.logs.into_iter().filter(|&number| number >= first).collect();
    if first > 1 && !logs.contains(&first) {
        let trouble = Some(Trouble::Refused(Error::Missing { path: folder.log(first) }));
        files.push(CheckedFile { path: folder.log(first), bytes: 0, entries: 0, last: None, trouble });
    }
    let mut before: Option<(usize, Scan)> = None;
    for number in logs {
        let path = folder.log(number);
        let mut file =
            CheckedFile { bytes: folder.bytes_of(&path), path, entries: 0, last: None, trouble: None };
        match Scan::open(folder.disk(), &file.path, number) {
            Ok(None) => files.push(file),
            Ok(Some(mut log)) => {
                if let Some((at, before)) = before.take() {
                    files[at].trouble = match log.follows > before.last {
                        true => Some(Trouble::Refused(before.damaged(ENDS_BEFORE)?)),
                        // Whatever comes later was written by an index that had been taken over.
                        false => None,
                    };
                }
                if let Some(what) = log.pass_whole()? {
                    file.trouble = Some(match log.refuse_damage(what) {
                        Ok(()) => Trouble::Unfinished { at: log.at, what },
                        Err(error) => Trouble::Refused(error),
                    });
                }
                (file.entries, file.last) = (log.last - log.follows, Some(log.last));
                before = Some((files.len(), log));
                files.push(file);
            }
            Err(error) => {
                file.trouble = Some(Trouble::Refused(error));
                files.push(file);
            }
        }
    }
    Ok(files)
}

const ENDS_BEFORE: &str = "it ends before the record that the next log follows";

/// What a repair has done.
#[derive(Debug)]
#[non_exhaustive]
pub struct Repaired {
    /// The number of the last record that is kept.
    pub last: u64,
    /// Files with what was cut off. Nothing reads them, and nothing removes them if they have whole records.
    pub set_aside: Vec<PathBuf>,
}

/// Repairs the logs of a folder so that it opens: keeps every record before the first that is damaged, and
/// sets everything after it aside, later logs included. A folder that is right stays as it is; an unfinished
/// end is cut off, as an opening does. A snapshot can't be repaired.
///
/// # Errors
/// [`Error::Locked`] if the folder is open; [`Error::Missing`]; [`Error::Snapshot`] if the newest snapshot is
/// damaged; [`Error::Damaged`] if a log's first bytes are; [`Error::Io`]. A repair that failed can be
/// repeated.
pub fn repair(folder: impl AsRef<Path>) -> Result<Repaired> {
    // Nothing is made where nothing is.
    drop(ReadOnly::open(folder.as_ref())?);
    let folder = Folder::open(Arc::new(System), folder.as_ref())?;
    let contents = folder.contents()?;
    let first = contents.snapshots.last().copied().unwrap_or(1);
    let logs: Vec<u64> = contents.logs.into_iter().filter(|&number| number >= first).collect();
    let mut repaired = Repaired { last: 0, set_aside: Vec::new() };
    let mut before: Option<(u64, Scan, Option<&'static str>)> = None;
    let mut end = logs.len();
    for (at, &number) in logs.iter().enumerate() {
        let mut log = match Scan::open(folder.disk(), &folder.log(number), number) {
            Ok(Some(log)) => log,
            Ok(None) => continue,
            // Which records are its own isn't certain any more.
            Err(Error::Damaged { .. }) if before.is_some() => {
                end = at;
                break;
            }
            Err(error) => return Err(error),
        };
        if before.as_ref().is_some_and(|(_, before, _)| log.follows > before.last) {
            end = at;
            break;
        }
        let wrong = log.pass_whole()?;
        before = Some((number, log, wrong));
    }
    let Some((number, log, wrong)) = before else { return Err(Error::Missing { path: folder.log(first) }) };
    repaired.last = log.last;
    // The last ones first: a repair that is killed finds the same damage again.
    for &later in logs[end..].iter().rev() {
        let (aside, _) = folder.aside(later, true)?;
        let path = folder.log(later);
        folder.disk().rename(&path, &aside).map_err(Error::io("rename", &path))?;
        folder.sync()?;
        repaired.set_aside.push(aside);
    }
    if wrong.is_some() || log.len > log.at {
        let path = folder.log(number);
        let source = folder.disk().open(&path, How::Write).map_err(Error::io("open", &path))?;
        source.seek(log.at).map_err(Error::io("read", &path))?;
        let whole = log.later()?.records > 0;
        let (aside, beside) = folder.aside(number, whole)?;
        std::io::copy(&mut Reading(&*source), &mut Writing(&*beside)).map_err(Error::io("write", &aside))?;
        beside.sync_all().map_err(Error::io("sync", &aside))?;
        folder.sync()?;
        source.set_len(log.at.max(HEAD_BYTES as u64)).map_err(Error::io("cut", &path))?;
        source.sync_all().map_err(Error::io("sync", &path))?;
        repaired.set_aside.push(aside);
    }
    Ok(repaired)
}

/// Copies what [`repair`] would keep to a new folder, which opens, and changes nothing in the damaged one.
///
/// # Errors
/// Those of [`ReadOnly::backup`], except that damage in a log ends the copy there.
pub fn repair_to(folder: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Backup> {
    ReadOnly::open(folder)?.copy_to(to.as_ref(), Damage::Ends)
}
