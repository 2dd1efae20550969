//! Looks for whole records after the first incomplete record of a log: they decide whether that record is
//! damaged or was never finished.
//!
//! A killed process leaves nothing after an unfinished record. A power failure may leave whole records
//! after it, because the disk writes pages in any order; but only unsynced ones. So a record is damaged if
//! a later one says that it was on the disk.

use crate::disk::{Disk, DiskFile, How, Reading};
use crate::error::{Error, Result};
use crate::record::{Entry, Format};
use crate::replay::fill;
use latchless::snapshot::DataType;
use std::path::Path;

/// The whole records in the rest of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Later {
    /// How many records.
    pub records: u64,
    /// Whether the incomplete record was whole once.
    pub proves_damage: bool,
}

/// The bytes of a file from a place on, as many as are needed.
struct Rest<'a> {
    file: Reading<'a>,
    bytes: Vec<u8>,
    /// The place within them.
    at: usize,
    /// The bytes from the place to the file's end.
    left: u64,
}

/// As many bytes are read at once.
const PART_BYTES: usize = 1 << 20;

impl Rest<'_> {
    /// This many bytes from the place on; `None` if the file ends before.
    fn peek(&mut self, count: usize) -> std::io::Result<Option<&[u8]>> {
        if count as u64 > self.left {
            return Ok(None);
        }
        if self.at + count > self.bytes.len() {
            self.bytes.drain(..self.at);
            self.at = 0;
            let there = self.bytes.len();
            self.bytes.resize(count.max(PART_BYTES), 0);
            let read = fill(&mut self.file, &mut self.bytes[there..])?;
            self.bytes.truncate(there + read);
        }
        Ok(self.bytes.get(self.at..self.at + count))
    }

    fn pass(&mut self, count: usize) {
        self.at += count;
        self.left -= count as u64;
    }
}

/// Looks for whole records in a log from the byte on at which the first incomplete or useless one begins.
/// The last one before it has the number `last`.
pub fn look(
    disk: &dyn Disk,
    path: &Path,
    from: u64,
    format: Format,
    types: [DataType; 2],
    last: u64,
) -> Result<Later> {
    let file = disk.open(path, How::Read).map_err(Error::io("open", path))?;
    look_in(&*file, path, from, format, types, last)
}

/// The same in a file that is open.
pub fn look_in(
    file: &dyn DiskFile,
    path: &Path,
    from: u64,
    format: Format,
    types: [DataType; 2],
    last: u64,
) -> Result<Later> {
    let refused = |cause| Error::io("read", path)(cause);
    let left = file.len().map_err(refused)?.saturating_sub(from);
    file.seek(from).map_err(refused)?;
    let mut rest = Rest { file: Reading(file), bytes: Vec::new(), at: 0, left };
    let mut later = Later::default();
    let all = left;
    while let Some(header) = rest.peek(format.header_bytes()).map_err(refused)? {
        let header_bytes = header.len();
        // Most bytes are refused without a sum: these are zero in a header.
        let entry = match header[header_bytes - 3..] {
            [0, 0, 0] => Entry::parse(header, format).ok(),
            _ => None,
        };
        let Some(entry) = entry.filter(|entry| entry.number > last || entry.record.is_none()) else {
            rest.pass(1);
            continue;
        };
        let bytes = header_bytes + entry.payload_bytes(types);
        let is_first = rest.left == all;
        // Nothing follows a record that is longer than the file.
        let Some(whole) = rest.peek(bytes).map_err(refused)? else { break };
        if entry.has(&whole[header_bytes..]) {
            later.records += u64::from(entry.record.is_some());
            // Before there were such marks, a process waited for the disk at each change, if at all.
            let follows = format == Format::Unstamped || entry.synced > last;
            // The first one has right sums, but its keys are invalid.
            let is_of_no_use = is_first && entry.number == last + 1;
            later.proves_damage |= follows || is_of_no_use;
        }
        rest.pass(bytes);
    }
    Ok(later)
}
