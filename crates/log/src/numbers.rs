//! An index of numbers as what a folder is brought back into.

use crate::columns::{self, Columns};
use crate::error::Result;
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
    found: Vec<bool>,
}

impl<'a, K: Key, V: Value, C> Numbers<'a, K, V, C> {
    pub fn new(index: &'a mut Index<K, V>, columns: &'a C) -> Self {
        let (keys, values, found) = Default::default();
        Self { index, columns, keys, values, found }
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

    fn load(&mut self, base: Base) -> snapshot::Result<usize> {
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
        };
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        columns::load(&snapshot, self.index, self.columns, FillFactor::UPDATED, threads)?;
        Ok(snapshot.len())
    }

    fn apply(&mut self, header: Header, payload: &[u8]) -> Result<Result<u64, &'static str>> {
        let columns = self.columns;
        let entries = match header.kind {
            Kind::Put | Kind::Remove => header.count,
            Kind::RemoveRange => {
                return match record::range(columns, payload) {
                    Ok(range) => Ok(Ok(self.index.remove_range(range)? as u64)),
                    Err(wrong) => Ok(Err(wrong)),
                };
            }
            Kind::PutStrings | Kind::RemoveStrings | Kind::RemoveRangeOfStrings | Kind::RemoveRows => {
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
            self.index.insert_columns(&self.keys, &self.values).map_err(latchless::Error::from)?;
        } else {
            self.values.resize(entries, columns.value_of_cell(0));
            self.found.resize(entries, false);
            self.index.remove_columns(&self.keys, &mut self.values, &mut self.found)?;
        }
        Ok(Ok(entries as u64))
    }
}
