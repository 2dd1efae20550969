//! What nodes hold, copied out of them, so that it can be looked at and changed in peace.

use super::PLACES_MAX;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;

/// The entries of a leaf, copied out of it; `N` places, all of which are zeroed first.
#[derive(Debug, Clone)]
pub struct Entries<B, const N: usize = PLACES_MAX> {
    pub(super) len: usize,
    pub(super) keys: [B; N],
    pub(super) values: [B; N],
}

impl<B: Bits, const N: usize> Default for Entries<B, N> {
    fn default() -> Self {
        Self { len: 0, keys: [B::MIN; N], values: [B::MIN; N] }
    }
}

impl<B, const N: usize> Entries<B, N> {
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
}

impl<B: Bits, const N: usize> Entries<B, N> {
    /// All keys and values from a place on, and whatever stands behind them.
    pub(super) fn from(&self, first: usize) -> (&[B], &[B]) {
        (&self.keys[first..], &self.values[first..])
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds an entry behind all others.
    ///
    /// # Panics
    /// When more than `N` come together.
    pub fn push(&mut self, key: B, value: B) {
        (self.keys[self.len], self.values[self.len]) = (key, value);
        self.len += 1;
    }

    /// Adds the entries of others from a place on behind all of its own.
    ///
    /// # Panics
    /// When more than `N` come together.
    pub fn append(&mut self, others: &Self, from: usize) {
        let end = self.len + others.len - from;
        self.keys[self.len..end].copy_from_slice(&others.keys()[from..]);
        self.values[self.len..end].copy_from_slice(&others.values()[from..]);
        self.len = end;
    }

    /// Puts an entry where it belongs, before the first greater key.
    pub fn insert(&mut self, key: B, value: B) {
        let at = self.keys().partition_point(|&other| other < key);
        self.keys.copy_within(at..self.len, at + 1);
        self.values.copy_within(at..self.len, at + 1);
        (self.keys[at], self.values[at]) = (key, value);
        self.len += 1;
    }

    /// Forgets what lies in `low..=high`.
    pub fn cut_out(&mut self, low: B, high: B) {
        let end = self.keys().partition_point(|&key| key <= high);
        let start = self.keys[..end].partition_point(|&key| key < low);
        self.keys.copy_within(end..self.len, start);
        self.values.copy_within(end..self.len, start);
        self.len -= end - start;
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

/// The children of an inner node, copied out of it: each with the separator that it starts at,
/// which is its low fence.
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
    /// The separators, ascending.
    pub fn separators(&self) -> &[B] {
        &self.separators[..self.len]
    }

    /// The children, in the order of their separators.
    pub fn nodes(&self) -> &[NodeRef] {
        &self.nodes[..self.len]
    }

    /// The place of the child that `key` belongs to.
    pub fn place_of(&self, key: B) -> usize {
        self.separators().partition_point(|&separator| separator <= key).saturating_sub(1)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a child behind all others.
    ///
    /// # Panics
    /// When more than [`PLACES_MAX`] come together.
    pub fn push(&mut self, separator: B, node: NodeRef) {
        (self.separators[self.len], self.nodes[self.len]) = (separator, node);
        self.len += 1;
    }

    /// Puts a child where it belongs, before the first greater separator.
    pub fn insert(&mut self, separator: B, node: NodeRef) {
        let at = self.separators().partition_point(|&other| other < separator);
        self.separators.copy_within(at..self.len, at + 1);
        self.nodes.copy_within(at..self.len, at + 1);
        (self.separators[at], self.nodes[at]) = (separator, node);
        self.len += 1;
    }

    /// Takes out the child at a place.
    pub fn remove(&mut self, at: usize) {
        self.separators.copy_within(at + 1..self.len, at);
        self.nodes.copy_within(at + 1..self.len, at);
        self.len -= 1;
    }
}
