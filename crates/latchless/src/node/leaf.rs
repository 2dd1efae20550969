//! Leaves: blocks that hold keys and, in the same line, their values.

use super::hints::{HINT_MAX, Shape, block, block_hint, first_tied, is_tied, named_block, prefetch_tied};
use super::*;
use crate::node::lines::keys_in_line;

/// A leaf. See the [module's head](super) for where things stand.
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

/// Where a key stands in a leaf, or where it belongs.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    pub(super) shape: Shape,
    /// The block that it would go into.
    pub(super) block: usize,
    /// Whether hints don't reach as far as the key.
    pub(super) far: bool,
    /// Where it stands, if it does.
    pub place: Option<Place>,
}

impl<'a, B: Bits> Leaf<'a, B> {
    /// Blocks in a leaf.
    pub const BLOCKS: usize = or_few(LINES - 1);
    /// Entries that a block's line has room for.
    pub(super) const WIDTH: usize = keys_in_line::<B>();
    /// Entries in a block.
    pub const PER_BLOCK: usize = or_few(Self::WIDTH);
    /// Entries in a leaf: 60 of 64-bit lanes, 120 of 32-bit ones.
    pub const CAPACITY: usize = Self::BLOCKS * Self::PER_BLOCK;

    /// The leaf that these lines are.
    #[inline(always)]
    pub fn new(node: &'a NodeLines) -> Self {
        Self { node, lanes: core::marker::PhantomData }
    }

    /// The smallest key that may stand here.
    #[inline(always)]
    pub fn low(self) -> B {
        B::truncate(header(self.node)[LOW].load_relaxed())
    }

    /// The largest key that may stand here.
    #[inline(always)]
    pub fn high(self) -> B {
        B::truncate(header(self.node)[HIGH].load_relaxed())
    }

    /// Whether `key` lies between the fences.
    #[inline(always)]
    pub fn covers(self, key: B) -> bool {
        // Both are looked at, so that nothing is mispredicted.
        (self.low() <= key) & (key <= self.high())
    }

    /// The next leaf to the right, if there is one.
    #[inline(always)]
    pub fn link(self) -> NodeRef {
        link(self.node)
    }

    /// How many entries there are.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.shape().total()
    }

    /// Whether there are no entries.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    pub(super) fn shape(self) -> Shape {
        Shape::of(self.node)
    }

    #[inline(always)]
    pub(super) fn set_shape(self, shape: Shape) {
        header(self.node)[SHAPE].store_relaxed(shape.0);
    }

    #[inline(always)]
    pub(super) fn hint(self, shape: Shape, key: B) -> u16 {
        shape.hint(key.to_u64(), self.low().to_u64())
    }

    /// The block that holds `key`, if any does and its hint isn't tied with another's.
    #[inline(always)]
    pub fn named_block<S: Lines>(self, key: B) -> usize {
        self.named::<S>(self.shape(), key).0
    }

    /// The block that the hints name for `key`, on a tie the rightmost one; and the key's hint.
    #[inline(always)]
    pub(super) fn named<S: Lines>(self, shape: Shape, key: B) -> (usize, u16) {
        named_block::<S, B>(self.node, shape, key)
    }

    /// Where a block begins: an address to prefetch.
    #[inline(always)]
    pub fn block_address(self, at: usize) -> *const u8 {
        core::ptr::from_ref(block(self.node, at)).cast()
    }

    /// The lines of which a key in this sixteenth of the leaf's range is likely to be in one: nine
    /// times in ten, with keys spread at random.
    #[inline(always)]
    pub fn likely_lines(sixteenth: usize) -> [usize; 3] {
        let first = sixteenth.min(LINES - 3);
        [first, first + 1, first + 2]
    }

    #[inline(always)]
    pub(super) fn line(self, at: usize) -> &'a Line {
        block(self.node, at)
    }

    #[inline(always)]
    pub(super) fn key(self, place: Place) -> B {
        lane(self.line(place.block), place.at)
    }

    /// The value at a place.
    #[inline(always)]
    pub fn value(self, place: Place) -> B {
        lane(self.line(place.block), Self::WIDTH + place.at)
    }

    /// Sets the value at a place. For the holder of the latch.
    #[inline(always)]
    pub fn set_value(self, place: Place, value: B) {
        assert_held(self.node);
        set_lane(self.line(place.block), Self::WIDTH + place.at, value);
    }

    #[inline(always)]
    pub(super) fn entry_at(self, place: Place) -> (B, B) {
        (self.key(place), self.value(place))
    }

    #[inline(always)]
    pub(super) fn put_at(self, place: Place, (key, value): (B, B)) {
        let line = self.line(place.block);
        set_lane(line, place.at, key);
        set_lane(line, Self::WIDTH + place.at, value);
    }

    /// The value under `key`.
    #[inline(always)]
    pub fn get<S: Lines>(self, key: B) -> Option<B> {
        self.get_in::<S>(self.named_and_prefetched::<S>(key), key)
    }

    /// The value under `key`, for which the hints named block `at`.
    #[inline(always)]
    pub fn get_in<S: Lines>(self, at: usize, key: B) -> Option<B> {
        self.find_in::<S>(at, key).map(|place| self.value(place))
    }

    /// Where `key` is.
    #[inline(always)]
    pub fn find<S: Lines>(self, key: B) -> Option<Place> {
        self.find_in::<S>(self.named_and_prefetched::<S>(key), key)
    }

    /// As [`Leaf::named_block`]; if hints are tied, the other blocks are prefetched.
    #[inline(always)]
    pub fn named_and_prefetched<S: Lines>(self, key: B) -> usize {
        let (at, hint) = self.named::<S>(self.shape(), key);
        if is_tied(self.node, at, hint) {
            prefetch_tied::<S>(self.node, at, hint);
        }
        at
    }

    #[inline(always)]
    fn find_in<S: Lines>(self, at: usize, key: B) -> Option<Place> {
        let shape = self.shape();
        if let Some(found) = self.find_named::<S>(shape, at, key) {
            return Some(found);
        }
        // A hint that isn't tied is the common end of a search in vain.
        let hint = self.hint(shape, key);
        if !is_tied(self.node, at, hint) {
            return None;
        }
        self.find_named::<S>(shape, self.untie::<S>(shape, (at, hint), key), key)
    }

    /// Where `key` stands in block `at`.
    #[inline(always)]
    fn find_named<S: Lines>(self, shape: Shape, at: usize, key: B) -> Option<Place> {
        let found = S::keys_equal(self.line(at), key) & ((1 << shape.count(at)) - 1);
        (found != 0).then(|| Place { block: at, at: found.trailing_zeros() as usize })
    }

    /// The block that `key` belongs to, of those up to block `at` that have the same hint: the last one
    /// that begins with it or before it.
    #[inline(always)]
    fn untie<S: Lines>(self, shape: Shape, (mut at, hint): (usize, u16), key: B) -> usize {
        let first = first_tied::<S>(self.node, hint);
        while at > first && (shape.count(at) == 0 || self.key(Place { block: at, at: 0 }) > key) {
            at -= 1;
        }
        at
    }

    /// Where `key` stands, or where it belongs. For the holder of the latch.
    #[inline(always)]
    pub fn seek<S: Lines>(self, key: B) -> Seen {
        let shape = self.shape();
        let distance = shape.distance(key.to_u64(), self.low().to_u64());
        let hint = distance.min(HINT_MAX) as u16;
        let at = S::hints_up_to(header(self.node), hint) & 15;
        let found = self.find_named::<S>(shape, at, key);
        let seen = Seen { shape, block: at, far: distance > HINT_MAX, place: found };
        if found.is_some() || !is_tied(self.node, at, hint) {
            return seen;
        }
        let block = self.untie::<S>(shape, (at, hint), key);
        Seen { block, place: self.find_named::<S>(shape, block, key), ..seen }
    }

    /// The first block that may hold keys at `key` or behind it.
    #[inline(always)]
    pub fn first_block<S: Lines>(self, key: B) -> usize {
        let (mut at, hint) = self.named::<S>(self.shape(), key);
        while at > 0 && block_hint(self.node, at) == hint {
            at -= 1;
        }
        at
    }

    /// The first entry at `key` or behind it.
    #[inline(always)]
    pub fn first_from<S: Lines>(self, key: B) -> Option<(B, B)> {
        let (first, shape) = (self.first_block::<S>(key), self.shape());
        (first..Self::BLOCKS).find_map(|at| self.first_between::<S>(shape, at, (key, B::MAX)))
    }

    /// The last entry at `key` or before it.
    #[inline(always)]
    pub fn last_up_to<S: Lines>(self, key: B) -> Option<(B, B)> {
        let shape = self.shape();
        // Blocks behind the one that the hints name have keys behind `key` only.
        (0..=self.named::<S>(shape, key).0).rev().find_map(|at| self.last_up_to_in::<S>(at, key))
    }

    /// As [`Leaf::first_from`], if that entry is in block `at`, which the hints named for `key`.
    #[inline(always)]
    pub fn first_from_in<S: Lines>(self, at: usize, key: B) -> Option<(B, B)> {
        let shape = self.shape();
        let found = self.first_between::<S>(shape, at, (key, B::MAX))?;
        // Of tied blocks the one before may have an entry at `key` or behind it, too.
        let first = found.0 == self.key(Place { block: at, at: 0 });
        (!first || !is_tied(self.node, at, self.hint(shape, key))).then_some(found)
    }

    /// As [`Leaf::last_up_to`], if that entry is in block `at`, which the hints named for `key`.
    #[inline(always)]
    pub fn last_up_to_in<S: Lines>(self, at: usize, key: B) -> Option<(B, B)> {
        let found = self.between::<S>(self.shape(), at, (B::MIN, key));
        (found != 0).then(|| self.entry_at(Place { block: at, at: found.ilog2() as usize }))
    }

    #[inline(always)]
    fn first_between<S: Lines>(self, shape: Shape, at: usize, range: (B, B)) -> Option<(B, B)> {
        let found = self.between::<S>(shape, at, range);
        (found != 0).then(|| self.entry_at(Place { block: at, at: found.trailing_zeros() as usize }))
    }

    /// One bit for each entry of block `at`: whether its key lies in the range.
    #[inline(always)]
    fn between<S: Lines>(self, shape: Shape, at: usize, (low, high): (B, B)) -> u32 {
        S::keys_between(self.line(at), low, high) & ((1 << shape.count(at)) - 1)
    }

    /// The places of a block that are in use.
    fn places(self, shape: Shape, block: usize) -> impl DoubleEndedIterator<Item = Place> {
        (0..self.count(shape, block)).map(move |at| Place { block, at })
    }

    /// How many entries a block has, whatever a torn shape says.
    fn count(self, shape: Shape, at: usize) -> usize {
        shape.count(at).min(Self::PER_BLOCK)
    }

    /// Copies all entries.
    #[inline(always)]
    pub fn copy_out<S: Lines>(self, into: &mut Entries<B>) {
        self.copy_out_from::<S>(0, into);
    }

    /// Copies the entries of block `first` and of all behind it.
    #[inline(always)]
    pub fn copy_out_from<S: Lines>(self, first: usize, into: &mut Entries<B>) {
        into.len = 0;
        self.append_to::<S, PLACES_MAX>(first, into);
    }

    /// Adds the entries of block `first` and of all behind it to others.
    #[inline(always)]
    pub(super) fn append_to<S: Lines, const N: usize>(self, first: usize, to: &mut Entries<B, N>) {
        let (shape, mut len) = (self.shape(), to.len);
        for at in first..Self::BLOCKS {
            S::copy_half(self.line(at), 0, &mut to.keys[len..]);
            S::copy_half(self.line(at), 4, &mut to.values[len..]);
            // Whatever a torn shape says, the next block finds room.
            len = (len + shape.count(at)).min(N - Self::WIDTH);
        }
        to.len = len;
    }

    /// Adds up the values of the entries in `low..=high`, modulo 2^64, but of no more than `most`
    /// entries. Says how many there were, and the sum.
    #[inline(always)]
    pub fn sum<S: Lines>(self, low: B, high: B, most: usize) -> (usize, u64) {
        let (shape, mut sums) = (self.shape(), S::no_sums());
        if !((low <= self.low()) & (self.high() <= high) & (most >= Self::CAPACITY)) {
            return self.sum_some::<S>(shape, (low, high), most);
        }
        for at in 0..Self::BLOCKS {
            sums = S::add_values::<B>(self.line(at), (1 << shape.count(at)) - 1, sums);
        }
        (shape.total(), S::total(sums))
    }

    #[inline(always)]
    fn sum_some<S: Lines>(self, shape: Shape, (low, high): (B, B), most: usize) -> (usize, u64) {
        let (mut left, mut sums) = (most, S::no_sums());
        let last = self.named::<S>(shape, high).0.min(Self::BLOCKS - 1);
        for at in self.first_block::<S>(low)..=last {
            let line = self.line(at);
            let taken = S::keys_between(line, low, high) & ((1 << shape.count(at)) - 1);
            // Those of a block stand side by side: the first so many of them.
            let end = (taken.trailing_zeros() as usize + left.min(Self::PER_BLOCK)).min(31);
            let taken = taken & ((1 << end) - 1);
            sums = S::add_values::<B>(line, taken, sums);
            left -= taken.count_ones() as usize;
            if left == 0 {
                break;
            }
        }
        (most - left, S::total(sums))
    }

    /// What is wrong with the leaf, if anything is. Wants it at rest.
    pub fn fault(self) -> Option<String> {
        let (shape, mut before) = (self.shape(), None);
        for at in 0..Self::BLOCKS {
            let own = if at == 0 { 0 } else { block_hint(self.node, at) };
            if shape.count(at) > Self::PER_BLOCK {
                return Some(format!("block {at} has {} entries", shape.count(at)));
            }
            if before.is_some_and(|key: B| self.hint(shape, key) > own) {
                return Some(format!("block {at} has a smaller hint than the key before it"));
            }
            for place in self.places(shape, at) {
                let key = self.key(place);
                if before.is_some_and(|before| before >= key) {
                    return Some(format!("key {key:?} stands behind {before:?}"));
                }
                if key < self.low() || key > self.high() {
                    return Some(format!("key {key:?} lies outside of the fences"));
                }
                if self.hint(shape, key) < own {
                    return Some(format!("key {key:?} has a smaller hint than its block {at}"));
                }
                before = Some(key);
            }
        }
        None
    }
}
