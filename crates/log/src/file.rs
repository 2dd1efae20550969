//! A log file: its header, and records appended at its end.

use crate::disk::{Disk, DiskFile, How};
use crate::error::{Error, Result};
use crate::measured;
use crate::record::{Draft, Format, mark};
use latchless::snapshot::{DataType, TimeUnit};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes before the first record.
pub const HEAD_BYTES: usize = 64;
const MAGIC: &[u8; 8] = b"latchlog";
/// Where a file's first bytes have the sum of the others.
const SUM: std::ops::Range<usize> = 12..16;

/// All types that a column may have, except bytes of a width of their own.
const TYPES: [DataType; 20] = {
    use DataType::{
        Binary, Duration, Float32, Float64, Int8, Int16, Int32, Int64, Timestamp, UInt8, UInt16, UInt32,
        UInt64, Utf8,
    };
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    [
        UInt8,
        UInt16,
        UInt32,
        UInt64,
        Int8,
        Int16,
        Int32,
        Int64,
        Float32,
        Float64,
        Timestamp(Second),
        Timestamp(Millisecond),
        Timestamp(Microsecond),
        Timestamp(Nanosecond),
        Duration(Second),
        Duration(Millisecond),
        Duration(Microsecond),
        Duration(Nanosecond),
        Binary,
        Utf8,
    ]
};

/// A type's name, padded with zeros. Arrow's is too long for bytes of a width of their own.
fn name(of: DataType) -> [u8; 16] {
    let mut name = [0; 16];
    let text = match of {
        DataType::FixedSizeBinary(bytes) => format!("binary[{bytes}]"),
        other => other.to_string(),
    };
    name[..text.len()].copy_from_slice(text.as_bytes());
    name
}

/// The type of this name.
fn named(found: &[u8]) -> Option<DataType> {
    let all = TYPES.into_iter().chain((1..=u8::MAX).map(DataType::FixedSizeBinary));
    all.into_iter().find(|&known| found == name(known))
}

/// The first bytes of the log of this number, whose records come after the one of the number `follows`.
fn head(types: [DataType; 2], number: u64, follows: u64) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..8].copy_from_slice(MAGIC);
    head[8..12].copy_from_slice(&(Format::NOW as u32).to_le_bytes());
    head[16..24].copy_from_slice(&number.to_le_bytes());
    head[24..40].copy_from_slice(&name(types[0]));
    head[40..56].copy_from_slice(&name(types[1]));
    head[56..64].copy_from_slice(&follows.to_le_bytes());
    let sum = sum_of(&head);
    head[SUM].copy_from_slice(&sum.to_le_bytes());
    head
}

/// The sum over all of the first bytes but the sum itself.
fn sum_of(head: &[u8; HEAD_BYTES]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&head[..SUM.start]);
    hasher.update(&head[SUM.end..]);
    hasher.finalize()
}

/// The format of the records in a file with this header. Refuses headers other than those of the log of
/// this number and these types.
pub fn check_head(
    path: &Path,
    number: u64,
    types: [DataType; 2],
    found: &[u8; HEAD_BYTES],
) -> Result<Format> {
    let damaged = |at, what| Error::Damaged { path: path.into(), at, what, whole: 0 };
    if &found[..8] != MAGIC {
        return Err(damaged(0, "it doesn't begin as a log does"));
    }
    let version = u32::from_le_bytes(found[8..12].try_into().expect("four bytes"));
    let Some(format) = Format::of_version(version) else {
        return Err(Error::Version { path: path.into(), found: version });
    };
    if found[SUM] != sum_of(found).to_le_bytes() {
        return Err(damaged(SUM.start as u64, "the sum of its first bytes is wrong"));
    }
    for (part, at, asked) in [("key", 24, types[0]), ("value", 40, types[1])] {
        if found[at..at + 16] != name(asked) {
            let found = &found[at..at + 16];
            let text = || String::from_utf8_lossy(found).trim_end_matches('\0').to_owned();
            let found = named(found).map_or_else(text, |known| known.to_string());
            return Err(Error::OtherType { path: path.into(), part, found, asked });
        }
    }
    if found[16..24] != number.to_le_bytes() {
        return Err(damaged(16, "it was written under another number"));
    }
    Ok(format)
}

/// The header of a log.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    /// Its types, if they are known.
    pub types: Option<[DataType; 2]>,
    /// The number of the last record before it.
    pub follows: u64,
}

impl Head {
    /// The head of a log that begins so, if it is whole.
    pub fn parse(found: &[u8; HEAD_BYTES]) -> Option<Self> {
        if &found[..8] != MAGIC || found[SUM] != sum_of(found).to_le_bytes() {
            return None;
        }
        let [key, value] = [24, 40].map(|at| named(&found[at..at + 16]));
        let types = key.zip(value).map(<[DataType; 2]>::from);
        Some(Self { types, follows: u64::from_le_bytes(found[56..64].try_into().expect("eight bytes")) })
    }
}

/// A log that takes records.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    /// Shared with the thread that syncs it.
    file: Arc<dyn DiskFile>,
    /// Bytes that are whole records and marks.
    len: u64,
    /// The largest record number that the file itself records as being on the disk.
    stamped: u64,
}

/// The bytes of a log that are whole records, and the part of them that isn't recorded as being on the
/// disk.
#[derive(Debug, Clone, Copy)]
pub struct Whole {
    /// Where that part begins.
    pub unproven: u64,
    /// Where it ends.
    pub end: u64,
    /// The number of the last record before that part.
    pub proven: u64,
}

impl LogFile {
    fn of(path: PathBuf, file: Box<dyn DiskFile>) -> Self {
        Self { path, file: file.into(), len: 0, stamped: 0 }
    }

    /// A new log without records, synced; a file of its name is replaced.
    pub fn create(
        disk: &dyn Disk,
        path: PathBuf,
        types: [DataType; 2],
        number: u64,
        follows: u64,
    ) -> Result<Self> {
        let file = disk.open(&path, How::Make).map_err(Error::io("create", &path))?;
        file.set_len(0).map_err(Error::io("cut", &path))?;
        let mut log = Self::of(path, file);
        log.begin(types, number, follows)?;
        Ok(log)
    }

    /// A new log without even its first bytes, at a name that isn't taken.
    pub fn reserve(disk: &dyn Disk, path: PathBuf) -> io::Result<Self> {
        let file = disk.open(&path, How::New)?;
        Ok(Self::of(path, file))
    }

    /// Writes the first bytes of a log that has none, and syncs them.
    pub fn begin(&mut self, types: [DataType; 2], number: u64, follows: u64) -> Result<()> {
        self.file.write_all(&head(types, number, follows)).map_err(Error::io("write", &self.path))?;
        self.file.sync_all().map_err(Error::io("sync", &self.path))?;
        (self.len, self.stamped) = (HEAD_BYTES as u64, follows);
        Ok(())
    }

    /// Removes the header; returns whether the removal is durable.
    pub fn unbegin(&mut self) -> bool {
        self.file.set_len(0).and_then(|()| self.file.sync_all()).is_ok()
    }

    /// Reopens a log that was read; all of its whole records are on the disk when this returns. If `cut`,
    /// the rest is cut off.
    ///
    /// Readable bytes aren't necessarily on the disk, and neither does a successful sync ensure that: if
    /// one failed before, in a process that is gone, the system may have them in memory and regard them as
    /// written. So they are written again.
    pub fn reopen(disk: &dyn Disk, path: PathBuf, whole: Whole, cut: bool) -> Result<Self> {
        let file = disk.open(&path, How::Write).map_err(Error::io("open", &path))?;
        if cut {
            file.set_len(whole.end).map_err(Error::io("cut", &path))?;
        }
        if cut || whole.unproven < whole.end {
            rewrite(&*file, whole).map_err(Error::io("write", &path))?;
            file.sync_all().map_err(Error::io("sync", &path))?;
        }
        file.seek(whole.end).map_err(Error::io("write", &path))?;
        Ok(Self { len: whole.end, stamped: whole.proven, ..Self::of(path, file) })
    }

    /// Its bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, for syncing it without blocking appends.
    pub fn file(&self) -> Arc<dyn DiskFile> {
        self.file.clone()
    }

    /// Appends a record of this number, while those up to `synced` are known to be on the disk. `Err(error,
    /// true)`: the file is as before. `Err(error, false)`: the file's state is unknown.
    pub fn append(&mut self, draft: &mut Draft, number: u64, synced: u64) -> Result<(), (Error, bool)> {
        self.write((draft.numbered(number, synced), 1), synced)
    }

    /// Appends a mark that the records up to `synced` are on the disk, unless the file says so already;
    /// returns whether it did. `number`: that of the last record. Errors as for [`LogFile::append`].
    pub fn mark(&mut self, number: u64, synced: u64) -> Result<bool, (Error, bool)> {
        if synced <= self.stamped {
            return Ok(false);
        }
        self.write((&mark(number, synced), 0), synced).map(|()| true)
    }

    fn write(&mut self, (bytes, records): (&[u8], u64), synced: u64) -> Result<(), (Error, bool)> {
        match self.file.write_all(bytes) {
            Ok(()) => {
                measured::count_appended(bytes.len(), records);
                self.len += bytes.len() as u64;
                self.stamped = self.stamped.max(synced);
                Ok(())
            }
            Err(cause) => {
                let back = self.file.set_len(self.len).and_then(|()| self.file.seek(self.len));
                Err((Error::io("append to", &self.path)(cause), back.is_ok()))
            }
        }
    }
}

/// Writes the unproven part of a log as it is.
fn rewrite(file: &dyn DiskFile, whole: Whole) -> io::Result<()> {
    let (mut at, mut buffer) = (whole.unproven, vec![0; 1 << 16]);
    while at < whole.end {
        let room = (whole.end - at).min(buffer.len() as u64) as usize;
        file.seek(at)?;
        let read = file.read(&mut buffer[..room])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        file.seek(at)?;
        file.write_all(&buffer[..read])?;
        at += read as u64;
    }
    Ok(())
}
