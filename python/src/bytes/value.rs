//! The values of an index of byte strings: words, which are numbers and times of a dtype, or byte strings,
//! which are `str` or `bytes` as keys are, or rows of several columns, which all have one width.

use super::engine::{BytesEngine, Ends};
use super::key_type::KeyType;
use super::keys::{StringColumn, StringType};
use super::row::StringValues;
use super::snapshot as files;
use super::strings::Strings;
use crate::cells::Names;
use crate::column::{self, Column, Fresh, Words};
use crate::export::{self, Exported};
use crate::failure;
use crate::kind::{Format, Kind};
use crate::map::Object;
use crate::sort::{reserve, room};
use latchless::bytes::Lent;
use latchless::index::{Comparable, Replaced, Replacement};
use latchless::snapshot::strings;
use latchless::{BytesValue, Direction, Index, IndexKey, IndexValue, KeyFor, Reader, Result};
use latchless_log::Stored;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicU64;

/// A value, as the index stores it.
pub trait Value: BytesValue + Comparable + Default {
    /// The type of its keys: byte strings.
    type Key: KeyFor<Self, Engine: Stored<Self::Key, Self, Names>>
        + for<'q> IndexKey<Probe<'q> = &'q [u8]>
        + AsRef<[u8]>
        + Into<Vec<u8>>
        + Clone
        + Default
        + Send;
    /// Its type in Python.
    type Type: Send + Sync;
    /// The values of a batch, with their owner.
    type Owner<'py>;
    /// The same without the owner: the form that a batch uses while the interpreter's lock is released.
    type Batch<'a>: Copy + Send + Sync;
    /// Values that were copied.
    type Copied: Default + Send + Sync;
    /// A value of an object that changes take.
    type Taken<'a>: Copy + Send + Sync;

    /// The object that [`Value::taken`] takes for an object of the caller's.
    fn prepared<'py>(_: &Self::Type, object: &Object<'py>) -> PyResult<Object<'py>> {
        Ok(object.clone())
    }
    /// An object as a value.
    fn taken<'a>(of: &Self::Type, object: &'a Object<'_>) -> PyResult<Self::Taken<'a>>;
    /// The same value, as an index stores it.
    fn as_given(taken: Self::Taken<'_>) -> Self::Given<'_>;
    /// The same value, as an index compares it.
    fn as_lent(taken: Self::Taken<'_>) -> Self::Lent<'_>;
    /// The same value, as a log takes it.
    fn as_logged(taken: Self::Taken<'_>) -> Lent<'_, Self>;
    /// The same value, as one of its own.
    fn owned(taken: Self::Taken<'_>) -> Self {
        Self::given(Self::as_given(taken))
    }
    /// Whether what a log has is a value of this type.
    fn is_one(of: &Self::Type, value: Self::Lent<'_>) -> bool;
    /// The name of its type.
    fn name(of: &Self::Type) -> &str;
    /// A value as an object.
    fn object<'py>(of: &Self::Type, py: Python<'py>, value: &Self) -> PyResult<Object<'py>>;
    /// The values of a batch of this many keys, or one for all.
    fn owner<'py>(of: &Self::Type, values: &Object<'py>, count: usize) -> PyResult<Self::Owner<'py>>;
    /// The values of a batch.
    fn batch<'a>(given: &'a Self::Owner<'_>) -> Self::Batch<'a>;
    /// A value of a batch.
    fn at<'a>(batch: Self::Batch<'a>, at: usize) -> Self::Taken<'a>;
    /// No copies, and room for this many.
    fn with_room(count: usize) -> Result<Self::Copied>;
    /// Adds a copy.
    fn push(copied: &mut Self::Copied, value: Self::Lent<'_>) -> Result<()>;
    /// A copy.
    fn copied_at(copied: &Self::Copied, at: usize) -> Self::Lent<'_>;
    /// Some copies as the answers of a batch: see [`Value::answers`].
    fn chosen<'py>(
        of: &Self::Type,
        copied: &Self::Copied,
        chosen: impl ExactSizeIterator<Item = Option<usize>>,
        missing: &Object<'py>,
    ) -> PyResult<Object<'py>> {
        let mut found = Found::default();
        for at in chosen {
            let pushed = found.push(at.map(|at| Self::copied_at(copied, at)));
            pushed.map_err(|error| failure::exception(&error))?;
        }
        Self::answers(of, vec![found], missing)
    }
    /// The copies as an array, or as a column of strings.
    fn column<'py>(of: &Self::Type, py: Python<'py>, copied: Self::Copied) -> PyResult<Object<'py>>;
    /// Copies as the answers of a batch: an array or a list, with another object where there is no value.
    fn answers<'py>(
        of: &Self::Type,
        answers: Vec<Found<Self>>,
        missing: &Object<'py>,
    ) -> PyResult<Object<'py>>;
    /// Shows the entries of a range, in a direction, until `see` breaks off.
    fn show(
        index: &Reader<Index<Self::Key, Self>>,
        ends: Ends<'_>,
        direction: Direction,
        see: impl FnMut(&[u8], Self::Lent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()>;
    /// What keeps the place of a value that isn't there.
    fn filler<'a>() -> Self::Lent<'a>;
    /// Arrow's name of the type.
    fn arrow_format(of: &Self::Type) -> PyResult<Format>;
    /// The copies as a column of Arrow's.
    fn arrow_column(of: &Self::Type, copied: Self::Copied) -> PyResult<Exported>;
    /// Fills an empty index with the rows of a file.
    fn load(
        snapshot: &strings::Snapshot,
        py: Python<'_>,
        engine: &mut BytesEngine<Self>,
        types: (&KeyType, &Self::Type),
        fill: f64,
    ) -> PyResult<()>;
    /// Writes an index to a file, which is replaced in one step, and returns how many entries it has.
    fn save(
        py: Python<'_>,
        engine: &BytesEngine<Self>,
        types: (&KeyType, &Self::Type),
        path: &Path,
    ) -> PyResult<u64>;
}

/// Answers that one thread has found.
pub struct Found<V: Value> {
    /// Their values, and something in the place of those that aren't there.
    pub values: V::Copied,
    /// Whether they are there.
    pub found: Vec<bool>,
}

impl<V: Value> Default for Found<V> {
    fn default() -> Self {
        Self { values: V::Copied::default(), found: Vec::new() }
    }
}

impl<V: Value> Found<V> {
    /// Adds an answer.
    pub fn push(&mut self, value: Option<V::Lent<'_>>) -> Result<()> {
        reserve(&mut self.found, 1)?;
        self.found.push(value.is_some());
        V::push(&mut self.values, value.unwrap_or_else(V::filler))
    }
}

/// Whether the answers of all threads are there, as an array.
pub fn flags<'py, V: Value>(py: Python<'py>, answers: &[Found<V>]) -> PyResult<Object<'py>> {
    let count = answers.iter().map(|answers| answers.found.len()).sum();
    let mut found = Fresh::<bool>::new(py, count)?;
    let all = answers.iter().flat_map(|answers| &answers.found);
    found.places().iter_mut().zip(all).for_each(|(place, &found)| _ = place.write(found));
    Ok(found.into_any())
}

/// The words of the answers of all threads, with another one where there is none, as an array.
pub fn words<'py>(py: Python<'py>, answers: &[Found<u64>], missing: u64) -> PyResult<Object<'py>> {
    let count = answers.iter().map(|answers| answers.found.len()).sum();
    let mut array = Fresh::<u64>::new(py, count)?;
    let all = answers.iter().flat_map(|answers| answers.values.iter().zip(&answers.found));
    let words = all.map(|(&value, &found)| if found { value } else { missing });
    array.places().iter_mut().zip(words).for_each(|(place, word)| _ = place.write(word));
    Ok(array.into_any())
}

/// The outcome of an operation that replaces a value.
pub fn settled<V: Value, T>(replaced: Replaced<V, T>) -> Result<T> {
    <V as IndexValue>::Form::into_result(replaced)
}

impl Value for u64 {
    type Key = Vec<u8>;
    type Type = Kind;
    type Owner<'py> = Column<'py, AtomicU64>;
    type Batch<'a> = Words<'a, AtomicU64>;
    type Copied = Vec<u64>;
    type Taken<'a> = u64;

    #[inline]
    fn taken(of: &Kind, object: &Object<'_>) -> PyResult<u64> {
        of.word(object)
    }

    #[inline(always)]
    fn as_given(taken: Self::Taken<'_>) -> Self::Given<'_> {
        taken
    }

    #[inline(always)]
    fn as_lent(taken: Self::Taken<'_>) -> Self::Lent<'_> {
        taken
    }

    #[inline(always)]
    fn as_logged(taken: Self::Taken<'_>) -> Lent<'_, Self> {
        taken
    }

    fn is_one(_: &Kind, _: u64) -> bool {
        true
    }

    fn name(of: &Kind) -> &str {
        of.name()
    }

    #[inline]
    fn object<'py>(of: &Kind, py: Python<'py>, value: &Self) -> PyResult<Object<'py>> {
        of.object(py, *value)
    }

    fn owner<'py>(_: &Kind, values: &Object<'py>, count: usize) -> PyResult<Self::Owner<'py>> {
        column::input::<u64>(values)?.beside(count, "values")
    }

    fn batch<'a>(given: &'a Self::Owner<'_>) -> Self::Batch<'a> {
        given.words()
    }

    #[inline(always)]
    fn at<'a>(batch: Self::Batch<'a>, at: usize) -> Self::Taken<'a> {
        batch.load(at)
    }

    fn with_room(count: usize) -> Result<Vec<u64>> {
        room(count)
    }

    #[inline]
    fn push(copied: &mut Vec<u64>, value: Self::Lent<'_>) -> Result<()> {
        reserve(copied, 1)?;
        copied.push(value);
        Ok(())
    }

    #[inline]
    fn copied_at(copied: &Vec<u64>, at: usize) -> Self::Lent<'_> {
        copied[at]
    }

    fn chosen<'py>(
        _: &Kind,
        copied: &Vec<u64>,
        chosen: impl ExactSizeIterator<Item = Option<usize>>,
        missing: &Object<'py>,
    ) -> PyResult<Object<'py>> {
        let mut words = Fresh::<u64>::new(missing.py(), chosen.len())?;
        let none = missing.extract()?;
        for (place, at) in words.places().iter_mut().zip(chosen) {
            place.write(at.map_or(none, |at| copied[at]));
        }
        Ok(words.into_any())
    }

    fn column<'py>(_: &Kind, py: Python<'py>, copied: Vec<u64>) -> PyResult<Object<'py>> {
        Ok(PyArray1::from_vec(py, copied).into_any())
    }

    fn answers<'py>(_: &Kind, answers: Vec<Found<Self>>, missing: &Object<'py>) -> PyResult<Object<'py>> {
        words(missing.py(), &answers, missing.extract()?)
    }

    fn show(
        index: &Reader<Index<Vec<u8>, Self>>,
        ends: Ends<'_>,
        direction: Direction,
        see: impl FnMut(&[u8], Self::Lent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        index.scan_lent(ends, direction, see)
    }

    fn filler<'a>() -> Self::Lent<'a> {
        0
    }

    fn arrow_format(of: &Kind) -> PyResult<Format> {
        export::format(of)
    }

    fn arrow_column(of: &Kind, copied: Vec<u64>) -> PyResult<Exported> {
        export::column(c"value", of, copied)
    }

    fn load(
        snapshot: &strings::Snapshot,
        py: Python<'_>,
        engine: &mut BytesEngine<u64>,
        types: (&KeyType, &Kind),
        fill: f64,
    ) -> PyResult<()> {
        files::load_words(snapshot, py, engine, types, fill)
    }

    fn save(
        py: Python<'_>,
        engine: &BytesEngine<u64>,
        types: (&KeyType, &Kind),
        path: &Path,
    ) -> PyResult<u64> {
        files::save_words(py, engine, types, path)
    }
}

/// Byte strings of a batch: one for each key, or one for all.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    strings: &'a Strings,
    /// 0 for a single string that is repeated.
    step: usize,
}

impl Value for Vec<u8> {
    type Key = Self;
    type Type = StringValues;
    type Owner<'py> = (Bound<'py, StringColumn>, usize);
    type Batch<'a> = Rows<'a>;
    type Copied = Strings;
    type Taken<'a> = &'a [u8];

    fn prepared<'py>(of: &StringValues, object: &Object<'py>) -> PyResult<Object<'py>> {
        of.row.as_ref().map_or_else(|| Ok(object.clone()), |row| row.encoded(object))
    }

    fn taken<'a>(of: &StringValues, object: &'a Object<'_>) -> PyResult<&'a [u8]> {
        of.of.bytes(object)
    }

    #[inline(always)]
    fn as_given(taken: Self::Taken<'_>) -> Self::Given<'_> {
        taken
    }

    #[inline(always)]
    fn as_lent(taken: Self::Taken<'_>) -> Self::Lent<'_> {
        taken
    }

    #[inline(always)]
    fn as_logged(taken: Self::Taken<'_>) -> Lent<'_, Self> {
        taken
    }

    fn is_one(of: &StringValues, value: &[u8]) -> bool {
        let is_row = of.row.as_ref().is_none_or(|row| value.len() == row.width);
        is_row && (!of.of.is_text || str::from_utf8(value).is_ok())
    }

    fn name(of: &StringValues) -> &str {
        of.row.as_ref().map_or(of.of.name(), |row| &row.name)
    }

    fn object<'py>(of: &StringValues, py: Python<'py>, value: &Self) -> PyResult<Object<'py>> {
        let object = of.of.object(py, value)?;
        of.row.as_ref().map_or(Ok(object.clone()), |row| row.decoded(&object))
    }

    fn owner<'py>(of: &StringValues, values: &Object<'py>, count: usize) -> PyResult<Self::Owner<'py>> {
        let column = values.cast::<StringColumn>()?;
        column.get().check(of.of)?;
        column.get().check_lengths()?;
        if let Some(row) = &of.row {
            column.get().check_width(row.width)?;
        }
        let own = column.get().strings.len();
        let unequal = || PyValueError::new_err(format!("there are {count} keys but {own} values"));
        let step = column.get().strings.step_beside(count).ok_or_else(unequal)?;
        Ok((column.clone(), step))
    }

    fn batch<'a>((column, step): &'a Self::Owner<'_>) -> Self::Batch<'a> {
        Rows { strings: &column.get().strings, step: *step }
    }

    #[inline]
    fn at<'a>(batch: Self::Batch<'a>, at: usize) -> Self::Taken<'a> {
        batch.strings.get(at * batch.step)
    }

    fn with_room(count: usize) -> Result<Strings> {
        Strings::with_room(count, 0)
    }

    fn push(copied: &mut Strings, value: Self::Lent<'_>) -> Result<()> {
        copied.push(value)
    }

    fn copied_at(copied: &Strings, at: usize) -> Self::Lent<'_> {
        copied.get(at)
    }

    fn column<'py>(of: &StringValues, py: Python<'py>, strings: Strings) -> PyResult<Object<'py>> {
        match &of.row {
            Some(row) => row.array(&PyArray1::from_vec(py, strings.into_parts().0).into_any()),
            None => Ok(Bound::new(py, StringColumn { strings, of: of.of })?.into_any()),
        }
    }

    fn answers<'py>(
        of: &StringValues,
        answers: Vec<Found<Self>>,
        missing: &Object<'py>,
    ) -> PyResult<Object<'py>> {
        if let Some(row) = &of.row {
            let count = answers.iter().map(|answers| answers.found.len()).sum();
            let all = answers.iter().flat_map(|Found { values, found }| {
                found.iter().enumerate().map(|(at, &is)| is.then(|| values.get(at)))
            });
            return row.answers(count, all, missing);
        }
        let list = PyList::empty(missing.py());
        for Found { values, found } in answers {
            append(&list, of.of, (&values, &found), missing)?;
        }
        Ok(list.into_any())
    }

    fn show(
        index: &Reader<Index<Vec<u8>, Self>>,
        ends: Ends<'_>,
        direction: Direction,
        see: impl FnMut(&[u8], Self::Lent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        index.scan_lent(ends, direction, see)
    }

    fn filler<'a>() -> Self::Lent<'a> {
        &[]
    }

    fn arrow_format(of: &StringValues) -> PyResult<Format> {
        Ok(export::string_format(of.of.is_text))
    }

    fn arrow_column(of: &StringValues, copied: Strings) -> PyResult<Exported> {
        Ok(export::string_column(c"value", of.of.is_text, copied))
    }

    fn load(
        snapshot: &strings::Snapshot,
        py: Python<'_>,
        engine: &mut BytesEngine<Self>,
        types: (&KeyType, &StringValues),
        fill: f64,
    ) -> PyResult<()> {
        files::load_strings(snapshot, py, engine, types, fill)
    }

    fn save(
        py: Python<'_>,
        engine: &BytesEngine<Self>,
        types: (&KeyType, &StringValues),
        path: &Path,
    ) -> PyResult<u64> {
        files::save_strings(py, engine, types, path)
    }
}

/// Appends strings as objects, and another object where there is none.
pub fn append<'py>(
    list: &Bound<'py, PyList>,
    of: StringType,
    (strings, found): (&Strings, &[bool]),
    missing: &Object<'py>,
) -> PyResult<()> {
    for (at, &found) in found.iter().enumerate() {
        list.append(if found { of.object(list.py(), strings.get(at))? } else { missing.clone() })?;
    }
    Ok(())
}
