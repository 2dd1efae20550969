//! What memory needs of the operating system, once per system: the rest of the library has no other calls for
//! it, and doesn't know on which system it runs.
//!
//! | | Linux | macOS and other Unixes | Windows | elsewhere, and under Miri |
//! |---|---|---|---|---|
//! | reserve | `mmap` without access | the same | `VirtualAlloc`, `MEM_RESERVE` | an allocation of zeros |
//! | commit | `mprotect` | the same | `VirtualAlloc`, `MEM_COMMIT` | nothing |
//! | discard pages | `MADV_DONTNEED` | `MADV_FREE` | `MEM_RESET` | nothing |
//! | release | `munmap` | the same | `VirtualFree` | to the allocator |
//! | huge pages, a NUMA node, pages ahead of their first write | `madvise`, `mbind` | no | no | no |
//! | a limit on address space | `RLIMIT_AS` | no | no | no |
//!
//! Windows counts what is committed, not what is written, and refuses what memory and page files together
//! don't hold.
//!
//! # Discarding pages that others read
//! Readers of an index take no latches, so discarded pages must stay readable. On Linux they read as zeros.
//! The other systems' calls leave open whether a discarded page holds what it held, or zeros, until it is
//! written again. Where that matters ([`Pages::DISCARDED_IS_ZERO`]), callers write zeros before: then both
//! are zeros.

#[cfg(all(target_os = "linux", not(miri)))]
mod linux;
#[cfg(any(miri, not(target_os = "linux")))]
mod not_linux;
#[cfg(any(
    miri,
    not(any(
        windows,
        target_os = "linux",
        target_os = "android",
        target_os = "dragonfly",
        target_os = "freebsd",
        target_os = "illumos",
        target_os = "netbsd",
        target_os = "openbsd",
        target_vendor = "apple",
    ))
))]
#[path = "plain.rs"]
mod pages;
#[cfg(all(
    any(
        target_os = "linux",
        target_os = "android",
        target_os = "dragonfly",
        target_os = "freebsd",
        target_os = "illumos",
        target_os = "netbsd",
        target_os = "openbsd",
        target_vendor = "apple",
    ),
    not(miri)
))]
#[path = "unix.rs"]
mod pages;
#[cfg(all(windows, not(miri)))]
#[path = "windows.rs"]
mod pages;

#[cfg(all(target_os = "linux", not(miri)))]
pub(super) use linux::{PREFAULTS, address_space};
#[cfg(any(miri, not(target_os = "linux")))]
pub(super) use not_linux::{PREFAULTS, address_space};
pub(super) use pages::{GIVES_BACK, Pages, machine_bytes};

// SAFETY: plain memory owned by this value; nothing in it is bound to a thread.
unsafe impl Send for Pages {}
// SAFETY: a shared one gives its address alone; what is done to its bytes is the callers' promise.
unsafe impl Sync for Pages {}

/// A set of NUMA nodes, as the kernel reads it, with this one in it.
pub fn node_mask(node: usize) -> [usize; 16] {
    let mut mask = [0; 16];
    if let Some(word) = mask.get_mut(node / usize::BITS as usize) {
        *word = 1 << (node % usize::BITS as usize);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Word;

    const UNIT: usize = 64 << 10;

    /// The words of the bytes from `at` on.
    fn words(pages: &Pages, at: usize, bytes: usize) -> &[Word] {
        let first = pages.start().as_ptr().wrapping_add(at).cast();
        // SAFETY: callers name committed bytes, which are accessed as such words alone.
        unsafe { core::slice::from_raw_parts(first, bytes / size_of::<Word>()) }
    }

    #[test]
    fn discarded_words_are_zero_or_as_they_were_and_can_be_written_and_their_neighbours_stay() {
        let units = if cfg!(miri) { 3 } else { 40 };
        let pages = Pages::reserve(units * UNIT, UNIT).unwrap();
        assert!(pages.start().addr().get().is_multiple_of(UNIT));
        // SAFETY: the range lies in what was reserved.
        assert!(unsafe { pages.commit(0, units * UNIT) });
        let all = words(&pages, 0, units * UNIT);
        let unit = UNIT / size_of::<Word>();
        let step = crate::testing::sample(1013);
        let every = |from: usize, to: usize| all[from..to].iter().step_by(step);
        for round in 1..3 {
            every(0, all.len()).for_each(|word| word.store_relaxed(round));
            // SAFETY: committed, whole pages, which no other thread knows of.
            unsafe { pages.discard(UNIT, 2 * UNIT) };
            let is_fine = |bits| bits == 0 || (bits == round && !Pages::DISCARDED_IS_ZERO);
            assert!(all[unit..2 * unit].iter().all(|word| is_fine(word.load_relaxed())));
            assert!(every(0, unit).all(|word| word.load_relaxed() == round));
            let behind = (2 * unit).next_multiple_of(step);
            assert!(every(behind, all.len()).all(|word| word.load_relaxed() == round));
            every(0, all.len()).for_each(|word| word.store_relaxed(7));
            assert!(every(0, all.len()).all(|word| word.load_relaxed() == 7), "it is committed still");
        }
    }

    #[test]
    fn what_is_committed_step_by_step_is_zero_and_keeps_what_was_written() {
        let (steps, step_bytes) = if cfg!(miri) { (2, UNIT) } else { (16, 2 << 20) };
        let pages = Pages::reserve(steps * step_bytes, 8).unwrap();
        for step in 0..steps {
            let from = step * step_bytes;
            // SAFETY: the range lies in what was reserved.
            assert!(unsafe { pages.commit(from, from + step_bytes) });
            // SAFETY: again, as when two steps overlap.
            assert!(unsafe { pages.commit(from / 2, from + step_bytes) });
            let fresh = words(&pages, from, step_bytes);
            assert!(fresh.iter().step_by(509).all(|word| word.load_relaxed() == 0));
            fresh.iter().step_by(509).for_each(|word| word.store_relaxed(step as u64 + 1));
        }
        for step in 0..steps {
            let written = words(&pages, step * step_bytes, step_bytes);
            assert!(written.iter().step_by(509).all(|word| word.load_relaxed() == step as u64 + 1));
        }
    }

    #[test]
    fn the_machine_has_some_memory() {
        assert!(machine_bytes().is_none_or(|bytes| bytes > 1 << 20));
    }
}
