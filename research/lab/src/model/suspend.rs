//! Suspending the worker that runs on this thread, from within the machine.

use corosensei::Yielder;
use std::cell::Cell;
use std::ptr;

thread_local! {
    /// The handle for suspending the worker that currently runs on this thread; null if none does.
    static YIELDER: Cell<*const Yielder<(), ()>> = const { Cell::new(ptr::null()) };
}

/// Suspends the running worker and returns to the scheduler; returns when the worker is resumed. Does
/// nothing if no worker runs.
pub(super) fn suspend() {
    let yielder = YIELDER.replace(ptr::null());
    if yielder.is_null() {
        return;
    }
    // SAFETY: a worker stores the yielder of its own coroutine here, first thing in its body and whenever
    // it is resumed (below). It is null again before the thread leaves the coroutine: in the line above
    // when it is suspended, by `Body`'s drop when its body ends. A worker that is unwound instead of being
    // resumed never stores it again. So the coroutine of the pointer is the one that runs this code, and
    // its yielder lives until its body ends.
    unsafe { (*yielder).suspend(()) };
    YIELDER.set(yielder);
}

/// Within the body of a coroutine.
pub(super) struct Body;

impl Body {
    pub(super) fn enter(yielder: &Yielder<(), ()>) -> Self {
        YIELDER.set(yielder);
        Self
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        YIELDER.set(ptr::null());
    }
}
