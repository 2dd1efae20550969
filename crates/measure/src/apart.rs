//! Arenas for runs on the model: memory whose layout depends only on the sequence of allocations.
//!
//! The model numbers cache lines in the order of first touch, so the addresses of memory don't matter. Two
//! properties still do: the offset within a line at which a block begins, and whether a block reuses memory
//! that has a number already. A general allocator decides both by all other allocations of the process.
//! Within [`apart`] the thread's allocations come from a separate arena that begins empty: blocks begin at
//! line boundaries (or lie as glibc's, [`Blocks`]), one after the other, and freed blocks are reused in
//! last-in, first-out order. So two runs give the same numbers on any machine.
//!
//! This needs a program whose allocator is [`Counting`](crate::counting::Counting); otherwise [`apart`]
//! just calls `work`.
//!
//! # Thread safety
//! An arena belongs to one thread while its work runs, but any thread may free a block of it. So each
//! arena has a mutex, and blocks are recognized by their addresses. An arena is reused when all of its
//! blocks are freed.

use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

const LINE: usize = 64;
/// Blocks of up to a page are whole lines, larger ones powers of two that begin at page boundaries.
const PAGE: usize = 4096;
const SMALL_CLASSES: usize = PAGE / FINE;
/// The unit of glibc's blocks, and what each takes besides its contents.
const FINE: usize = 16;
const FINE_HEAD: usize = 8;
const CLASSES: usize = SMALL_CLASSES + ARENA_BYTES.trailing_zeros() as usize - PAGE.trailing_zeros() as usize;
/// The size from which a freed block returns its pages to the system.
const GIVEN_BACK: usize = 1 << 20;
const ARENAS: usize = 16;
/// Address space of an arena.
const ARENA_BYTES: usize = 1 << 36;

thread_local! {
    /// The arena of this thread's work, if it has one.
    static OWN: Cell<Option<usize>> = const { Cell::new(None) };
}

/// How small blocks lie in an arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocks {
    /// At lines, one after the other.
    Lines,
    /// As glibc's allocator places them in memory that it has just got: with eight bytes more, in steps of
    /// sixteen, at least 32.
    OfGlibc,
}

/// The state of an arena.
struct Arena {
    blocks: Blocks,
    /// Bytes from its start that have been in use.
    used: usize,
    /// Blocks in use.
    live: usize,
    /// The most recently freed block of each class, whose first word is the previous one; 0: none.
    free: [usize; CLASSES],
}

static STATES: [Mutex<Arena>; ARENAS] =
    [const { Mutex::new(Arena { blocks: Blocks::Lines, used: 0, live: 0, free: [0; CLASSES] }) }; ARENAS];
static TAKEN: [AtomicBool; ARENAS] = [const { AtomicBool::new(false) }; ARENAS];
/// The address of the arenas; `None` if the system refused.
static SPACE: OnceLock<Option<usize>> = OnceLock::new();

/// Runs `work` with this thread's allocations in a separate arena. A nested call uses the same arena.
pub fn apart<R>(work: impl FnOnce() -> R) -> R {
    apart_as(Blocks::Lines, work)
}

/// Runs `work` with this thread's allocations in a separate arena whose small blocks lie like that; see
/// [`apart`].
pub fn apart_as<R>(blocks: Blocks, work: impl FnOnce() -> R) -> R {
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
                (state.blocks, state.used, state.free) = (blocks, 0, [0; CLASSES]);
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

/// Returns whether this thread's allocations come from an arena.
#[inline]
pub fn is_on() -> bool {
    OWN.get().is_some()
}

/// Returns whether an address belongs to an arena.
#[inline]
pub fn owns(at: *const u8) -> bool {
    let start = SPACE.get().copied().flatten();
    start.is_some_and(|start| at.addr().wrapping_sub(start) < ARENAS * ARENA_BYTES)
}

/// Returns the class of the blocks for a layout, and their size in bytes.
fn class_of(blocks: Blocks, layout: Layout) -> (usize, usize) {
    let (unit, head, least) = match blocks {
        Blocks::Lines => (LINE, 0, LINE),
        Blocks::OfGlibc => (FINE, FINE_HEAD, 2 * FINE),
    };
    let bytes = (layout.size() + head).max(least).next_multiple_of(unit);
    if bytes <= PAGE && layout.align() <= unit {
        return (bytes / unit - 1, bytes);
    }
    let bytes = layout.size().max(PAGE + 1).next_power_of_two();
    (SMALL_CLASSES + (bytes / PAGE).trailing_zeros() as usize - 1, bytes)
}

/// Allocates a block in this thread's arena; `None` if it has none, or if the arena doesn't serve this
/// layout.
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    let arena = OWN.get()?;
    if layout.align() > PAGE || layout.size() > ARENA_BYTES / 4 {
        return None;
    }
    let start = SPACE.get().copied().flatten()? + arena * ARENA_BYTES;
    with(arena, |state| {
        let (class, bytes) = class_of(state.blocks, layout);
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
                // SAFETY: a free block: its first word was written when it was freed, and nothing else
                // uses it.
                state.free[class] = unsafe { *ptr::with_exposed_provenance::<usize>(at) };
                at
            }
        };
        state.live += 1;
        NonNull::new(ptr::with_exposed_provenance_mut(at))
    })
}

/// Frees a block.
///
/// # Safety
/// The block was allocated by [`allocate`] with this layout and is no longer used.
pub unsafe fn free(at: *mut u8, layout: Layout) {
    let Some(start) = SPACE.get().copied().flatten() else { return };
    let arena = (at.addr() - start) / ARENA_BYTES;
    with(arena, |state| {
        let (class, bytes) = class_of(state.blocks, layout);
        if bytes >= GIVEN_BACK {
            give_back(at, bytes);
        }
        // SAFETY: the block has at least the size and the alignment of a word, and is no longer used.
        unsafe { *at.cast::<usize>() = state.free[class] };
        state.free[class] = at.addr();
        state.live -= 1;
    });
}

/// Calls `work` with the state of an arena, which a panic elsewhere leaves unchanged.
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
    // SAFETY: unused pages: those of a large block, which begins at a page, or of an empty arena.
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

    /// Returns the offsets of blocks of these sizes from the first one. Arrays, because a vector would be
    /// a block itself.
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
        for blocks in [Blocks::Lines, Blocks::OfGlibc] {
            let of = |bytes, align| class_of(blocks, layout(bytes, align));
            assert_eq!(of(1, 4096).1, 2 * PAGE, "an alignment above a line's is a large block's");
            assert_eq!(of(ARENA_BYTES / 4, 8).1, ARENA_BYTES / 4);
            assert!(of(ARENA_BYTES / 4, 8).0 < CLASSES);
        }
    }

    #[test]
    fn blocks_lie_as_glibc_places_them_if_they_are_to() {
        apart_as(Blocks::OfGlibc, || {
            assert_eq!(places([4, 24, 25, 40, 41, 4088]), [0, 32, 64, 112, 160, 224]);
            assert_eq!(places([64, 5000]).map(|place| place % 16), [0, 0]);
        });
        assert_eq!(class_of(Blocks::OfGlibc, layout(4088, 8)), (PAGE / FINE - 1, PAGE));
        assert_eq!(class_of(Blocks::OfGlibc, layout(4089, 8)).0, SMALL_CLASSES);
        assert_eq!(class_of(Blocks::OfGlibc, layout(24, 32)).1, 2 * PAGE);
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
