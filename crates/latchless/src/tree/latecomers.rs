//! Whether keys come late: into leaves that keys in order have filled and left behind.
//!
//! Keys in order leave full leaves. Where others come late into these, such as events of a slow source among
//! those that are on time, nearly each of the full leaves is split once more, in its middle. So where many
//! leaves split that aren't the last one, the last one leaves some room in those behind it.
//!
//! # Thread safety
//! The words are counts without order among them: one that is lost changes nothing but when room is left.

use latchless_core::sync::Word;

/// Splits at the end of all keys after which it is asked whether keys come late.
const ASKED_AFTER: u64 = 64;
/// They do if for so many splits there as many as one happen elsewhere.
const LATE_FROM: u64 = 4;
/// Where room is left, few others split, so it is asked less often whether they still come.
const ASKED_AGAIN_AFTER: u64 = 4096;
/// They still do if for so many splits at the end one happens elsewhere.
const LATE_STILL: u64 = 64;

/// What splits of leaves tell.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Latecomers {
    at_end: Word,
    elsewhere: Word,
    /// One, if keys come late.
    come: Word,
}

impl Latecomers {
    /// Whether leaves that are left behind should have room.
    #[inline(always)]
    pub(super) fn come(&self) -> bool {
        self.come.load_relaxed() != 0
    }

    /// A leaf was split, the last one of all or another one.
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
