//! Memory apart from all else, whose layout depends on nothing but what was asked of it: for runs on the
//! model.
//!
//! The model gives lines their numbers in the order of first touch, so it doesn't matter where memory is.
//! Two things still do: where within a line something begins, and which memory is used again, and so has a
//! number already. An allocator decides both by what else the process has allocated. Within [`apart`] the
//! thread's allocations come from an arena of their own, which begins empty: blocks begin at lines, one
//! after the other, and those that come back are used again, the last first. So two runs give the same
//! numbers on any machine.
//!
//! Only a program whose allocator is [`Counting`](crate::counting::Counting) has that; elsewhere [`apart`]
//! runs its work as it is.
//!
//! # Thread safety
//! An arena is one thread's while its work runs, but what was allocated there may be freed by any. So each
//! has a mutex, and blocks are told by their addresses. An arena is used again when nothing is left in it.

use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

const LINE: usize = 64;
/// Blocks of up to a page come in whole lines, larger ones in powers of two, and begin at pages.
const PAGE: usize = 4096;
const SMALL_CLASSES: usize = PAGE / LINE;
const CLASSES: usize = SMALL_CLASSES + ARENA_BYTES.trailing_zeros() as usize - PAGE.trailing_zeros() as usize;
/// Freed blocks of so many bytes give their pages back.
const GIVEN_BACK: usize = 1 << 20;
const ARENAS: usize = 16;
/// Address space of an arena.
const ARENA_BYTES: usize = 1 << 36;

thread_local! {
    /// The arena of this thread's work, if it has one.
    static OWN: Cell<Option<usize>> = const { Cell::new(None) };
}

/// What an arena has given.
struct Arena {
    /// Bytes from its start on that were in use at some time.
    used: usize,
    /// Blocks in use.
    live: usize,
    /// The last freed block of each class, whose first word is the one before it; 0: none.
    free: [usize; CLASSES],
}

static STATES: [Mutex<Arena>; ARENAS] =
    [const { Mutex::new(Arena { used: 0, live: 0, free: [0; CLASSES] }) }; ARENAS];
static TAKEN: [AtomicBool; ARENAS] = [const { AtomicBool::new(false) }; ARENAS];
/// Where the arenas are; nowhere if the system refuses.
static SPACE: OnceLock<Option<usize>> = OnceLock::new();

/// Runs `work` with this thread's allocations in an arena of their own. Within another such work nothing
/// changes.
pub fn apart<R>(work: impl FnOnce() -> R) -> R {
    struct Leave(usize);
    impl Drop for Leave {
        fn drop(&mut self) {
            OWN.set(None);
            TAKEN[self.0].store(false, Ordering::Release);
        }
    }
    if OWN.get().is_some() || SPACE.get_or_init(reserve).is_none() {
        return work();
    }
    let empty = |&arena: &usize| {
        if TAKEN[arena].swap(true, Ordering::Acquire) {
            return false;
        }
        let is_empty = with(arena, |state| {
            if state.live == 0 {
                if let Some(start) = SPACE.get().copied().flatten() {
                    give_back(ptr::with_exposed_provenance_mut(start + arena * ARENA_BYTES), state.used);
                }
                (state.used, state.free) = (0, [0; CLASSES]);
            }
            state.live == 0
        });
        TAKEN[arena].store(is_empty, Ordering::Release);
        is_empty
    };
    let Some(arena) = (0..ARENAS).find(empty) else { return work() };
    let _leave = Leave(arena);
    OWN.set(Some(arena));
    work()
}

/// Whether this thread's allocations are to come from an arena.
#[inline]
pub fn is_on() -> bool {
    OWN.get().is_some()
}

/// Whether an address is an arena's.
#[inline]
pub fn owns(at: *const u8) -> bool {
    let start = SPACE.get().copied().flatten();
    start.is_some_and(|start| at.addr().wrapping_sub(start) < ARENAS * ARENA_BYTES)
}

/// The class of blocks that a layout gets, and their bytes.
fn class_of(layout: Layout) -> (usize, usize) {
    let wanted = if layout.align() > LINE { layout.size().max(PAGE + 1) } else { layout.size().max(1) };
    if wanted <= PAGE {
        let lines = wanted.div_ceil(LINE);
        return (lines - 1, lines * LINE);
    }
    let bytes = wanted.next_power_of_two();
    (SMALL_CLASSES + (bytes / PAGE).trailing_zeros() as usize - 1, bytes)
}

/// A block of this thread's arena; `None`: it has none, or not for this.
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    let arena = OWN.get()?;
    if layout.align() > PAGE || layout.size() > ARENA_BYTES / 4 {
        return None;
    }
    let start = SPACE.get().copied().flatten()? + arena * ARENA_BYTES;
    let (class, bytes) = class_of(layout);
    with(arena, |state| {
        let at = match state.free[class] {
            0 => {
                let at = if bytes > PAGE { state.used.next_multiple_of(PAGE) } else { state.used };
                if at + bytes > ARENA_BYTES {
                    return None;
                }
                state.used = at + bytes;
                start + at
            }
            at => {
                // SAFETY: a free block: its first word was written when it was freed, and nobody else has
                // it.
                state.free[class] = unsafe { *ptr::with_exposed_provenance::<usize>(at) };
                at
            }
        };
        state.live += 1;
        NonNull::new(ptr::with_exposed_provenance_mut(at))
    })
}

/// Takes a block back.
///
/// # Safety
/// [`allocate`] gave it for this layout, and nobody uses it any more.
pub unsafe fn free(at: *mut u8, layout: Layout) {
    let Some(start) = SPACE.get().copied().flatten() else { return };
    let arena = (at.addr() - start) / ARENA_BYTES;
    let (class, bytes) = class_of(layout);
    if bytes >= GIVEN_BACK {
        give_back(at, bytes);
    }
    with(arena, |state| {
        // SAFETY: the block is as large as a line at least, begins at one, and is nobody's.
        unsafe { *at.cast::<usize>() = state.free[class] };
        state.free[class] = at.addr();
        state.live -= 1;
    });
}

/// A panic elsewhere leaves an arena as it was.
fn with<R>(arena: usize, work: impl FnOnce(&mut Arena) -> R) -> R {
    work(&mut STATES[arena].lock().unwrap_or_else(std::sync::PoisonError::into_inner))
}

#[cfg(target_os = "linux")]
fn reserve() -> Option<usize> {
    let (rights, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
    // SAFETY: a new private mapping at an address of the system's choice touches nothing that exists.
    let at = unsafe { libc::mmap(ptr::null_mut(), ARENAS * ARENA_BYTES, rights, kind, -1, 0) };
    (at != libc::MAP_FAILED).then(|| at.expose_provenance())
}

#[cfg(target_os = "linux")]
fn give_back(at: *mut u8, bytes: usize) {
    // SAFETY: pages that nobody uses: of a large block, which begins at a page, or of an empty arena.
    let _ = unsafe { libc::madvise(at.cast(), bytes, libc::MADV_DONTNEED) };
}

#[cfg(not(target_os = "linux"))]
fn reserve() -> Option<usize> {
    None
}

#[cfg(not(target_os = "linux"))]
fn give_back(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(bytes: usize, align: usize) -> Layout {
        Layout::from_size_align(bytes, align).unwrap()
    }

    /// Where blocks of these sizes are, from the first one's place on. Arrays, because a vector would be a
    /// block itself.
    fn places<const N: usize>(sizes: [usize; N]) -> [usize; N] {
        let blocks = sizes.map(|bytes| allocate(layout(bytes, 8)).unwrap());
        for (bytes, block) in sizes.into_iter().zip(blocks) {
            // SAFETY: just allocated with this layout.
            unsafe { free(block.as_ptr(), layout(bytes, 8)) };
        }
        blocks.map(|block| block.addr().get() - blocks[0].addr().get())
    }

    #[test]
    fn blocks_begin_at_lines_and_large_ones_at_pages() {
        apart(|| assert_eq!(places([1, 64, 65, 4096, 5000, 10]), [0, 64, 128, 256, 8192, 16_384]));
        assert_eq!(class_of(layout(1, 4096)).1, 2 * PAGE, "an alignment above a line's is a large block's");
        assert_eq!(class_of(layout(ARENA_BYTES / 4, 8)).1, ARENA_BYTES / 4);
        assert!(class_of(layout(ARENA_BYTES / 4, 8)).0 < CLASSES);
    }

    #[test]
    fn what_comes_back_is_used_again_the_last_first() {
        apart(|| {
            let [one, two] = [(); 2].map(|()| allocate(layout(100, 8)).unwrap());
            // SAFETY: just allocated with this layout.
            unsafe {
                free(one.as_ptr(), layout(100, 8));
                free(two.as_ptr(), layout(100, 8));
            }
            let again = [(); 2].map(|()| allocate(layout(90, 8)).unwrap());
            assert_eq!(again, [two, one]);
            // SAFETY: as above.
            again.into_iter().for_each(|block| unsafe { free(block.as_ptr(), layout(90, 8)) });
        });
    }

    #[test]
    fn an_arena_begins_empty_and_only_within_the_work() {
        assert!(!is_on() && allocate(layout(8, 8)).is_none());
        let first = || {
            apart(|| {
                assert!(is_on());
                let block = allocate(layout(8, 8)).unwrap();
                assert!(owns(block.as_ptr()));
                apart(|| assert!(is_on(), "the same arena"));
                // SAFETY: just allocated with this layout.
                unsafe { free(block.as_ptr(), layout(8, 8)) };
                block.addr().get() % ARENA_BYTES
            })
        };
        assert_eq!(first(), first());
        assert!(!is_on() && !owns(ptr::from_ref(&0u8)));
    }
}
