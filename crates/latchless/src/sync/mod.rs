//! Floor 0: the atomics that latches are made of. The standard library's, or loom's twins of them
//! when a protocol is being model-checked (`--cfg loom`).

mod atom;
#[cfg(not(loom))]
mod crew;
mod epochs;
mod life;
#[cfg(latchless_perturb)]
mod perturb;
#[cfg(not(loom))]
mod pointer;
#[cfg(not(loom))]
mod slot;
#[cfg(latchless_shuttle)]
pub mod steps;
#[cfg(not(loom))]
mod striped;
#[cfg(not(loom))]
mod tally;
#[cfg(not(loom))]
mod word;

pub use atom::Atom;
#[cfg(not(loom))]
pub use crew::{Crew, Job, Run};
pub use epochs::{Epochs, OUTSIDE};
pub use life::Life;
#[cfg(not(loom))]
pub use pointer::{Pointer, Replaced};
#[cfg(not(loom))]
pub use slot::{SLOTS, slot};
#[cfg(not(loom))]
pub use striped::Striped;
#[cfg(not(loom))]
pub use tally::Tally;
#[cfg(not(loom))]
pub use word::{LaneWord, Line, Word, Word32};

#[cfg(not(loom))]
mod primitive {
    pub use core::hint::spin_loop;
    pub use core::sync::atomic::{AtomicU32, AtomicU64, fence};
    pub use std::thread::yield_now;
}

#[cfg(loom)]
mod primitive {
    pub use loom::hint::spin_loop;
    pub use loom::sync::atomic::{AtomicU32, AtomicU64, fence};
    pub use loom::thread::yield_now;
}

pub use core::sync::atomic::Ordering;
pub use primitive::{AtomicU32, AtomicU64, fence, spin_loop, yield_now};

/// Where tests disturb schedules (`--cfg latchless_perturb`); otherwise nothing.
#[inline(always)]
pub fn perturb() {
    #[cfg(latchless_perturb)]
    perturb::perturb();
    step();
}

/// Where tests decide which thread goes on (`--cfg latchless_shuttle`); otherwise nothing.
#[inline(always)]
pub(crate) fn step() {
    #[cfg(latchless_shuttle)]
    steps::take(steps::Step::Access);
}

/// Looks at words without a step: for assertions.
#[inline(always)]
pub fn unseen<R>(look: impl FnOnce() -> R) -> R {
    #[cfg(latchless_shuttle)]
    let hook = steps::on_step(None);
    let seen = look();
    #[cfg(latchless_shuttle)]
    steps::on_step(hook);
    seen
}

/// Locks a mutex under which no foreign code runs: what a panic leaves behind in it is consistent.
#[cfg(not(loom))]
pub fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    #[cfg(latchless_shuttle)]
    return steps::lock(mutex);
    #[cfg(not(latchless_shuttle))]
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Waits a little longer each time: for a holder that is about to be done, then for one that has
/// lost its processor.
#[derive(Debug, Default)]
pub struct Backoff {
    rounds: u32,
}

impl Backoff {
    /// Rounds that spin, each twice as long as the one before, before the processor is given up.
    const SPINNING_ROUNDS: u32 = 6;

    /// Waits.
    pub fn wait(&mut self) {
        #[cfg(latchless_shuttle)]
        if steps::take(steps::Step::Wait) {
            return;
        }
        if cfg!(loom) || cfg!(miri) || self.rounds >= Self::SPINNING_ROUNDS {
            yield_now();
        } else {
            for _ in 0..1 << self.rounds {
                spin_loop();
            }
            self.rounds += 1;
        }
    }
}
