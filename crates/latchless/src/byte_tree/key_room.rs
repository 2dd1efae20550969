//! Inline buffers for one key that is read from a node and for a few elements of any type. They allocate
//! only for a long key or many elements.

use super::node::{Node, Words};
use super::shape::{FENCE_MAX, LONG, SUFFIX_MAX, Shape, WORDS, high_words};
use super::text::words_of;

/// Bytes of the longest key that is built in place: a prefix and a suffix that aren't long, in whole words,
/// and the excess that a scan copies.
const ROOM: usize = FENCE_MAX.next_multiple_of(8) + 8 + SUFFIX_MAX.next_multiple_of(8) + 64;

/// A key that was read, or room for one.
#[derive(Debug)]
pub struct KeyRoom {
    bytes: [u8; ROOM],
    len: usize,
    /// A key that is longer, if `is_long`.
    long: Vec<u8>,
    is_long: bool,
}

impl Default for KeyRoom {
    #[inline]
    fn default() -> Self {
        Self { bytes: [0; ROOM], len: 0, long: Vec::new(), is_long: false }
    }
}

impl KeyRoom {
    /// The key.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        if self.is_long { &self.long } else { &self.bytes[..self.len] }
    }

    /// Makes the key this one.
    #[inline]
    pub(super) fn set(&mut self, key: &[u8]) {
        self.resize(key.len()).copy_from_slice(key);
    }

    /// Makes the key one of this many bytes, which may be any.
    #[inline]
    pub(super) fn resize(&mut self, len: usize) -> &mut [u8] {
        (self.len, self.is_long) = (len, len > ROOM);
        if self.is_long {
            self.long.resize(len, 0);
        }
        self.bytes_mut()
    }

    /// The key, to be changed.
    #[inline]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        if self.is_long { &mut self.long } else { &mut self.bytes[..self.len] }
    }

    /// Bytes of the allocator's that it has.
    pub(super) fn allocated(&self) -> usize {
        self.long.capacity()
    }

    /// Reads the key of an entry. The result from a node that changes meanwhile is garbage, but harmless.
    #[inline(always)]
    pub(super) fn read<W: Words>(&mut self, leaf: Node<'_, W>, shape: Shape, at: usize) {
        let (prefix, length) = (shape.prefix(), leaf.length(shape, at));
        if prefix > FENCE_MAX || length == LONG || shape.has(Shape::LOW_LONG) {
            return self.read_long(leaf, at);
        }
        self.read_words(prefix, |at| leaf.low_word(at));
        let (length, place) = (usize::from(length).min(SUFFIX_MAX), leaf.place(shape, at) + 1);
        let (to, _) = self.bytes[prefix..].as_chunks_mut::<8>();
        to[0] = leaf.head(shape, at).to_be_bytes();
        let rest = to[1..=words_of(length.saturating_sub(8))].iter_mut().enumerate();
        rest.for_each(|(at, to)| *to = leaf.words.word(place + at).to_le_bytes());
        self.len = prefix + length;
    }

    /// Reads the high fence, if there is one, and returns whether there is.
    pub(super) fn read_high<W: Words>(&mut self, node: Node<'_, W>) -> bool {
        let shape = node.shape();
        if shape.has(Shape::HIGH_LONG) || node.high_len() > FENCE_MAX {
            self.is_long = true;
            self.long.clear();
            return node.high_to(&mut self.long);
        }
        let start = WORDS - high_words(node.high_len());
        self.read_words(node.high_len(), |at| node.words.word(start + at));
        !shape.has(Shape::NO_HIGH)
    }

    /// Reads the low fence, and returns whether anything is before it.
    pub(super) fn read_low<W: Words>(&mut self, node: Node<'_, W>) -> bool {
        if node.shape().has(Shape::LOW_LONG) || node.low_len() > FENCE_MAX {
            self.is_long = true;
            self.long.clear();
            node.low_to(&mut self.long);
        } else {
            self.read_words(node.low_len(), |at| node.low_word(at));
        }
        !self.bytes().is_empty()
    }

    /// Makes the key one of `len` bytes. `stored(at)`: its word at this place.
    #[inline(always)]
    fn read_words(&mut self, len: usize, stored: impl Fn(usize) -> u64) {
        let (to, _) = self.bytes.as_chunks_mut::<8>();
        to[..words_of(len)].iter_mut().enumerate().for_each(|(at, to)| *to = stored(at).to_le_bytes());
        (self.len, self.is_long) = (len, false);
    }

    #[cold]
    #[inline(never)]
    fn read_long<W: Words>(&mut self, leaf: Node<'_, W>, at: usize) {
        self.is_long = true;
        whole_key(leaf, at, &mut self.long);
    }
}

/// Makes `key` that of an entry.
pub(super) fn whole_key<W: Words>(leaf: Node<'_, W>, at: usize, key: &mut Vec<u8>) {
    let shape = leaf.shape();
    key.clear();
    leaf.low_to(key);
    key.truncate(shape.prefix());
    leaf.key_to(shape, at, key);
}

/// How many elements of a list are kept in place.
const FEW: usize = 8;

/// A list of a few elements, which allocates nothing unless they are many.
#[derive(Debug)]
pub(super) struct Few<T> {
    few: [Option<T>; FEW],
    more: Vec<T>,
}

impl<T> Default for Few<T> {
    #[inline]
    fn default() -> Self {
        Self { few: [const { None }; FEW], more: Vec::new() }
    }
}

impl<T> Few<T> {
    /// Appends an element.
    #[inline]
    pub(super) fn push(&mut self, element: T) {
        match self.few.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(element),
            None => self.more.push(element),
        }
    }

    /// The elements, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.few.iter().flatten().chain(&self.more)
    }

    /// Removes and returns the last element for which that holds. Nothing may be added after that.
    pub(super) fn take_last(&mut self, holds: impl Fn(&T) -> bool) -> Option<T> {
        if let Some(at) = self.more.iter().rposition(&holds) {
            return Some(self.more.swap_remove(at));
        }
        self.few.iter_mut().rev().find(|place| place.as_ref().is_some_and(&holds))?.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_elements_and_many_are_in_order_and_the_last_is_taken() {
        for len in [0, 1, FEW - 1, FEW, FEW + 1, 3 * FEW] {
            let mut list = Few::default();
            (0..len).for_each(|element| list.push(element));
            assert!(list.iter().copied().eq(0..len));
            assert_eq!(list.more.capacity() == 0, len <= FEW);
            assert_eq!(list.take_last(|_| false), None);
            assert_eq!(list.take_last(|_| true), len.checked_sub(1));
            let mut list = Few::default();
            (0..len).for_each(|element| list.push(element));
            assert_eq!(list.take_last(|&element| element < 5), len.checked_sub(1).map(|last| last.min(4)));
        }
    }

    #[test]
    fn keys_of_any_length_are_set() {
        let mut room = KeyRoom::default();
        for len in [0, 1, ROOM, ROOM + 1, 5 * ROOM, 3] {
            let key: Vec<u8> = (0..len).map(|at| at as u8).collect();
            room.set(&key);
            assert_eq!(room.bytes(), key);
            assert_eq!(room.resize(len + 1).len(), len + 1);
        }
    }
}
