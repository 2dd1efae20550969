//! Test support: runs code in a forked child and reports how it ended.
//!
//! Another thread that panics meanwhile could leave the standard library's own locks held in the child. So
//! tests that fork run alone in their process.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Seconds after which a child counts as hanging.
const HANGS_AFTER: u32 = 60;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It completed.
    Well,
    /// It panicked with the expected message.
    SayingSo,
    /// It panicked with another message.
    Wrongly,
    /// It didn't end.
    Hanging,
}

/// A running child.
pub struct Child(libc::pid_t);

impl Child {
    /// Starts a child that runs `act`, which may panic with a message that contains the text `says`.
    pub fn start(says: &str, act: impl FnOnce()) -> Self {
        // SAFETY: the child has a copy of all memory and this thread alone; what it calls takes no lock that
        // another thread may have held, but those of the C library, which it makes ready, and those under
        // test.
        match unsafe { libc::fork() } {
            -1 => panic!("the system refuses a child"),
            0 => {
                // SAFETY: without a handler the signal ends the child.
                unsafe { libc::alarm(HANGS_AFTER) };
                let code = match catch_unwind(AssertUnwindSafe(act)) {
                    Ok(()) => Ended::Well,
                    Err(panic) => {
                        let text = panic.downcast_ref::<String>().map(String::as_str);
                        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("");
                        if text.contains(says) { Ended::SayingSo } else { Ended::Wrongly }
                    }
                };
                // SAFETY: nothing of the parent's is dropped or flushed twice.
                unsafe { libc::_exit(code as i32) }
            }
            child => Self(child),
        }
    }

    /// Waits until the child ends.
    pub fn ended(self) -> Ended {
        let mut status = 0;
        // SAFETY: the child is this process's, and is waited for once.
        let waited = unsafe { libc::waitpid(self.0, &raw mut status, 0) };
        assert_eq!(waited, self.0);
        match libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)) {
            Some(0) => Ended::Well,
            Some(1) => Ended::SayingSo,
            Some(_) => Ended::Wrongly,
            None if libc::WTERMSIG(status) == libc::SIGALRM => Ended::Hanging,
            None => Ended::Wrongly,
        }
    }
}

/// Limits the process to the address space that it has taken already. For a child.
pub fn take_address_space() {
    let limit = libc::rlimit { rlim_cur: 0, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: reads a variable of this function; what is mapped stays so.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}
