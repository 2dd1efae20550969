//! The table: its rows, and the changes of rows with all their entries.

use super::TableKey;
use super::batch::{Batch, Change};
use super::error::TableError;
use super::moment::{OwnedRowSnapshot, RowSnapshot};
use super::secondary::{Changed, Secondary, Written};
use crate::versions::{Clock, Part, Pruned, Snapshot, Turn, VersionedIndex, View};
use core::fmt;
use core::ops::Bound::{Excluded, Unbounded};
use latchless_core::base::error::{Broken, Result};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// The name of the primary key in an error.
const PRIMARY: &str = "primary key";
/// Rows that one commit removes where a whole table is looked through.
const TOGETHER: usize = 256;

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

    /// Inserts a row. O(log n) per index, as are the other changes.
    ///
    /// # Errors
    /// [`TableError::Duplicate`] if another row has its primary key, or a key of a unique index, or the
    /// errors of [`Index::insert`](crate::Index::insert); the table is then unchanged.
    pub fn insert(&self, row: impl Into<Arc<R>>) -> Result<(), TableError<R>> {
        let row = row.into();
        let key = (self.key)(&row);
        let turn = self.clock.begin();
        if let Some(existing) = self.rows.get(key.probe()) {
            return Err(duplicate(existing, row));
        }
        self.apply(turn, &[Changed { before: None, after: Some(row) }]).map(drop)
    }

    /// Inserts a row, or replaces the one with its primary key, and returns that.
    ///
    /// # Errors
    /// [`TableError::Duplicate`] if another row has a key of a unique index, or the errors of
    /// [`Index::insert`](crate::Index::insert); the table is then unchanged.
    pub fn replace(&self, row: impl Into<Arc<R>>) -> Result<Option<Arc<R>>, TableError<R>> {
        let row = row.into();
        let key = (self.key)(&row);
        let turn = self.clock.begin();
        let before = self.rows.get(key.probe());
        self.apply(turn, &[Changed { before: before.clone(), after: Some(row) }])?;
        Ok(before)
    }

    /// Removes the row with this primary key, and returns it. If there is none, there is no commit.
    ///
    /// # Errors
    /// Those of [`Index::insert`](crate::Index::insert), as a removal is a version; the table is then
    /// unchanged.
    pub fn remove(&self, key: K::Probe<'_>) -> Result<Option<Arc<R>>, TableError<R>> {
        let turn = self.clock.begin();
        let before = self.rows.get(key);
        if before.is_some() {
            self.apply(turn, &[Changed { before: before.clone(), after: None }])?;
        }
        Ok(before)
    }

    /// Inserts or replaces the row with this primary key by `change(row)`, and returns the row before. The
    /// closure runs again if another commit changes the row meanwhile. It may use the table, but must not
    /// change this row: see [races](crate::index#races).
    ///
    /// # Errors
    /// Those of [`Table::replace`]; [`TableError::OtherKey`] if the closure's row has another primary key;
    /// [`Error::ClosureChangesItsKey`](crate::Error::ClosureChangesItsKey).
    pub fn upsert(
        &self,
        key: K::Probe<'_>,
        mut change: impl FnMut(Option<&R>) -> R,
    ) -> Result<Option<Arc<R>>, TableError<R>> {
        self.change(key, |row| Some(change(row)))
    }

    /// Replaces the row with this primary key by `change(row)`, and returns the row before, or `None` if
    /// there was none. See [`Table::upsert`].
    ///
    /// # Errors
    /// Those of [`Table::upsert`].
    pub fn update(
        &self,
        key: K::Probe<'_>,
        mut change: impl FnMut(&R) -> R,
    ) -> Result<Option<Arc<R>>, TableError<R>> {
        self.change(key, |row| row.map(&mut change))
    }

    fn change(
        &self,
        key: K::Probe<'_>,
        mut change: impl FnMut(Option<&R>) -> Option<R>,
    ) -> Result<Option<Arc<R>>, TableError<R>> {
        let mut tries = None;
        loop {
            let before = self.get(key);
            let Some(row) = change(before.as_deref()).map(Arc::new) else { return Ok(before) };
            if (self.key)(&row) != K::own(key) {
                return Err(TableError::OtherKey { row });
            }
            let turn = self.clock.begin();
            if is_same(before.as_ref(), self.get(key).as_ref()) {
                self.apply(turn, &[Changed { before: before.clone(), after: Some(row) }])?;
                return Ok(before);
            }
            drop(turn);
            tries.get_or_insert_with(|| self.rows.tries(key)).failed()?;
        }
    }

    /// Removes all rows that a closure doesn't keep, such as those that have expired, and returns their
    /// number. A row that is changed meanwhile stays. O(n); each commit of it removes some hundred rows.
    ///
    /// # Errors
    /// Those of [`Table::remove`]; what was removed until then stays so.
    pub fn retain(&self, mut keep: impl FnMut(&R) -> bool) -> Result<usize, TableError<R>> {
        let snapshot = self.snapshot();
        let (mut last, mut removed): (Option<K>, usize) = (None, 0);
        loop {
            let from = last.as_ref().map_or(Unbounded, |last| Excluded(last.probe()));
            let rows = snapshot.range((from, Unbounded)).filter(|(_, row)| !keep(row));
            let gone: Vec<(K, Arc<R>)> = rows.take(TOGETHER).collect();
            let Some((key, _)) = gone.last() else { return Ok(removed) };
            last = Some(K::own(key.probe()));
            let turn = self.clock.begin();
            let is_there = |(key, row): &(K, Arc<R>)| is_same(Some(row), self.get(key.probe()).as_ref());
            let gone = gone.into_iter().filter(is_there);
            let gone = gone.map(|(_, row)| Changed { before: Some(row), after: None });
            let gone: Vec<_> = gone.collect();
            if !gone.is_empty() {
                self.apply(turn, &gone)?;
                removed += gone.len();
            }
        }
    }

    /// Makes the changes of a batch: all or none, for every reader of every index. Returns the number of the
    /// commit. O(m log n) per index for m rows.
    ///
    /// # Errors
    /// Those of [`Table::insert`]; the table is then unchanged.
    pub fn commit(&self, batch: Batch<K, R>) -> Result<u64, TableError<R>> {
        self.commit_in(self.clock.begin(), batch)
    }

    /// Makes the changes of a batch, in this turn.
    pub(super) fn commit_in(&self, turn: Turn<'_>, batch: Batch<K, R>) -> Result<u64, TableError<R>> {
        let mut rows: BTreeMap<K, [Option<Arc<R>>; 2]> = BTreeMap::new();
        for change in batch.changes {
            let (key, row, is_new) = match change {
                Change::Insert(row) => ((self.key)(&row), Some(row), true),
                Change::Replace(row) => ((self.key)(&row), Some(row), false),
                Change::Remove(key) => (key, None, false),
            };
            let [_, after] = match rows.entry(key) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let before = self.rows.get(entry.key().probe());
                    entry.insert([before.clone(), before])
                }
            };
            match (after.take(), row) {
                (Some(existing), Some(row)) if is_new => return Err(duplicate(existing, row)),
                (_, row) => *after = row,
            }
        }
        let rows = rows.into_values().map(|[before, after]| Changed { before, after });
        self.apply(turn, &rows.collect::<Vec<_>>())
    }

    /// Makes changes of rows, and publishes them. What was written is abandoned if one is refused.
    fn apply(&self, turn: Turn<'_>, rows: &[Changed<R>]) -> Result<u64, TableError<R>> {
        let mut written: Vec<Box<dyn Written + '_>> = Vec::with_capacity(self.secondary.len() + 1);
        for index in &self.secondary {
            written.push(index.change(&turn, rows)?);
        }
        let mut part = Part::new(&*self.rows, &turn);
        for row in rows {
            if let Some(one) = row.after.as_ref().or(row.before.as_ref()) {
                part.write((self.key)(one), row.after.clone())?;
            }
        }
        part.keep();
        written.into_iter().for_each(Written::keep);
        Ok(turn.publish())
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

/// Returns whether two are one row, or both none.
fn is_same<R>(one: Option<&Arc<R>>, other: Option<&Arc<R>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

fn duplicate<R>(existing: Arc<R>, rejected: Arc<R>) -> TableError<R> {
    TableError::Duplicate { index: PRIMARY.into(), existing, rejected }
}

impl<K: TableKey<R>, R: Send + Sync + 'static> fmt::Debug for Table<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("len", &self.len())
            .field("indexes", &self.secondary.len())
            .finish_non_exhaustive()
    }
}
