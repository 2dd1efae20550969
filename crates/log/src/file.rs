//! One log file: its first bytes, and records appended at its end.

use crate::error::{Error, Result};
use crate::record::Draft;
use latchless::snapshot::{DataType, TimeUnit};
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes before the first record.
pub const HEAD_BYTES: usize = 64;
const MAGIC: &[u8; 8] = b"latchlog";
const VERSION: u32 = 2;
/// Where a file's first bytes have the sum of the others.
const SUM: std::ops::Range<usize> = 12..16;

/// All types that a column may have, but for bytes of a length of their own.
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

/// A type's name, filled up with zeros. Arrow's is too long for bytes of a length of their own.
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
    head[8..12].copy_from_slice(&VERSION.to_le_bytes());
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

/// Refuses a file whose first bytes aren't those of the log of this number and these types.
pub fn check_head(path: &Path, number: u64, types: [DataType; 2], found: &[u8; HEAD_BYTES]) -> Result<()> {
    let damaged = |at, what| Error::Damaged { path: path.into(), at, what };
    if &found[..8] != MAGIC {
        return Err(damaged(0, "it doesn't begin as a log does"));
    }
    let version = u32::from_le_bytes(found[8..12].try_into().expect("four bytes"));
    if version != VERSION {
        return Err(Error::Version { path: path.into(), found: version });
    }
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
    Ok(())
}

/// What a log says before its first record.
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
    /// Shared with whoever syncs it.
    file: Arc<File>,
    /// Bytes that are whole records.
    len: u64,
}

impl LogFile {
    /// A new log without records, synced; what is at its name is replaced.
    pub fn create(path: PathBuf, types: [DataType; 2], number: u64, follows: u64) -> Result<Self> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&path);
        let file = file.map_err(Error::io("create", &path))?;
        let mut log = Self { path, file: Arc::new(file), len: 0 };
        log.begin(types, number, follows)?;
        Ok(log)
    }

    /// A new log without even its first bytes, at a name that isn't taken.
    pub fn reserve(path: PathBuf) -> std::io::Result<Self> {
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok(Self { path, file: Arc::new(file), len: 0 })
    }

    /// Writes the first bytes of a log that has none, and syncs them.
    pub fn begin(&mut self, types: [DataType; 2], number: u64, follows: u64) -> Result<()> {
        let mut file = &*self.file;
        file.write_all(&head(types, number, follows)).map_err(Error::io("write", &self.path))?;
        file.sync_all().map_err(Error::io("sync", &self.path))?;
        self.len = HEAD_BYTES as u64;
        Ok(())
    }

    /// Takes the first bytes back, for good: whether that is so.
    pub fn unbegin(&mut self) -> bool {
        self.file.set_len(0).and_then(|()| self.file.sync_all()).is_ok()
    }

    /// A log whose first `len` bytes are whole records; what comes after is cut off.
    pub fn reopen(path: PathBuf, len: u64) -> Result<Self> {
        let file = OpenOptions::new().write(true).open(&path).map_err(Error::io("open", &path))?;
        let cut =
            file.set_len(len).and_then(|()| file.sync_all()).and_then(|()| (&file).seek(SeekFrom::End(0)));
        cut.map_err(Error::io("cut", &path))?;
        Ok(Self { path, file: Arc::new(file), len })
    }

    /// Its bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, for syncing it without holding up those who append.
    pub fn file(&self) -> Arc<File> {
        self.file.clone()
    }

    /// Appends a record. `Err(error, true)`: the file is as before. `Err(error, false)`: nobody knows.
    pub fn append(&mut self, draft: &mut Draft, number: u64) -> Result<(), (Error, bool)> {
        let bytes = draft.numbered(number);
        let mut file = &*self.file;
        match file.write_all(bytes) {
            Ok(()) => {
                self.len += bytes.len() as u64;
                Ok(())
            }
            Err(cause) => {
                let back = file.set_len(self.len).and_then(|()| file.seek(SeekFrom::Start(self.len)));
                Err((Error::io("append to", &self.path)(cause), back.is_ok()))
            }
        }
    }
}
