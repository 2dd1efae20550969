//! A commit whose changes are made in all indexes, and which no reader sees yet.

use super::TableKey;
use super::error::TableError;
use super::secondary::{Changed, Written};
use super::table::Table;
use crate::versions::{Part, Turn};
use core::fmt;
use std::sync::Arc;

/// Changes of rows that were accepted by all indexes of a [`Table`], in the turn of their commit: others wait
/// for it. Readers see them once it is published. One that is dropped before that is abandoned, which needs
/// no memory.
pub struct Prepared<'t, K: TableKey<R>, R: Send + Sync + 'static> {
    /// Dropped before the turn ends, as is `part`.
    written: Vec<Box<dyn Written + 't>>,
    part: Part<'t, K, Arc<R>>,
    rows: Vec<Changed<R>>,
    turn: Turn<'t>,
}

impl<'t, K: TableKey<R>, R: Send + Sync + 'static> Prepared<'t, K, R> {
    /// Changes rows in all indexes. What was written is abandoned if one refuses.
    pub(super) fn new(
        table: &'t Table<K, R>,
        turn: Turn<'t>,
        rows: Vec<Changed<R>>,
    ) -> Result<Self, TableError<R>> {
        let mut written: Vec<Box<dyn Written + '_>> = Vec::with_capacity(table.secondary.len());
        for index in &table.secondary {
            written.push(index.change(&turn, &rows)?);
        }
        let mut part = Part::new(&*table.rows, &turn);
        for row in &rows {
            if let Some(one) = row.one() {
                part.write((table.key)(one), row.after.clone())?;
            }
        }
        Ok(Self { written, part, rows, turn })
    }

    /// The number that the commit has once it is published.
    #[doc(hidden)]
    pub fn number(&self) -> u64 {
        self.turn.number()
    }

    /// The primary keys whose rows it changes, each once, with the row that it leaves, if any.
    #[doc(hidden)]
    pub fn changes(&self) -> impl Iterator<Item = (&K, Option<&R>)> {
        let rows = self.rows.iter().filter(|row| row.one().is_some());
        self.part.written().iter().zip(rows.map(|row| row.after.as_deref()))
    }

    /// Lets readers see the commit, and returns its number.
    #[doc(hidden)]
    pub fn publish(self) -> u64 {
        self.part.keep();
        self.written.into_iter().for_each(Written::keep);
        self.turn.publish()
    }
}

impl<K: TableKey<R>, R: Send + Sync + 'static> fmt::Debug for Prepared<'_, K, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("number", &self.number()).finish_non_exhaustive()
    }
}
