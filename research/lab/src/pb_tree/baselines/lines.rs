//! Memory of the baselines: lines of sixteen 4-byte words that begin a page, so that a model sees the same
//! wherever the allocator puts them; reads of them are reported to the tracing hook.

use core::marker::PhantomData;
use latchless_core::mem::touch::{Trace, Work};

/// Words in a cache line.
pub(super) const WORDS: usize = 16;

#[derive(Clone, Copy)]
#[repr(align(4096))]
struct Page([[u32; WORDS]; 64]);

/// Lines of memory.
pub(super) struct Lines<T> {
    pages: Vec<Page>,
    trace: PhantomData<T>,
}

impl<T: Trace> Lines<T> {
    /// The words in their order; the last line is filled up with the greatest.
    pub(super) fn new(words: impl ExactSizeIterator<Item = u32>) -> Self {
        let pages = words.len().div_ceil(64 * WORDS);
        let mut lines = Self { pages: vec![Page([[u32::MAX; WORDS]; 64]); pages], trace: PhantomData };
        words.enumerate().for_each(|(at, word)| *lines.at(at) = word);
        lines
    }

    fn at(&mut self, word: usize) -> &mut u32 {
        &mut self.pages[word / (64 * WORDS)].0[word / WORDS % 64][word % WORDS]
    }

    /// A line, of which nothing is read yet.
    pub(super) fn line(&self, line: usize) -> &[u32; WORDS] {
        &self.pages[line / 64].0[line % 64]
    }

    /// Returns adjacent lines of a page, without reporting a read.
    pub(super) fn lines(&self, first: usize, count: usize) -> &[u32] {
        self.pages[first / 64].0[first % 64..][..count].as_flattened()
    }

    /// Reads a word of a line.
    pub(super) fn read(word: &u32) -> u32 {
        T::read(core::ptr::from_ref(word).cast(), size_of::<u32>());
        *word
    }

    /// Returns how many of these ascending words are smaller than `key`, by binary search.
    pub(super) fn below(words: &[u32], key: u32) -> usize {
        let (mut low, mut high) = (0, words.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let smaller = Self::read(&words[middle]) < key;
            T::work(Work::Probe);
            (low, high) = if smaller { (middle + 1, high) } else { (low, middle) };
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_core::mem::touch::NoTrace;

    #[test]
    fn words_are_where_they_were_put_and_lines_are_aligned() {
        let lines = Lines::<NoTrace>::new((0..2_000).map(|word| 2 * word));
        assert_eq!((lines.line(0)[3], lines.line(70)[0], lines.line(124)[15]), (6, 2_240, 3_998));
        assert_eq!(lines.line(125)[0], u32::MAX);
        assert_eq!(lines.line(1).as_ptr().addr() % 4096, 64);
        for key in 0..40 {
            assert_eq!(Lines::<NoTrace>::below(lines.line(0), key), key.div_ceil(2).min(16) as usize);
        }
    }
}
