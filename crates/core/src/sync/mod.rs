//! The atomics that latches are built on: the standard library's, or loom's when a protocol is model-checked
//! (`--cfg loom`).

#[cfg(not(loom))]
mod address;
#[cfg(not(loom))]
mod alone;
mod atom;
mod backoff;
#[cfg(all(any(test, feature = "testing"), target_os = "linux", not(any(miri, loom))))]
pub mod forked;
#[cfg(not(loom))]
mod mutex;
#[cfg(not(loom))]
mod once_box;
mod origin;
#[cfg(latchless_perturb)]
mod perturb;
#[cfg(all(target_os = "linux", not(any(miri, loom))))]
mod process;
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

#[cfg(not(loom))]
pub use address::Address;
#[cfg(not(loom))]
pub use alone::{is_alone, look_for_the_flag};
pub use atom::Atom;
pub use backoff::Backoff;
#[cfg(not(loom))]
pub use mutex::Mutex;
#[cfg(not(loom))]
pub use once_box::OnceBox;
pub use origin::Origin;
#[cfg(not(loom))]
pub use slot::{SLOTS, slot};
#[cfg(not(loom))]
pub use striped::{Striped, Stripes};
#[cfg(not(loom))]
pub use tally::Tally;
#[cfg(not(loom))]
pub use word::{BitsWord, Line, Word, Word32};

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

/// A point at which tests disturb schedules (`--cfg latchless_perturb`); otherwise nothing.
#[inline(always)]
pub fn perturb() {
    #[cfg(latchless_perturb)]
    perturb::perturb();
    step();
}

/// A point at which tests choose the next thread (`--cfg latchless_shuttle`); otherwise nothing.
#[inline(always)]
pub fn step() {
    #[cfg(latchless_shuttle)]
    steps::take(steps::Step::Access);
}

/// Reads words without a scheduling point: for assertions.
#[inline(always)]
pub fn unseen<R>(look: impl FnOnce() -> R) -> R {
    #[cfg(latchless_shuttle)]
    let hook = steps::on_step(None);
    let seen = look();
    #[cfg(latchless_shuttle)]
    steps::on_step(hook);
    seen
}
