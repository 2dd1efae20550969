//! Counts of a tree: its entries, and events.

use latchless_core::sync::{Striped, Word};

/// The counts. Approximate while threads change the tree.
#[derive(Debug)]
pub struct Counts {
    entries: Striped,
    splits: Word,
    /// Descents and reads that began again.
    restarts: Word,
    /// Guesses that were wrong.
    misled: Word,
}

impl Default for Counts {
    fn default() -> Self {
        let [splits, restarts, misled] = [const { Word::new(0) }; 3];
        Self { entries: Striped::default(), splits, restarts, misled }
    }
}

impl Counts {
    /// How many entries there are: exact when no thread is changing that.
    #[inline]
    pub fn entries(&self) -> usize {
        self.entries.sum().max(0) as usize
    }

    /// Counts entries that came, or went, if negative.
    #[inline(always)]
    pub fn add_entries(&self, entries: i64) {
        self.entries.add(entries);
    }

    /// There are this many entries. No other thread uses the tree.
    pub fn set_entries(&mut self, entries: usize) {
        self.entries.set(entries as i64);
    }

    pub fn note_split(&self) {
        self.splits.add(1);
    }

    #[inline(always)]
    pub fn note_restart(&self) {
        self.restarts.add(1);
    }

    /// Counts wrong guesses.
    #[inline(always)]
    pub fn note_misled(&self, guesses: u64) {
        self.misled.add(guesses);
    }

    pub fn splits(&self) -> u64 {
        self.splits.load_relaxed()
    }

    pub fn restarts(&self) -> u64 {
        self.restarts.load_relaxed()
    }

    pub fn misled(&self) -> u64 {
        self.misled.load_relaxed()
    }
}
