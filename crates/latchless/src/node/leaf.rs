//! Leaves: blocks with keys and, in the same line, their values; and the search for one key.
//!
//! Whole leaves and ranges are read by a [`LeafReader`](super::LeafReader), and changed by a
//! [`LeafEditor`](super::LeafEditor).

use super::hints::{self, Maker, Shape, block, named_block, prefetch_tied};
use super::lines::{Lines, keys_in_line};
use super::{HIGH, LINES, LOW, NodeLines, header, lane, link, or_few};
use latchless_core::base::key::Bits;
use latchless_core::mem::line::prefetch_read_later;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;
use latchless_core::sync::Line;

/// A leaf. See the documentation of [`node`](super) for its layout.
#[derive(Debug, Clone, Copy)]
pub struct Leaf<'a, B> {
    pub(super) node: &'a NodeLines,
    lanes: core::marker::PhantomData<B>,
}

/// A place in a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub(super) block: usize,
    pub(super) at: usize,
}

impl<'a, B: Bits> Leaf<'a, B> {
    /// Blocks in a leaf.
    pub const BLOCKS: usize = or_few(LINES - 1);
    /// The capacity of a block's line in entries.
    pub(super) const WIDTH: usize = keys_in_line::<B>();
    /// Entries in a block.
    pub const PER_BLOCK: usize = or_few(Self::WIDTH);
    /// Entries in a leaf: 60 of 64-bit lanes, 120 of 32-bit ones.
    pub const CAPACITY: usize = Self::BLOCKS * Self::PER_BLOCK;

    /// Interprets these lines as a leaf.
    #[inline(always)]
    pub fn new(node: &'a NodeLines) -> Self {
        Self { node, lanes: core::marker::PhantomData }
    }

    /// Returns the smallest and the largest key that the leaf may contain.
    #[inline(always)]
    pub fn fences(self) -> (B, B) {
        (self.low(), self.high())
    }

    /// Returns the smallest key that the leaf may contain.
    #[inline(always)]
    pub fn low(self) -> B {
        B::truncate(header(self.node)[LOW].load_relaxed())
    }

    /// Returns the largest key that the leaf may contain.
    #[inline(always)]
    pub fn high(self) -> B {
        B::truncate(header(self.node)[HIGH].load_relaxed())
    }

    /// Returns whether `key` lies between the fences.
    #[inline(always)]
    pub fn covers(self, key: B) -> bool {
        // Both are compared, so that nothing is mispredicted.
        (self.low() <= key) & (key <= self.high())
    }

    /// Returns whether this is the only leaf of its tree.
    #[inline(always)]
    pub(super) fn is_alone(self) -> bool {
        self.low() == B::MIN && self.high() == B::MAX
    }

    /// Returns the next leaf to the right, if there is one.
    #[inline(always)]
    pub fn link(self) -> NodeRef {
        link(self.node)
    }

    /// Returns the number of entries.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.shape().total()
    }

    #[inline(always)]
    pub(super) fn shape(self) -> Shape<B> {
        Shape::of(self.node)
    }

    /// Returns the maker of hints for this leaf, which has that shape.
    #[inline(always)]
    pub(super) fn maker(self, shape: Shape<B>) -> Maker<B> {
        Maker::of(self.node, shape, self.low().to_u64())
    }

    /// Returns the hint of block `at`, which isn't the first.
    #[inline(always)]
    pub(super) fn block_hint(self, shape: Shape<B>, at: usize) -> u16 {
        hints::block_hint(self.node, at) | shape.place_bits()
    }

    /// Returns the block that has `key`, if any does and its hint isn't tied with another's.
    #[inline(always)]
    pub fn named_block<S: Lines>(self, key: B) -> usize {
        self.named::<S>(self.shape(), key)
    }

    /// Returns the block that the hints name for `key`, and prefetches it and those that are tied with it.
    #[inline(always)]
    pub fn ask_for_named<S: Lines>(self, key: B) -> usize {
        let shape = self.shape();
        let hint = self.maker(shape).hint::<S>(key);
        let at = named_block::<S>(self.node, hint);
        prefetch_read_later(self.block_address(at));
        if shape.is_tied() {
            self.ask_for_tied(shape, at, hint);
        }
        at
    }

    /// Prefetches the blocks before block `at` that have the same hint.
    #[inline(never)]
    fn ask_for_tied(self, shape: Shape<B>, at: usize, hint: u16) {
        if at > 0 && self.block_hint(shape, at) == hint {
            prefetch_tied::<Scalar>(self.node, at, hint & !shape.place_bits());
        }
    }

    /// Returns the block that the hints name for `key`, on a tie the rightmost one.
    #[inline(always)]
    fn named<S: Lines>(self, shape: Shape<B>, key: B) -> usize {
        named_block::<S>(self.node, self.maker(shape).hint::<S>(key))
    }

    /// Returns the address of a block, for a prefetch.
    #[inline(always)]
    pub fn block_address(self, at: usize) -> *const u8 {
        core::ptr::from_ref(block(self.node, at)).cast()
    }

    /// Returns the first of three lines that probably contain a key in this sixteenth of the leaf's range:
    /// nine times in ten for random keys.
    #[inline(always)]
    pub fn first_likely_line(sixteenth: usize) -> usize {
        sixteenth.min(LINES - 3)
    }

    #[inline(always)]
    pub(super) fn line(self, at: usize) -> &'a Line {
        block(self.node, at)
    }

    #[inline(always)]
    pub(super) fn key(self, place: Place) -> B {
        lane(self.line(place.block), place.at)
    }

    /// Returns the value at a place.
    #[inline(always)]
    pub fn value(self, place: Place) -> B {
        lane(self.line(place.block), Self::WIDTH + place.at)
    }

    #[inline(always)]
    pub(super) fn entry_at(self, place: Place) -> (B, B) {
        (self.key(place), self.value(place))
    }

    /// Returns the value of `key`.
    #[inline(always)]
    pub fn get<S: Lines>(self, key: B) -> Option<B> {
        self.find::<S>(key).map(|place| self.value(place))
    }

    /// Returns the value of `key`, and whether that is conclusive: `key` lies between the fences, and no tie
    /// hides it. Each word of the header is read once, and there are no calls.
    #[inline(always)]
    pub fn get_at_once<S: Lines>(self, key: B) -> (Option<B>, bool) {
        let (shape, low) = (self.shape(), self.low());
        // Both fences are compared, so that nothing is mispredicted.
        let inside = (low <= key) & (key <= self.high());
        let hint = Maker::of(self.node, shape, low.to_u64()).hint::<S>(key);
        let at = named_block::<S>(self.node, hint);
        let (line, found) = (self.line(at), self.found_in::<S>(shape, at, key));
        if found == 0 {
            return (None, inside & !shape.is_tied());
        }
        (Some(lane(line, Self::WIDTH + found.trailing_zeros() as usize)), inside)
    }

    /// Returns the value of `key`, for which the hints named block `at`.
    #[inline(always)]
    pub fn get_in<S: Lines>(self, at: usize, key: B) -> Option<B> {
        self.find_in::<S>(self.shape(), at, key).map(|place| self.value(place))
    }

    /// Returns the place of `key`.
    #[inline(always)]
    pub fn find<S: Lines>(self, key: B) -> Option<Place> {
        let shape = self.shape();
        self.find_in::<S>(shape, self.named::<S>(shape, key), key)
    }

    #[inline(always)]
    fn find_in<S: Lines>(self, shape: Shape<B>, at: usize, key: B) -> Option<Place> {
        let found = self.find_named::<S>(shape, at, key);
        if found.is_none() & shape.is_tied() { self.find_tied(shape, at, key) } else { found }
    }

    /// Finds a key that isn't in block `at`, which the hints named, where hints may be tied. See
    /// [`Leaf::find`].
    #[cold]
    #[inline(never)]
    fn find_tied(self, shape: Shape<B>, at: usize, key: B) -> Option<Place> {
        self.find_named::<Scalar>(shape, self.settle(shape, at, key), key)
    }

    /// Returns one bit for each place of block `at`: whether it is in use and has `key`.
    #[inline(always)]
    fn found_in<S: Lines>(self, shape: Shape<B>, at: usize, key: B) -> u32 {
        S::keys_equal(self.line(at), key) & ((1 << shape.count(at)) - 1)
    }

    /// Returns the place of `key` in block `at`.
    #[inline(always)]
    pub(super) fn find_named<S: Lines>(self, shape: Shape<B>, at: usize, key: B) -> Option<Place> {
        let found = self.found_in::<S>(shape, at, key);
        (found != 0).then(|| Place { block: at, at: found.trailing_zeros() as usize })
    }

    /// Returns the block that `key` belongs to by the keys that are present: the last one that begins with
    /// it or before it, or else the first. `at` is the block that the hints named.
    pub(super) fn settle(self, shape: Shape<B>, mut at: usize, key: B) -> usize {
        let is_empty = |at: usize| shape.count(at) == 0;
        while at > 0 && (is_empty(at) || self.first_of(at) > key) {
            at -= 1;
        }
        // A key that isn't the greatest of its block isn't in a later one.
        if !shape.has_one_field() && self.last_of(shape, at).is_none_or(|last| last < key) {
            for next in at + 1..Self::BLOCKS {
                if !is_empty(next) && self.first_of(next) > key {
                    break;
                }
                at = if is_empty(next) { at } else { next };
            }
        }
        at
    }

    /// Returns the smallest key of a block that isn't empty.
    pub(super) fn first_of(self, block: usize) -> B {
        self.key(Place { block, at: 0 })
    }

    /// Returns the greatest key of a block.
    pub(super) fn last_of(self, shape: Shape<B>, block: usize) -> Option<B> {
        Some(self.key(Place { block, at: self.count(shape, block).checked_sub(1)? }))
    }

    /// Returns the block that `key` belongs to, even if the leaf doesn't contain it: see [`Leaf::settle`].
    #[inline(always)]
    fn block_for<S: Lines>(self, shape: Shape<B>, key: B) -> usize {
        let at = self.named::<S>(shape, key.max(self.low()));
        if shape.is_plain() { at } else { self.settle(shape, at, key) }
    }

    /// Returns the first block that may contain keys at or after `key`.
    #[inline(always)]
    pub fn first_block<S: Lines>(self, key: B) -> usize {
        self.block_for::<S>(self.shape(), key)
    }

    /// Returns the last block that may contain keys up to `key`.
    #[inline(always)]
    pub fn last_block<S: Lines>(self, key: B) -> usize {
        self.block_for::<S>(self.shape(), key).min(Self::BLOCKS - 1)
    }

    /// Returns the places of a block that are in use.
    pub(super) fn places(self, shape: Shape<B>, block: usize) -> impl DoubleEndedIterator<Item = Place> {
        (0..self.count(shape, block)).map(move |at| Place { block, at })
    }

    /// Returns the places in use of block `first` and of all after it.
    pub(super) fn places_from(self, shape: Shape<B>, first: usize) -> impl Iterator<Item = Place> {
        (first..Self::BLOCKS).flat_map(move |block| self.places(shape, block))
    }

    /// Returns the number of entries of a block, bounded even if the shape is torn.
    fn count(self, shape: Shape<B>, at: usize) -> usize {
        shape.count(at).min(Self::PER_BLOCK)
    }

    /// Returns the first violated invariant, if there is one. The leaf must be at rest.
    pub fn fault(self) -> Option<String> {
        let (shape, mut before) = (self.shape(), None);
        let maker = self.maker(shape);
        let hint = |key: B| maker.hint::<Scalar>(key);
        for at in 0..Self::BLOCKS {
            let own = if at == 0 { 0 } else { self.block_hint(shape, at) };
            if shape.count(at) > Self::PER_BLOCK {
                return Some(format!("block {at} has {} entries", shape.count(at)));
            }
            if before.is_some_and(|key: B| hint(key) > own) {
                return Some(format!("block {at} has a smaller hint than the key before it"));
            }
            if !shape.is_tied() && before.is_some_and(|key: B| hint(key) == own) {
                return Some(format!("block {at} is tied, and the shape doesn't say so"));
            }
            for place in self.places(shape, at) {
                let key = self.key(place);
                if before.is_some_and(|before| before >= key) {
                    return Some(format!("key {key:?} stands behind {before:?}"));
                }
                if key < self.low() || key > self.high() {
                    return Some(format!("key {key:?} lies outside of the fences"));
                }
                if before.is_some_and(|before| hint(before) > hint(key)) {
                    return Some(format!("the hint of key {key:?} is out of order"));
                }
                if hint(key) < own {
                    return Some(format!("key {key:?} has a smaller hint than its block {at}"));
                }
                before = Some(key);
            }
        }
        None
    }
}
