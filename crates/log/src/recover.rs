//! Recovery: the newest snapshot, and every log from it on.

use crate::error::{Error, Result};
use crate::file::{HEAD_BYTES, LogFile, check_head};
use crate::folder::Folder;
use crate::record::{self, HEADER_BYTES, Header, Kind};
use latchless::Index;
use latchless::snapshot::{Native, Snapshot};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// What opening a folder found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Entries of the snapshot; 0 without one.
    pub snapshot_entries: u64,
    /// Records of the logs that were replayed.
    pub records: u64,
    /// Entries that these put and removed.
    pub entries: u64,
    /// Where the last log ended early, if it did: see [the crate's head](crate).
    pub stopped: Option<Stopped>,
}

/// A log's first record that isn't whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The log.
    pub path: PathBuf,
    /// The byte at which that record begins.
    pub at: u64,
    /// How many bytes from there on were cut off, and are in `rejected` now.
    pub bytes: u64,
    /// What is wrong with it.
    pub what: &'static str,
    /// Where the bytes that were cut off are kept.
    pub rejected: PathBuf,
}

/// An index as a folder had it, and the log that takes its next record.
#[derive(Debug)]
pub struct Recovered<K: Native, V: Native> {
    pub index: Index<K, V>,
    pub log: LogFile,
    /// The log's number.
    pub log_number: u64,
    /// The number of the last record.
    pub record_number: u64,
    pub recovery: Recovery,
}

/// How far a log could be read: the end of its last whole record, and what is wrong after it.
struct End {
    at: u64,
    wrong: Option<&'static str>,
}

/// Replays logs into an index.
struct Replay<'a, K: Native, V: Native> {
    index: &'a Index<K, V>,
    /// The number of the last record; none was read yet.
    last: Option<u64>,
    recovery: &'a mut Recovery,
    keys: Vec<K>,
    values: Vec<V>,
    found: Vec<bool>,
    payload: Vec<u8>,
}

/// Reads as much as there is, up to the buffer's length.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
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

impl<K: Native, V: Native> Replay<'_, K, V> {
    /// Replays one log, up to its end or to the first record that isn't whole.
    fn log(&mut self, path: &Path, number: u64) -> Result<End> {
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
        check_head::<K, V>(path, number, &head)?;
        let mut at = HEAD_BYTES as u64;
        loop {
            let mut header = [0; HEADER_BYTES];
            let read = fill(&mut file, &mut header).map_err(refused)?;
            let wrong = match read {
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
        if self.last.is_some_and(|last| header.number != last + 1) {
            return Ok(Err("a record has another number than one more than that of the record before"));
        }
        let bytes = header.payload_bytes::<K, V>();
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
        if let Err(wrong) = self.apply(header)? {
            return Ok(Err(wrong));
        }
        self.last = Some(header.number);
        self.recovery.records += 1;
        Ok(Ok(bytes))
    }

    /// Does what a record says.
    fn apply(&mut self, header: Header) -> Result<Result<(), &'static str>> {
        let entries = header.entries;
        let (keys, rest) = self.payload.split_at(match header.kind {
            Kind::RemoveRange => 0,
            _ => entries * K::DATA_TYPE.width_bytes(),
        });
        self.keys.clear();
        self.keys
            .extend((0..if keys.is_empty() { 0 } else { entries }).map(|at| record::cell::<K>(keys, at)));
        self.values.clear();
        match header.kind {
            Kind::Put => {
                self.values.extend((0..entries).map(|at| record::cell::<V>(rest, at)));
                self.index.insert_columns(&self.keys, &self.values).map_err(latchless::Error::from)?;
                self.recovery.entries += entries as u64;
            }
            Kind::Remove => {
                self.values.resize(entries, V::from_cell(0));
                self.found.resize(entries, false);
                self.index.remove_columns(&self.keys, &mut self.values, &mut self.found)?;
                self.recovery.entries += entries as u64;
            }
            Kind::RemoveRange => match record::range::<K>(rest) {
                Ok(range) => self.recovery.entries += self.index.remove_range(range)? as u64,
                Err(wrong) => return Ok(Err(wrong)),
            },
        }
        Ok(Ok(()))
    }
}

/// Cuts off what comes after the last whole record of a log, and keeps it beside.
fn reject(folder: &Folder, number: u64, end: &End) -> Result<Option<Stopped>> {
    let (path, rejected) = (folder.log(number), folder.rejected(number));
    let Some(what) = end.wrong else { return Ok(None) };
    let mut log = File::open(&path).map_err(Error::io("open", &path))?;
    log.seek(SeekFrom::Start(end.at)).map_err(Error::io("read", &path))?;
    let mut beside = File::create(&rejected).map_err(Error::io("create", &rejected))?;
    let bytes = std::io::copy(&mut log, &mut beside).map_err(Error::io("write", &rejected))?;
    beside.sync_all().map_err(Error::io("sync", &rejected))?;
    Ok(Some(Stopped { path, at: end.at, bytes, what, rejected }))
}

/// Loads the newest snapshot, and says its number; without one, the first log's is 1.
fn load<K: Native, V: Native>(
    folder: &Folder,
    snapshots: &[u64],
    index: &mut Index<K, V>,
    recovery: &mut Recovery,
) -> Result<u64> {
    let Some(&number) = snapshots.last() else { return Ok(1) };
    let path = folder.snapshot(number);
    let snapshot = Snapshot::open(&path).map_err(Error::snapshot(&path))?;
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    snapshot.load(index, latchless::FillFactor::UPDATED, threads).map_err(Error::snapshot(&path))?;
    recovery.snapshot_entries = snapshot.len() as u64;
    Ok(number)
}

/// The index that a folder has.
pub fn recover<K: Native, V: Native>(
    folder: &Folder,
    options: latchless::index::Options,
) -> Result<Recovered<K, V>> {
    let mut index = Index::with_options(options)?;
    let mut recovery = Recovery::default();
    let contents = folder.contents()?;
    let first = load(folder, &contents.snapshots, &mut index, &mut recovery)?;
    folder.remove_older_than(first)?;
    let logs: Vec<u64> = contents.logs.into_iter().filter(|&number| number >= first).collect();
    if logs.is_empty() && contents.snapshots.is_empty() {
        let log = LogFile::create::<K, V>(folder.log(first), first)?;
        folder.sync()?;
        return Ok(Recovered { index, log, log_number: first, record_number: 0, recovery });
    }
    let last = logs.last().copied().unwrap_or(first);
    let mut replay = Replay {
        index: &index,
        last: None,
        recovery: &mut recovery,
        keys: Vec::new(),
        values: Vec::new(),
        found: Vec::new(),
        payload: Vec::new(),
    };
    let mut end = End { at: 0, wrong: None };
    for number in first..=last {
        let path = folder.log(number);
        if !logs.contains(&number) {
            return Err(Error::Missing { path });
        }
        end = replay.log(&path, number)?;
        // A log is on the disk whole before the next one begins.
        if let (Some(what), true) = (end.wrong, number < last) {
            return Err(Error::Damaged { path, at: end.at, what });
        }
    }
    let record_number = replay.last.unwrap_or(0);
    recovery.stopped = reject(folder, last, &end)?;
    let log = if end.at == 0 {
        LogFile::create::<K, V>(folder.log(last), last)?
    } else {
        LogFile::reopen(folder.log(last), end.at)?
    };
    folder.sync()?;
    Ok(Recovered { index, log, log_number: last, record_number, recovery })
}
