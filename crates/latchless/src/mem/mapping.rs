//! One huge reserved stretch of address space, made usable step by step.
//!
//! Reserving costs nothing: pages become real when they are first written. So the stretch can be as
//! long as the machine's memory from the start, and what lives in it never moves.
//!
//! Where there is no `mmap` (and under Miri) a zeroed allocation of a fixed, smaller size stands in.

use crate::base::error::{Error, Result};
use core::ptr::NonNull;

/// What a large page of x86-64 and of most AArch64 systems holds.
pub(super) const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A reserved stretch of zeroed memory. Its start is aligned to a huge page.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
    raw: RawMapping,
}

// SAFETY: the mapping is plain memory owned by this value; nothing in it is bound to a thread.
unsafe impl Send for Mapping {}
// SAFETY: a shared mapping only tells its start and its size.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Reserves at most `bytes`; less if the system grants only a part of it.
    pub(super) fn reserve(bytes: usize) -> Result<Self> {
        RawMapping::reserve(bytes.next_multiple_of(HUGE_PAGE_BYTES))
    }

    /// Where the stretch begins.
    #[inline(always)]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// How long it is.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes the bytes `from..to` readable and writable.
    pub(super) fn commit(&mut self, from: usize, to: usize) -> Result<()> {
        debug_assert!(from <= to && to <= self.bytes);
        self.raw.commit(self.start, from, to)
    }

    /// Asks for huge pages for the bytes from `from` on. A system without them ignores it.
    pub(super) fn advise_huge(&mut self, from: usize) {
        if from < self.bytes {
            self.raw.advise_huge(self.start, from, self.bytes);
        }
    }

    /// Asks for pages of one NUMA node. A system that has no such node, or no nodes, ignores it.
    pub(super) fn bind(&mut self, node: usize) {
        self.raw.bind(self.start, self.bytes, node);
    }

    /// Gives the pages of `from..to` back to the system. The stretch stays reserved.
    pub(super) fn release(&mut self, from: usize, to: usize) {
        self.raw.release(self.start, from, to);
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
use linux::RawMapping;

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    use super::{Error, HUGE_PAGE_BYTES, Mapping, NonNull, Result};
    use rustix::mm::{self, Advice, MapFlags, MprotectFlags, ProtFlags};

    /// Below this size a refused reservation isn't tried again.
    const SMALLEST_RESERVATION_BYTES: usize = 16 << 20;

    #[derive(Debug)]
    pub(super) struct RawMapping {
        at: *mut core::ffi::c_void,
        bytes: usize,
    }

    impl RawMapping {
        pub(super) fn reserve(wanted: usize) -> Result<Mapping> {
            let mut bytes = wanted;
            loop {
                // Room to move the start up to a huge page's border.
                let raw_bytes = bytes + HUGE_PAGE_BYTES;
                // SAFETY: a new private mapping at an address of the system's choice touches nothing
                // that exists.
                let mapped = unsafe {
                    mm::mmap_anonymous(
                        core::ptr::null_mut(),
                        raw_bytes,
                        ProtFlags::empty(),
                        MapFlags::PRIVATE | MapFlags::NORESERVE,
                    )
                };
                match mapped {
                    Ok(at) => {
                        let raw = Self { at, bytes: raw_bytes };
                        let shift = at.cast::<u8>().align_offset(HUGE_PAGE_BYTES);
                        let start = NonNull::new(at.cast::<u8>().wrapping_add(shift));
                        let start = start.ok_or(Error::OutOfMemory { requested_bytes: bytes })?;
                        return Ok(Mapping { start, bytes, raw });
                    }
                    // A limit on address space (`ulimit -v`) refuses what memory could have held.
                    Err(_) if bytes > SMALLEST_RESERVATION_BYTES => {
                        bytes = (bytes / 2).next_multiple_of(HUGE_PAGE_BYTES);
                    }
                    Err(_) => return Err(Error::OutOfMemory { requested_bytes: bytes }),
                }
            }
        }

        pub(super) fn commit(&mut self, start: NonNull<u8>, from: usize, to: usize) -> Result<()> {
            let at = start.as_ptr().wrapping_add(from).cast();
            // SAFETY: the bytes lie in our own reservation, and no reference to them exists before
            // they are committed.
            unsafe { mm::mprotect(at, to - from, MprotectFlags::READ | MprotectFlags::WRITE) }
                .map_err(|_| Error::OutOfMemory { requested_bytes: to - from })
        }

        pub(super) fn advise_huge(&mut self, start: NonNull<u8>, from: usize, to: usize) {
            let at = start.as_ptr().wrapping_add(from).cast();
            // SAFETY: advice on our own reservation; it changes no content. A refusal means plain
            // pages, which is what the caller falls back to anyway.
            let _ = unsafe { mm::madvise(at, to - from, Advice::LinuxHugepage) };
        }

        pub(super) fn bind(&mut self, start: NonNull<u8>, bytes: usize, node: usize) {
            let nodes = crate::mem::topology::node_mask(node);
            // SAFETY: a policy for our own reservation; it changes no content. The mask is read for the
            // number of bits that is given. A refusal leaves the system's own choice.
            let _ = unsafe {
                libc::syscall(
                    libc::SYS_mbind,
                    start.as_ptr(),
                    bytes,
                    libc::MPOL_PREFERRED,
                    nodes.as_ptr(),
                    nodes.len() * usize::BITS as usize,
                    0,
                )
            };
        }

        pub(super) fn release(&mut self, start: NonNull<u8>, from: usize, to: usize) {
            let at = start.as_ptr().wrapping_add(from).cast();
            // SAFETY: the caller owns the mapping exclusively and holds no reference into the range;
            // private anonymous pages read as zeros afterwards.
            let _ = unsafe { mm::madvise(at, to - from, Advice::LinuxDontNeed) };
        }
    }

    impl Drop for RawMapping {
        fn drop(&mut self) {
            // SAFETY: the mapping was made by `reserve` with this start and size and is dropped once.
            let _ = unsafe { mm::munmap(self.at, self.bytes) };
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
use fallback::RawMapping;

#[cfg(not(all(target_os = "linux", not(miri))))]
mod fallback {
    use super::{Error, HUGE_PAGE_BYTES, Mapping, NonNull, Result};
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    /// The most that is allocated at once where memory can't be reserved without being used.
    const LARGEST_BYTES: usize = if cfg!(miri) { 4 << 20 } else { 1 << 30 };

    #[derive(Debug)]
    pub(super) struct RawMapping {
        at: NonNull<u8>,
        layout: Layout,
    }

    impl RawMapping {
        pub(super) fn reserve(wanted: usize) -> Result<Mapping> {
            let bytes = wanted.min(LARGEST_BYTES);
            let refused = Error::OutOfMemory { requested_bytes: bytes };
            let layout = Layout::from_size_align(bytes, HUGE_PAGE_BYTES).map_err(|_| refused.clone())?;
            // SAFETY: the layout has a size, at least one huge page.
            let at = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(refused)?;
            Ok(Mapping { start: at, bytes, raw: Self { at, layout } })
        }

        pub(super) fn commit(&mut self, _: NonNull<u8>, _: usize, _: usize) -> Result<()> {
            Ok(())
        }

        pub(super) fn advise_huge(&mut self, _: NonNull<u8>, _: usize, _: usize) {}

        pub(super) fn bind(&mut self, _: NonNull<u8>, _: usize, _: usize) {}

        pub(super) fn release(&mut self, start: NonNull<u8>, from: usize, to: usize) {
            // SAFETY: the range lies in our own allocation and the caller owns it exclusively.
            unsafe { start.as_ptr().add(from).write_bytes(0, to - from) };
        }
    }

    impl Drop for RawMapping {
        fn drop(&mut self) {
            // SAFETY: allocated by `reserve` with this layout, freed once.
            unsafe { dealloc(self.at.as_ptr(), self.layout) };
        }
    }
}
