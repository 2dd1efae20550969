//! The values of an index of byte strings: words, which are numbers and times of a dtype, or byte strings,
//! which are `str` or `bytes` as keys are.

use super::engine::{BytesEngine, Ends};
use super::key_type::KeyType;
use super::keys::{StringColumn, StringType};
use super::snapshot as files;
use super::strings::Strings;
use crate::cells::Names;
use crate::column::{self, Column, Fresh, Words};
use crate::export::{self, Exported};
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
    type Copied: Default + Send;
    /// A value of an object that changes take.
    type Taken<'a>: Copy + Send + Sync;

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
    type Type = StringType;
    type Owner<'py> = (Bound<'py, StringColumn>, usize);
    type Batch<'a> = Rows<'a>;
    type Copied = Strings;
    type Taken<'a> = &'a [u8];

    fn taken<'a>(of: &StringType, object: &'a Object<'_>) -> PyResult<&'a [u8]> {
        of.bytes(object)
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

    fn is_one(of: &StringType, value: &[u8]) -> bool {
        !of.is_text || str::from_utf8(value).is_ok()
    }

    fn name(of: &StringType) -> &str {
        of.name()
    }

    fn object<'py>(of: &StringType, py: Python<'py>, value: &Self) -> PyResult<Object<'py>> {
        of.object(py, value)
    }

    fn owner<'py>(of: &StringType, values: &Object<'py>, count: usize) -> PyResult<Self::Owner<'py>> {
        let column = values.cast::<StringColumn>()?;
        column.get().check(*of)?;
        column.get().check_lengths()?;
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

    fn column<'py>(of: &StringType, py: Python<'py>, strings: Strings) -> PyResult<Object<'py>> {
        Ok(Bound::new(py, StringColumn { strings, of: *of })?.into_any())
    }

    fn answers<'py>(
        of: &StringType,
        answers: Vec<Found<Self>>,
        missing: &Object<'py>,
    ) -> PyResult<Object<'py>> {
        let list = PyList::empty(missing.py());
        for Found { values, found } in answers {
            append(&list, *of, (&values, &found), missing)?;
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

    fn arrow_format(of: &StringType) -> PyResult<Format> {
        Ok(export::string_format(of.is_text))
    }

    fn arrow_column(of: &StringType, copied: Strings) -> PyResult<Exported> {
        Ok(export::string_column(c"value", of.is_text, copied))
    }

    fn load(
        snapshot: &strings::Snapshot,
        py: Python<'_>,
        engine: &mut BytesEngine<Self>,
        types: (&KeyType, &StringType),
        fill: f64,
    ) -> PyResult<()> {
        files::load_strings(snapshot, py, engine, types, fill)
    }

    fn save(
        py: Python<'_>,
        engine: &BytesEngine<Self>,
        types: (&KeyType, &StringType),
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
