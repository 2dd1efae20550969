//! The schema of a table: its primary key, its secondary indexes, and their options.

use super::secondary::{Entries, Keys, Secondary};
use super::table::Table;
use super::{EntryKey, NonUnique, TableKey, Unique};
use crate::index::Options;
use crate::versions::{Clock, Retention, VersionedIndex};
use core::fmt;
use latchless_core::base::error::Result;
use latchless_core::base::index_key::IndexKey;
use std::sync::Arc;

/// A table that has no rows yet, to which indexes are added. From [`Table::builder`].
///
/// The functions that return the keys of a row are called while rows are changed. They must depend on the
/// row alone, and must not change a table: that would wait for itself.
pub struct Builder<K: TableKey<R>, R: Send + Sync + 'static> {
    key: Arc<dyn Fn(&R) -> K + Send + Sync>,
    secondary: Vec<Arc<dyn Secondary<R>>>,
    clock: Arc<Clock>,
    options: Options,
}

impl<K: TableKey<R>, R: Send + Sync + 'static> Table<K, R> {
    /// Begins a table whose rows have this primary key.
    pub fn builder(key: impl Fn(&R) -> K + Send + Sync + 'static) -> Builder<K, R> {
        let clock = Arc::new(Clock::new(0, Retention::default()));
        Builder { key: Arc::new(key), secondary: Vec::new(), clock, options: Options::default() }
    }
}

impl<K: TableKey<R>, R: Send + Sync + 'static> Builder<K, R> {
    /// Sets the options of the indexes that are created from here on. A `limit_bytes` is one of each index, a
    /// `budget` one of all together; rows aren't counted.
    pub fn options(&mut self, options: Options) -> &mut Self {
        self.options = options;
        self
    }

    /// Adds a unique index: no two rows have the same key. Its name is that in an error.
    ///
    /// # Errors
    /// Memory was refused.
    pub fn unique<S: TableKey<R>>(
        &mut self,
        name: impl Into<Arc<str>>,
        key: impl Fn(&R) -> S + Send + Sync + 'static,
    ) -> Result<Unique<S, R>> {
        self.unique_each(name, move |row| Some(key(row)))
    }

    /// Adds a unique index in which a row has any number of keys: none or one by an `Option`, several by a
    /// `Vec`.
    ///
    /// # Errors
    /// Memory was refused.
    pub fn unique_each<S: TableKey<R>, I: IntoIterator<Item = S>>(
        &mut self,
        name: impl Into<Arc<str>>,
        keys: impl Fn(&R) -> I + Send + Sync + 'static,
    ) -> Result<Unique<S, R>> {
        Ok(Unique(self.add(name.into(), Box::new(move |row, into| into.extend(keys(row))))?))
    }

    /// Adds an index in which any number of rows have the same key.
    ///
    /// # Errors
    /// Memory was refused.
    pub fn index<S: IndexKey>(
        &mut self,
        name: impl Into<Arc<str>>,
        key: impl Fn(&R) -> S + Send + Sync + 'static,
    ) -> Result<NonUnique<(S, K), R>>
    where
        (S, K): EntryKey<R>,
    {
        self.index_each(name, move |row| Some(key(row)))
    }

    /// Adds an index in which any number of rows have the same key, and a row has any number of keys: none
    /// or one by an `Option`, several by a `Vec`.
    ///
    /// ```
    /// use latchless::table::Table;
    ///
    /// let mut builder = Table::<u64, (u64, Vec<&str>)>::builder(|note| note.0);
    /// let tags = |note: &(u64, Vec<&str>)| note.1.iter().map(|tag| tag.to_string()).collect::<Vec<_>>();
    /// let by_tag = builder.index_each("tag", tags)?;
    /// let notes = builder.build()?;
    /// notes.insert((1, vec!["red", "old"]))?;
    /// notes.insert((2, vec!["red"]))?;
    /// notes.insert((3, vec![]))?;
    /// assert_eq!(by_tag.snapshot().get("red").map(|note| note.0).collect::<Vec<_>>(), [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Memory was refused.
    pub fn index_each<S: IndexKey, I: IntoIterator<Item = S>>(
        &mut self,
        name: impl Into<Arc<str>>,
        keys: impl Fn(&R) -> I + Send + Sync + 'static,
    ) -> Result<NonUnique<(S, K), R>>
    where
        (S, K): EntryKey<R>,
    {
        let primary = Arc::clone(&self.key);
        let pairs = move |row: &R, into: &mut Vec<(S, K)>| {
            into.extend(keys(row).into_iter().map(|key| (key, primary(row))));
        };
        Ok(NonUnique(self.add(name.into(), Box::new(pairs))?))
    }

    fn add<E: TableKey<R>>(&mut self, name: Arc<str>, keys: Keys<E, R>) -> Result<Arc<Entries<E, R>>> {
        let index = VersionedIndex::with_clock(self.options.clone(), Arc::clone(&self.clock))?;
        let entries = Arc::new(Entries { name, index, keys });
        self.secondary.push(Arc::clone(&entries) as Arc<dyn Secondary<R>>);
        Ok(entries)
    }

    /// Returns the table.
    ///
    /// # Errors
    /// Memory was refused.
    pub fn build(self) -> Result<Table<K, R>> {
        let rows = VersionedIndex::with_clock(self.options, Arc::clone(&self.clock))?;
        Ok(Table { rows: Arc::new(rows), key: self.key, secondary: self.secondary, clock: self.clock })
    }
}

impl<K: TableKey<R>, R: Send + Sync + 'static> fmt::Debug for Builder<K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("indexes", &self.secondary.len()).finish_non_exhaustive()
    }
}
