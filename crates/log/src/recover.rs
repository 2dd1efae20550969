//! Recovery: the newest snapshot, and every log from it on.

use crate::ahead::Ahead;
use crate::commits::commit_of;
use crate::disk::{Disk, How, Reading, System, Writing};
use crate::due::Due;
use crate::durable::Durable;
use crate::error::{Error, Result};
use crate::file::{HEAD_BYTES, LogFile};
use crate::findings::{DamagedTail, Recovery, Stopped};
use crate::folder::{Contents, Folder};
use crate::journal::Journal;
use crate::kept::{Kept, Usual};
use crate::later;
use crate::log::Tail;
use crate::options::{Opening, Options};
use crate::pairs::ROW;
use crate::record::Format;
use crate::replay::{Base, End, Replay, Target, head_of};
use crate::saver::{Saver, Share};
use latchless::snapshot::{self, DataType, Snapshot, multi, strings};
use latchless::spans;
use std::path::Path;
use std::sync::Arc;

/// A folder that is locked, and of which the types are known, but whose entries aren't in an index yet.
///
/// [`Durable::open`] is enough where the types are known beforehand.
#[derive(Debug)]
pub struct Found {
    folder: Folder,
    contents: Contents,
    look: Look,
}

/// The known facts about a folder before its entries are in an index.
#[derive(Debug)]
pub struct Look {
    /// The newest snapshot.
    pub snapshot: Option<(u64, Base)>,
    pub types: Option<[DataType; 2]>,
}

impl Look {
    pub fn at(folder: &Folder, contents: &Contents) -> Result<Self> {
        let snapshot = match contents.snapshots.last() {
            Some(&number) => Some((number, Base::open(folder, number)?)),
            None => None,
        };
        let types = match (&snapshot, contents.logs.first()) {
            (Some((_, snapshot)), _) => Some(snapshot.types()),
            (None, Some(&number)) => head_of(folder.disk(), &folder.log(number))?.and_then(|head| head.types),
            (None, None) => None,
        };
        Ok(Self { snapshot, types })
    }

    pub fn metadata(&self) -> &[(String, String)] {
        self.snapshot.as_ref().map_or(&[], |(_, snapshot)| snapshot.metadata())
    }
}

impl Found {
    /// Opens and locks a folder, which is made if it isn't there.
    ///
    /// # Errors
    /// [`Error::Locked`] if it is open elsewhere; [`Error::Snapshot`]; [`Error::Io`].
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Self::open_on(Arc::new(System), folder.as_ref())
    }

    pub(crate) fn open_on(disk: Arc<dyn Disk>, folder: &Path) -> Result<Self> {
        let folder = Folder::open(disk, folder)?;
        let contents = folder.contents()?;
        let look = Look::at(&folder, &contents)?;
        Ok(Self { folder, contents, look })
    }

    /// The types of keys and values, unless the folder is new.
    pub fn types(&self) -> Option<[DataType; 2]> {
        self.look.types
    }

    /// The metadata of the newest snapshot: see [`Columns::metadata`](crate::Columns::metadata).
    pub fn metadata(&self) -> &[(String, String)] {
        self.look.metadata()
    }

    /// Makes a durable index of it, and returns the recovery's findings. The index given must be empty,
    /// unless the folder is new: then its entries are the first ones, in a snapshot that is on the disk
    /// when this returns. The columns of an index of byte strings or of rows are `()`.
    ///
    /// # Errors
    /// Those of [`Durable::open`]; [`Error::Index`] for entries where some are already.
    pub fn recover<I: Kept<C>, C: Send + Sync + 'static>(
        self,
        index: I,
        columns: C,
        opening: Opening,
    ) -> Result<(Durable<I, C>, Recovery)> {
        self.recover_after(None, index, columns, opening)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The same of an index that has everything up to a record, if there is one.
    pub(crate) fn recover_after<I: Kept<C>, C: Send + Sync + 'static>(
        self,
        last: Option<u64>,
        mut index: I,
        columns: C,
        opening: Opening,
    ) -> Result<(Durable<I, C>, Recovery)> {
        let (journal, recovery) = {
            let mut target = index.target(&columns).map_err(Error::snapshot(self.folder.path()))?;
            match last {
                None => self.recover_into(&mut target, opening)?,
                Some(last) => self.recover_into(&mut Ahead::new(target, last), opening)?,
            }
        };
        let (index, columns, journal) = (Arc::new(index), Arc::new(columns), Arc::new(journal));
        let share = Arc::new(Share::of(&index));
        let its = (share.clone(), columns.clone());
        let saver = Saver::start(&journal, move |out| its.0.with(|index| index.write(&its.1, out)))?;
        Ok((Durable { saver, share, index, columns, journal }, recovery))
    }

    fn recover_into(mut self, target: &mut impl Target, opening: Opening) -> Result<(Journal, Recovery)> {
        let mut recovery = Recovery::default();
        let mut first = 1;
        if self.look.snapshot.is_none() && self.contents.logs.is_empty() {
            // If a process was killed while it made the folder, there may be one that has nothing.
            if target.len() > 0 || target.begins_with_snapshot() {
                self.folder.save(first, |out| target.save(out), || Ok(()))?;
                self.contents.snapshots.push(first);
            }
        } else if target.len() > 0 {
            return Err(latchless::Error::NotEmpty { len: target.len() }.into());
        }
        if let Some((number, base)) = self.look.snapshot.take() {
            let loaded = target.load(base).map_err(Error::snapshot(&self.folder.snapshot(number)))??;
            recovery.snapshot_entries = loaded as u64;
            first = number;
        }
        self.folder.remove_unfinished()?;
        let tail = self.tail(first, target, opening, &mut recovery)?;
        // The snapshot's name may not be on the disk yet. Without it nothing is useless.
        self.folder.sync()?;
        self.folder.remove_older_than(first)?;
        let due = Due::new(opening.snapshots, self.folder.bytes_of(&self.folder.snapshot(first)), {
            let logs = self.folder.contents()?.logs.into_iter().map(|number| self.folder.log(number));
            logs.map(|log| self.folder.bytes_of(&log).saturating_sub(HEAD_BYTES as u64)).sum()
        });
        let journal = Journal::new(self.folder, target.types(), tail, opening, due)?;
        Ok((journal, recovery))
    }

    /// Replays the logs from this one on, and opens the last one, or a new one, for further records.
    fn tail(
        &self,
        first: u64,
        target: &mut impl Target,
        opening: Opening,
        recovery: &mut Recovery,
    ) -> Result<Tail> {
        let (folder, types) = (&self.folder, target.types());
        let disk = folder.disk();
        let logs: Vec<u64> = self.contents.logs.iter().copied().filter(|&number| number >= first).collect();
        let reserve = |number| {
            let reserved = LogFile::reserve(disk, folder.log(number));
            reserved.map_err(|cause| taken(folder, number, cause))
        };
        let last = logs.last().copied().unwrap_or(first);
        // Before anything is read: records that are appended to the logs so far from here on aren't
        // acknowledged.
        let mut own = None;
        if opening.fenced && !logs.is_empty() {
            own = Some((reserve(last + 1)?, last + 1));
            folder.sync()?;
        }
        let found = replay(folder, first, &logs, target, recovery)?;
        target.settle()?;
        recovery.stopped = found.stop(folder, types, opening.damaged_tail)?;
        let mut file = None;
        if let Some((number, end)) = found.tail {
            let cut = recovery.stopped.is_some();
            let log = LogFile::reopen(disk, folder.log(number), end.whole, cut)?;
            // Records aren't appended to those of an older format, nor where a later log was begun.
            if number == last && end.format == Some(Format::NOW) {
                file = Some((log, number));
            } else if number == last && own.is_none() {
                own = Some((reserve(last + 1)?, last + 1));
            }
        }
        let record_number = found.last;
        let (file, number) = match (own, file) {
            (Some((mut log, number)), _) => {
                log.begin(types, number, record_number)?;
                (log, number)
            }
            (None, Some(found)) => found,
            (None, None) if logs.is_empty() => {
                let mut log = reserve(first)?;
                log.begin(types, first, record_number)?;
                (log, first)
            }
            // It was only being begun.
            (None, None) => (LogFile::create(disk, folder.log(last), types, last, record_number)?, last),
        };
        Ok(Tail { file, log_number: number, record_number, own_number: number })
    }
}

impl<I: Usual> Durable<I, I::Columns> {
    /// Opens a folder, which is made if it isn't there, and returns the recovery's findings. Of the options
    /// of an index, byte strings and rows have the memory limit alone.
    ///
    /// # Errors
    /// [`Error::Locked`] if it is open elsewhere; [`Error::Damaged`], [`Error::Missing`],
    /// [`Error::OtherType`], [`Error::Version`] and [`Error::Snapshot`] if its files aren't intact;
    /// [`Error::Io`]; [`Error::Index`] if memory is refused. The files are then unchanged.
    pub fn open(folder: impl AsRef<Path>, options: Options) -> Result<(Self, Recovery)> {
        let found = Found::open(folder)?;
        found.recover(I::with_options(options.index.clone())?, I::Columns::default(), options.into())
    }
}

impl Base {
    pub fn open(folder: &Folder, number: u64) -> Result<Self> {
        let path = folder.snapshot(number);
        let bytes = || bytes_of(folder.disk(), &path);
        let opened = match Snapshot::from_bytes(bytes()?) {
            Ok(snapshot) => Ok(Self::Numbers(snapshot)),
            Err(snapshot::Error::OtherKeys { .. }) => {
                strings::Snapshot::from_bytes(bytes()?).map(|snapshot| match commit_of(&snapshot) {
                    Some(number) => Self::Commits(snapshot, number),
                    None => Self::Strings(snapshot),
                })
            }
            Err(snapshot::Error::OtherRows { .. }) => multi::Snapshot::from_bytes(bytes()?).map(Self::Pairs),
            Err(error) => Err(error),
        };
        opened.map_err(Error::snapshot(&path))
    }

    fn types(&self) -> [DataType; 2] {
        match self {
            Self::Numbers(snapshot) => [snapshot.key_type(), snapshot.value_type()],
            Self::Strings(snapshot) | Self::Commits(snapshot, _) => {
                [snapshot.key_type(), snapshot.value_type()]
            }
            Self::Pairs(snapshot) => [snapshot.key_type(), ROW],
        }
    }

    /// The name of the type of keys that are strings.
    pub fn key_name(&self) -> &str {
        match self {
            Self::Numbers(_) => "",
            Self::Strings(snapshot) | Self::Commits(snapshot, _) => snapshot.key_name(),
            Self::Pairs(snapshot) => snapshot.key_name(),
        }
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(snapshot) => snapshot.len(),
            Self::Strings(snapshot) | Self::Commits(snapshot, _) => snapshot.len(),
            Self::Pairs(snapshot) => snapshot.len(),
        }
    }

    fn metadata(&self) -> &[(String, String)] {
        match self {
            Self::Numbers(snapshot) => snapshot.metadata(),
            Self::Strings(snapshot) | Self::Commits(snapshot, _) => snapshot.metadata(),
            Self::Pairs(snapshot) => snapshot.metadata(),
        }
    }
}

/// The error for a log that can't be made: another opening was first, or the system refuses.
fn taken(folder: &Folder, number: u64, cause: std::io::Error) -> Error {
    match cause.kind() {
        std::io::ErrorKind::AlreadyExists => Error::Fenced { folder: folder.path().into() },
        _ => Error::io("create", &folder.log(number))(cause),
    }
}

/// All bytes of a file.
fn bytes_of(disk: &dyn Disk, path: &Path) -> Result<Vec<u8>> {
    let refused = |cause| Error::io("read", path)(cause);
    let file = disk.open(path, How::Read).map_err(Error::io("open", path))?;
    let len = file.len().map_err(refused)?;
    let mut bytes = Vec::new();
    // One more than is expected, or the end would only be found after the buffer has grown.
    let room = usize::try_from(len).ok().and_then(|len| bytes.try_reserve_exact(len.checked_add(1)?).ok());
    if room.is_none() {
        return Err(Error::snapshot(path)(snapshot::Error::OutOfMemory { requested_bytes: len }));
    }
    std::io::Read::read_to_end(&mut Reading(&*file), &mut bytes).map_err(refused)?;
    Ok(bytes)
}

/// The result of replaying logs.
pub struct Replayed {
    /// The number of the last record.
    last: u64,
    /// The last log that has its first bytes, and how it ends.
    tail: Option<(u64, End)>,
}

/// Replays these logs, which begin with that of the number `first`.
pub fn replay(
    folder: &Folder,
    first: u64,
    logs: &[u64],
    target: &mut impl Target,
    recovery: &mut Recovery,
) -> Result<Replayed> {
    let mut heads = Vec::new();
    for &number in logs {
        let head = head_of(folder.disk(), &folder.log(number))?;
        heads.push((number, head.map(|head| head.follows)));
    }
    let begun: Vec<(u64, u64)> = heads.iter().filter_map(|&(number, head)| Some((number, head?))).collect();
    // A first log is made after the first snapshot, where there is one. All others are before theirs.
    let follows = match begun.first() {
        Some(&(number, follows)) if number == first => follows,
        None if first == 1 => 0,
        _ if !logs.contains(&first) => return Err(Error::Missing { path: folder.log(first) }),
        _ if first == 1 => 0,
        _ => {
            let what = "it lacks its first bytes, which it had before the snapshot of its number";
            return Err(Error::Damaged { path: folder.log(first), at: 0, what, whole: 0 });
        }
    };
    let span = spans::replay();
    let mut replay = Replay::new(folder.disk(), target, follows, recovery);
    let mut tail = None;
    for (at, &(number, head)) in heads.iter().enumerate() {
        let path = folder.log(number);
        let until = heads[at + 1..].iter().find_map(|&(number, follows)| Some((number, follows?)));
        let end = replay.log(&path, number, until.map(|(_, follows)| follows))?;
        // The log that another one follows was on the disk before that one began.
        if let (Some((next, follows)), Some(format)) = (until, end.format)
            && follows != replay.last
        {
            if let Some(missing) = (number + 1..next).find(|number| !logs.contains(number)) {
                return Err(Error::Missing { path: folder.log(missing) });
            }
            let other = "it has another last record than the one that the next log follows";
            let what = end.wrong.unwrap_or(other);
            let types = replay.types();
            let later = later::look(folder.disk(), &path, end.whole.end, format, types, replay.last)?;
            return Err(Error::Damaged { path, at: end.whole.end, what, whole: later.records });
        }
        if head.is_some() {
            tail = Some((number, end));
        }
    }
    let last = replay.last;
    span.record("records", recovery.records);
    span.record("entries", recovery.entries);
    Ok(Replayed { last, tail })
}

impl Replayed {
    /// The number of the last log, the byte at which its whole records end, and the number of the last one.
    pub fn end(&self) -> Option<(u64, u64, u64)> {
        self.tail.map(|(number, end)| (number, end.whole.end, self.last))
    }

    /// Refuses damage in the last log, unless it is to be set aside; otherwise returns the bytes after its
    /// last whole record, if any. They stay where they are.
    pub fn stopped(
        &self,
        folder: &Folder,
        types: [DataType; 2],
        damaged: DamagedTail,
    ) -> Result<Option<Stopped>> {
        let Some((number, End { whole: kept, wrong: Some(what), format: Some(format) })) = self.tail else {
            return Ok(None);
        };
        let (disk, path, at) = (folder.disk(), folder.log(number), kept.end);
        let later = later::look(disk, &path, at, format, types, self.last)?;
        if later.proves_damage && damaged == DamagedTail::Refuse {
            return Err(Error::Damaged { path, at, what, whole: later.records });
        }
        let bytes = folder.bytes_of(&path).saturating_sub(at);
        Ok(Some(Stopped { rejected: path.clone(), path, at, bytes, what, whole: later.records }))
    }

    /// Copies the bytes that [`Replayed::stopped`] reports to a file of their own.
    fn stop(&self, folder: &Folder, types: [DataType; 2], damaged: DamagedTail) -> Result<Option<Stopped>> {
        let stopped = self.stopped(folder, types, damaged)?;
        let (Some(Stopped { path, at, what, whole, .. }), Some((number, _))) = (stopped, self.tail) else {
            return Ok(None);
        };
        let log = folder.disk().open(&path, How::Read).map_err(Error::io("open", &path))?;
        log.seek(at).map_err(Error::io("read", &path))?;
        let (rejected, beside) = folder.aside(number, whole > 0)?;
        let bytes = std::io::copy(&mut Reading(&*log), &mut Writing(&*beside));
        let bytes = bytes.map_err(Error::io("write", &rejected))?;
        beside.sync_all().map_err(Error::io("sync", &rejected))?;
        // It has its name before the log is cut.
        folder.sync()?;
        Ok(Some(Stopped { path, at, bytes, what, whole, rejected }))
    }
}
