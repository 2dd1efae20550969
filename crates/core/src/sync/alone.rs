//! Detects whether the process has a single thread.
//!
//! A latch is taken by an atomic exchange, which excludes other threads. On x86-64 the exchange also delays
//! all later instructions until it has completed, so the second of two updates requests its cache lines only
//! after the first has received its own. In a process with a single thread a plain load and store are
//! enough, and the misses of two updates overlap.
//!
//! glibc (from 2.32 on) reports reliably whether there is one thread, in `__libc_single_threaded`, which
//! C++'s reference counts use, too. On other systems the answer is always "no".
//!
//! # Thread safety
//! Only a thread creates another one. So the answer "yes" stays valid until the calling thread itself
//! creates a thread, which orders everything before it before everything that the new thread does. A process
//! that uses the C library may not have threads that the library doesn't know of.

use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

/// The answer where nothing is certain.
static UNCERTAIN: AtomicU8 = AtomicU8::new(0);
/// The address of the answer: the C library's flag, once [`look_for_the_flag`] has found it.
static FLAG: AtomicPtr<AtomicU8> = AtomicPtr::new((&raw const UNCERTAIN).cast_mut());

/// Returns whether the process certainly has one thread. Before [`look_for_the_flag`] this is `false`.
#[inline(always)]
pub fn is_alone() -> bool {
    // SAFETY: the address of a static of this file, or of a byte of the C library's, which is never unloaded
    // and which that library writes as a whole.
    unsafe { (*FLAG.load(Ordering::Relaxed)).load(Ordering::Relaxed) != 0 }
}

/// Finds the C library's flag. Call it when something is constructed that uses [`is_alone`].
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
