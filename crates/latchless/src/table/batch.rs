//! Changes of rows that are committed together.

use super::TableKey;
use core::fmt;
use std::sync::Arc;

/// A change of a batch.
pub(super) enum Change<K, R> {
    /// The row is new.
    Insert(Arc<R>),
    /// The row is new, or takes the place of the one with its primary key.
    Replace(Arc<R>),
    Remove(K),
}

/// Changes that [`Table::commit`](super::Table::commit) makes together, in their order. Keys of unique
/// indexes are checked once all are made, so two rows can exchange theirs.
///
/// ```
/// use latchless::table::{Batch, Table};
///
/// let mut builder = Table::<u64, (u64, String)>::builder(|seat| seat.0);
/// let by_guest = builder.unique("guest", |seat| seat.1.clone())?;
/// let seats = builder.build()?;
/// let mut batch = Batch::new();
/// batch.insert((1, "Ada".to_owned())).insert((2, "Bob".to_owned()));
/// seats.commit(batch)?;
///
/// let mut exchange = Batch::new();
/// exchange.replace((1, "Bob".to_owned())).replace((2, "Ada".to_owned()));
/// seats.commit(exchange)?;
/// assert_eq!(by_guest.get("Ada").unwrap().0, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Batch<K, R> {
    pub(super) changes: Vec<Change<K, R>>,
}

impl<K, R> Batch<K, R> {
    /// Creates an empty batch.
    pub const fn new() -> Self {
        Self { changes: Vec::new() }
    }

    /// Adds the insertion of a row.
    pub fn insert(&mut self, row: impl Into<Arc<R>>) -> &mut Self {
        self.changes.push(Change::Insert(row.into()));
        self
    }

    /// Adds the insertion of a row that replaces the one with its primary key, if there is one.
    pub fn replace(&mut self, row: impl Into<Arc<R>>) -> &mut Self {
        self.changes.push(Change::Replace(row.into()));
        self
    }

    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Returns `true` if there is no change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

impl<K: TableKey<R>, R: Send + Sync + 'static> Batch<K, R> {
    /// Adds the removal of the row with this primary key, if there is one.
    pub fn remove(&mut self, key: K::Probe<'_>) -> &mut Self {
        self.changes.push(Change::Remove(K::own(key)));
        self
    }
}

impl<K, R> Default for Batch<K, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, R> fmt::Debug for Batch<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("len", &self.len()).finish_non_exhaustive()
    }
}
