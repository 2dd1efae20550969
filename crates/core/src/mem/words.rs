//! A long array of words that may be read while they are written, on huge pages if it is large.

use super::line::LINE_BYTES;
use super::memory::Memory;
use crate::base::error::{Error, Result};
use crate::sync::{BitsWord, Word};
use core::fmt;
use core::ops::{Deref, Range};
use core::ptr::NonNull;

/// Words of the smallest page on all systems whose memory can be returned.
const PAGE_WORDS: usize = (64 << 10) / size_of::<Word>();

/// Adjacent zeroed words, the first at the beginning of a cache line. Dereferences to a slice.
///
/// ```
/// use latchless_core::mem::words::Words;
/// use latchless_core::sync::{BitsWord, Word32};
/// let words = Words::<Word32>::new(100, true)?;
/// BitsWord::store_relaxed(&words[99], 7);
/// assert_eq!((BitsWord::load_relaxed(&words[0]), BitsWord::load_relaxed(&words[99])), (0, 7));
/// # Ok::<(), latchless_core::base::error::Error>(())
/// ```
pub struct Words<W> {
    start: NonNull<W>,
    len: usize,
    /// Owns the words.
    memory: Memory,
}

// SAFETY: what is reached through a shared array are atomic words alone; see `deref`.
unsafe impl<W: BitsWord> Sync for Words<W> {}
// SAFETY: plain memory, bound to no thread.
unsafe impl<W: BitsWord> Send for Words<W> {}

impl<W: BitsWord> Words<W> {
    /// Allocates this many words, all of them zero.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn new(len: usize, huge_pages: bool) -> Result<Self> {
        let refused = Error::OutOfMemory { requested_bytes: usize::MAX };
        let bytes = len.checked_mul(size_of::<W>()).ok_or(refused)?;
        let memory = Memory::usable(bytes, LINE_BYTES, huge_pages)?;
        Ok(Self { start: memory.start().cast(), len, memory })
    }

    /// Has another thread prefault the first `len` words.
    pub fn prefault(&self, len: usize) {
        self.memory.prefault(0, len.min(self.len) * size_of::<W>());
    }

    /// Returns whether that thread is still at work.
    pub fn is_unready(&self) -> bool {
        self.memory.is_unready()
    }

    /// Returns the bytes that the words take, in whole lines.
    pub fn bytes(&self) -> usize {
        (self.len * size_of::<W>()).next_multiple_of(LINE_BYTES)
    }
}

impl Words<Word> {
    /// Zeroes these words and returns their memory to the system, if that is possible. Returns whether it
    /// was. Other threads that access them meanwhile find the old values, or zeros. The range begins and
    /// ends at a multiple of the words of a page, or at the last word.
    ///
    /// # Panics
    /// If the range begins or ends elsewhere.
    pub fn give_back(&self, words: Range<usize>) -> bool {
        let words = words.start..words.end.min(self.len);
        let ends_well = words.end == self.len || words.end.is_multiple_of(PAGE_WORDS);
        assert!(
            words.start <= words.end && words.start.is_multiple_of(PAGE_WORDS) && ends_well,
            "whole pages of these words"
        );
        let (from, to) = (words.start * size_of::<Word>(), words.end * size_of::<Word>());
        // SAFETY: whole pages of this array, or everything up to its end, after which the last page has
        // nothing. All threads access the words as atomics only.
        let went_back = unsafe { self.memory.give_back(from, to) };
        if !went_back {
            self[words].iter().for_each(|word| word.store_relaxed(0));
        }
        went_back
    }
}

impl<W: BitsWord> Deref for Words<W> {
    type Target = [W];

    #[inline(always)]
    fn deref(&self) -> &[W] {
        // SAFETY: the memory holds at least `len` words' bytes, aligned to a line, readable and writable as
        // long as this value lives, zeroed at first; any bits are a word, and words may be written through
        // shared references: there is no other kind of reference to the memory.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len) }
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
    use crate::mem::mapping::HUGE_PAGE_BYTES;
    use crate::mem::system::GIVES_BACK;
    use crate::sync::{Word, Word32};
    use crate::testing::sample;

    fn hold_what_is_written<W: BitsWord<Bits: TryFrom<usize, Error: fmt::Debug> + PartialEq + fmt::Debug>>(
        len: usize,
    ) {
        let words = Words::<W>::new(len, true).unwrap();
        assert_eq!(words.len(), len);
        assert!(words.bytes() >= len * size_of::<W>() && words.bytes() < len * size_of::<W>() + LINE_BYTES);
        assert_eq!(words.as_ptr().addr() % LINE_BYTES, 0);
        let bits = |at: usize| W::Bits::try_from(at).unwrap();
        assert!(words.iter().all(|word| word.load_relaxed() == bits(0)));
        words.iter().enumerate().for_each(|(at, word)| word.store_relaxed(bits(at)));
        assert!(words.iter().enumerate().all(|(at, word)| word.load_relaxed() == bits(at)));
    }

    #[test]
    fn words_that_are_given_back_are_zero_and_the_others_stay() {
        // A mapping, and steps that meet each page's first word.
        let (many, step) = (if cfg!(miri) { 33 } else { 64 }, sample(128));
        for len in [PAGE_WORDS + 5, many * PAGE_WORDS + 9] {
            let words = Words::<Word>::new(len, false).unwrap();
            words.iter().step_by(step).for_each(|word| word.store_relaxed(7));
            // An interpreter takes a minute for all of them.
            let end = if cfg!(miri) { len.min(3 * PAGE_WORDS) } else { len };
            let gone = PAGE_WORDS.min(len)..end;
            let went_back = words.give_back(gone.clone());
            assert_eq!(went_back, GIVES_BACK && len * size_of::<Word>() >= HUGE_PAGE_BYTES);
            let all_are = |range: Range<usize>, bits| {
                words[range].iter().step_by(step).all(|word| word.load_relaxed() == bits)
            };
            assert!(all_are(0..gone.start, 7) && all_are(gone, 0) && all_are(end..len, 7));
            words.iter().step_by(step).for_each(|word| word.store_relaxed(9));
            assert!(words.iter().step_by(step).all(|word| word.load_relaxed() == 9));
        }
    }

    #[test]
    fn short_and_long_arrays_hold_what_is_written() {
        for len in [0, 1, 15, 16, 17, 1000] {
            hold_what_is_written::<Word>(len);
            hold_what_is_written::<Word32>(len);
        }
        #[cfg(not(miri))]
        hold_what_is_written::<Word32>((2 << 20) / 4 + 3);
    }
}
