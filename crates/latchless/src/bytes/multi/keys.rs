//! The distinct keys, each once however many rows it has.

use super::MultiIndex;
use super::range::bounds_of_pairs;
use crate::bytes::bounds::OwnedBounds;
use crate::bytes::{ByteStrings, BytesEntries, Entries};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::index::Direction::{self, Forward, Reverse};

/// The number of rows of one key that are passed one by one, before a descent passes all others.
const ROWS_BEFORE_A_DESCENT: usize = 32;

/// The length of a row's number, with which the bytes of a pair end.
const ROW: usize = size_of::<u64>();

/// Distinct keys.
impl<K: BytesKey> MultiIndex<K> {
    /// The distinct keys, from both ends. Most of the rows of a key that has many are passed over: O(log n +
    /// min(r, 32)) for a key with r rows.
    ///
    /// ```
    /// # use latchless::bytes::MultiIndex;
    /// let index: MultiIndex<String> = [("ant".into(), 1), ("ant".into(), 5), ("bee".into(), 2)].into();
    /// assert_eq!(index.keys().collect::<Vec<_>>(), ["ant", "bee"]);
    /// ```
    pub fn keys(&self) -> MultiKeys<'_, K> {
        MultiKeys::new(&self.pairs, OwnedBounds::ALL)
    }

    /// The distinct keys of a range, from both ends: see [`MultiIndex::keys`]. A range that starts after its
    /// end is empty.
    ///
    /// ```
    /// # use latchless::bytes::MultiIndex;
    /// let index: MultiIndex<u128> = [(3, 1), (3, 9), (5, 1), (7, 1)].into();
    /// assert_eq!(index.range_keys(..=5).rev().collect::<Vec<_>>(), [5, 3]);
    /// ```
    pub fn range_keys<Q: BytesKey<K> + ?Sized>(&self, range: impl RangeBounds<Q>) -> MultiKeys<'_, K> {
        MultiKeys::new(&self.pairs, OwnedBounds::of(&bounds_of_pairs(&range)))
    }

    /// Counts the distinct keys; no counter is kept. O(n) if keys have few rows, and for d keys with many
    /// rows O(d log n). Weakly consistent: a key that has a row throughout counts once.
    ///
    /// ```
    /// # use latchless::bytes::MultiIndex;
    /// let index: MultiIndex<u128> = (0..1000).map(|row| (u128::from(row / 100), row)).collect();
    /// assert_eq!((index.len(), index.distinct_keys()), (1000, 10));
    /// ```
    pub fn distinct_keys(&self) -> usize {
        self.keys().count()
    }
}

/// Distinct keys of a [`MultiIndex`], from both ends; weakly consistent: a key of which a row is present
/// throughout is seen exactly once.
pub struct MultiKeys<'i, K: BytesKey> {
    index: &'i ByteStrings<(K, u64), ()>,
    bounds: OwnedBounds,
    pairs: BytesEntries<'i, (K, u64), ()>,
    /// The bytes of the keys that came last from each end, as they are in pairs.
    front: Option<Vec<u8>>,
    back: Option<Vec<u8>>,
}

/// What the next pair is.
enum Next<R> {
    New(R),
    OfTheSameKey,
    /// The other end has come to its key.
    Met,
}

impl<'i, K: BytesKey> MultiKeys<'i, K> {
    fn new(index: &'i ByteStrings<(K, u64), ()>, bounds: OwnedBounds) -> Self {
        let pairs = Entries::new(index, bounds.clone());
        Self { index, bounds, pairs, front: None, back: None }
    }

    /// Takes the next key of an end, and returns what `show` makes of a pair's bytes.
    fn step<R>(&mut self, end: Direction, show: fn(&[u8]) -> R) -> Option<R> {
        for passed in 1.. {
            let Self { pairs, front, back, .. } = self;
            let (own, other) = if end == Forward { (front, &*back) } else { (back, &*front) };
            let look = |pair: &[u8], ()| {
                let key = &pair[..pair.len() - ROW];
                if own.as_deref() == Some(key) {
                    return Next::OfTheSameKey;
                }
                if other.as_deref() == Some(key) {
                    return Next::Met;
                }
                let own = own.get_or_insert_default();
                own.clear();
                own.extend_from_slice(key);
                Next::New(show(pair))
            };
            let next = if end == Forward { pairs.next_with(look) } else { pairs.next_back_with(look) };
            match next? {
                Next::New(key) => return Some(key),
                Next::Met => return None,
                Next::OfTheSameKey if passed % ROWS_BEFORE_A_DESCENT == 0 => self.descend(),
                Next::OfTheSameKey => {}
            }
        }
        None
    }

    /// Goes on with the pairs after all rows of the keys that were taken.
    fn descend(&mut self) {
        let taken = |key: &Option<Vec<u8>>, row: u64| {
            key.as_ref().map(|key| Bound::Excluded([&key[..], &row.to_be_bytes()].concat()))
        };
        let OwnedBounds { low, high } = self.bounds.clone();
        self.pairs = Entries::new(
            self.index,
            OwnedBounds {
                low: taken(&self.front, u64::MAX).unwrap_or(low),
                high: taken(&self.back, 0).unwrap_or(high),
            },
        );
    }
}

/// Returns the key of a pair with these bytes.
fn key_of<K: BytesKey>(pair: &[u8]) -> K {
    <(K, u64)>::from_bytes(pair).0
}

impl<K: BytesKey> Iterator for MultiKeys<'_, K> {
    type Item = K;

    fn next(&mut self) -> Option<K> {
        self.step(Forward, key_of)
    }

    fn count(mut self) -> usize {
        core::iter::from_fn(|| self.step(Forward, |_| ())).count()
    }

    fn last(mut self) -> Option<K> {
        self.next_back()
    }
}

impl<K: BytesKey> DoubleEndedIterator for MultiKeys<'_, K> {
    fn next_back(&mut self) -> Option<K> {
        self.step(Reverse, key_of)
    }
}

impl<K: BytesKey> FusedIterator for MultiKeys<'_, K> {}

/// A clone goes on from the same key.
impl<K: BytesKey> Clone for MultiKeys<'_, K> {
    fn clone(&self) -> Self {
        Self {
            index: self.index,
            bounds: self.bounds.clone(),
            pairs: self.pairs.clone(),
            front: self.front.clone(),
            back: self.back.clone(),
        }
    }
}

impl<K: BytesKey> fmt::Debug for MultiKeys<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultiKeys").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}
