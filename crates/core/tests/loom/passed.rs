//! A search that passes a leaf: it reads two leaves, and validates the first one's version after it has read
//! the second one. The writer guarantees that the near key, in the first leaf, is present whenever the far
//! one is, in the second.

use crate::latches::*;
use crate::race;
use latchless_core::latch::OptimisticLatch;
use latchless_core::sync::{AtomicU64, Ordering};

/// The time at which the search validates the leaf that it passed.
const AFTER_THE_LAST_LEAF: u8 = 0;
/// Before it reads the next one.
const BEFORE_THE_LAST_LEAF: u8 = 1;
const NEVER: u8 = 2;

/// A leaf of one key.
#[derive(Default)]
struct Leaf<L> {
    latch: L,
    present: AtomicU64,
}

#[derive(Default)]
struct Leaves<L, const LOOKS_BACK: u8> {
    near: Leaf<L>,
    far: Leaf<L>,
}

impl<L: Latch> Leaf<L> {
    fn set(&self, present: u64) {
        self.latch.change(|| self.present.store(present, Ordering::Relaxed));
    }

    fn read(&self) -> Option<(L::Version, bool)> {
        let version = self.latch.stable_version()?;
        let present = self.present.load(Ordering::Relaxed) == 1;
        self.latch.validate(version).then_some((version, present))
    }
}

impl<L: Latch, const LOOKS_BACK: u8> Leaves<L, LOOKS_BACK> {
    /// Returns whether the search passes the near key's leaf and finds the far key; `None` if it gives up.
    fn finds_far(&self) -> Option<bool> {
        let (version, near) = self.near.read()?;
        if near {
            return Some(false);
        }
        let unchanged = || self.near.latch.validate(version);
        if LOOKS_BACK == BEFORE_THE_LAST_LEAF && !unchanged() {
            return None;
        }
        let (_, far) = self.far.read()?;
        (LOOKS_BACK != AFTER_THE_LAST_LEAF || unchanged()).then_some(far)
    }

    fn write(&self) {
        self.near.set(1);
        self.far.set(1);
        self.far.set(0);
        self.near.set(0);
    }
}

fn the_far_key_is_never_found<L: Latch, const LOOKS_BACK: u8>() {
    race(
        Leaves::<L, LOOKS_BACK>::default,
        Leaves::write,
        |leaves| assert_ne!(leaves.finds_far(), Some(true), "the near key was there as long as the far one"),
        |leaves, _| assert_eq!(leaves.finds_far(), Some(false), "quiet leaves can be read"),
    );
}

#[test]
fn a_search_that_looks_back_at_the_end_finds_the_nearest_key() {
    the_far_key_is_never_found::<OptimisticLatch, AFTER_THE_LAST_LEAF>();
}

#[test]
#[should_panic(expected = "the near key was there")]
fn a_search_that_looks_back_too_early_misses_the_nearest_key() {
    the_far_key_is_never_found::<OptimisticLatch, BEFORE_THE_LAST_LEAF>();
}

#[test]
#[should_panic(expected = "the near key was there")]
fn a_search_that_never_looks_back_misses_the_nearest_key() {
    the_far_key_is_never_found::<OptimisticLatch, NEVER>();
}
