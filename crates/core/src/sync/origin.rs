//! The process in which something was made.
//!
//! A fork copies all memory and one thread. What another thread held at that moment, a latch or a mutex,
//! stays held in the child for ever. A thread that waits long asks where the thing comes from: in a child
//! that inherited it, the wait may be one without an end.

/// Said in place of a wait without an end.
pub(crate) const HELD_FOR_EVER: &str = "waited for a thread that doesn't exist in this process: it was forked while \
    a thread of its parent was changing the index; see \"After a fork\" in the documentation of latchless::index";

/// The process in which something was made.
///
/// ```
/// use latchless_core::sync::Origin;
/// assert!(!Origin::here().is_inherited());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    process: u32,
}

impl Origin {
    /// This process.
    pub fn here() -> Self {
        Self { process: process() }
    }

    /// The process's number, for who has room for a word alone.
    #[cfg(not(loom))]
    pub(crate) fn number(self) -> u64 {
        u64::from(self.process)
    }

    /// Whether another process made it: this one is a child of that one, by a fork, or a child's child. Not
    /// noticed if this one happens to have that one's number, as a process that is the first in a namespace
    /// of its own may; nothing but the notice is lost then.
    pub fn is_inherited(&self) -> bool {
        self.process != process()
    }
}

/// The number of the calling process. A system call: for what is done seldom.
fn process() -> u32 {
    // Interpreters know of no fork.
    if cfg!(any(miri, loom)) { 0 } else { std::process::id() }
}
