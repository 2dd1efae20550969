//! Private copies of node contents.

use super::PLACES_MAX;
use core::any::Any;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;

/// The entries of a leaf, copied out of it, in a kilobyte of arrays that are zeroed first.
#[derive(Debug, Clone)]
pub struct Entries<B: Bits> {
    pub(super) len: usize,
    keys: B::Lanes,
    values: B::Lanes,
}

impl<B: Bits> Default for Entries<B> {
    #[inline(always)]
    fn default() -> Self {
        Self { len: 0, keys: B::ZEROS, values: B::ZEROS }
    }
}

/// Returns lanes of one type as lanes of another, if the types are the same.
#[inline(always)]
fn same<B: Bits, T: 'static>(lanes: &B::Lanes) -> Option<&[T]> {
    const LONG: usize = 64;
    const SHORT: usize = 128;
    let lanes: &dyn Any = lanes;
    match lanes.downcast_ref::<[T; LONG]>() {
        Some(lanes) => Some(lanes),
        None => lanes.downcast_ref::<[T; SHORT]>().map(<[T; SHORT]>::as_slice),
    }
}

impl<B: Bits> Entries<B> {
    /// The capacity in entries: those of a full leaf, and one less than a block more.
    pub const ROOM: usize = 512 / B::BYTES;

    /// Returns the keys, ascending.
    #[inline(always)]
    pub fn keys(&self) -> &[B] {
        &self.keys.as_ref()[..self.len]
    }

    /// Returns the values, in the order of their keys.
    #[inline(always)]
    pub fn values(&self) -> &[B] {
        &self.values.as_ref()[..self.len]
    }

    /// Returns the keys and the values, if these are their types.
    #[inline(always)]
    pub fn of_types<K: 'static, V: 'static>(&self) -> Option<(&[K], &[V])> {
        Some((&same::<B, K>(&self.keys)?[..self.len], &same::<B, V>(&self.values)?[..self.len]))
    }

    /// Returns all places, of keys and of values.
    #[inline(always)]
    pub(super) fn room(&mut self) -> (&mut [B], &mut [B]) {
        (self.keys.as_mut(), self.values.as_mut())
    }

    /// Returns all keys and values from a place on, and whatever is after them.
    #[inline(always)]
    pub(super) fn from(&self, first: usize) -> (&[B], &[B]) {
        (&self.keys.as_ref()[first..], &self.values.as_ref()[first..])
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds an entry after all others.
    ///
    /// # Panics
    /// If there is no room.
    #[inline]
    pub fn push(&mut self, key: B, value: B) {
        let at = self.len;
        let (keys, values) = self.room();
        (keys[at], values[at]) = (key, value);
        self.len += 1;
    }

    /// Adds the entries of `others` from a place on after all entries.
    ///
    /// # Panics
    /// If there is no room.
    pub fn append(&mut self, others: &Self, from: usize) {
        let (start, end) = (self.len, self.len + others.len - from);
        let (keys, values) = self.room();
        keys[start..end].copy_from_slice(&others.keys()[from..]);
        values[start..end].copy_from_slice(&others.values()[from..]);
        self.len = end;
    }

    /// Inserts an entry at its place, before the first greater key.
    pub fn insert(&mut self, key: B, value: B) {
        let (at, len) = (self.keys().partition_point(|&other| other < key), self.len);
        let (keys, values) = self.room();
        keys.copy_within(at..len, at + 1);
        values.copy_within(at..len, at + 1);
        (keys[at], values[at]) = (key, value);
        self.len += 1;
    }

    /// Removes the keys in `low..=high`.
    pub fn cut_out(&mut self, low: B, high: B) {
        let end = self.keys().partition_point(|&key| key <= high);
        let (start, len) = (self.keys()[..end].partition_point(|&key| key < low), self.len);
        let (keys, values) = self.room();
        keys.copy_within(end..len, start);
        values.copy_within(end..len, start);
        self.len -= end - start;
    }

    /// Removes the keys outside of `low..=high`.
    pub fn trim(&mut self, low: B, high: B) {
        let end = self.keys().partition_point(|&key| key <= high);
        let start = self.keys()[..end].partition_point(|&key| key < low);
        if start > 0 {
            let (keys, values) = self.room();
            keys.copy_within(start..end, 0);
            values.copy_within(start..end, 0);
        }
        self.len = end - start;
    }
}

/// The children of an inner node, copied out of it: each with its separator, which is its low fence.
#[derive(Debug, Clone)]
pub struct Children<B> {
    pub(super) len: usize,
    pub(super) separators: [B; PLACES_MAX],
    pub(super) nodes: [NodeRef; PLACES_MAX],
}

impl<B: Bits> Default for Children<B> {
    fn default() -> Self {
        Self { len: 0, separators: [B::MIN; PLACES_MAX], nodes: [NodeRef::NIL; PLACES_MAX] }
    }
}

impl<B: Bits> Children<B> {
    /// Returns the separators, ascending.
    pub fn separators(&self) -> &[B] {
        &self.separators[..self.len]
    }

    /// Returns the children, in the order of their separators.
    pub fn nodes(&self) -> &[NodeRef] {
        &self.nodes[..self.len]
    }

    /// Returns the place of the child that `key` belongs to.
    pub fn place_of(&self, key: B) -> usize {
        self.separators().partition_point(|&separator| separator <= key).saturating_sub(1)
    }

    /// Removes all children.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a child after all others.
    ///
    /// # Panics
    /// If there are more than [`PLACES_MAX`].
    pub fn push(&mut self, separator: B, node: NodeRef) {
        (self.separators[self.len], self.nodes[self.len]) = (separator, node);
        self.len += 1;
    }

    /// Inserts a child at its place, before the first greater separator.
    pub fn insert(&mut self, separator: B, node: NodeRef) {
        let at = self.separators().partition_point(|&other| other < separator);
        self.separators.copy_within(at..self.len, at + 1);
        self.nodes.copy_within(at..self.len, at + 1);
        (self.separators[at], self.nodes[at]) = (separator, node);
        self.len += 1;
    }

    /// Removes the child at a place.
    pub fn remove(&mut self, at: usize) {
        self.separators.copy_within(at + 1..self.len, at);
        self.nodes.copy_within(at + 1..self.len, at);
        self.len -= 1;
    }
}
