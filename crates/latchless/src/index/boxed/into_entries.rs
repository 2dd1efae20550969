//! Owned iteration over the entries of a [`Boxed`].

use super::{Boxed, Handles};
use crate::slot_map::{SlotId, SlotMap};
use core::fmt;
use core::iter::FusedIterator;

/// An owning iterator over the entries of a [`Boxed`], from both ends. The remaining ones are dropped
/// with it.
pub struct IntoEntries<I: Handles, T: Send + Sync + 'static> {
    entries: I::IntoEntries,
    slots: SlotMap<T>,
}

impl<I: Handles, T: Send + Sync + 'static> IntoEntries<I, T> {
    fn own(&mut self, (key, handle): (I::Key, SlotId)) -> Option<(I::Key, T)> {
        let value = self.slots.take(handle);
        debug_assert!(value.is_some(), "a value is retired only after its handle has left the index");
        value.map(|value| (key, value))
    }
}

impl<I: Handles, T: Send + Sync + 'static> Iterator for IntoEntries<I, T> {
    type Item = (I::Key, T);

    fn next(&mut self) -> Option<(I::Key, T)> {
        let entry = self.entries.next()?;
        self.own(entry)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl<I: Handles, T: Send + Sync + 'static> DoubleEndedIterator for IntoEntries<I, T> {
    fn next_back(&mut self) -> Option<(I::Key, T)> {
        let entry = self.entries.next_back()?;
        self.own(entry)
    }
}

impl<I: Handles, T: Send + Sync + 'static> FusedIterator for IntoEntries<I, T> {}

impl<I: Handles, T: Send + Sync + 'static> fmt::Debug for IntoEntries<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.fmt(f)
    }
}

impl<I: Handles, T: Send + Sync + 'static> Boxed<I, T> {
    pub(super) fn into_owned(self) -> IntoEntries<I, T> {
        IntoEntries { entries: self.index.into_entries(), slots: self.slots }
    }
}
