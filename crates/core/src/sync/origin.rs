//! The process in which an object was made.
//!
//! A fork copies all memory and one thread. A latch or a mutex that another thread held at that moment stays
//! held in the child for ever. A thread that has waited long compares the origin of what it waits for with
//! its own process: in a child that inherited it, the wait may never end.

#[cfg(all(target_os = "linux", not(any(miri, loom))))]
use super::process::number as process;

/// The panic message of such a wait.
pub(crate) const HELD_FOR_EVER: &str = "waited for a thread that doesn't exist in this process: it was forked while \
    a thread of its parent was changing the index; see \"After a fork\" in the documentation of latchless::index";

/// The process in which an object was made.
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
    /// Returns this process.
    pub fn here() -> Self {
        Self { process: process() }
    }

    /// Returns the process's number, to be stored in a word.
    #[cfg(not(loom))]
    pub(crate) fn number(self) -> u64 {
        u64::from(self.process)
    }

    /// Returns whether another process made the object: an ancestor of this process, by a fork. If this
    /// process happens to have its ancestor's number, as the first process of a namespace may, the answer is
    /// `false`; only the panic message is lost then.
    pub fn is_inherited(&self) -> bool {
        self.process != process()
    }
}

/// Returns the number of the calling process. A system call on some systems.
#[cfg(not(all(target_os = "linux", not(any(miri, loom)))))]
fn process() -> u32 {
    // Unixes alone have a fork, and Miri and loom have none.
    if cfg!(any(not(unix), miri, loom)) { 0 } else { std::process::id() }
}
