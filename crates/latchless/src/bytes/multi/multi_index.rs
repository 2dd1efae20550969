//! The index itself: what it holds, single pairs, and the rows of a key.

use crate::bytes::ByteStrings;
use crate::frozen::{Frozen, NotFrozen};
use crate::index::{Incomplete, Options};
use core::iter::FusedIterator;
use core::ops::ControlFlow;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::stats::Stats;

/// An ordered set of pairs of a key and a row's number, for many readers and many writers at once. A key
/// may have any number of rows.
///
/// The pairs are keys as byte strings: in the order of keys, the rows of a key in ascending order.
/// Common prefixes are stored once, so the rows of one key take about 9 bytes each, however long it is. The
/// guarantees are those of [the module](crate::bytes).
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
/// assert_eq!((by_city.distinct_keys(), by_city.keys().next_back()), (2, Some("Ulm".into())));
/// assert_eq!(by_city.ceiling("Celle"), Some(("Ulm".into(), 2)));
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct MultiIndex<K: BytesKey> {
    pub(super) pairs: ByteStrings<(K, u64), ()>,
}

impl<K: BytesKey> MultiIndex<K> {
    /// An empty index.
    ///
    /// # Errors
    /// Those of [`Index::new`](crate::Index::new).
    pub fn new() -> Result<Self> {
        Self::with_options(Options::default())
    }

    /// An empty index with these options.
    ///
    /// # Errors
    /// Those of [`Index::with_options`](crate::Index::with_options).
    pub fn with_options(options: Options) -> Result<Self> {
        Ok(Self { pairs: ByteStrings::with_options(options)? })
    }

    /// Builds an index from pairs in ascending order of their keys and then their rows. O(n).
    ///
    /// # Errors
    /// Those of [`Index::bulk_load`](crate::Index::bulk_load).
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
    /// Those of [`Index::bulk_load`](crate::Index::bulk_load).
    pub fn bulk_load<Q>(&mut self, pairs: impl IntoIterator<Item = (Q, u64)>, fill: FillFactor) -> Result<()>
    where
        Q: BytesKey<K>,
    {
        self.pairs.bulk_load(pairs.into_iter().map(|pair| (pair, ())), fill)
    }

    /// Creates an index of all pairs of an iterator, in any order, also with duplicates. O(n log n): sorts
    /// them and loads them in bulk.
    ///
    /// # Errors
    /// Those of [`Index::bulk_load`](crate::Index::bulk_load).
    pub fn try_from_iter<Q: BytesKey<K>>(pairs: impl IntoIterator<Item = (Q, u64)>) -> Result<Self> {
        Ok(Self { pairs: ByteStrings::try_from_iter(pairs.into_iter().map(|pair| (pair, ())))? })
    }

    /// Inserts all pairs of an iterator.
    ///
    /// # Errors
    /// Those of [`MultiIndex::insert`]; the pairs before that one are inserted.
    pub fn try_extend<Q: BytesKey<K>>(&self, pairs: impl IntoIterator<Item = (Q, u64)>) -> Result<()> {
        self.pairs.try_extend(pairs.into_iter().map(|pair| (pair, ())))
    }

    /// Creates an index of the same pairs, with the default [`Options`]. Of an index that other threads
    /// change it is as weakly consistent as [`MultiIndex::iter`]. O(n).
    ///
    /// # Errors
    /// Memory was refused.
    pub fn try_clone(&self) -> Result<Self> {
        Self::from_sorted(self.iter(), FillFactor::default())
    }

    /// How many pairs there are; exact when no thread changes that meanwhile.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is no pair; as exact as [`MultiIndex::len`].
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Bytes that the index holds, as [`Index::memory_bytes`](crate::Index::memory_bytes). O(1).
    pub fn memory_bytes(&self) -> usize {
        self.pairs.memory_bytes()
    }

    /// Bytes in use, as [`Index::live_bytes`](crate::Index::live_bytes). O(1).
    pub fn live_bytes(&self) -> usize {
        self.pairs.live_bytes()
    }

    /// Counts of nodes, levels and events, as [`Index::stats`](crate::Index::stats).
    pub fn stats(&self) -> Stats {
        self.pairs.stats()
    }

    /// Checks the tree's invariants, for tests. See [`Index::check_invariants`](crate::Index::check_invariants).
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

    /// Moves all pairs to new nodes, each filled to this degree, and gives the memory of the old ones back to
    /// the system. O(n). See [`Index::shrink`](crate::Index::shrink).
    ///
    /// # Errors
    /// Those of [`Index::shrink`](crate::Index::shrink); nothing has changed then.
    ///
    /// ```
    /// use latchless::{FillFactor, bytes::MultiIndex};
    ///
    /// let pairs = (0..50_000).map(|row| (format!("city {}", row % 100), row));
    /// let mut by_city = MultiIndex::<String>::try_from_iter(pairs)?;
    /// let full = by_city.memory_bytes();
    /// (1..100).for_each(|city| _ = by_city.remove_all(&format!("city {city}")));
    /// by_city.shrink(FillFactor::default())?;
    /// assert!(by_city.len() == 500 && by_city.memory_bytes() < full / 10);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        self.pairs.shrink(fill)
    }

    /// Packs the index, and returns it for reading alone, with shared ownership: see
    /// [`Index::freeze`](crate::Index::freeze).
    ///
    /// # Errors
    /// Those of [`Index::freeze`](crate::Index::freeze).
    ///
    /// ```
    /// # use latchless::bytes::MultiIndex;
    /// let by_city = MultiIndex::from([("Rome".to_owned(), 7), ("Oslo".to_owned(), 9)]).freeze()?;
    /// assert!(by_city.rows("Rome").eq([7]) && by_city.distinct_keys() == 2);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[expect(clippy::result_large_err, reason = "the index is given back")]
    pub fn freeze(self) -> Result<Frozen<Self>, NotFrozen<Self>> {
        Frozen::packed(self, Self::shrink)
    }

    /// Inserts a row under a key. Returns whether it is new. O(log n + l), one atomic step.
    ///
    /// # Errors
    /// Those of [`Index::insert`](crate::Index::insert); nothing has changed then.
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
    ) -> impl DoubleEndedIterator<Item = u64> + FusedIterator + Clone + use<'_, K, Q> {
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
    ) -> impl DoubleEndedIterator<Item = u64> + FusedIterator + Clone + use<'_, K, Q> {
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

    /// Returns the number of rows of a key. O(log n + r / 50): some cache lines of each leaf with rows of the
    /// key are read, and no row. Weakly consistent.
    pub fn count_rows<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> usize {
        self.pairs.count((key, 0)..=(key, u64::MAX))
    }
}
