//! Counts the heap bytes of indexes that don't count themselves. A program that wants that makes
//! [`Counting`] its allocator.

use crate::apart;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};

/// The system's allocator, with a count that is off unless [`held_by`] asks for it, and arenas for work
/// that is [`apart`](mod@apart). While neither is on an allocation costs two loads more, so timed phases
/// aren't disturbed.
pub struct Counting;

static ON: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicIsize = AtomicIsize::new(0);

/// As [`held_by`]; `None` for the bytes where nothing counts: the program has another allocator.
pub fn weigh<R>(work: impl FnOnce() -> R) -> (R, Option<usize>) {
    let (_, counted) = held_by(|| std::hint::black_box(Box::new(0u64)));
    let (result, bytes) = held_by(work);
    (result, (counted > 0).then_some(bytes))
}

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

// SAFETY: every call goes to the system's allocator or to an arena, by the address of the block, and both
// keep
// `GlobalAlloc`'s contract; counting neither allocates nor unwinds.
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
        // SAFETY: `at` came from the system's allocator with this layout, as all do that no arena has.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if apart::is_on() {
            // SAFETY: the caller keeps `alloc_zeroed`'s contract, which is `alloc`'s.
            let at = unsafe { self.alloc(layout) };
            if !at.is_null() {
                // SAFETY: a new block of so many bytes.
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
            // SAFETY: the caller says that the new size fits the alignment.
            let new = unsafe { self.alloc(Layout::from_size_align_unchecked(new_size, layout.align())) };
            if !new.is_null() {
                // SAFETY: both blocks have so many bytes, and the new one is another. The old one is the
                // caller's, who doesn't use it any more.
                unsafe {
                    new.copy_from_nonoverlapping(at, layout.size().min(new_size));
                    self.dealloc(at, layout);
                }
            }
            return new;
        }
        count(new_size as isize - layout.size() as isize);
        // SAFETY: `at` came from the system's allocator with this layout, as all do that no arena has.
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
