//! Replay of a log's records, up to the first that isn't whole.

use crate::error::{Error, Result};
use crate::file::{HEAD_BYTES, check_head};
use crate::record::{HEADER_BYTES, Header};
use crate::recover::Recovery;
use latchless::snapshot::{self, DataType, Snapshot, multi, strings};
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

/// How far a log could be read: the end of its last whole record, and what is wrong after it.
#[derive(Debug, Clone, Copy)]
pub struct End {
    pub at: u64,
    pub wrong: Option<&'static str>,
}

/// What a folder's files are brought back into.
pub trait Target {
    /// The types of keys and values.
    fn types(&self) -> [DataType; 2];
    /// How many entries it has.
    fn len(&self) -> usize;
    /// Whether a new folder has a snapshot from its first moment on, even of no entry.
    fn begins_with_snapshot(&self) -> bool;
    /// Saves its entries, and says how many they are.
    fn save(&self, out: &mut dyn Write) -> snapshot::Result<u64>;
    /// Fills it, while it is empty, and says with how many entries.
    fn load(&mut self, base: Base) -> snapshot::Result<usize>;
    /// Does what a record says, and says how many entries that were, or what is wrong with the record.
    fn apply(&mut self, header: Header, payload: &[u8]) -> Result<Result<u64, &'static str>>;
    /// After the last record: puts in what was refused because the index was full.
    fn settle(&mut self) -> Result<()>;
}

/// A snapshot that was found in a folder.
#[derive(Debug)]
pub enum Base {
    Numbers(Snapshot),
    Strings(strings::Snapshot),
    Pairs(multi::Snapshot),
}

/// Replays logs.
pub struct Replay<'a, T> {
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
    pub fn new(target: &'a mut T, last: u64, recovery: &'a mut Recovery) -> Self {
        Self { target, last, recovery, payload: Vec::new() }
    }

    /// Replays one log, up to its end, to the first record that isn't whole, or to the record that the next
    /// log follows.
    pub fn log(&mut self, path: &Path, number: u64, until: Option<u64>) -> Result<End> {
        let refused = |cause| Error::io("read", path)(cause);
        let file = File::open(path).map_err(Error::io("open", path))?;
        let len = file.metadata().map_err(refused)?.len();
        let mut file = BufReader::with_capacity(1 << 20, file);
        let mut head = [0; HEAD_BYTES];
        if fill(&mut file, &mut head).map_err(refused)? < HEAD_BYTES {
            return Ok(End { at: 0, wrong: Some("it ends within its first bytes") });
        }
        // A power failure can leave a new file's length without its bytes.
        if len == HEAD_BYTES as u64 && head == [0; HEAD_BYTES] {
            return Ok(End { at: 0, wrong: Some("its first bytes were never written") });
        }
        check_head(path, number, self.target.types(), &head)?;
        let mut at = HEAD_BYTES as u64;
        loop {
            if until.is_some_and(|until| self.last >= until) {
                return Ok(End { at, wrong: None });
            }
            let mut header = [0; HEADER_BYTES];
            let read = fill(&mut file, &mut header).map_err(refused)?;
            let wrong = match read {
                0 if until.is_some() => Some("it ends before the record that the next log follows"),
                0 => None,
                HEADER_BYTES => {
                    match self.record(&mut file, &header, len - at - HEADER_BYTES as u64, path)? {
                        Ok(bytes) => {
                            at += (HEADER_BYTES + bytes) as u64;
                            continue;
                        }
                        Err(wrong) => Some(wrong),
                    }
                }
                _ => Some("it ends within a record's header"),
            };
            return Ok(End { at, wrong });
        }
    }

    /// Replays the record of this header, and says how many bytes follow it, or what is wrong with it.
    fn record(
        &mut self,
        file: &mut impl Read,
        header: &[u8; HEADER_BYTES],
        left: u64,
        path: &Path,
    ) -> Result<Result<usize, &'static str>> {
        let header = match Header::parse(header) {
            Ok(header) => header,
            Err(wrong) => return Ok(Err(wrong)),
        };
        if header.number != self.last + 1 {
            return Ok(Err("a record has another number than one more than that of the record before"));
        }
        let bytes = header.payload_bytes(self.target.types());
        if bytes as u64 > left {
            return Ok(Err("it ends within a record"));
        }
        self.payload.resize(bytes, 0);
        if fill(file, &mut self.payload).map_err(Error::io("read", path))? < bytes {
            return Ok(Err("it ends within a record"));
        }
        if !header.has(&self.payload) {
            return Ok(Err("the sum of a record is wrong"));
        }
        match self.target.apply(header, &self.payload)? {
            Ok(entries) => self.recovery.entries += entries,
            Err(wrong) => return Ok(Err(wrong)),
        }
        self.last = header.number;
        self.recovery.records += 1;
        Ok(Ok(bytes))
    }
}
