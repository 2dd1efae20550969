//! The standard library's traits, as for [`Index`](crate::Index): those that can't return an error panic if
//! memory is refused.
//!
//! There is no iterator over `&Boxed`, because its items would need a pin that outlives it; use
//! [`Boxed::iter`].

use super::{Boxed, HandleIndex, KeyForm, TOGETHER};
use crate::index::Incomplete;
use crate::index::traits::sort_and_dedup;
use crate::slot_map::{SlotId, SlotMap};
use core::fmt;
use core::iter::FusedIterator;
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;

impl<I: HandleIndex, T: Send + Sync + 'static> Boxed<I, T> {
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
    pub fn try_extend<Q>(&self, entries: impl IntoIterator<Item = (Q, T)>) -> Result<()>
    where
        I: KeyForm<Q>,
    {
        let mut entries = entries.into_iter();
        loop {
            let batch: Vec<(Q, T)> = entries.by_ref().take(TOGETHER).collect();
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
    pub fn try_from_iter<Q>(entries: impl IntoIterator<Item = (Q, T)>) -> Result<Self>
    where
        I: KeyForm<Q>,
    {
        let mut entries: Vec<(Q, T)> = entries.into_iter().collect();
        sort_and_dedup(&mut entries, I::compare);
        Self::from_sorted(entries, FillFactor::default())
    }
}

impl<I: KeyForm<Q>, Q, T: Send + Sync + 'static> FromIterator<(Q, T)> for Boxed<I, T> {
    /// Creates an index from all entries of an iterator. See [`Boxed::try_from_iter`].
    ///
    /// # Panics
    /// If memory is refused, or a byte string is too long.
    fn from_iter<E: IntoIterator<Item = (Q, T)>>(entries: E) -> Self {
        Self::try_from_iter(entries).unwrap_or_else(|error| panic!("an index can't be made: {error}"))
    }
}

impl<I: KeyForm<Q>, Q, T: Send + Sync + 'static, const N: usize> From<[(Q, T); N]> for Boxed<I, T> {
    /// Creates an index from an array of entries. See [`Boxed::try_from_iter`].
    ///
    /// # Panics
    /// If memory is refused, or a byte string is too long.
    fn from(entries: [(Q, T); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<I: KeyForm<Q>, Q, T: Send + Sync + 'static> Extend<(Q, T)> for Boxed<I, T> {
    /// Inserts all entries of an iterator. See [`Boxed::try_extend`].
    ///
    /// # Panics
    /// If memory is refused, or a byte string is too long.
    fn extend<E: IntoIterator<Item = (Q, T)>>(&mut self, entries: E) {
        self.try_extend(entries).unwrap_or_else(|error| panic!("an index can't be extended: {error}"));
    }
}

impl<I: KeyForm<Q>, Q, T: Send + Sync + 'static> Extend<(Q, T)> for &Boxed<I, T> {
    /// Inserts all entries of an iterator. See [`Boxed::try_extend`].
    ///
    /// # Panics
    /// If memory is refused, or a byte string is too long.
    fn extend<E: IntoIterator<Item = (Q, T)>>(&mut self, entries: E) {
        self.try_extend(entries).unwrap_or_else(|error| panic!("an index can't be extended: {error}"));
    }
}

impl<I: HandleIndex, T: Send + Sync + 'static> Default for Boxed<I, T> {
    /// Creates an empty index.
    ///
    /// # Panics
    /// If the system has no memory for a first node.
    fn default() -> Self {
        Self::new().unwrap_or_else(|error| panic!("an index can't be made: {error}"))
    }
}

/// An owning iterator over the entries of a [`Boxed`], from both ends. The remaining ones are dropped
/// with it.
pub struct IntoEntries<I: HandleIndex, T: Send + Sync + 'static> {
    entries: I::IntoEntries,
    slots: SlotMap<T>,
}

impl<I: HandleIndex, T: Send + Sync + 'static> IntoEntries<I, T> {
    fn own(&mut self, (key, handle): (I::Key, SlotId)) -> Option<(I::Key, T)> {
        let value = self.slots.take(handle);
        debug_assert!(value.is_some(), "a value is retired only after its handle has left the index");
        value.map(|value| (key, value))
    }
}

impl<I: HandleIndex, T: Send + Sync + 'static> Iterator for IntoEntries<I, T> {
    type Item = (I::Key, T);

    fn next(&mut self) -> Option<(I::Key, T)> {
        let entry = self.entries.next()?;
        self.own(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl<I: HandleIndex, T: Send + Sync + 'static> DoubleEndedIterator for IntoEntries<I, T> {
    fn next_back(&mut self) -> Option<(I::Key, T)> {
        let entry = self.entries.next_back()?;
        self.own(entry)
    }
}

impl<I: HandleIndex, T: Send + Sync + 'static> FusedIterator for IntoEntries<I, T> {}

impl<I: HandleIndex, T: Send + Sync + 'static> fmt::Debug for IntoEntries<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.fmt(f)
    }
}

impl<I: HandleIndex, T: Send + Sync + 'static> IntoIterator for Boxed<I, T> {
    type Item = (I::Key, T);
    type IntoIter = IntoEntries<I, T>;

    fn into_iter(self) -> IntoEntries<I, T> {
        IntoEntries { entries: self.index.into_entries(), slots: self.slots }
    }
}
