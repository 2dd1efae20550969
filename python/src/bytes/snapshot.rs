//! Snapshots of indexes whose keys are byte strings.

use super::engine::BytesEngine;
use super::key_type::KeyType;
use super::keys::StringType;
use super::row::StringValues;
use super::value::Value;
use crate::cells::{DTYPES, ZONES};
use crate::failure;
use crate::kind::Kind;
use crate::lane::{Lane, Order};
use crate::snapshot::exception;
use latchless::bytes::MultiIndex;
use latchless::snapshot::DataType;
use latchless::snapshot::multi;
use latchless::snapshot::strings::{self, Layout};
use latchless::{BytesKey, FillFactor};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::path::Path;

/// Saves rows as the type that keys have in a file.
macro_rules! save_as {
    ($keys:expr, $layout:ident.$save:ident($path:expr, $rows:expr)) => {
        match $keys.name_in_a_file() {
            "text" => $layout.$save::<String>($path, $rows),
            "u64" => $layout.$save::<u64>($path, $rows),
            "i64" => $layout.$save::<i64>($path, $rows),
            "f64" => $layout.$save::<f64>($path, $rows),
            _ => $layout.$save::<Vec<u8>>($path, $rows),
        }
    };
}

impl KeyType {
    /// Its type name in a file: numbers are of the widest type of their sort.
    fn name_in_a_file(&self) -> &'static str {
        match self {
            Self::Strings(of) => of.type_name(),
            Self::Tuples(_) => "bytes",
            Self::Numbers(of) => match of.kind.order() {
                Order::Unsigned => "u64",
                Order::Signed | Order::Time => "i64",
                Order::Float => "f64",
            },
        }
    }

    /// Whether these bytes are a key. A maliciously made file may have others.
    pub fn has(&self, key: &[u8]) -> bool {
        match self {
            Self::Strings(of) => !of.is_text || str::is_key(key),
            Self::Tuples(of) => of.get().has(key),
            Self::Numbers(of) => key.try_into().is_ok_and(|bytes| {
                let word = u64::from_be_bytes(bytes);
                word.restored(of.kind.order()).ordered(of.kind.order()) == Some(word)
            }),
        }
    }

    /// How rows are saved: with the names of the types that keys have.
    fn named(&self, layout: Layout) -> Layout {
        match self {
            Self::Strings(_) => layout,
            Self::Numbers(_) | Self::Tuples(_) => {
                layout.with_metadata(DTYPES[0], self.name()).with_metadata(ZONES.0, ZONES.1)
            }
        }
    }

    /// An error if a file has keys of another type, or strings that are none.
    fn check<'a>(&self, found: &str, mut keys: impl Iterator<Item = &'a [u8]>) -> PyResult<()> {
        let asked = self.name_in_a_file();
        if found != asked {
            return Err(PyValueError::new_err(format!("the file has keys of type {found}, not {asked}")));
        }
        match keys.position(|key| !self.has(key)) {
            Some(row) => Err(PyValueError::new_err(format!("row {row} has no key of type {asked}"))),
            None => Ok(()),
        }
    }
}

impl StringType {
    /// Its type name in a file.
    pub fn type_name(self) -> &'static str {
        if self.is_text { "text" } else { "bytes" }
    }
}

impl StringValues {
    /// The name of the type in a file, or that of rows.
    fn name_in_a_file(&self) -> &str {
        self.row.as_ref().map_or(self.of.type_name(), |row| &row.name)
    }
}

/// Fills an empty index of words that no other thread has yet.
pub fn load_words(
    snapshot: &strings::Snapshot,
    py: Python<'_>,
    engine: &mut BytesEngine<u64>,
    (keys, values): (&KeyType, &Kind),
    fill: f64,
) -> PyResult<()> {
    let (found, form) = (snapshot.value_type(), values.cell_form());
    if form.data_type != found {
        let name = values.name();
        return Err(PyValueError::new_err(format!("the file has {found} where it says {name}")));
    }
    let entries = snapshot.rows().map(|(key, cell)| (key, form.word(cell)));
    load_rows(snapshot, py, engine, keys, entries, fill)
}

/// Fills an empty index whose values are strings. See [`load_words`].
pub fn load_strings(
    snapshot: &strings::Snapshot,
    py: Python<'_>,
    engine: &mut BytesEngine<Vec<u8>>,
    (keys, values): (&KeyType, &StringValues),
    fill: f64,
) -> PyResult<()> {
    let (found, asked) = (snapshot.value_name(), values.of.type_name());
    if found != asked {
        return Err(PyValueError::new_err(format!("the file has values of type {found}, not {asked}")));
    }
    let no_value = || snapshot.byte_rows().position(|(_, value)| !Vec::is_one(values, value));
    if let Some(row) = py.detach(no_value) {
        return Err(PyValueError::new_err(format!(
            "row {row} has no value of type {}",
            values.name_in_a_file()
        )));
    }
    load_rows(snapshot, py, engine, keys, snapshot.byte_rows(), fill)
}

/// Fills an empty index with the file's rows.
fn load_rows<'a, V: Value>(
    snapshot: &'a strings::Snapshot,
    py: Python<'_>,
    engine: &mut BytesEngine<V>,
    keys: &KeyType,
    entries: impl Iterator<Item = (&'a [u8], V::Taken<'a>)> + Send,
    fill: f64,
) -> PyResult<()> {
    let fill = FillFactor::new(fill).map_err(|error| failure::exception(&error))?;
    py.detach(|| {
        keys.check(snapshot.key_name(), snapshot.rows().map(|(key, _)| key))?;
        let rows: Vec<_> = entries.collect();
        let row_at = |at: usize| (rows[at].0, V::as_given(rows[at].1));
        let loaded = engine.store.in_memory().bulk_load_by(rows.len(), row_at, fill, NonZeroUsize::MIN);
        loaded.map_err(|error| failure::exception(&error))
    })
}

/// Fills an empty index of rows that no other thread has yet.
pub fn load_pairs(
    snapshot: &multi::Snapshot,
    py: Python<'_>,
    index: &mut MultiIndex<Vec<u8>>,
    keys: &KeyType,
    fill: f64,
) -> PyResult<()> {
    let fill = FillFactor::new(fill).map_err(|error| failure::exception(&error))?;
    py.detach(|| {
        keys.check(snapshot.key_name(), snapshot.pairs().map(|(key, _)| key))?;
        index.bulk_load(snapshot.pairs(), fill).map_err(|error| failure::exception(&error))
    })
}

/// Writes an index of rows to a file, which is replaced in one step, and returns how many pairs it has.
pub fn save_pairs(py: Python<'_>, index: &MultiIndex<Vec<u8>>, keys: &KeyType, path: &Path) -> PyResult<u64> {
    let layout = keys.named(Layout::of_rows());
    let save = || save_as!(keys, layout.save_rows(path, index.iter()));
    py.detach(save).map_err(|error| exception(&error))
}

/// Writes an index of words to a file, which is replaced in one step, and returns how many entries it has.
pub fn save_words(
    py: Python<'_>,
    engine: &BytesEngine<u64>,
    (keys, values): (&KeyType, &Kind),
    path: &Path,
) -> PyResult<u64> {
    let form = values.cell_form();
    let layout = keys.named(Layout::new(form.data_type)).with_metadata(DTYPES[1], values.name());
    let save = || {
        let rows = engine.index().iter().map(|(key, word)| (key, form.cell(word)));
        save_as!(keys, layout.save_rows(path, rows))
    };
    py.detach(save).map_err(|error| exception(&error))
}

/// Saves an index whose values are strings. See [`save_words`].
pub fn save_strings(
    py: Python<'_>,
    engine: &BytesEngine<Vec<u8>>,
    (keys, values): (&KeyType, &StringValues),
    path: &Path,
) -> PyResult<u64> {
    let mut layout =
        keys.named(Layout::new(if values.of.is_text { DataType::Utf8 } else { DataType::Binary }));
    if let Some(row) = &values.row {
        layout = layout.with_metadata(DTYPES[1], &row.name);
    }
    let save = || save_as!(keys, layout.save_byte_rows(path, engine.index().iter()));
    py.detach(save).map_err(|error| exception(&error))
}
