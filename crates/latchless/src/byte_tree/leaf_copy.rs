//! Copies of leaves: how ranges are read.
//!
//! A copy is validated as a whole, so its entries are all of one moment. Long keys are copied beside it.

use super::change::Shared;
use super::image::Image;
use super::long::LongStrings;
use super::node::Toward;
use super::node::{Node, SUFFIX_ROOM, Side, Words};
use super::shape::*;
use super::text::words_of;
use super::tree::ByteTree;
use crate::node::lines::Lines;
use core::ops::{Bound, Range};
use latchless_core::base::index::Direction;
use latchless_core::latch::Version;
use latchless_core::mem::node_ref::NodeRef;

/// What a range is between.
#[derive(Debug, Clone, Copy)]
pub struct Bounds<'k> {
    pub low: Bound<&'k [u8]>,
    pub high: Bound<&'k [u8]>,
}

impl Bounds<'_> {
    /// Everything.
    pub const ALL: Bounds<'static> = Bounds { low: Bound::Unbounded, high: Bound::Unbounded };
}

/// The entries of a leaf at one moment.
#[derive(Debug)]
pub struct LeafCopy {
    image: Image,
    /// The fences: the first one's start is the prefix.
    low: Vec<u8>,
    high: Vec<u8>,
    has_high: bool,
    /// Long keys one after the other, and where each of them begins.
    long: Vec<u8>,
    long_starts: Vec<usize>,
    /// Where the key that was asked for last is made.
    key: Vec<u8>,
    /// Where the key is kept by which the next leaf is found.
    pivot: Vec<u8>,
    /// Entries of the range that are in the leaf.
    within: Range<usize>,
    /// Whether the range goes on after the leaf, and before it.
    goes_on: bool,
    goes_on_before: bool,
    link: NodeRef,
    /// The leaf that this is a copy of, and its version, if it was read without its latch.
    source: (NodeRef, Option<Version>),
}

impl Default for LeafCopy {
    fn default() -> Self {
        Self {
            image: [0; WORDS],
            low: Vec::new(),
            high: Vec::new(),
            has_high: false,
            long: Vec::new(),
            long_starts: Vec::new(),
            key: Vec::new(),
            pivot: Vec::new(),
            within: 0..0,
            goes_on: false,
            goes_on_before: false,
            link: NodeRef::NIL,
            source: (NodeRef::NIL, None),
        }
    }
}

impl LeafCopy {
    /// Copies the leaf that covers a key, or the place right before it, and finds what it has of a range,
    /// in this direction `after` the key if there is one. `start`: a leaf that is likely to be the one.
    #[inline(always)]
    pub fn load<S: Lines>(
        &mut self,
        tree: &ByteTree,
        (start, key, toward): (NodeRef, &[u8], Toward),
        (bounds, after): (Bounds<'_>, Option<Direction>),
    ) {
        let (_, node, version) = tree.read_leaf_inlined(start, (key, toward), |(_, leaf)| {
            self.copy::<S>(leaf, bounds);
            // A leaf that has taken in its neighbour has keys that were seen already.
            let own = self.first_from(leaf.long, key, false);
            match after {
                Some(Direction::Forward) => self.within.start = self.within.start.max(own),
                Some(Direction::Reverse) => self.within.end = self.within.end.min(own),
                None => {}
            }
            self.within.end = self.within.end.max(self.within.start);
        });
        self.source = (node, version);
        let prefix = self.shape().prefix().min(self.low.len());
        let longest = prefix + SUFFIX_ROOM;
        if self.key.len() < longest {
            self.key.resize(longest, 0);
        }
        self.key[..prefix].copy_from_slice(&self.low[..prefix]);
    }

    /// How many entries come before a key, or before what follows it.
    fn first_from(&self, long: &LongStrings, key: &[u8], is_after: bool) -> usize {
        // A leaf that a range goes over begins after the range does, as a rule.
        if key <= &self.low[..] && !is_after {
            0
        } else {
            first_from(Node { words: &self.image, long }, key, is_after)
        }
    }

    /// Copies a leaf that may be changing: what is there then is worth nothing, but harmless.
    #[inline(always)]
    pub(super) fn copy<S: Lines>(&mut self, leaf: Shared<'_>, bounds: Bounds<'_>) {
        leaf.copy::<S>(&mut self.image);
        let copy = Node { words: &self.image, long: leaf.long };
        let (shape, len) = (copy.shape(), copy.shape().len());
        [&mut self.low, &mut self.high, &mut self.long].into_iter().for_each(Vec::clear);
        self.long_starts.clear();
        copy.low_to(&mut self.low);
        self.has_high = copy.high_to(&mut self.high);
        self.link = copy.link();
        // Long strings belong to the same moment: they are copied before the leaf is validated.
        for at in 0..len {
            if copy.length(shape, at) == LONG {
                self.long_starts.push(self.long.len());
                leaf.long.append(copy.long_key(shape, at), &mut self.long);
            }
        }
        let from = match bounds.low {
            Bound::Unbounded => 0,
            Bound::Included(key) => self.first_from(leaf.long, key, false),
            Bound::Excluded(key) => self.first_from(leaf.long, key, true),
        };
        let to = match bounds.high {
            Bound::Unbounded => len,
            Bound::Included(key) => self.first_from(leaf.long, key, true),
            Bound::Excluded(key) => self.first_from(leaf.long, key, false),
        };
        let reaches = |key: &[u8]| copy.side(key) == Side::Right;
        self.goes_on = self.has_high
            && match bounds.high {
                Bound::Unbounded => true,
                Bound::Included(key) => reaches(key),
                Bound::Excluded(key) => reaches(key) && self.high != key,
            };
        let starts_before = |key: &[u8]| key < &self.low[..];
        self.goes_on_before = !self.low.is_empty()
            && match bounds.low {
                Bound::Unbounded => true,
                Bound::Included(key) | Bound::Excluded(key) => starts_before(key),
            };
        self.within = from..to.max(from);
    }

    fn shape(&self) -> Shape {
        Shape(self.image[SHAPE])
    }

    /// An empty string, to be brought back.
    pub fn take_pivot(&mut self) -> Vec<u8> {
        self.pivot.clear();
        core::mem::take(&mut self.pivot)
    }

    /// Brings a string back, so that its memory is used again.
    pub fn bring_pivot(&mut self, pivot: Vec<u8>) {
        self.pivot = pivot;
    }

    /// Takes the range's bounds away: everything goes on.
    pub fn unbind(&mut self) {
        self.goes_on = self.has_high;
        self.goes_on_before = !self.low.is_empty();
    }

    /// How many entries the leaf has.
    pub fn entry_count(&self) -> usize {
        self.shape().len()
    }

    /// Which entries of the leaf belong to the range.
    pub fn within(&self) -> Range<usize> {
        self.within.clone()
    }

    /// Whether the range goes on at the high fence.
    pub fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// Whether the range has something before the low fence.
    pub fn goes_on_before(&self) -> bool {
        self.goes_on_before
    }

    /// The low fence.
    pub fn low(&self) -> &[u8] {
        &self.low
    }

    /// The high fence.
    pub fn high(&self) -> &[u8] {
        &self.high
    }

    /// The leaf that was the right neighbour.
    pub fn link(&self) -> NodeRef {
        self.link
    }

    /// An entry: its key, which is made anew at each call, and its value.
    #[inline(always)]
    pub fn entry(&mut self, at: usize) -> (&[u8], u64) {
        let shape = self.shape();
        let image = &self.image;
        let byte = |array: usize| (image.word(array + at / 8) >> (at % 8 * 8)) as u8;
        let (length, place) = (byte(shape.lengths()), usize::from(byte(shape.places())));
        let value = image.word(place);
        if length == LONG {
            return (self.long_key(at), value);
        }
        let (prefix, length) = (shape.prefix(), usize::from(length));
        let words = words_of(length.saturating_sub(8));
        let (room, _) = self.key[prefix..].as_chunks_mut::<8>();
        room[0] = image.word(shape.heads() + at).to_be_bytes();
        for (to, from) in room[1..=words].iter_mut().zip(&image[place + 1..]) {
            *to = from.to_le_bytes();
        }
        (&self.key[..prefix + length], value)
    }

    /// The words of an entry's value: the first, and the others.
    #[inline(always)]
    pub(super) fn value_words(&self, at: usize) -> (u64, &[u64]) {
        let (image, shape) = (&self.image, self.shape());
        let byte = |array: usize| (image.word(array + at / 8) >> (at % 8 * 8)) as u8;
        let place = usize::from(byte(shape.places()));
        let first = image.word(place);
        let start = place + entry_words(byte(shape.lengths()));
        (first, image.get(start..start + shape.values().more(first)).unwrap_or(&[]))
    }

    /// Whether the leaf is still as it was copied.
    pub(super) fn is_up_to_date(&self, tree: &ByteTree) -> bool {
        let (node, version) = self.source;
        version.is_some_and(|version| tree.at(node).1.latch().validate(version))
    }

    #[cold]
    #[inline(never)]
    fn long_key(&self, at: usize) -> &[u8] {
        let shape = self.shape();
        let is_long =
            |at: &usize| (self.image.as_slice()[shape.lengths() + at / 8] >> (at % 8 * 8)) as u8 == LONG;
        let number = (0..at).filter(is_long).count();
        let end = self.long_starts.get(number + 1).copied().unwrap_or(self.long.len());
        &self.long[self.long_starts[number]..end]
    }
}

/// The first entry of a leaf that isn't before a key, or, `after` it, that is after it.
pub(super) fn first_from<W: Words>(leaf: Node<'_, W>, key: &[u8], after: bool) -> usize {
    let shape = leaf.shape();
    match leaf.side(key) {
        Side::Left => 0,
        Side::Right => shape.len(),
        Side::Here => {
            let (rank, is_there) = leaf.rank(shape, key);
            rank + usize::from(after && is_there)
        }
    }
}
