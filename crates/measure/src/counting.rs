//! Counts the heap bytes of indexes that don't count themselves. A program opts in with [`Counting`] as
//! its allocator.

use crate::apart;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

/// The system's allocator, with a count that is off outside of [`held_by`], and with arenas for
/// [`apart`](mod@apart). While both are off, an allocation costs two more loads, so timed phases aren't
/// disturbed.
pub struct Counting;

static ON: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicIsize = AtomicIsize::new(0);

/// Runs `work` and counts its heap bytes as [`held_by`] does; `None` if the program has another allocator.
pub fn weigh<R>(work: impl FnOnce() -> R) -> (R, Option<usize>) {
    let (_, counted) = held_by(|| std::hint::black_box(Box::new(0u64)));
    let (result, bytes) = held_by(work);
    (result, (counted > 0).then_some(bytes))
}

/// Runs `work`; returns the heap bytes that it leaves allocated, over all threads, by their requested
/// sizes: the allocator's overhead isn't included. Calls must not be nested.
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

// SAFETY: every call goes to the system's allocator or to an arena, by the address of the block, and both
// fulfil `GlobalAlloc`'s contract; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        match apart::allocate(layout) {
            Some(block) => block.as_ptr(),
            // SAFETY: the caller keeps `alloc`'s contract.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        if apart::owns(at) {
            // SAFETY: it came from an arena with this layout.
            return unsafe { apart::free(at, layout) };
        }
        // SAFETY: `at` came from the system's allocator with this layout, like all blocks outside of the
        // arenas.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if apart::is_on() {
            // SAFETY: the caller keeps `alloc_zeroed`'s contract, which is `alloc`'s.
            let at = unsafe { self.alloc(layout) };
            if !at.is_null() {
                // SAFETY: a new block of that size.
                unsafe { at.write_bytes(0, layout.size()) };
            }
            return at;
        }
        count(layout.size() as isize);
        // SAFETY: the caller keeps `alloc_zeroed`'s contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if apart::is_on() || apart::owns(at) {
            // SAFETY: by the caller's contract the new size fits the alignment.
            let new = unsafe { self.alloc(Layout::from_size_align_unchecked(new_size, layout.align())) };
            if !new.is_null() {
                // SAFETY: the blocks are distinct and have at least that many bytes. The caller no longer
                // uses the old one.
                unsafe {
                    new.copy_from_nonoverlapping(at, layout.size().min(new_size));
                    self.dealloc(at, layout);
                }
            }
            return new;
        }
        count(new_size as isize - layout.size() as isize);
        // SAFETY: `at` came from the system's allocator with this layout, like all blocks outside of the
        // arenas.
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
