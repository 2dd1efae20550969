//! The calling process's number, without a system call each time.
//!
//! The number is kept in a page that Linux zeroes in each child of a fork, however that is made: a child
//! finds no number, and gets its own. Where the system refuses such a page, each call is a system call.
//!
//! # Thread safety
//! All threads of a process keep the same number. Two that make the page at once make two, of which one stays
//! unused.

use core::ptr::{from_ref, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Bytes of a page that have to be mapped: the system rounds up.
const BYTES: usize = 4096;

/// In place of a page: always zero.
static REFUSED: AtomicU32 = AtomicU32::new(0);
/// The first word of the page; null before the first call.
static KEPT: AtomicPtr<AtomicU32> = AtomicPtr::new(null_mut());

/// Returns the number of the calling process.
pub(super) fn number() -> u32 {
    let mut kept = KEPT.load(Ordering::Acquire);
    if kept.is_null() {
        kept = page().unwrap_or(from_ref(&REFUSED).cast_mut());
        KEPT.store(kept, Ordering::Release);
    }
    // SAFETY: a static, or the first word of a mapping that is never unmapped. Any bits are such a word.
    let kept = unsafe { &*kept };
    match kept.load(Ordering::Relaxed) {
        0 => {
            let own = std::process::id();
            if !core::ptr::eq(kept, &REFUSED) {
                kept.store(own, Ordering::Relaxed);
            }
            own
        }
        known => known,
    }
}

/// Maps a page that is zeroed in children.
#[cold]
fn page() -> Option<*mut AtomicU32> {
    // SAFETY: a new private mapping at an address of the system's choice touches nothing that exists.
    let page = unsafe {
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        libc::mmap(null_mut(), BYTES, access, kind, -1, 0)
    };
    if page == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: advice on our own mapping, which holds nothing yet.
    if unsafe { libc::madvise(page, BYTES, libc::MADV_WIPEONFORK) } != 0 {
        // SAFETY: the mapping made above, which no other thread knows of.
        unsafe { libc::munmap(page, BYTES) };
        return None;
    }
    Some(page.cast())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_the_systems_however_often_it_is_asked_for() {
        assert_eq!([number(), number()], [std::process::id(); 2]);
    }
}
