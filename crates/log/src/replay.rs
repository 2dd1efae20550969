//! Replay of a log's records, up to the first incomplete one.

use crate::disk::{Disk, How, Reading};
use crate::error::{Error, Result};
use crate::file::{HEAD_BYTES, Head, Whole, check_head};
use crate::findings::Recovery;
use crate::record::{Entry, Format, HEADER_BYTES, Header};
use latchless::snapshot::{self, DataType, Snapshot, multi, strings};
use std::collections::VecDeque;
use std::io::{BufReader, Read, Write};
use std::path::Path;

/// The extent to which a log could be read: its whole part, and the damage after that.
#[derive(Debug, Clone, Copy)]
pub struct End {
    pub whole: Whole,
    pub wrong: Option<&'static str>,
    /// How its records are written; nothing for a log without its first bytes.
    pub format: Option<Format>,
}

/// The ends of records that no later one records as being on the disk.
#[derive(Debug)]
struct Unproven {
    /// Up to which record and byte the log is known to be on the disk.
    proven: (u64, u64),
    /// Numbers and ends of records after that, not of all if they are many.
    ends: VecDeque<(u64, u64)>,
}

impl Unproven {
    /// Of a log that follows this record.
    fn new(follows: u64) -> Self {
        Self { proven: (follows, 0), ends: VecDeque::new() }
    }

    /// The log goes on up to this byte, the end of this record or of a mark after it, which says up to which
    /// record it was on the disk.
    fn push(&mut self, number: u64, end: u64, synced: u64) {
        while self.ends.front().is_some_and(|&(number, _)| number <= synced) {
            self.proven = self.ends.pop_front().expect("there is one");
        }
        if self.ends.len() == 1 << 12 {
            // Records between two of them count as unproven if the second does.
            let mut kept = false;
            self.ends.retain(|_| {
                kept = !kept;
                kept
            });
        }
        self.ends.push_back((number, end));
    }
}

/// The index that a folder's files are recovered into.
pub trait Target {
    /// The types of keys and values.
    fn types(&self) -> [DataType; 2];
    /// How many entries it has.
    fn len(&self) -> usize;
    /// Whether a new folder has a snapshot from its first moment on, even of no entry.
    fn begins_with_snapshot(&self) -> bool;
    /// Saves its entries, and returns how many they are.
    fn save(&self, out: &mut dyn Write) -> snapshot::Result<u64>;
    /// Fills it, while it is empty, and returns the number of entries. The outer error is of the file, the
    /// inner one of entries that the index refuses.
    fn load(&mut self, base: Base) -> snapshot::Result<Result<usize>>;
    /// Applies a record, and returns the number of its entries, or the damage in the record.
    fn apply(&mut self, header: Header, payload: &[u8]) -> Result<Result<u64, &'static str>>;
    /// Removes all entries, so that it can be filled again.
    fn clear(&mut self) -> Result<()>;
    /// After the last record: inserts the entries that were refused because the index was full.
    fn settle(&mut self) -> Result<()>;
}

/// A snapshot that was found in a folder.
#[derive(Debug)]
pub enum Base {
    Numbers(Snapshot),
    Strings(strings::Snapshot),
    Pairs(multi::Snapshot),
    /// The entries of the commit of this number.
    Commits(strings::Snapshot, u64),
}

/// Replays logs.
pub struct Replay<'a, T> {
    disk: &'a dyn Disk,
    target: &'a mut T,
    /// The number of the last record.
    pub last: u64,
    recovery: &'a mut Recovery,
    payload: Vec<u8>,
}

/// Reads as much as there is, up to the buffer's length.
pub fn fill(from: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut read = 0;
    while read < buffer.len() {
        match from.read(&mut buffer[read..]) {
            Ok(0) => break,
            Ok(bytes) => read += bytes,
            Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(read)
}

impl<'a, T: Target> Replay<'a, T> {
    /// Into this, which has everything up to the record of the number `last`.
    pub fn new(disk: &'a dyn Disk, target: &'a mut T, last: u64, recovery: &'a mut Recovery) -> Self {
        Self { disk, target, last, recovery, payload: Vec::new() }
    }

    /// The types of keys and values.
    pub fn types(&self) -> [DataType; 2] {
        self.target.types()
    }

    /// Replays one log, up to its end, to the first record that isn't whole, or to the record that the next
    /// log follows. A log without its first bytes was only being begun: by a rotation, or by an opening that
    /// was killed.
    pub fn log(&mut self, path: &Path, number: u64, until: Option<u64>) -> Result<End> {
        let refused = |cause| Error::io("read", path)(cause);
        let file = self.disk.open(path, How::Read).map_err(Error::io("open", path))?;
        let len = file.len().map_err(refused)?;
        // Records that a writer appends meanwhile are ignored.
        let mut file = BufReader::with_capacity(1 << 20, Reading(&*file).take(len));
        let mut head = [0; HEAD_BYTES];
        let read = fill(&mut file, &mut head).map_err(refused)?;
        let mut unproven = Unproven::new(self.last);
        if read < HEAD_BYTES || (len == HEAD_BYTES as u64 && Head::parse(&head).is_none()) {
            let whole = Whole { unproven: 0, end: 0, proven: self.last };
            return Ok(End { whole, wrong: None, format: None });
        }
        let format = check_head(path, number, self.target.types(), &head)?;
        let mut end = HEAD_BYTES as u64;
        let wrong = loop {
            if until.is_some_and(|until| self.last >= until) {
                break None;
            }
            match self.entry(&mut file, format, len - end, path)? {
                Ok(Some((bytes, synced))) => {
                    end += bytes;
                    unproven.push(self.last, end, synced);
                }
                Ok(None) => break until.map(|_| "it ends before the record that the next log follows"),
                Err(wrong) => break Some(wrong),
            }
        };
        let (proven, from) = unproven.proven;
        Ok(End { whole: Whole { unproven: from, end, proven }, wrong, format: Some(format) })
    }

    /// Replays the next record, or passes the next mark, of a log that has this many bytes left. Returns
    /// its length and the record up to which the log was on the disk when it was written; or nothing at the
    /// log's end; or the damage.
    fn entry(
        &mut self,
        file: &mut impl Read,
        format: Format,
        left: u64,
        path: &Path,
    ) -> Result<Result<Option<(u64, u64)>, &'static str>> {
        let refused = |cause| Error::io("read", path)(cause);
        let of = (format, self.target.types());
        let entry = match next_entry(file, of, left, self.last, &mut self.payload).map_err(refused)? {
            Ok(Some(entry)) => entry,
            Ok(None) => return Ok(Ok(None)),
            Err(wrong) => return Ok(Err(wrong)),
        };
        if let Some(record) = entry.record {
            match self.target.apply(record, &self.payload)? {
                Ok(entries) => self.recovery.entries += entries,
                Err(wrong) => return Ok(Err(wrong)),
            }
            self.last = entry.number;
            self.recovery.records += 1;
        }
        Ok(Ok(Some(((format.header_bytes() + self.payload.len()) as u64, entry.synced))))
    }
}

/// The next record or mark of a log that has this many bytes left, and whose last record so far has the
/// number `last`; its payload is in the buffer. Or nothing at the log's end; or the damage.
pub fn next_entry(
    file: &mut impl Read,
    (format, types): (Format, [DataType; 2]),
    left: u64,
    last: u64,
    payload: &mut Vec<u8>,
) -> std::io::Result<Result<Option<Entry>, &'static str>> {
    let mut header = [0; HEADER_BYTES];
    let header = &mut header[..format.header_bytes()];
    match fill(file, header)? {
        0 => return Ok(Ok(None)),
        read if read < header.len() => return Ok(Err("it ends within a record's header")),
        _ => {}
    }
    let entry = match Entry::parse(header, format) {
        Ok(entry) => entry,
        Err(wrong) => return Ok(Err(wrong)),
    };
    if entry.number != last + u64::from(entry.record.is_some()) {
        return Ok(Err("a record has another number than one more than that of the record before"));
    }
    let bytes = entry.payload_bytes(types);
    if bytes as u64 > left - header.len() as u64 {
        return Ok(Err("it ends within a record"));
    }
    payload.resize(bytes, 0);
    if fill(file, payload)? < bytes {
        return Ok(Err("it ends within a record"));
    }
    if !entry.has(payload) {
        return Ok(Err("the sum of a record is wrong"));
    }
    Ok(Ok(Some(entry)))
}

/// The header of a log, if it is complete.
pub fn head_of(disk: &dyn Disk, path: &Path) -> Result<Option<Head>> {
    let mut head = [0; HEAD_BYTES];
    let file = disk.open(path, How::Read).map_err(Error::io("open", path))?;
    let read = fill(&mut Reading(&*file), &mut head).map_err(Error::io("read", path))?;
    Ok(if read == HEAD_BYTES { Head::parse(&head) } else { None })
}
