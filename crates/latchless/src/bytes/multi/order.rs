//! The first and the last pair, and the neighbours of a key and of a pair, each as of one moment.

use super::MultiIndex;
use crate::byte_tree::Border;
use crate::index::order::Side;
use core::ops::Bound::Unbounded;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::index::Direction::{Forward, Reverse};

/// Returns the pair with these bytes.
fn pair<K: BytesKey>(bytes: &[u8], (): ()) -> (K, u64) {
    <(K, u64)>::from_bytes(bytes)
}

/// Neighbours. Each is an atomic step, O(log n + l).
impl<K: BytesKey> MultiIndex<K> {
    fn near<Q: BytesKey<K> + ?Sized>(&self, side: Side, key: &Q, row: u64) -> Option<(K, u64)> {
        (key, row).with_bytes(|bytes| {
            self.pairs.look_near(Border { from: side.of(bytes), direction: side.direction }, pair)
        })
    }

    /// The first row of the smallest key.
    pub fn first(&self) -> Option<(K, u64)> {
        self.pairs.look_near(Border { from: Unbounded, direction: Forward }, pair)
    }

    /// The last row of the greatest key.
    pub fn last(&self) -> Option<(K, u64)> {
        self.pairs.look_near(Border { from: Unbounded, direction: Reverse }, pair)
    }

    /// The last row of a key, or of the last key before it.
    ///
    /// ```
    /// # use latchless::bytes::MultiIndex;
    /// let index: MultiIndex<u128> = [(3, 1), (3, 2), (5, 1)].into();
    /// assert_eq!((index.floor(&4), index.floor(&3), index.floor(&2)), (Some((3, 2)), Some((3, 2)), None));
    /// assert_eq!((index.ceiling(&4), index.ceiling(&3)), (Some((5, 1)), Some((3, 1))));
    /// assert_eq!((index.lower(&5), index.higher(&3)), (Some((3, 2)), Some((5, 1))));
    /// ```
    pub fn floor<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Option<(K, u64)> {
        self.near(Side::FLOOR, key, u64::MAX)
    }

    /// The first row of a key, or of the first key after it.
    pub fn ceiling<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Option<(K, u64)> {
        self.near(Side::CEILING, key, 0)
    }

    /// The last row of the last key before a key.
    pub fn lower<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Option<(K, u64)> {
        self.near(Side::LOWER, key, 0)
    }

    /// The first row of the first key after a key.
    pub fn higher<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Option<(K, u64)> {
        self.near(Side::HIGHER, key, u64::MAX)
    }

    /// A pair, or the last one before it.
    ///
    /// ```
    /// # use latchless::bytes::MultiIndex;
    /// let index: MultiIndex<u128> = [(3, 1), (3, 9), (5, 1)].into();
    /// assert_eq!((index.floor_pair(&3, 4), index.ceiling_pair(&3, 4)), (Some((3, 1)), Some((3, 9))));
    /// assert_eq!((index.lower_pair(&3, 1), index.higher_pair(&3, 9)), (None, Some((5, 1))));
    /// ```
    pub fn floor_pair<Q: BytesKey<K> + ?Sized>(&self, key: &Q, row: u64) -> Option<(K, u64)> {
        self.near(Side::FLOOR, key, row)
    }

    /// A pair, or the first one after it.
    pub fn ceiling_pair<Q: BytesKey<K> + ?Sized>(&self, key: &Q, row: u64) -> Option<(K, u64)> {
        self.near(Side::CEILING, key, row)
    }

    /// The last pair before a pair.
    pub fn lower_pair<Q: BytesKey<K> + ?Sized>(&self, key: &Q, row: u64) -> Option<(K, u64)> {
        self.near(Side::LOWER, key, row)
    }

    /// The first pair after a pair.
    pub fn higher_pair<Q: BytesKey<K> + ?Sized>(&self, key: &Q, row: u64) -> Option<(K, u64)> {
        self.near(Side::HIGHER, key, row)
    }

    /// Removes the first row of the smallest key. Of several threads that do so at once, each has another
    /// pair.
    ///
    /// ```
    /// # use latchless::bytes::MultiIndex;
    /// let index: MultiIndex<u128> = [(3, 1), (3, 9), (5, 1)].into();
    /// assert_eq!((index.pop_first(), index.pop_last()), (Some((3, 1)), Some((5, 1))));
    /// assert_eq!(index.len(), 1);
    /// ```
    pub fn pop_first(&self) -> Option<(K, u64)> {
        self.pairs.pop_shown(Forward, pair)
    }

    /// Removes the last row of the greatest key. See [`MultiIndex::pop_first`].
    pub fn pop_last(&self) -> Option<(K, u64)> {
        self.pairs.pop_shown(Reverse, pair)
    }
}
