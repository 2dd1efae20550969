//! A node's fences: the bounds of its keys, stored in the node or, if long, outside.

use super::node::{Node, SUFFIX_ROOM, Words};
use super::shape::{HEADER_LEN_MAX, LOW_BYTES, LongRef, Shape, WORDS, high_words, low_words};
use super::text::{common, words_of};

/// A fence: the string, and, if it is long, where it is stored.
#[derive(Debug, Clone, Copy)]
pub struct Fence<'a> {
    pub bytes: &'a [u8],
    pub long: Option<LongRef>,
}

impl<'a> Fence<'a> {
    /// The empty string: before all keys.
    pub const FIRST: Fence<'static> = Fence { bytes: &[], long: None };

    pub(super) fn high_words(self) -> usize {
        high_words(self.bytes.len())
    }

    pub(super) fn low_words(self) -> usize {
        low_words(self.bytes.len())
    }
}

/// The bounds of a node's keys.
#[derive(Debug, Clone, Copy)]
pub struct Fences<'a> {
    pub low: Fence<'a>,
    pub high: Option<Fence<'a>>,
}

impl Fences<'_> {
    /// Bytes that all keys between the fences begin with, as many as a header can count.
    pub fn prefix(&self) -> usize {
        self.high.map_or(0, |high| common(self.low.bytes, high.bytes).min(HEADER_LEN_MAX))
    }

    /// Words that they take at the node's end.
    pub fn words(&self) -> usize {
        self.low.low_words() + self.high.map_or(0, Fence::high_words)
    }
}

impl<W: Words> Node<'_, W> {
    /// Words that the fences take at the node's end.
    pub fn fence_words(self) -> usize {
        high_words(self.high_len()) + low_words(self.low_len())
    }

    /// Adds the low fence to the end of `to`.
    pub fn low_to(self, to: &mut Vec<u8>) {
        if self.shape().has(Shape::LOW_LONG) {
            self.long.append(self.long_low(), to);
            return;
        }
        append_words(to, self.low_len(), |at| self.low_word(at));
    }

    /// Adds the high fence, if there is one, to the end of `to`, and returns whether there is.
    pub fn high_to(self, to: &mut Vec<u8>) -> bool {
        let shape = self.shape();
        if shape.has(Shape::NO_HIGH) {
            return false;
        }
        if shape.has(Shape::HIGH_LONG) {
            self.long.append(self.long_high(), to);
            return true;
        }
        let start = WORDS - high_words(self.high_len());
        append_words(to, self.high_len(), |at| self.words.word(start + at));
        true
    }

    /// The high fence after the prefix, if there is one and it isn't long.
    pub fn short_high(self, to: &mut [u8; SUFFIX_ROOM]) -> Option<&[u8]> {
        let (shape, start) = (self.shape(), WORDS - high_words(self.high_len()));
        let is_short = !shape.has(Shape::NO_HIGH | Shape::HIGH_LONG);
        is_short.then(|| suffix_of(self.high_len(), shape.prefix(), |at| self.words.word(start + at), to))
    }

    /// The low fence after the prefix, if it isn't long.
    pub fn short_low(self, to: &mut [u8; SUFFIX_ROOM]) -> Option<&[u8]> {
        let shape = self.shape();
        let is_short = !shape.has(Shape::LOW_LONG);
        is_short.then(|| suffix_of(self.low_len(), shape.prefix(), |at| self.low_word(at), to))
    }

    /// The low fence, if that isn't long.
    pub fn whole_low(self, to: &mut [u8; SUFFIX_ROOM]) -> Option<&[u8]> {
        let is_short = !self.shape().has(Shape::LOW_LONG);
        is_short.then(|| suffix_of(self.low_len(), 0, |at| self.low_word(at), to))
    }

    /// The high fence, if there is one and it isn't long.
    pub fn whole_high(self, to: &mut [u8; SUFFIX_ROOM]) -> Option<&[u8]> {
        let start = WORDS - high_words(self.high_len());
        let is_short = !self.shape().has(Shape::NO_HIGH | Shape::HIGH_LONG);
        is_short.then(|| suffix_of(self.high_len(), 0, |at| self.words.word(start + at), to))
    }
}

/// Adds a string of `len` bytes to the end of `to`. `stored(at)`: its word at this place, or any word after
/// its end.
#[inline(always)]
fn append_words(to: &mut Vec<u8>, len: usize, stored: impl Fn(usize) -> u64) {
    // Most fences are as short as that.
    let mut first = [[0; 8]; LOW_BYTES / 8];
    first.iter_mut().enumerate().for_each(|(at, to)| *to = stored(at).to_le_bytes());
    to.extend_from_slice(&first.as_flattened()[..len.min(LOW_BYTES)]);
    for at in LOW_BYTES / 8..words_of(len) {
        to.extend_from_slice(&stored(at).to_le_bytes()[..(len - 8 * at).min(8)]);
    }
}

/// A string of `len` bytes after a prefix. `stored(at)`: its word at this place.
fn suffix_of(len: usize, prefix: usize, stored: impl Fn(usize) -> u64, to: &mut [u8; SUFFIX_ROOM]) -> &[u8] {
    let len = len.min(SUFFIX_ROOM);
    to.as_chunks_mut::<8>().0.iter_mut().take(words_of(len)).enumerate().for_each(|(at, to)| {
        *to = stored(at).to_le_bytes();
    });
    &to[prefix.min(len)..len]
}

#[cfg(test)]
mod tests {
    use super::super::tests::tree;
    use super::HEADER_LEN_MAX;
    use crate::blink::Edit;

    /// A header counts at most [`HEADER_LEN_MAX`] bytes of a prefix and of a fence.
    #[test]
    fn keys_may_begin_alike_for_longer_than_a_header_counts() {
        let lens = [
            HEADER_LEN_MAX - 1,
            HEADER_LEN_MAX,
            HEADER_LEN_MAX + 1,
            HEADER_LEN_MAX + 200,
            2 * HEADER_LEN_MAX + 1,
        ];
        for shared in &lens[cfg!(miri).into()..] {
            let tree = tree();
            let key_of = |number: u64| [&vec![b'k'; *shared][..], &number.to_be_bytes()[5..]].concat();
            let all = || (0..200u64).map(|step| step * 77 % 200);
            for number in all() {
                tree.edit(&key_of(number), Edit::Put(number)).unwrap();
            }
            tree.check_invariants().unwrap();
            for number in all() {
                assert_eq!(tree.get(&key_of(number)), Some(number), "{shared}");
                if number % 3 > 0 {
                    assert_eq!(tree.edit(&key_of(number), Edit::Remove).unwrap().before, Some(number));
                }
            }
            tree.check_invariants().unwrap();
            let mut rest = (0..200u64).filter(|number| number % 3 == 0);
            assert!(rest.all(|number| tree.get(&key_of(number)) == Some(number)));
            assert_eq!(tree.len(), 67);
        }
    }
}
