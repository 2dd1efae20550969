//! Reads that lend what they find: no key is made, and no value is copied, allocated or counted.

use super::Index;
use super::engine::KeyFor;
use super::order::Scanned;
use super::prefix::{PrefixKey, Prefixed};
use core::ops::Bound::{Excluded, Included, Unbounded};
use core::ops::{ControlFlow, RangeBounds};
use latchless_core::base::index::Direction::{self, Forward, Reverse};
use latchless_core::base::index_value::IndexValue;

/// The form in which an [`Index`] lends a key: the key itself if it fits a word, otherwise its bytes
/// ([`BytesKey::with_bytes`](crate::BytesKey::with_bytes)), in whose order the keys are.
/// [`BytesKey::from_bytes`](crate::BytesKey::from_bytes) makes a key of them.
pub type LentKey<'k, K, V> = <<K as KeyFor<V>>::Engine as Scanned<K, V>>::KeyRef<'k>;

/// Reads that lend keys and values.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Calls `see` with the entry with the smallest key, and returns the result. See
    /// [`Index::ceiling_with`].
    ///
    /// ```
    /// let index: latchless::Index<String, u32> = [("b".into(), 2), ("a".into(), 1)].into();
    /// assert_eq!(index.first_with(|key, value| (key == b"a", value)), Some((true, 1)));
    /// assert_eq!(index.last_with(|key, value| (key == b"b", value)), Some((true, 2)));
    /// ```
    #[inline]
    pub fn first_with<R>(&self, see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R) -> Option<R> {
        self.engine.near_with(Unbounded, Forward, see)
    }

    /// Calls `see` with the entry with the largest key, and returns the result. See
    /// [`Index::ceiling_with`].
    #[inline]
    pub fn last_with<R>(&self, see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R) -> Option<R> {
        self.engine.near_with(Unbounded, Reverse, see)
    }

    /// Calls `see` with the entry with the largest key that is at most `key`, and returns the result. See
    /// [`Index::ceiling_with`].
    #[inline]
    pub fn floor_with<R>(
        &self,
        key: K::Probe<'_>,
        see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R,
    ) -> Option<R> {
        self.engine.near_with(Included(key), Reverse, see)
    }

    /// Calls `see` with the entry with the smallest key that is at least `key`, and returns the result. Key
    /// ([`LentKey`]) and value are lent, both as of one moment. Nothing is allocated, unless a key has more
    /// than 192 bytes outside of the common prefix, or a value is a string of more than 192 bytes. O(log n).
    ///
    /// ```
    /// use latchless::Index;
    /// use std::cmp::Reverse;
    ///
    /// // The newest version of a key that isn't newer than a snapshot.
    /// let versions = Index::<(String, Reverse<u64>), Vec<u8>>::new()?;
    /// versions.insert(("key", Reverse(3)), b"old")?;
    /// versions.insert(("key", Reverse(7)), b"new")?;
    /// let read = |snapshot: u64| {
    ///     versions.ceiling_with(("key", Reverse(snapshot)), |_, value| value.to_vec())
    /// };
    /// assert_eq!((read(5), read(7)), (Some(b"old".to_vec()), Some(b"new".to_vec())));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn ceiling_with<R>(
        &self,
        key: K::Probe<'_>,
        see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R,
    ) -> Option<R> {
        self.engine.near_with(Included(key), Forward, see)
    }

    /// Calls `see` with the entry with the largest key below `key`, and returns the result. See
    /// [`Index::ceiling_with`].
    #[inline]
    pub fn lower_with<R>(
        &self,
        key: K::Probe<'_>,
        see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R,
    ) -> Option<R> {
        self.engine.near_with(Excluded(key), Reverse, see)
    }

    /// Calls `see` with the entry with the smallest key above `key`, and returns the result. See
    /// [`Index::ceiling_with`].
    #[inline]
    pub fn higher_with<R>(
        &self,
        key: K::Probe<'_>,
        see: impl FnOnce(LentKey<'_, K, V>, V::Lent<'_>) -> R,
    ) -> Option<R> {
        self.engine.near_with(Excluded(key), Forward, see)
    }

    /// Calls `see` with every entry of a range, in a direction, until it breaks. Key ([`LentKey`]) and value
    /// are lent. Returns the last result of `see`. See [`Index::scan`].
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use latchless::{Direction, Index};
    ///
    /// let index: Index<String, u32> = ["a", "b", "c"].map(|name| (name.to_owned(), 7)).into();
    /// let mut names = Vec::new();
    /// let shown = index.scan_lent("b".., Direction::Reverse, |name, _| {
    ///     names.extend_from_slice(name);
    ///     ControlFlow::Continue(())
    /// });
    /// assert!(shown.is_continue() && names == b"cb");
    /// ```
    #[inline]
    pub fn scan_lent<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        direction: Direction,
        see: impl FnMut(LentKey<'_, K, V>, V::Lent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.engine.scan_lent(range, direction, see)
    }

    /// Calls `see` with the entries whose keys begin with `prefix`, in a direction, until it breaks. See
    /// [`Index::prefix`] and [`Index::scan_lent`].
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// use latchless::{Direction, Index};
    ///
    /// let stock: Index<(u32, i32), u64> = [((7, -1), 70), ((7, 9), 71), ((8, 0), 80)].into();
    /// let mut items = Vec::new();
    /// let shown = stock.scan_prefix(7, Direction::Reverse, |(_, place), number| {
    ///     items.push((place, number));
    ///     ControlFlow::Continue(())
    /// });
    /// assert!(shown.is_continue() && items == [(9, 71), (-1, 70)]);
    /// ```
    pub fn scan_prefix(
        &self,
        prefix: K::Prefix<'_>,
        direction: Direction,
        see: impl FnMut(LentKey<'_, K, V>, V::Lent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()>
    where
        K: PrefixKey,
        K::Engine: Prefixed<K, V>,
    {
        self.engine.scan_beginning(prefix, direction, see)
    }
}
