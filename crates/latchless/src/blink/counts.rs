//! What a tree counts of itself: its entries, and events.

use super::mode::Mode;
use latchless_core::mem::refusal::boxed;
use latchless_core::sync::{Striped, Stripes, Word, is_alone};

/// From this many splits on, or entries that were loaded, threads count in lines of their own. Smaller trees
/// take less memory without; threads that change one at once wait for each other's leaves, too.
const SPLITS_MIN: u64 = if cfg!(debug_assertions) { 2 } else { 32 };
const ENTRIES_MIN: usize = 4096;

/// The counts. Approximate while other threads change the tree.
///
/// In a line of its own: it is written while what is next to it is only read.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct Counts {
    entries: Striped,
    /// Nodes that were split.
    splits: Word,
    /// Descents and reads that began again.
    restarts: Word,
    /// Operations that a prediction led to a wrong leaf.
    misled: Word,
}

impl Counts {
    /// Returns the number of entries: exact if no thread is changing it.
    #[inline]
    pub(crate) fn entries(&self) -> usize {
        self.entries.sum().max(0) as usize
    }

    /// Sets the number of entries. For a caller that has the tree to itself.
    pub(crate) fn set_entries(&mut self, entries: usize) {
        self.entries.set(entries as i64);
        if entries >= ENTRIES_MIN {
            self.spread();
        }
    }

    /// Gives threads lines of their own to count entries in, unless memory is refused.
    #[cold]
    fn spread(&self) {
        if !self.entries.is_spread()
            && let Ok(stripes) = boxed(Stripes::default())
        {
            self.entries.spread(stripes);
        }
    }

    /// Exchanges the numbers of entries, and not the events, with the counts of another tree. For a caller
    /// that has both trees to itself.
    pub(crate) fn swap_entries(&mut self, other: &mut Self) {
        let entries = self.entries();
        self.set_entries(other.entries());
        other.set_entries(entries);
    }

    /// Counts entries that were added, or removed.
    #[inline(always)]
    pub(crate) fn count_entries<M: Mode>(&self, change: i64) {
        if M::SHARED { self.entries.add(change) } else { self.entries.add_alone(change) }
    }

    /// Returns the number of nodes that were split.
    pub(crate) fn splits(&self) -> u64 {
        self.splits.load_relaxed()
    }

    /// Counts nodes that were split together.
    pub(crate) fn count_splits(&self, nodes: usize) {
        self.splits.add(nodes as u64);
        if self.splits() >= SPLITS_MIN && !self.entries.is_spread() && !is_alone() {
            self.spread();
        }
    }

    /// Returns how often operations descended, or read, again.
    pub(crate) fn restarts(&self) -> u64 {
        self.restarts.load_relaxed()
    }

    /// Counts an operation that descends, or reads, again.
    #[inline(always)]
    pub(crate) fn count_restart(&self) {
        self.restarts.add(1);
    }

    /// Returns how often a prediction led to a wrong leaf.
    pub(crate) fn misled(&self) -> u64 {
        self.misled.load_relaxed()
    }

    /// Counts predictions that led to wrong leaves.
    #[inline(always)]
    pub(crate) fn count_misled(&self, predictions: u64) {
        self.misled.add(predictions);
    }
}
