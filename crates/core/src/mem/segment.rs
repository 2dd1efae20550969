//! Zeroed memory of which parts can be returned to the system while other threads read it.
//!
//! It is committed as a whole. Where the system can't take parts back (`system`), all of it is kept until
//! the segment is dropped.

use super::refusal::allowed;
use super::system::{self, Pages};
use crate::base::error::{Error, Result};
use core::ptr::NonNull;

/// A stretch of zeroed memory with a fixed address.
#[derive(Debug)]
pub struct Segment(Pages);

impl Segment {
    /// Whether memory can be returned to the system. Miri simulates it, so that it sees the consequences.
    pub const GIVES_BACK: bool = system::GIVES_BACK;
    /// Whether memory that was returned reads as zeros. Otherwise it may also hold what it held.
    pub const ZEROES: bool = Pages::DISCARDED_IS_ZERO;

    /// Allocates `bytes` zeroed bytes, aligned. They take no memory until they are written.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(bytes: usize, align: usize) -> Result<Self> {
        allowed(bytes)?;
        // SAFETY: the bytes are what was reserved.
        let pages = Pages::reserve(bytes, align).filter(|pages| unsafe { pages.commit(0, bytes) });
        pages.map(Self).ok_or(Error::OutOfMemory { requested_bytes: bytes })
    }

    /// Returns the first byte's address.
    #[inline(always)]
    pub fn start(&self) -> NonNull<u8> {
        self.0.start()
    }

    /// Returns the memory of a range to the system, if that is possible. Its bytes are then zero if
    /// [`Segment::ZEROES`]; otherwise each page is zero or unchanged until it is written again.
    ///
    /// # Safety
    /// The range lies in the segment, and begins and ends at a page's border. Other threads access it by
    /// atomic loads only, or by exchanges that fail, and accept zeros as well as what was there. No
    /// reference to anything but atomics in it exists.
    pub unsafe fn give_back(&self, from: usize, bytes: usize) {
        // SAFETY: as the caller promises; all of the segment is committed.
        unsafe { self.0.discard(from, from + bytes) };
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
                let read = at.add(PAGE).read();
                assert!(read == 0 || (read == 2 && !Segment::ZEROES));
                assert_eq!((at.add(PAGE - 1).read(), at.add(2 * PAGE).read()), (1, 3));
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "the interpreter ends when its own memory does")]
    fn absurd_sizes_are_refused() {
        for bytes in [usize::MAX, usize::MAX - (1 << 20)] {
            assert!(matches!(Segment::new(bytes, 8), Err(Error::OutOfMemory { .. })));
        }
    }
}
