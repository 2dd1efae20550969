//! The standard library's traits, as for [`Index`]: those that can't return an error panic if memory is
//! refused.
//!
//! There is no iterator over `&BoxedIndex`, because its items would need a pin that outlives it; use
//! [`BoxedIndex::iter`].

use super::{BoxedIndex, TOGETHER};
use crate::index::traits::sort_and_dedup;
use crate::index::{Entries, Incomplete, Index};
use crate::slot_map::{SlotId, SlotMap};
use core::fmt;
use core::iter::FusedIterator;
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::key::Key;

impl<K: Key, T: Send + Sync + 'static> BoxedIndex<K, T> {
    /// Inserts all entries of an iterator, in batches; of equal keys the last one stays. The iterator is at
    /// most one batch ahead of the inserts.
    ///
    /// # Errors
    /// Memory was refused. The batch at that point is inserted as far as memory suffices, and the iterator
    /// isn't advanced further.
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u64, String>::new()?;
    /// names.try_extend((0..1000).map(|key| (key, key.to_string())))?;
    /// assert_eq!(names.len(), 1000);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn try_extend(&self, entries: impl IntoIterator<Item = (K, T)>) -> Result<()> {
        let mut entries = entries.into_iter();
        loop {
            let batch: Vec<(K, T)> = entries.by_ref().take(TOGETHER).collect();
            if batch.is_empty() {
                return Ok(());
            }
            let pin = self.pin();
            let mut replaced = [None; TOGETHER];
            let replaced = &mut replaced[..batch.len()];
            self.insert_many(batch, replaced, &pin).map_err(|Incomplete { error, .. }| error)?;
        }
    }

    /// Creates an index from all entries of an iterator, in any order; of equal keys the last one stays. O(n
    /// log n): sorts the entries and loads them in bulk.
    ///
    /// # Errors
    /// Memory was refused.
    ///
    /// ```
    /// # use latchless::BoxedIndex;
    /// let names = BoxedIndex::<u64, _>::try_from_iter([(9, "nine"), (7, "seven"), (9, "IX")])?;
    /// assert_eq!(names.into_iter().collect::<Vec<_>>(), [(7, "seven"), (9, "IX")]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn try_from_iter(entries: impl IntoIterator<Item = (K, T)>) -> Result<Self> {
        let mut entries: Vec<(K, T)> = entries.into_iter().collect();
        sort_and_dedup(&mut entries);
        Self::from_sorted(entries, FillFactor::default())
    }
}

impl<K: Key, T: Send + Sync + 'static> FromIterator<(K, T)> for BoxedIndex<K, T> {
    /// Creates an index from all entries of an iterator. See [`BoxedIndex::try_from_iter`].
    ///
    /// # Panics
    /// If memory is refused.
    fn from_iter<I: IntoIterator<Item = (K, T)>>(entries: I) -> Self {
        Self::try_from_iter(entries).unwrap_or_else(|error| panic!("an index can't be made: {error}"))
    }
}

impl<K: Key, T: Send + Sync + 'static, const N: usize> From<[(K, T); N]> for BoxedIndex<K, T> {
    /// Creates an index from an array of entries. See [`BoxedIndex::try_from_iter`].
    ///
    /// # Panics
    /// If memory is refused.
    fn from(entries: [(K, T); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K: Key, T: Send + Sync + 'static> Extend<(K, T)> for BoxedIndex<K, T> {
    /// Inserts all entries of an iterator. See [`BoxedIndex::try_extend`].
    ///
    /// # Panics
    /// If memory is refused.
    fn extend<I: IntoIterator<Item = (K, T)>>(&mut self, entries: I) {
        self.try_extend(entries).unwrap_or_else(|error| panic!("an index can't be extended: {error}"));
    }
}

impl<K: Key, T: Send + Sync + 'static> Extend<(K, T)> for &BoxedIndex<K, T> {
    /// Inserts all entries of an iterator. See [`BoxedIndex::try_extend`].
    ///
    /// # Panics
    /// If memory is refused.
    fn extend<I: IntoIterator<Item = (K, T)>>(&mut self, entries: I) {
        self.try_extend(entries).unwrap_or_else(|error| panic!("an index can't be extended: {error}"));
    }
}

impl<K: Key, T: Send + Sync + 'static> Default for BoxedIndex<K, T> {
    /// Creates an empty index.
    ///
    /// # Panics
    /// If the system has no memory for a first node.
    fn default() -> Self {
        Self::new().unwrap_or_else(|error| panic!("an index can't be made: {error}"))
    }
}

impl<K: Key, T: Send + Sync + fmt::Debug + 'static> fmt::Debug for BoxedIndex<K, T> {
    /// Formats the index as a map: `{7: "seven"}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter(&self.pin())).finish()
    }
}

/// An owning iterator over the entries of a [`BoxedIndex`], from both ends. The remaining ones are dropped
/// with it.
pub struct BoxedIntoEntries<K: Key, T: Send + Sync + 'static> {
    entries: Entries<Index<K, SlotId>>,
    slots: SlotMap<T>,
}

impl<K: Key, T: Send + Sync + 'static> BoxedIntoEntries<K, T> {
    fn own(&mut self, (key, handle): (K, SlotId)) -> Option<(K, T)> {
        let value = self.slots.take(handle);
        debug_assert!(value.is_some(), "a value is retired only after its handle has left the index");
        value.map(|value| (key, value))
    }
}

impl<K: Key, T: Send + Sync + 'static> Iterator for BoxedIntoEntries<K, T> {
    type Item = (K, T);

    fn next(&mut self) -> Option<(K, T)> {
        let entry = self.entries.next()?;
        self.own(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl<K: Key, T: Send + Sync + 'static> DoubleEndedIterator for BoxedIntoEntries<K, T> {
    fn next_back(&mut self) -> Option<(K, T)> {
        let entry = self.entries.next_back()?;
        self.own(entry)
    }
}

impl<K: Key, T: Send + Sync + 'static> FusedIterator for BoxedIntoEntries<K, T> {}

impl<K: Key, T: Send + Sync + 'static> fmt::Debug for BoxedIntoEntries<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.fmt(f)
    }
}

impl<K: Key, T: Send + Sync + 'static> IntoIterator for BoxedIndex<K, T> {
    type Item = (K, T);
    type IntoIter = BoxedIntoEntries<K, T>;

    fn into_iter(self) -> BoxedIntoEntries<K, T> {
        BoxedIntoEntries { entries: self.index.into_iter(), slots: self.slots }
    }
}
