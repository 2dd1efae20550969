//! Zeroed memory from the allocator, with a size and an alignment chosen at run time.
//!
//! For a large alignment, allocators zero the memory by hand, which touches all of it. So this file
//! allocates more memory with a small alignment instead: allocators leave its fresh pages untouched, which
//! then cost nothing until they are written.

use crate::base::error::{Error, Result};
use core::ptr::NonNull;
use std::alloc::{Layout, alloc_zeroed, dealloc};

/// See the module documentation.
#[derive(Debug)]
pub(super) struct Lent {
    at: NonNull<u8>,
    layout: Layout,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: plain memory owned by this value; nothing in it is bound to a thread.
unsafe impl Send for Lent {}
// SAFETY: a shared one only returns its start and its length.
unsafe impl Sync for Lent {}

impl Lent {
    /// Allocates `bytes` bytes, the first at a multiple of `align`, a power of two.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn new(bytes: usize, align: usize) -> Result<Self> {
        debug_assert!(align.is_power_of_two());
        let refused = Error::OutOfMemory { requested_bytes: bytes };
        let layout = Layout::from_size_align(bytes.saturating_add(align), size_of::<u64>())
            .map_err(|_| refused.clone())?;
        // SAFETY: the layout has a size: an alignment is at least 1.
        let at = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(refused)?;
        let shift = at.as_ptr().addr().wrapping_neg() & (align - 1);
        // SAFETY: the shift is less than `align`, by which the allocation is longer than `bytes`.
        let start = unsafe { at.add(shift) };
        Ok(Self { at, layout, start, bytes })
    }

    /// Returns the first byte's address.
    #[inline(always)]
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Returns the length in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Zeroes the first `bytes` bytes.
    pub(super) fn clear(&mut self, bytes: usize) {
        // SAFETY: the bytes are this value's, which is borrowed mutably.
        unsafe { self.start.as_ptr().write_bytes(0, bytes.min(self.bytes)) };
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` with this layout, freed once.
        unsafe { dealloc(self.at.as_ptr(), self.layout) };
    }
}
