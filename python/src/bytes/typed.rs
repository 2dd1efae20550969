//! An index of byte strings with values of one type, and the type-erased one that Python's side uses.

use super::engine::BytesEngine;
use super::keys::StringColumn;
use super::strings::Strings;
use super::value::Value;
use crate::core::Object;
use crate::engine::{NoKey, Undone};
use crate::export::Exported;
use crate::failure;
use crate::kind::Format;
use latchless::bytes::Lent;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An index with values of one type.
pub struct Typed<V: Value> {
    /// The index.
    pub engine: BytesEngine<V>,
    /// The type of the values.
    pub values: V::Type,
}

/// An index with values of any type.
pub enum Tree {
    /// Of words.
    Words(Typed<u64>),
    /// Of byte strings.
    Strings(Typed<Vec<u8>>),
}

/// Does something with the index, whatever its values are.
macro_rules! with {
    ($core:expr, $typed:ident => $body:expr) => {
        match &*$core.tree {
            $crate::bytes::typed::Tree::Words($typed) => $body,
            $crate::bytes::typed::Tree::Strings($typed) => $body,
        }
    };
}
pub(super) use with;

/// The arguments of a constructor.
pub struct Made<'a, 'py> {
    /// Keys and values, if there are any.
    pub columns: Option<(&'a StringColumn, &'a Object<'py>)>,
    /// Whether the caller claims that the keys ascend.
    pub sorted: bool,
    /// How full nodes are at first.
    pub fill: f64,
    /// The most memory that it may take.
    pub limit_bytes: Option<usize>,
}

impl Made<'_, '_> {
    /// The index, with values of this type.
    pub fn typed<V: Value>(&self, py: Python<'_>, values: V::Type) -> PyResult<Typed<V>> {
        let mut engine = BytesEngine::new(self.limit_bytes).map_err(|error| failure::exception(&error))?;
        if let Some((keys, given)) = self.columns {
            keys.check_lengths()?;
            let given = V::given(&values, given, keys.strings.len())?;
            let (batch, engine, sorted, fill) = (V::batch(&given), &mut engine, self.sorted, self.fill);
            let load = || py.detach(|| engine.load(&keys.strings, batch, sorted, fill));
            let loaded = catch_unwind(AssertUnwindSafe(load)).map_err(|panic| failure::panicked(&*panic))?;
            loaded.map_err(undone_exception)?;
        }
        Ok(Typed { engine, values })
    }
}

impl<V: Value> Typed<V> {
    /// An object as a value.
    #[inline]
    pub fn lent<'a>(&self, object: &'a Object<'_>) -> PyResult<Lent<'a, V>> {
        V::lent(&self.values, object)
    }

    /// A value as an object, if there is one.
    pub fn optional<'py>(&self, py: Python<'py>, value: Option<V>) -> PyResult<Option<Object<'py>>> {
        value.map(|value| self.object(py, &value)).transpose()
    }

    /// The values of a batch of this many keys, or one for all.
    pub fn given<'py>(&self, values: &Object<'py>, count: usize) -> PyResult<V::Given<'py>> {
        V::given(&self.values, values, count)
    }

    /// A value as an object.
    pub fn object<'py>(&self, py: Python<'py>, value: &V) -> PyResult<Object<'py>> {
        V::object(&self.values, py, value)
    }

    /// The values under keys, as an array or a list, and whether each is there.
    pub fn get_many<'py>(
        &self,
        keys: &Strings,
        missing: &Object<'py>,
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>)> {
        V::get_many((&self.engine, &self.values), keys, missing, threads)
    }

    /// The values of a batch, with the index's context.
    pub fn batch<'a>(&self, given: &'a V::Given<'_>) -> V::Batch<'a> {
        V::batch(given)
    }

    /// Copies of values as an array, or as a column of strings.
    pub fn column<'py>(&self, py: Python<'py>, copied: V::Copied) -> PyResult<Object<'py>> {
        V::column(&self.values, py, copied)
    }

    /// Arrow's name of the type of the values.
    pub fn arrow_format(&self) -> PyResult<Format> {
        V::arrow_format(&self.values)
    }

    /// Copies of values as a column of Arrow's.
    pub fn arrow_column(&self, copied: V::Copied) -> PyResult<Exported> {
        V::arrow_column(&self.values, copied)
    }
}

/// The exception for an operation that was ended.
pub fn undone_exception(undone: Undone) -> PyErr {
    match undone {
        Undone::NoKey(NoKey(at)) => unreachable!("every string is a key, also the one at position {at}"),
        Undone::Refused(error) => failure::exception(&error),
        Undone::NotLogged(error) => failure::refused(&error),
        Undone::ReadOnly(folder) => failure::read_only(&folder),
        Undone::Stopped(raised) => raised,
    }
}
