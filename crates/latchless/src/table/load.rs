//! A state that was saved with its number, in a table whose indexes have handles.

use super::TableKey;
use super::error::TableError;
use super::prepared::Prepared;
use super::secondary::Changed;
use super::table::Table;
use std::sync::Arc;

impl<K: TableKey<R>, R: Send + Sync + 'static> Table<K, R> {
    /// Fills a table that has no commit with rows, as the commit of this number. Readers see all of them or
    /// none. O(n log n) per index.
    ///
    /// # Errors
    /// [`TableError::Duplicate`] if two rows have one key of a unique index, or the errors of
    /// [`Index::insert`](crate::Index::insert). The table is then unchanged.
    #[doc(hidden)]
    pub fn load(&mut self, rows: impl IntoIterator<Item = R>, number: u64) -> Result<(), TableError<R>> {
        let new = |row| Changed { before: None, after: Some(Arc::new(row)) };
        let rows = rows.into_iter().map(new).collect();
        Prepared::new(self, self.clock.begin_at(number), rows)?.publish();
        Ok(())
    }

    /// Removes all rows and commits, and returns whether it has: not while there is a snapshot.
    #[doc(hidden)]
    pub fn reset(&mut self) -> bool {
        let is_new = self.clock.restart();
        if is_new {
            self.rows.empty();
            self.secondary.iter().for_each(|index| index.empty());
        }
        is_new
    }

    /// Returns the primary key of a row.
    #[doc(hidden)]
    pub fn key_of(&self, row: &R) -> K {
        (self.key)(row)
    }
}
