//! Operations on whole ranges that every index has: fold, scan.

use super::Index;
use super::access::{Words, encode_range};
use super::engine::KeyFor;
use super::order::Scanned;
use core::ops::{Bound, ControlFlow, RangeBounds};
use latchless_core::base::index::Direction;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

impl<K: Key, V: Value> Scanned<K, V> for Words<K, V> {
    type KeyRef<'k> = K;

    #[inline(always)]
    fn own_key(key: K) -> K {
        key
    }

    #[inline]
    fn near_with<R>(&self, from: Bound<K>, direction: Direction, see: impl FnOnce(K, V) -> R) -> Option<R> {
        self.access().near(from, direction).map(|(key, value)| see(key, value))
    }

    #[inline]
    fn scan_lent<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        direction: Direction,
        see: impl FnMut(K, V) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.access().scan_towards(encode_range::<K, V>(&range), direction, see)
    }

    #[inline]
    fn scan<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        see: impl FnMut(K, V) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.access().scan(encode_range::<K, V>(&range), see)
    }

    #[inline]
    fn fold<'q, A>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        start: A,
        fold: impl FnMut(A, K, V) -> A,
    ) -> A {
        self.access().fold(encode_range::<K, V>(&range), start, fold)
    }

    fn scan_many<'q, R: RangeBounds<K::Probe<'q>>>(
        &self,
        ranges: &[R],
        mut see: impl FnMut(usize, K, V) -> ControlFlow<()>,
    ) {
        self.access().range_many(ranges, |at, keys, values| {
            keys.iter().zip(values).try_for_each(|(&key, &value)| see(at, key, value))
        });
    }
}

/// Whole ranges, entry by entry.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Folds the entries of a range, ascending, into one result: a sum, a maximum, a histogram. Each value is
    /// lent: nothing is allocated for a string, and the references of an `Arc` aren't counted. Concurrent
    /// changes are visible as in [`range`](Index::range).
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..1000).map(|key| (key, 2 * key as u32)).collect();
    /// let sum = index.fold(10..20, 0, |sum, _, value| sum + u64::from(value));
    /// assert_eq!(sum, 290);
    /// # use latchless::Index;
    /// let texts: Index<String, String> = ["a", "b"].map(|name| (name.to_owned(), name.repeat(3))).into();
    /// assert_eq!(texts.fold("a".., 0, |length, _, text| length + text.len()), 6);
    /// ```
    #[inline]
    pub fn fold<'q, A>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        start: A,
        fold: impl FnMut(A, K, V::Lent<'_>) -> A,
    ) -> A {
        self.engine.fold(range, start, fold)
    }

    /// Calls `each` with every entry of a range, ascending.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..1000).map(|key| (key, 2 * key as u32)).collect();
    /// let mut keys = Vec::new();
    /// index.for_each(997.., |key, _| keys.push(key));
    /// assert_eq!(keys, [997, 998, 999]);
    /// # use latchless::Index;
    /// let texts: Index<String, String> = ["a", "b"].map(|name| (name.to_owned(), name.repeat(3))).into();
    /// let mut all = String::new();
    /// texts.for_each(.., |_, text| all += text);
    /// assert_eq!(all, "aaabbb");
    /// ```
    #[inline]
    pub fn for_each<'q>(&self, range: impl RangeBounds<K::Probe<'q>>, mut each: impl FnMut(K, V::Lent<'_>)) {
        self.fold(range, (), |(), key, value| each(key, value));
    }

    /// Calls `see` with every entry of a range, ascending, until it breaks. Returns the last result of `see`.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// # let index: latchless::Index<u64, u32> = (0..1000).map(|key| (key, 2 * key as u32)).collect();
    /// let mut first_large = None;
    /// let shown = index.scan(10.., |key, value| {
    ///     if value < 500 {
    ///         return ControlFlow::Continue(());
    ///     }
    ///     first_large = Some(key);
    ///     ControlFlow::Break(())
    /// });
    /// assert!(shown.is_break() && first_large == Some(250));
    /// # use latchless::Index;
    /// let texts: Index<String, String> = ["a", "b"].map(|name| (name.to_owned(), name.repeat(3))).into();
    /// assert!(texts.scan("b".., |_, text| {
    ///     assert_eq!(text, "bbb");
    ///     ControlFlow::Continue(())
    /// }).is_continue());
    /// ```
    #[inline]
    pub fn scan<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        see: impl FnMut(K, V::Lent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.engine.scan(range, see)
    }

    /// Calls `see` with the entries of many ranges: those of the first range, ascending, then those of the
    /// second, and so on. `see` gets the range's position, a key and its value; breaking continues with the
    /// next range. With keys and values that fit words, the ranges' first leaves are prefetched together, and
    /// [`range_many`](Index::range_many) passes whole leaves.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// # use latchless::Index;
    /// let index: Index<u64, u32> = (0..100).map(|key| (key, 2 * key as u32)).collect();
    /// let mut sums = [0; 3];
    /// index.scan_many(&[90..200, 3..5, 7..7], |range, _, value| {
    ///     sums[range] += value;
    ///     ControlFlow::Continue(())
    /// });
    /// assert_eq!(sums, [1890, 14, 0]);
    /// let names: Index<String, u32> = [("five".to_owned(), 5), ("six".to_owned(), 6)].into();
    /// let mut first = [None, None];
    /// names.scan_many(&["a".."z", "n".."z"], |range, _, value| {
    ///     first[range] = Some(value);
    ///     ControlFlow::Break(())
    /// });
    /// assert_eq!(first, [Some(5), Some(6)]);
    /// ```
    pub fn scan_many<'q, R: RangeBounds<K::Probe<'q>>>(
        &self,
        ranges: &[R],
        see: impl FnMut(usize, K, V::Lent<'_>) -> ControlFlow<()>,
    ) {
        self.engine.scan_many(ranges, see);
    }
}
