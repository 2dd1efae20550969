//! The latch of OLFIT: one word that is a latch for writers and a version for readers.
//!
//! # Thread safety
//! Writers exclude each other; readers never write. A reader loads the version, reads the content by relaxed
//! loads, and loads the version again: the same even version both times means that no writer changed
//! anything in between.
//!
//! # Invariants
//! 1. The word is even when the latch is free, odd while it is held.
//! 2. It grows by two with every change of the content, and not at all if the holder changed nothing. So a
//!    load that finds the latch held by a holder that changes nothing fails, and a later one succeeds: a
//!    failed load says nothing about the content, not even that it changed.
//! 3. Versions don't repeat in practice. A word of 64 bits has 2^63 of them: at one change per nanosecond
//!    that is 292 years, for which a reader would have to be preempted. A word of 32 bits, as in the paper,
//!    has 2^31. At 20 ns for an uncontended latch and unlatch, and uninterrupted changes, a version repeats
//!    after 43 s. A reader would have to be preempted between its two loads for that long, and resume at the
//!    one change out of 2^31 that has its version. Use 64-bit keys where that is too likely.
//! 4. The highest bit of a word of 64 bits is the *mark*, a note about the content that only holders read
//!    and change. It isn't part of the count of changes, which has 2^62 versions there (146 years).
//!
//! # Orderings
//! - The first load is an acquire load: content is read after it.
//! - The second load needs an acquire *fence* before it. An acquire load alone orders only later accesses,
//!   and would let a content load move after it.
//! - Latching is an acquire exchange and then a release *fence*: a reader that sees content of this writer
//!   sees the odd word at its second load. Without the fence a content store may become visible before the
//!   odd word.
//! - Unlatching is a release store: a thread that sees the new version sees all content.
//! - Where the process has one thread, latching may be a load and a store: creating a second thread orders
//!   both before everything that the new thread does.
//!
//! `crates/core/tests/loom` checks each of these rules, and that removing any of them is detected.

use crate::sync::{Atom, AtomicU64, Backoff, Ordering, Origin, fence, perturb};
#[cfg(not(loom))]
use crate::sync::{BitsWord, is_alone};

/// A version and a latch in one word. See the module documentation.
#[derive(Debug)]
#[repr(transparent)]
pub struct OptimisticLatch<A = AtomicU64> {
    word: A,
}

/// A version that was read while the latch was free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(u64);

impl<A: Atom> Default for OptimisticLatch<A> {
    fn default() -> Self {
        Self { word: A::new(0) }
    }
}

impl<A: Atom> OptimisticLatch<A> {
    const HELD: u64 = 1;
    const STEP: u64 = 2;
    const MARK: u64 = 1 << (8 * A::BYTES - 1);

    /// Returns the latch that a node's word is.
    #[cfg(not(loom))]
    #[inline(always)]
    pub fn of<W: BitsWord<Atom = A>>(word: &W) -> &Self {
        // SAFETY: a latch is a transparent wrapper of its atomic.
        unsafe { &*core::ptr::from_ref(word.atom()).cast() }
    }

    /// Returns the version, unless the latch is held. Content may be read after this.
    #[inline(always)]
    pub fn stable_version(&self) -> Option<Version> {
        perturb();
        let word = self.word.load(Ordering::Acquire);
        (word & Self::HELD == 0).then_some(Version(word))
    }

    /// Returns whether all content that was read since `version` was loaded belongs to that version.
    #[inline(always)]
    pub fn validate(&self, version: Version) -> bool {
        perturb();
        fence(Ordering::Acquire);
        self.word.load(Ordering::Relaxed) == version.0
    }

    /// Returns whether the latch is held at this moment: for assertions.
    pub fn is_held(&self) -> bool {
        self.word.load(Ordering::Relaxed) & Self::HELD != 0
    }

    /// Takes the latch if the content still has this version.
    #[inline(always)]
    pub fn try_upgrade(&self, version: Version) -> Option<Latched<'_, A>> {
        perturb();
        let held = version.0 | Self::HELD;
        self.word.compare_exchange(version.0, held, Ordering::Acquire, Ordering::Relaxed).ok()?;
        fence(Ordering::Release);
        Some(Latched { latch: self, found: version.0, left: version.0 })
    }

    /// Takes the latch if it is free.
    #[inline(always)]
    pub fn try_latch(&self) -> Option<Latched<'_, A>> {
        perturb();
        let word = self.word.load(Ordering::Relaxed);
        if word & Self::HELD == 0 { self.try_upgrade(Version(word)) } else { None }
    }

    /// Waits until the latch is free, and takes it. `origin` is the process in which the latch was made.
    ///
    /// # Panics
    /// If a thread held the latch at a fork, and this is the child.
    #[inline(always)]
    pub fn latch(&self, origin: &Origin) -> Latched<'_, A> {
        match self.try_latch() {
            Some(latched) => latched,
            None => self.latch_slowly(origin),
        }
    }

    #[cold]
    fn latch_slowly(&self, origin: &Origin) -> Latched<'_, A> {
        let (mut backoff, mut seen) = (Backoff::default(), 0);
        loop {
            backoff.wait_at(origin);
            if let Some(latched) = self.try_latch() {
                return latched;
            }
            // Under loom no latch is inherited, and each load would be one more state to explore.
            let word = if cfg!(loom) { 0 } else { self.word.load(Ordering::Relaxed) };
            if word != seen {
                seen = word;
                backoff.others_move();
            }
        }
    }
}

/// A held latch. Dropping it without a call of [`changing`](Self::changing) means that nothing was changed.
#[derive(Debug)]
#[must_use = "a latch that is dropped at once protects nothing"]
pub struct Latched<'a, A: Atom = AtomicU64> {
    latch: &'a OptimisticLatch<A>,
    /// The version that the holder found.
    found: u64,
    /// The version to publish.
    left: u64,
}

impl<A: Atom> Latched<'_, A> {
    /// Announces that content changes from here on: readers of the version that was found must retry.
    #[inline(always)]
    pub fn changing(&mut self) {
        self.left = self.found.wrapping_add(OptimisticLatch::<A>::STEP);
    }

    /// Returns whether an earlier holder set the mark. For words of 64 bits.
    #[inline(always)]
    pub fn is_marked(&self) -> bool {
        const { assert!(A::BYTES == 8, "a version of 32 bits needs all of them") }
        self.found & OptimisticLatch::<A>::MARK != 0
    }

    /// Sets or clears the mark. Readers see that as a change.
    #[inline(always)]
    pub fn set_mark(&mut self, marked: bool) {
        const { assert!(A::BYTES == 8, "a version of 32 bits needs all of them") }
        let mark = OptimisticLatch::<A>::MARK;
        let with = |word: u64| if marked { word | mark } else { word & !mark };
        (self.found, self.left) = (with(self.found), with(self.left));
    }
}

#[cfg(not(loom))]
impl OptimisticLatch {
    /// Waits until the latch is free, and takes it. Where the process has one thread, no atomic exchange is
    /// used. See [`OptimisticLatch::latch`].
    #[inline(always)]
    pub fn latch_if_alone_cheaply(&self, origin: &Origin) -> Latched<'_> {
        if is_alone() {
            let word = self.word.load(Ordering::Relaxed);
            // Otherwise a thread that existed before a fork held it.
            if word & Self::HELD == 0 {
                self.word.store(word | Self::HELD, Ordering::Relaxed);
                return Latched { latch: self, found: word, left: word };
            }
        }
        self.latch(origin)
    }

    /// Returns whether the mark is set. For a caller that has exclusive access to the node without its
    /// latch.
    #[inline(always)]
    pub fn is_marked(&self) -> bool {
        self.word.load(Ordering::Relaxed) & Self::MARK != 0
    }

    /// Sets or clears the mark. For a caller that has exclusive access to the node without its latch.
    #[inline(always)]
    pub fn set_mark(&self, marked: bool) {
        let word = self.word.load(Ordering::Relaxed) & !Self::MARK;
        self.word.store(if marked { word | Self::MARK } else { word }, Ordering::Relaxed);
    }
}

impl<A: Atom> Drop for Latched<'_, A> {
    #[inline(always)]
    fn drop(&mut self) {
        perturb();
        self.latch.word.store(self.left, Ordering::Release);
    }
}
