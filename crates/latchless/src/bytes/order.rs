//! The nearest entries, each as of one moment.

use super::BytesIndex;
use core::ops::Bound;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::BytesValue;
use latchless_core::base::index::Direction;

impl<K: BytesKey<Owned = K>, V: BytesValue> BytesIndex<K, V> {
    fn nearest(&self, from: Bound<&[u8]>, direction: Direction) -> Option<(K, V)> {
        let mut key = Vec::new();
        let value = self.nearest_bytes(from, direction, &mut key)?;
        Some((K::from_bytes(&key), value))
    }

    /// The entry of the smallest key.
    ///
    /// ```
    /// # use latchless::bytes::BytesIndex;
    /// let index: BytesIndex<String, u32> = [("b".into(), 2), ("a".into(), 1), ("c".into(), 3)].into();
    /// assert_eq!(index.first(), Some(("a".into(), 1)));
    /// assert_eq!(index.last(), Some(("c".into(), 3)));
    /// assert_eq!(index.floor("bb"), Some(("b".into(), 2)));
    /// assert_eq!(index.lower("b"), Some(("a".into(), 1)));
    /// assert_eq!(index.ceiling("bb"), Some(("c".into(), 3)));
    /// assert_eq!(index.higher("c"), None);
    /// ```
    pub fn first(&self) -> Option<(K, V)> {
        self.nearest(Bound::Unbounded, Direction::Forward)
    }

    /// The entry of the largest key.
    pub fn last(&self) -> Option<(K, V)> {
        self.nearest(Bound::Unbounded, Direction::Reverse)
    }

    /// The entry of a key, or the last one before it.
    pub fn floor<Q: BytesKey<Owned = K> + ?Sized>(&self, key: &Q) -> Option<(K, V)> {
        key.with_bytes(|key| self.nearest(Bound::Included(key), Direction::Reverse))
    }

    /// The entry of a key, or the first one after it.
    pub fn ceiling<Q: BytesKey<Owned = K> + ?Sized>(&self, key: &Q) -> Option<(K, V)> {
        key.with_bytes(|key| self.nearest(Bound::Included(key), Direction::Forward))
    }

    /// The last entry before a key.
    pub fn lower<Q: BytesKey<Owned = K> + ?Sized>(&self, key: &Q) -> Option<(K, V)> {
        key.with_bytes(|key| self.nearest(Bound::Excluded(key), Direction::Reverse))
    }

    /// The first entry after a key.
    pub fn higher<Q: BytesKey<Owned = K> + ?Sized>(&self, key: &Q) -> Option<(K, V)> {
        key.with_bytes(|key| self.nearest(Bound::Excluded(key), Direction::Forward))
    }

    /// Removes the entry of the smallest key, in one atomic step.
    ///
    /// ```
    /// # use latchless::bytes::BytesIndex;
    /// let index: BytesIndex<String, u32> = [("b".into(), 2), ("a".into(), 1)].into();
    /// assert_eq!(index.pop_first(), Some(("a".into(), 1)));
    /// assert_eq!(index.pop_last(), Some(("b".into(), 2)));
    /// assert_eq!(index.pop_last(), None);
    /// ```
    pub fn pop_first(&self) -> Option<(K, V)> {
        self.pop(Direction::Forward)
    }

    /// Removes the entry of the largest key, in one atomic step.
    pub fn pop_last(&self) -> Option<(K, V)> {
        self.pop(Direction::Reverse)
    }

    fn pop(&self, end: Direction) -> Option<(K, V)> {
        let mut key = Vec::new();
        let value = self.pop_bytes(end, &mut key)?;
        Some((K::from_bytes(&key), value))
    }
}
