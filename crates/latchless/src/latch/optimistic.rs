//! The latch of OLFIT: one word that is a latch to writers and a version to readers.
//!
//! # Thread safety
//! Writers exclude each other; readers never write. A reader looks at the version, reads content by
//! relaxed loads, and looks again: the same even version both times means that no writer changed
//! anything in between.
//!
//! # Invariants
//! 1. The word is even when the latch is free, odd while it is held.
//! 2. It grows by two with every change of the content, and by nothing when the holder changed
//!    nothing.
//! 3. Versions never come back. A word has 2^63 of them: at one change a nanosecond that is 292
//!    years, and a reader would have to sleep through all of them.
//!
//! # Orderings
//! - The first look is an acquire load: content is read behind it.
//! - The second look needs an acquire *fence* before it. An acquire load alone orders what follows,
//!   not what came before, and would let a content load sink below the look.
//! - Latching is an acquire exchange and then a release *fence*: a reader that sees content of this
//!   writer sees the odd word at its second look. Without the fence a content store may become
//!   visible before the odd word.
//! - Unlatching is a release store: who sees the new version sees all content.
//!
//! `tests/loom.rs` checks each of these, and that leaving any of them out is found.

use crate::sync::{AtomicU64, Backoff, Ordering, fence, perturb};

/// A version and a latch in one word. See the file's head.
#[derive(Debug)]
#[repr(transparent)]
pub struct OptimisticLatch {
    word: AtomicU64,
}

/// A version that was seen while nobody held the latch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(u64);

impl Default for OptimisticLatch {
    fn default() -> Self {
        Self { word: AtomicU64::new(0) }
    }
}

impl OptimisticLatch {
    const HELD: u64 = 1;
    const STEP: u64 = 2;

    /// The latch that a node's word is.
    #[cfg(not(loom))]
    #[inline(always)]
    pub fn of(word: &crate::sync::Word) -> &Self {
        // SAFETY: both are transparent wrappers of the same atomic.
        unsafe { &*core::ptr::from_ref(word).cast() }
    }

    /// The version, unless somebody holds the latch. Content may be read behind this.
    #[inline(always)]
    pub fn stable_version(&self) -> Option<Version> {
        perturb();
        let word = self.word.load(Ordering::Acquire);
        (word & Self::HELD == 0).then_some(Version(word))
    }

    /// Whether all content that was read since `version` was seen belongs to that version.
    #[inline(always)]
    pub fn validate(&self, version: Version) -> bool {
        perturb();
        fence(Ordering::Acquire);
        self.word.load(Ordering::Relaxed) == version.0
    }

    /// Latches if the content still is of this version.
    #[inline(always)]
    pub fn try_upgrade(&self, version: Version) -> Option<Latched<'_>> {
        let held = version.0 | Self::HELD;
        self.word.compare_exchange(version.0, held, Ordering::Acquire, Ordering::Relaxed).ok()?;
        fence(Ordering::Release);
        Some(Latched { latch: self, found: version.0, left: version.0 })
    }

    /// Latches if nobody holds the latch.
    #[inline(always)]
    pub fn try_latch(&self) -> Option<Latched<'_>> {
        perturb();
        let word = self.word.load(Ordering::Relaxed);
        if word & Self::HELD == 0 { self.try_upgrade(Version(word)) } else { None }
    }

    /// Waits until the latch is free, and takes it.
    #[inline(always)]
    pub fn latch(&self) -> Latched<'_> {
        match self.try_latch() {
            Some(latched) => latched,
            None => self.latch_slowly(),
        }
    }

    #[cold]
    fn latch_slowly(&self) -> Latched<'_> {
        let mut backoff = Backoff::default();
        loop {
            backoff.wait();
            if let Some(latched) = self.try_latch() {
                return latched;
            }
        }
    }
}

/// A held latch. Dropping it without a word means that nothing was changed.
#[derive(Debug)]
#[must_use = "a latch that is dropped at once protects nothing"]
pub struct Latched<'a> {
    latch: &'a OptimisticLatch,
    /// The version that the holder found.
    found: u64,
    /// The version to leave behind.
    left: u64,
}

impl Latched<'_> {
    /// From here on content changes: readers of the version that was found are to try again.
    #[inline(always)]
    pub fn changing(&mut self) {
        self.left = self.found.wrapping_add(OptimisticLatch::STEP);
    }
}

impl Drop for Latched<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        perturb();
        self.latch.word.store(self.left, Ordering::Release);
    }
}
