//! Changing a latched node in place: one entry more, one fewer, another value.

use super::node::{Node, Probe, Words, ones};
use super::shape::{LATCH, LONG, LongRef, SHAPE, SLOTS, SLOTS_MAX, SUFFIX_MAX, Shape, WORDS, entry_words};
use super::shift::{shift_down, shift_up};
use super::text::{head, last_word, words_of};
use crate::node::lines::Lines;
use crate::tree::Share;
use core::hint::select_unpredictable;
use latchless_core::latch::OptimisticLatch;
use latchless_core::sync::Word;

/// A node that others may read and write.
pub type Shared<'a> = Node<'a, &'a [Word; WORDS]>;

/// An entry to be inserted into a node: the contents of its slot, and the words after its value.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'k> {
    pub head: u64,
    pub length: u8,
    pub tag: u8,
    pub value: u64,
    pub rest: Rest<'k>,
    /// The value's words after its first.
    pub more: &'k [u64],
}

/// The words of an entry's value after the first.
#[derive(Debug, Clone, Copy)]
pub enum Rest<'k> {
    /// The suffix from its ninth byte on.
    Bytes(&'k [u8]),
    /// The same as words.
    Words(&'k [u64]),
    /// Where the whole key is.
    Long(LongRef),
}

impl<'k> Entry<'k> {
    /// An entry whose suffix isn't long.
    #[inline(always)]
    pub fn short(suffix: &'k [u8], tag: u8, value: u64) -> Self {
        debug_assert!(suffix.len() <= SUFFIX_MAX);
        let rest = Rest::Bytes(suffix.get(8..).unwrap_or(&[]));
        Self { head: head(suffix, 0), length: suffix.len() as u8, tag, value, rest, more: &[] }
    }

    /// An entry whose suffix has `length` bytes, not too many, in these words.
    #[inline(always)]
    pub fn of_words(words: &'k [u64], length: usize, tag: u8, value: u64) -> Self {
        debug_assert!(length <= SUFFIX_MAX);
        let rest = Rest::Words(words.get(1..words_of(length)).unwrap_or(&[]));
        Self { head: words[0].swap_bytes(), length: length as u8, tag, value, rest, more: &[] }
    }

    /// An entry whose key is stored as a long string.
    pub fn long(head: u64, string: LongRef, tag: u8, value: u64) -> Self {
        Self { head, length: LONG, tag, value, rest: Rest::Long(string), more: &[] }
    }

    /// The same entry, whose value has these words after its first.
    #[inline(always)]
    pub fn with_more(self, more: &'k [u64]) -> Self {
        Self { more, ..self }
    }

    /// Words that it takes in addition to its slot.
    #[inline(always)]
    pub fn words(self) -> usize {
        entry_words(self.length) + self.more.len()
    }

    /// Stores value and rest by `store(at, word)`, from 0 on.
    #[inline(always)]
    pub fn store(self, mut store: impl FnMut(usize, u64)) {
        let key_words = entry_words(self.length);
        store(0, self.value);
        self.more.iter().enumerate().for_each(|(at, &word)| store(key_words + at, word));
        match self.rest {
            Rest::Long(string) => store(1, string.to_word()),
            Rest::Words(rest) => rest.iter().enumerate().for_each(|(at, &word)| store(1 + at, word)),
            Rest::Bytes(rest) => {
                let (whole, end) = rest.as_chunks();
                for (at, &word) in whole.iter().enumerate() {
                    store(1 + at, u64::from_le_bytes(word));
                }
                if !end.is_empty() {
                    store(1 + whole.len(), last_word(end));
                }
            }
        }
    }
}

/// A tag that is computed only if it is needed. A closure in its place might be called.
pub trait Tag {
    /// The tag.
    fn tag(self) -> u8;
}

impl Tag for u8 {
    #[inline(always)]
    fn tag(self) -> u8 {
        self
    }
}

/// Some of a node's entries, in order: a bit for each.
pub(super) struct Places([u64; SLOTS_MAX / 64]);

impl Places {
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.0 == [0, 0]
    }

    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<usize> {
        let [low, high] = self.0;
        if low | high == 0 {
            return None;
        }
        let at = select_unpredictable(low != 0, low.trailing_zeros(), 64 + high.trailing_zeros());
        self.0 =
            [low & low.wrapping_sub(1), select_unpredictable(low != 0, high, high & high.wrapping_sub(1))];
        Some(at as usize)
    }
}

impl<'a> Shared<'a> {
    /// The node's latch.
    #[inline(always)]
    pub fn latch(self) -> &'a OptimisticLatch {
        OptimisticLatch::of(&self.words[LATCH])
    }

    #[inline(always)]
    pub(super) fn set(self, at: usize, to: u64) {
        self.words[at % WORDS].store_relaxed(to);
    }

    /// The entry that has a key, found by its tag, or in a leaf of records by its head. The key is one of
    /// any node.
    #[inline(always)]
    pub fn find<S: Lines>(self, key: &[u8], tag: impl Tag) -> Option<usize> {
        let shape = self.shape();
        if !self.has_prefix(shape, key) {
            return None;
        }
        let own = Probe::of(key, shape);
        if shape.is_of_records() {
            let (rank, is_there) = self.rank_of_head::<S>(shape, own);
            return is_there.then_some(rank);
        }
        self.find_after_prefix::<S>(shape, own, tag.tag())
    }

    /// The entry that has a key with the node's prefix and this head, if there is one; and how many entries
    /// come before the key, if that came out.
    #[inline(always)]
    pub(super) fn seek<S: Lines>(
        self,
        shape: Shape,
        own: Probe<'_>,
        tag: u8,
        share: Option<Share>,
    ) -> (Option<usize>, Option<usize>) {
        if shape.is_of_records() {
            let near = match share {
                Some(share) => self.rank_near::<S>(shape, own.head, share.of(shape.len())),
                // Keys that grow come after all others.
                None if self.ends_below(shape, own.head) => Some(shape.len()),
                None => None,
            };
            let (rank, is_there) = match near {
                Some(rank) => self.rank_from(shape, rank, own),
                None => self.rank_of_head::<S>(shape, own),
            };
            return (is_there.then_some(rank), Some(rank));
        }
        if let Some(rank) = self.rank_at_end(shape, own) {
            return (None, Some(rank));
        }
        (self.find_after_prefix::<S>(shape, own, tag), None)
    }

    /// Finds, by its tag, a key that has the node's prefix and this head.
    #[inline(always)]
    pub(super) fn find_after_prefix<S: Lines>(self, shape: Shape, own: Probe<'_>, tag: u8) -> Option<usize> {
        let mut likely = self.tagged::<S>(shape, tag);
        let first = likely.next()?;
        if self.head(shape, first) == own.head && self.rest_is(shape, first, own.key) {
            return Some(first);
        }
        if likely.is_empty() { None } else { self.find_among(likely, shape, own.key) }
    }

    /// The one of these entries that has a key with the node's prefix. Apart, so that nothing is made ready
    /// for it where the first entry has the key.
    #[inline(never)]
    fn find_among(self, mut likely: Places, shape: Shape, key: &[u8]) -> Option<usize> {
        let own = head(key, shape.prefix());
        while let Some(at) = likely.next() {
            if self.head(shape, at) == own && self.rest_is(shape, at, key) {
                return Some(at);
            }
        }
        None
    }

    /// The entries with this tag. All tags are compared, without branches: the place of a tag is
    /// unpredictable.
    #[inline(always)]
    pub(super) fn tagged<S: Lines>(self, shape: Shape, tag: u8) -> Places {
        const { assert!(SLOTS_MAX == 128) };
        let words: &[Word; SLOTS_MAX / 8] =
            self.words[SLOTS..].first_chunk().expect("slots end before the node");
        let (fours, len) = (words.as_chunks::<4>().0, shape.len());
        // A closure in place of the macro would be called.
        macro_rules! marks {
            ($at:literal) => {
                u64::from(S::which_bytes(&fours[$at], tag))
                    | u64::from(S::which_bytes(&fours[$at + 1], tag)) << 32
            };
        }
        Places([marks!(0) & ones(len), marks!(2) & ones(len.saturating_sub(64))])
    }

    /// The word of the first entry's value that has this tag: for an early prefetch.
    #[inline(always)]
    pub fn likely_place<S: Lines>(self, tag: u8) -> Option<(usize, usize)> {
        let shape = self.shape();
        if shape.is_of_records() {
            return None;
        }
        let at = self.tagged::<S>(shape, tag).next()?;
        Some((shape.heads() + at, self.place(shape, at)))
    }

    /// Changes an entry's place.
    pub(super) fn set_place(self, shape: Shape, at: usize, place: usize) {
        let (word, shift) = (shape.places() + at / 8, at % 8 * 8);
        self.set(word, self.words.word(word) & !(0xFF << shift) | (place as u64) << shift);
    }

    /// Gives an entry another value of one word.
    #[inline(always)]
    pub fn set_value(self, at: usize, value: u64) {
        debug_assert!(self.latch().is_held());
        self.set(self.place(self.shape(), at), value);
    }

    /// Inserts an entry before the one at `at`, if there is room.
    #[inline(always)]
    pub fn insert<S: Lines>(self, at: usize, entry: Entry<'_>) -> bool {
        debug_assert!(self.latch().is_held());
        let (shape, words) = (self.shape(), entry.words());
        if !shape.has_room(entry.length, entry.more.len()) {
            return false;
        }
        if shape.is_of_records() {
            self.insert_record::<S>(at, entry);
            return true;
        }
        let place = WORDS - shape.used() - words;
        entry.store(|word, to| self.set(place + word, to));
        let len = shape.len();
        self.insert_bytes(shape, at, len, [entry.tag, entry.length, place as u8]);
        let heads = shape.heads();
        shift_up::<S>(&self.words[heads + at..=heads + len], 1);
        self.set(heads + at, entry.head);
        self.set(SHAPE, shape.with_entry(words).0);
        true
    }

    /// Removes an entry. Returns which long string no entry names any more.
    #[inline(always)]
    pub fn remove<S: Lines>(self, at: usize) -> Option<LongRef> {
        debug_assert!(self.latch().is_held());
        let (shape, length) = (self.shape(), self.length(self.shape(), at));
        if shape.is_of_records() {
            self.remove_record::<S>(at);
            return None;
        }
        let long = (length == LONG).then(|| self.long_key(shape, at));
        let (len, words) = (shape.len(), self.words_of_entry(shape, at));
        self.remove_bytes(shape, at, len);
        let heads = shape.heads();
        shift_down::<S>(&self.words[heads + at..heads + len], 1);
        self.set(SHAPE, shape.without_entry(words).0);
        long
    }

    /// Makes the node one that belongs to no tree.
    pub fn mark_dead(self) {
        debug_assert!(self.latch().is_held());
        self.set(SHAPE, Shape::DEAD);
    }

    /// Writes the whole node except its latch and unused words.
    pub fn write(self, image: &[u64; WORDS]) {
        debug_assert!(self.latch().is_held());
        for lines in Shape(image[SHAPE]).used_lines() {
            let words = (8 * lines.start).max(LATCH + 1)..8 * lines.end;
            let from = image[words.clone()].iter();
            self.words[words].iter().zip(from).for_each(|(word, &to)| word.store_relaxed(to));
        }
    }

    /// Copies the node except unused words, and, in a leaf of records, those before entry `first`.
    #[inline(always)]
    pub fn copy_from<S: Lines>(self, first: usize, to: &mut [u64; WORDS]) {
        let (from, to) = (self.words.as_chunks::<8>().0, to.as_chunks_mut::<8>().0);
        for lines in self.shape().used_lines_from(first) {
            for (from, to) in from[lines.clone()].iter().zip(&mut to[lines]) {
                let ([low, high], _) = from.as_chunks::<4>() else { unreachable!("a line is two halves") };
                let (to_low, to_high) = to.split_at_mut(4);
                S::copy_words(low, to_low);
                S::copy_words(high, to_high);
            }
        }
    }

    /// Inserts a byte each before those at `at` of the tags, lengths and places, of which there are `len`.
    #[inline(always)]
    fn insert_bytes(self, shape: Shape, at: usize, len: usize, bytes: [u8; 3]) {
        let arrays = [SLOTS, shape.lengths(), shape.places()];
        let (first, shift) = (at / 8, at % 8 * 8);
        let mut carried = [0; 3];
        for ((array, byte), carried) in arrays.into_iter().zip(bytes).zip(&mut carried) {
            let word = self.words.word(array + first);
            let (low, high) = (word & ((1 << shift) - 1), word >> shift << shift);
            self.set(array + first, low | u64::from(byte) << shift | high << 8);
            *carried = word >> 56;
        }
        // One loop for all three: where it ends can't be foretold.
        for at in first + 1..=len / 8 {
            for (array, carried) in arrays.into_iter().zip(&mut carried) {
                let word = self.words.word(array + at);
                self.set(array + at, word << 8 | *carried);
                *carried = word >> 56;
            }
        }
    }

    /// Removes the bytes at `at` of the tags, lengths and places, of which there are `len`.
    #[inline(always)]
    fn remove_bytes(self, shape: Shape, at: usize, len: usize) {
        let arrays = [SLOTS, shape.lengths(), shape.places()];
        let (first, last, low) = (at / 8, (len - 1) / 8, (1u64 << (at % 8 * 8)) - 1);
        let mut own = arrays.map(|array| self.words.word(array + first));
        let kept = own.map(|word| word & low);
        for at in first..=last {
            for (array, own) in arrays.into_iter().zip(&mut own) {
                // After the last one there may be another array.
                let next = if at < last { self.words.word(array + at + 1) } else { 0 };
                self.set(array + at, *own >> 8 | next << 56);
                *own = next;
            }
        }
        for (array, kept) in arrays.into_iter().zip(kept) {
            self.set(array + first, self.words.word(array + first) & !low | kept);
        }
    }
}
