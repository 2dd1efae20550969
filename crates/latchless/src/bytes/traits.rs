//! The standard library's traits. Those that can't return an error panic when memory is refused or a key is
//! too long, as the standard library's own containers do.

use super::ByteStrings;
use super::stored::lend;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::BytesValue;
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;

impl<K: BytesKey, V: BytesValue> ByteStrings<K, V> {
    /// Inserts all entries of an iterator; of equal keys the last one stays.
    ///
    /// # Errors
    /// Those of [`ByteStrings::insert`]; the entries before that one are in.
    pub fn try_extend<Q: BytesKey<K>>(&self, entries: impl IntoIterator<Item = (Q, V)>) -> Result<()> {
        entries.into_iter().try_for_each(|(key, value)| self.insert(&key, lend(&value)).map(drop))
    }

    /// An index of all entries of an iterator, in any order; of equal keys the last one stays. O(n log n).
    ///
    /// # Errors
    /// Those of [`ByteStrings::bulk_load`].
    pub fn try_from_iter<Q: BytesKey<K>>(entries: impl IntoIterator<Item = (Q, V)>) -> Result<Self> {
        let mut entries: Vec<(Vec<u8>, V)> =
            entries.into_iter().map(|(key, value)| (key.with_bytes(<[u8]>::to_vec), value)).collect();
        // Stable, so that of equal keys the last one comes last; it is the one that is kept.
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries.dedup_by(|later, kept| {
            let equal = later.0 == kept.0;
            if equal {
                core::mem::swap(kept, later);
            }
            equal
        });
        let mut index = Self::new()?;
        let mut entries = entries.into_iter();
        index.bulk_load_bytes(FillFactor::default(), |bytes| {
            let (key, value) = entries.next()?;
            bytes.extend_from_slice(&key);
            Some(value)
        })?;
        Ok(index)
    }
}

impl<K: BytesKey, V: BytesValue> FromIterator<(K, V)> for ByteStrings<K, V> {
    /// # Panics
    /// When memory is refused or a key is too long.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self::try_from_iter(entries).unwrap_or_else(|error| panic!("an index can't be made: {error}"))
    }
}

impl<K: BytesKey, V: BytesValue, const N: usize> From<[(K, V); N]> for ByteStrings<K, V> {
    /// # Panics
    /// When memory is refused or a key is too long.
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K: BytesKey, V: BytesValue> Extend<(K, V)> for ByteStrings<K, V> {
    /// # Panics
    /// When memory is refused or a key is too long.
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        self.try_extend(entries).unwrap_or_else(|error| panic!("an index can't be extended: {error}"));
    }
}

impl<K: BytesKey, V: BytesValue> Default for ByteStrings<K, V> {
    /// An empty index.
    ///
    /// # Panics
    /// When the system has no memory for a first node.
    fn default() -> Self {
        Self::new().unwrap_or_else(|error| panic!("an index can't be made: {error}"))
    }
}
