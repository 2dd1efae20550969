//! Whether the process has one thread.
//!
//! A latch is taken by an atomic exchange, which keeps other threads from taking it at once. On x86-64 the
//! exchange also keeps what comes after it in the program from beginning before it is done. So of two updates
//! the second waits for its cache lines only after the first has got its own. Where there is no other thread,
//! a load and a store do what the exchange does, and two updates wait at the same time.
//!
//! glibc says whether there is one thread for certain, in `__libc_single_threaded` (from 2.32 on), for this
//! purpose: the reference counts of C++ go by it. Elsewhere nothing is certain.
//!
//! # Thread safety
//! Only a thread makes another one. So while the answer is yes, it stays so until the asking thread itself
//! does something else, and making a thread orders all that came before it before all that the new one does.
//! Threads that the C library doesn't know of may not exist in a process that uses it.

use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

/// What is said where nothing is certain.
static UNCERTAIN: AtomicU8 = AtomicU8::new(0);
/// Where it is said: by the C library, once [`look_for_the_flag`] has found the place.
static FLAG: AtomicPtr<AtomicU8> = AtomicPtr::new((&raw const UNCERTAIN).cast_mut());

/// Whether the process has one thread, for certain. Before [`look_for_the_flag`] nothing is.
#[inline(always)]
pub fn is_alone() -> bool {
    // SAFETY: the address of a static of this file, or of a byte of the C library's, which is never unloaded
    // and which that library writes as a whole.
    unsafe { (*FLAG.load(Ordering::Relaxed)).load(Ordering::Relaxed) != 0 }
}

/// Finds out where the C library says whether there is one thread. To be called when something is made that
/// asks [`is_alone`].
#[cold]
pub fn look_for_the_flag() {
    // Tests that choose schedules run several threads on one of the system's.
    #[cfg(all(target_os = "linux", target_env = "gnu", not(any(miri, loom, latchless_shuttle))))]
    if FLAG.load(Ordering::Relaxed).cast_const() == &raw const UNCERTAIN {
        // SAFETY: the name is a string that ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) };
        if !found.is_null() {
            FLAG.store(found.cast(), Ordering::Relaxed);
        }
    }
}
