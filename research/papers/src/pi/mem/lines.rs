//! Whole lines of the allocator's memory, so that data that is read by lines begins at one.

use core::ptr::NonNull;
use latchless_core::mem::line::LINE_BYTES;
use std::alloc::{Layout, alloc, dealloc};

/// See the file's head.
pub(super) struct Lines {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: plain memory owned by this value; nothing in it is bound to a thread.
unsafe impl Send for Lines {}
// SAFETY: shared lines only give their address and length.
unsafe impl Sync for Lines {}

impl Lines {
    /// Allocates at least that many bytes. `None`: memory was refused, or `bytes` is 0.
    pub(super) fn new(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes, LINE_BYTES).ok()?.pad_to_align();
        if layout.size() == 0 {
            return None;
        }
        // SAFETY: the layout has a size.
        let start = NonNull::new(unsafe { alloc(layout) })?;
        Some(Self { start, layout })
    }

    /// Returns their address.
    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Returns their length.
    pub(super) fn bytes(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` with this layout, freed once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
