//! Counts the heap bytes of indexes that don't count themselves.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

/// The system's allocator, with a count that is off unless [`held_by`] asks for it. While it is
/// off an allocation costs one more relaxed load, so timed phases aren't disturbed.
pub struct Counting;

static ON: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicIsize = AtomicIsize::new(0);

/// Bytes that are held after `work` and weren't before, over all threads, as they were asked for:
/// what an allocator adds for itself isn't in it. Not to be nested.
pub fn held_by<R>(work: impl FnOnce() -> R) -> (R, usize) {
    BYTES.store(0, Ordering::Relaxed);
    ON.store(true, Ordering::Relaxed);
    let result = work();
    ON.store(false, Ordering::Relaxed);
    (result, usize::try_from(BYTES.load(Ordering::Relaxed)).unwrap_or(0))
}

fn count(bytes: isize) {
    if ON.load(Ordering::Relaxed) {
        BYTES.fetch_add(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator unchanged, which keeps `GlobalAlloc`'s
// contract; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: `at` came from the system's allocator with this layout, as all of ours do.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps `alloc_zeroed`'s contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size as isize - layout.size() as isize);
        // SAFETY: `at` came from the system's allocator with this layout, as all of ours do.
        unsafe { System.realloc(at, layout, new_size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other tests allocate at the same time, so the bounds leave them some room.
    #[test]
    fn counts_what_is_held_and_forgets_what_is_freed() {
        let large = 64 << 20;
        let (held, bytes) = held_by(|| {
            drop(std::hint::black_box(vec![0u8; large]));
            std::hint::black_box(vec![0u8; large])
        });
        assert!((large / 10 * 9..large / 10 * 11).contains(&bytes), "{bytes} of {}", held.len());
    }
}
