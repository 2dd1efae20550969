//! A secondary index, and how a commit changes it with the rows. Nothing here knows whether keys are
//! unique: the entries of an index that isn't unique have the primary key as a part of their own.

use super::TableKey;
use super::error::TableError;
use crate::versions::{Part, Pruned, Snapshot, Turn, VersionedIndex};
use core::any::Any;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use std::sync::Arc;

/// A row that a commit changes.
pub(super) struct Changed<R> {
    pub before: Option<Arc<R>>,
    pub after: Option<Arc<R>>,
}

impl<R> Changed<R> {
    /// The row that it leaves, or the one that it removes; a batch may do neither.
    pub fn one(&self) -> Option<&Arc<R>> {
        self.after.as_ref().or(self.before.as_ref())
    }
}

/// What a commit has written into an index. Dropped, it is abandoned.
pub(super) trait Written {
    /// Keeps it, before the commit is published.
    fn keep(self: Box<Self>);
}

impl<E: TableKey<R>, R: Send + Sync + 'static> Written for Part<'_, E, Arc<R>> {
    fn keep(self: Box<Self>) {
        Part::keep(*self);
    }
}

/// A secondary index of rows, of whatever keys.
pub(super) trait Secondary<R>: Send + Sync {
    /// Changes the entries of these rows.
    ///
    /// # Errors
    /// A key is another row's, or the index refused an entry.
    fn change<'s>(
        &'s self,
        turn: &Turn<'_>,
        rows: &[Changed<R>],
    ) -> Result<Box<dyn Written + 's>, TableError<R>>;
    /// Removes all entries, while no commit is under way and no snapshot is there.
    fn empty(&self);
    fn prune(&self) -> Result<Pruned>;
    /// Moves all entries to new nodes.
    fn shrink(&mut self, fill: FillFactor) -> Result<()>;
    fn name(&self) -> &Arc<str>;
    /// The entries, for handles.
    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
    fn memory_bytes(&self) -> usize;
    /// Checks the tree, and that at this number the entries are those of the rows.
    fn check(&self, number: u64, rows: &mut dyn Iterator<Item = Arc<R>>) -> Result<(), Broken>;
}

/// Appends the keys that a row has in an index.
pub(super) type Keys<E, R> = Box<dyn Fn(&R, &mut Vec<E>) + Send + Sync>;

/// A secondary index whose entries have the keys `E`.
pub(super) struct Entries<E: TableKey<R>, R: Send + Sync + 'static> {
    pub name: Arc<str>,
    pub index: VersionedIndex<E, Arc<R>>,
    pub keys: Keys<E, R>,
}

impl<E: TableKey<R>, R: Send + Sync + 'static> Entries<E, R> {
    /// Returns the keys of a row, ascending.
    pub fn keys_of(&self, row: Option<&Arc<R>>) -> Vec<E> {
        let mut keys = Vec::new();
        if let Some(row) = row {
            (self.keys)(row, &mut keys);
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

impl<E: TableKey<R>, R: Send + Sync + 'static> Secondary<R> for Entries<E, R> {
    fn change<'s>(
        &'s self,
        turn: &Turn<'_>,
        rows: &[Changed<R>],
    ) -> Result<Box<dyn Written + 's>, TableError<R>> {
        let mut part = Part::new(&self.index, turn);
        let mut entries = Vec::with_capacity(rows.len());
        // Keys that rows give up are free for the others.
        for row in rows {
            let before = self.keys_of(row.before.as_ref());
            let after = self.keys_of(row.after.as_ref());
            for key in before.iter().filter(|key| after.binary_search(key).is_err()) {
                part.write(E::own(key.probe()), None)?;
            }
            if let Some(row) = &row.after {
                let entry = |key| (before.binary_search(&key).is_err(), key, row);
                entries.extend(after.into_iter().map(entry));
            }
        }
        // In their order, entries of many rows are side by side in the tree, and fill its nodes.
        entries.sort_by(|(_, left, _), (_, right, _)| left.cmp(right));
        for (is_new, key, row) in entries {
            if let Some(existing) = part.newest(key.probe()).filter(|_| is_new) {
                let (index, rejected) = (Arc::clone(&self.name), Arc::clone(row));
                return Err(TableError::Duplicate { index, existing, rejected });
            }
            part.write(key, Some(Arc::clone(row)))?;
        }
        Ok(Box::new(part))
    }

    fn empty(&self) {
        self.index.empty();
    }

    fn prune(&self) -> Result<Pruned> {
        self.index.prune()
    }

    fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        self.index.shrink(fill)
    }

    fn name(&self) -> &Arc<str> {
        &self.name
    }

    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn memory_bytes(&self) -> usize {
        self.index.memory_bytes()
    }

    fn check(&self, number: u64, rows: &mut dyn Iterator<Item = Arc<R>>) -> Result<(), Broken> {
        self.index.check_invariants()?;
        let broken = |what| Broken::new(format!("index `{}`: {what}", self.name));
        let snapshot =
            Snapshot::at(&self.index, number).map_err(|_| broken("no versions of the rows' number"))?;
        let mut entries = 0;
        for row in rows {
            for entry in self.keys_of(Some(&row)) {
                entries += 1;
                if !snapshot.get(entry.probe()).is_some_and(|found| Arc::ptr_eq(&found, &row)) {
                    return Err(broken("a row's key doesn't lead to it"));
                }
            }
        }
        if snapshot.count(..) == entries { Ok(()) } else { Err(broken("an entry has no row")) }
    }
}
