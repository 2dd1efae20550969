//! Leaves: blocks of keys in one line and their values in another.

use super::*;
use crate::mem::line::LINE_BYTES;
use crate::search::keys_in_line;

/// The largest hint of a key in a leaf.
pub(super) const HINT_MAX: u64 = 0xFFFF_FFFE;
/// The hint of blocks that no key may be looked for in.
pub(super) const NO_BLOCK: u32 = 0xFFFF_FFFF;

/// A leaf's shape: how many places of each block are taken, five bits a block, and from bit 56 on
/// how far hints are shifted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts(pub(super) u64);

impl Counts {
    const BITS: usize = 5;

    /// Nothing in any block yet, and hints that tell keys up to `span` behind the low fence apart.
    pub(super) fn for_span(span: u64) -> Self {
        let shift = (u64::BITS - span.leading_zeros()).saturating_sub(u32::BITS);
        Self(u64::from(shift + u32::from(span >> shift > HINT_MAX)) << 56)
    }

    #[inline(always)]
    pub(super) fn count(self, block: usize) -> usize {
        (self.0 >> (Self::BITS * block)) as usize & 31
    }

    pub(super) fn set_count(&mut self, block: usize, count: usize) {
        self.0 = self.0 & !(31 << (Self::BITS * block)) | (count as u64) << (Self::BITS * block);
    }

    /// The same with one more place of a block taken.
    #[inline(always)]
    pub(super) fn with_one_more(self, block: usize) -> Self {
        Self(self.0 + (1 << (Self::BITS * block)))
    }

    /// Places taken in all blocks.
    #[inline(always)]
    pub(super) fn total(self) -> usize {
        const EVEN: u64 = 31 | 31 << 10 | 31 << 20 | 31 << 30;
        let pairs = (self.0 & EVEN) + ((self.0 >> Self::BITS) & EVEN);
        let halves = pairs + (pairs >> 20);
        ((halves + (halves >> 10)) & 0x3FF) as usize
    }

    /// How far behind the low fence a key stands, in hints, unbounded.
    #[inline(always)]
    pub(super) fn distance(self, key: u64, low: u64) -> u64 {
        key.saturating_sub(low) >> ((self.0 >> 56) & 63)
    }
}

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

impl<'a, B: Bits> Leaf<'a, B> {
    /// Blocks in a leaf.
    pub(super) const BLOCKS: usize = 8;
    /// Entries in each block but the last, which has half as many.
    pub(super) const PER_BLOCK: usize = keys_in_line::<B>();
    /// Entries in a leaf: 60 of 64-bit lanes, 120 of 32-bit ones.
    pub const CAPACITY: usize = Self::PER_BLOCK * 15 / 2;
    /// The line of the first keys.
    pub(super) const KEYS: usize = 1;
    /// The line of the first values. The one before it holds the last block, keys and values.
    pub(super) const VALUES: usize = 9;

    /// Where the lines with values begin and how long they are, in bytes.
    pub const VALUES_AT: (usize, usize) =
        ((Self::VALUES - 1) * LINE_BYTES, (LINES + 1 - Self::VALUES) * LINE_BYTES);

    /// The leaf that these lines are.
    #[inline(always)]
    pub fn new(node: &'a NodeLines) -> Self {
        Self { node, lanes: core::marker::PhantomData }
    }

    /// The smallest key that may stand here.
    #[inline(always)]
    pub fn low(self) -> B {
        B::truncate(self.node[0][LOW].peek())
    }

    /// The largest key that may stand here.
    #[inline(always)]
    pub fn high(self) -> B {
        B::truncate(self.node[0][HIGH].peek())
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
    pub(super) fn shape(self) -> Counts {
        Counts(self.node[0][SHAPE].peek())
    }

    #[inline(always)]
    pub(super) fn set_shape(self, shape: Counts) {
        self.node[0][SHAPE].poke(shape.0);
    }

    #[inline(always)]
    pub(super) fn hint(self, shape: Counts, key: B) -> u32 {
        shape.distance(key.to_u64(), self.low().to_u64()).min(HINT_MAX) as u32
    }

    /// The hint of a block that isn't the first.
    #[inline(always)]
    pub(super) fn block_hint(self, at: usize) -> u32 {
        (self.node[0][LINK + at / 2].peek() >> (at % 2 * 32)) as u32
    }

    pub(super) fn set_block_hint(self, at: usize, hint: u32) {
        let (word, shift) = (&self.node[0][LINK + at / 2], at % 2 * 32);
        word.poke(word.peek() & !(0xFFFF_FFFF << shift) | u64::from(hint) << shift);
    }

    /// The block that holds `key`, if any does and its hint isn't tied with another's.
    #[inline(always)]
    pub fn named_block<S: Lines>(self, key: B) -> usize {
        self.named::<S>(self.shape(), key).0
    }

    /// The block that the hints name for `key`, on a tie the rightmost one; and the key's hint.
    #[inline(always)]
    pub(super) fn named<S: Lines>(self, shape: Counts, key: B) -> (usize, u32) {
        let hint = self.hint(shape, key);
        // Seven hints, so at most seven: the mask only tells the compiler.
        (S::wide_hints_up_to(&self.node[0], hint) & 7, hint)
    }

    /// Where the keys and the values of a block begin: addresses to prefetch.
    #[inline(always)]
    pub fn block_addresses(self, at: usize) -> [*const u8; 2] {
        let values = if at == Self::BLOCKS - 1 { Self::KEYS + at } else { Self::VALUES + at };
        [self.key_line(at), &self.node[values % LINES]].map(|line| core::ptr::from_ref(line).cast())
    }

    /// How far from a leaf's beginning those of the block lie that a key in this sixteenth of the
    /// leaf's range is likely to be in.
    #[inline(always)]
    pub fn likely_offsets(sixteenth: usize) -> [usize; 2] {
        let at = sixteenth / 2;
        [Self::KEYS + at, Self::VALUES - 1 + (at + 1) % Self::BLOCKS].map(|line| line * LINE_BYTES)
    }

    #[inline(always)]
    pub(super) fn key_line(self, at: usize) -> &'a Line {
        &self.node[(Self::KEYS + at) % LINES]
    }

    #[inline(always)]
    pub(super) fn key(self, place: Place) -> B {
        lane(self.key_line(place.block), place.at)
    }

    /// The line and the lane of a value.
    #[inline(always)]
    fn value_lane(place: Place) -> (usize, usize) {
        // The last block's values follow its keys in the same line.
        let last = place.block / (Self::BLOCKS - 1);
        ((Self::VALUES + place.block - last * 8) % LINES, place.at + last * Self::PER_BLOCK / 2)
    }

    /// The value at a place.
    #[inline(always)]
    pub fn value(self, place: Place) -> B {
        let (line, at) = Self::value_lane(place);
        lane(&self.node[line], at)
    }

    /// Sets the value at a place. For the holder of the latch.
    #[inline(always)]
    pub fn set_value(self, place: Place, value: B) {
        let (line, at) = Self::value_lane(place);
        set_lane(&self.node[line], at, value);
    }

    #[inline(always)]
    pub(super) fn entry_at(self, place: Place) -> (B, B) {
        (self.key(place), self.value(place))
    }

    #[inline(always)]
    pub(super) fn put_at(self, place: Place, (key, value): (B, B)) {
        set_lane(self.key_line(place.block), place.at, key);
        self.set_value(place, value);
    }

    /// The value under `key`.
    #[inline(always)]
    pub fn get<S: Lines>(self, key: B) -> Option<B> {
        self.get_in::<S>(self.named_block::<S>(key), key)
    }

    /// The value under `key`, for which the hints named block `at`.
    #[inline(always)]
    pub fn get_in<S: Lines>(self, at: usize, key: B) -> Option<B> {
        self.find_in::<S>(at, key).map(|place| self.value(place))
    }

    /// Where `key` stands.
    #[inline(always)]
    pub fn find<S: Lines>(self, key: B) -> Option<Place> {
        self.find_in::<S>(self.named_block::<S>(key), key)
    }

    #[inline(always)]
    fn find_in<S: Lines>(self, at: usize, key: B) -> Option<Place> {
        let shape = self.shape();
        let found = S::keys_equal(self.key_line(at), key) & ((1 << shape.count(at)) - 1);
        if found != 0 {
            return Some(Place { block: at, at: found.trailing_zeros() as usize });
        }
        // A hint that isn't tied is the common end of a search in vain.
        let hint = self.hint(shape, key);
        if at == 0 || self.block_hint(at) != hint { None } else { self.find_tied(shape, hint, at, key) }
    }

    /// Looks for `key` to the left of block `at`, as far as hints are tied.
    #[cold]
    #[inline(never)]
    fn find_tied(self, shape: Counts, hint: u32, mut at: usize, key: B) -> Option<Place> {
        while at > 0 && self.block_hint(at) == hint {
            at -= 1;
            let mut places = (0..self.count(shape, at)).map(|place| Place { block: at, at: place });
            if let Some(found) = places.find(|&place| self.key(place) == key) {
                return Some(found);
            }
        }
        None
    }

    /// The first entry at `key` or behind it.
    pub fn first_from<S: Lines>(self, key: B) -> Option<(B, B)> {
        let shape = self.shape();
        let (mut at, hint) = self.named::<S>(shape, key);
        while at > 0 && self.block_hint(at) == hint {
            at -= 1;
        }
        let places = (at..Self::BLOCKS).flat_map(|block| self.places(shape, block));
        places
            .map(|place| (self.key(place), place))
            .find(|&(other, _)| other >= key)
            .map(|(_, found)| self.entry_at(found))
    }

    /// The last entry at `key` or before it.
    pub fn last_up_to<S: Lines>(self, key: B) -> Option<(B, B)> {
        let shape = self.shape();
        let (at, _) = self.named::<S>(shape, key);
        let places = (0..=at).rev().flat_map(|block| self.places(shape, block).rev());
        places
            .map(|place| (self.key(place), place))
            .find(|&(other, _)| other <= key)
            .map(|(_, found)| self.entry_at(found))
    }

    /// The places of a block that are in use.
    fn places(self, shape: Counts, block: usize) -> impl DoubleEndedIterator<Item = Place> {
        (0..self.count(shape, block)).map(move |at| Place { block, at })
    }

    /// How many entries a block has, whatever a torn shape says.
    fn count(self, shape: Counts, at: usize) -> usize {
        shape.count(at).min(Self::room(at))
    }

    /// How many entries a block can have.
    #[inline(always)]
    pub(super) fn room(at: usize) -> usize {
        if at == Self::BLOCKS - 1 { Self::PER_BLOCK / 2 } else { Self::PER_BLOCK }
    }

    /// Copies all entries.
    #[inline(always)]
    pub fn copy_out<S: Lines>(self, into: &mut Entries<B>) {
        let shape = self.shape();
        let mut len = 0;
        for at in 0..Self::BLOCKS - 1 {
            S::copy_line(self.key_line(at), &mut into.keys[len..]);
            S::copy_line(&self.node[Self::VALUES + at], &mut into.values[len..]);
            // Whatever a torn shape says, the next block finds room.
            len = (len + shape.count(at)).min(PLACES_MAX - 16);
        }
        let last = Self::BLOCKS - 1;
        S::copy_half(self.key_line(last), 0, &mut into.keys[len..]);
        S::copy_half(self.key_line(last), 4, &mut into.values[len..]);
        into.len = (len + shape.count(last)).min(PLACES_MAX - 16);
    }

    /// Copies all values, and leaves nothing of use where keys are.
    #[inline(always)]
    pub fn copy_values_out<S: Lines>(self, into: &mut Entries<B>) {
        let shape = self.shape();
        let mut len = 0;
        for at in 0..Self::BLOCKS - 1 {
            S::copy_line(&self.node[Self::VALUES + at], &mut into.values[len..]);
            len = (len + shape.count(at)).min(PLACES_MAX - 16);
        }
        let last = Self::BLOCKS - 1;
        S::copy_half(self.key_line(last), 4, &mut into.values[len..]);
        into.len = (len + shape.count(last)).min(PLACES_MAX - 16);
    }

    /// What is wrong with the leaf, if anything is. Wants it at rest.
    pub fn fault(self) -> Option<String> {
        let (shape, mut before) = (self.shape(), None);
        for at in 0..Self::BLOCKS {
            let own = if at == 0 { 0 } else { self.block_hint(at) };
            if shape.count(at) > Self::room(at) {
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
