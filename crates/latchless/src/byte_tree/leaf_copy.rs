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
use super::values::Take;
use crate::node::lines::Lines;
use core::cell::Cell;
use core::ops::{Bound, ControlFlow, Range};
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

/// Words of a key that are copied at once.
const AT_ONCE: usize = 4;
/// Bytes of strings that a spare copy keeps room for.
const SPARE_BYTES: usize = 4096;

thread_local! {
    /// A copy that this thread's next range uses: to make one costs as much as reading a leaf.
    static SPARE: Cell<Option<Box<LeafCopy>>> = const { Cell::new(None) };
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
    /// The leaf whose lines were asked for last.
    pub(super) asked: NodeRef,
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
            asked: NodeRef::NIL,
            source: (NodeRef::NIL, None),
        }
    }
}

impl LeafCopy {
    /// Lends a copy of no leaf yet.
    pub fn lend<R>(serve: impl FnOnce(&mut LeafCopy) -> R) -> R {
        // A range inside of a range, and one while the thread ends, have one of their own.
        let mut leaf = SPARE.try_with(Cell::take).ok().flatten().unwrap_or_default();
        let outcome = serve(&mut leaf);
        let strings = [&leaf.low, &leaf.high, &leaf.long, &leaf.key, &leaf.pivot];
        if strings.into_iter().map(Vec::capacity).sum::<usize>() <= SPARE_BYTES {
            // Refused: the thread ends.
            let _ = SPARE.try_with(|spare| spare.set(Some(leaf)));
        }
        outcome
    }

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
            if let Some(direction) = after {
                let own = self.first_from(leaf.long, key, false);
                match direction {
                    Direction::Forward => self.within.start = self.within.start.max(own),
                    Direction::Reverse => self.within.end = self.within.end.min(own),
                }
            }
            self.within.end = self.within.end.max(self.within.start);
        });
        self.source = (node, version);
        let prefix = self.shape().prefix().min(self.low.len());
        let longest = prefix + SUFFIX_ROOM + 8 * AT_ONCE;
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
        if copy.may_have_long(shape) {
            for at in (0..len).filter(|&at| copy.length(shape, at) == LONG) {
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
        let slots = Slots::of(self.shape());
        let (length, place) = slots.of_entry(&self.image, at);
        let value = self.image.word(place);
        if length == LONG {
            return (long_key(&self.image, (&self.long, &self.long_starts), at), value);
        }
        (slots.make_key(&self.image, (at, length, place), &mut self.key), value)
    }

    /// Shows these entries until `see` breaks off: the key, the first word of the value, and `take`, which
    /// took it.
    #[inline(always)]
    pub fn show<T: Take, B>(
        &mut self,
        tree: &ByteTree,
        entries: impl Iterator<Item = usize>,
        take: &mut T,
        see: &mut impl FnMut(&[u8], u64, &T) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if !T::IS_ONE_WORD {
            for at in entries {
                if take.take_copied(tree, self, at) {
                    let (key, word) = self.entry(at);
                    see(key, word, take)?;
                }
            }
            return ControlFlow::Continue(());
        }
        // What stays the same from entry to entry stays in registers.
        let Self { image, key, long, long_starts, .. } = self;
        let (image, key, slots) = (&*image, &mut key[..], Slots::of(Shape(image[SHAPE])));
        for at in entries {
            let (length, place) = slots.of_entry(image, at);
            let value = image.word(place);
            if length == LONG {
                see(long_key(image, (long, long_starts), at), value, take)?;
            } else {
                see(slots.make_key(image, (at, length, place), key), value, take)?;
            }
        }
        ControlFlow::Continue(())
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
}

/// Where a copy's slots are.
#[derive(Debug, Clone, Copy)]
struct Slots {
    lengths: usize,
    places: usize,
    heads: usize,
    prefix: usize,
}

impl Slots {
    #[inline(always)]
    fn of(shape: Shape) -> Self {
        Self {
            lengths: shape.lengths(),
            places: shape.places(),
            heads: shape.heads(),
            prefix: shape.prefix(),
        }
    }

    /// An entry's length and place.
    #[inline(always)]
    fn of_entry(self, image: &Image, at: usize) -> (u8, usize) {
        let byte = |array: usize| (image.word(array + at / 8) >> (at % 8 * 8)) as u8;
        (byte(self.lengths), usize::from(byte(self.places)))
    }

    /// Makes the key of an entry that isn't long of `key`, which begins with the prefix.
    #[inline(always)]
    fn make_key<'k>(
        self,
        image: &Image,
        (at, length, place): (usize, u8, usize),
        key: &'k mut [u8],
    ) -> &'k [u8] {
        let (length, end) = (usize::from(length), self.prefix + usize::from(length));
        let (room, _) = key[self.prefix..].as_chunks_mut::<8>();
        let (head, rest) = room.split_first_mut().expect("there is room for a head");
        *head = image.word(self.heads + at).to_be_bytes();
        // A few words at once: what is copied too much nobody looks at.
        let words = words_of(length.saturating_sub(8)).next_multiple_of(AT_ONCE);
        if place < WORDS - words {
            let (to, _) = rest[..words].as_chunks_mut::<AT_ONCE>();
            let (from, _) = image[place + 1..][..words].as_chunks::<AT_ONCE>();
            for (to, &[a, b, c, d]) in to.iter_mut().zip(from) {
                *to = [a.to_le_bytes(), b.to_le_bytes(), c.to_le_bytes(), d.to_le_bytes()];
            }
        } else {
            rest.iter_mut().zip(&image[place + 1..]).for_each(|(to, from)| *to = from.to_le_bytes());
        }
        &key[..end]
    }
}

#[cold]
#[inline(never)]
fn long_key<'k>(image: &Image, (long, starts): (&'k [u8], &[usize]), at: usize) -> &'k [u8] {
    let shape = Shape(image[SHAPE]);
    let is_long = |at: &usize| Slots::of(shape).of_entry(image, *at).0 == LONG;
    let number = (0..at).filter(is_long).count();
    let end = starts.get(number + 1).copied().unwrap_or(long.len());
    &long[starts[number]..end]
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
