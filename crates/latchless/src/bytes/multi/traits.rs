//! The standard library's traits. Those that can't return an error panic if memory is refused or a key is too
//! long, as the standard library's own containers do.

use super::{MultiEntries, MultiIndex};
use crate::bytes::bounds::OwnedBounds;
use crate::bytes::{ByteStrings, Entries};
use crate::index::Keys;
use crate::index::traits::equal;
use core::fmt;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::error::Result;

/// The pairs of a [`MultiIndex`] that was moved.
pub type MultiIntoEntries<K> = Keys<Entries<ByteStrings<(K, u64), ()>>>;

fn expect<T>(made: Result<T>) -> T {
    made.unwrap_or_else(|error| panic!("an index can't be made or extended: {error}"))
}

impl<K: BytesKey> FromIterator<(K, u64)> for MultiIndex<K> {
    /// Creates an index of all pairs of an iterator. See [`MultiIndex::try_from_iter`].
    ///
    /// # Panics
    /// If memory is refused or a key is too long.
    fn from_iter<I: IntoIterator<Item = (K, u64)>>(pairs: I) -> Self {
        expect(Self::try_from_iter(pairs))
    }
}

impl<K: BytesKey, const N: usize> From<[(K, u64); N]> for MultiIndex<K> {
    /// Creates an index of the pairs of an array. See [`MultiIndex::try_from_iter`].
    ///
    /// # Panics
    /// If memory is refused or a key is too long.
    fn from(pairs: [(K, u64); N]) -> Self {
        pairs.into_iter().collect()
    }
}

impl<K: BytesKey> Extend<(K, u64)> for MultiIndex<K> {
    /// Inserts all pairs of an iterator. See [`MultiIndex::try_extend`].
    ///
    /// # Panics
    /// If memory is refused or a key is too long.
    fn extend<I: IntoIterator<Item = (K, u64)>>(&mut self, pairs: I) {
        expect(self.try_extend(pairs));
    }
}

impl<K: BytesKey> Extend<(K, u64)> for &MultiIndex<K> {
    /// Inserts all pairs of an iterator. See [`MultiIndex::try_extend`].
    ///
    /// # Panics
    /// If memory is refused or a key is too long.
    fn extend<I: IntoIterator<Item = (K, u64)>>(&mut self, pairs: I) {
        expect(self.try_extend(pairs));
    }
}

impl<K: BytesKey> Default for MultiIndex<K> {
    /// Creates an empty index.
    ///
    /// # Panics
    /// If the system has no memory for a first node.
    fn default() -> Self {
        expect(Self::new())
    }
}

impl<K: BytesKey> Clone for MultiIndex<K> {
    /// Creates an index of the same pairs. See [`MultiIndex::try_clone`].
    ///
    /// # Panics
    /// If memory is refused.
    fn clone(&self) -> Self {
        expect(self.try_clone())
    }
}

impl<K: BytesKey> PartialEq for MultiIndex<K> {
    /// Returns whether both indexes have the same pairs. O(n). Of indexes that other threads change, see
    /// [`Index::eq`](crate::Index::eq).
    fn eq(&self, other: &Self) -> bool {
        let is_same =
            |own: (K, u64), their: (K, u64)| own.with_bytes(|own| their.with_bytes(|their| own == their));
        self.len() == other.len() && equal(self.iter(), other.iter(), is_same)
    }
}

impl<K: BytesKey> Eq for MultiIndex<K> {}

impl<K: BytesKey + fmt::Debug> fmt::Debug for MultiIndex<K> {
    /// Formats the index as a set of pairs: `{("ant", 7), ("ant", 9)}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<'i, K: BytesKey> IntoIterator for &'i MultiIndex<K> {
    type Item = (K, u64);
    type IntoIter = MultiEntries<'i, K>;

    fn into_iter(self) -> MultiEntries<'i, K> {
        self.iter()
    }
}

impl<K: BytesKey> IntoIterator for MultiIndex<K> {
    type Item = (K, u64);
    type IntoIter = MultiIntoEntries<K>;

    fn into_iter(self) -> MultiIntoEntries<K> {
        Keys(Entries::new(self.pairs, OwnedBounds::ALL))
    }
}
