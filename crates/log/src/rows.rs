//! Recovery into a table: rows come back under their primary keys, and with them the entries of all indexes.

use crate::commits::{self, Committed};
use crate::error::{Error, Result};
use crate::text;
use latchless::BytesKey;
use latchless::snapshot::{self, SavedRow};
use latchless::table::{Batch, Table, TableError, TableKey};
use latchless::versions::Change;
use std::io::Write;

/// The error of an opening for a refusal of the table.
pub fn refused<K, R>(table: &Table<K, R>, error: TableError<R>) -> Error
where
    K: TableKey<R> + BytesKey,
    R: Send + Sync + 'static,
{
    let name = |row: &R| text::of_key(&table.key_of(row));
    match error {
        TableError::Duplicate { index, existing, rejected } => {
            Error::Duplicate { index, existing: name(&existing), rejected: name(&rejected) }
        }
        TableError::Shared { .. } => Error::Shared,
        TableError::Index(error) => error.into(),
        error => unreachable!("no such refusal of rows that are read from a file: {error}"),
    }
}

/// Refuses a row that isn't under its primary key.
fn check_key<K, R>(table: &Table<K, R>, key: &K, row: &R) -> Result<()>
where
    K: TableKey<R> + BytesKey,
    R: Send + Sync + 'static,
{
    let found = table.key_of(row);
    if found == *key {
        Ok(())
    } else {
        Err(Error::OtherPrimaryKey { key: text::of_key(key), found: text::of_key(&found) })
    }
}

impl<K, R> Committed for Table<K, R>
where
    K: TableKey<R> + BytesKey,
    R: SavedRow + Send + Sync + 'static,
{
    type Key = K;
    type Value = R;

    fn newest(&self) -> u64 {
        self.newest()
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn write(&self, out: &mut dyn Write) -> snapshot::Result<u64> {
        let snapshot = self.snapshot();
        commits::write::<K, R>(snapshot.number(), snapshot.iter(), out)
    }

    fn load(&mut self, entries: Vec<(K, R)>, number: u64) -> Result<()> {
        if let Some(at) = entries.windows(2).position(|pair| pair[0].0 >= pair[1].0) {
            return Err(latchless::Error::Unsorted { position: at + 1 }.into());
        }
        entries.iter().try_for_each(|(key, row)| check_key(self, key, row))?;
        let rows = entries.into_iter().map(|(_, row)| row);
        self.load(rows, number).map_err(|error| refused(self, error))
    }

    fn commit(&mut self, changes: Vec<Change<K, R>>) -> Result<Result<(), &'static str>> {
        let mut batch = Batch::new();
        for change in changes {
            match change {
                Change::Put(key, Some(row)) => {
                    check_key(self, &key, &row)?;
                    batch.replace(row);
                }
                Change::Put(key, None) => {
                    batch.remove(key.probe());
                }
                Change::RemoveRange(..) => {
                    return Ok(Err("it removes a range, as no commit of a table does"));
                }
            }
        }
        Table::commit(self, batch).map_err(|error| refused(self, error))?;
        Ok(Ok(()))
    }

    fn prune(&self) -> latchless::Result<()> {
        self.prune().map(drop)
    }

    fn clear(&mut self) -> Result<()> {
        if self.reset() { Ok(()) } else { Err(Error::Shared) }
    }
}
