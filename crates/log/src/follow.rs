//! An index that follows a folder which another process has open: it has what the writer has logged so far,
//! record by record, and can take the folder over when the writer is gone.

use crate::disk::System;
use crate::durable::Durable;
use crate::error::{Error, Result};
use crate::file::HEAD_BYTES;
use crate::findings::Recovery;
use crate::folder::Folder;
use crate::kept::{Kept, Usual};
use crate::options::Opening;
use crate::reading::{ReadOnly, is_gone};
use crate::recover::Found;
use crate::replay::Target;
use crate::scan::Scan;
use latchless::Reader;
use std::cmp::Ordering;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Bytes of records that are applied before readers get their turn.
const PART_BYTES: u64 = 1 << 20;

/// How often a follower looks at a folder whose files change under it, in one call.
const LOOKS_MAX: usize = 100;

/// An index in memory that follows the folder of a durable index. It is a reader in another process, or in
/// another thread, and a warm standby: nothing of the folder is locked or changed before
/// [`Follower::promote`].
///
/// [`Follower::catch_up`] applies what the writer has logged since the last call, across its snapshots; the
/// program calls it as often as it likes, or lets [`Follower::follow`] do that. Readers see whole
/// records alone: of a batch all or nothing, of every kind of index. They wait while records of at most a
/// MiB or so are applied.
///
/// A record is applied as soon as it is in the file as a whole. As in the writer's own process it may be
/// seen before the writer has synced it, and before the writer's operation returns.
///
/// ```
/// use latchless_log::{DurableIndex, Follower, Options};
///
/// # let folder = std::env::temp_dir().join(format!("latchless-log-follow-{}", std::process::id()));
/// let (prices, _) = DurableIndex::<u64, u64>::open(&folder, Options::default())?;
/// prices.insert(101, 7)?;
///
/// // In another process:
/// let standby = Follower::<latchless::Index<u64, u64>, _>::open(&folder, Options::default().index)?;
/// assert_eq!(standby.read(|prices| prices.get(101)), Some(7));
/// prices.insert(102, 8)?;
/// assert!(standby.lag_bytes()? > 0);
/// assert_eq!(standby.catch_up()?, 1);
/// assert_eq!(standby.read(|prices| prices.get(102)), Some(8));
///
/// drop(prices); // The writer is gone: the folder's lock is free.
/// let (prices, _) = standby.promote(latchless_log::Found::open(&folder)?, Default::default())?;
/// prices.insert(103, 9)?;
/// # drop(prices);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Follower<I, C = ()> {
    folder: Folder,
    columns: C,
    make: Box<dyn Fn() -> latchless::Result<I> + Send + Sync>,
    /// Where the next record is. Locked by the call that applies it.
    place: Mutex<Option<Place>>,
    index: RwLock<I>,
    last: AtomicU64,
    at: AtomicPlace,
}

/// The log that is being read. It stays open, so that it can be read when the writer has removed it.
#[derive(Debug)]
struct Place {
    number: u64,
    log: Scan,
}

/// The place for those who don't wait for it.
#[derive(Debug, Default)]
struct AtomicPlace {
    number: AtomicU64,
    byte: AtomicU64,
}

/// What comes after the last whole record of a log.
enum Next {
    /// Nothing yet.
    Nothing,
    /// The next log, which follows that record.
    Log(Place),
    /// More of this log.
    Record,
    /// Records that aren't in the files any more, or that the writer doesn't count.
    Elsewhere,
}

impl<I: Usual> Follower<I, I::Columns> {
    /// Opens a folder for following, and loads the newest state.
    ///
    /// # Errors
    /// Those of [`Durable::read`]: [`Error::Missing`] if there is no durable index yet.
    pub fn open(folder: impl AsRef<Path>, options: latchless::index::Options) -> Result<Self> {
        Self::open_with(folder, I::Columns::default(), move || I::with_options(options.clone()))
    }
}

impl<I: Kept<C>, C> Follower<I, C> {
    /// Opens a folder with columns and an index that the program brings. `make` returns an empty index each
    /// time that the follower begins again.
    ///
    /// # Errors
    /// Those of [`ReadOnly::load`].
    pub fn open_with(
        folder: impl AsRef<Path>,
        columns: C,
        make: impl Fn() -> latchless::Result<I> + Send + Sync + 'static,
    ) -> Result<Self> {
        let folder = Folder::unlocked(Arc::new(System), folder.as_ref());
        let make = Box::new(make);
        let index = RwLock::new(make()?);
        let (place, last, at) = Default::default();
        let follower = Self { folder, columns, make, place, index, last, at };
        follower.begin_again(&mut follower.place())?;
        follower.catch_up()?;
        Ok(follower)
    }

    fn place(&self) -> MutexGuard<'_, Option<Place>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `see` with the index, to which nothing is applied until that returns: all that `see` reads is of
    /// one moment.
    pub fn read<R>(&self, see: impl FnOnce(&Reader<I>) -> R) -> R {
        see(Reader::of(&*self.index.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The number of the last record that was applied; of a versioned index, that of the newest commit.
    pub fn last(&self) -> u64 {
        self.last.load(Relaxed)
    }

    /// How many bytes of the writer's logs aren't applied yet: a measure of the lag.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn lag_bytes(&self) -> Result<u64> {
        let (number, byte) = (self.at.number.load(Relaxed), self.at.byte.load(Relaxed));
        let logs = self.folder.contents()?.logs.into_iter().filter(|&log| log >= number);
        let bytes = |log| {
            let read = if log == number { byte } else { HEAD_BYTES as u64 };
            self.folder.bytes_of(&self.folder.log(log)).saturating_sub(read)
        };
        Ok(logs.map(bytes).sum())
    }

    /// Applies what the writer has logged since, and returns how many records that were. If the files that
    /// come next aren't there any more, because the writer has saved snapshots meanwhile, the newest state is
    /// loaded into a new index, which then replaces the present one.
    ///
    /// # Errors
    /// [`Error::Damaged`], [`Error::Missing`], [`Error::Snapshot`], [`Error::Io`]; [`Error::Index`] if the
    /// index has a smaller limit than the writer's. The index stays readable as it is then.
    pub fn catch_up(&self) -> Result<u64> {
        let mut place = self.place();
        let (from, mut looks, mut idle, mut suspect) = (self.last(), 0, 0, None);
        while looks < LOOKS_MAX {
            let (next, wrong) = match &mut *place {
                None => (Next::Elsewhere, None),
                Some(at) => {
                    let before = at.log.at;
                    at.log.refresh()?;
                    let wrong = self.apply(at)?;
                    idle = if at.log.at > before { 0 } else { idle + 1 };
                    (self.next(at)?, wrong)
                }
            };
            match (next, &*place) {
                (Next::Nothing, Some(at)) => {
                    let Some(what) = wrong else { break };
                    let Err(damaged) = at.log.refuse_damage(what) else { break };
                    // The writer may have finished it between the two looks.
                    if suspect.replace(at.log.at) == Some(at.log.at) {
                        return Err(damaged);
                    }
                }
                (Next::Record, _) if idle < 3 => {}
                (Next::Log(next), _) => *place = Some(next),
                (Next::Elsewhere | Next::Record | Next::Nothing, _) => {
                    looks += 1;
                    self.begin_again(&mut place)?;
                    if place.is_none() {
                        break;
                    }
                }
            }
        }
        Ok(self.last().saturating_sub(from))
    }

    /// Applies all whole records of a log that are there, and returns what is wrong with the next one.
    fn apply(&self, at: &mut Place) -> Result<Option<&'static str>> {
        loop {
            let end = {
                let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
                let mut target = index.target(&self.columns).map_err(Error::snapshot(self.folder.path()))?;
                let end = self.apply_part(&mut at.log, at.number, &mut target)?;
                target.settle()?;
                end
            };
            self.note(at);
            if let Some(wrong) = end {
                return Ok(wrong);
            }
        }
    }

    /// Applies some whole records, and returns nothing if there may be more.
    fn apply_part(
        &self,
        log: &mut Scan,
        number: u64,
        target: &mut impl Target,
    ) -> Result<Option<Option<&'static str>>> {
        let from = log.at;
        while log.at - from < PART_BYTES {
            let at = log.at;
            let entry = match log.next()? {
                Ok(Some(entry)) => entry,
                // It may be whole at the next look.
                Ok(None) => return Ok(Some(None)),
                Err(wrong) => return Ok(Some(Some(wrong))),
            };
            if let Some(record) = entry.record
                && let Err(what) = target.apply(record, &log.payload)?
            {
                return Err(Error::Damaged { path: self.folder.log(number), at, what, whole: 0 });
            }
        }
        Ok(None)
    }

    fn note(&self, at: &Place) {
        self.last.store(at.log.last, Relaxed);
        self.at.number.store(at.number, Relaxed);
        self.at.byte.store(at.log.at, Relaxed);
    }

    /// What follows the last whole record of a log.
    fn next(&self, at: &Place) -> Result<Next> {
        // A machine that went down has lost records that were here.
        if at.log.len < at.log.at {
            return Ok(Next::Elsewhere);
        }
        let (disk, contents) = (self.folder.disk(), self.folder.contents()?);
        let is_there = contents.logs.contains(&at.number);
        for number in contents.logs.into_iter().filter(|&number| number > at.number) {
            let log = match Scan::open(disk, &self.folder.log(number), number) {
                Ok(Some(log)) => log,
                // It is only being begun.
                Ok(None) => continue,
                Err(error) if is_gone(&error) => return Ok(Next::Elsewhere),
                Err(error) => return Err(error),
            };
            return Ok(match log.follows.cmp(&at.log.last) {
                Ordering::Equal if log.types == at.log.types => Next::Log(Place { number, log }),
                // It was begun when all records before it were in their files: another look finds them.
                Ordering::Greater => Next::Record,
                _ => Next::Elsewhere,
            });
        }
        Ok(if is_there { Next::Nothing } else { Next::Elsewhere })
    }

    /// Loads the newest state.
    fn begin_again(&self, place: &mut Option<Place>) -> Result<()> {
        let found = ReadOnly::open(self.folder.path())?;
        let (mut index, end) = found.load_to((self.make)()?, &self.columns)?;
        let types = index.target(&self.columns).map_err(Error::snapshot(self.folder.path()))?.types();
        let mut next = None;
        if let Some((number, byte, last)) = end {
            match Scan::open(self.folder.disk(), &self.folder.log(number), number) {
                Ok(Some(mut log)) if log.types == types => {
                    log.pass(byte, last)?;
                    next = Some(Place { number, log });
                }
                Ok(_) => {}
                // The writer was faster: the next look begins with what it has left.
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error),
            }
            self.last.store(last, Relaxed);
        }
        let before =
            std::mem::replace(&mut *self.index.write().unwrap_or_else(PoisonError::into_inner), index);
        // Not while readers wait.
        drop(before);
        if let Some(at) = &next {
            self.note(at);
        }
        *place = next;
        Ok(())
    }

    /// Catches up again and again, with a pause when there is nothing, until `goes_on` returns `false`.
    ///
    /// # Errors
    /// Those of [`Follower::catch_up`].
    pub fn follow(&self, pause: Duration, mut goes_on: impl FnMut() -> bool) -> Result<()> {
        while goes_on() {
            if self.catch_up()? == 0 {
                std::thread::sleep(pause);
            }
        }
        Ok(())
    }

    /// Catches up until the record of this number is applied, and returns whether it is in time.
    ///
    /// # Errors
    /// Those of [`Follower::catch_up`].
    pub fn wait_for(&self, record: u64, timeout: Duration) -> Result<bool> {
        let until = Instant::now() + timeout;
        self.follow(Duration::from_millis(1), || self.last() < record && Instant::now() < until)?;
        Ok(self.last() >= record)
    }

    /// Turns it into a durable index, in a folder whose writer is gone, and returns the recovery's findings.
    /// The folder is locked: [`Found::open`] fails with [`Error::Locked`] until the writer has ended. Only
    /// records that aren't applied yet are loaded. A folder other than the one that was followed is
    /// recovered from its files.
    ///
    /// # Errors
    /// Those of [`Found::recover`].
    pub fn promote(self, found: Found, opening: Opening) -> Result<(Durable<I, C>, Recovery)>
    where
        C: Send + Sync + 'static,
    {
        if found.path() != self.folder.path() {
            return found.recover((self.make)()?, self.columns, opening);
        }
        self.catch_up()?;
        let last = Some(self.last());
        let index = self.index.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.recover_after(last, index, self.columns, opening)
    }
}

impl<I, C> fmt::Debug for Follower<I, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (folder, last) = (self.folder.path(), self.last.load(Relaxed));
        f.debug_struct("Follower").field("folder", &folder).field("last", &last).finish_non_exhaustive()
    }
}
