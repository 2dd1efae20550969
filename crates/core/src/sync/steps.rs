//! Scheduling points, for tests that choose the thread that runs next (`--cfg latchless_shuttle`): before
//! every access to a node's word and every operation on a latch, the thread calls the test's hook. Otherwise
//! this file is empty.

use core::cell::Cell;

/// The next action of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// An access to memory that other threads access.
    Access,
    /// Another look at something that other threads have to change first.
    Wait,
}

/// The function that a thread calls at each step.
pub type Hook = fn(Step);

thread_local! {
    static HOOK: Cell<Option<Hook>> = const { Cell::new(None) };
}

/// Sets the hook of this operating system's thread, and so of every coroutine on it. Returns the previous
/// one.
pub fn on_step(hook: Option<Hook>) -> Option<Hook> {
    HOOK.replace(hook)
}

/// Takes a step. Returns whether there was a hook to call.
pub(super) fn take(step: Step) -> bool {
    let hook = HOOK.get();
    if let Some(hook) = hook {
        hook(step);
    }
    hook.is_some()
}
