//! Changes of rows with all their entries, once for tables in memory and for those that have a log.

use super::TableKey;
use super::batch::{Batch, Change};
use super::error::{PRIMARY, TableError};
use super::prepared::Prepared;
use super::publish::{AtOnce, Publish};
use super::secondary::Changed;
use super::table::Table;
use crate::versions::Turn;
use core::fmt;
use core::ops::Bound::{Excluded, Unbounded};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// Rows that one commit removes where a whole table is looked through.
const TOGETHER: usize = 256;

/// The operations of a [`Table`] that change it, by their names there, with commits that are published in
/// this way.
pub struct Changes<'t, K: TableKey<R>, R: Send + Sync + 'static, P> {
    pub(super) table: &'t Table<K, R>,
    pub(super) by: P,
}

impl<K: TableKey<R>, R: Send + Sync + 'static, P: Copy> Clone for Changes<'_, K, R, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: TableKey<R>, R: Send + Sync + 'static, P: Copy> Copy for Changes<'_, K, R, P> {}

impl<'t, K: TableKey<R>, R: Send + Sync + 'static, P: Publish<K, R>> Changes<'t, K, R, P> {
    /// Waits for the turn of a commit.
    pub(super) fn turn(self) -> Result<Turn<'t>, P::Error> {
        self.by.begin()?;
        Ok(self.table.clock.begin())
    }

    /// Answers that a change is refused, which may tell of rows that others have just committed. No commit is
    /// under way.
    pub(super) fn refuse<A>(self, error: impl Into<TableError<R>>) -> Result<A, P::Error> {
        self.unchanged(())?;
        let error: TableError<R> = error.into();
        Err(error.into())
    }

    /// Answers an operation that changes nothing. No commit is under way.
    pub(super) fn unchanged<A>(self, answer: A) -> Result<A, P::Error> {
        self.by.unchanged()?;
        Ok(answer)
    }

    /// Makes changes of rows, and publishes them.
    fn apply(self, turn: Turn<'t>, rows: Vec<Changed<R>>) -> Result<u64, P::Error> {
        match Prepared::new(self.table, turn, rows) {
            Ok(commit) => self.by.publish(commit),
            Err(error) => self.refuse(error),
        }
    }

    pub fn insert(self, row: impl Into<Arc<R>>) -> Result<(), P::Error> {
        let row = row.into();
        let key = (self.table.key)(&row);
        let turn = self.turn()?;
        if let Some(existing) = self.table.get(key.probe()) {
            drop(turn);
            return self.refuse(duplicate(existing, row));
        }
        self.apply(turn, vec![Changed { before: None, after: Some(row) }]).map(drop)
    }

    pub fn replace(self, row: impl Into<Arc<R>>) -> Result<Option<Arc<R>>, P::Error> {
        let row = row.into();
        let key = (self.table.key)(&row);
        let turn = self.turn()?;
        let before = self.table.get(key.probe());
        self.apply(turn, vec![Changed { before: before.clone(), after: Some(row) }])?;
        Ok(before)
    }

    pub fn remove(self, key: K::Probe<'_>) -> Result<Option<Arc<R>>, P::Error> {
        let turn = self.turn()?;
        let before = self.table.get(key);
        if before.is_none() {
            drop(turn);
            return self.unchanged(None);
        }
        self.apply(turn, vec![Changed { before: before.clone(), after: None }])?;
        Ok(before)
    }

    pub fn upsert(
        self,
        key: K::Probe<'_>,
        mut change: impl FnMut(Option<&R>) -> R,
    ) -> Result<Option<Arc<R>>, P::Error> {
        self.change(key, |row| Some(change(row)))
    }

    pub fn update(
        self,
        key: K::Probe<'_>,
        mut change: impl FnMut(&R) -> R,
    ) -> Result<Option<Arc<R>>, P::Error> {
        self.change(key, |row| row.map(&mut change))
    }

    fn change(
        self,
        key: K::Probe<'_>,
        mut change: impl FnMut(Option<&R>) -> Option<R>,
    ) -> Result<Option<Arc<R>>, P::Error> {
        let mut tries = None;
        loop {
            let before = self.table.get(key);
            let Some(row) = change(before.as_deref()).map(Arc::new) else { return self.unchanged(before) };
            if (self.table.key)(&row) != K::own(key) {
                return self.refuse(TableError::OtherKey { row });
            }
            let turn = self.turn()?;
            if is_same(before.as_ref(), self.table.get(key).as_ref()) {
                self.apply(turn, vec![Changed { before: before.clone(), after: Some(row) }])?;
                return Ok(before);
            }
            drop(turn);
            if let Err(error) = tries.get_or_insert_with(|| self.table.rows.tries(key)).failed() {
                return self.refuse(error);
            }
        }
    }

    pub fn retain(self, mut keep: impl FnMut(&R) -> bool) -> Result<usize, P::Error> {
        let snapshot = self.table.snapshot();
        let (mut last, mut removed): (Option<K>, usize) = (None, 0);
        loop {
            let from = last.as_ref().map_or(Unbounded, |last| Excluded(last.probe()));
            let rows = snapshot.range((from, Unbounded)).filter(|(_, row)| !keep(row));
            let gone: Vec<(K, Arc<R>)> = rows.take(TOGETHER).collect();
            let Some((key, _)) = gone.last() else { return self.unchanged(removed) };
            last = Some(K::own(key.probe()));
            let turn = self.turn()?;
            let is_there =
                |(key, row): &(K, Arc<R>)| is_same(Some(row), self.table.get(key.probe()).as_ref());
            let gone = gone.into_iter().filter(is_there);
            let gone = gone.map(|(_, row)| Changed { before: Some(row), after: None });
            let gone: Vec<_> = gone.collect();
            let count = gone.len();
            if count > 0 {
                self.apply(turn, gone)?;
                removed += count;
            }
        }
    }

    pub fn commit(self, batch: Batch<K, R>) -> Result<u64, P::Error> {
        self.commit_in(self.turn()?, batch)
    }

    /// Makes the changes of a batch, in this turn.
    pub(super) fn commit_in(self, turn: Turn<'t>, batch: Batch<K, R>) -> Result<u64, P::Error> {
        match self.table.changed(batch) {
            Ok(rows) => self.apply(turn, rows),
            Err(error) => {
                drop(turn);
                self.refuse(error)
            }
        }
    }
}

impl<K: TableKey<R>, R: Send + Sync + 'static> Table<K, R> {
    /// The operations that change the table, with commits that are published in this way.
    #[doc(hidden)]
    pub fn changes<P: Publish<K, R>>(&self, by: P) -> Changes<'_, K, R, P> {
        Changes { table: self, by }
    }

    /// Returns the rows that a batch changes, as they are and as it leaves them.
    fn changed(&self, batch: Batch<K, R>) -> Result<Vec<Changed<R>>, TableError<R>> {
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
        Ok(rows.into_values().map(|[before, after]| Changed { before, after }).collect())
    }

    /// Inserts a row. O(log n) per index, as are the other changes.
    ///
    /// # Errors
    /// [`TableError::Duplicate`] if another row has its primary key, or a key of a unique index, or the
    /// errors of [`Index::insert`](crate::Index::insert); the table is then unchanged.
    pub fn insert(&self, row: impl Into<Arc<R>>) -> Result<(), TableError<R>> {
        self.changes(AtOnce).insert(row)
    }

    /// Inserts a row, or replaces the one with its primary key, and returns that.
    ///
    /// # Errors
    /// [`TableError::Duplicate`] if another row has a key of a unique index, or the errors of
    /// [`Index::insert`](crate::Index::insert); the table is then unchanged.
    pub fn replace(&self, row: impl Into<Arc<R>>) -> Result<Option<Arc<R>>, TableError<R>> {
        self.changes(AtOnce).replace(row)
    }

    /// Removes the row with this primary key, and returns it. If there is none, there is no commit.
    ///
    /// # Errors
    /// Those of [`Index::insert`](crate::Index::insert), as a removal is a version; the table is then
    /// unchanged.
    pub fn remove(&self, key: K::Probe<'_>) -> Result<Option<Arc<R>>, TableError<R>> {
        self.changes(AtOnce).remove(key)
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
        change: impl FnMut(Option<&R>) -> R,
    ) -> Result<Option<Arc<R>>, TableError<R>> {
        self.changes(AtOnce).upsert(key, change)
    }

    /// Replaces the row with this primary key by `change(row)`, and returns the row before, or `None` if
    /// there was none. See [`Table::upsert`].
    ///
    /// # Errors
    /// Those of [`Table::upsert`].
    pub fn update(
        &self,
        key: K::Probe<'_>,
        change: impl FnMut(&R) -> R,
    ) -> Result<Option<Arc<R>>, TableError<R>> {
        self.changes(AtOnce).update(key, change)
    }

    /// Removes all rows that a closure doesn't keep, such as those that have expired, and returns their
    /// number. A row that is changed meanwhile stays. O(n); each commit of it removes some hundred rows.
    ///
    /// # Errors
    /// Those of [`Table::remove`]; what was removed until then stays so.
    pub fn retain(&self, keep: impl FnMut(&R) -> bool) -> Result<usize, TableError<R>> {
        self.changes(AtOnce).retain(keep)
    }

    /// Makes the changes of a batch: all or none, for every reader of every index. Returns the number of the
    /// commit. O(m log n) per index for m rows.
    ///
    /// # Errors
    /// Those of [`Table::insert`]; the table is then unchanged.
    pub fn commit(&self, batch: Batch<K, R>) -> Result<u64, TableError<R>> {
        self.changes(AtOnce).commit(batch)
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

impl<K: TableKey<R>, R: Send + Sync + 'static, P> fmt::Debug for Changes<'_, K, R, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").field("table", self.table).finish_non_exhaustive()
    }
}
