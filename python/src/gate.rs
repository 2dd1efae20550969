//! A gate between batches and forks.
//!
//! A child of `os.fork()` has a copy of every index, and a single thread. A leaf that another thread had
//! latched at that moment would stay latched in the child for ever. So a fork waits until no chunk of any
//! batch is running, and no chunk begins until the fork is done. Single operations hold the interpreter's
//! lock, as a fork does, so they can't meet; on an interpreter without that lock they pass the gate as
//! well.
//!
//! Without that lock a fork, and a garbage collection, also waits until every thread that is attached to
//! the interpreter lets itself be stopped. So a thread that waits here is detached meanwhile, and a thread
//! with a pass proceeds without the interpreter.

use pyo3::Python;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

/// Forks in the upper half, chunks that are running in the lower half.
static GATE: AtomicU64 = AtomicU64::new(0);
const ONE_FORK: u64 = 1 << 32;
const RUNNING: u64 = ONE_FORK - 1;

/// While it is there, the process doesn't fork.
pub struct Pass(());

impl Pass {
    /// Waits until no fork is going on. The caller is detached from the interpreter. A thread that has a
    /// pass must neither request another one nor attach itself.
    #[inline]
    pub fn new() -> Self {
        loop {
            if let Some(pass) = Self::at_once() {
                return pass;
            }
            pause();
        }
    }

    /// A pass for a single operation of an attached thread, which needs one only where there is no global
    /// lock.
    #[inline(always)]
    pub fn for_one() -> Option<Self> {
        cfg!(Py_GIL_DISABLED).then(|| Self::at_once().unwrap_or_else(Self::after_fork))
    }

    #[inline]
    fn at_once() -> Option<Self> {
        if GATE.fetch_add(1, SeqCst) < ONE_FORK {
            return Some(Self(()));
        }
        GATE.fetch_sub(1, SeqCst);
        None
    }

    /// The pass is requested when the thread is attached again: it can't wait for that with one.
    #[cold]
    fn after_fork() -> Self {
        loop {
            Python::attach(|py| py.detach(pause));
            if let Some(pass) = Self::at_once() {
                return pass;
            }
        }
    }
}

impl Drop for Pass {
    #[inline]
    fn drop(&mut self) {
        GATE.fetch_sub(1, SeqCst);
    }
}

fn pause() {
    std::thread::sleep(Duration::from_micros(50));
}

/// Called before the process forks.
pub fn before_fork(py: Python<'_>) {
    GATE.fetch_add(ONE_FORK, SeqCst);
    while GATE.load(SeqCst) & RUNNING != 0 {
        py.detach(pause);
    }
}

/// Called in the parent after the process has forked.
pub fn after_fork_in_parent() {
    GATE.fetch_sub(ONE_FORK, SeqCst);
}

/// Called in the child: no thread is there that could be running anything.
pub fn after_fork_in_child() {
    GATE.store(0, SeqCst);
}
