//! Leaves: blocks that hold keys and, in the same line, their values.

use super::*;
use crate::search::keys_in_line;
use core::ops::Range;

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
        let mut shape = Shape::of(self.node);
        let count = shape.count(place.block);
        self.close_gap(place.block, place.at, count);
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
            self.fill(&left, 0..left.len, false);
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
        let fits = shape.total() < Self::CAPACITY;
        if fits {
            self.make_room::<S>(shape, at, far, key, value);
        }
        fits
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
        let count = shape.count(at);
        self.sort_in(at, count, (key, value));
        shape.set_count(at, count + 1);
        self.set_shape(shape);
    }

    /// Puts an entry into a leaf that has room, but not where the entry belongs.
    #[inline(never)]
    fn make_room<S: Lines>(self, shape: Shape, at: usize, far: bool, key: B, value: B) {
        if far {
            return self.rearrange::<S>(key, value);
        }
        let rooms = shape.rooms(Self::PER_BLOCK);
        let right = (rooms >> (4 * at)).trailing_zeros() as usize / 4;
        let left = (rooms << (4 * (LINES - 1 - at))).leading_zeros() as usize / 4;
        if right <= left {
            self.shift_right(shape, at, right, key, value);
        } else if at + 1 == Self::BLOCKS && key > self.key(Place { block: at, at: Self::PER_BLOCK - 1 }) {
            // Appended keys are likely to be followed by more: these find the rest of the leaf free.
            self.rearrange::<S>(key, value);
        } else {
            self.shift_left(shape, at, left, key, value);
        }
    }

    /// Makes room in block `at` by handing on the greatest entry of each block, up to the block
    /// `distance` further right.
    fn shift_right(self, mut shape: Shape, at: usize, distance: usize, key: B, value: B) {
        let base = self.low().to_u64();
        let mut carried = self.exchange_greatest(at, (key, value));
        for to in at + 1..at + distance {
            set_block_hint(self.node, to, shape.hint(carried.0.to_u64(), base));
            carried = self.hand_through_right(to, carried);
        }
        let last = at + distance;
        set_block_hint(self.node, last, shape.hint(carried.0.to_u64(), base));
        let count = shape.count(last);
        self.put_in_front(last, count, carried);
        shape.set_count(last, count + 1);
        self.set_shape(shape);
    }

    /// Makes room in block `at` by handing on the smallest entry of each block, down to the block
    /// `distance` further left.
    fn shift_left(self, mut shape: Shape, at: usize, distance: usize, key: B, value: B) {
        let base = self.low().to_u64();
        let hint_again = |block: usize| {
            set_block_hint(self.node, block, shape.hint(self.key(Place { block, at: 0 }).to_u64(), base));
        };
        let mut carried = self.exchange_smallest(at, (key, value));
        hint_again(at);
        for to in (at - distance + 1..at).rev() {
            let handed = self.entry_at(Place { block: to, at: 0 });
            self.close_gap(to, 0, Self::PER_BLOCK);
            self.put_at(Place { block: to, at: Self::PER_BLOCK - 1 }, carried);
            hint_again(to);
            carried = handed;
        }
        let first = at - distance;
        let count = shape.count(first);
        self.put_at(Place { block: first, at: count }, carried);
        shape.set_count(first, count + 1);
        self.set_shape(shape);
    }

    /// Puts an entry into a full block and takes out its greatest one, or gives the entry back if
    /// that is greater.
    fn exchange_greatest(self, at: usize, entry: (B, B)) -> (B, B) {
        let last = Place { block: at, at: Self::PER_BLOCK - 1 };
        let greatest = self.entry_at(last);
        if entry.0 > greatest.0 {
            return entry;
        }
        self.sort_in(at, Self::PER_BLOCK - 1, entry);
        greatest
    }

    /// Puts an entry into a full block and takes out its smallest one, or gives the entry back if
    /// that is smaller.
    fn exchange_smallest(self, at: usize, entry: (B, B)) -> (B, B) {
        let smallest = self.entry_at(Place { block: at, at: 0 });
        if entry.0 < smallest.0 {
            return entry;
        }
        self.close_gap(at, 0, Self::PER_BLOCK);
        self.sort_in(at, Self::PER_BLOCK - 1, entry);
        smallest
    }

    /// Puts an entry in front of a full block and takes out its last one.
    fn hand_through_right(self, at: usize, entry: (B, B)) -> (B, B) {
        let last = self.entry_at(Place { block: at, at: Self::PER_BLOCK - 1 });
        self.put_in_front(at, Self::PER_BLOCK - 1, entry);
        last
    }

    /// Puts an entry in front of the first `count` of a block.
    fn put_in_front(self, at: usize, count: usize, entry: (B, B)) {
        for place in (0..count).rev() {
            self.put_at(Place { block: at, at: place + 1 }, self.entry_at(Place { block: at, at: place }));
        }
        self.put_at(Place { block: at, at: 0 }, entry);
    }

    /// Takes out the entry at `from` of the first `count` of a block.
    #[inline(always)]
    fn close_gap(self, at: usize, from: usize, count: usize) {
        for place in from + 1..count {
            self.put_at(Place { block: at, at: place - 1 }, self.entry_at(Place { block: at, at: place }));
        }
    }

    /// Puts an entry where it belongs among the first `count` of a block.
    #[inline(always)]
    fn sort_in(self, at: usize, count: usize, (key, value): (B, B)) {
        let mut place = count;
        while place > 0 {
            let other = self.entry_at(Place { block: at, at: place - 1 });
            if other.0 < key {
                break;
            }
            self.put_at(Place { block: at, at: place }, other);
            place -= 1;
        }
        self.put_at(Place { block: at, at: place }, (key, value));
    }

    /// Spreads the entries anew while another one goes in.
    fn rearrange<S: Lines>(self, key: B, value: B) {
        let mut entries = Entries::default();
        self.copy_out::<S>(&mut entries);
        entries.insert(key, value);
        let appended = entries.keys[entries.len - 1] == key;
        self.fill(&entries, 0..entries.len, appended);
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
            .map(|(_, found)| self.entry_at(found))
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
            .map(|(_, found)| self.entry_at(found))
    }

    /// How many entries a block has, whatever a torn shape says.
    fn count(self, shape: Shape, at: usize) -> usize {
        shape.count(at).min(Self::PER_BLOCK)
    }

    #[inline(always)]
    fn key(self, place: Place) -> B {
        lane(block(self.node, place.block), place.at)
    }

    #[inline(always)]
    fn entry_at(self, place: Place) -> (B, B) {
        (self.key(place), self.value(place))
    }

    #[inline(always)]
    fn put_at(self, place: Place, (key, value): (B, B)) {
        let line = block(self.node, place.block);
        set_lane(line, place.at, key);
        set_lane(line, Self::PER_BLOCK + place.at, value);
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

    /// Sets the fences and the link, and takes these of the `entries` in place of all others. For the
    /// holder of the latch, or for a leaf that nobody knows of yet.
    pub fn set(self, (low, high): (B, B), link: NodeRef, entries: &Entries<B>, range: Range<usize>) {
        self.node[0][BASE].poke(low.to_u64());
        self.node[0][HIGH].poke(high.to_u64());
        self.fill(entries, range, false);
        set_link(self.node, link);
    }

    /// Takes these of the `entries` in place of all others, spread evenly, or packed to the left.
    fn fill(self, entries: &Entries<B>, range: Range<usize>, packed: bool) {
        let (base, len) = (self.low().to_u64(), range.len());
        let reach = entries.keys[range.clone()].last().map_or(0, |&last| last.to_u64().saturating_sub(base));
        let mut shape = Shape::for_span(reach.saturating_mul(2).min(self.high().to_u64().wrapping_sub(base)));
        let start = |at: usize| {
            if packed { len.min(at * Self::PER_BLOCK) } else { (at * len).div_ceil(Self::BLOCKS) }
        };
        let mut hints = [u64::from(NO_BLOCK); LINES];
        let mut from = 0;
        for at in 0..Self::BLOCKS {
            let to = start(at + 1);
            // The block's further places get what belongs behind it: they are not in use.
            let first = range.start + from;
            set_lanes(block(self.node, at), 0, &entries.keys[first..]);
            set_lanes(block(self.node, at), Self::PER_BLOCK, &entries.values[first..]);
            shape.set_count(at, to - from);
            if from < len {
                hints[at + 1] = u64::from(shape.hint(entries.keys[first].to_u64(), base));
            }
            from = to;
        }
        set_block_hints(self.node, &hints);
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
