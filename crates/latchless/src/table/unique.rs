//! The handle of a unique index.

use super::TableKey;
use super::moment::{RowSnapshot, at};
use super::secondary::Entries;
use crate::versions::{Snapshot, VersionedIndex, View};
use core::fmt;
use core::ops::Deref;
use std::sync::Arc;

/// A secondary index of a [`Table`](super::Table) in which one row at most has a key. From
/// [`Builder::unique`](super::Builder::unique). Clones are handles of the same index.
pub struct Unique<S: TableKey<R>, R: Send + Sync + 'static>(pub(super) Arc<Entries<S, R>>);

impl<S: TableKey<R>, R: Send + Sync + 'static> Unique<S, R> {
    /// Returns the row that has this key now. O(log n).
    #[inline]
    pub fn get(&self, key: S::Probe<'_>) -> Option<Arc<R>> {
        self.0.index.get(key)
    }

    /// Calls `see` with the row that has this key now, lent, and returns the result. O(log n).
    #[inline]
    pub fn get_with<A>(&self, key: S::Probe<'_>, see: impl FnOnce(&R) -> A) -> Option<A> {
        self.0.index.get_with(key, |row| see(row))
    }

    /// Returns whether a row has this key now. O(log n).
    #[inline]
    pub fn contains_key(&self, key: S::Probe<'_>) -> bool {
        self.0.index.contains_key(key)
    }

    /// Returns the number of keys. O(1).
    pub fn len(&self) -> usize {
        self.0.index.len()
    }

    /// Returns `true` if no row has a key.
    pub fn is_empty(&self) -> bool {
        self.0.index.is_empty()
    }

    /// Returns the index as of now. O(1).
    pub fn snapshot(&self) -> RowSnapshot<'_, S, R> {
        Snapshot::newest(View::of(&self.0.index))
    }

    /// Returns the index as of the moment of a snapshot of the table, or of another of its indexes. O(1).
    ///
    /// # Panics
    /// If the snapshot is of another table.
    pub fn at<P, H>(&self, snapshot: &Snapshot<P, Arc<R>, H>) -> RowSnapshot<'_, S, R>
    where
        P: TableKey<R>,
        H: Deref<Target = VersionedIndex<P, Arc<R>>>,
    {
        at(&self.0.index, snapshot)
    }
}

impl<S: TableKey<R>, R: Send + Sync + 'static> Clone for Unique<S, R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: TableKey<R>, R: Send + Sync + 'static> fmt::Debug for Unique<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unique").field("len", &self.len()).finish_non_exhaustive()
    }
}
