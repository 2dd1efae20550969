//! The values of an index of byte strings: words, which are numbers and times of a dtype, or byte strings,
//! which are `str` or `bytes` as keys are.

use super::engine::BytesEngine;
use super::keys::{StringColumn, StringType};
use super::strings::Strings;
use crate::batch::{self, LOOKUPS};
use crate::column::{self, Column, Fresh, Words};
use crate::core::Object;
use crate::export::{self, Exported};
use crate::failure;
use crate::kind::{Format, Kind};
use crate::lookups::Places;
use crate::sort::{reserve, room};
use latchless::bytes::{Form, Lent};
use latchless::{BytesValue, Result};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::iter::repeat_with;
use std::sync::atomic::AtomicU64;

/// A value, as the index stores it.
pub trait Value: BytesValue {
    /// Its type in Python.
    type Type: Send + Sync;
    /// The values of a batch, with their owner.
    type Given<'py>;
    /// The same without the owner: the form that a batch uses while the interpreter's lock is released.
    type Batch<'a>: Copy + Send + Sync;
    /// Values that were copied.
    type Copied: Send;

    /// An object as a value.
    fn lent<'a>(of: &Self::Type, object: &'a Object<'_>) -> PyResult<Lent<'a, Self>>;
    /// A value as an object.
    fn object<'py>(of: &Self::Type, py: Python<'py>, value: &Self) -> PyResult<Object<'py>>;
    /// The values of a batch of this many keys, or one for all.
    fn given<'py>(of: &Self::Type, values: &Object<'py>, count: usize) -> PyResult<Self::Given<'py>>;
    /// The values of a batch.
    fn batch<'a>(given: &'a Self::Given<'_>) -> Self::Batch<'a>;
    /// A value of a batch.
    fn at<'a>(batch: Self::Batch<'a>, at: usize) -> Lent<'a, Self>;
    /// No copies, and room for this many.
    fn with_room(count: usize) -> Result<Self::Copied>;
    /// Adds a copy.
    fn push(copied: &mut Self::Copied, value: Lent<'_, Self>) -> Result<()>;
    /// The copies as an array, or as a column of strings.
    fn column<'py>(of: &Self::Type, py: Python<'py>, copied: Self::Copied) -> PyResult<Object<'py>>;
    /// Arrow's name of the type.
    fn arrow_format(of: &Self::Type) -> PyResult<Format>;
    /// The copies as a column of Arrow's.
    fn arrow_column(of: &Self::Type, copied: Self::Copied) -> PyResult<Exported>;
    /// The values under keys, as an array or a list, and whether each is there.
    fn get_many<'py>(
        index: (&BytesEngine<Self>, &Self::Type),
        keys: &Strings,
        missing: &Object<'py>,
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>)>;
}

/// An owned value.
pub fn own<V: Value>(lent: Lent<'_, V>) -> V {
    <V::Form as Form<V>>::own(lent)
}

impl Value for u64 {
    type Type = Kind;
    type Given<'py> = Column<'py, AtomicU64>;
    type Batch<'a> = Words<'a, AtomicU64>;
    type Copied = Vec<u64>;

    #[inline]
    fn lent<'a>(of: &Kind, object: &'a Object<'_>) -> PyResult<Lent<'a, Self>> {
        of.word(object)
    }

    #[inline]
    fn object<'py>(of: &Kind, py: Python<'py>, value: &Self) -> PyResult<Object<'py>> {
        of.object(py, *value)
    }

    fn given<'py>(_: &Kind, values: &Object<'py>, count: usize) -> PyResult<Self::Given<'py>> {
        column::input::<u64>(values)?.beside(count, "values")
    }

    fn batch<'a>(given: &'a Self::Given<'_>) -> Self::Batch<'a> {
        given.words()
    }

    #[inline(always)]
    fn at<'a>(batch: Self::Batch<'a>, at: usize) -> Lent<'a, Self> {
        batch.load(at)
    }

    fn with_room(count: usize) -> Result<Vec<u64>> {
        room(count)
    }

    #[inline]
    fn push(copied: &mut Vec<u64>, value: Lent<'_, Self>) -> Result<()> {
        reserve(copied, 1)?;
        copied.push(value);
        Ok(())
    }

    fn column<'py>(_: &Kind, py: Python<'py>, copied: Vec<u64>) -> PyResult<Object<'py>> {
        Ok(PyArray1::from_vec(py, copied).into_any())
    }

    fn arrow_format(of: &Kind) -> PyResult<Format> {
        export::format(of)
    }

    fn arrow_column(of: &Kind, copied: Vec<u64>) -> PyResult<Exported> {
        export::column(c"value", of, copied)
    }

    fn get_many<'py>(
        (engine, _): (&BytesEngine<u64>, &Kind),
        keys: &Strings,
        missing: &Object<'py>,
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>)> {
        let (py, missing) = (missing.py(), missing.extract::<u64>()?);
        let mut values = Fresh::<u64>::new(py, keys.len())?;
        let mut found = Fresh::<bool>::new(py, keys.len())?;
        let cuts = batch::cuts(keys.len(), threads);
        let places = Places::cut(values.places(), &cuts).into_iter().zip(Places::cut(found.places(), &cuts));
        let states = places.map(|places| (places, Vec::new()));
        let (_, failed) = batch::run_with(py, (&cuts, LOOKUPS), states, |chunk, ((values, found), asked)| {
            let (values, found) = (values.next(chunk.len(), missing), found.next(chunk.len(), false));
            keys.read(chunk, asked);
            engine.index.get_each(asked, |at, value| {
                if let Some(value) = value {
                    (values[at], found[at]) = (value, true);
                }
            });
            Ok(())
        });
        failed.map_or(Ok(()), Err)?;
        Ok((values.into_any(), found.into_any()))
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
    type Type = StringType;
    type Given<'py> = (Bound<'py, StringColumn>, usize);
    type Batch<'a> = Rows<'a>;
    type Copied = Strings;

    fn lent<'a>(of: &StringType, object: &'a Object<'_>) -> PyResult<Lent<'a, Self>> {
        of.bytes(object)
    }

    fn object<'py>(of: &StringType, py: Python<'py>, value: &Self) -> PyResult<Object<'py>> {
        of.object(py, value)
    }

    fn given<'py>(of: &StringType, values: &Object<'py>, count: usize) -> PyResult<Self::Given<'py>> {
        let column = values.cast::<StringColumn>()?;
        column.get().check(*of)?;
        column.get().check_lengths()?;
        let own = column.get().strings.len();
        let unequal = || PyValueError::new_err(format!("there are {count} keys but {own} values"));
        let step = column.get().strings.step_beside(count).ok_or_else(unequal)?;
        Ok((column.clone(), step))
    }

    fn batch<'a>((column, step): &'a Self::Given<'_>) -> Self::Batch<'a> {
        Rows { strings: &column.get().strings, step: *step }
    }

    #[inline]
    fn at<'a>(batch: Self::Batch<'a>, at: usize) -> Lent<'a, Self> {
        batch.strings.get(at * batch.step)
    }

    fn with_room(count: usize) -> Result<Strings> {
        Strings::with_room(count, 0)
    }

    fn push(copied: &mut Strings, value: Lent<'_, Self>) -> Result<()> {
        copied.push(value)
    }

    fn column<'py>(of: &StringType, py: Python<'py>, strings: Strings) -> PyResult<Object<'py>> {
        Ok(Bound::new(py, StringColumn { strings, of: *of })?.into_any())
    }

    fn arrow_format(of: &StringType) -> PyResult<Format> {
        Ok(export::string_format(of.is_text))
    }

    fn arrow_column(of: &StringType, copied: Strings) -> PyResult<Exported> {
        Ok(export::string_column(c"value", of.is_text, copied))
    }

    fn get_many<'py>(
        (engine, of): (&BytesEngine<Vec<u8>>, &StringType),
        keys: &Strings,
        missing: &Object<'py>,
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>)> {
        let py = missing.py();
        let cuts = batch::cuts(keys.len(), threads);
        let states = repeat_with(Answers::default);
        let (parts, failed) = batch::run_with(py, (&cuts, LOOKUPS), states, |chunk, answers| {
            let mut asked = Vec::new();
            keys.read(chunk, &mut asked);
            let mut copied = Ok(());
            engine.index.get_each(&asked, |_, value| {
                if copied.is_ok() {
                    copied = answers.push(value);
                }
            });
            copied.map_err(|error| failure::exception(&error))
        });
        failed.map_or(Ok(()), Err)?;
        let (values, mut found) = (PyList::empty(py), Fresh::<bool>::new(py, keys.len())?);
        let answers = parts.into_iter().map(|part| part.state);
        let mut places = found.places().iter_mut();
        for Answers { values: strings, found } in answers {
            for (at, (&found, place)) in found.iter().zip(&mut places).enumerate() {
                place.write(found);
                values.append(if found { of.object(py, strings.get(at))? } else { missing.clone() })?;
            }
        }
        Ok((values.into_any(), found.into_any()))
    }
}

/// Values that one thread has found: of a key that isn't there an empty string.
#[derive(Debug, Default)]
struct Answers {
    values: Strings,
    found: Vec<bool>,
}

impl Answers {
    fn push(&mut self, value: Option<&[u8]>) -> Result<()> {
        reserve(&mut self.found, 1)?;
        self.found.push(value.is_some());
        self.values.push(value.unwrap_or_default())
    }
}
