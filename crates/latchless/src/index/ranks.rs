//! Positions: the number of keys before a key, the entry at a position, and partitions of equal size; and
//! counts of many ranges.

use super::Index;
use super::access::{Access, EncodedRange, Words, decode_entry, decode_key, encode_range, full_range};
use super::engine::KeyFor;
use super::exclusive::Exclusive;
use super::operations::exclusive;
use super::order::Ranked;
use crate::tree::Mode;
use core::ops::Bound::{Excluded, Unbounded};
use core::ops::RangeBounds;
use latchless_core::base::error::Result;
use latchless_core::base::index::check_side_by_side;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

/// The number of ranges whose end leaves are prefetched together.
const RANGES_TOGETHER: usize = 16;

impl<K: Key, V: Value, M: Mode> Access<'_, K, V, M> {
    fn nth(self, position: usize) -> Option<(K, V)> {
        self.tree.nth::<M>(position).map(decode_entry::<K, V>)
    }

    fn split_points(self, parts: usize) -> Vec<K> {
        self.tree.split_points::<M>(parts).into_iter().map(decode_key::<K, V>).collect()
    }

    fn count_many<R: RangeBounds<K>>(self, ranges: &[R], counts: &mut [usize]) {
        let mut together = [full_range::<K, V>(); RANGES_TOGETHER];
        for (ranges, counts) in ranges.chunks(RANGES_TOGETHER).zip(counts.chunks_mut(RANGES_TOGETHER)) {
            // For a range without keys, one that starts after its end.
            let (first, last): EncodedRange<K, V> = full_range::<K, V>();
            for (encoded, range) in together.iter_mut().zip(ranges) {
                *encoded = encode_range::<K, V>(range).unwrap_or((last, first));
            }
            // Their grouped descents bring the leaves of their ends into the cache.
            let end_at =
                |at: usize| if at.is_multiple_of(2) { together[at / 2].0 } else { together[at / 2].1 };
            self.tree.get_each::<M>(2 * ranges.len(), self.group, end_at, |_, _| {});
            for (count, &(low, high)) in counts.iter_mut().zip(&together) {
                *count = if low <= high { self.tree.count::<M>(low, high) } else { 0 };
            }
        }
    }
}

impl<K: Key, V: Value> Ranked<K, V> for Words<K, V> {
    fn nth(&self, position: usize) -> Option<(K, V)> {
        self.access().nth(position)
    }

    fn split_points(&self, parts: usize) -> Vec<K> {
        self.access().split_points(parts)
    }

    fn count_many<'q, R: RangeBounds<K::Probe<'q>>>(&self, ranges: &[R], counts: &mut [usize]) {
        self.access().count_many(ranges, counts);
    }
}

/// Positions in the order of keys.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Returns the number of keys that are less than `key`, which needn't be present.
    ///
    /// An index whose keys and values fit words, or one of `Arc`s by such keys, caches counts of its parts:
    /// from the first call of `rank`, [`nth`](Index::nth) or [`split_points`](Index::split_points), or of
    /// [`count`](Index::count) for a long range, if it has more than some ten thousand keys. That call
    /// counts everything once, and so does one after the index has grown to several times its size. A later
    /// call counts only the parts that have changed since the last one. It takes some microseconds if nothing
    /// has, and at most as long as the first one. Counts take about a tenth of a byte per key, up to half a
    /// byte in an index that grows; if the memory limit leaves no room, calls count leaf by leaf instead.
    ///
    /// Where keys or values are stored as byte strings, every call counts leaf by leaf: some five cache lines
    /// for each leaf up to the key, so O(n / 50) if keys are short.
    ///
    /// Weakly consistent, as [`count`](Index::count) is: the lower keys that are present throughout count
    /// once, and those that are inserted or removed meanwhile at most once. Exact if no thread changes the
    /// index.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..1000).map(|key| (2 * key, 0)).collect();
    /// assert_eq!((index.rank(0), index.rank(500), index.rank(501)), (0, 250, 251));
    /// assert_eq!(index.rank(u64::MAX), index.len());
    /// # use latchless::Index;
    /// let names: Index<String, u32> = ["a", "b", "c"].map(|name| (name.to_owned(), 7)).into();
    /// assert_eq!((names.rank("b"), names.rank("bb")), (1, 2));
    /// ```
    pub fn rank(&self, key: K::Probe<'_>) -> usize {
        self.count((Unbounded, Excluded(key)))
    }

    /// Returns the entry before which there are `position` others, in the order of keys: `nth(0)` is the
    /// first one. `None` if there are no more than that. Costs as much as [`rank`](Index::rank).
    ///
    /// Weakly consistent when other threads change the index meanwhile: the entry was present during the
    /// call, and the number of keys before it is one that [`rank`](Index::rank) might have returned. It is
    /// `None` only if such a count of all keys is no more than `position`.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..1000).map(|key| (2 * key, 7)).collect();
    /// assert_eq!((index.nth(0), index.nth(999), index.nth(1000)), (Some((0, 7)), Some((1998, 7)), None));
    /// let median = index.nth(index.len() / 2);
    /// assert_eq!(median, Some((1000, 7)));
    /// # use latchless::Index;
    /// let names: Index<String, u32> = ["a", "b", "c"].map(|name| (name.to_owned(), 7)).into();
    /// assert_eq!(names.nth(1), Some(("b".to_owned(), 7)));
    /// ```
    pub fn nth(&self, position: usize) -> Option<(K, V)> {
        self.engine.nth(position)
    }

    /// Returns keys that partition the index into `parts` parts of equal size, for instance for threads that
    /// each scan one: the second part and every later one begin with one of these keys. They ascend, and
    /// there is one less than there are parts: no more parts than keys, and no part is empty.
    ///
    /// The sizes of parts differ by at most one key if no thread changes the index. Otherwise each of these
    /// keys is one that [`nth`](Index::nth) might have returned, and there may be fewer of them. Costs as
    /// much as one call of [`nth`](Index::nth) per part; where [`rank`](Index::rank) counts leaf by leaf, as
    /// much as two of all parts together.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..1000).map(|key| (2 * key, 7)).collect();
    /// let starts = index.split_points(4);
    /// assert_eq!(starts, [500, 1000, 1500]);
    /// assert_eq!(index.count(starts[0]..starts[1]), 250);
    /// # use latchless::Index;
    /// let names: Index<String, u32> = ["a", "b", "c"].map(|name| (name.to_owned(), 7)).into();
    /// assert_eq!(names.split_points(3), ["b", "c"]);
    /// ```
    pub fn split_points(&self, parts: usize) -> Vec<K> {
        self.engine.split_points(parts)
    }

    /// Counts the keys in each of many ranges, in the ranges' order. With keys and values that fit words, the
    /// leaves of the ranges' ends are prefetched together. See [`Index::count`].
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers) if `counts` isn't as long as `ranges`; nothing
    /// is written then.
    ///
    /// ```
    /// # use latchless::Index;
    /// let index: Index<u64, u32> = (0..1000).map(|key| (key, 0)).collect();
    /// let mut counts = [0; 3];
    /// index.count_many(&[990..2000, 5..8, 7..7], &mut counts)?;
    /// assert_eq!(counts, [10, 3, 0]);
    /// let names: Index<String, u32> = ["a", "b", "c"].map(|name| (name.to_owned(), 7)).into();
    /// names.count_many(&["a".."b", "b".."x", "c".."c"], &mut counts)?;
    /// assert_eq!(counts, [1, 2, 0]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn count_many<'q, R: RangeBounds<K::Probe<'q>>>(
        &self,
        ranges: &[R],
        counts: &mut [usize],
    ) -> Result<()> {
        check_side_by_side(ranges.len(), counts.len())?;
        self.engine.count_many(ranges, counts);
        Ok(())
    }
}

exclusive! {
    /// See [`Index::rank`].
    pub fn rank(&self, key: K) -> usize {
        self.count((Unbounded, Excluded(key)))
    }

    /// See [`Index::nth`].
    pub fn nth(&self, position: usize) -> Option<(K, V)> {
        self.access().nth(position)
    }

    /// See [`Index::split_points`].
    pub fn split_points(&self, parts: usize) -> Vec<K> {
        self.access().split_points(parts)
    }

    /// See [`Index::count_many`].
    pub fn count_many(&self, ranges: &[impl RangeBounds<K>], counts: &mut [usize]) -> Result<()> {
        check_side_by_side(ranges.len(), counts.len())?;
        self.access().count_many(ranges, counts);
        Ok(())
    }
}
