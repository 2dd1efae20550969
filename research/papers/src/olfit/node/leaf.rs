//! Leaves: ascending keys, each beside its value.

use super::common::Node;
use super::layout::{Fields, Kind};
use crate::common::words::spaced_words_below;
use latchless_core::mem::touch::{Trace, Work};

impl<K: Kind> Node<'_, K> {
    const KEYS_AT: usize = Fields::<K>::LEAF_KEYS_AT;
    /// Words of an entry.
    const ENTRY: usize = 2;

    /// Returns whether a leaf has no room.
    #[inline(always)]
    pub fn is_full_leaf(self) -> bool {
        self.size() >= self.layout.leaf_places
    }

    /// Returns the number of entries, within the leaf's capacity even if the node is being reused.
    #[inline(always)]
    pub fn entries(self) -> usize {
        self.size().min(self.layout.leaf_places)
    }

    /// The first of `entries` places whose key is at least `key`.
    #[inline(always)]
    pub fn lower(self, entries: usize, key: K::Bits) -> usize {
        let words = &self.words[Self::KEYS_AT..Self::KEYS_AT + Self::ENTRY * entries];
        spaced_words_below::<K::Bits, K::Trace, 2>(words, key)
    }

    /// The key at a place.
    #[inline(always)]
    pub fn key(self, place: usize) -> K::Bits {
        self.lane(Self::KEYS_AT + Self::ENTRY * place)
    }

    /// The value at a place.
    #[inline(always)]
    pub fn value(self, place: usize) -> K::Bits {
        self.lane(Self::KEYS_AT + Self::ENTRY * place + 1)
    }

    /// Sets the value at a place.
    pub fn set_value(self, place: usize, value: K::Bits) {
        self.set_lane(Self::KEYS_AT + Self::ENTRY * place + 1, value);
    }

    /// The place of the first entry of `key`, if there is one.
    #[inline(always)]
    pub fn find(self, key: K::Bits) -> Option<usize> {
        let entries = self.entries();
        let place = self.lower(entries, key);
        (place < entries && self.key(place) == key).then_some(place)
    }

    /// Inserts an entry at a place; the leaf has room.
    pub fn insert_entry(self, place: usize, key: K::Bits, value: K::Bits) {
        let size = self.entries();
        debug_assert!(place <= size && size < self.layout.leaf_places);
        K::Trace::work(Work::Shift(size - place));
        let at = Self::KEYS_AT + Self::ENTRY * place;
        self.shift(at, at + Self::ENTRY, Self::ENTRY * (size - place));
        self.set_lane(at, key);
        self.set_lane(at + 1, value);
        self.set_size(size + 1);
    }

    /// Removes the entry at a place.
    pub fn remove_entry(self, place: usize) {
        let size = self.entries();
        debug_assert!(place < size);
        let behind = size - place - 1;
        K::Trace::work(Work::Shift(behind));
        let at = Self::KEYS_AT + Self::ENTRY * place;
        self.shift(at + Self::ENTRY, at, Self::ENTRY * behind);
        self.set_size(size - 1);
    }

    /// Moves the entries from place `cut` on to `right`, which was reset, and returns the key with which
    /// this leaf now ends.
    pub fn split_leaf(self, right: Self, cut: usize) -> K::Bits {
        let moved = self.entries() - cut;
        K::Trace::work(Work::Shift(moved));
        self.copy_words(Self::KEYS_AT + Self::ENTRY * cut, right, Self::KEYS_AT, Self::ENTRY * moved);
        right.set_size(moved);
        self.set_size(cut);
        self.key(cut - 1)
    }

    /// Fills a leaf that was reset with ascending entries; it has room.
    pub fn fill_leaf(self, entries: impl Iterator<Item = (K::Bits, K::Bits)>) {
        let mut size = 0;
        for (key, value) in entries {
            self.set_lane(Self::KEYS_AT + Self::ENTRY * size, key);
            self.set_value(size, value);
            size += 1;
        }
        self.set_size(size);
    }
}
