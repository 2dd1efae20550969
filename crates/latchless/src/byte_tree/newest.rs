//! The newest version of a key up to a number: the first entry at or after a
//! [versioned key](latchless_core::base::versioned), if that is a version of the same key.
//!
//! It is found as a get finds its key, by the same guesses, tags and instruction sets: all versions of a
//! key have one hash, hence one guess and one tag. A leaf's entries with that tag are in order, so the
//! first one that is a version of the key, and not before the looked-up one, is the wanted one if the leaf
//! covers the looked-up key. It does if another entry comes before the one that is found: that entry is
//! then less than the looked-up key.
//!
//! The versions of one key may be in several leaves. A leaf that has none of them at or after the looked-up
//! key says by its high fence whether the next leaf may have one; then the search goes on as one for a
//! neighbour.

use super::change::{Shared, Tag};
use super::get::{Near, Wanted};
use super::key_room::{KeyRoom, whole_key};
use super::long::LongStrings;
use super::near::{Border, nearest_elsewhere};
use super::node::{Node, Probe, Words};
use super::shape::{HIGH_HEAD, LONG, Shape};
use super::store::Store;
use super::take::{CopiedWords, Take};
use super::text::{common, head, shifted, word, words_of};
use super::tree::ByteTree;
use crate::blink::Side;
use crate::node::lines::Lines;
use core::cmp::Ordering;
use core::ops::Bound;
use latchless_core::base::index::Direction;
use latchless_core::base::versioned::{closes_alike, number_of};

/// Where the version of a key begins: all bytes before this place are the same in all versions.
#[derive(Debug, Clone, Copy)]
pub struct Newest(pub usize);

impl Newest {
    /// How an entry compares with a key that has the node's prefix and this head; `None` if it is a version
    /// of another key.
    #[inline(always)]
    fn order<W: Words>(self, leaf: Node<'_, W>, shape: Shape, at: usize, own: Probe<'_>) -> Option<Ordering> {
        let (length, prefix) = (leaf.length(shape, at), shape.prefix());
        if length == LONG {
            return self.order_of_long(leaf, at, own.key);
        }
        let head = leaf.head(shape, at);
        if head != own.head {
            return self.order_of_words(head, own.head, prefix);
        }
        let len = usize::from(length).min(own.key.len().saturating_sub(prefix));
        let place = leaf.place(shape, at) + 1;
        for at in 1..words_of(len) {
            let (one, other) = (leaf.words.word(place + at - 1), word(own.key, prefix + 8 * at));
            if one != other {
                return self.order_of_words(one.swap_bytes(), other.swap_bytes(), prefix + 8 * at);
            }
        }
        // None of the bytes of a versioned key begin with those of another one.
        Some(Ordering::Equal)
    }

    /// The same, by the first word that differs, whose bytes are those from `from` on.
    #[inline(always)]
    fn order_of_words(self, one: u64, other: u64, from: usize) -> Option<Ordering> {
        let at = (one ^ other).leading_zeros() as usize / 8;
        let byte = |word: u64| (word >> (56 - 8 * at)) as u8;
        let is_alike = match (from + at).cmp(&self.0) {
            Ordering::Less => false,
            Ordering::Equal => closes_alike(byte(one), byte(other)),
            Ordering::Greater => true,
        };
        is_alike.then(|| one.cmp(&other))
    }

    #[cold]
    #[inline(never)]
    fn order_of_long<W: Words>(self, leaf: Node<'_, W>, at: usize, key: &[u8]) -> Option<Ordering> {
        let mut own = Vec::new();
        whole_key(leaf, at, &mut own);
        self.is_of(&own, key).then(|| own.as_slice().cmp(key))
    }

    /// Whether these are the bytes of a version of a key.
    fn is_of(self, bytes: &[u8], key: &[u8]) -> bool {
        let alike = common(bytes, key);
        alike > self.0
            || alike == self.0
                && bytes.get(alike).zip(key.get(alike)).is_some_and(|(&a, &b)| closes_alike(a, b))
    }
}

impl Wanted for Newest {
    #[inline(always)]
    fn hash(self, store: &Store, key: &[u8]) -> u64 {
        store.hash_before(key, self.0)
    }

    #[inline(always)]
    fn find<S: Lines>(self, leaf: Shared<'_>, key: &[u8], tag: impl Tag) -> Option<usize> {
        let shape = leaf.shape();
        if !leaf.has_prefix(shape, key) {
            return None;
        }
        let own = Probe::of(key, shape);
        if shape.is_of_records() {
            let (rank, _) = leaf.rank_of_head::<S>(shape, own);
            return (rank < shape.len() && self.order(leaf, shape, rank, own).is_some()).then_some(rank);
        }
        let mut likely = leaf.tagged::<S>(shape, tag.tag());
        // A closure in place of the loop might be called.
        while let Some(at) = likely.next() {
            if self.order(leaf, shape, at, own).is_some_and(Ordering::is_ge) {
                return Some(at);
            }
        }
        None
    }

    #[inline(always)]
    fn find_near(self, leaf: Shared<'_>, near: Near, key: &[u8]) -> Option<Option<usize>> {
        let Near { shape, rank, own: head, .. } = near;
        let own = Probe { key, head };
        let (rank, _) = leaf.rank_from(shape, rank, own);
        // Only a key between two entries is certainly between the fences.
        if rank == 0 || rank == shape.len() {
            return None;
        }
        Some(if self.order(leaf, shape, rank, own).is_some() { Some(rank) } else { None })
    }

    #[inline(always)]
    fn is_certain(self, leaf: Shared<'_>, at: usize, key: &[u8]) -> bool {
        at > 0 || leaf.side_apart(key) == Side::Here
    }

    #[inline(always)]
    fn is_absent(self, leaf: Shared<'_>, key: &[u8]) -> bool {
        let shape = leaf.shape();
        if shape.has(Shape::NO_HIGH) {
            return true;
        }
        // The fence is greater than the key, and at most the next leaf's first one. If that is a version of
        // the key, the fence begins as they do. Its first eight bytes after the prefix nearly always tell.
        let differing = leaf.words.word(HIGH_HEAD) ^ head(key, shape.prefix());
        differing != 0 && shape.prefix() + (differing.leading_zeros() as usize / 8) < self.0
    }

    #[cold]
    fn take_elsewhere<T: Take>(self, tree: &ByteTree, key: &[u8], take: &mut T) -> Option<T::Value> {
        let (mut found, border) =
            (KeyRoom::default(), Border { from: Bound::Included(key), direction: Direction::Forward });
        let value = nearest_elsewhere(tree, border, &mut found, take)?;
        self.is_of(found.bytes(), key).then_some(value)
    }
}

/// The end of an entry's key.
#[derive(Debug, Clone, Copy)]
pub struct End {
    /// The length of the key.
    len: usize,
    /// Its last eight bytes, the last one lowest. If it has fewer, any bytes come before them.
    last: u64,
}

impl End {
    /// The number of the version, which begins at this place.
    #[inline(always)]
    pub fn number(self, Newest(place): Newest) -> u64 {
        number_of(self.last, self.len.saturating_sub(place + 1))
    }
}

/// Takes values together with the ends of their keys.
#[derive(Debug)]
pub struct WithEnd<'t, T>(pub &'t mut T);

#[inline(always)]
fn end_of<W: Words>(leaf: Node<'_, W>, shape: Shape, at: usize) -> End {
    let (length, prefix) = (leaf.length(shape, at), shape.prefix());
    if length == LONG || length < 8 && shape.has(Shape::LOW_LONG) {
        return end_of_long(leaf, at);
    }
    let length = usize::from(length);
    let place = leaf.place(shape, at);
    let head = leaf.head(shape, at);
    let last = if length < 8 {
        // The rest is in the prefix.
        let from = (prefix + length).saturating_sub(8);
        let before =
            shifted(leaf.low_word(from / 8), leaf.low_word(from / 8 + 1), 8 * (from % 8)).swap_bytes();
        let kept = prefix.min(8 - length);
        let before = if kept == 0 { 0 } else { before >> (64 - 8 * kept) };
        if length == 0 { before } else { before << (8 * length) | head >> (64 - 8 * length) }
    } else {
        let (word, bits) = ((length - 8) / 8, 8 * (length % 8));
        let first = if word == 0 { head.swap_bytes() } else { leaf.words.word(place + word) };
        shifted(first, leaf.words.word(place + word + 1), bits).swap_bytes()
    };
    End { len: prefix + length, last }
}

#[cold]
#[inline(never)]
fn end_of_long<W: Words>(leaf: Node<'_, W>, at: usize) -> End {
    let mut key = Vec::new();
    whole_key(leaf, at, &mut key);
    let last = key.iter().rev().take(8).rev().fold(0, |last, &byte| last << 8 | u64::from(byte));
    End { len: key.len(), last }
}

impl<T: Take> Take for WithEnd<'_, T> {
    type Value = (End, T::Value);

    #[inline(always)]
    fn take<W: Words>(&mut self, leaf: Node<'_, W>, shape: Shape, at: usize) -> Self::Value {
        (end_of(leaf, shape, at), self.0.take(leaf, shape, at))
    }

    fn take_latched(&mut self, leaf: Shared<'_>, shape: Shape, at: usize) -> Self::Value {
        (end_of(leaf, shape, at), self.0.take_latched(leaf, shape, at))
    }

    fn take_the_rest(&mut self, long: &LongStrings) {
        self.0.take_the_rest(long);
    }

    fn take_copied(&mut self, words: CopiedWords<'_>, long: &LongStrings) -> bool {
        self.0.take_copied(words, long)
    }
}

impl ByteTree {
    /// Looks up the newest version of a key up to a number; `take` takes its value. Returns the version's
    /// number as well.
    #[inline]
    pub fn newest<T: Take>(&self, newest: Newest, key: &[u8], take: &mut T) -> Option<(u64, T::Value)> {
        let (end, value) = self.look_up(newest, key, &mut WithEnd(take))?;
        Some((end.number(newest), value))
    }

    /// Looks up the newest versions of a group of keys; `take` takes the values. Calls `done` for each key
    /// in order with its version.
    #[inline]
    pub fn newest_group<T: Take>(
        &self,
        newest: &[Newest],
        keys: &[&[u8]],
        take: &mut T,
        mut done: impl FnMut(Option<(u64, T::Value)>, &T),
    ) {
        let mut those = newest.iter();
        self.look_up_group(newest, keys, &mut WithEnd(take), |found, WithEnd(take)| {
            let newest = *those.next().expect("a place for each key");
            done(found.map(|(end, value)| (end.number(newest), value)), take);
        });
    }
}
