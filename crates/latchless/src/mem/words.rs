//! A long array of words that may be read while they are written, on huge pages if it is large.

use super::line::LINE_BYTES;
use super::mapping::{HUGE_PAGE_BYTES, Mapping};
use crate::base::error::{Error, Result};
use crate::sync::LaneWord;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

/// Zeroed words side by side, the first at the beginning of a cache line. Dereferences to their slice.
///
/// ```
/// use latchless::mem::words::Words;
/// use latchless::sync::{LaneWord, Word32};
/// let words = Words::<Word32>::new(100, true)?;
/// LaneWord::poke(&words[99], 7);
/// assert_eq!((LaneWord::peek(&words[0]), LaneWord::peek(&words[99])), (0, 7));
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct Words<W> {
    memory: Memory,
    len: usize,
    words: PhantomData<W>,
}

enum Memory {
    /// A mapping of its own, for what fills a huge page.
    Mapped(Mapping),
    /// Lines of the allocator's.
    Lines(Box<[Line]>),
}

/// Zeroed memory of a cache line. Nothing reads it as that.
#[repr(align(64))]
struct Line {
    _bytes: core::cell::UnsafeCell<[u8; LINE_BYTES]>,
}

// SAFETY: what is reached through a shared array are atomic words alone; see `deref`.
unsafe impl<W: LaneWord> Sync for Words<W> {}
// SAFETY: plain memory, bound to no thread.
unsafe impl<W: LaneWord> Send for Words<W> {}

impl<W: LaneWord> Words<W> {
    /// So many words, all of them zero.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(len: usize, huge_pages: bool) -> Result<Self> {
        let bytes = len.saturating_mul(size_of::<W>());
        let refused = Error::OutOfMemory { requested_bytes: bytes };
        let memory = if bytes >= HUGE_PAGE_BYTES && !cfg!(miri) {
            let mut mapping = Mapping::reserve(bytes)?;
            if mapping.bytes() < bytes {
                return Err(refused);
            }
            if huge_pages {
                mapping.advise_huge(0);
            }
            mapping.commit(0, bytes)?;
            Memory::Mapped(mapping)
        } else {
            let lines = bytes.div_ceil(LINE_BYTES);
            let mut memory = Vec::new();
            memory.try_reserve_exact(lines).map_err(|_| refused)?;
            memory.resize_with(lines, || Line { _bytes: [0; LINE_BYTES].into() });
            Memory::Lines(memory.into_boxed_slice())
        };
        Ok(Self { memory, len, words: PhantomData })
    }

    /// Bytes that the words take, whole lines.
    pub fn bytes(&self) -> usize {
        (self.len * size_of::<W>()).next_multiple_of(LINE_BYTES)
    }
}

impl<W: LaneWord> Deref for Words<W> {
    type Target = [W];

    #[inline(always)]
    fn deref(&self) -> &[W] {
        let start = match &self.memory {
            Memory::Mapped(mapping) => mapping.start().as_ptr().cast_const().cast::<W>(),
            Memory::Lines(lines) => lines.as_ptr().cast::<W>(),
        };
        // SAFETY: both memories hold at least `len` words' bytes, aligned to a line at least, readable and
        // writable as long as they live, zeroed at first; any bits are a word, and words may be written
        // through shared references: of a mapping nobody has another kind of reference, and lines are
        // cells.
        unsafe { core::slice::from_raw_parts(start, self.len) }
    }
}

impl<W> fmt::Debug for Words<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Words").field("len", &self.len).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{Word, Word32};

    fn hold_what_is_written<W: LaneWord<Lane: TryFrom<usize, Error: fmt::Debug> + PartialEq + fmt::Debug>>(
        len: usize,
    ) {
        let words = Words::<W>::new(len, true).unwrap();
        assert_eq!(words.len(), len);
        assert!(words.bytes() >= len * size_of::<W>() && words.bytes() < len * size_of::<W>() + LINE_BYTES);
        assert_eq!(words.as_ptr().addr() % LINE_BYTES, 0);
        let lane = |at: usize| W::Lane::try_from(at).unwrap();
        assert!(words.iter().all(|word| word.peek() == lane(0)));
        words.iter().enumerate().for_each(|(at, word)| word.poke(lane(at)));
        assert!(words.iter().enumerate().all(|(at, word)| word.peek() == lane(at)));
    }

    #[test]
    fn short_and_long_arrays_hold_what_is_written() {
        for len in [0, 1, 15, 16, 17, 1000] {
            hold_what_is_written::<Word>(len);
            hold_what_is_written::<Word32>(len);
        }
        #[cfg(not(miri))]
        hold_what_is_written::<Word32>(HUGE_PAGE_BYTES / 4 + 3);
    }
}
