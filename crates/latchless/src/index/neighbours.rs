//! The first and the last entry, and the neighbours of a key.

use super::Index;
use super::access::{Access, Encoded, decode_entry, encode_key, full_range};
use super::operations::operations;
use crate::tree::Mode;
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

    pub(super) fn pop(self, direction: Direction) -> Option<(K, V)> {
        self.tree.pop::<M>(start::<K, V>(direction), direction).map(decode_entry::<K, V>)
    }
}

/// Returns the first encoded key in a direction.
fn start<K: Key, V: Value>(direction: Direction) -> Encoded<K, V> {
    let (low, high) = full_range::<K, V>();
    if direction == Forward { low } else { high }
}

operations! {
    /// Returns the entry with the smallest key. O(log n).
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!(index.first(), Some((-5, 50)));
    /// ```
    pub fn first(&self) -> Option<(K, V)> {
        self.access().end(Forward)
    }

    /// Returns the entry with the largest key. O(log n).
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!(index.last(), Some((3, 30)));
    /// ```
    pub fn last(&self) -> Option<(K, V)> {
        self.access().end(Reverse)
    }

    /// Removes the entry with the smallest key. O(log n).
    ///
    /// Atomic: each entry is returned to one thread, and its key is the smallest at the moment of its
    /// removal.
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!((index.pop_first(), index.pop_first()), (Some((-5, 50)), Some((3, 30))));
    /// assert_eq!(index.pop_first(), None);
    /// ```
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        self.access().pop(Forward)
    }

    /// Removes the entry with the largest key, atomically. O(log n). See [`Index::pop_first`].
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!(index.pop_last(), Some((3, 30)));
    /// assert_eq!(index.len(), 1);
    /// ```
    pub fn pop_last(&mut self) -> Option<(K, V)> {
        self.access().pop(Reverse)
    }

    /// Returns the entry with the largest key that is at most `key`. O(log n).
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!((index.floor(3), index.floor(2), index.floor(-6)), (Some((3, 30)), Some((-5, 50)), None));
    /// ```
    pub fn floor(&self, key: K) -> Option<(K, V)> {
        self.access().at_or_beside(key, Reverse)
    }

    /// Returns the entry with the smallest key that is at least `key`. O(log n).
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!((index.ceiling(3), index.ceiling(-4)), (Some((3, 30)), Some((3, 30))));
    /// assert_eq!(index.ceiling(4), None);
    /// ```
    pub fn ceiling(&self, key: K) -> Option<(K, V)> {
        self.access().at_or_beside(key, Forward)
    }

    /// Returns the entry with the largest key below `key`. O(log n).
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!((index.lower(3), index.lower(-5)), (Some((-5, 50)), None));
    /// ```
    pub fn lower(&self, key: K) -> Option<(K, V)> {
        self.access().beside(key, Reverse)
    }

    /// Returns the entry with the smallest key above `key`. O(log n).
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!((index.higher(-5), index.higher(3)), (Some((3, 30)), None));
    /// ```
    pub fn higher(&self, key: K) -> Option<(K, V)> {
        self.access().beside(key, Forward)
    }
}
