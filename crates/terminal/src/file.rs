//! Files that a program will write.

use std::fs;
use std::io;
use std::path::Path;

/// Checks that a file can be written, so that a run of hours doesn't fail at its end. An existing file
/// keeps its contents.
///
/// # Errors
/// When the file can't be created or opened for writing.
pub fn check_writable(path: &Path) -> io::Result<()> {
    // A pipe or a terminal has a reader, which must not see the end of the file before the text.
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return Ok(());
    }
    let is_new = !path.exists();
    fs::OpenOptions::new().append(true).create(true).open(path)?;
    if is_new { fs::remove_file(path) } else { Ok(()) }
}
