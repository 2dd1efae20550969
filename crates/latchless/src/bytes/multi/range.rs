//! The pairs of ranges of keys, and of ranges of pairs.

use super::MultiIndex;
use crate::bytes::BytesEntries;
use crate::index::Keys;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::error::Result;

/// Pairs of a [`MultiIndex`], from both ends; weakly consistent, as [`BytesEntries`].
pub type MultiEntries<'i, K> = Keys<BytesEntries<'i, (K, u64), ()>>;

/// Pairs in the order of their keys.
impl<K: BytesKey> MultiIndex<K> {
    /// The pairs whose keys are in a range, from both ends. A range that starts after its end is empty.
    ///
    /// ```
    /// # use latchless::bytes::MultiIndex;
    /// let index = MultiIndex::<u128>::new()?;
    /// index.insert_many(&[(1, 10), (2, 20), (2, 21), (3, 30)]).expect("there is memory");
    /// assert_eq!(index.range(2..3).collect::<Vec<_>>(), [(2, 20), (2, 21)]);
    /// assert_eq!(index.range(..=2).rev().next(), Some((2, 21)));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn range<Q>(&self, range: impl RangeBounds<Q>) -> MultiEntries<'_, K>
    where
        Q: BytesKey<K> + ?Sized,
    {
        Keys(self.pairs.range(bounds_of_pairs(&range)))
    }

    /// The pairs whose keys are in a range; returns an error, not an empty iterator, if the ends are in the
    /// wrong order. See [`MultiIndex::range`].
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange) when it starts after its end.
    pub fn try_range<Q>(&self, range: impl RangeBounds<Q>) -> Result<MultiEntries<'_, K>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        Ok(Keys(self.pairs.try_range(bounds_of_pairs(&range))?))
    }

    /// The pairs of a range of pairs, from both ends: to go on after a pair, or for some rows of the first
    /// and the last key only. A range that starts after its end is empty.
    ///
    /// ```
    /// # use latchless::bytes::MultiIndex;
    /// use std::ops::Bound::{Excluded, Unbounded};
    ///
    /// let index: MultiIndex<String> = [("ant".into(), 1), ("ant".into(), 5), ("bee".into(), 2)].into();
    /// let after = index.range_pairs((Excluded(("ant", 1)), Unbounded));
    /// assert_eq!(after.collect::<Vec<_>>(), [("ant".into(), 5), ("bee".into(), 2)]);
    /// ```
    pub fn range_pairs<Q: BytesKey<K>>(&self, range: impl RangeBounds<(Q, u64)>) -> MultiEntries<'_, K> {
        Keys(self.pairs.range(range))
    }

    /// Returns the number of pairs whose keys are in a range. O(log n + r / 50), as
    /// [`count_rows`](MultiIndex::count_rows). Weakly consistent.
    pub fn count<Q>(&self, range: impl RangeBounds<Q>) -> usize
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.pairs.count(bounds_of_pairs(&range))
    }

    /// Removes the pairs whose keys are in a range, one by one, and returns their number. Not atomic as a
    /// whole.
    ///
    /// # Errors
    /// Those of [`MultiIndex::try_range`]; nothing was removed then.
    ///
    /// ```
    /// # use latchless::bytes::MultiIndex;
    /// let index = MultiIndex::<String>::new()?;
    /// index.insert_many(&[("ant", 1), ("bee", 2), ("bee", 3)]).expect("there is memory");
    /// assert_eq!(index.remove_range("b".."c")?, 2);
    /// assert_eq!((index.first(), index.len()), (Some(("ant".into(), 1)), 1));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn remove_range<Q>(&self, range: impl RangeBounds<Q>) -> Result<usize>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.pairs.remove_range(bounds_of_pairs(&range))
    }

    /// All pairs, in order.
    pub fn iter(&self) -> MultiEntries<'_, K> {
        Keys(self.pairs.iter())
    }
}

/// An end of a range of pairs.
pub(super) type End<'q, Q> = Bound<(&'q Q, u64)>;

/// The bounds, as pairs, of the keys in a range.
pub(super) fn bounds_of_pairs<K: BytesKey, Q: BytesKey<K> + ?Sized>(
    range: &impl RangeBounds<Q>,
) -> (End<'_, Q>, End<'_, Q>) {
    let low = match range.start_bound() {
        Bound::Included(key) => Bound::Included((key, 0)),
        Bound::Excluded(key) => Bound::Excluded((key, u64::MAX)),
        Bound::Unbounded => Bound::Unbounded,
    };
    let high = match range.end_bound() {
        Bound::Included(key) => Bound::Included((key, u64::MAX)),
        Bound::Excluded(key) => Bound::Excluded((key, 0)),
        Bound::Unbounded => Bound::Unbounded,
    };
    // After all rows of a key and before all of the same key there is nothing, as in any empty range.
    if let (Bound::Excluded((own, _)), Bound::Excluded((other, _))) = (&low, &high)
        && own.with_bytes(|own| other.with_bytes(|other| own == other))
    {
        let nothing = Bound::Excluded((*own, 0));
        return (nothing, nothing);
    }
    (low, high)
}
