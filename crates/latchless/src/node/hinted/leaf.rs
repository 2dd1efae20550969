//! Leaves: blocks that hold keys and, in the same line, their values.

use super::*;
use crate::search::keys_in_line;

/// A leaf. See the [module's head](super) for where things stand.
#[derive(Debug, Clone, Copy)]
pub struct Leaf<'a, B> {
    node: &'a NodeLines,
    lanes: core::marker::PhantomData<B>,
}

/// A place in a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    block: usize,
    at: usize,
}

/// The entries of a leaf, copied out of it.
#[derive(Debug, Clone)]
pub struct Entries<B> {
    len: usize,
    keys: [B; PLACES_MAX],
    values: [B; PLACES_MAX],
}

impl<B: Bits> Default for Entries<B> {
    fn default() -> Self {
        Self { len: 0, keys: [B::MIN; PLACES_MAX], values: [B::MIN; PLACES_MAX] }
    }
}

impl<B: Bits> Entries<B> {
    /// The keys, ascending.
    #[inline(always)]
    pub fn keys(&self) -> &[B] {
        &self.keys[..self.len]
    }

    /// The values, in the order of their keys.
    #[inline(always)]
    pub fn values(&self) -> &[B] {
        &self.values[..self.len]
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds an entry behind all others.
    ///
    /// # Panics
    /// When more than [`PLACES_MAX`] come together.
    pub fn push(&mut self, key: B, value: B) {
        (self.keys[self.len], self.values[self.len]) = (key, value);
        self.len += 1;
    }

    /// Puts an entry where it belongs, before the first greater key.
    pub fn insert(&mut self, key: B, value: B) {
        let at = self.keys().partition_point(|&other| other < key);
        self.keys.copy_within(at..self.len, at + 1);
        self.values.copy_within(at..self.len, at + 1);
        (self.keys[at], self.values[at]) = (key, value);
        self.len += 1;
    }

    /// Forgets what lies outside of `low..=high`.
    pub fn trim(&mut self, low: B, high: B) {
        let end = self.keys().partition_point(|&key| key <= high);
        let start = self.keys[..end].partition_point(|&key| key < low);
        if start > 0 {
            self.keys.copy_within(start..end, 0);
            self.values.copy_within(start..end, 0);
        }
        self.len = end - start;
    }
}

impl<'a, B: Bits> Leaf<'a, B> {
    /// Blocks in a leaf.
    const BLOCKS: usize = 15;
    /// Entries in a block.
    const PER_BLOCK: usize = keys_in_line::<B>();
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
        B::truncate(self.node[0][BASE].peek())
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
        Shape::of(self.node).total()
    }

    /// The block that holds `key`, if any does and its hint isn't tied with another's.
    #[inline(always)]
    pub fn named_block<S: Lines>(self, key: B) -> usize {
        named_block::<S, B>(self.node, Shape::of(self.node), key).0
    }

    /// Where a block begins: an address to prefetch.
    #[inline(always)]
    pub fn block_address(self, at: usize) -> *const u8 {
        core::ptr::from_ref(block(self.node, at)).cast()
    }

    /// The value under `key`.
    #[inline(always)]
    pub fn get<S: Lines>(self, key: B) -> Option<B> {
        self.get_in::<S>(self.named_block::<S>(key), key)
    }

    /// The value under `key`, for which the hints named block `at`.
    #[inline(always)]
    pub fn get_in<S: Lines>(self, at: usize, key: B) -> Option<B> {
        let found = self.lane_of::<S>(Shape::of(self.node), at, key);
        if found != 0 {
            return Some(self.value(Place { block: at, at: found.trailing_zeros() as usize }));
        }
        self.find_left(at, key).map(|place| self.value(place))
    }

    /// Where `key` stands.
    #[inline(always)]
    pub fn find<S: Lines>(self, key: B) -> Option<Place> {
        let (at, _) = named_block::<S, B>(self.node, Shape::of(self.node), key);
        let found = self.lane_of::<S>(Shape::of(self.node), at, key);
        if found != 0 {
            return Some(Place { block: at, at: found.trailing_zeros() as usize });
        }
        self.find_left(at, key)
    }

    /// One bit for each place of block `at` that is in use and holds `key`: one or none.
    #[inline(always)]
    fn lane_of<S: Lines>(self, shape: Shape, at: usize, key: B) -> u32 {
        S::keys_equal(block(self.node, at), key) & ((1 << shape.count(at)) - 1)
    }

    /// Looks for `key` to the left of block `at`, as far as hints are tied.
    #[inline(always)]
    fn find_left(self, at: usize, key: B) -> Option<Place> {
        let shape = Shape::of(self.node);
        let hint = shape.hint(key.to_u64(), self.low().to_u64());
        // A hint that isn't tied is the common end of a search in vain.
        if at == 0 || block_hint(self.node, at) != hint { None } else { self.find_tied(shape, hint, at, key) }
    }

    #[cold]
    #[inline(never)]
    fn find_tied(self, shape: Shape, hint: u16, mut at: usize, key: B) -> Option<Place> {
        while at > 0 && block_hint(self.node, at) == hint {
            at -= 1;
            let line = block(self.node, at);
            let count = shape.count(at).min(Self::PER_BLOCK);
            if let Some(found) = (0..count).find(|&place| lane::<B>(line, place) == key) {
                return Some(Place { block: at, at: found });
            }
        }
        None
    }

    /// The value at a place.
    #[inline(always)]
    pub fn value(self, place: Place) -> B {
        lane(block(self.node, place.block), Self::PER_BLOCK + place.at)
    }

    /// Sets the value at a place. For the holder of the latch.
    #[inline(always)]
    pub fn set_value(self, place: Place, value: B) {
        set_lane(block(self.node, place.block), Self::PER_BLOCK + place.at, value);
    }

    /// Takes out the entry at a place. For the holder of the latch.
    #[inline(always)]
    pub fn remove(self, place: Place) {
        let (mut shape, line) = (Shape::of(self.node), block(self.node, place.block));
        let count = shape.count(place.block).min(Self::PER_BLOCK);
        for at in place.at + 1..count {
            set_lane::<B>(line, at - 1, lane(line, at));
            set_lane::<B>(line, Self::PER_BLOCK + at - 1, lane(line, Self::PER_BLOCK + at));
        }
        shape.set_count(place.block, count - 1);
        self.set_shape(shape);
    }

    /// Takes out the entries of `low..=high` and says how many are left. For the holder of the latch.
    pub fn remove_range<S: Lines>(self, low: B, high: B) -> usize {
        let (mut entries, mut left) = (Entries::default(), Entries::default());
        self.copy_out::<S>(&mut entries);
        for (&key, &value) in entries.keys().iter().zip(entries.values()) {
            if key < low || key > high {
                left.push(key, value);
            }
        }
        if left.len < entries.len {
            self.fill(left.keys(), left.values(), false);
        }
        left.len
    }

    /// Puts in an entry whose key isn't here. For the holder of the latch. `false`: the leaf is full.
    #[inline(always)]
    pub fn insert<S: Lines>(self, key: B, value: B) -> bool {
        let shape = Shape::of(self.node);
        let far = shape.distance(key.to_u64(), self.low().to_u64()) > HINT_MAX;
        let at = self.block_for::<S>(shape, key);
        if shape.count(at) < Self::PER_BLOCK && !far {
            self.insert_in(shape, at, key, value);
            return true;
        }
        shape.total() < Self::CAPACITY && self.make_room::<S>(shape, at, far, key, value)
    }

    /// The block that a new key goes into.
    #[inline(always)]
    fn block_for<S: Lines>(self, shape: Shape, key: B) -> usize {
        let (mut at, hint) = named_block::<S, B>(self.node, shape, key);
        while at > 0 && block_hint(self.node, at) == hint && !self.holds_smaller(shape, at, key) {
            at -= 1;
        }
        at
    }

    fn holds_smaller(self, shape: Shape, at: usize, key: B) -> bool {
        shape.count(at) > 0 && lane::<B>(block(self.node, at), 0) < key
    }

    /// Puts an entry into a block that has room.
    #[inline(always)]
    fn insert_in(self, mut shape: Shape, at: usize, key: B, value: B) {
        let (line, count) = (block(self.node, at), shape.count(at));
        let mut place = count;
        while place > 0 {
            let other: B = lane(line, place - 1);
            if other < key {
                break;
            }
            set_lane(line, place, other);
            set_lane::<B>(line, Self::PER_BLOCK + place, lane(line, Self::PER_BLOCK + place - 1));
            place -= 1;
        }
        set_lane(line, place, key);
        set_lane(line, Self::PER_BLOCK + place, value);
        shape.set_count(at, count + 1);
        self.set_shape(shape);
    }

    /// Puts an entry into a leaf that has room, but not where the entry belongs.
    #[inline(never)]
    fn make_room<S: Lines>(self, shape: Shape, at: usize, far: bool, key: B, value: B) -> bool {
        let last: B = lane(block(self.node, at), Self::PER_BLOCK - 1);
        if !far && at + 1 < Self::BLOCKS && shape.count(at + 1) < Self::PER_BLOCK {
            // The greatest of them goes to the front of the next block.
            let moved = key.max(last);
            set_block_hint(self.node, at + 1, shape.hint(moved.to_u64(), self.low().to_u64()));
            if moved == key {
                self.insert_in(shape, at + 1, key, value);
            } else {
                let last = Place { block: at, at: Self::PER_BLOCK - 1 };
                self.insert_in(shape, at + 1, moved, self.value(last));
                self.remove(last);
                self.insert_in(Shape::of(self.node), at, key, value);
            }
            return true;
        }
        let mut entries = Entries::default();
        self.copy_out::<S>(&mut entries);
        entries.insert(key, value);
        // Appended keys are likely to be followed by more: these find the rest of the leaf free.
        let appended = entries.keys[entries.len - 1] == key;
        self.fill(entries.keys(), entries.values(), appended);
        true
    }

    /// The first entry at `key` or behind it.
    pub fn first_from<S: Lines>(self, key: B) -> Option<(B, B)> {
        let shape = Shape::of(self.node);
        let (mut at, hint) = named_block::<S, B>(self.node, shape, key);
        while at > 0 && block_hint(self.node, at) == hint {
            at -= 1;
        }
        let places = (at..Self::BLOCKS)
            .flat_map(|block| (0..self.count(shape, block)).map(move |at| Place { block, at }));
        places
            .map(|place| (self.key(place), place))
            .find(|&(other, _)| other >= key)
            .map(|found| self.entry(found))
    }

    /// The last entry at `key` or before it.
    pub fn last_up_to<S: Lines>(self, key: B) -> Option<(B, B)> {
        let shape = Shape::of(self.node);
        let (at, _) = named_block::<S, B>(self.node, shape, key);
        let places = (0..=at)
            .rev()
            .flat_map(|block| (0..self.count(shape, block)).rev().map(move |at| Place { block, at }));
        places
            .map(|place| (self.key(place), place))
            .find(|&(other, _)| other <= key)
            .map(|found| self.entry(found))
    }

    /// How many entries a block has, whatever a torn shape says.
    fn count(self, shape: Shape, at: usize) -> usize {
        shape.count(at).min(Self::PER_BLOCK)
    }

    fn key(self, place: Place) -> B {
        lane(block(self.node, place.block), place.at)
    }

    fn entry(self, (key, place): (B, Place)) -> (B, B) {
        (key, self.value(place))
    }

    /// Copies all entries.
    #[inline(always)]
    pub fn copy_out<S: Lines>(self, into: &mut Entries<B>) {
        let shape = Shape::of(self.node);
        let mut len = 0;
        for at in 0..Self::BLOCKS {
            S::copy_block(block(self.node, at), &mut into.keys[len..], &mut into.values[len..]);
            // Whatever a torn shape says, the next block finds room.
            len = (len + shape.count(at)).min(PLACES_MAX - Self::PER_BLOCK);
        }
        into.len = len;
    }

    /// Sets the fences and the link, and takes these entries in place of all others. For the holder
    /// of the latch, or for a leaf that nobody knows of yet.
    pub fn set(self, (low, high): (B, B), link: NodeRef, keys: &[B], values: &[B]) {
        self.node[0][BASE].poke(low.to_u64());
        self.node[0][HIGH].poke(high.to_u64());
        self.fill(keys, values, false);
        set_link(self.node, link);
    }

    /// Takes these entries in place of all others, spread evenly, or packed to the left.
    fn fill(self, keys: &[B], values: &[B], packed: bool) {
        let (base, len) = (self.low().to_u64(), keys.len());
        let reach = keys.last().map_or(0, |&last| last.to_u64().saturating_sub(base));
        let mut shape = Shape::for_span(reach.saturating_mul(2).min(self.high().to_u64().wrapping_sub(base)));
        let start = |at: usize| {
            if packed { len.min(at * Self::PER_BLOCK) } else { (at * len).div_ceil(Self::BLOCKS) }
        };
        for at in 0..Self::BLOCKS {
            let (line, from, to) = (block(self.node, at), start(at), start(at + 1));
            for (place, entry) in (from..to).enumerate() {
                set_lane(line, place, keys[entry]);
                set_lane(line, Self::PER_BLOCK + place, values[entry]);
            }
            shape.set_count(at, to - from);
            if at > 0 {
                let hint = keys.get(from).map_or(NO_BLOCK, |first| shape.hint(first.to_u64(), base));
                set_block_hint(self.node, at, hint);
            }
        }
        self.set_shape(shape);
    }

    /// Makes the leaf a dead one: no key lies between its fences.
    pub fn kill(self) {
        self.node[0][BASE].poke(B::MAX.to_u64());
        self.node[0][HIGH].poke(B::MIN.to_u64());
    }

    fn set_shape(self, shape: Shape) {
        self.node[0][SHAPE].poke(shape.0);
    }

    /// What is wrong with the leaf, if anything is. Wants it at rest.
    pub fn fault(self) -> Option<String> {
        let (shape, mut before) = (Shape::of(self.node), None);
        let base = self.low().to_u64();
        for at in 0..Self::BLOCKS {
            let own = if at == 0 { 0 } else { block_hint(self.node, at) };
            if before.is_some_and(|key: B| shape.hint(key.to_u64(), base) > own) && shape.count(at) > 0 {
                return Some(format!("block {at} has a smaller hint than the key before it"));
            }
            for place in 0..shape.count(at) {
                let key: B = lane(block(self.node, at), place);
                if before.is_some_and(|before| before >= key) {
                    return Some(format!("key {key:?} stands behind {before:?}"));
                }
                if key < self.low() || key > self.high() {
                    return Some(format!("key {key:?} lies outside of the fences"));
                }
                if shape.hint(key.to_u64(), base) < own {
                    return Some(format!("key {key:?} has a smaller hint than its block {at}"));
                }
                before = Some(key);
            }
        }
        None
    }
}
