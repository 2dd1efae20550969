//! Zeroed memory for something long: the allocator's if it is little, a mapping of its own if it is much.
//!
//! Either way pages that nothing was written to cost nothing.

use super::lent::Lent;
use super::mapping::{HUGE_PAGE_BYTES, Mapping};
use super::prefault;
use super::refusal::allowed;
use crate::base::error::Result;
use core::ptr::NonNull;
use std::sync::Arc;

/// Zeroed memory. See the file's head.
#[derive(Debug)]
pub(super) enum Memory {
    /// The allocator's: all of it can be used.
    Lent(Lent),
    /// A mapping: what was committed can be used. Shared with the thread that makes memory ready, if there is
    /// one.
    Mapped(Arc<Mapping>),
}

impl Memory {
    /// At least this many bytes, from a multiple of `align` on, none of them committed. `huge_pages`: whether
    /// to request huge pages, if it is a mapping.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn reserve(bytes: usize, align: usize, huge_pages: bool) -> Result<Self> {
        allowed(bytes)?;
        if bytes < HUGE_PAGE_BYTES {
            return Ok(Self::Lent(Lent::new(bytes, align)?));
        }
        let mapping = Mapping::reserve(bytes)?;
        if huge_pages {
            mapping.advise_huge(0);
        }
        Ok(Self::Mapped(Arc::new(mapping)))
    }

    /// As [`Memory::reserve`], all of it committed.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn usable(bytes: usize, align: usize, huge_pages: bool) -> Result<Self> {
        let mut memory = Self::reserve(bytes, align, huge_pages)?;
        memory.commit(0, bytes)?;
        Ok(memory)
    }

    /// Where it begins.
    pub(super) fn start(&self) -> NonNull<u8> {
        match self {
            Self::Lent(lent) => lent.start(),
            Self::Mapped(mapping) => mapping.start(),
        }
    }

    /// Commits the bytes `from..to` or more, `from` being where the last call ended. Says where it ended.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn commit(&mut self, from: usize, to: usize) -> Result<usize> {
        match self {
            Self::Lent(lent) => Ok(lent.bytes()),
            Self::Mapped(mapping) => {
                let to = to.next_multiple_of(HUGE_PAGE_BYTES).min(mapping.bytes());
                mapping.commit(from, to)?;
                Ok(to)
            }
        }
    }

    /// Zeroes the first `bytes` bytes, which are committed.
    pub(super) fn clear(&mut self, bytes: usize) {
        match self {
            Self::Lent(lent) => lent.clear(bytes),
            // SAFETY: the memory is borrowed mutably, and the thread that makes it ready touches no bytes.
            Self::Mapped(mapping) => unsafe { mapping.give_back(0, bytes) },
        }
    }

    /// Gives the memory of these bytes back to the system, which are zero then, if that is possible: whole
    /// pages of a mapping. Says whether it was.
    ///
    /// # Safety
    /// Until this returns others reach the bytes as atomics alone, and expect zeros as much as what was
    /// there.
    pub(super) unsafe fn give_back(&self, from: usize, to: usize) -> bool {
        let Self::Mapped(mapping) = self else { return false };
        // SAFETY: as the caller promises.
        unsafe { mapping.give_back(from, to) };
        true
    }

    /// Has another thread make these committed bytes ready before they are written, if that is worth it.
    pub(super) fn prefault(&self, from: usize, to: usize) {
        if let Self::Mapped(mapping) = self {
            prefault::ask(mapping, from, to);
        }
    }

    /// Whether the other thread is at it still.
    pub(super) fn is_unready(&self) -> bool {
        matches!(self, Self::Mapped(mapping) if mapping.unready.are_any())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Error;
    use crate::testing::sample;

    #[test]
    fn little_and_much_is_aligned_and_zeroed_and_can_be_written() {
        let much = if cfg!(miri) { HUGE_PAGE_BYTES } else { 3 * HUGE_PAGE_BYTES + 5 };
        for bytes in [0, 1, 4096, 70_000, much] {
            for align in [1, 64, 4096] {
                let memory = Memory::usable(bytes, align, true).unwrap();
                assert!(memory.start().addr().get().is_multiple_of(align));
                // An interpreter takes minutes for all of them.
                for at in (0..bytes).step_by(sample(997)) {
                    // SAFETY: this many bytes are usable, and no other code knows of them.
                    let byte = unsafe { &mut *memory.start().as_ptr().add(at) };
                    assert_eq!(core::mem::replace(byte, 7), 0);
                }
            }
        }
        assert!(matches!(Memory::reserve(usize::MAX, 64, false), Err(Error::OutOfMemory { .. })));
    }
}
