//! Zeroed memory of which parts can be returned to the system while other threads read it.
//!
//! On Linux it is a mapping. Elsewhere, and under Miri, it is an allocation that is kept until the segment
//! is dropped.

use super::refusal::allowed;
use crate::base::error::{Error, Result};
use core::ptr::NonNull;

/// A stretch of zeroed memory with a fixed address.
#[derive(Debug)]
pub struct Segment {
    start: NonNull<u8>,
    raw: Raw,
}

impl Segment {
    /// Whether memory can be returned to the system. Miri simulates it, so that it sees the consequences.
    pub const GIVES_BACK: bool = cfg!(any(target_os = "linux", miri));

    /// Allocates `bytes` zeroed bytes, aligned. They take no memory until they are written.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(bytes: usize, align: usize) -> Result<Self> {
        allowed(bytes)?;
        Raw::reserve(bytes, align).ok_or(Error::OutOfMemory { requested_bytes: bytes })
    }

    /// Returns the first byte's address.
    #[inline(always)]
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Returns the memory of a range to the system, if that is possible. Its bytes are then zero; otherwise
    /// they may be unchanged.
    ///
    /// # Safety
    /// The range lies in the segment. Meanwhile other threads access it by atomic loads only, and accept
    /// zeros as well as what was there. No reference to anything but atomics in it exists.
    pub unsafe fn give_back(&self, from: usize, bytes: usize) {
        let at = self.start.as_ptr().wrapping_add(from);
        // SAFETY: as the caller promises.
        unsafe { self.raw.give_back(at, bytes) };
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
use linux::Raw;

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    use super::{NonNull, Segment};
    use core::ptr::null_mut;
    use libc::{MADV_DONTNEED, MAP_ANONYMOUS, MAP_FAILED, MAP_NORESERVE, MAP_PRIVATE, PROT_READ, PROT_WRITE};

    /// The minimum alignment of every mapping.
    const PAGE_BYTES: usize = 4096;

    #[derive(Debug)]
    pub struct Raw {
        at: *mut core::ffi::c_void,
        bytes: usize,
    }

    impl Raw {
        pub fn reserve(bytes: usize, align: usize) -> Option<Segment> {
            // Room to move the start up to the next aligned address.
            let room = if align > PAGE_BYTES { align } else { 0 };
            let mapped_bytes = bytes.checked_add(room)?;
            // SAFETY: a new private mapping at an address of the system's choice touches nothing that
            // exists.
            let at = unsafe {
                let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
                libc::mmap(null_mut(), mapped_bytes, PROT_READ | PROT_WRITE, flags, -1, 0)
            };
            if at == MAP_FAILED {
                return None;
            }
            let raw = Self { at, bytes: mapped_bytes };
            let shift = at.cast::<u8>().align_offset(align);
            Some(Segment { start: NonNull::new(at.cast::<u8>().wrapping_add(shift))?, raw })
        }

        /// # Safety
        /// See [`Segment::give_back`].
        pub unsafe fn give_back(&self, at: *mut u8, bytes: usize) {
            // SAFETY: the range lies in our own private mapping, whose pages read as zeros afterwards. To
            // atomic loads meanwhile that is a store of zero to every word, and there is no other access.
            let _ = unsafe { libc::madvise(at.cast(), bytes, MADV_DONTNEED) };
        }
    }

    impl Drop for Raw {
        fn drop(&mut self) {
            // SAFETY: the mapping was made by `reserve` with this start and size and is dropped once.
            let _ = unsafe { libc::munmap(self.at, self.bytes) };
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
use fallback::Raw;

#[cfg(not(all(target_os = "linux", not(miri))))]
mod fallback {
    use super::{NonNull, Segment};
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    #[derive(Debug)]
    pub struct Raw {
        at: NonNull<u8>,
        layout: Layout,
    }

    impl Raw {
        pub fn reserve(bytes: usize, align: usize) -> Option<Segment> {
            let layout = Layout::from_size_align(bytes, align).ok().filter(|layout| layout.size() > 0)?;
            // SAFETY: the layout has a size.
            let at = NonNull::new(unsafe { alloc_zeroed(layout) })?;
            Some(Segment { start: at, raw: Self { at, layout } })
        }

        /// # Safety
        /// None: this does nothing.
        pub unsafe fn give_back(&self, _: *mut u8, _: usize) {}
    }

    impl Drop for Raw {
        fn drop(&mut self) {
            // SAFETY: allocated by `reserve` with this layout, freed once.
            unsafe { dealloc(self.at.as_ptr(), self.layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_and_aligned_and_can_be_given_back() {
        const PAGE: usize = 64 << 10;
        for align in [8, 1 << 14, 1 << 17] {
            let segment = Segment::new(4 * PAGE, align).unwrap();
            let at = segment.start().as_ptr();
            assert_eq!(at.addr() % align, 0);
            // SAFETY: the places lie in the segment, which this thread alone knows of.
            unsafe {
                assert_eq!(at.add(4 * PAGE - 1).read(), 0);
                at.add(PAGE - 1).write(1);
                at.add(PAGE).write(2);
                at.add(2 * PAGE).write(3);
                segment.give_back(PAGE, PAGE);
                assert!(cfg!(miri) || !Segment::GIVES_BACK || at.add(PAGE).read() == 0);
                assert_eq!((at.add(PAGE - 1).read(), at.add(2 * PAGE).read()), (1, 3));
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "the interpreter ends when its own memory does")]
    fn absurd_sizes_are_refused() {
        for bytes in [usize::MAX, usize::MAX / 2 - (1 << 20)] {
            assert!(matches!(Segment::new(bytes, 8), Err(Error::OutOfMemory { .. })));
        }
    }
}
