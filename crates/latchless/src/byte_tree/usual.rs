//! What leaves usually look like: an estimate that says what to prefetch of a leaf.
//!
//! The lines that locate a key depend on the leaf's number of slots. The header that says so arrives no
//! earlier than the lines themselves, so the most recently written leaf serves as the estimate for all.

use super::node::Private;
use super::shape::{LINES, Shape, entry_words};
use crate::tree::Share;
use core::ops::Range;
use latchless_core::sync::Word;

/// Lines of a leaf that locate a key, until a leaf has been learnt from: its header, tags, lengths and
/// places.
const LEAF_LINES: u64 = 4;

/// This many of the leaves that were split or loaded last were of records, more or less, before all are
/// taken to be.
const MOST: u64 = 12;
/// It is known to one part in this many how many keys there are in a part of a slot.
const DENSITY_SHARE: u64 = 16;

/// The usual shape of leaves of records: slots per leaf, words per record, and keys per part of a slot of
/// the position table. Zero: leaves usually don't hold records.
#[derive(Debug, Clone, Copy)]
pub struct UsualRecords(u64);

impl UsualRecords {
    fn of(shape: Shape, density: u64) -> Self {
        let sizes = shape.slots() as u64 | (entry_words(shape.record_length()) as u64) << 8;
        Self(sizes | density << 32)
    }

    /// One that says anything.
    #[cfg(any(test, fuzzing))]
    pub fn any(word: u64) -> Self {
        Self(word)
    }

    /// Whether both shapes are equal or nearly so. Then the shared word, which other processors cache,
    /// isn't written.
    fn is_like(self, other: Self) -> bool {
        let (own, its) = (self.density(), other.density());
        self.0 as u32 == other.0 as u32 && own.abs_diff(its) <= its / DENSITY_SHARE
    }

    #[inline(always)]
    pub fn slots(self) -> usize {
        self.0 as usize & 0xFF
    }

    #[inline(always)]
    pub fn words(self) -> usize {
        (self.0 >> 8) as usize & 0xF
    }

    fn density(self) -> u64 {
        self.0 >> 32
    }

    /// The place of the record that a key is likely to have.
    #[inline(always)]
    pub fn place(self, share: Share) -> usize {
        self.places(share).end
    }

    /// The places from a leaf's first record to the one that a key is likely to have. Records fill the
    /// middle of their room.
    #[inline(always)]
    pub fn places(self, share: Share) -> Range<usize> {
        let len = share.len(self.density()).min(self.slots());
        let first = (self.slots() - len) / 2;
        first..first + share.of(len)
    }
}

/// The estimate. Any thread may write any of its words at any time.
#[derive(Debug)]
pub struct Usual {
    /// One, if the leaf that was split last had equal heads; zero, if not.
    has_ties: Word,
    /// Lines of that leaf that located a key.
    leaf_lines: Word,
    /// The shape of leaves of records, if leaves usually are such, and how many of the last ones were.
    records: Word,
    score: Word,
}

impl Default for Usual {
    fn default() -> Self {
        Self {
            has_ties: Word::new(1),
            leaf_lines: Word::new(LEAF_LINES),
            records: Word::new(0),
            score: Word::new(0),
        }
    }
}

impl Usual {
    /// The usual shape of leaves of records, if leaves usually are such.
    #[inline(always)]
    pub fn records(&self) -> Option<UsualRecords> {
        let word = self.records.load_relaxed();
        (word != 0).then_some(UsualRecords(word))
    }

    /// From now on leaves usually aren't of records.
    pub fn forget_records(&self) {
        self.records.store_relaxed(0);
    }

    /// Whether leaves are likely to have equal heads.
    #[inline(always)]
    pub fn has_ties(&self) -> bool {
        self.has_ties.load_relaxed() != 0
    }

    /// Lines of a leaf that are likely to be needed to locate a key.
    #[inline(always)]
    pub fn leaf_lines(&self) -> usize {
        self.leaf_lines.load_relaxed() as usize % LINES
    }

    /// Remembers a leaf's shape as the estimate for others: whether it had equal heads, and where they
    /// began. Records are found by their heads alone. `are_far`: records aren't at their likely places.
    /// `density`: keys per part of a slot of the position table.
    pub fn learn(&self, leaf: Private<'_>, are_far: bool, density: impl FnOnce() -> u64) {
        let (shape, first) = (leaf.shape(), leaf.shape().heads());
        let are_records = shape.is_of_records();
        let score = self.score.load_relaxed();
        let score = if are_records { (score + 1).min(MOST + MOST / 2) } else { score.saturating_sub(1) };
        let are_usual = score >= MOST && !are_far;
        store_if_new(&self.score, score);
        if !are_usual {
            store_if_new(&self.records, 0);
        }
        if are_records != are_usual {
            return;
        }
        if are_records {
            let usual = UsualRecords::of(shape, density());
            if !usual.is_like(UsualRecords(self.records.load_relaxed())) {
                self.records.store_relaxed(usual.0);
            }
        }
        let end = if are_records { first + shape.len() } else { first };
        store_if_new(&self.has_ties, u64::from(!are_records && leaf.has_ties(0..shape.len())));
        store_if_new(&self.leaf_lines, end.div_ceil(8) as u64);
    }
}

/// An unwritten line stays in every processor's cache.
fn store_if_new(word: &Word, now: u64) {
    if word.load_relaxed() != now {
        word.store_relaxed(now);
    }
}
