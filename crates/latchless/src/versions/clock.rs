//! The clock of commits: their numbers, whose turn it is, and the snapshots at those numbers.

use super::readers::Readers;
use latchless_core::sync::Mutex;
use std::sync::MutexGuard;

/// How long versions stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Retention {
    /// As long as a snapshot may read them.
    #[default]
    Snapshots,
    /// Until [`VersionedIndex::prune_before`](super::VersionedIndex::prune_before) a later number, or as
    /// long as a snapshot reads them.
    All,
}

/// The clock of one index, or of several whose commits have one order.
#[derive(Debug)]
pub(crate) struct Clock {
    pub(super) readers: Readers,
    /// Held by the commit whose turn it is.
    commits: Mutex<()>,
    pub(super) retention: Retention,
}

impl Clock {
    /// Creates the clock of indexes whose newest commit has this number.
    pub(crate) fn new(newest: u64, retention: Retention) -> Self {
        Self { readers: Readers::new(newest), commits: Mutex::default(), retention }
    }

    /// Returns the number of the newest commit, whose versions the caller then sees.
    #[inline]
    pub(crate) fn newest(&self) -> u64 {
        self.readers.newest()
    }

    /// Keeps commits out.
    pub(super) fn hold(&self) -> MutexGuard<'_, ()> {
        self.commits.lock()
    }

    /// Waits until no commit is under way, and begins one.
    pub(crate) fn begin(&self) -> Turn<'_> {
        let _held = self.hold();
        let horizon = self.readers.horizon(self.retention == Retention::All);
        Turn { clock: self, number: self.newest() + 1, horizon, _held }
    }

    /// The same of the commit of a number that isn't lower than the newest.
    pub(crate) fn begin_at(&self, number: u64) -> Turn<'_> {
        Turn { number, ..self.begin() }
    }

    /// Waits until no commit is under way, and makes 0 the newest number, unless there is a snapshot. Returns
    /// whether it has.
    pub(crate) fn restart(&self) -> bool {
        let _held = self.hold();
        self.readers.restart()
    }
}

/// The turn of a commit: others wait for it.
pub(crate) struct Turn<'c> {
    clock: &'c Clock,
    /// The number of the commit.
    pub(super) number: u64,
    /// The smallest number that a snapshot has or will have.
    pub(super) horizon: u64,
    _held: MutexGuard<'c, ()>,
}

impl Turn<'_> {
    /// Returns the number of the commit.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Lets readers see the commit, and returns its number.
    pub(crate) fn publish(self) -> u64 {
        self.clock.readers.publish(self.number);
        self.number
    }
}
