//! Recovery into an index of numbers.

use crate::columns::{self, Columns};
use crate::error::Result;
use crate::pending::{InOrder, Pending, Room, unless_full};
use crate::record::{self, Header, Kind};
use crate::replay::{Base, Target};
use latchless::snapshot::{self, DataType};
use latchless::{FillFactor, Index, Key, Value};
use std::io::Write;
use std::num::NonZeroUsize;

/// The index and its columns, and room for a record's entries.
pub struct Numbers<'a, K: Key, V: Value, C> {
    index: &'a mut Index<K, V>,
    columns: &'a C,
    keys: Vec<K>,
    values: Vec<V>,
    pending: Pending<Index<K, V>>,
}

impl<'a, K: Key, V: Value, C> Numbers<'a, K, V, C> {
    pub fn new(index: &'a mut Index<K, V>, columns: &'a C) -> Self {
        let (keys, values, pending) = Default::default();
        Self { index, columns, keys, values, pending }
    }
}

impl<K: Key, V: Value, C: Columns<K, V>> Target for Numbers<'_, K, V, C> {
    fn types(&self) -> [DataType; 2] {
        self.columns.types()
    }

    fn len(&self) -> usize {
        self.index.len()
    }

    fn begins_with_snapshot(&self) -> bool {
        !self.columns.metadata().is_empty()
    }

    fn save(&self, out: &mut dyn Write) -> snapshot::Result<u64> {
        columns::write(self.index, out, self.columns)
    }

    fn load(&mut self, base: Base) -> snapshot::Result<Result<usize>> {
        let snapshot = match base {
            Base::Numbers(snapshot) => snapshot,
            Base::Strings(strings) => {
                let found = strings.key_type();
                return Err(snapshot::Error::OtherKeys { found, opener: "DurableBytesIndex" });
            }
            Base::Pairs(pairs) => {
                let found = pairs.key_type();
                return Err(snapshot::Error::OtherKeys { found, opener: "DurableMultiIndex" });
            }
            Base::Commits(snapshot, _) => {
                let found = snapshot.key_type();
                return Err(snapshot::Error::OtherKeys { found, opener: "DurableVersionedIndex" });
            }
        };
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        for fill in [FillFactor::UPDATED, FillFactor::FULL] {
            match columns::load(&snapshot, self.index, self.columns, fill, threads) {
                Ok(()) => return Ok(Ok(snapshot.len())),
                Err(error) => unless_full(error)?,
            }
        }
        for (key, value) in (0..snapshot.len()).map(|row| snapshot.row(row)) {
            let key = self.columns.key_of_cell(key).ok_or(columns::NO_KEY)?;
            self.pending.put(self.index, (key, self.columns.value_of_cell(value)))?;
        }
        Ok(Ok(snapshot.len()))
    }

    fn apply(&mut self, header: Header, payload: &[u8]) -> Result<Result<u64, &'static str>> {
        let columns = self.columns;
        let entries = match header.kind {
            Kind::Put | Kind::Remove => header.count,
            Kind::RemoveRange => {
                return match record::range(columns, payload) {
                    Ok(range) => {
                        self.pending.remove_range(&InOrder::span(&range));
                        Ok(Ok(self.index.remove_range(range)? as u64))
                    }
                    Err(wrong) => Ok(Err(wrong)),
                };
            }
            Kind::PutStrings
            | Kind::RemoveStrings
            | Kind::RemoveRangeOfStrings
            | Kind::RemoveRows
            | Kind::Commit => {
                return Ok(Err("it is a record of strings among those of numbers"));
            }
        };
        let [key_width, value_width] = columns.types().map(DataType::width_bytes);
        let (keys, rest) = payload.split_at(entries * key_width);
        self.keys.clear();
        record::cells(key_width, keys, |cell| self.keys.extend(columns.key_of_cell(cell)));
        if self.keys.len() < entries {
            return Ok(Err("one of a record's keys is none"));
        }
        self.values.clear();
        if header.kind == Kind::Put {
            record::cells(value_width, rest, |cell| self.values.push(columns.value_of_cell(cell)));
            let inserted = self.index.insert_columns(&self.keys, &self.values);
            let entries = self.keys.iter().copied().zip(self.values.iter().copied());
            self.pending.note(inserted, entries)?;
        } else {
            self.index.remove_many(&self.keys, &mut vec![None; entries])?;
            self.keys.iter().for_each(|key| self.pending.remove(|| InOrder::of(key)));
        }
        Ok(Ok(entries as u64))
    }

    fn clear(&mut self) -> Result<()> {
        self.pending = Pending::default();
        Ok(self.index.reload(&[])?)
    }

    fn settle(&mut self) -> Result<()> {
        Ok(self.pending.settle(self.index)?)
    }
}
