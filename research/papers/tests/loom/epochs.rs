//! Unlinked memory is reused when no pinned thread can read it: one thread reads the target of a word, the
//! other unlinks it and reuses its memory.

use crate::race;
use latchless_core::sync::{AtomicU64, Ordering, fence};
use latchless_papers::epochs::{Epochs, OUTSIDE};

/// The readers that are pinned, and since when.
trait Protocol: Send + Sync + 'static {
    fn new() -> Self;
    fn enter(&self);
    fn leave(&self);
    fn stamp(&self) -> u64;
    fn oldest(&self) -> u64;
}

impl Protocol for Epochs {
    fn new() -> Self {
        Epochs::new(1)
    }

    fn enter(&self) {
        assert!(self.try_enter(0), "nobody else comes in here");
    }

    fn leave(&self) {
        Epochs::leave(self, 0);
    }

    fn stamp(&self) -> u64 {
        Epochs::stamp(self)
    }

    fn oldest(&self) -> u64 {
        Epochs::oldest(self)
    }
}

/// The protocol written again without any flaw.
const NO_FLAW: u8 = 0;
/// A reader that pins passes no fence before looking at anything.
const NO_FENCE_INSIDE: u8 = 1;
/// The thread that reads the slots passes no fence before.
const NO_FENCE_OUTSIDE: u8 = 2;
/// Unlinked memory may be reused at once.
const IMPATIENT: u8 = 3;

struct Flawed<const FLAW: u8> {
    clock: AtomicU64,
    place: AtomicU64,
}

impl<const FLAW: u8> Protocol for Flawed<FLAW> {
    fn new() -> Self {
        Self { clock: AtomicU64::new(OUTSIDE + 1), place: AtomicU64::new(OUTSIDE) }
    }

    fn enter(&self) {
        let now = self.clock.load(Ordering::Acquire);
        let entered = self.place.compare_exchange(OUTSIDE, now, Ordering::Relaxed, Ordering::Relaxed);
        assert!(entered.is_ok(), "nobody else comes in here");
        if FLAW != NO_FENCE_INSIDE {
            fence(Ordering::SeqCst);
        }
    }

    fn leave(&self) {
        self.place.store(OUTSIDE, Ordering::Release);
    }

    fn stamp(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::AcqRel)
    }

    fn oldest(&self) -> u64 {
        let now = self.clock.load(Ordering::Acquire);
        if FLAW != NO_FENCE_OUTSIDE {
            fence(Ordering::SeqCst);
        }
        match self.place.load(Ordering::Acquire) {
            _ if FLAW == IMPATIENT => now,
            OUTSIDE => now,
            time => now.min(time),
        }
    }
}

/// The content of the reference's target, unless its memory was reused.
const CONTENT: u64 = 1;
const SOMETHING_ELSE: u64 = 2;

struct World<P> {
    protocol: P,
    /// Whether the reference is present.
    linked: AtomicU64,
    memory: AtomicU64,
}

fn start<P: Protocol>() -> World<P> {
    World { protocol: P::new(), linked: AtomicU64::new(1), memory: AtomicU64::new(CONTENT) }
}

fn readers_read_what_they_came_for<P: Protocol>() {
    race(
        start::<P>,
        |world| {
            world.linked.store(0, Ordering::Release);
            let stamp = world.protocol.stamp();
            if world.protocol.oldest() > stamp {
                world.memory.store(SOMETHING_ELSE, Ordering::Relaxed);
            }
        },
        |world| {
            world.protocol.enter();
            if world.linked.load(Ordering::Acquire) == 1 {
                let read = world.memory.load(Ordering::Relaxed);
                assert_eq!(read, CONTENT, "memory was used again under a reader");
            }
            world.protocol.leave();
        },
        |world, _| {
            let stamp = world.protocol.stamp();
            assert!(world.protocol.oldest() > stamp, "when everybody has gone it comes back");
        },
    );
}

#[test]
fn memory_is_not_used_again_under_a_reader() {
    readers_read_what_they_came_for::<Epochs>();
    readers_read_what_they_came_for::<Flawed<NO_FLAW>>();
}

#[test]
#[should_panic(expected = "used again under a reader")]
fn without_the_readers_fence_it_is() {
    readers_read_what_they_came_for::<Flawed<NO_FENCE_INSIDE>>();
}

#[test]
#[should_panic(expected = "used again under a reader")]
fn without_the_collectors_fence_it_is() {
    readers_read_what_they_came_for::<Flawed<NO_FENCE_OUTSIDE>>();
}

#[test]
#[should_panic(expected = "used again under a reader")]
fn without_waiting_it_is() {
    readers_read_what_they_came_for::<Flawed<IMPATIENT>>();
}
