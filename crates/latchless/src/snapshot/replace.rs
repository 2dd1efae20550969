//! Replacing a file in one step: written beside it, synced, renamed.

use super::error::{Error, Result};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A file beside the one that it is to replace; removed unless it gets there.
struct Temporary {
    path: PathBuf,
    done: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.done {
            // There is nothing more to do about a file that can't be removed, and the error that led here
            // says more.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Creates a new file beside `path`: `path.tmp-1234-0`, or with the next number that is free.
fn create_beside(path: &Path) -> Result<(File, Temporary)> {
    let mut number = 0_u64;
    loop {
        let mut name = OsString::from(path);
        name.push(format!(".tmp-{}-{number}", std::process::id()));
        let beside = PathBuf::from(name);
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Ok(file) => return Ok((file, Temporary { path: beside, done: false })),
            // Another thread's, or left by a process of the same number that was killed.
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(cause) => return Err(Error::io("create")(cause).about(&beside)),
        }
    }
}

/// Lets `write` fill a new file and puts that in the place of `path`. If anything fails, `path` is as it was
/// before, and the new file is gone; but if the folder alone can't be synced, the new file is in place.
pub fn replace<T>(path: &Path, write: impl FnOnce(&mut File) -> Result<T>) -> Result<T> {
    let (mut file, mut temporary) = create_beside(path)?;
    let written = write(&mut file).map_err(|error| error.about(&temporary.path))?;
    file.sync_all().map_err(|cause| Error::io("sync")(cause).about(&temporary.path))?;
    drop(file);
    fs::rename(&temporary.path, path).map_err(|cause| Error::io("replace")(cause).about(path))?;
    temporary.done = true;
    sync_folder_of(path)?;
    Ok(written)
}

/// Makes the new name outlast a power failure.
#[cfg(unix)]
fn sync_folder_of(path: &Path) -> Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|cause| Error::io("sync the folder")(cause).about(folder))
}

/// Elsewhere folders can't be synced.
#[cfg(not(unix))]
fn sync_folder_of(_: &Path) -> Result<()> {
    Ok(())
}
