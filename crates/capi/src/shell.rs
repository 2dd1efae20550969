//! Shells, the targets of handles, and the list of those that were freed.

use crate::failure::Failure;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering::*};
use std::sync::Mutex;

/// The state of a shell without content.
pub const FREED: u64 = 4;

/// The target of a handle. On a cache line of its own, which isn't written while an index is used.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Shell {
    /// The kind of the handle, that of the content, and the state.
    pub word: AtomicU64,
    pub content: AtomicPtr<()>,
    /// Of a freed shell: the next one in its list.
    next: AtomicPtr<Self>,
}

/// How many freed shells wait before the first of them is used again.
const WAITING: usize = 1024;

/// The shells that were freed since `WAITING_SHELLS` took them in, the latest first. Freeing needs no lock,
/// so that a shell is never lost.
static FREED_SHELLS: AtomicPtr<Shell> = AtomicPtr::new(ptr::null_mut());

/// The other freed shells.
static WAITING_SHELLS: Mutex<Waiting> = Mutex::new(Waiting { first: None, last: None, count: 0 });

/// A queue of freed shells, the longest freed first.
#[derive(Debug)]
struct Waiting {
    first: Option<&'static Shell>,
    last: Option<&'static Shell>,
    count: usize,
}

impl Waiting {
    /// Takes in this list, whose latest shell comes first.
    fn take_in(&mut self, latest: Option<&'static Shell>) {
        let (mut rest, mut later) = (latest, None);
        while let Some(shell) = rest {
            rest = shell.next();
            shell.set_next(later);
            later = Some(shell);
            self.count += 1;
        }
        match self.last {
            Some(last) => last.set_next(later),
            None => self.first = later,
        }
        self.last = latest.or(self.last);
    }

    /// The longest freed shell, if enough others were freed after it.
    fn pop(&mut self) -> Option<&'static Shell> {
        if self.count <= WAITING {
            return None;
        }
        let shell = self.first?;
        self.first = shell.next();
        self.count -= 1;
        Some(shell)
    }
}

impl Shell {
    /// A shell to use again; none while another thread takes one, which in a forked process may not exist.
    pub fn freed_long_ago() -> Option<&'static Self> {
        let mut waiting = WAITING_SHELLS.try_lock().ok()?;
        let latest = FREED_SHELLS.swap(ptr::null_mut(), Acquire);
        // SAFETY: a shell stays one for ever.
        waiting.take_in(unsafe { latest.as_ref() });
        waiting.pop()
    }

    /// A new shell.
    pub fn allocate() -> Result<&'static Self, Failure> {
        let mut room = Vec::new();
        let refused = engine::Error::OutOfMemory { requested_bytes: size_of::<Self>() };
        room.try_reserve_exact(1).map_err(|_| refused)?;
        room.push(Self {
            word: AtomicU64::new(FREED),
            content: AtomicPtr::default(),
            next: AtomicPtr::default(),
        });
        Ok(&room.leak()[0])
    }

    fn next(&self) -> Option<&'static Self> {
        // SAFETY: NULL, or a shell, which stays one for ever.
        unsafe { self.next.load(Relaxed).as_ref() }
    }

    fn set_next(&self, next: Option<&'static Self>) {
        self.next.store(next.map_or(ptr::null_mut(), |shell| ptr::from_ref(shell).cast_mut()), Relaxed);
    }

    /// Puts this freed shell before the others.
    pub fn remember(&'static self) {
        let this = ptr::from_ref(self).cast_mut();
        let mut latest = FREED_SHELLS.load(Relaxed);
        loop {
            self.next.store(latest, Relaxed);
            match FREED_SHELLS.compare_exchange_weak(latest, this, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => latest = now,
            }
        }
    }
}
