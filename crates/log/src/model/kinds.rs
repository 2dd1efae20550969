//! The kinds of durable indexes behind one trait: keys and values are numbers, converted to texts if
//! keys are strings.

use super::{Model, Set};
use crate::DurableVersionedIndex;
use crate::findings::Recovery;
use crate::kept::Kept;
use crate::recover::Found;
use crate::stored::Stored;
use crate::{ChangeError, Columns, DurableBytesIndex, DurableIndex, DurableMultiIndex, DurableTable};
use crate::{Durable, columns};
use crate::{Opening, Plain, Result};
use latchless::bytes::MultiIndex;
use latchless::snapshot::{DataType, SavedRow};
use latchless::table::{Batch, Table, TableError};
use latchless::versions::{VersionedIndex, WriteBatch};
use latchless::{BytesKey, Index, KeyFor};
use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use crate::journal::Journal;

/// A change of one record.
#[derive(Debug, Clone)]
pub enum Change {
    Put(u64, u64),
    Batch(Vec<(u64, u64)>),
    Remove(u64),
    RemoveMany(Vec<u64>),
    RemoveRange(u64, u64),
    GetOrInsert(u64, u64),
    /// From a value, which the key may have or not.
    Exchange(u64, u64, u64),
    PopFirst,
}

impl Change {
    /// The key of a change of one.
    fn key(&self) -> u64 {
        match *self {
            Self::Put(key, _) | Self::Remove(key) | Self::GetOrInsert(key, _) | Self::Exchange(key, ..) => {
                key
            }
            Self::Batch(_) | Self::RemoveMany(_) | Self::RemoveRange(..) | Self::PopFirst => 0,
        }
    }
}

/// A durable index under test.
pub trait Kind: Sized + 'static {
    /// How many entries a history begins with.
    const FIRST: u64 = 20;
    /// Of which folder.
    fn open(model: &Model, folder: &Path, opening: Opening) -> Result<(Self, Recovery)>;
    fn journal(&self) -> &Journal;
    fn change(&self, change: &Change) -> Result<()>;
    /// Applies a change to these entries.
    fn becomes(entries: &mut Set, change: &Change);
    fn entries(&self) -> Set;
    /// Saves a snapshot, and calls `amid` before the index is read, while it is, if that can be, and after
    /// it.
    fn snapshot(self: &Arc<Self>, amid: Arc<dyn Fn()>) -> Result<u64>;
}

/// The path of the folder.
pub const FOLDER: &str = "/data/new";

/// A map's entries after a change.
fn of_map(entries: &mut Set, change: &Change) {
    let value = |entries: &Set, key| entries.range((key, 0)..=(key, u64::MAX)).next().copied();
    let put = |entries: &mut Set, key, new| {
        entries.retain(|&(there, _)| there != key);
        entries.insert((key, new));
    };
    match *change {
        Change::Put(key, new) => put(entries, key, new),
        Change::Batch(ref batch) => batch.iter().for_each(|&(key, new)| put(entries, key, new)),
        Change::Remove(key) => entries.retain(|&(there, _)| there != key),
        Change::RemoveMany(ref keys) => entries.retain(|(there, _)| !keys.contains(there)),
        Change::RemoveRange(from, to) => entries.retain(|&(there, _)| there < from || there >= to),
        Change::GetOrInsert(key, new) if value(entries, key).is_none() => put(entries, key, new),
        Change::Exchange(key, expected, new) if value(entries, key) == Some((key, expected)) => {
            put(entries, key, new);
        }
        Change::PopFirst => drop(entries.pop_first()),
        Change::GetOrInsert(..) | Change::Exchange(..) => {}
    }
}

/// Does a change of this key, or of the first one, to an index with one value a key.
fn change_one<K, C>(durable: &Durable<Index<K, u64>, C>, key: K::Probe<'_>, change: &Change) -> Result<()>
where
    K: KeyFor<u64, Engine: Stored<K, u64, C>>,
{
    match *change {
        Change::Put(_, value) => durable.insert(key, value).map(drop),
        Change::Remove(_) => durable.remove(key).map(drop),
        Change::GetOrInsert(_, value) => durable.get_or_insert(key, value).map(drop),
        Change::Exchange(_, expected, value) => durable.compare_exchange(key, expected, value).map(drop),
        Change::PopFirst => durable.pop_first().map(drop),
        Change::Batch(_) | Change::RemoveMany(_) | Change::RemoveRange(..) => unreachable!("of many keys"),
    }
}

/// A snapshot of an index whose keys aren't seen while they are saved.
fn snapshot<I: Kept<()>>(durable: &Durable<I>, amid: &dyn Fn()) -> Result<u64> {
    durable.journal.snapshot(|out| {
        amid();
        let saved = durable.index.write(&(), out);
        amid();
        saved
    })
}

type Amid = (u64, Arc<dyn Fn()>);

thread_local! {
    /// Called when this many more keys have been saved.
    static AMID: RefCell<Option<Amid>> = const { RefCell::new(None) };
}

/// Columns that count their keys as they are saved.
#[derive(Debug, Clone, Copy)]
pub struct Watched;

impl Columns<u64, u64> for Watched {
    fn types(&self) -> [DataType; 2] {
        Columns::<u64, u64>::types(&Plain)
    }

    fn key_to_cell(&self, key: u64) -> u64 {
        let amid = AMID.with_borrow_mut(|amid| match amid {
            Some((0, _)) => amid.take().map(|(_, amid)| amid),
            Some((left, _)) => {
                *left -= 1;
                None
            }
            None => None,
        });
        if let Some(amid) = amid {
            amid();
        }
        key
    }

    fn value_to_cell(&self, value: u64) -> u64 {
        value
    }

    fn key_of_cell(&self, cell: u64) -> Option<u64> {
        Some(cell)
    }

    fn value_of_cell(&self, cell: u64) -> u64 {
        cell
    }
}

impl Kind for DurableIndex<u64, u64, Watched> {
    /// A snapshot reads several leaves.
    const FIRST: u64 = 150;

    fn open(model: &Model, folder: &Path, opening: Opening) -> Result<(Self, Recovery)> {
        Found::open_on(Arc::new(model.clone()), folder)?.recover(Index::new()?, Watched, opening)
    }

    fn journal(&self) -> &Journal {
        &self.journal
    }

    fn change(&self, change: &Change) -> Result<()> {
        match *change {
            Change::Batch(ref batch) => self.insert_many(batch).map(drop),
            Change::RemoveMany(ref keys) => self.remove_many(keys).map(drop),
            Change::RemoveRange(from, to) => self.remove_range(from..to).map(drop),
            _ => change_one(self, change.key(), change),
        }
    }

    fn becomes(entries: &mut Set, change: &Change) {
        of_map(entries, change);
    }

    fn entries(&self) -> Set {
        self.index.iter().collect()
    }

    fn snapshot(self: &Arc<Self>, amid: Arc<dyn Fn()>) -> Result<u64> {
        self.journal.snapshot(|out| {
            amid();
            // In the second half of the leaves.
            let half = self.index.len() as u64 / 2;
            AMID.set(Some((half, amid.clone())));
            let saved = columns::write(&self.index, out, &Watched);
            AMID.set(None);
            amid();
            saved
        })
    }
}

/// The text of a number, some longer than others.
fn text(number: u64) -> String {
    format!("{number:06}{}", "x".repeat(number as usize % 5 * 40))
}

/// Entries with texts as keys.
fn named(batch: &[(u64, u64)]) -> Vec<(String, u64)> {
    batch.iter().map(|&(key, value)| (text(key), value)).collect()
}

fn number(text: &str) -> u64 {
    text[..6].parse().expect("a number")
}

impl Kind for DurableBytesIndex<String, u64> {
    fn open(model: &Model, folder: &Path, opening: Opening) -> Result<(Self, Recovery)> {
        Found::open_on(Arc::new(model.clone()), folder)?.recover(Index::new()?, (), opening)
    }

    fn journal(&self) -> &Journal {
        &self.journal
    }

    fn change(&self, change: &Change) -> Result<()> {
        match *change {
            Change::Batch(ref batch) => {
                let named = named(batch);
                let entries: Vec<_> = named.iter().map(|(key, value)| (key.as_str(), *value)).collect();
                self.insert_many(&entries).map(drop)
            }
            Change::RemoveMany(ref keys) => {
                let keys: Vec<String> = keys.iter().map(|&key| text(key)).collect();
                let keys: Vec<_> = keys.iter().map(String::as_str).collect();
                self.remove_many(&keys).map(drop)
            }
            Change::RemoveRange(from, to) => self.remove_range(&*text(from)..&*text(to)).map(drop),
            _ => change_one(self, &text(change.key()), change),
        }
    }

    fn becomes(entries: &mut Set, change: &Change) {
        of_map(entries, change);
    }

    fn entries(&self) -> Set {
        self.index.iter().map(|(key, value)| (number(&key), value)).collect()
    }

    fn snapshot(self: &Arc<Self>, amid: Arc<dyn Fn()>) -> Result<u64> {
        snapshot(self, &*amid)
    }
}

impl Kind for DurableMultiIndex<String> {
    fn open(model: &Model, folder: &Path, opening: Opening) -> Result<(Self, Recovery)> {
        Found::open_on(Arc::new(model.clone()), folder)?.recover(MultiIndex::new()?, (), opening)
    }

    fn journal(&self) -> &Journal {
        &self.journal
    }

    fn change(&self, change: &Change) -> Result<()> {
        match *change {
            Change::Put(key, row) | Change::GetOrInsert(key, row) => self.insert(&text(key), row).map(drop),
            Change::Batch(ref batch) => self.insert_many(&named(batch)).map(drop),
            Change::Exchange(key, row, _) => self.remove(&text(key), row).map(drop),
            Change::Remove(key) | Change::RemoveRange(key, _) => self.remove_all(&text(key)).map(drop),
            Change::RemoveMany(ref keys) => self.remove_all(&text(keys[0])).map(drop),
            Change::PopFirst => self.remove(&text(0), 0).map(drop),
        }
    }

    fn becomes(entries: &mut Set, change: &Change) {
        match *change {
            Change::Put(key, row) | Change::GetOrInsert(key, row) => drop(entries.insert((key, row))),
            Change::Batch(ref batch) => entries.extend(batch),
            Change::Exchange(key, row, _) => drop(entries.remove(&(key, row))),
            Change::Remove(key) | Change::RemoveRange(key, _) => entries.retain(|&(there, _)| there != key),
            Change::RemoveMany(ref keys) => entries.retain(|&(there, _)| there != keys[0]),
            Change::PopFirst => drop(entries.remove(&(0, 0))),
        }
    }

    fn entries(&self) -> Set {
        self.index.iter().map(|(key, row)| (number(&key), row)).collect()
    }

    fn snapshot(self: &Arc<Self>, amid: Arc<dyn Fn()>) -> Result<u64> {
        snapshot(self, &*amid)
    }
}

impl Kind for DurableVersionedIndex<String, u64> {
    fn open(model: &Model, folder: &Path, opening: Opening) -> Result<(Self, Recovery)> {
        Found::open_on(Arc::new(model.clone()), folder)?.recover(VersionedIndex::new()?, (), opening)
    }

    fn journal(&self) -> &Journal {
        &self.journal
    }

    fn change(&self, change: &Change) -> Result<()> {
        let mut batch = WriteBatch::new();
        match *change {
            Change::Put(key, value) => return self.insert(&text(key), value).map(drop),
            Change::Remove(key) => return self.remove(&text(key)).map(drop),
            Change::Batch(ref entries) => batch.extend(named(entries)),
            Change::RemoveMany(ref keys) => {
                for &key in keys {
                    batch.remove(&text(key));
                }
            }
            Change::RemoveRange(from, to) => {
                batch.remove_range(&*text(from)..&*text(to));
            }
            Change::GetOrInsert(key, value) => {
                return self.upsert(&text(key), |before| before.unwrap_or(value)).map(drop);
            }
            Change::Exchange(key, expected, value) => {
                return self.transact(|transaction| {
                    if transaction.get(&text(key)) == Some(expected) {
                        transaction.insert(&text(key), value);
                    }
                    Ok(())
                });
            }
            Change::PopFirst => {
                return self.transact(|transaction| {
                    if let Some((first, _)) = transaction.range(..).first() {
                        transaction.remove(first);
                    }
                    Ok(())
                });
            }
        }
        self.commit(batch).map(drop)
    }

    fn becomes(entries: &mut Set, change: &Change) {
        of_map(entries, change);
    }

    fn entries(&self) -> Set {
        self.index.snapshot().iter().map(|(key, value)| (number(&key), value)).collect()
    }

    fn snapshot(self: &Arc<Self>, amid: Arc<dyn Fn()>) -> Result<u64> {
        snapshot(self, &*amid)
    }
}

/// A row of a table: its primary key is the text of a number.
#[derive(Debug, Clone)]
pub struct Row(u64, u64);

impl SavedRow for Row {
    fn type_name() -> Cow<'static, str> {
        "row".into()
    }

    fn with_cell<A>(&self, see: impl FnOnce(&[u8]) -> A) -> A {
        (self.0, self.1).with_bytes(see)
    }

    fn of_cell(cell: &[u8]) -> Option<Self> {
        let (key, value) = <(u64, u64)>::is_key(cell).then(|| <(u64, u64)>::from_bytes(cell))?;
        Some(Self(key, value))
    }
}

/// The error of the log, which alone refuses a row.
fn logged<A>(changed: Result<A, ChangeError<Row>>) -> Result<()> {
    match changed {
        Ok(_) => Ok(()),
        Err(ChangeError::Log(error)) => Err(error),
        Err(ChangeError::Refused(TableError::Index(error))) => Err(error.into()),
        Err(ChangeError::Refused(error)) => panic!("{error}"),
    }
}

impl Kind for DurableTable<String, Row> {
    fn open(model: &Model, folder: &Path, opening: Opening) -> Result<(Self, Recovery)> {
        let mut builder = Table::builder(|row: &Row| text(row.0));
        builder.unique("number", |row| row.0)?;
        builder.index("value", |row| row.1)?;
        Found::open_on(Arc::new(model.clone()), folder)?.recover(builder.build()?, (), opening)
    }

    fn journal(&self) -> &Journal {
        &self.journal
    }

    fn change(&self, change: &Change) -> Result<()> {
        let mut batch = Batch::<String, Row>::new();
        match *change {
            Change::Put(key, value) => return logged(self.replace(Row(key, value))),
            Change::Remove(key) => return logged(self.remove(&text(key))),
            Change::Batch(ref entries) => entries.iter().for_each(|&(key, value)| {
                batch.replace(Row(key, value));
            }),
            Change::RemoveMany(ref keys) => keys.iter().for_each(|&key| {
                batch.remove(&text(key));
            }),
            Change::RemoveRange(from, to) => {
                return logged(self.transact(|transaction| {
                    for row in transaction.range(&*text(from)..&*text(to)) {
                        transaction.remove(&text(row.0));
                    }
                    Ok(())
                }));
            }
            Change::GetOrInsert(key, value) => {
                return logged(self.upsert(&text(key), |row| row.cloned().unwrap_or(Row(key, value))));
            }
            Change::Exchange(key, expected, value) => {
                return logged(self.transact(|transaction| {
                    if transaction.get(&text(key)).is_some_and(|row| row.1 == expected) {
                        transaction.replace(Row(key, value));
                    }
                    Ok(())
                }));
            }
            Change::PopFirst => {
                return logged(self.transact(|transaction| {
                    if let Some(first) = transaction.range(..).first() {
                        transaction.remove(&text(first.0));
                    }
                    Ok(())
                }));
            }
        }
        logged(self.commit(batch))
    }

    fn becomes(entries: &mut Set, change: &Change) {
        of_map(entries, change);
    }

    fn entries(&self) -> Set {
        self.index.check_invariants().expect("every index has the entries of the rows");
        self.index.snapshot().values().map(|row| (row.0, row.1)).collect()
    }

    fn snapshot(self: &Arc<Self>, amid: Arc<dyn Fn()>) -> Result<u64> {
        snapshot(self, &*amid)
    }
}
