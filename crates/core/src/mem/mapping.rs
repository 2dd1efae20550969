//! A reserved stretch of address space, committed step by step.
//!
//! Reserving costs address space and no memory: pages become real when they are first written.
//!
//! Where there is no `mmap` (and under Miri) a zeroed allocation replaces it.

use super::prefault::Unready;
use crate::base::error::{Error, Result};
use core::ptr::NonNull;

/// The size of a huge page on x86-64 and on most AArch64 systems.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A reserved stretch of zeroed memory. Its start is aligned to a huge page.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
    /// Prefault requests that the other thread hasn't served yet.
    pub(super) unready: Unready,
    raw: RawMapping,
}

// SAFETY: the mapping is plain memory owned by this value; nothing in it is bound to a thread.
unsafe impl Send for Mapping {}
// SAFETY: a shared mapping only returns its start and its size.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Reserves this many bytes, rounded up to whole huge pages.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn reserve(bytes: usize) -> Result<Self> {
        let refused = Error::OutOfMemory { requested_bytes: bytes };
        RawMapping::reserve(bytes.max(1).checked_next_multiple_of(HUGE_PAGE_BYTES).ok_or(refused)?)
    }

    /// Returns the first byte's address.
    #[inline(always)]
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Returns the length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes the bytes `from..to` readable and writable.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    ///
    /// # Panics
    /// If the bytes don't lie in the stretch.
    pub fn commit(&self, from: usize, to: usize) -> Result<()> {
        self.assert_has(from, to);
        self.raw.commit(self.start, from, to)
    }

    /// Requests huge pages for the bytes from `from` on. A system without them ignores the request.
    pub fn advise_huge(&self, from: usize) {
        if from < self.bytes {
            self.raw.advise_huge(self.start, from, self.bytes);
        }
    }

    /// Requests pages of one NUMA node. A system without this node, or without nodes, ignores the request.
    pub fn bind(&mut self, node: usize) {
        self.raw.bind(self.start, self.bytes, node);
    }

    /// Returns the pages of `from..to` to the system. The stretch stays reserved.
    ///
    /// # Panics
    /// If these aren't whole words of the stretch.
    pub fn release(&mut self, from: usize, to: usize) {
        // SAFETY: the mapping is borrowed mutably.
        unsafe { self.give_back(from, to) };
    }

    /// Returns the pages of `from..to` to the system while other threads may read them. See
    /// [`Mapping::release`].
    ///
    /// # Safety
    /// Until this returns, other threads access the bytes as atomics only, and accept zeros as well as what
    /// was there.
    pub(super) unsafe fn give_back(&self, from: usize, to: usize) {
        self.assert_has(from, to);
        // SAFETY: as the caller promises.
        unsafe { self.raw.release(self.start, from, to) };
    }

    /// Has the system populate those of the committed bytes `from..to` that have no memory yet, as if each
    /// page were written. The content is unchanged.
    pub(super) fn populate(&self, from: usize, to: usize) {
        self.assert_has(from, to);
        self.raw.populate(self.start, from, to);
    }

    /// Checks that the mapping contains the bytes: the system calls would accept any memory of the process.
    fn assert_has(&self, from: usize, to: usize) {
        let are_words = from.is_multiple_of(size_of::<u64>()) && to.is_multiple_of(size_of::<u64>());
        assert!(from <= to && to <= self.bytes && are_words, "{from}..{to} of {} bytes", self.bytes);
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
use linux::RawMapping;

#[cfg(all(target_os = "linux", not(miri)))]
mod linux {
    use super::{Error, HUGE_PAGE_BYTES, Mapping, NonNull, Result, Unready};
    use core::ptr::null_mut;
    use libc::{MAP_ANONYMOUS, MAP_FAILED, MAP_NORESERVE, MAP_PRIVATE, PROT_NONE, PROT_READ, PROT_WRITE};

    #[derive(Debug)]
    pub struct RawMapping {
        at: *mut core::ffi::c_void,
        bytes: usize,
    }

    impl RawMapping {
        pub fn reserve(bytes: usize) -> Result<Mapping> {
            let refused = Error::OutOfMemory { requested_bytes: bytes };
            // Room to move the start up to a huge page's border; the rest is unmapped.
            let raw_bytes = bytes.checked_add(HUGE_PAGE_BYTES).ok_or_else(|| refused.clone())?;
            // SAFETY: a new private mapping at an address of the system's choice touches nothing that
            // exists.
            let at = unsafe {
                let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
                libc::mmap(null_mut(), raw_bytes, PROT_NONE, flags, -1, 0)
            };
            if at == MAP_FAILED {
                return Err(refused);
            }
            let front = at.addr().wrapping_neg() % HUGE_PAGE_BYTES;
            let start = at.wrapping_byte_add(front);
            let surplus = [(at, front), (start.wrapping_byte_add(bytes), HUGE_PAGE_BYTES - front)];
            for (at, bytes) in surplus.into_iter().filter(|&(_, bytes)| bytes > 0) {
                // SAFETY: a part of the new mapping, whole pages, which no other code knows of yet. Where the
                // system can't split the mapping, the part stays reserved, and is lost.
                let _ = unsafe { libc::munmap(at, bytes) };
            }
            let raw = Self { at: start, bytes };
            let start = NonNull::new(start.cast()).ok_or(refused)?;
            Ok(Mapping { start, bytes, unready: Unready::default(), raw })
        }

        pub fn commit(&self, start: NonNull<u8>, from: usize, to: usize) -> Result<()> {
            let at = start.as_ptr().wrapping_add(from).cast();
            // SAFETY: the bytes lie in our own reservation, and no reference to them exists before
            // they are committed.
            match unsafe { libc::mprotect(at, to - from, PROT_READ | PROT_WRITE) } {
                0 => Ok(()),
                _ => Err(Error::OutOfMemory { requested_bytes: to - from }),
            }
        }

        pub fn advise_huge(&self, start: NonNull<u8>, from: usize, to: usize) {
            let at = start.as_ptr().wrapping_add(from).cast();
            // SAFETY: advice on our own reservation; it changes no content. A refusal means plain
            // pages, which is what the caller falls back to anyway.
            let _ = unsafe { libc::madvise(at, to - from, libc::MADV_HUGEPAGE) };
        }

        pub fn bind(&mut self, start: NonNull<u8>, bytes: usize, node: usize) {
            let nodes = super::node_mask(node);
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

        /// # Safety
        /// See [`Mapping::give_back`].
        pub unsafe fn release(&self, start: NonNull<u8>, from: usize, to: usize) {
            let at = start.as_ptr().wrapping_add(from).cast();
            // SAFETY: the range lies in our own mapping, whose private anonymous pages read as zeros
            // afterwards. To atomic accesses meanwhile that is a store of zero to every word; there are no
            // others.
            let _ = unsafe { libc::madvise(at, to - from, libc::MADV_DONTNEED) };
        }

        pub fn populate(&self, start: NonNull<u8>, from: usize, to: usize) {
            let at = start.as_ptr().wrapping_add(from).cast();
            // SAFETY: the range lies in our own mapping; the call changes no content. A system that doesn't
            // know it (Linux before 5.14) refuses, and pages become ready when they are written.
            let _ = unsafe { libc::madvise(at, to - from, libc::MADV_POPULATE_WRITE) };
        }
    }

    impl Drop for RawMapping {
        fn drop(&mut self) {
            // SAFETY: the mapping was made by `reserve` with this start and size and is dropped once.
            let _ = unsafe { libc::munmap(self.at, self.bytes) };
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
use fallback::RawMapping;

#[cfg(not(all(target_os = "linux", not(miri))))]
mod fallback {
    use super::{HUGE_PAGE_BYTES, Mapping, NonNull, Result, Unready};
    use crate::mem::lent::Lent;

    #[derive(Debug)]
    pub struct RawMapping {
        _memory: Lent,
    }

    impl RawMapping {
        pub fn reserve(bytes: usize) -> Result<Mapping> {
            let memory = Lent::new(bytes, HUGE_PAGE_BYTES)?;
            Ok(Mapping {
                start: memory.start(),
                bytes,
                unready: Unready::default(),
                raw: Self { _memory: memory },
            })
        }

        pub fn commit(&self, _: NonNull<u8>, _: usize, _: usize) -> Result<()> {
            Ok(())
        }

        pub fn advise_huge(&self, _: NonNull<u8>, _: usize, _: usize) {}

        pub fn bind(&mut self, _: NonNull<u8>, _: usize, _: usize) {}

        /// # Safety
        /// See [`Mapping::give_back`].
        pub unsafe fn release(&self, start: NonNull<u8>, from: usize, to: usize) {
            use crate::sync::{BitsWord, Word};
            for at in (from..to).step_by(size_of::<Word>()) {
                // SAFETY: the place lies in our own allocation, at a multiple of a word's length; others
                // reach it as an atomic alone.
                unsafe { BitsWord::store_relaxed(&*start.as_ptr().add(at).cast::<Word>(), 0) };
            }
        }

        pub fn populate(&self, _: NonNull<u8>, _: usize, _: usize) {}
    }
}

/// Returns a NUMA node mask in the kernel's format, with only this node in it.
#[cfg(all(target_os = "linux", not(miri)))]
pub fn node_mask(node: usize) -> [usize; 16] {
    let mut mask = [0; 16];
    if let Some(word) = mask.get_mut(node / usize::BITS as usize) {
        *word = 1 << (node % usize::BITS as usize);
    }
    mask
}
