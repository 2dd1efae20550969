//! The keys of a set of byte strings, one after the other in one allocation.

use crate::ask::Ask;

/// Byte strings, in the order in which they arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BytesKeys {
    /// One after the other.
    bytes: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<usize>,
    /// How many of them are to be loaded: the first ones.
    loaded: usize,
}

impl BytesKeys {
    /// None yet, with room for as many as requested.
    pub(super) fn new(ask: Ask) -> Self {
        Self { bytes: Vec::new(), ends: Vec::with_capacity(ask.total()), loaded: ask.loaded }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many of them are to be loaded: the first ones.
    pub fn loaded(&self) -> usize {
        self.loaded
    }

    /// The key that arrives after this many others.
    ///
    /// # Panics
    /// If there is none.
    pub fn key(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[at]]
    }

    /// All of them, those to load first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|at| self.key(at))
    }

    /// The bytes of all of them.
    pub fn total_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The mean length of those to load.
    pub fn mean_bytes(&self) -> f64 {
        let bytes = self.loaded.checked_sub(1).map_or(0, |last| self.ends[last]);
        bytes as f64 / self.loaded.max(1) as f64
    }

    /// One more, of these pieces.
    pub(super) fn push(&mut self, pieces: &[&[u8]]) {
        pieces.iter().for_each(|piece| self.bytes.extend_from_slice(piece));
        self.ends.push(self.bytes.len());
    }
}
