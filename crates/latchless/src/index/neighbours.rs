//! The first and the last entry, and the neighbours of a key.

#[cfg(doc)]
use super::Index;
use super::access::{Access, Encoded, decode_entry, encode_key, full_range};
use super::exclusive::Exclusive;
use super::operations::exclusive;
use crate::tree::Mode;
use core::ops::Bound;
use latchless_core::base::index::Direction::{self, Forward, Reverse};
use latchless_core::base::key::Key;
use latchless_core::base::span::{next, previous};
use latchless_core::base::value::Value;

impl<K: Key, V: Value, M: Mode> Access<'_, K, V, M> {
    fn nearest(self, from: Encoded<K, V>, direction: Direction) -> Option<(K, V)> {
        self.tree.nearest::<M>(from, direction).map(decode_entry::<K, V>)
    }

    pub(super) fn end(self, direction: Direction) -> Option<(K, V)> {
        self.nearest(start::<K, V>(direction), direction)
    }

    /// Returns the nearest entry at `key` or beyond it, in a direction.
    pub(super) fn at_or_beside(self, key: K, direction: Direction) -> Option<(K, V)> {
        self.nearest(encode_key::<K, V>(key), direction)
    }

    /// Returns the nearest entry in a direction, other than that of `key`.
    pub(super) fn beside(self, key: K, direction: Direction) -> Option<(K, V)> {
        let encoded = encode_key::<K, V>(key);
        let from = if direction == Forward { next(encoded) } else { previous(encoded) };
        self.nearest(from?, direction)
    }

    /// Returns the nearest entry from there in a direction.
    #[inline(always)]
    pub(super) fn near(self, from: Bound<K>, direction: Direction) -> Option<(K, V)> {
        match from {
            Bound::Included(key) => self.at_or_beside(key, direction),
            Bound::Excluded(key) => self.beside(key, direction),
            Bound::Unbounded => self.end(direction),
        }
    }

    pub(super) fn pop(self, direction: Direction) -> Option<(K, V)> {
        self.tree.pop::<M>(start::<K, V>(direction), direction).map(decode_entry::<K, V>)
    }
}

/// Returns the first encoded key in a direction.
fn start<K: Key, V: Value>(direction: Direction) -> Encoded<K, V> {
    let (low, high) = full_range::<K, V>();
    if direction == Forward { low } else { high }
}

exclusive! {
    /// See [`Index::first`].
    pub fn first(&self) -> Option<(K, V)> {
        self.access().end(Forward)
    }

    /// See [`Index::last`].
    pub fn last(&self) -> Option<(K, V)> {
        self.access().end(Reverse)
    }

    /// See [`Index::pop_first`].
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        self.access().pop(Forward)
    }

    /// See [`Index::pop_last`].
    pub fn pop_last(&mut self) -> Option<(K, V)> {
        self.access().pop(Reverse)
    }

    /// See [`Index::floor`].
    pub fn floor(&self, key: K) -> Option<(K, V)> {
        self.access().at_or_beside(key, Reverse)
    }

    /// See [`Index::ceiling`].
    pub fn ceiling(&self, key: K) -> Option<(K, V)> {
        self.access().at_or_beside(key, Forward)
    }

    /// See [`Index::lower`].
    pub fn lower(&self, key: K) -> Option<(K, V)> {
        self.access().beside(key, Reverse)
    }

    /// See [`Index::higher`].
    pub fn higher(&self, key: K) -> Option<(K, V)> {
        self.access().beside(key, Forward)
    }
}
