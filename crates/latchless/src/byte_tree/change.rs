//! Changing a latched node in place: one entry more, one fewer, another value.

use super::node::{Node, Words, ones};
use super::shape::*;
use super::text::{head, word, words_of};
use crate::node::lines::Lines;
use latchless_core::latch::OptimisticLatch;
use latchless_core::sync::Word;

/// A node that others may read and write.
pub type Shared<'a> = Node<'a, &'a [Word; WORDS]>;

/// An entry that is to go into a node: what its slot gets, and what is stored after its value.
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

/// What is stored after the first word of an entry's value.
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

    /// Words that it takes beside its slot.
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
            Rest::Bytes(rest) => (0..words_of(rest.len())).for_each(|at| store(1 + at, word(rest, 8 * at))),
        }
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

    /// The entry that has a key, found by its tag. The key is one of any node.
    #[inline(always)]
    pub fn find<S: Lines>(self, key: &[u8], tag: u8) -> Option<usize> {
        let shape = self.shape();
        if !self.has_prefix(shape, key) {
            return None;
        }
        let (own, mut first) = (head(key, shape.prefix()), 0);
        while first < shape.len() {
            let words = self.words[SLOTS + first / 8..].first_chunk().expect("slots end before the node");
            let mut likely = S::which_bytes(words, tag) & ones(shape.len() - first);
            while likely != 0 {
                let at = first + likely.trailing_zeros() as usize;
                if self.head(shape, at) == own && self.rest_is(shape, at, key) {
                    return Some(at);
                }
                likely &= likely - 1;
            }
            first += 32;
        }
        None
    }

    /// The word of the first entry's value whose tag is this one: to ask for it early.
    #[inline(always)]
    pub fn likely_place<S: Lines>(self, tag: u8) -> Option<(usize, usize)> {
        let shape = self.shape();
        let mut first = 0;
        while first < shape.len() {
            let words = self.words[SLOTS + first / 8..].first_chunk().expect("slots end before the node");
            let likely = S::which_bytes(words, tag) & ones(shape.len() - first);
            if likely != 0 {
                let at = first + likely.trailing_zeros() as usize;
                return Some((shape.heads() + at, self.place(shape, at)));
            }
            first += 32;
        }
        None
    }

    /// Says that an entry is at another place.
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

    /// Puts an entry before the one at `at`, if there is room.
    #[inline(always)]
    pub fn insert(self, at: usize, entry: Entry<'_>) -> bool {
        debug_assert!(self.latch().is_held());
        let (shape, words) = (self.shape(), entry.words());
        if !shape.has_room(words) {
            return false;
        }
        let place = WORDS - shape.used() - words;
        entry.store(|word, to| self.set(place + word, to));
        let len = shape.len();
        self.insert_byte(SLOTS, (at, len), entry.tag);
        self.insert_byte(shape.lengths(), (at, len), entry.length);
        self.insert_byte(shape.places(), (at, len), place as u8);
        let heads = shape.heads();
        let moved = &self.words[heads + at..=heads + len];
        let (from, to) = (&moved[..moved.len() - 1], &moved[1..]);
        from.iter().zip(to).rev().for_each(|(from, to)| to.store_relaxed(from.load_relaxed()));
        self.set(heads + at, entry.head);
        self.set(SHAPE, shape.with_entry(words).0);
        true
    }

    /// Removes an entry. Says which long string no entry names any more.
    pub fn remove(self, at: usize) -> Option<LongRef> {
        debug_assert!(self.latch().is_held());
        let (shape, length) = (self.shape(), self.length(self.shape(), at));
        let long = (length == LONG).then(|| self.long_key(shape, at));
        let (len, words) = (shape.len(), self.words_of_entry(shape, at));
        [SLOTS, shape.lengths(), shape.places()]
            .into_iter()
            .for_each(|array| self.remove_byte(array, (at, len)));
        let heads = shape.heads();
        self.words[heads + at..heads + len].array_windows().for_each(|[to, from]| {
            to.store_relaxed(from.load_relaxed());
        });
        self.set(SHAPE, shape.without_entry(words).0);
        long
    }

    /// Makes the node one that belongs to no tree.
    pub fn mark_dead(self) {
        debug_assert!(self.latch().is_held());
        self.set(SHAPE, Shape::DEAD);
    }

    /// Writes the whole node but its latch, and what it doesn't use.
    pub fn write(self, image: &[u64; WORDS]) {
        debug_assert!(self.latch().is_held());
        let [slots, heap] = Shape(image[SHAPE]).used_lines();
        for words in [LATCH + 1..8 * slots.end, 8 * heap.start..WORDS] {
            let from = image[words.clone()].iter();
            self.words[words].iter().zip(from).for_each(|(word, &to)| word.store_relaxed(to));
        }
    }

    /// Copies the node but what it doesn't use.
    #[inline(always)]
    pub fn copy<S: Lines>(self, to: &mut [u64; WORDS]) {
        let (from, to) = (self.words.as_chunks::<8>().0, to.as_chunks_mut::<8>().0);
        for lines in self.shape().used_lines() {
            for (from, to) in from[lines.clone()].iter().zip(&mut to[lines]) {
                let ([low, high], _) = from.as_chunks::<4>() else { unreachable!("a line is two halves") };
                let (to_low, to_high) = to.split_at_mut(4);
                S::copy_words(low, to_low);
                S::copy_words(high, to_high);
            }
        }
    }

    /// Puts a byte before the one at `at` of an array of `len` bytes.
    #[inline(always)]
    fn insert_byte(self, array: usize, (at, len): (usize, usize), byte: u8) {
        let (first, shift) = (at / 8, at % 8 * 8);
        let word = self.words.word(array + first);
        let low = word & ((1 << shift) - 1);
        let high = word >> shift << shift;
        self.set(array + first, low | u64::from(byte) << shift | high << 8);
        let mut carried = word >> 56;
        for at in array + first + 1..=array + len / 8 {
            let word = self.words.word(at);
            self.set(at, word << 8 | carried);
            carried = word >> 56;
        }
    }

    /// Removes the byte at `at` of an array of `len` bytes.
    fn remove_byte(self, array: usize, (at, len): (usize, usize)) {
        let (first, last, shift) = (at / 8, (len - 1) / 8, at % 8 * 8);
        for word in first..=last {
            let own = self.words.word(array + word);
            let next = if word < last { self.words.word(array + word + 1) << 56 } else { 0 };
            let moved = own >> 8 | next;
            let keep = if word == first { (1u64 << shift) - 1 } else { 0 };
            self.set(array + word, own & keep | moved & !keep);
        }
    }
}
