//! The log's interface to a file system, and the system's own file system. Tests substitute one that fails.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// To read a file that is there.
    Read,
    /// To read and write a file that is there.
    Write,
    /// To read and write a file, which is made if it isn't there.
    Make,
    /// To write a file at a name that isn't taken.
    New,
}

/// A file system. An operation on names is on the disk once its folder was synced, one on a file's bytes
/// once that file was.
pub trait Disk: Debug + Send + Sync {
    /// Makes a folder in one that is there.
    fn create_folder(&self, path: &Path) -> io::Result<()>;
    /// The names in a folder, except those that aren't Unicode.
    fn names(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Whether a name is taken.
    fn exists(&self, path: &Path) -> io::Result<bool>;
    /// Opens a file at its first byte.
    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>>;
    /// Gives a file or a folder another name in the same folder; a file that has it already is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// Returns when the names in a folder are on the disk.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
}

/// An open file.
pub trait DiskFile: Debug + Send + Sync {
    /// Its bytes.
    fn len(&self) -> io::Result<u64>;
    /// Goes to a byte, from which the next read or write begins.
    fn seek(&self, at: u64) -> io::Result<()>;
    /// Reads some bytes, none at the end of the file, and advances past them.
    fn read(&self, buffer: &mut [u8]) -> io::Result<usize>;
    /// Writes bytes, and advances past them. If that fails, some may be written.
    fn write_all(&self, bytes: &[u8]) -> io::Result<()>;
    /// Cuts off everything after this many bytes.
    fn set_len(&self, len: u64) -> io::Result<()>;
    /// Returns when its bytes and its length are on the disk.
    fn sync_data(&self) -> io::Result<()>;
    /// Syncs the file's data and all of its metadata. See [`DiskFile::sync_data`].
    fn sync_all(&self) -> io::Result<()>;
    /// Locks it against other openings.
    fn try_lock(&self) -> Result<(), TryLockError>;
    /// Gives the lock up.
    fn unlock(&self) -> io::Result<()>;
}

/// A file as a reader.
pub struct Reading<'a>(pub &'a dyn DiskFile);

impl Read for Reading<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

/// A file that is kept open, as a reader.
#[derive(Debug, Clone)]
pub struct KeptOpen(pub Arc<dyn DiskFile>);

impl Read for KeptOpen {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

/// A file as a writer.
pub struct Writing<'a>(pub &'a dyn DiskFile);

impl Write for Writing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The system's own.
#[derive(Debug, Clone, Copy)]
pub struct System;

impl Disk for System {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string().ok()));
        names.filter_map(Result::transpose).collect()
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }

    fn open(&self, path: &Path, how: How) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        match how {
            How::Read => options.read(true),
            How::Write => options.read(true).write(true),
            How::Make => options.read(true).write(true).create(true).truncate(false),
            How::New => options.write(true).create_new(true),
        };
        Ok(Box::new(options.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        // Elsewhere folders can't be synced.
        if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
    }
}

impl DiskFile for File {
    fn len(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn seek(&self, at: u64) -> io::Result<()> {
        let mut file = self;
        Seek::seek(&mut file, SeekFrom::Start(at)).map(drop)
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = self;
        Read::read(&mut file, buffer)
    }

    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self;
        Write::write_all(&mut file, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        File::set_len(self, len)
    }

    fn sync_data(&self) -> io::Result<()> {
        File::sync_data(self)
    }

    fn sync_all(&self) -> io::Result<()> {
        File::sync_all(self)
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        File::try_lock(self)
    }

    fn unlock(&self) -> io::Result<()> {
        File::unlock(self)
    }
}
