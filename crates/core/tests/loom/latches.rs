//! The latch under test and its mutations, as one trait.

use latchless_core::latch::{OptimisticLatch, Version};
use latchless_core::sync::{Atom, AtomicU64, Ordering, Origin, fence, yield_now};

/// The operations of a latch that the protocols use.
pub trait Latch: Default + Send + Sync + 'static {
    /// A version that was read while the latch was free.
    type Version: Copy + PartialEq + std::fmt::Debug + Send + 'static;

    fn stable_version(&self) -> Option<Self::Version>;
    fn validate(&self, version: Self::Version) -> bool;
    /// Holds the latch while `work` changes content.
    fn change(&self, work: impl FnOnce());
    /// Holds the latch while `work` changes content, if the content still has `version`; returns whether it
    /// had.
    fn change_if(&self, version: Self::Version, work: impl FnOnce()) -> bool;
    /// Holds the latch while `work` only reads.
    fn look(&self, work: impl FnOnce());
}

impl<A: Atom> Latch for OptimisticLatch<A> {
    type Version = Version;

    fn stable_version(&self) -> Option<Version> {
        OptimisticLatch::stable_version(self)
    }

    fn validate(&self, version: Version) -> bool {
        OptimisticLatch::validate(self, version)
    }

    fn change(&self, work: impl FnOnce()) {
        let mut latched = self.latch(&Origin::here());
        latched.changing();
        work();
    }

    fn change_if(&self, version: Version, work: impl FnOnce()) -> bool {
        let Some(mut latched) = self.try_upgrade(version) else { return false };
        latched.changing();
        work();
        true
    }

    fn look(&self, work: impl FnOnce()) {
        let _latched = self.latch(&Origin::here());
        work();
    }
}

/// The latch, reimplemented without any flaw: the baseline of the mutations.
pub const NO_FLAW: u8 = 0;
/// The second read of the version is an acquire load without the fence before it.
pub const NO_READER_FENCE: u8 = 1;
/// No fence separates latching and the first content store.
pub const NO_WRITER_FENCE: u8 = 2;
/// The latch is released by a relaxed store.
pub const RELAXED_UNLATCH: u8 = 3;
/// Readers ignore that the latch is held.
pub const NO_LATCH_BIT_TEST: u8 = 4;
/// The exchange that takes the latch is relaxed.
pub const RELAXED_LATCH: u8 = 5;
/// Upgrading takes the latch at whatever version it finds.
pub const BLIND_UPGRADE: u8 = 6;
/// The version is unchanged although content changed.
pub const VERSION_STAYS: u8 = 7;

/// The optimistic latch with one flaw.
#[derive(Default)]
pub struct Flawed<const FLAW: u8> {
    word: AtomicU64,
}

impl<const FLAW: u8> Flawed<FLAW> {
    fn try_latch(&self, free: u64) -> bool {
        let acquire = if FLAW == RELAXED_LATCH { Ordering::Relaxed } else { Ordering::Acquire };
        if free & 1 == 1 || self.word.compare_exchange(free, free | 1, acquire, Ordering::Relaxed).is_err() {
            return false;
        }
        if FLAW != NO_WRITER_FENCE {
            fence(Ordering::Release);
        }
        true
    }

    /// Waits for the latch; returns the word that it had.
    fn latch(&self) -> u64 {
        loop {
            let word = self.word.load(Ordering::Relaxed);
            if self.try_latch(word) {
                return word;
            }
            yield_now();
        }
    }

    fn unlatch(&self, word: u64) {
        let release = if FLAW == RELAXED_UNLATCH { Ordering::Relaxed } else { Ordering::Release };
        self.word.store(word, release);
    }

    fn unlatch_changed(&self, word: u64) {
        self.unlatch(if FLAW == VERSION_STAYS { word } else { word + 2 });
    }
}

impl<const FLAW: u8> Latch for Flawed<FLAW> {
    type Version = u64;

    fn stable_version(&self) -> Option<u64> {
        let word = self.word.load(Ordering::Acquire);
        (FLAW == NO_LATCH_BIT_TEST || word & 1 == 0).then_some(word)
    }

    fn validate(&self, version: u64) -> bool {
        if FLAW == NO_READER_FENCE {
            return self.word.load(Ordering::Acquire) == version;
        }
        fence(Ordering::Acquire);
        self.word.load(Ordering::Relaxed) == version
    }

    fn change(&self, work: impl FnOnce()) {
        let word = self.latch();
        work();
        self.unlatch_changed(word);
    }

    fn change_if(&self, version: u64, work: impl FnOnce()) -> bool {
        let version = if FLAW == BLIND_UPGRADE { self.word.load(Ordering::Relaxed) } else { version };
        if !self.try_latch(version) {
            return false;
        }
        work();
        self.unlatch_changed(version);
        true
    }

    fn look(&self, work: impl FnOnce()) {
        let word = self.latch();
        work();
        self.unlatch(word);
    }
}
