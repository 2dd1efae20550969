//! A reader-writer latch in one word: shared by many threads, or held exclusively by one.
//!
//! Conventional concurrency control latches nodes with it, so it is the baseline of OLFIT's measurements:
//! readers write the word too, so it moves from cache to cache even if no thread changes anything (§3.1).
//!
//! # Thread safety
//! The word has one bit for a thread that holds the latch exclusively, one for a thread that waits to, and
//! above them the number of the threads that share it.
//!
//! # Invariants
//! 1. No thread shares it while another holds it exclusively.
//! 2. While a thread waits for exclusive access, no further thread may share it, so writers don't starve.
//!    The bit is a request, not a right: a thread that gets exclusive access clears it, and one that still
//!    waits sets it again.
//!
//! # Orderings
//! Acquiring is an acquire exchange, releasing a release subtraction: the next thread sees what was
//! written exclusively, and shared reads precede the next writer. `tests/loom` detects if either of them
//! is missing.

#[cfg(not(loom))]
use latchless_core::sync::BitsWord;
use latchless_core::sync::{Atom, AtomicU64, Backoff, Ordering, Origin, perturb};

/// A reader-writer latch. See the file's head.
#[derive(Debug)]
#[repr(transparent)]
pub struct SharedLatch<A = AtomicU64> {
    word: A,
}

impl<A: Atom> Default for SharedLatch<A> {
    fn default() -> Self {
        Self { word: A::new(0) }
    }
}

impl<A: Atom> SharedLatch<A> {
    const ALONE: u64 = 1;
    const WISH: u64 = 2;
    const ONE: u64 = 4;

    /// The latch that a node's word is.
    #[cfg(not(loom))]
    #[inline(always)]
    pub fn of<W: BitsWord<Atom = A>>(word: &W) -> &Self {
        // SAFETY: a latch is a transparent wrapper of its atomic.
        unsafe { &*core::ptr::from_ref(word.atom()).cast() }
    }

    /// Returns whether no thread holds it.
    pub fn is_free(&self) -> bool {
        self.word.load(Ordering::Relaxed) & !Self::WISH == 0
    }

    /// Returns whether no thread holds it exclusively or waits to.
    pub fn is_open(&self) -> bool {
        self.word.load(Ordering::Relaxed) & (Self::ALONE | Self::WISH) == 0
    }

    /// Holds it together with others, unless somebody holds it alone or waits to.
    #[inline(always)]
    pub fn try_together(&self) -> Option<Together<'_, A>> {
        perturb();
        let mut word = self.word.load(Ordering::Relaxed);
        while word & (Self::ALONE | Self::WISH) == 0 {
            match self.word.compare_exchange(word, word + Self::ONE, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Together { latch: self }),
                Err(found) => word = found,
            }
        }
        None
    }

    /// Holds it alone, unless somebody holds it.
    #[inline(always)]
    pub fn try_alone(&self) -> Option<Alone<'_, A>> {
        perturb();
        let word = self.word.load(Ordering::Relaxed);
        if word & !Self::WISH != 0 {
            return None;
        }
        let taken =
            self.word.compare_exchange(word, Self::ALONE, Ordering::Acquire, Ordering::Relaxed).is_ok();
        // Not `then_some`: a guard that is made is dropped.
        taken.then(|| Alone { latch: self })
    }

    /// Requests exclusive access: no further thread may share the latch.
    pub fn wish(&self) {
        if self.word.load(Ordering::Relaxed) & Self::WISH == 0 {
            self.word.fetch_or(Self::WISH, Ordering::Relaxed);
        }
    }

    /// Waits until it can be held together with others. `origin`: where the latch was made.
    ///
    /// # Panics
    /// When a thread held it alone at a fork, and this is the child.
    #[inline(always)]
    pub fn together(&self, origin: &Origin) -> Together<'_, A> {
        let mut backoff = Backoff::default();
        loop {
            if let Some(held) = self.try_together() {
                return held;
            }
            backoff.wait_at(origin);
        }
    }

    /// Waits until it can be held alone. `origin`: where the latch was made.
    ///
    /// # Panics
    /// When a thread held it at a fork, and this is the child.
    #[inline(always)]
    pub fn alone(&self, origin: &Origin) -> Alone<'_, A> {
        let mut backoff = Backoff::default();
        loop {
            if let Some(held) = self.try_alone() {
                return held;
            }
            self.wish();
            backoff.wait_at(origin);
        }
    }
}

/// A latch that is held together with others.
#[derive(Debug)]
#[must_use = "a latch that is dropped at once protects nothing"]
pub struct Together<'a, A: Atom = AtomicU64> {
    latch: &'a SharedLatch<A>,
}

impl<A: Atom> Drop for Together<'_, A> {
    #[inline(always)]
    fn drop(&mut self) {
        perturb();
        self.latch.word.fetch_sub(SharedLatch::<A>::ONE, Ordering::Release);
    }
}

/// A latch that is held alone.
#[derive(Debug)]
#[must_use = "a latch that is dropped at once protects nothing"]
pub struct Alone<'a, A: Atom = AtomicU64> {
    latch: &'a SharedLatch<A>,
}

impl<A: Atom> Drop for Alone<'_, A> {
    #[inline(always)]
    fn drop(&mut self) {
        perturb();
        // Others may have set the wish meanwhile: it stays.
        self.latch.word.fetch_sub(SharedLatch::<A>::ALONE, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn one_alone_or_many_together<A: Atom>() {
        let latch = SharedLatch::<A>::default();
        let (one, other) = (latch.try_together(), latch.try_together());
        assert!(one.is_some() && other.is_some() && latch.try_alone().is_none());
        latch.wish();
        assert!(latch.try_together().is_none(), "somebody waits");
        drop((one, other));
        assert!(latch.is_free());
        let alone = latch.try_alone();
        assert!(alone.is_some() && latch.try_alone().is_none() && latch.try_together().is_none());
        latch.wish();
        drop(alone);
        assert!(latch.try_together().is_none(), "the wish stays");
        drop(latch.alone(&Origin::here()));
        drop(latch.together(&Origin::here()));
        assert!(latch.is_free());
    }

    #[test]
    fn one_holds_it_alone_or_many_together() {
        one_alone_or_many_together::<AtomicU64>();
        one_alone_or_many_together::<latchless_core::sync::AtomicU32>();
    }

    #[test]
    fn threads_take_turns() {
        let (latch, count) = (SharedLatch::<AtomicU64>::default(), latchless_core::sync::Word::new(0));
        let rounds = if cfg!(miri) { 20 } else { 2000 };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        let alone = latch.alone(&Origin::here());
                        count.store_relaxed(count.load_relaxed() + 1);
                        drop(alone);
                        let _together = latch.together(&Origin::here());
                        assert!(count.load_relaxed() > 0);
                    }
                });
            }
        });
        assert_eq!(count.load_relaxed(), 3 * rounds);
    }
}
