//! Epochs: the protocol by which unlinked memory is reused once no thread can still read it.
//!
//! This is the collector that physical versioning uses (Rastogi et al., *Logical and Physical Versioning
//! in Main Memory Databases*, VLDB 1997) and OLFIT §5.3 borrows: a clock, and for each pinned thread the
//! time at which it entered.
//!
//! # Thread safety
//! 1. A place is taken by a compare-and-swap and released only by its owner.
//! 2. A thread that enters reads the clock, stores that time in its place, and then passes a sequentially
//!    consistent fence before its first read of anything shared.
//! 3. A thread that unlinks something then passes such a fence and advances the clock; the previous time
//!    is the *stamp* of what was unlinked.
//! 4. Memory with a stamp may be reused once every pinned thread entered after it.
//!
//! Why that is enough: one of the two fences is first. If it is the unlinker's, the entering thread sees
//! everything unlinked and can't reach it. If it is the other one, the unlinker, which reads the places
//! after its fence, sees the place taken, with a time that isn't after the stamp unless the clock was read
//! after it was advanced; and a thread that read that saw the unlinking too.
//!
//! `tests/loom` checks it, and that removing either fence is detected.

use core::sync::atomic::{Ordering, compiler_fence};
use latchless_core::sync::{AtomicU64, fence};

/// The time of a free place.
pub const OUTSIDE: u64 = 0;

/// Whether the processor never reorders accesses across a locked exchange, so that the fence after it,
/// which costs as much again, isn't needed. The language doesn't guarantee this, so its interpreters get
/// the fence.
const EXCHANGE_IS_A_FENCE: bool = cfg!(all(target_arch = "x86_64", not(any(miri, loom))));

/// A place and nothing else in its cache lines (processors fetch them in pairs).
#[derive(Debug)]
#[repr(align(128))]
struct EpochSlot(AtomicU64);

/// Places that fill a page; loom counts every atomic.
const PER_PAGE: usize = if cfg!(loom) { 1 } else { PAGE_BYTES / size_of::<EpochSlot>() };
const PAGE_BYTES: usize = 4096;

/// Page-aligned, so that which places share a translation doesn't depend on the allocator and is the same
/// in every run of a model.
#[derive(Debug)]
#[repr(align(4096))]
struct Page([EpochSlot; PER_PAGE]);

/// A clock, and the time at which each pinned thread entered. See the file's head.
#[derive(Debug)]
pub struct Epochs {
    clock: EpochSlot,
    pages: Box<[Page]>,
}

impl Epochs {
    /// Creates places for that many threads at a time, or for more.
    pub fn new(places: usize) -> Self {
        // 1: no time is `OUTSIDE`.
        let clock = EpochSlot(AtomicU64::new(OUTSIDE + 1));
        let empty = || Page(core::array::from_fn(|_| EpochSlot(AtomicU64::new(OUTSIDE))));
        Self { clock, pages: (0..places.div_ceil(PER_PAGE)).map(|_| empty()).collect() }
    }

    #[inline(always)]
    fn place(&self, place: usize) -> &AtomicU64 {
        let page = place / PER_PAGE;
        &self.pages[page].0[place - page * PER_PAGE].0
    }

    /// Returns the address of a place's time; not to be dereferenced.
    pub fn address(&self, place: usize) -> *const u8 {
        core::ptr::from_ref(self.place(place)).cast()
    }

    /// Returns the address of the clock; not to be dereferenced.
    pub fn clock_address(&self) -> *const u8 {
        core::ptr::from_ref(&self.clock).cast()
    }

    /// Enters at this place, if it is free.
    #[inline(always)]
    pub fn try_enter(&self, place: usize) -> bool {
        // Acquire: a thread that reads an advanced clock sees what was unlinked before.
        let now = self.clock.0.load(Ordering::Acquire);
        let place = self.place(place);
        if EXCHANGE_IS_A_FENCE {
            let entered = place.compare_exchange(OUTSIDE, now, Ordering::SeqCst, Ordering::SeqCst).is_ok();
            compiler_fence(Ordering::SeqCst);
            return entered;
        }
        let entered = place.compare_exchange(OUTSIDE, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        fence(Ordering::SeqCst);
        entered
    }

    /// Leaves a place at which the caller entered.
    #[inline(always)]
    pub fn leave(&self, place: usize) {
        // Release: a thread that sees the place free knows that all reading is over.
        self.place(place).store(OUTSIDE, Ordering::Release);
    }

    /// The stamp of everything that the caller has unlinked by now.
    pub fn stamp(&self) -> u64 {
        fence(Ordering::SeqCst);
        self.clock.0.fetch_add(1, Ordering::AcqRel)
    }

    /// Since when everybody has been inside: what has a smaller stamp may be used again.
    pub fn oldest(&self) -> u64 {
        // Before the places are read, so that a place that is taken meanwhile has a later time.
        let now = self.clock.0.load(Ordering::Acquire);
        fence(Ordering::SeqCst);
        let times = self.pages.iter().flat_map(|page| &page.0).map(|place| place.0.load(Ordering::Acquire));
        times.filter(|&time| time != OUTSIDE).fold(now, u64::min)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_unlinked_waits_for_everybody_inside() {
        let epochs = Epochs::new(2);
        assert!(epochs.try_enter(0) && !epochs.try_enter(0));
        let stamp = epochs.stamp();
        assert!(epochs.oldest() <= stamp, "who came in before may be reading it");
        assert!(epochs.try_enter(1));
        epochs.leave(0);
        assert!(epochs.oldest() > stamp, "who came in after can't find it");
        let later = epochs.stamp();
        assert!(epochs.oldest() <= later);
        epochs.leave(1);
        assert!(epochs.oldest() > later && later > stamp);
        assert!(epochs.try_enter(0));
    }
}
