//! Replaces a file in one step: the new file is written next to it, synced, and renamed. It has the
//! permissions of the old one. A symbolic link stays, and the file that it leads to is replaced.

use super::error::{Error, Result};
use latchless_core::base::spans;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The most symbolic links on the way to a file: as many as Linux follows.
const LINKS_MAX: usize = 40;

/// The target of a path, after all symbolic links.
struct Target {
    path: PathBuf,
    /// The file that is there, if one is.
    there: Option<Metadata>,
}

impl Target {
    /// Follows symbolic links to a file, or to the name that one is to get, and refuses anything else.
    fn find(path: &Path) -> Result<Self> {
        let refused = |at: &Path, cause| Err(Error::io("look at")(cause).about(at));
        let mut at = path.to_path_buf();
        for _ in 0..=LINKS_MAX {
            let there = match fs::symlink_metadata(&at) {
                Ok(there) => there,
                Err(cause) if cause.kind() == ErrorKind::NotFound => {
                    return Ok(Self { path: at, there: None });
                }
                Err(cause) => return refused(&at, cause),
            };
            if there.is_symlink() {
                let to = fs::read_link(&at).map_err(|cause| Error::io("follow")(cause).about(&at))?;
                at = at.parent().unwrap_or(Path::new("")).join(to);
            } else if there.is_file() {
                return Ok(Self { path: at, there: Some(there) });
            } else {
                return Err(Error::NotAFile { path: at, kind: kind_of(&there) });
            }
        }
        refused(path, io::Error::other("it leads through too many symbolic links"))
    }
}

/// The kind of something that is no file.
fn kind_of(there: &Metadata) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let found = there.file_type();
        let kinds = [
            (found.is_fifo(), "a FIFO"),
            (found.is_socket(), "a socket"),
            (found.is_char_device(), "a character device"),
            (found.is_block_device(), "a block device"),
        ];
        if let Some((_, kind)) = kinds.into_iter().find(|&(is_it, _)| is_it) {
            return kind;
        }
    }
    if there.is_dir() { "a folder" } else { "something else" }
}

/// A file next to the one that it is to replace; removed unless it gets there.
struct Temporary {
    path: PathBuf,
    done: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.done {
            // A file that can't be removed can't be helped, and the error that led here is more
            // informative.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns the number of this process. A module of WebAssembly has none.
fn process() -> u32 {
    if cfg!(target_family = "wasm") { 0 } else { std::process::id() }
}

/// Creates a new file next to the one that it is to replace: `path.tmp-1234-0`, or with the next free
/// number. If there is an old one, only the owner may open the new one until it has the old one's
/// permissions.
fn create_beside(target: &Target) -> Result<(File, Temporary)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if target.there.is_some() {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut number = 0_u64;
    loop {
        let mut name = OsString::from(&target.path);
        name.push(format!(".tmp-{}-{number}", process()));
        let beside = PathBuf::from(name);
        match options.open(&beside) {
            Ok(file) => return Ok((file, Temporary { path: beside, done: false })),
            // Another thread's, or left by a process of the same number that was killed.
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(cause) => return Err(Error::io("create")(cause).about(&beside)),
        }
    }
}

/// The permissions of a file with this mode for one that has another group: the group may do no more than
/// others may. The new mode has no set-user-ID and set-group-ID bits.
#[cfg(unix)]
fn mode_for_another(mode: u32) -> u32 {
    let others = mode & 0o007;
    mode & (0o707 | others << 3)
}

/// Gives a file the owner, the group and the permissions of another. The owner and the group only as far as
/// the system lets this process give files away.
#[cfg(unix)]
fn take_after(file: &File, there: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let is_alike = |found: &Metadata| (found.uid(), found.gid()) == (there.uid(), there.gid());
    let mut is_same = is_alike(&file.metadata()?);
    if !is_same {
        // A process that may not give the file to the owner may still be able to give it to the group.
        let given = fchown(file, Some(there.uid()), Some(there.gid()));
        if given.is_err() {
            let _ = fchown(file, None, Some(there.gid()));
        }
        is_same = is_alike(&file.metadata()?);
    }
    let has_group = file.metadata()?.gid() == there.gid();
    let mode = match (is_same, has_group) {
        (true, _) => there.mode() & 0o7777,
        (false, true) => there.mode() & 0o777,
        (false, false) => mode_for_another(there.mode()),
    };
    file.set_permissions(fs::Permissions::from_mode(mode))
}

/// Elsewhere a new file has the permissions of its folder.
#[cfg(not(unix))]
fn take_after(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Lets `write` fill a new file, and replaces the file that `path` leads to by it. If anything fails, the
/// old file is unchanged, and the new one is gone; but if only the folder can't be synced, the new file is
/// in place.
pub fn replace<T>(path: &Path, write: impl FnOnce(&mut File) -> Result<T>) -> Result<T> {
    let span = spans::snapshot_save();
    let target = Target::find(path)?;
    let (mut file, mut temporary) = create_beside(&target)?;
    let written = write(&mut file).map_err(|error| error.about(&temporary.path))?;
    if let Some(there) = &target.there {
        take_after(&file, there)
            .map_err(|cause| Error::io("set the permissions of")(cause).about(&temporary.path))?;
    }
    file.sync_all().map_err(|cause| Error::io("sync")(cause).about(&temporary.path))?;
    if let Ok(about) = file.metadata() {
        span.record("bytes", about.len());
    }
    drop(file);
    fs::rename(&temporary.path, &target.path)
        .map_err(|cause| Error::io("replace")(cause).about(&target.path))?;
    temporary.done = true;
    sync_folder_of(&target.path)?;
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

#[cfg(all(test, unix))]
mod tests {
    use super::{kind_of, mode_for_another};

    #[test]
    fn a_device_is_no_file() {
        assert_eq!(kind_of(&std::fs::metadata("/dev/null").unwrap()), "a character device");
    }

    #[test]
    fn another_group_may_do_no_more_than_others_could() {
        for mode in 0..=0o7777 {
            let new = mode_for_another(mode);
            assert_eq!(new & 0o707, mode & 0o707, "{mode:o}");
            assert_eq!(new & 0o070 & !((mode & 0o007) << 3), 0, "{mode:o}");
            assert_eq!(new & 0o070 & !mode, 0, "{mode:o}");
            assert_eq!(new & 0o7000, 0, "{mode:o}");
        }
    }
}
