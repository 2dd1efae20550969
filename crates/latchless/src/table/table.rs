//! The table: its rows, and the reads of the newest ones. `changes.rs` changes them.

use super::error::{PRIMARY, TableError};
use super::moment::{OwnedRowSnapshot, RowSnapshot};
use super::secondary::{Entries, Secondary};
use super::{EntryKey, NonUnique, TableKey, Unique};
use crate::versions::{Clock, Pruned, Snapshot, VersionedIndex, View};
use core::fmt;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use std::sync::Arc;

/// Rows of the type `R` by their primary key `K`, and any number of secondary indexes. See the
/// [module](super).
pub struct Table<K: TableKey<R>, R: Send + Sync + 'static> {
    pub(super) rows: Arc<VersionedIndex<K, Arc<R>>>,
    pub(super) key: Arc<dyn Fn(&R) -> K + Send + Sync>,
    pub(super) secondary: Vec<Arc<dyn Secondary<R>>>,
    pub(super) clock: Arc<Clock>,
}

impl<K: TableKey<R>, R: Send + Sync + 'static> Table<K, R> {
    /// Returns the row with this primary key. O(log n).
    #[inline]
    pub fn get(&self, key: K::Probe<'_>) -> Option<Arc<R>> {
        self.rows.get(key)
    }

    /// Calls `see` with the row with this primary key, lent, and returns the result. O(log n).
    #[inline]
    pub fn get_with<A>(&self, key: K::Probe<'_>, see: impl FnOnce(&R) -> A) -> Option<A> {
        self.rows.get_with(key, |row| see(row))
    }

    /// Returns whether there is a row with this primary key. O(log n).
    #[inline]
    pub fn contains_key(&self, key: K::Probe<'_>) -> bool {
        self.rows.contains_key(key)
    }

    /// Returns the number of rows. O(1).
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns `true` if there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number of the newest commit. O(1).
    pub fn newest(&self) -> u64 {
        self.clock.newest()
    }

    /// Returns the rows as of now, by their primary keys. [`Unique::at`](super::Unique::at) and
    /// [`NonUnique::at`](super::NonUnique::at) return the secondary indexes as of the same moment. O(1).
    pub fn snapshot(&self) -> RowSnapshot<'_, K, R> {
        Snapshot::newest(View::of(&*self.rows))
    }

    /// Returns the rows as of now, for other threads and for as long as one likes. O(1).
    pub fn snapshot_owned(&self) -> OwnedRowSnapshot<K, R> {
        Snapshot::newest(View::of(Arc::clone(&self.rows)))
    }

    /// Returns a handle of the unique index of this name, or `None` if none with this name and these keys was
    /// added to the builder.
    ///
    /// ```
    /// use latchless::table::Table;
    ///
    /// let mut builder = Table::<u64, (u64, String, u32)>::builder(|row| row.0);
    /// builder.unique("name", |row| row.1.clone())?;
    /// builder.index("age", |row| row.2)?;
    /// let people = builder.build()?;
    /// people.insert((1, "ada".to_owned(), 36))?;
    ///
    /// let by_name = people.unique::<String>("name").unwrap();
    /// assert_eq!(by_name.get("ada").unwrap().0, 1);
    /// let by_age = people.index::<(u32, u64)>("age").unwrap();
    /// assert_eq!(by_age.snapshot().count(36), 1);
    /// assert!(people.unique::<u64>("name").is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unique<S: TableKey<R>>(&self, name: &str) -> Option<Unique<S, R>> {
        self.entries(name).map(Unique)
    }

    /// Returns a handle of the index of this name in which any number of rows have a key, or `None` if none
    /// with this name and these keys was added to the builder. See [`Table::unique`].
    pub fn index<E: EntryKey<R>>(&self, name: &str) -> Option<NonUnique<E, R>> {
        self.entries(name).map(NonUnique)
    }

    fn entries<E: TableKey<R>>(&self, name: &str) -> Option<Arc<Entries<E, R>>> {
        let of_name = self.secondary.iter().filter(|index| &**index.name() == name);
        of_name.map(|index| Arc::clone(index).any()).find_map(|any| any.downcast().ok())
    }

    /// Moves all rows' entries to new nodes in every index, each filled to this degree, and returns the
    /// memory of the old ones to the system: after many removals. All versions stay; [`prune`](Table::prune)
    /// drops those that no reader needs, and removed keys. O(n).
    ///
    /// ```
    /// use latchless::FillFactor;
    /// use latchless::table::{Table, TableError};
    ///
    /// let mut builder = Table::<u64, (u64, u32)>::builder(|row| row.0);
    /// let by_age = builder.index("age", |row| row.1)?;
    /// let mut people = builder.build()?;
    /// for id in 0..10_000 {
    ///     people.insert((id, 36))?;
    /// }
    /// let full = people.memory_bytes();
    /// people.retain(|row| row.0 < 100)?;
    /// people.prune()?;
    /// let shared = people.shrink(FillFactor::default());
    /// assert!(matches!(shared, Err(TableError::Shared { index }) if &*index == "age"));
    ///
    /// drop(by_age); // Handles of the index are taken again by its name.
    /// people.shrink(FillFactor::default())?;
    /// assert!(people.memory_bytes() < full / 2);
    /// assert_eq!(people.index::<(u32, u64)>("age").unwrap().len(), 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TableError::Shared`] if there is a handle of an index or an owned snapshot: nothing has changed.
    /// Those of [`Index::shrink`](crate::Index::shrink); indexes before the one that is refused are smaller
    /// then, and all have their entries.
    pub fn shrink(&mut self, fill: FillFactor) -> Result<(), TableError<R>> {
        for index in &mut self.secondary {
            if Arc::get_mut(index).is_none() {
                return Err(TableError::Shared { index: Arc::clone(index.name()) });
            }
        }
        let Some(rows) = Arc::get_mut(&mut self.rows) else {
            return Err(TableError::Shared { index: PRIMARY.into() });
        };
        rows.shrink(fill)?;
        for index in &mut self.secondary {
            Arc::get_mut(index).map_or(Ok(()), |index| index.shrink(fill))?;
        }
        Ok(())
    }

    /// Drops all versions of rows and entries that no snapshot can read any more. See
    /// [`VersionedIndex::prune`].
    ///
    /// # Errors
    /// Those of [`VersionedIndex::prune`].
    pub fn prune(&self) -> Result<Pruned> {
        let mut pruned = self.rows.prune()?;
        for index in &self.secondary {
            let more = index.prune()?;
            pruned.versions += more.versions;
            pruned.keys += more.keys;
        }
        Ok(pruned)
    }

    /// Returns the bytes of all indexes. Rows, and what they refer to, aren't counted. O(1).
    pub fn memory_bytes(&self) -> usize {
        let secondary = self.secondary.iter().map(|index| index.memory_bytes());
        self.rows.memory_bytes() + secondary.sum::<usize>()
    }

    /// Checks the invariants of all trees, and that the entries of each secondary index are those of the
    /// rows, as of now. O(n).
    ///
    /// # Errors
    /// The first violated invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.rows.check_invariants()?;
        let snapshot = self.snapshot();
        self.secondary.iter().try_for_each(|index| index.check(snapshot.number(), &mut snapshot.values()))
    }
}

impl<K: TableKey<R>, R: Send + Sync + 'static> fmt::Debug for Table<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("len", &self.len())
            .field("indexes", &self.secondary.len())
            .finish_non_exhaustive()
    }
}
