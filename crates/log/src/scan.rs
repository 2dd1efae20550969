//! A log that is read entry by entry, whatever its index is. It may be read on when it has grown.

use crate::disk::{Disk, How, KeptOpen};
use crate::error::{Error, Result};
use crate::file::{HEAD_BYTES, Head, check_head};
use crate::later::{self, Later};
use crate::record::{Entry, Format};
use crate::replay::{fill, next_entry};
use latchless::snapshot::DataType;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// As many bytes are read at once.
const PART_BYTES: usize = 1 << 18;

/// See the file's head.
#[derive(Debug)]
pub struct Scan {
    path: PathBuf,
    file: KeptOpen,
    read: BufReader<KeptOpen>,
    pub format: Format,
    pub types: [DataType; 2],
    /// The file's bytes, as far as they are read.
    pub len: u64,
    /// Where the next entry begins.
    pub at: u64,
    /// The number of the last record before that.
    pub last: u64,
    /// That of the last record before this log.
    pub follows: u64,
    /// What the last entry has after its header.
    pub payload: Vec<u8>,
}

impl Scan {
    /// Opens the log of this number; nothing if it lacks its first bytes or part of them.
    pub fn open(disk: &dyn Disk, path: &Path, number: u64) -> Result<Option<Self>> {
        let refused = |cause| Error::io("read", path)(cause);
        let file = KeptOpen(disk.open(path, How::Read).map_err(Error::io("open", path))?.into());
        let mut head = [0; HEAD_BYTES];
        let read = fill(&mut file.clone(), &mut head).map_err(refused)?;
        let damaged = |at, what| Error::Damaged { path: path.into(), at, what, whole: 0 };
        let Some(known) = Head::parse(&head) else {
            let is_begun = read < HEAD_BYTES || file.0.len().map_err(refused)? == HEAD_BYTES as u64;
            return if is_begun { Ok(None) } else { Err(damaged(0, "its first bytes are wrong")) };
        };
        let what = "it has keys or values of a type that isn't known";
        let types = known.types.ok_or_else(|| damaged(24, what))?;
        let format = check_head(path, number, types, &head)?;
        let (at, last) = (HEAD_BYTES as u64, known.follows);
        let (path, read) = (path.into(), BufReader::with_capacity(PART_BYTES, file.clone()));
        let payload = Vec::new();
        let mut scan = Self { path, file, read, format, types, len: 0, at, last, follows: last, payload };
        scan.refresh()?;
        Ok(Some(scan))
    }

    /// Passes what precedes this byte, at which an entry begins, after the record of the number `last`.
    pub fn pass(&mut self, at: u64, last: u64) -> Result<()> {
        (self.at, self.last) = (at, last);
        self.refresh()
    }

    /// Sees how long the file is now, and reads on at the first entry that wasn't whole.
    pub fn refresh(&mut self) -> Result<()> {
        let refused = |cause| Error::io("read", &self.path)(cause);
        self.len = self.file.0.len().map_err(refused)?;
        self.file.0.seek(self.at).map_err(refused)?;
        self.read = BufReader::with_capacity(PART_BYTES, self.file.clone());
        Ok(())
    }

    /// The next record or mark; or nothing at the log's end; or the damage, whose place is `at`. Bytes that
    /// were appended after [`Scan::refresh`] are ignored.
    pub fn next(&mut self) -> Result<Result<Option<Entry>, &'static str>> {
        let left = self.len.saturating_sub(self.at);
        let of = (self.format, self.types);
        let next = next_entry(&mut (&mut self.read).take(left), of, left, self.last, &mut self.payload);
        let next = next.map_err(Error::io("read", &self.path))?;
        if let Ok(Some(entry)) = next {
            self.at += (self.format.header_bytes() + self.payload.len()) as u64;
            self.last = entry.number;
        }
        Ok(next)
    }

    /// The whole records after the first that isn't.
    pub fn later(&self) -> Result<Later> {
        later::look_in(&*self.file.0, &self.path, self.at, self.format, self.types, self.last)
    }

    /// The error for damage at the place of the next entry.
    pub fn damaged(&self, what: &'static str) -> Result<Error> {
        Ok(Error::Damaged { path: self.path.clone(), at: self.at, what, whole: self.later()?.records })
    }

    /// Refuses an end that no kill or power failure can have left.
    pub fn refuse_damage(&self, what: &'static str) -> Result<()> {
        let later = self.later()?;
        let (path, at) = (self.path.clone(), self.at);
        if later.proves_damage {
            Err(Error::Damaged { path, at, what, whole: later.records })
        } else {
            Ok(())
        }
    }

    /// Reads on to the end of the whole entries, and returns why it isn't the file's.
    pub fn pass_whole(&mut self) -> Result<Option<&'static str>> {
        loop {
            match self.next()? {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                Err(wrong) => return Ok(Some(wrong)),
            }
        }
    }
}
