//! Zeroed memory for a long array: from the allocator if it is short, otherwise a separate mapping.
//!
//! Either way pages that were never written cost nothing.

use super::lent::Lent;
use super::mapping::{HUGE_PAGE_BYTES, Mapping};
use super::prefault;
use super::refusal::allowed;
use super::system::GIVES_BACK;
use crate::base::error::Result;
use core::ptr::NonNull;
use std::sync::Arc;

/// Zeroed memory. See the module documentation.
#[derive(Debug)]
pub(super) enum Memory {
    /// From the allocator: all of it is usable.
    Lent(Lent),
    /// A mapping: the committed part is usable. Shared with the prefault thread, if there is one.
    Mapped(Arc<Mapping>),
}

impl Memory {
    /// Reserves at least `bytes` bytes, the first at a multiple of `align`, none of them committed.
    /// `huge_pages`: whether to request huge pages for a mapping.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
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

    /// Reserves and commits at least `bytes` bytes. See [`Memory::reserve`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn usable(bytes: usize, align: usize, huge_pages: bool) -> Result<Self> {
        let mut memory = Self::reserve(bytes, align, huge_pages)?;
        memory.commit(0, bytes)?;
        Ok(memory)
    }

    /// Returns the first byte's address.
    pub(super) fn start(&self) -> NonNull<u8> {
        match self {
            Self::Lent(lent) => lent.start(),
            Self::Mapped(mapping) => mapping.start(),
        }
    }

    /// Commits the bytes `from..to` or more, `from` being the end of the last call. Returns the end of what
    /// is committed.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
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

    /// Returns the memory of these bytes to the system and zeroes them, if that is possible: for whole pages
    /// of a mapping. Returns whether it was.
    ///
    /// # Safety
    /// Until this returns, other threads access the bytes as atomics only, and accept zeros as well as what
    /// was there.
    pub(super) unsafe fn give_back(&self, from: usize, to: usize) -> bool {
        match self {
            Self::Mapped(mapping) if GIVES_BACK => {
                // SAFETY: as the caller promises.
                unsafe { mapping.give_back(from, to) };
                true
            }
            _ => false,
        }
    }

    /// Has another thread prefault these committed bytes, if that is worth it.
    pub(super) fn prefault(&self, from: usize, to: usize) {
        if let Self::Mapped(mapping) = self {
            prefault::ask(mapping, from, to);
        }
    }

    /// Returns whether the other thread is still at work.
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
                // Miri takes minutes for all of them.
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
