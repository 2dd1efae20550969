//! Recovery: the newest snapshot, and every log from it on.

use crate::bytes::DurableBytesIndex;
use crate::columns::{self, Columns};
use crate::durable::{DurableIndex, Opening};
use crate::error::{Error, Result};
use crate::file::{HEAD_BYTES, Head, LogFile};
use crate::folder::{Contents, Folder};
use crate::journal::Journal;
use crate::log::Tail;
use crate::multi::DurableMultiIndex;
use crate::numbers::Numbers;
use crate::pairs::{Pairs, ROW};
use crate::replay::{Base, End, Replay, Target, fill};
use crate::strings::Strings;
use latchless::bytes::{BytesIndex, MultiIndex};
use latchless::snapshot::{self, DataType, SavedValue, Snapshot, multi, strings};
use latchless::{BytesKey, Index, Key, Value};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::RangeInclusive;
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

/// A folder that is locked, and of which the types are known, but whose entries aren't in an index yet.
///
/// [`DurableIndex::open`] is enough where the types are known beforehand.
#[derive(Debug)]
pub struct Found {
    folder: Folder,
    contents: Contents,
    /// The newest snapshot.
    snapshot: Option<(u64, Base)>,
    types: Option<[DataType; 2]>,
}

impl Found {
    /// Opens and locks a folder, which is made if it isn't there.
    ///
    /// # Errors
    /// [`Error::Locked`] if it is open elsewhere; [`Error::Snapshot`]; [`Error::Io`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = Folder::open(folder.as_ref())?;
        let contents = folder.contents()?;
        let snapshot = match contents.snapshots.last() {
            Some(&number) => {
                let path = folder.snapshot(number);
                Some((number, Base::open(&path).map_err(Error::snapshot(&path))?))
            }
            None => None,
        };
        let types = match (&snapshot, contents.logs.first()) {
            (Some((_, snapshot)), _) => Some(snapshot.types()),
            (None, Some(&number)) => head_of(&folder.log(number))?.and_then(|head| head.types),
            (None, None) => None,
        };
        Ok(Self { folder, contents, snapshot, types })
    }

    /// The types of keys and values, unless the folder is new.
    pub fn types(&self) -> Option<[DataType; 2]> {
        self.types
    }

    /// The metadata of the newest snapshot: see [`Columns::metadata`].
    pub fn metadata(&self) -> &[(String, String)] {
        self.snapshot.as_ref().map_or(&[], |(_, snapshot)| snapshot.metadata())
    }

    /// Makes a durable index of it, and says what was in it. The index given must be empty, unless the folder
    /// is new: then its entries are the first ones, in a snapshot that is on the disk when this returns.
    ///
    /// # Errors
    /// As [`DurableIndex::open`]; [`Error::Index`] for entries where some are already.
    pub fn recover<K: Key, V: Value, C: Columns<K, V>>(
        self,
        mut index: Index<K, V>,
        columns: C,
        opening: Opening,
    ) -> Result<(DurableIndex<K, V, C>, Recovery)> {
        columns::check(&columns).map_err(Error::snapshot(self.folder.path()))?;
        let (journal, recovery) = self.recover_into(&mut Numbers::new(&mut index, &columns), opening)?;
        Ok((DurableIndex { index, columns, journal }, recovery))
    }

    /// As [`Found::recover`], of keys of any length.
    ///
    /// # Errors
    /// As [`DurableBytesIndex::open`]; [`Error::Index`] for entries where some are already.
    pub fn recover_bytes<K: BytesKey + 'static, V: SavedValue>(
        self,
        mut index: BytesIndex<K, V>,
        opening: Opening,
    ) -> Result<(DurableBytesIndex<K, V>, Recovery)> {
        let (journal, recovery) = self.recover_into(&mut Strings::new(&mut index), opening)?;
        Ok((DurableBytesIndex { index, journal }, recovery))
    }

    /// As [`Found::recover_bytes`], of keys that are in many rows.
    ///
    /// # Errors
    /// As [`DurableMultiIndex::open`]; [`Error::Index`] for pairs where some are already.
    pub fn recover_multi<K: BytesKey + 'static>(
        self,
        mut index: MultiIndex<K>,
        opening: Opening,
    ) -> Result<(DurableMultiIndex<K>, Recovery)> {
        let (journal, recovery) = self.recover_into(&mut Pairs::new(&mut index), opening)?;
        Ok((DurableMultiIndex { index, journal }, recovery))
    }

    fn recover_into(mut self, target: &mut impl Target, opening: Opening) -> Result<(Journal, Recovery)> {
        let mut recovery = Recovery::default();
        let mut first = 1;
        if self.snapshot.is_none() && self.contents.logs.is_empty() {
            // If a process was killed while it made the folder, there may be one that has nothing.
            if target.len() > 0 || target.begins_with_snapshot() {
                self.folder.save(first, |out| target.save(out), || Ok(()))?;
                self.contents.snapshots.push(first);
            }
        } else if target.len() > 0 {
            return Err(latchless::Error::NotEmpty { len: target.len() }.into());
        }
        if let Some((number, base)) = self.snapshot.take() {
            let loaded = target.load(base).map_err(Error::snapshot(&self.folder.snapshot(number)))?;
            recovery.snapshot_entries = loaded as u64;
            first = number;
        }
        self.folder.remove_older_than(first)?;
        let tail = self.tail(first, target, opening.fenced, &mut recovery)?;
        self.folder.sync()?;
        let journal = Journal::new(self.folder, target.types(), tail, opening)?;
        Ok((journal, recovery))
    }

    /// Replays the logs from this one on, and opens the last one, or a new one, for further records.
    fn tail(
        &self,
        first: u64,
        target: &mut impl Target,
        fenced: bool,
        recovery: &mut Recovery,
    ) -> Result<Tail> {
        let (folder, types) = (&self.folder, target.types());
        let logs: Vec<u64> = self.contents.logs.iter().copied().filter(|&number| number >= first).collect();
        // The first log is made after the first snapshot, where there is one. All others are before theirs.
        if logs.is_empty() && self.contents.snapshots.last().is_none_or(|&number| number == 1) {
            let mut file =
                LogFile::reserve(folder.log(first)).map_err(|cause| taken(folder, first, cause))?;
            file.begin(types, first, 0)?;
            return Ok(Tail { file, log_number: first, record_number: 0, own_number: first });
        }
        let last = logs.last().copied().unwrap_or(first);
        // Before anything is read: what is appended to the logs so far from here on isn't acknowledged.
        let own = if fenced {
            let file =
                LogFile::reserve(folder.log(last + 1)).map_err(|cause| taken(folder, last + 1, cause))?;
            folder.sync()?;
            Some(file)
        } else {
            None
        };
        let Replayed { record_number, end, stop } = replay(folder, first..=last, &logs, target, recovery)?;
        target.settle()?;
        if let Some((number, stop)) = stop {
            recovery.stopped = reject(folder, number, &stop)?;
            if stop.at > 0 {
                drop(LogFile::reopen(folder.log(number), stop.at)?);
            }
        }
        let (file, number) = match own {
            Some(mut file) => {
                file.begin(types, last + 1, record_number)?;
                (file, last + 1)
            }
            None if end.at == 0 => (LogFile::create(folder.log(last), types, last, record_number)?, last),
            None => (LogFile::reopen(folder.log(last), end.at)?, last),
        };
        Ok(Tail { file, log_number: number, record_number, own_number: number })
    }
}

impl Base {
    fn open(path: &Path) -> snapshot::Result<Self> {
        match Snapshot::open(path) {
            Ok(snapshot) => Ok(Self::Numbers(snapshot)),
            Err(snapshot::Error::OtherKeys { .. }) => strings::Snapshot::open(path).map(Self::Strings),
            Err(snapshot::Error::OtherRows { .. }) => multi::Snapshot::open(path).map(Self::Pairs),
            Err(error) => Err(error),
        }
    }

    fn types(&self) -> [DataType; 2] {
        match self {
            Self::Numbers(snapshot) => [snapshot.key_type(), snapshot.value_type()],
            Self::Strings(snapshot) => [snapshot.key_type(), snapshot.value_type()],
            Self::Pairs(snapshot) => [snapshot.key_type(), ROW],
        }
    }

    fn metadata(&self) -> &[(String, String)] {
        match self {
            Self::Numbers(snapshot) => snapshot.metadata(),
            Self::Strings(snapshot) => snapshot.metadata(),
            Self::Pairs(snapshot) => snapshot.metadata(),
        }
    }
}

/// The error for a log that can't be made: somebody else was first, or the system refuses.
fn taken(folder: &Folder, number: u64, cause: std::io::Error) -> Error {
    match cause.kind() {
        std::io::ErrorKind::AlreadyExists => Error::Fenced { folder: folder.path().into() },
        _ => Error::io("create", &folder.log(number))(cause),
    }
}

/// What the replay of logs has found.
struct Replayed {
    /// The number of the last record.
    record_number: u64,
    /// How the last log ends.
    end: End,
    /// In which log and where the first record is that isn't whole, if there is one.
    stop: Option<(u64, End)>,
}

/// Replays these logs.
fn replay(
    folder: &Folder,
    numbers: RangeInclusive<u64>,
    logs: &[u64],
    target: &mut impl Target,
    recovery: &mut Recovery,
) -> Result<Replayed> {
    let mut heads = Vec::new();
    for number in numbers {
        let path = folder.log(number);
        if !logs.contains(&number) {
            return Err(Error::Missing { path });
        }
        heads.push((number, head_of(&path)?.map(|head| head.follows)));
    }
    let follows = heads.first().and_then(|&(_, follows)| follows).unwrap_or(0);
    let mut replay = Replay::new(target, follows, recovery);
    let (mut end, mut stop) = (End { at: 0, wrong: None }, None);
    for (at, &(number, _)) in heads.iter().enumerate() {
        let path = folder.log(number);
        // A log without its first bytes was only being begun: by a rotation, or by an opening that was
        // killed.
        let until = heads[at + 1..].iter().find_map(|&(_, follows)| follows);
        end = replay.log(&path, number, until)?;
        // What a log follows was on the disk before it began.
        let next = heads.get(at + 1).and_then(|&(_, follows)| follows);
        if next.is_some_and(|follows| follows != replay.last) {
            let what =
                end.wrong.unwrap_or("it has another last record than the one that the next log follows");
            return Err(Error::Damaged { path, at: end.at, what });
        }
        let ends_early = end.wrong.is_some() && until.is_none();
        if ends_early && stop.as_ref().is_none_or(|(_, stop): &(u64, End)| stop.at == 0) {
            stop = Some((number, end));
        }
    }
    Ok(Replayed { record_number: replay.last, end, stop })
}

/// What a log says before its first record, if all of that is there.
fn head_of(path: &Path) -> Result<Option<Head>> {
    let mut head = [0; HEAD_BYTES];
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    let read = fill(&mut file, &mut head).map_err(Error::io("read", path))?;
    Ok(if read == HEAD_BYTES { Head::parse(&head) } else { None })
}
