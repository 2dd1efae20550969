//! The nearest entries, each as of one moment.

use super::{ByteStrings, Lent, stored};
use crate::byte_tree::Border;
use core::ops::Bound;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::BytesValue;
use latchless_core::base::index::Direction::{self, Forward, Reverse};

/// An owned entry from a borrowed one.
pub(super) fn owned<K: BytesKey, V: BytesValue>(key: &[u8], value: Lent<'_, V>) -> (K, V) {
    (K::from_bytes(key), stored::own::<V>(value))
}

impl<K: BytesKey, V: BytesValue> ByteStrings<K, V> {
    /// Shows `see` the entry of a key, or the next one in that direction.
    #[inline]
    pub(super) fn at_or_beside<Q, R>(
        &self,
        key: &Q,
        direction: Direction,
        see: impl FnOnce(&[u8], Lent<'_, V>) -> R,
    ) -> Option<R>
    where
        Q: BytesKey<K> + ?Sized,
    {
        key.with_bytes(|key| self.look_near(Border { from: Bound::Included(key), direction }, see))
    }

    /// Shows `see` the next entry in that direction, leaving out the key's own.
    #[inline]
    pub(super) fn beside<Q, R>(
        &self,
        key: &Q,
        direction: Direction,
        see: impl FnOnce(&[u8], Lent<'_, V>) -> R,
    ) -> Option<R>
    where
        Q: BytesKey<K> + ?Sized,
    {
        key.with_bytes(|key| self.look_near(Border { from: Bound::Excluded(key), direction }, see))
    }

    /// The entry of the smallest key. O(log n).
    pub fn first(&self) -> Option<(K, V)> {
        self.first_with(owned)
    }

    /// The entry of the largest key. O(log n).
    pub fn last(&self) -> Option<(K, V)> {
        self.last_with(owned)
    }

    /// The entry of a key, or the last one before it. O(log n + l).
    #[inline]
    pub fn floor<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Option<(K, V)> {
        self.at_or_beside(key, Reverse, owned)
    }

    /// The entry of a key, or the first one after it. O(log n + l).
    #[inline]
    pub fn ceiling<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Option<(K, V)> {
        self.at_or_beside(key, Forward, owned)
    }

    /// The last entry before a key. O(log n + l).
    #[inline]
    pub fn lower<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Option<(K, V)> {
        self.beside(key, Reverse, owned)
    }

    /// The first entry after a key. O(log n + l).
    #[inline]
    pub fn higher<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Option<(K, V)> {
        self.beside(key, Forward, owned)
    }

    /// Calls `see` with the entry of the smallest key, and returns the result; otherwise as
    /// [`ByteStrings::ceiling_with`].
    #[inline]
    pub fn first_with<R>(&self, see: impl FnOnce(&[u8], Lent<'_, V>) -> R) -> Option<R> {
        self.look_near(Border { from: Bound::Unbounded, direction: Forward }, see)
    }

    /// Calls `see` with the entry of the largest key, and returns the result. See
    /// [`ByteStrings::first_with`].
    #[inline]
    pub fn last_with<R>(&self, see: impl FnOnce(&[u8], Lent<'_, V>) -> R) -> Option<R> {
        self.look_near(Border { from: Bound::Unbounded, direction: Reverse }, see)
    }

    /// Calls `see` with the entry of a key, or the last one before it; otherwise as
    /// [`ByteStrings::ceiling_with`].
    #[inline]
    pub fn floor_with<Q, R>(&self, key: &Q, see: impl FnOnce(&[u8], Lent<'_, V>) -> R) -> Option<R>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.at_or_beside(key, Reverse, see)
    }

    /// Calls `see` with the entry of a key, or the first one after it, and returns the result. The entry is
    /// lent: the bytes of its key ([`BytesKey::with_bytes`]), and its value, both copied at one moment.
    /// Nothing is allocated, unless the key has more than 192 bytes outside of the common prefix, or the
    /// value is a byte string of more than 192 bytes. O(log n + l).
    #[inline]
    pub fn ceiling_with<Q, R>(&self, key: &Q, see: impl FnOnce(&[u8], Lent<'_, V>) -> R) -> Option<R>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.at_or_beside(key, Forward, see)
    }

    /// Calls `see` with the last entry before a key; otherwise as [`ByteStrings::ceiling_with`].
    #[inline]
    pub fn lower_with<Q, R>(&self, key: &Q, see: impl FnOnce(&[u8], Lent<'_, V>) -> R) -> Option<R>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.beside(key, Reverse, see)
    }

    /// Calls `see` with the first entry after a key; otherwise as [`ByteStrings::ceiling_with`].
    #[inline]
    pub fn higher_with<Q, R>(&self, key: &Q, see: impl FnOnce(&[u8], Lent<'_, V>) -> R) -> Option<R>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.beside(key, Forward, see)
    }

    /// Removes the entry of the smallest key, in one atomic step.
    pub fn pop_first(&self) -> Option<(K, V)> {
        self.pop_shown(Forward, owned)
    }

    /// Removes the entry of the largest key, in one atomic step.
    pub fn pop_last(&self) -> Option<(K, V)> {
        self.pop_shown(Reverse, owned)
    }
}
