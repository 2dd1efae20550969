//! Leaves: pairs of keys and values, the next leaf and, with an external jump-pointer array, a hint.

use super::layout::Layout;
use super::shape::Shape;
use super::store::Nodes;
use crate::common::operation::Search;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::{LINE_BYTES, prefetch_read_all};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Trace;

impl<S: Shape> Nodes<S> {
    /// Sets the number of pairs of a leaf.
    pub fn set_pairs(&mut self, leaf: NodeRef, count: usize) {
        self.set_count(leaf, count, Layout::<S>::LEAF_PAIRS);
    }

    /// Returns how many keys of a leaf are smaller than `key`.
    #[inline(always)]
    pub fn pairs_below<K: Search>(&self, leaf: NodeRef, key: S::Bits) -> usize {
        self.below::<K>(leaf, Layout::<S>::LEAF_PAIRS, key)
    }

    /// Returns how many keys of a leaf are at most `key`.
    #[inline(always)]
    pub fn pairs_up_to<K: Search>(&self, leaf: NodeRef, key: S::Bits) -> usize {
        self.up_to::<K>(leaf, Layout::<S>::LEAF_PAIRS, key)
    }

    /// Prefetches a leaf, natively only the lines that `pairs` pairs occupy: a scan that prefetches ahead
    /// is limited by the number of lines in flight, so every line counts.
    pub fn prefetch_pairs(&self, leaf: NodeRef, pairs: usize) {
        if S::Trace::LISTENING || !S::PREFETCH {
            return self.prefetch(leaf);
        }
        let bytes = pairs.min(Layout::<S>::LEAF_PAIRS) * size_of::<S::Bits>();
        let values = Layout::<S>::VALUES_AT;
        prefetch_read_all(self.arena.address(leaf), Layout::<S>::KEYS_AT + bytes);
        let first_line = values - values % LINE_BYTES;
        prefetch_read_all(self.arena.address(leaf).wrapping_add(first_line), values % LINE_BYTES + bytes);
    }

    /// Returns whether the key at position `at` of a leaf is `key`.
    #[inline(always)]
    pub fn holds(&self, leaf: NodeRef, at: usize, key: S::Bits) -> bool {
        let places = self.keys(leaf, Layout::<S>::LEAF_PAIRS);
        // A pad looks like the largest key.
        at < places.len() && places[at] == key && (key != S::Bits::MAX || at < self.count(leaf))
    }

    /// The first `count` values of a leaf.
    #[inline(always)]
    pub fn values(&self, leaf: NodeRef, count: usize) -> &[S::Bits] {
        self.arena.lanes(leaf, Layout::<S>::VALUES_AT, count)
    }

    /// Returns one value of a leaf.
    #[inline(always)]
    pub fn value(&self, leaf: NodeRef, at: usize) -> S::Bits {
        self.told_read(leaf, Layout::<S>::VALUES_AT + at * size_of::<S::Bits>(), size_of::<S::Bits>());
        self.arena.lanes(leaf, Layout::<S>::VALUES_AT, at + 1)[at]
    }

    /// Replaces a value of a leaf and returns the previous one.
    pub fn replace_value(&mut self, leaf: NodeRef, at: usize, value: S::Bits) -> S::Bits {
        self.told_write(leaf, Layout::<S>::VALUES_AT + at * size_of::<S::Bits>(), size_of::<S::Bits>());
        let values = self.arena.lanes_mut::<S::Bits>(leaf, Layout::<S>::VALUES_AT, at + 1);
        core::mem::replace(&mut values[at], value)
    }

    /// Reports to the memory model that `count` pairs from position `at` on are read, the keys only if
    /// requested.
    #[inline(always)]
    pub fn tell_pairs_read(&self, leaf: NodeRef, at: usize, count: usize, keys_too: bool) {
        let lane = size_of::<S::Bits>();
        if keys_too {
            self.told_read(leaf, Layout::<S>::KEYS_AT + at * lane, count * lane);
        }
        self.told_read(leaf, Layout::<S>::VALUES_AT + at * lane, count * lane);
    }

    /// Inserts a pair at position `at` of a leaf of `count` pairs, which must have room.
    pub fn insert_pair(&mut self, leaf: NodeRef, count: usize, at: usize, pair: (S::Bits, S::Bits)) {
        self.move_pairs((leaf, at), (leaf, at + 1), count - at);
        self.set_key(leaf, at, pair.0);
        self.replace_value(leaf, at, pair.1);
        self.set_pairs(leaf, count + 1);
    }

    /// Removes the pair at position `at` of a leaf of `count` pairs and returns its value.
    pub fn remove_pair(&mut self, leaf: NodeRef, count: usize, at: usize) -> S::Bits {
        let value = self.value(leaf, at);
        self.move_pairs((leaf, at + 1), (leaf, at), count - at - 1);
        self.set_pairs(leaf, count - 1);
        value
    }

    /// Moves `count` pairs between two places of leaves.
    pub fn move_pairs(&mut self, from: (NodeRef, usize), to: (NodeRef, usize), count: usize) {
        let at = |place: usize| Layout::<S>::VALUES_AT + place * size_of::<S::Bits>();
        self.move_keys(from, to, count);
        self.move_lanes::<S::Bits>((from.0, at(from.1)), (to.0, at(to.1)), count);
    }

    /// Fills a new leaf with pairs.
    pub fn write_leaf(&mut self, leaf: NodeRef, pairs: impl ExactSizeIterator<Item = (S::Bits, S::Bits)>) {
        let count = pairs.len();
        self.start(leaf, Layout::<S>::LEAF_PAIRS);
        let places = (Layout::<S>::KEYS_AT, Layout::<S>::VALUES_AT);
        let (keys, values) = self.arena.lanes_mut_twice::<S::Bits>(leaf, places, count);
        for ((pair, key), value) in pairs.zip(keys).zip(values) {
            (*key, *value) = pair;
        }
        self.set_pairs(leaf, count);
    }

    /// The next leaf in key order, or [`NodeRef::NIL`].
    #[inline(always)]
    pub fn next(&self, leaf: NodeRef) -> NodeRef {
        NodeRef::from_word(self.word(leaf, Layout::<S>::NEXT_AT))
    }

    /// Links a leaf to the next one.
    pub fn set_next(&mut self, leaf: NodeRef, next: NodeRef) {
        self.set_word(leaf, Layout::<S>::NEXT_AT, next.to_word());
    }

    /// A leaf's hint: roughly where its jump pointer is (p_e).
    pub fn hint(&self, leaf: NodeRef) -> u32 {
        self.word(leaf, Layout::<S>::HINT_AT)
    }

    /// Repairs a leaf's hint. Readers may do so.
    pub fn set_hint(&self, leaf: NodeRef, hint: u32) {
        self.told_write(leaf, Layout::<S>::HINT_AT, 4);
        self.arena.set_hint(leaf, hint);
    }
}
