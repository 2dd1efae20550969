//! Steps, for tests that decide which thread takes the next one (`--cfg latchless_shuttle`): before every
//! access to a node's word and every operation on a latch, the thread calls what the test has set. Otherwise
//! nothing is here.

use core::cell::Cell;

/// What a thread is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// To read or write what others may read or write.
    Access,
    /// To look again for what others have to do first.
    Wait,
}

/// What a thread calls at each step.
pub type Hook = fn(Step);

thread_local! {
    static HOOK: Cell<Option<Hook>> = const { Cell::new(None) };
}

/// Sets what this operating system's thread, and so every coroutine on it, calls at each step. Says what it
/// called before.
pub fn on_step(hook: Option<Hook>) -> Option<Hook> {
    HOOK.replace(hook)
}

/// Takes a step. Whether there was a hook to call.
pub(super) fn take(step: Step) -> bool {
    let hook = HOOK.get();
    if let Some(hook) = hook {
        hook(step);
    }
    hook.is_some()
}
