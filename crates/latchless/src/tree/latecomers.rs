//! Detects out-of-order inserts into leaves that sequential inserts have filled.
//!
//! Sequential inserts leave full leaves. If other keys arrive late in these, such as events of a slow source
//! among punctual ones, nearly every full leaf is split once more, in its middle. So if many splits happen
//! elsewhere than in the last leaf, splits of the last leaf leave some room in the leaves before it.
//!
//! # Thread safety
//! The words are unordered counts: a lost increment affects only the decision to leave room.

use latchless_core::sync::Word;

/// Splits at the end of all keys between two decisions whether keys come late.
const ASKED_AFTER: u64 = 64;
/// Keys come late if at least one split elsewhere happens per this many splits at the end.
const LATE_FROM: u64 = 4;
/// While room is left, few other leaves split, so the decision is reviewed less often.
const ASKED_AGAIN_AFTER: u64 = 4096;
/// Keys still come late if at least one split elsewhere happens per this many splits at the end.
const LATE_STILL: u64 = 64;

/// The statistics of leaf splits.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Latecomers {
    at_end: Word,
    elsewhere: Word,
    /// One, if keys come late.
    come: Word,
}

impl Latecomers {
    /// Returns whether sequential inserts should leave room in their leaves.
    #[inline(always)]
    pub(super) fn come(&self) -> bool {
        self.come.load_relaxed() != 0
    }

    /// Counts the split of a leaf, the last one of all or another one.
    pub(super) fn count(&self, at_end: bool) {
        if !at_end {
            self.elsewhere.store_relaxed(self.elsewhere.load_relaxed() + 1);
            return;
        }
        let (ends, others) = (self.at_end.load_relaxed() + 1, self.elsewhere.load_relaxed());
        let (enough, share) =
            if self.come() { (ASKED_AGAIN_AFTER, LATE_STILL) } else { (ASKED_AFTER, LATE_FROM) };
        self.at_end.store_relaxed(ends % enough);
        if ends >= enough {
            self.come.store_relaxed(u64::from(others * share >= ends));
            self.elsewhere.store_relaxed(0);
        }
    }
}
