//! Building an index from sorted entries.

use super::stored::{hold, lend, raw};
use super::{ByteStrings, Lent};
use crate::index::Options;
use core::borrow::Borrow;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::BytesValue;
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;

impl<K: BytesKey, V: BytesValue> ByteStrings<K, V> {
    /// Builds an index from entries in ascending order of their keys. O(n).
    ///
    /// # Errors
    /// Those of [`ByteStrings::bulk_load`].
    pub fn from_sorted<Q>(entries: impl IntoIterator<Item = (Q, V)>, fill: FillFactor) -> Result<Self>
    where
        Q: BytesKey<K>,
    {
        let mut index = Self::with_options(Options::default())?;
        index.bulk_load(entries, fill)?;
        Ok(index)
    }

    /// Fills an empty index with entries whose keys ascend, each node up to `fill`. O(n).
    ///
    /// # Errors
    /// [`Error::NotEmpty`](crate::Error::NotEmpty), [`Error::Unsorted`](crate::Error::Unsorted),
    /// [`Error::DuplicateKey`](crate::Error::DuplicateKey),
    /// [`Error::KeyTooLong`](crate::Error::KeyTooLong),
    /// [`Error::ValueTooLong`](crate::Error::ValueTooLong), or memory is refused. The index is empty then,
    /// unless it wasn't before.
    pub fn bulk_load<Q>(&mut self, entries: impl IntoIterator<Item = (Q, V)>, fill: FillFactor) -> Result<()>
    where
        Q: BytesKey<K>,
    {
        let mut entries = entries.into_iter();
        self.bulk_load_bytes(fill, |bytes| {
            let (key, value) = entries.next()?;
            key.with_bytes(|key| bytes.extend_from_slice(key));
            Some(value)
        })
    }

    /// Fills an empty index with entries whose keys ascend, and whose values are lent.
    pub(super) fn bulk_load_lent<'e, Q: BytesKey<K>>(
        &mut self,
        fill: FillFactor,
        mut entries: impl Iterator<Item = (Q, Lent<'e, V>)>,
    ) -> Result<()> {
        self.tree.load(fill, &mut |bytes, loaded| {
            let Some((key, value)) = entries.next() else { return false };
            key.with_bytes(|key| bytes.extend_from_slice(key));
            loaded.set(raw::<V>(&hold::<V>(value)));
            true
        })
    }

    /// Fills an empty index. `next` appends the bytes of the next key to an empty buffer and returns its
    /// value.
    pub(crate) fn bulk_load_bytes<B: Borrow<V>>(
        &mut self,
        fill: FillFactor,
        mut next: impl FnMut(&mut Vec<u8>) -> Option<B>,
    ) -> Result<()> {
        self.tree.load(fill, &mut |bytes, loaded| {
            let value = next(bytes);
            if let Some(value) = &value {
                loaded.set(raw::<V>(&hold::<V>(lend(value.borrow()))));
            }
            value.is_some()
        })
    }
}
