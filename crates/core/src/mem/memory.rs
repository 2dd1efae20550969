//! Zeroed memory for something long: the allocator's if it is little, a mapping of its own if it is much.
//!
//! Either way pages that nothing was written to cost nothing.

use super::lent::Lent;
use super::mapping::{HUGE_PAGE_BYTES, Mapping};
use crate::base::error::Result;
use core::ptr::NonNull;

/// Zeroed memory. See the file's head.
#[derive(Debug)]
pub(super) enum Memory {
    /// The allocator's: all of it can be used.
    Lent(Lent),
    /// A mapping: what was committed can be used.
    Mapped(Mapping),
}

impl Memory {
    /// At least this many bytes, from a multiple of `align` on, none of them committed. `huge_pages`: whether
    /// to request huge pages, if it is a mapping.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn reserve(bytes: usize, align: usize, huge_pages: bool) -> Result<Self> {
        if bytes < HUGE_PAGE_BYTES {
            return Ok(Self::Lent(Lent::new(bytes, align)?));
        }
        let mut mapping = Mapping::reserve(bytes)?;
        if huge_pages {
            mapping.advise_huge(0);
        }
        Ok(Self::Mapped(mapping))
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
            Self::Mapped(mapping) => mapping.release(0, bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Error;

    #[test]
    fn little_and_much_is_aligned_and_zeroed_and_can_be_written() {
        let much = if cfg!(miri) { HUGE_PAGE_BYTES } else { 3 * HUGE_PAGE_BYTES + 5 };
        for bytes in [0, 1, 4096, 70_000, much] {
            for align in [1, 64, 4096] {
                let memory = Memory::usable(bytes, align, true).unwrap();
                assert!(memory.start().addr().get().is_multiple_of(align));
                // An interpreter takes minutes for all of them.
                for at in (0..bytes).step_by(if cfg!(miri) { 997 } else { 1 }) {
                    // SAFETY: this many bytes are usable, and no other code knows of them.
                    let byte = unsafe { &mut *memory.start().as_ptr().add(at) };
                    assert_eq!(core::mem::replace(byte, 7), 0);
                }
            }
        }
        assert!(matches!(Memory::reserve(usize::MAX, 64, false), Err(Error::OutOfMemory { .. })));
    }
}
