//! Cached counts: a writer marks a leaf's count as out of date, and a query recounts the leaf. No completed
//! change may be missing from a count that isn't out of date.

use crate::race;
use latchless_core::latch::OptimisticLatch;
use latchless_core::sync::{AtomicU64, Ordering, Origin};

/// Both threads follow every rule.
const ALL_RULES: u8 = 0;
/// The query clears the dirty bit after it has counted.
const CLEARS_AFTERWARDS: u8 = 1;
/// The query doesn't mark the leaf that it counts.
const NO_MARK: u8 = 2;
/// The query marks the leaf under another latching than the one under which it counts it.
const MARKS_LATER: u8 = 3;
/// The writer reads the mark before it has the latch.
const LOOKS_BEFORE_THE_LATCH: u8 = 4;
/// The writer clears the mark, but makes nothing dirty.
const NOTHING_DIRTY: u8 = 5;

/// A leaf and its cached count. All words but the latch are relaxed.
struct Leaf<const RULES: u8> {
    latch: OptimisticLatch,
    entries: AtomicU64,
    dirty: AtomicU64,
    count: AtomicU64,
}

impl<const RULES: u8> Leaf<RULES> {
    /// Creates a leaf that isn't counted.
    fn new() -> Self {
        let word = AtomicU64::new;
        Self { latch: OptimisticLatch::default(), entries: word(0), dirty: word(1), count: word(0) }
    }

    /// Creates a leaf that is counted.
    fn counted() -> Self {
        let leaf = Self::new();
        leaf.settle();
        leaf
    }

    fn is_marked(&self) -> bool {
        self.latch.latch(&Origin::here()).is_marked()
    }

    fn insert(&self) {
        let marked_before = RULES == LOOKS_BEFORE_THE_LATCH && self.is_marked();
        let mut held = self.latch.latch(&Origin::here());
        held.changing();
        self.entries.store(self.entries.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        if if RULES == LOOKS_BEFORE_THE_LATCH { marked_before } else { held.is_marked() } {
            if RULES != NOTHING_DIRTY && self.dirty.load(Ordering::Relaxed) == 0 {
                self.dirty.fetch_or(1, Ordering::Relaxed);
            }
            held.set_mark(false);
        }
    }

    fn settle(&self) {
        if self.dirty.load(Ordering::Relaxed) == 0 {
            return;
        }
        let clear = || _ = self.dirty.fetch_and(0, Ordering::Relaxed);
        if RULES != CLEARS_AFTERWARDS {
            clear();
        }
        let mut held = self.latch.latch(&Origin::here());
        self.count.store(self.entries.load(Ordering::Relaxed), Ordering::Relaxed);
        if RULES == MARKS_LATER {
            drop(held);
            held = self.latch.latch(&Origin::here());
        }
        held.set_mark(RULES != NO_MARK);
        drop(held);
        if RULES == CLEARS_AFTERWARDS {
            clear();
        }
    }
}

/// A writer changes a leaf twice while a query counts it, once or twice.
fn no_change_is_lost<const RULES: u8>() {
    for start in [Leaf::<RULES>::new, Leaf::<RULES>::counted] {
        race(
            start,
            |leaf| (0..2).for_each(|_| leaf.insert()),
            |leaf| (0..2).for_each(|_| leaf.settle()),
            |leaf, _| {
                leaf.settle();
                assert_eq!(leaf.count.load(Ordering::Relaxed), 2, "a change isn't counted");
            },
        );
    }
}

#[test]
fn a_change_that_is_over_is_counted() {
    no_change_is_lost::<ALL_RULES>();
}

#[test]
#[should_panic(expected = "a change isn't counted")]
fn if_the_dirty_bit_is_cleared_after_counting_a_change_is_lost() {
    no_change_is_lost::<CLEARS_AFTERWARDS>();
}

#[test]
#[should_panic(expected = "a change isn't counted")]
fn if_counted_leaves_arent_marked_a_change_is_lost() {
    no_change_is_lost::<NO_MARK>();
}

#[test]
#[should_panic(expected = "a change isn't counted")]
fn if_leaves_are_marked_after_they_were_counted_a_change_is_lost() {
    no_change_is_lost::<MARKS_LATER>();
}

#[test]
#[should_panic(expected = "a change isn't counted")]
fn if_the_mark_is_looked_for_without_the_latch_a_change_is_lost() {
    no_change_is_lost::<LOOKS_BEFORE_THE_LATCH>();
}

#[test]
#[should_panic(expected = "a change isn't counted")]
fn if_a_writer_makes_nothing_dirty_a_change_is_lost() {
    no_change_is_lost::<NOTHING_DIRTY>();
}
