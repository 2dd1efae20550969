//! Pins, and deferred work that runs when every pin of a moment has ended.
//!
//! Deferred work goes to a queue that all threads share, so none of it depends on the thread that deferred
//! it: any thread that unpins, or flushes, runs what is due.
//!
//! # When it runs
//! 1. The end of a pin sometimes runs a little, in proportion to what is waiting.
//! 2. A pin during which much was deferred has probably delayed it: its end runs everything that is due.
//! 3. A flush runs what is due.

use core::cell::Cell;
use crossbeam_epoch::{Collector, Guard, LocalHandle};
use latchless_core::sync::Tally;
use std::sync::OnceLock;

/// Rounds after which work that was deferred before is due, unless a thread stays pinned: the epoch must
/// advance twice, and another thread may advance it at the same moment.
const ROUNDS: usize = 4;
/// One in this many pins of a thread runs a part of what is due.
const TICKS_TOGETHER: u32 = 32;
/// A pin during which this much was deferred has delayed it.
const HELD_UP: usize = 8;

/// The number of deferred pieces, and how many of these have run.
static PUT_OFF: Tally = Tally::new(0);
static DONE: Tally = Tally::new(0);

thread_local! {
    static HANDLE: LocalHandle = collector().register();
    /// Counts the pins of this thread that ended while something was deferred.
    static TICKS: Cell<u32> = const { Cell::new(0) };
    /// Whether the calling thread is running deferred work.
    static IS_BUSY: Cell<bool> = const { Cell::new(false) };
}

/// Returns the library's own collector, which other users of epochs don't delay.
fn collector() -> &'static Collector {
    static COLLECTOR: OnceLock<Collector> = OnceLock::new();
    COLLECTOR.get_or_init(Collector::new)
}

#[inline]
fn guard() -> Guard {
    // A thread that is ending has no handle any more.
    HANDLE.try_with(LocalHandle::pin).unwrap_or_else(|_| collector().register().pin())
}

/// Keeps everything that the calling thread reads from being dropped, as long as the pin lives. Pinning
/// costs some 20 ns, so one pin should serve a batch or a scan; but while a thread is pinned nothing that
/// any thread retires is dropped, so no pin should be kept for long. The end of a pin that delayed many
/// values drops them.
///
/// ```
/// use latchless::index::{Index, Slot};
///
/// let index = Index::<u64, Slot<String>>::new()?;
/// index.insert(7, "seven".to_owned())?;
/// let pin = index.pin();
/// let seven = index.get_ref(7, &pin);
/// index.remove(7);
/// assert_eq!(seven.map(String::as_str), Some("seven"), "still there to be read");
/// # Ok::<(), latchless::Error>(())
/// ```
#[derive(Debug)]
pub struct Pinned {
    guard: Guard,
    /// After the guard: it runs when the pin has ended.
    end: End,
}

/// The end of a pin.
#[derive(Debug)]
struct End {
    /// The number of deferred pieces before the pin began.
    before: usize,
}

impl Pinned {
    /// Pins the calling thread.
    #[inline]
    pub fn new() -> Self {
        let end = End { before: PUT_OFF.get() };
        Self { guard: guard(), end }
    }

    /// Unpins for a moment, so that values which were retired meanwhile can be dropped. No reference that
    /// was read under the pin exists by then.
    pub fn repin(&mut self) {
        self.guard.repin();
        self.end.before = PUT_OFF.get();
    }

    /// Drops some of the retired values, of all indexes, that no pin can see any more, if many are waiting.
    /// To drop all of one index, use [`Index::flush`](crate::Index::flush).
    pub fn flush(&self) {
        self.guard.flush();
    }
}

impl Default for Pinned {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for End {
    #[inline]
    fn drop(&mut self) {
        let (put_off, done) = (PUT_OFF.get(), DONE.get());
        if put_off != done {
            after_a_pin(put_off.wrapping_sub(self.before), put_off.wrapping_sub(done));
        }
    }
}

/// Runs some of the waiting work, after a pin during which so much was deferred.
#[cold]
#[inline(never)]
fn after_a_pin(during: usize, waiting: usize) {
    let ticks = TICKS.get().wrapping_add(1);
    TICKS.set(ticks);
    if during >= HELD_UP {
        do_what_is_due(usize::MAX, || false);
    } else if ticks.is_multiple_of(TICKS_TOGETHER) {
        do_what_is_due(1 + waiting / 8, || false);
    }
}

/// Returns whether the calling thread is running deferred work.
pub(super) fn is_busy() -> bool {
    IS_BUSY.get()
}

/// Runs `work`, which may be code of a value's type; work that it defers is left to other threads.
pub(super) fn busy<R>(work: impl FnOnce() -> R) -> R {
    let outer = IS_BUSY.replace(true);
    let done = work();
    IS_BUSY.set(outer);
    done
}

/// Defers `work` until every pin of this moment has ended. It must not panic.
pub(super) fn put_off(work: impl FnOnce() + Send + 'static) {
    PUT_OFF.add(1);
    let guard = guard();
    guard.defer(move || {
        busy(work);
        DONE.add(1);
    });
    // To the queue that all threads share.
    guard.flush();
}

/// Returns the number of waiting pieces.
pub(super) fn waiting() -> usize {
    PUT_OFF.get().wrapping_sub(DONE.get())
}

/// Runs what is due, until about `most` pieces have run, or `is_enough` returns `true`, or nothing is due.
pub(super) fn do_what_is_due(most: usize, is_enough: impl Fn() -> bool) {
    if is_busy() {
        return;
    }
    let (first, mut idle) = (DONE.get(), 0);
    while idle < ROUNDS && DONE.get().wrapping_sub(first) < most && !is_enough() {
        let before = DONE.get();
        guard().flush();
        idle = if DONE.get() == before { idle + 1 } else { 0 };
    }
}
