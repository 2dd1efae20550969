//! The nearest entries of a [`BoxedBytesIndex`], each as of one moment.

use super::BoxedBytesIndex;
use crate::byte_tree::Border;
use crate::slot_map::Pinned;
use core::ops::Bound::{Excluded, Included, Unbounded};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::index::Direction::{Forward, Reverse};

impl<K: BytesKey, T: Send + Sync + 'static> BoxedBytesIndex<K, T> {
    /// Shows `see` the nearest entry to a border. If its value was retired before it was read, the search
    /// is repeated.
    fn show_near<'p, R>(
        &'p self,
        border: Border<'_>,
        pin: &'p Pinned,
        see: impl FnOnce(&[u8], &'p T) -> R,
    ) -> Option<R> {
        let mut see = Some(see);
        loop {
            let seen = self.index.look_near(border, |key, handle| {
                let value = self.slots.read(handle, pin)?;
                see.take().map(|see| see(key, value))
            });
            match seen {
                Some(None) => {}
                seen => return seen.flatten(),
            }
        }
    }

    /// The first entry. O(log n).
    pub fn first<'p>(&'p self, pin: &'p Pinned) -> Option<(K, &'p T)> {
        self.first_with(pin, owned)
    }

    /// The last entry. O(log n).
    pub fn last<'p>(&'p self, pin: &'p Pinned) -> Option<(K, &'p T)> {
        self.last_with(pin, owned)
    }

    /// The last entry whose key is at most `key`. O(log n + l).
    pub fn floor<'p, Q>(&'p self, key: &Q, pin: &'p Pinned) -> Option<(K, &'p T)>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.floor_with(key, pin, owned)
    }

    /// The first entry whose key is at least `key`. O(log n + l).
    pub fn ceiling<'p, Q>(&'p self, key: &Q, pin: &'p Pinned) -> Option<(K, &'p T)>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.ceiling_with(key, pin, owned)
    }

    /// The last entry whose key is less than `key`. O(log n + l).
    pub fn lower<'p, Q>(&'p self, key: &Q, pin: &'p Pinned) -> Option<(K, &'p T)>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.lower_with(key, pin, owned)
    }

    /// The first entry whose key is more than `key`. O(log n + l).
    pub fn higher<'p, Q>(&'p self, key: &Q, pin: &'p Pinned) -> Option<(K, &'p T)>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.higher_with(key, pin, owned)
    }

    /// Shows `see` the first entry; otherwise as [`BoxedBytesIndex::ceiling_with`].
    pub fn first_with<'p, R>(&'p self, pin: &'p Pinned, see: impl FnOnce(&[u8], &'p T) -> R) -> Option<R> {
        self.show_near(Border { from: Unbounded, direction: Forward }, pin, see)
    }

    /// Shows `see` the last entry; otherwise as [`BoxedBytesIndex::ceiling_with`].
    pub fn last_with<'p, R>(&'p self, pin: &'p Pinned, see: impl FnOnce(&[u8], &'p T) -> R) -> Option<R> {
        self.show_near(Border { from: Unbounded, direction: Reverse }, pin, see)
    }

    /// Shows `see` the last entry whose key is at most `key`; otherwise as
    /// [`BoxedBytesIndex::ceiling_with`].
    pub fn floor_with<'p, Q, R>(
        &'p self,
        key: &Q,
        pin: &'p Pinned,
        see: impl FnOnce(&[u8], &'p T) -> R,
    ) -> Option<R>
    where
        Q: BytesKey<K> + ?Sized,
    {
        key.with_bytes(|key| self.show_near(Border { from: Included(key), direction: Reverse }, pin, see))
    }

    /// Calls `see` with the first entry whose key is at least `key`, and returns the result. The entry's
    /// value comes with the borrowed bytes of its key. Allocates as little as
    /// [`BytesIndex::ceiling_with`](super::BytesIndex::ceiling_with). O(log n + l).
    ///
    /// ```
    /// let pages = latchless::bytes::BoxedBytesIndex::<String, Vec<u8>>::new()?;
    /// let pin = pages.pin();
    /// pages.insert("/index.html", b"<html>".to_vec(), &pin)?;
    /// let found = pages.ceiling_with("/a", &pin, |key, page| (key == b"/index.html", page.len()));
    /// assert_eq!(found, Some((true, 6)));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn ceiling_with<'p, Q, R>(
        &'p self,
        key: &Q,
        pin: &'p Pinned,
        see: impl FnOnce(&[u8], &'p T) -> R,
    ) -> Option<R>
    where
        Q: BytesKey<K> + ?Sized,
    {
        key.with_bytes(|key| self.show_near(Border { from: Included(key), direction: Forward }, pin, see))
    }

    /// Shows `see` the last entry whose key is less than `key`; otherwise as
    /// [`BoxedBytesIndex::ceiling_with`].
    pub fn lower_with<'p, Q, R>(
        &'p self,
        key: &Q,
        pin: &'p Pinned,
        see: impl FnOnce(&[u8], &'p T) -> R,
    ) -> Option<R>
    where
        Q: BytesKey<K> + ?Sized,
    {
        key.with_bytes(|key| self.show_near(Border { from: Excluded(key), direction: Reverse }, pin, see))
    }

    /// Shows `see` the first entry whose key is more than `key`; otherwise as
    /// [`BoxedBytesIndex::ceiling_with`].
    pub fn higher_with<'p, Q, R>(
        &'p self,
        key: &Q,
        pin: &'p Pinned,
        see: impl FnOnce(&[u8], &'p T) -> R,
    ) -> Option<R>
    where
        Q: BytesKey<K> + ?Sized,
    {
        key.with_bytes(|key| self.show_near(Border { from: Excluded(key), direction: Forward }, pin, see))
    }
}

/// An entry with a key of the caller's own.
fn owned<'p, K: BytesKey, T>(key: &[u8], value: &'p T) -> (K, &'p T) {
    (K::from_bytes(key), value)
}
