//! Positions: the number of keys before a key, the entry at a position, and partitions of equal size.

use super::Index;
use super::access::{Access, decode_entry, decode_key, encode_key, full_range};
use super::operations::operations;
use crate::tree::Mode;
use latchless_core::base::key::Key;
use latchless_core::base::span::previous;
use latchless_core::base::value::Value;

impl<K: Key, V: Value, M: Mode> Access<'_, K, V, M> {
    fn rank(self, key: K) -> usize {
        let last = previous(encode_key::<K, V>(key));
        last.map_or(0, |last| self.tree.count::<M>(full_range::<K, V>().0, last))
    }

    fn nth(self, position: usize) -> Option<(K, V)> {
        self.tree.nth::<M>(position).map(decode_entry::<K, V>)
    }

    fn split_points(self, parts: usize) -> Vec<K> {
        self.tree.split_points::<M>(parts).into_iter().map(decode_key::<K, V>).collect()
    }
}

operations! {
    /// Returns the number of keys that are less than `key`, which needn't be present.
    ///
    /// The index caches counts of its parts: from the first call of `rank`, [`nth`](Index::nth) or
    /// [`split_points`](Index::split_points), or of [`count`](Index::count) for a long range, if it has more
    /// than some ten thousand keys. That call counts everything once, and so does one after the index has
    /// grown to several times its size. A later call counts only the parts that have changed since the last
    /// one. It takes some microseconds if nothing has, and at most as long as the first one. Counts take
    /// about a tenth of a byte per key, up to half a byte in an index that grows; if the memory limit leaves
    /// no room, calls count leaf by leaf instead.
    ///
    /// Weakly consistent, as [`count`](Index::count) is: the lower keys that are present throughout count
    /// once, and those that are inserted or removed meanwhile at most once. Exact if no thread changes the
    /// index.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..1000).map(|key| (2 * key, 0)).collect();
    /// assert_eq!((index.rank(0), index.rank(500), index.rank(501)), (0, 250, 251));
    /// assert_eq!(index.rank(u64::MAX), index.len());
    /// ```
    pub fn rank(&self, key: K) -> usize {
        self.access().rank(key)
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
    /// ```
    pub fn nth(&self, position: usize) -> Option<(K, V)> {
        self.access().nth(position)
    }

    /// Returns keys that partition the index into `parts` parts of equal size, for instance for threads that
    /// each scan one: the second part and every later one begin with one of these keys. They ascend, and
    /// there is one less than there are parts: no more parts than keys, and no part is empty.
    ///
    /// The sizes of parts differ by at most one key if no thread changes the index. Otherwise each of these
    /// keys is one that [`nth`](Index::nth) might have returned, and there may be fewer of them. Costs as
    /// much as one call of [`nth`](Index::nth) per part.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..1000).map(|key| (2 * key, 7)).collect();
    /// let starts = index.split_points(4);
    /// assert_eq!(starts, [500, 1000, 1500]);
    /// assert_eq!(index.count(starts[0]..starts[1]), 250);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn split_points(&self, parts: usize) -> Vec<K> {
        self.access().split_points(parts)
    }
}
