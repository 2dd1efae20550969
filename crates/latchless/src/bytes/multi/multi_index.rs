//! [`MultiIndex`]: keys that map to many rows, as in a secondary index.

use super::{BytesEntries, BytesIndex};
use crate::index::{Incomplete, Options};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::{Bound, ControlFlow, RangeBounds};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::stats::Stats;

/// An ordered set of pairs of a key and a row's number, for many readers and many writers at once. A key
/// may have any number of rows.
///
/// The pairs are the keys of a [`BytesIndex`]: in the order of keys, the rows of a key in ascending order.
/// Common prefixes are stored once, so the rows of one key take about 9 bytes each, however long it is. The
/// guarantees are those of a [`BytesIndex`](crate::bytes).
///
/// ```
/// use latchless::bytes::MultiIndex;
///
/// let by_city = MultiIndex::<String>::new()?;
/// for (row, city) in ["Ulm", "Bonn", "Ulm"].iter().enumerate() {
///     by_city.insert(*city, row as u64)?;
/// }
/// assert_eq!(by_city.rows("Ulm").collect::<Vec<_>>(), [0, 2]);
/// assert_eq!(by_city.count_rows("Bonn"), 1);
/// assert!(by_city.remove("Ulm", 0));
/// assert_eq!(by_city.iter().collect::<Vec<_>>(), [("Bonn".into(), 1), ("Ulm".into(), 2)]);
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct MultiIndex<K: BytesKey> {
    pairs: BytesIndex<(K, u64), ()>,
}

impl<K: BytesKey> MultiIndex<K> {
    /// An empty index.
    ///
    /// # Errors
    /// Those of [`BytesIndex::new`].
    pub fn new() -> Result<Self> {
        Self::with_options(Options::default())
    }

    /// An empty index with these options.
    ///
    /// # Errors
    /// Those of [`BytesIndex::with_options`].
    pub fn with_options(options: Options) -> Result<Self> {
        Ok(Self { pairs: BytesIndex::with_options(options)? })
    }

    /// Builds an index from pairs in ascending order of their keys and then their rows. O(n).
    ///
    /// # Errors
    /// Those of [`BytesIndex::bulk_load`].
    pub fn from_sorted<Q>(pairs: impl IntoIterator<Item = (Q, u64)>, fill: FillFactor) -> Result<Self>
    where
        Q: BytesKey<K>,
    {
        let mut index = Self::new()?;
        index.bulk_load(pairs, fill)?;
        Ok(index)
    }

    /// Fills an empty index with pairs in ascending order of their keys and then their rows. O(n).
    ///
    /// # Errors
    /// Those of [`BytesIndex::bulk_load`].
    pub fn bulk_load<Q>(&mut self, pairs: impl IntoIterator<Item = (Q, u64)>, fill: FillFactor) -> Result<()>
    where
        Q: BytesKey<K>,
    {
        self.pairs.bulk_load(pairs.into_iter().map(|pair| (pair, ())), fill)
    }

    /// How many pairs there are; exact when no thread changes that meanwhile.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is no pair; as exact as [`MultiIndex::len`].
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Bytes that the index holds, as [`BytesIndex::memory_bytes`]. O(1).
    pub fn memory_bytes(&self) -> usize {
        self.pairs.memory_bytes()
    }

    /// Bytes in use, as [`BytesIndex::live_bytes`]. O(1).
    pub fn live_bytes(&self) -> usize {
        self.pairs.live_bytes()
    }

    /// Counts of nodes, levels and events, as [`BytesIndex::stats`].
    pub fn stats(&self) -> Stats {
        self.pairs.stats()
    }

    /// Checks the tree's invariants, for tests. See [`BytesIndex::check_invariants`].
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.pairs.check_invariants()
    }

    /// Removes all pairs.
    pub fn clear(&mut self) {
        self.pairs.clear();
    }

    /// Inserts a row under a key. Returns whether it is new. O(log n + l), one atomic step.
    ///
    /// # Errors
    /// Those of [`BytesIndex::insert`]; nothing has changed then.
    pub fn insert<Q: BytesKey<K> + ?Sized>(&self, key: &Q, row: u64) -> Result<bool> {
        Ok(self.pairs.insert(&(key, row), ())?.is_none())
    }

    /// Inserts many rows, in order. Returns how many are new.
    ///
    /// # Errors
    /// The pairs that were refused, and why; all others were inserted.
    pub fn insert_many<Q: BytesKey<K>>(&self, pairs: &[(Q, u64)]) -> Result<usize, Incomplete> {
        let entries: Vec<_> = pairs.iter().map(|(key, row)| ((key, *row), ())).collect();
        let mut replaced = vec![None; entries.len()];
        self.pairs.insert_many(&entries, &mut replaced)?;
        Ok(replaced.iter().filter(|replaced| replaced.is_none()).count())
    }

    /// Removes a row from under a key. Returns whether it was there. O(log n + l), one atomic step.
    pub fn remove<Q: BytesKey<K> + ?Sized>(&self, key: &Q, row: u64) -> bool {
        self.pairs.remove(&(key, row)).is_some()
    }

    /// Removes all rows of a key, one by one, and returns how many. Not atomic as a whole.
    pub fn remove_all<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> usize {
        self.pairs.remove_range((key, 0)..=(key, u64::MAX)).expect("the first row comes before the last")
    }

    /// Returns whether a key has any row. O(log n + l).
    ///
    /// ```
    /// # let index = latchless::bytes::MultiIndex::<String>::new()?;
    /// index.insert("ant", 3)?;
    /// assert!(index.contains_key("ant") && !index.contains_key("an"));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn contains_key<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> bool {
        self.scan_rows(key, |_| ControlFlow::Break(())).is_break()
    }

    /// Whether this row is under this key. O(log n + l).
    pub fn contains<Q: BytesKey<K> + ?Sized>(&self, key: &Q, row: u64) -> bool {
        self.pairs.contains_key(&(key, row))
    }

    /// The rows of a key, ascending, from both ends. O(log n + r) for r rows.
    pub fn rows<Q: BytesKey<K> + ?Sized>(
        &self,
        key: &Q,
    ) -> impl DoubleEndedIterator<Item = u64> + FusedIterator + use<'_, K, Q> {
        self.rows_from(key, 0)
    }

    /// The rows of a key from one on, ascending, from both ends. O(log n + r) for r rows.
    ///
    /// ```
    /// # let index = latchless::bytes::MultiIndex::<String>::new()?;
    /// for row in [7, 9, 11] {
    ///     index.insert("ant", row)?;
    /// }
    /// assert_eq!(index.rows_from("ant", 8).collect::<Vec<_>>(), [9, 11]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn rows_from<Q: BytesKey<K> + ?Sized>(
        &self,
        key: &Q,
        least: u64,
    ) -> impl DoubleEndedIterator<Item = u64> + FusedIterator + use<'_, K, Q> {
        let pairs = self.pairs.range((key, least)..=(key, u64::MAX));
        pairs.map(|((_, row), ())| row)
    }

    /// Shows the rows of a key, ascending, until `see` breaks off. As [`MultiIndex::rows`], but nothing is
    /// allocated for a row.
    ///
    /// ```
    /// # use latchless::bytes::MultiIndex;
    /// use std::ops::ControlFlow;
    ///
    /// let index = MultiIndex::<String>::new()?;
    /// index.insert_many(&[("ant", 3), ("ant", 1), ("bee", 2)]).expect("there is memory");
    /// let mut sum = 0;
    /// let shown = index.scan_rows("ant", |row| {
    ///     sum += row;
    ///     ControlFlow::Continue(())
    /// });
    /// assert!(shown.is_continue() && sum == 4);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn scan_rows<Q: BytesKey<K> + ?Sized>(
        &self,
        key: &Q,
        mut see: impl FnMut(u64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // A pair's bytes end with those of its row.
        let row = |pair: &[u8]| u64::from_be_bytes(*pair.last_chunk().expect("a row has eight bytes"));
        self.pairs.scan((key, 0)..=(key, u64::MAX), |pair, ()| see(row(pair)))
    }

    /// Returns the number of rows of a key. O(log n + r).
    pub fn count_rows<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> usize {
        self.pairs.count((key, 0)..=(key, u64::MAX))
    }

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
        MultiEntries(self.pairs.range(bounds_of_pairs(&range)))
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
        Ok(MultiEntries(self.pairs.try_range(bounds_of_pairs(&range))?))
    }

    /// Returns the number of pairs whose keys are in a range. O(r). Weakly consistent.
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

    /// The first row of the smallest key. O(log n), of one moment.
    pub fn first(&self) -> Option<(K, u64)> {
        self.pairs.first().map(|(pair, ())| pair)
    }

    /// The last row of the greatest key. O(log n), of one moment.
    pub fn last(&self) -> Option<(K, u64)> {
        self.pairs.last().map(|(pair, ())| pair)
    }

    /// All pairs, in order.
    pub fn iter(&self) -> MultiEntries<'_, K> {
        MultiEntries(self.pairs.iter())
    }
}

/// An end of a range of pairs.
type End<'q, Q> = Bound<(&'q Q, u64)>;

/// The bounds, as pairs, of the keys in a range.
fn bounds_of_pairs<K: BytesKey, Q: BytesKey<K> + ?Sized>(
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

impl<K: BytesKey> fmt::Debug for MultiIndex<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MultiIndex").field(&self.pairs).finish()
    }
}

impl<'i, K: BytesKey> IntoIterator for &'i MultiIndex<K> {
    type Item = (K, u64);
    type IntoIter = MultiEntries<'i, K>;

    fn into_iter(self) -> MultiEntries<'i, K> {
        self.iter()
    }
}

/// Pairs of a [`MultiIndex`], from both ends; weakly consistent, as [`BytesEntries`].
pub struct MultiEntries<'i, K: BytesKey>(BytesEntries<'i, (K, u64), ()>);

impl<K: BytesKey> fmt::Debug for MultiEntries<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MultiEntries").field(&self.0).finish()
    }
}

impl<K: BytesKey> Iterator for MultiEntries<'_, K> {
    type Item = (K, u64);

    fn next(&mut self) -> Option<(K, u64)> {
        Some(self.0.next()?.0)
    }
}

impl<K: BytesKey> DoubleEndedIterator for MultiEntries<'_, K> {
    fn next_back(&mut self) -> Option<(K, u64)> {
        Some(self.0.next_back()?.0)
    }
}

impl<K: BytesKey> FusedIterator for MultiEntries<'_, K> {}
