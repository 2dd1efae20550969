//! Redo logs that were damaged, and the required outcome of opening their folder.
//!
//! Sums detect nearly every change. So that the code after them is reached, too, they may be corrected: then
//! the log looks deliberate, and only its own inconsistency prevents it from being replayed.

use crate::damage::{Change, is_accidental};
use crate::drawn::{Drawn, End, Keys, Name, lent};
use arbitrary::Arbitrary;
use latchless::bytes::MultiIndex;
use latchless::{Broken, Index};
use latchless_log::{DamagedTail, DurableBytesIndex, DurableIndex, DurableMultiIndex};
use latchless_log::{Error, Options, Recovery, SnapshotPolicy, SyncMode};
use std::fs;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Bytes before a log's first record.
const HEAD_BYTES: usize = 64;

/// A folder: how it came about, and what happened to its last log.
#[derive(Debug, Arbitrary)]
pub struct Folder {
    kind: Kind,
    keys: Keys,
    steps: Vec<Step>,
    closes: bool,
    log: Log,
    /// Whether the sums are corrected after the changes.
    is_made_on_purpose: bool,
}

#[derive(Debug, Arbitrary)]
enum Kind {
    Numbers,
    Strings,
    Rows,
}

/// A change of the index, or of its folder.
#[derive(Debug, Arbitrary)]
enum Step {
    Put(Vec<(Name, u16)>),
    Remove(Name),
    /// Of numbers and strings; of rows, one row of the first key.
    RemoveRange(End, End),
    Sync,
    Snapshot,
}

/// The last log.
#[derive(Debug, Arbitrary)]
enum Log {
    /// The one that was written, with these changes.
    Changed(Vec<Change>),
    /// Anything.
    Any(Vec<u8>),
}

/// The entries of an index, as bytes.
type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// A durable index.
trait Durable: Sized {
    fn open(folder: &Path, options: Options) -> Result<(Self, Recovery), Error>;
    /// The entries that a reader of the folder finds.
    fn read(folder: &Path) -> Result<Entries, Error>;
    fn entries(&self) -> Entries;
    fn check_invariants(&self) -> Result<(), Broken>;
    fn log_bytes(&self) -> u64;
    fn sync(&self) -> Result<(), Error>;
    fn snapshot(&self) -> Result<u64, Error>;
    fn close(&self) -> Result<(), Error>;
    fn put(&self, entries: &[(Vec<u8>, u16)]) -> Result<usize, Error>;
    fn remove(&self, key: &[u8]) -> Result<bool, Error>;
    fn remove_range(&self, range: (Bound<&[u8]>, Bound<&[u8]>)) -> Result<usize, Error>;
}

/// What all have, under the same names.
macro_rules! durable {
    ($durable:ident of $index:ty, |$key:pat_param, $value:pat_param| $entry:expr) => {
        fn open(folder: &Path, options: Options) -> Result<(Self, Recovery), Error> {
            $durable::open(folder, options)
        }

        fn read(folder: &Path) -> Result<Entries, Error> {
            let (index, _): ($index, Recovery) = $durable::read(folder, never().index)?;
            Ok(index.iter().map(|($key, $value)| $entry).collect())
        }

        fn entries(&self) -> Entries {
            self.index().iter().map(|($key, $value)| $entry).collect()
        }

        fn check_invariants(&self) -> Result<(), Broken> {
            self.index().check_invariants()
        }

        fn log_bytes(&self) -> u64 {
            $durable::log_bytes(self)
        }

        fn sync(&self) -> Result<(), Error> {
            $durable::sync(self)
        }

        fn snapshot(&self) -> Result<u64, Error> {
            $durable::snapshot(self)
        }

        fn close(&self) -> Result<(), Error> {
            $durable::close(self)
        }
    };
}

/// The number that a key of bytes stands for: its last two.
fn number(key: &[u8]) -> u64 {
    key.iter().rev().take(2).fold(0, |number, &byte| number << 8 | u64::from(byte))
}

impl Durable for DurableIndex<u64, u64> {
    durable!(DurableIndex of Index<u64, u64>, |key, value| (key.to_be_bytes().into(), value.to_be_bytes().into()));

    fn put(&self, entries: &[(Vec<u8>, u16)]) -> Result<usize, Error> {
        let entry = |(key, value): &(Vec<u8>, u16)| (number(key), u64::drawn(*value));
        self.insert_many(&entries.iter().map(entry).collect::<Vec<_>>())
    }

    fn remove(&self, key: &[u8]) -> Result<bool, Error> {
        Ok(DurableIndex::remove(self, number(key))?.is_some())
    }

    fn remove_range(&self, (low, high): (Bound<&[u8]>, Bound<&[u8]>)) -> Result<usize, Error> {
        DurableIndex::remove_range(self, (low.map(number), high.map(number)))
    }
}

impl Durable for DurableBytesIndex<Vec<u8>, Vec<u8>> {
    durable!(DurableBytesIndex of Index<Vec<u8>, Vec<u8>>, |key, value| (key, value));

    fn put(&self, entries: &[(Vec<u8>, u16)]) -> Result<usize, Error> {
        let values: Vec<Vec<u8>> = entries.iter().map(|(_, value)| Vec::drawn(*value)).collect();
        let keys: Vec<&[u8]> = entries.iter().map(|(key, _)| &**key).collect();
        self.insert_columns(&keys, &values.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    fn remove(&self, key: &[u8]) -> Result<bool, Error> {
        Ok(DurableBytesIndex::remove(self, key)?.is_some())
    }

    fn remove_range(&self, range: (Bound<&[u8]>, Bound<&[u8]>)) -> Result<usize, Error> {
        DurableBytesIndex::remove_range(self, range)
    }
}

impl Durable for DurableMultiIndex<Vec<u8>> {
    durable!(DurableMultiIndex of MultiIndex<Vec<u8>>, |key, row| (key, row.to_be_bytes().into()));

    fn put(&self, entries: &[(Vec<u8>, u16)]) -> Result<usize, Error> {
        let pair = |(key, row): &(Vec<u8>, u16)| (key.clone(), u64::from(*row));
        self.insert_many(&entries.iter().map(pair).collect::<Vec<_>>())
    }

    fn remove(&self, key: &[u8]) -> Result<bool, Error> {
        Ok(DurableMultiIndex::remove_all(self, key)? > 0)
    }

    fn remove_range(&self, (low, high): (Bound<&[u8]>, Bound<&[u8]>)) -> Result<usize, Error> {
        let (Bound::Included(key) | Bound::Excluded(key)) = low else { return Ok(0) };
        let (Bound::Included(row) | Bound::Excluded(row)) = high else { return Ok(0) };
        Ok(usize::from(DurableMultiIndex::remove(self, key, number(row))?))
    }
}

/// No operation waits for the disk, and the log is as long as its history.
fn never() -> Options {
    let index = latchless::index::Options { huge_pages: false, ..Default::default() };
    Options { sync: SyncMode::Never, snapshots: SnapshotPolicy::MANUAL, index, ..Options::default() }
}

/// Corrects the sums of a log's head and of its records.
fn put_sums(log: &mut [u8], kind: &Kind) {
    let Some((head, mut records)) = log.split_at_mut_checked(HEAD_BYTES) else { return };
    let sum = crc32fast::hash(&[&head[..12], &head[16..]].concat());
    head[12..16].copy_from_slice(&sum.to_le_bytes());
    let header_bytes = if head[8] == 2 { 24 } else { 32 };
    while let Some((header, rest)) = records.split_at_mut_checked(header_bytes) {
        let end = header_bytes - 8;
        let count = u32::from_le_bytes(header[end..end + 4].try_into().expect("four bytes")) as usize;
        let payload_bytes = match (header[end + 4], kind) {
            (1, Kind::Numbers) => count.saturating_mul(16),
            (2, Kind::Numbers) => count.saturating_mul(8),
            (3, Kind::Numbers) => 24,
            (4..=7, _) => count,
            _ => 0,
        };
        let (payload, rest) = rest.split_at_mut(payload_bytes.min(rest.len()));
        header[4..8].copy_from_slice(&crc32fast::hash(payload).to_le_bytes());
        let sum = crc32fast::hash(&header[4..]);
        header[..4].copy_from_slice(&sum.to_le_bytes());
        records = rest;
    }
}

/// A log as it was left, and the entries after each of its changes, with its bytes at the time.
struct Left {
    path: PathBuf,
    bytes: Vec<u8>,
    states: Vec<(u64, Entries)>,
}

impl Left {
    /// The entries after the last change that is within this many bytes.
    fn state_at(&self, bytes: u64) -> &Entries {
        let (_, entries) =
            self.states.iter().rev().find(|(reached, _)| *reached <= bytes).unwrap_or(&self.states[0]);
        entries
    }
}

impl Folder {
    /// Makes the folder, and opens it.
    ///
    /// # Panics
    /// If opening panics, refuses what wasn't changed, finds entries that the index never had together, or
    /// doesn't go on from there.
    pub fn run(&self) {
        match self.kind {
            Kind::Numbers => self.run_as::<DurableIndex<u64, u64>>(),
            Kind::Strings => self.run_as::<DurableBytesIndex<Vec<u8>, Vec<u8>>>(),
            Kind::Rows => self.run_as::<DurableMultiIndex<Vec<u8>>>(),
        }
    }

    fn run_as<D: Durable>(&self) {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
        let folder = folder.expect("a folder for temporary files");
        let left = self.write::<D>(folder.path());
        let (log, is_accidental) = match &self.log {
            Log::Any(bytes) => (bytes.clone(), false),
            Log::Changed(changes) => {
                let mut log = left.bytes.clone();
                changes.iter().for_each(|change| change.apply(&mut log));
                (log, is_accidental(changes))
            }
        };
        let mut log = log;
        if self.is_made_on_purpose {
            put_sums(&mut log, &self.kind);
        }
        let is_accidental = is_accidental && !self.is_made_on_purpose;
        fs::write(&left.path, &log).expect("a file in memory");
        let read = D::read(folder.path());
        match D::open(folder.path(), never()) {
            Ok((durable, recovery)) => {
                let entries = check(&left, &log, is_accidental, &durable, &recovery);
                assert!(
                    read.is_err() || read.is_ok_and(|read| read == entries),
                    "a reader finds other entries"
                );
                go_on(folder.path(), durable, entries);
            }
            Err(error) => {
                assert!(log != left.bytes, "a log that nothing changed: {error}");
                assert_typed(&error);
                assert_eq!(fs::read(&left.path).expect("the log"), log, "a refused log was changed");
                let options = Options { damaged_tail: DamagedTail::SetAside, ..never() };
                match D::open(folder.path(), options) {
                    Ok((durable, recovery)) => {
                        let entries = check(&left, &log, is_accidental, &durable, &recovery);
                        go_on(folder.path(), durable, entries);
                    }
                    Err(error) => assert_typed(&error),
                }
            }
        }
    }

    /// Makes the folder.
    fn write<D: Durable>(&self, folder: &Path) -> Left {
        let (durable, _) = D::open(folder, never()).expect("a new folder");
        let (mut number, mut states) = (1, vec![(durable.log_bytes(), durable.entries())]);
        for step in &self.steps {
            match self.apply(step, &durable) {
                Ok(()) | Err(Error::Index { .. }) => {}
                Err(error) => panic!("{step:?}: {error}"),
            }
            if let Step::Snapshot = step {
                number += 1;
                states.clear();
            }
            states.push((durable.log_bytes(), durable.entries()));
        }
        if self.closes {
            durable.close().expect("a file in memory");
        }
        drop(durable);
        let path = folder.join(format!("log-{number:016x}.redo"));
        let bytes = fs::read(&path).expect("the last log");
        Left { path, bytes, states }
    }

    fn apply<D: Durable>(&self, step: &Step, durable: &D) -> Result<(), Error> {
        match step {
            Step::Put(entries) => {
                let entry = |&(name, value): &(Name, u16)| (self.keys.key(name), value);
                durable.put(&entries.iter().map(entry).collect::<Vec<_>>()).map(drop)
            }
            Step::Remove(name) => durable.remove(&self.keys.key(*name)).map(drop),
            Step::RemoveRange(low, high) => {
                durable.remove_range(lent(&self.keys.range((*low, *high)).0)).map(drop)
            }
            Step::Sync => durable.sync(),
            Step::Snapshot => durable.snapshot().map(drop),
        }
    }
}

/// What was recovered from this log.
fn check(
    left: &Left,
    log: &[u8],
    is_accidental: bool,
    durable: &impl Durable,
    recovery: &Recovery,
) -> Entries {
    durable.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
    let entries = durable.entries();
    if log == left.bytes {
        assert_eq!(recovery.stopped, None);
    }
    if is_accidental || log == left.bytes {
        let whole = if log.len() < HEAD_BYTES { 0 } else { log.len() as u64 };
        let end = recovery.stopped.as_ref().map_or(whole, |stopped| stopped.at);
        assert_eq!(&entries, left.state_at(end), "up to byte {end}");
    }
    entries
}

/// The recovered index takes changes, and the next opening finds them.
fn go_on<D: Durable>(folder: &Path, durable: D, before: Entries) {
    assert_eq!(durable.entries(), before);
    durable.put(&[(b"on".to_vec(), 7)]).expect("a put");
    let entries = durable.entries();
    drop(durable);
    let (durable, recovery) = D::open(folder, never()).expect("what was opened before");
    assert_eq!((durable.entries(), recovery.stopped), (entries, None));
}

/// An error about the files.
fn assert_typed(error: &Error) {
    let is_about_files = matches!(
        error,
        Error::Damaged { .. }
            | Error::Version { .. }
            | Error::OtherType { .. }
            | Error::Missing { .. }
            | Error::Snapshot { .. }
            | Error::Index { .. }
    );
    assert!(is_about_files, "{error}");
}
