//! Transactions of a table: reads of one moment, and a commit that takes place only if they still hold.

use super::batch::Batch;
use super::changes::Changes;
use super::error::TableError;
use super::moment::{RowSnapshot, at};
use super::non_unique::NonUnique;
use super::publish::{AtOnce, Publish};
use super::table::Table;
use super::unique::Unique;
use super::{EntryKey, TableKey};
use crate::blink::{Conflicts, Tries};
use crate::index::PrefixKey;
use crate::versions::{VersionedIndex, owned};
use core::fmt;
use core::ops::RangeBounds;
use latchless_core::base::index_key::IndexKey;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns the tries of a key that was read, if a commit after the read has changed it.
type Changed<'t> = Box<dyn Fn() -> Option<Tries<'t>> + 't>;

/// A transaction of a [`Table`]: see [`Table::begin`]. `P` is how its commit becomes visible.
pub struct Transaction<'t, K: TableKey<R>, R: Send + Sync + 'static, P = AtOnce> {
    changes: Changes<'t, K, R, P>,
    snapshot: RowSnapshot<'t, K, R>,
    reads: Vec<Changed<'t>>,
    batch: Batch<K, R>,
    /// The rows that the batch leaves.
    written: BTreeMap<K, Option<Arc<R>>>,
}

impl<K: TableKey<R>, R: Send + Sync + 'static> Table<K, R> {
    /// Begins a transaction: it reads the rows as of now and its own changes, and changes the table when it
    /// is committed, if no other commit has changed what it has read. One that is dropped changes nothing.
    pub fn begin(&self) -> Transaction<'_, K, R> {
        self.changes(AtOnce).begin()
    }

    /// Runs a transaction again and again until it is committed without a conflict, and returns the result
    /// of `run`. An error of `run` ends it, and nothing is changed. Of transactions that conflict one is
    /// always committed. `run` must not change past the transaction what it has read: see
    /// [races](crate::index#races).
    ///
    /// ```
    /// use latchless::table::{Table, TableError};
    ///
    /// let mut builder = Table::<u64, (u64, String, i64)>::builder(|account| account.0);
    /// let by_name = builder.unique("name", |account| account.1.clone())?;
    /// let accounts = builder.build()?;
    /// accounts.insert((1, "ada".to_owned(), 100))?;
    /// accounts.insert((2, "bob".to_owned(), 0))?;
    ///
    /// accounts.transact(|transfer| {
    ///     let (Some(ada), Some(bob)) = (transfer.get(1), transfer.find(&by_name, "bob")) else {
    ///         return Ok(());
    ///     };
    ///     transfer.replace((ada.0, ada.1.clone(), ada.2 - 30));
    ///     transfer.replace((bob.0, bob.1.clone(), bob.2 + 30));
    ///     Ok::<_, TableError<_>>(())
    /// })?;
    /// assert_eq!((accounts.get(1).unwrap().2, accounts.get(2).unwrap().2), (70, 30));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// That of `run`, or those of [`Table::commit`];
    /// [`Error::ClosureChangesItsKey`](crate::Error::ClosureChangesItsKey).
    pub fn transact<'t, A, E: From<TableError<R>>>(
        &'t self,
        run: impl FnMut(&mut Transaction<'t, K, R>) -> Result<A, E>,
    ) -> Result<A, E> {
        self.changes(AtOnce).transact(run)
    }
}

impl<'t, K: TableKey<R>, R: Send + Sync + 'static, P: Publish<K, R>> Changes<'t, K, R, P> {
    pub fn begin(self) -> Transaction<'t, K, R, P> {
        let (reads, batch, written) = (Vec::new(), Batch::new(), BTreeMap::new());
        Transaction { changes: self, snapshot: self.table.snapshot(), reads, batch, written }
    }

    pub fn transact<A, E: From<P::Error>>(
        self,
        mut run: impl FnMut(&mut Transaction<'t, K, R, P>) -> Result<A, E>,
    ) -> Result<A, E> {
        let mut conflicts = Conflicts::default();
        loop {
            let mut transaction = self.begin();
            let result = run(&mut transaction)?;
            match transaction.try_commit()? {
                Ok(_) => return Ok(result),
                Err(changed) => {
                    if let Err(error) = conflicts.failed(changed) {
                        return Ok(self.refuse(error)?);
                    }
                }
            }
        }
    }
}

impl<'t, K: TableKey<R>, R: Send + Sync + 'static, P: Publish<K, R>> Transaction<'t, K, R, P> {
    /// Returns the number of the commit that the transaction reads.
    pub fn number(&self) -> u64 {
        self.snapshot.number()
    }

    /// Returns the row with this primary key: the one that the transaction has written, or the one at its
    /// begin.
    pub fn get(&mut self, key: K::Probe<'_>) -> Option<Arc<R>> {
        let key = K::own(key);
        if let Some(written) = self.written.get(&key) {
            return written.clone();
        }
        let row = self.snapshot.get(key.probe());
        self.read(&self.changes.table.rows, key);
        row
    }

    /// Returns the row with this key of a unique index, with the transaction's own changes. O(log n), and
    /// O(rows that the transaction has written).
    ///
    /// # Panics
    /// If the index is of another table.
    pub fn find<S: TableKey<R>>(&mut self, index: &'t Unique<S, R>, key: S::Probe<'_>) -> Option<Arc<R>> {
        let key = S::own(key);
        let own = self.written.values().flatten();
        if let Some(own) = own.clone().find(|row| index.0.keys_of(Some(row)).binary_search(&key).is_ok()) {
            return Some(Arc::clone(own));
        }
        let row = at(&index.0.index, &self.snapshot).get(key.probe());
        self.read(&index.0.index, key);
        row.filter(|row| !self.written.contains_key(&(self.changes.table.key)(row)))
    }

    /// Returns the rows whose primary keys are in a range, in their order, with the transaction's own
    /// changes. All keys of the range count as read, those that aren't there included: a row that another
    /// commit inserts into it is a conflict. A range that starts after its end is empty. O(log n + m) for m
    /// rows, and O(rows that the transaction has written).
    ///
    /// ```
    /// use latchless::table::{Table, TableError};
    ///
    /// let bookings = Table::<u64, (u64, u64)>::builder(|&(from, _)| from).build()?;
    /// bookings.insert((10, 12))?;
    /// // No other booking may take these hours meanwhile.
    /// let mut booking = bookings.begin();
    /// assert!(booking.range(12..14).is_empty());
    /// booking.insert((12, 14));
    /// bookings.insert((13, 15))?;
    /// assert!(matches!(booking.commit(), Err(TableError::Conflict)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn range<'q>(&mut self, range: impl RangeBounds<K::Probe<'q>>) -> Vec<Arc<R>> {
        let table = self.changes.table;
        self.rows_in(&table.rows, |row| vec![(table.key)(row)], range)
    }

    /// Returns the rows whose keys in a unique index are in a range, in the order of these. See
    /// [`Transaction::range`].
    ///
    /// # Panics
    /// If the index is of another table.
    pub fn find_range<'q, S: TableKey<R>>(
        &mut self,
        index: &'t Unique<S, R>,
        range: impl RangeBounds<S::Probe<'q>>,
    ) -> Vec<Arc<R>> {
        self.rows_in(&index.0.index, |row| index.0.keys_of(Some(row)), range)
    }

    fn rows_in<'q, S: TableKey<R>>(
        &mut self,
        index: &'t VersionedIndex<S, Arc<R>>,
        keys: impl Fn(&Arc<R>) -> Vec<S>,
        range: impl RangeBounds<S::Probe<'q>>,
    ) -> Vec<Arc<R>> {
        let bounds = owned::<S>(&range);
        let there = at(index, &self.snapshot);
        let rows = self.with_own(there.range(range), keys, |key| bounds.contains(key));
        self.read_by(index, move |number| index.changed_in(&bounds, number));
        rows
    }

    /// Returns the rows with this key of an index that isn't unique, in the order of their primary keys. See
    /// [`Transaction::find_all_in`].
    ///
    /// # Panics
    /// If the index is of another table.
    pub fn find_all<S: IndexKey + Ord>(
        &mut self,
        index: &'t NonUnique<(S, K), R>,
        key: S::Probe<'_>,
    ) -> Vec<Arc<R>>
    where
        (S, K): EntryKey<R> + for<'p> PrefixKey<Prefix<'p> = S::Probe<'p>>,
    {
        self.find_all_in(index, key..=key)
    }

    /// Returns the rows whose keys in an index that isn't unique are in a range, in the order of (key,
    /// primary key). A row that another commit gives a key in the range is a conflict. See
    /// [`Transaction::range`].
    ///
    /// ```
    /// # use latchless::table::{Table, TableError};
    /// let mut builder = Table::<u64, (u64, u32)>::builder(|shift| shift.0);
    /// let by_day = builder.index("day", |shift| shift.1)?;
    /// let shifts = builder.build()?;
    /// for (id, day) in [(1, 20), (2, 21), (3, 21)] {
    ///     shifts.insert((id, day))?;
    /// }
    /// shifts.transact(|plan| {
    ///     let tomorrow = plan.find_all(&by_day, 21);
    ///     if tomorrow.len() > 1 {
    ///         plan.replace((tomorrow[1].0, 22));
    ///     }
    ///     assert_eq!(plan.find_all_in(&by_day, 21..).len(), 2);
    ///     Ok::<_, TableError<_>>(())
    /// })?;
    /// assert_eq!(by_day.snapshot().count(21), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the index is of another table.
    pub fn find_all_in<'q, S: IndexKey + Ord>(
        &mut self,
        index: &'t NonUnique<(S, K), R>,
        range: impl RangeBounds<S::Probe<'q>>,
    ) -> Vec<Arc<R>>
    where
        (S, K): EntryKey<R> + for<'p> PrefixKey<Prefix<'p> = S::Probe<'p>>,
    {
        let (entries, (low, high)) = (&*index.0, owned::<S>(&range));
        let there = at(&entries.index, &self.snapshot);
        let there = there.between(range.start_bound().cloned(), range.end_bound().cloned());
        let keys = |row: &Arc<R>| entries.keys_of(Some(row));
        let rows = self.with_own(there, keys, |(key, _)| (low.as_ref(), high.as_ref()).contains(key));
        self.read_by(&entries.index, move |number| {
            let (low, high) = (low.as_ref().map(S::probe), high.as_ref().map(S::probe));
            entries.index.changed_between(low, high, number)
        });
        rows
    }

    /// Returns rows in the order of their keys: of these entries, those that the transaction hasn't written,
    /// and those of its own with keys within.
    fn with_own<E: Ord>(
        &self,
        there: impl Iterator<Item = (E, Arc<R>)>,
        keys: impl Fn(&Arc<R>) -> Vec<E>,
        within: impl Fn(&E) -> bool,
    ) -> Vec<Arc<R>> {
        let is_as_before = |row: &R| !self.written.contains_key(&(self.changes.table.key)(row));
        let mut entries: Vec<_> = there.filter(|(_, row)| is_as_before(row)).collect();
        for row in self.written.values().flatten() {
            let own = keys(row).into_iter().filter(&within);
            entries.extend(own.map(|key| (key, Arc::clone(row))));
        }
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        entries.into_iter().map(|(_, row)| row).collect()
    }

    /// Records a read for the commit. `changed` returns a key that was read, if a commit after this number
    /// has written it.
    fn read_by<S: TableKey<R>>(
        &mut self,
        index: &'t VersionedIndex<S, Arc<R>>,
        changed: impl Fn(u64) -> Option<S> + 't,
    ) {
        let number = self.number();
        self.reads.push(Box::new(move || changed(number).map(|key| index.tries(key.probe()))));
    }

    fn read<S: TableKey<R>>(&mut self, index: &'t VersionedIndex<S, Arc<R>>, key: S) {
        self.read_by(index, move |number| {
            index.has_changed_since(key.probe(), number).then(|| S::own(key.probe()))
        });
    }

    /// Inserts a row. One with its primary key is an error of the commit.
    pub fn insert(&mut self, row: impl Into<Arc<R>>) -> &mut Self {
        let row = row.into();
        self.written.insert((self.changes.table.key)(&row), Some(Arc::clone(&row)));
        self.batch.insert(row);
        self
    }

    /// Inserts a row, or replaces the one with its primary key.
    pub fn replace(&mut self, row: impl Into<Arc<R>>) -> &mut Self {
        let row = row.into();
        self.written.insert((self.changes.table.key)(&row), Some(Arc::clone(&row)));
        self.batch.replace(row);
        self
    }

    /// Removes the row with this primary key, if there is one.
    pub fn remove(&mut self, key: K::Probe<'_>) -> &mut Self {
        self.written.insert(K::own(key), None);
        self.batch.remove(key);
        self
    }

    /// Makes the changes, and returns the number of the commit. A transaction without changes has read one
    /// moment, so it never conflicts, and has the number of that.
    ///
    /// # Errors
    /// [`TableError::Conflict`] if a later commit has changed what the transaction has read, or those of
    /// [`Table::commit`]. The table is then unchanged.
    pub fn commit(self) -> Result<u64, P::Error> {
        let changes = self.changes;
        self.try_commit()?.or_else(|_| changes.refuse(TableError::Conflict))
    }

    /// The inner error is the tries of a key that was read and has changed.
    fn try_commit(self) -> Result<Result<u64, Tries<'t>>, P::Error> {
        if self.batch.is_empty() {
            return self.changes.unchanged(Ok(self.number()));
        }
        let turn = self.changes.turn()?;
        match self.reads.iter().find_map(|changed| changed()) {
            Some(changed) => Ok(Err(changed)),
            None => self.changes.commit_in(turn, self.batch).map(Ok),
        }
    }
}

impl<K: TableKey<R>, R: Send + Sync + 'static, P> fmt::Debug for Transaction<'_, K, R, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transaction")
            .field("number", &self.snapshot.number())
            .field("writes", &self.batch.len())
            .finish_non_exhaustive()
    }
}
