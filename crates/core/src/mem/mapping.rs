//! A reserved stretch of address space, committed step by step.
//!
//! Reserving costs address space and no memory: pages become real when they are first written, or, on
//! Windows, count when they are committed. What the operating system does is in `system`.

use super::system::{self, Pages};
use super::unready::Unready;
use crate::base::error::{Error, Result};
use crate::sync::Word;
use core::ptr::NonNull;

pub use system::node_mask;

/// The size of a huge page on x86-64 and on most AArch64 systems.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A reserved stretch of zeroed memory. Its start is aligned to a huge page.
#[derive(Debug)]
pub struct Mapping {
    pages: Pages,
    bytes: usize,
    /// Bytes from the start on that are committed without a gap.
    committed: Word,
    /// Prefault requests that the other thread hasn't served yet.
    pub(super) unready: Unready,
}

impl Mapping {
    /// Reserves this many bytes, rounded up to whole huge pages.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn reserve(bytes: usize) -> Result<Self> {
        let refused = Error::OutOfMemory { requested_bytes: bytes };
        let bytes = bytes.max(1).checked_next_multiple_of(HUGE_PAGE_BYTES).ok_or_else(|| refused.clone())?;
        let pages = Pages::reserve(bytes, HUGE_PAGE_BYTES).ok_or(refused)?;
        Ok(Self { pages, bytes, committed: Word::new(0), unready: Unready::default() })
    }

    /// Returns the first byte's address.
    #[inline(always)]
    pub fn start(&self) -> NonNull<u8> {
        self.pages.start()
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
        // SAFETY: the bytes lie in the stretch.
        if !unsafe { self.pages.commit(from, to) } {
            return Err(Error::OutOfMemory { requested_bytes: to - from });
        }
        // Whatever order threads store this in, so many bytes are committed.
        let committed = self.committed.load_relaxed();
        if from as u64 <= committed {
            self.committed.store_relaxed(committed.max(to as u64));
        }
        Ok(())
    }

    /// Requests huge pages for the bytes from `from` on. A system without them ignores the request.
    pub fn advise_huge(&self, from: usize) {
        if from < self.bytes {
            // SAFETY: the bytes lie in the stretch.
            unsafe { self.pages.advise_huge(from, self.bytes) };
        }
    }

    /// Requests pages of one NUMA node. A system without this node, or without nodes, ignores the request.
    pub fn bind(&mut self, node: usize) {
        // SAFETY: the bytes are the stretch.
        unsafe { self.pages.bind(self.bytes, node) };
    }

    /// Zeroes the bytes `from..to` and returns their pages to the system, if that is possible. The bytes stay
    /// committed. The range begins and ends at a page's border.
    ///
    /// # Panics
    /// If these aren't whole words of the stretch that are committed, with all before them.
    pub fn release(&mut self, from: usize, to: usize) {
        // SAFETY: the mapping is borrowed mutably.
        unsafe { self.give_back(from, to) };
    }

    /// Releases bytes while other threads may read them. See [`Mapping::release`].
    ///
    /// # Safety
    /// Until this returns, other threads access the bytes as atomic words only, and accept zeros as well as
    /// what was there.
    pub(super) unsafe fn give_back(&self, from: usize, to: usize) {
        self.assert_has(from, to);
        let committed = self.committed.load_relaxed();
        assert!(to as u64 <= committed, "{from}..{to} of {committed} committed bytes");
        if !Pages::DISCARDED_IS_ZERO {
            for at in (from..to).step_by(size_of::<Word>()) {
                // SAFETY: the place is committed, at a multiple of a word's length; other threads access it
                // as an atomic word only.
                unsafe { &*self.start().as_ptr().add(at).cast::<Word>() }.store_relaxed(0);
            }
        }
        // SAFETY: the bytes are committed, and zero unless the call makes them so; the rest is as the caller
        // promises.
        unsafe { self.pages.discard(from, to) };
    }

    /// Has the system populate those of the committed bytes `from..to` that have no memory yet, as if each
    /// page were written. The content is unchanged.
    pub(super) fn populate(&self, from: usize, to: usize) {
        self.assert_has(from, to);
        // SAFETY: the bytes lie in the stretch.
        unsafe { self.pages.populate(from, to) };
    }

    /// Checks that the mapping contains the bytes: the system calls would accept any memory of the process.
    fn assert_has(&self, from: usize, to: usize) {
        let are_words = from.is_multiple_of(size_of::<u64>()) && to.is_multiple_of(size_of::<u64>());
        assert!(from <= to && to <= self.bytes && are_words, "{from}..{to} of {} bytes", self.bytes);
    }
}
