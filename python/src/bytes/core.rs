//! The class under `latchless.StringIndex` and `latchless.BytesIndex`: single operations by Python's
//! objects, batches by columns of keys and arrays of words.

use super::engine::{BytesEngine, Ends, Entry, Lookups, after_prefix};
use super::import::read_columns;
use super::keys::{KeyColumn, KeyType};
use super::snapshot::{self, StringSnapshot};
use super::strings::Strings;
use crate::column::{self, Fresh};
use crate::core::{DtypeOf, Entry as Pair, Object};
use crate::engine::Undone;
use crate::gate::Pass;
use crate::kind::Kind;
use crate::lookups::{Near, Places};
use crate::ranges::Closed;
use crate::serve::{FINE, guarded, undone_exception};
use crate::updates::{Changed, Sequence};
use crate::{batch, export, failure};
use latchless::{Direction, Result};
use numpy::PyArray1;
use pyo3::exceptions::{PyAssertionError, PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::iter::repeat_with;
use std::ops::{self, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::AtomicU8;

/// What a range of keys is told by: its ends, of which None is open, or a prefix as the first of them;
/// which ends belong to it, or None for a prefix.
type Told<'a, 'py> = (Option<&'a Object<'py>>, Option<&'a Object<'py>>, Option<(bool, bool)>);

/// An ordered index of byte strings. Not for users: `latchless.StringIndex` and `latchless.BytesIndex` are.
#[pyclass(subclass, frozen, weakref, module = "latchless._latchless")]
pub struct BytesCore {
    /// In a box, because an index is aligned as lines of the cache are, and Python's objects aren't.
    engine: Box<BytesEngine>,
    keys: KeyType,
    values: Kind,
    state: AtomicU8,
}

#[pymethods]
impl BytesCore {
    #[new]
    #[pyo3(signature = (text, value, keys, values, sorted, fill, limit_bytes, snapshot=None))]
    #[expect(clippy::too_many_arguments, reason = "Python's side passes them by position, once")]
    fn new(
        py: Python<'_>,
        text: bool,
        value: DtypeOf,
        keys: Option<&Bound<'_, KeyColumn>>,
        values: Option<&Object<'_>>,
        sorted: bool,
        fill: f64,
        limit_bytes: Option<usize>,
        snapshot: Option<&Bound<'_, StringSnapshot>>,
    ) -> PyResult<Self> {
        let kind = Kind::new(true, &value.0, value.1, value.2, false)?;
        let engine = BytesEngine::new(limit_bytes).map_err(|error| failure::exception(&error))?;
        let mut made = Self {
            engine: Box::new(engine),
            keys: KeyType { is_text: text },
            values: kind,
            state: AtomicU8::new(FINE),
        };
        if let (Some(keys), Some(values)) = (keys, values) {
            let keys = made.own(keys.get())?;
            keys.check_lengths()?;
            let values = column::input::<u64>(values)?.beside(keys.strings.len(), "values")?;
            let (values, engine) = (values.words(), &mut made.engine);
            let load = || py.detach(|| engine.load(&keys.strings, values, sorted, fill));
            let loaded = catch_unwind(AssertUnwindSafe(load)).map_err(|panic| failure::panicked(&*panic))?;
            loaded.map_err(|undone| undone_exception(&made.values, undone))?;
        }
        if let Some(snapshot) = snapshot {
            snapshot.get().load(py, &mut made.engine, (made.keys, &made.values), fill)?;
        }
        Ok(made)
    }

    // ---- one entry ----

    fn __len__(&self) -> usize {
        self.engine.index.len()
    }

    fn __contains__(&self, key: &Object<'_>) -> PyResult<bool> {
        Ok(self.look(key)?.is_some())
    }

    fn __getitem__<'py>(&self, key: &Object<'py>) -> PyResult<Object<'py>> {
        match self.look(key)? {
            Some(value) => self.values.object(key.py(), value),
            None => Err(PyKeyError::new_err(key.clone().unbind())),
        }
    }

    fn __setitem__(&self, key: &Object<'_>, value: &Object<'_>) -> PyResult<()> {
        let (bytes, value) = (self.keys.bytes(key)?, self.values.word(value)?);
        self.one(|engine| engine.index.insert(bytes, value)).map(drop)
    }

    fn __delitem__(&self, key: &Object<'_>) -> PyResult<()> {
        let bytes = self.keys.bytes(key)?;
        match self.one(|engine| Ok(engine.index.remove(bytes)))? {
            Some(_) => Ok(()),
            None => Err(PyKeyError::new_err(key.clone().unbind())),
        }
    }

    /// The key's value, or the default.
    #[pyo3(signature = (key, default=None, /))]
    fn get<'py>(&self, key: &Object<'py>, default: Option<Object<'py>>) -> PyResult<Option<Object<'py>>> {
        match self.look(key)? {
            Some(value) => self.values.object(key.py(), value).map(Some),
            None => Ok(default),
        }
    }

    fn _take<'py>(&self, key: &Object<'py>) -> PyResult<Option<Object<'py>>> {
        let bytes = self.keys.bytes(key)?;
        self.value_object(key.py(), self.one(|engine| Ok(engine.index.remove(bytes)))?)
    }

    fn _end<'py>(&self, py: Python<'py>, last: bool, remove: bool) -> PyResult<Option<Pair<'py>>> {
        let entry = self.one(|BytesEngine { index }| {
            Ok(match (last, remove) {
                (false, false) => index.first(),
                (true, false) => index.last(),
                (false, true) => index.pop_first(),
                (true, true) => index.pop_last(),
            })
        })?;
        self.pair(py, entry)
    }

    fn _get_or_insert<'py>(&self, key: &Object<'py>, value: &Object<'py>) -> PyResult<Object<'py>> {
        let (bytes, value) = (self.keys.bytes(key)?, self.values.word(value)?);
        let value = self.one(|engine| engine.index.get_or_insert_with(bytes, || value))?;
        self.values.object(key.py(), value)
    }

    /// Replace the value of a key that is there, atomically: return the one before, or None if it isn't
    /// there.
    fn replace<'py>(&self, key: &Object<'py>, value: &Object<'py>) -> PyResult<Option<Object<'py>>> {
        let (bytes, value) = (self.keys.bytes(key)?, self.values.word(value)?);
        self.value_object(key.py(), self.one(|engine| Ok(engine.index.replace(bytes, value)))?)
    }

    /// Replace the key's value if it is the expected one, atomically: return whether it was. Floats are
    /// compared by their bits, so NaN equals itself.
    fn compare_exchange(
        &self,
        key: &Object<'_>,
        expected: &Object<'_>,
        value: &Object<'_>,
    ) -> PyResult<bool> {
        let bytes = self.keys.bytes(key)?;
        let (expected, value) = (self.values.word(expected)?, self.values.word(value)?);
        self.one(|engine| Ok(engine.index.compare_exchange(bytes, expected, value).is_ok()))
    }

    /// Remove a key if its value is the expected one, atomically: return whether it was.
    fn compare_remove(&self, key: &Object<'_>, expected: &Object<'_>) -> PyResult<bool> {
        let (bytes, expected) = (self.keys.bytes(key)?, self.values.word(expected)?);
        self.one(|engine| Ok(engine.index.compare_remove(bytes, expected).is_ok()))
    }

    /// The entry with the largest key that is equal or smaller, as (key, value), or None.
    fn floor<'py>(&self, key: &Object<'py>) -> PyResult<Option<Pair<'py>>> {
        self.near(Near::Floor, key)
    }

    /// The entry with the smallest key that is equal or larger, as (key, value), or None.
    fn ceiling<'py>(&self, key: &Object<'py>) -> PyResult<Option<Pair<'py>>> {
        self.near(Near::Ceiling, key)
    }

    /// The entry with the largest smaller key, as (key, value), or None.
    fn lower<'py>(&self, key: &Object<'py>) -> PyResult<Option<Pair<'py>>> {
        self.near(Near::Lower, key)
    }

    /// The entry with the smallest larger key, as (key, value), or None.
    fn higher<'py>(&self, key: &Object<'py>) -> PyResult<Option<Pair<'py>>> {
        self.near(Near::Higher, key)
    }

    // ---- batches: columns of keys, and arrays of words ----

    fn _get_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, KeyColumn>,
        missing: u64,
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>)> {
        let keys = &self.own(keys.get())?.strings;
        let (mut values, mut found) =
            (Fresh::<u64>::new(py, keys.len())?, Fresh::<bool>::new(py, keys.len())?);
        guarded(&self.state, || {
            let cuts = batch::cuts(keys.len(), threads);
            let places =
                Places::cut(values.places(), &cuts).into_iter().zip(Places::cut(found.places(), &cuts));
            let states = places.map(Lookups::new);
            let (_, failed) = batch::run_with(py, (&cuts, batch::LOOKUPS), states, |chunk, lookups| {
                self.engine.get_chunk(keys, chunk, missing, lookups);
                Ok(())
            });
            failed.map_or(Ok(()), Err)
        })?;
        Ok((values.into_any(), found.into_any()))
    }

    fn _insert_many(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, KeyColumn>,
        values: &Object<'_>,
    ) -> PyResult<usize> {
        let keys = self.own(keys.get())?;
        keys.check_lengths()?;
        let keys = &keys.strings;
        let values = column::input::<u64>(values)?.beside(keys.len(), "values")?;
        let values = values.words();
        self.change_many(py, keys, |chunk, changed| self.engine.insert_chunk(keys, values, chunk, changed))
    }

    fn _remove_many(&self, py: Python<'_>, keys: &Bound<'_, KeyColumn>) -> PyResult<usize> {
        let keys = &self.own(keys.get())?.strings;
        self.change_many(py, keys, |chunk, changed| self.engine.remove_chunk(keys, chunk, changed))
    }

    // ---- ranges; where `closed` is None, `low` is a prefix ----

    fn _range<'py>(
        &self,
        py: Python<'py>,
        low: Option<&Object<'py>>,
        high: Option<&Object<'py>>,
        closed: Option<(bool, bool)>,
        reverse: bool,
        limit: Option<usize>,
    ) -> PyResult<(KeyColumn, Object<'py>)> {
        let direction = if reverse { Direction::Reverse } else { Direction::Forward };
        let limit = limit.unwrap_or(usize::MAX);
        let (strings, values) =
            self.within((low, high, closed), |ends| self.collect(py, ends, direction, limit))?;
        Ok((KeyColumn { strings, of: self.keys }, PyArray1::from_vec(py, values).into_any()))
    }

    fn _count(
        &self,
        py: Python<'_>,
        low: Option<&Object<'_>>,
        high: Option<&Object<'_>>,
        closed: Option<(bool, bool)>,
        remove: bool,
    ) -> PyResult<usize> {
        self.within((low, high, closed), |ends| {
            let work = || if remove { self.engine.remove_range(ends) } else { self.engine.count(ends) };
            guarded(&self.state, || Ok(batch::alone(py, work)))
        })
    }

    // ---- the whole ----

    /// All entries as a stream of Arrow's, in a capsule.
    fn _arrow_stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let all = (ops::Bound::Unbounded, ops::Bound::Unbounded);
        let columns = self.collect(py, all, Direction::Forward, usize::MAX)?;
        export::stream_of_strings(py, (self.keys.is_text, &self.values), columns)
    }

    /// The type of that stream, in a capsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export::schema_of_strings(py, self.keys.is_text, &self.values)
    }

    fn _save(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        guarded(&self.state, || snapshot::save(py, &self.engine, (self.keys, &self.values), &path))
    }

    /// Remove all entries. Other threads may see some gone and others not yet. The memory stays with the
    /// index, for the entries to come.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self._count(py, None, None, Some((true, true)), true).map(drop)
    }

    /// Bytes that the index holds for its nodes and long keys.
    #[getter]
    fn nbytes(&self) -> usize {
        self.engine.index.memory_bytes()
    }

    /// Bytes of the nodes and long keys that are in use.
    #[getter]
    fn live_nbytes(&self) -> usize {
        self.engine.index.live_bytes()
    }

    /// How the tree is built, as a dict: levels, nodes, leaf_fill, splits, restarts.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = guarded(&self.state, || Ok(batch::alone(py, || self.engine.index.stats())))?;
        let dict = PyDict::new(py);
        dict.set_item("levels", stats.levels)?;
        dict.set_item("inner_nodes", stats.inner_nodes)?;
        dict.set_item("leaves", stats.leaves)?;
        dict.set_item("leaf_fill", stats.leaf_fill)?;
        dict.set_item("splits", stats.splits)?;
        dict.set_item("restarts", stats.restarts)?;
        Ok(dict)
    }

    /// Raise AssertionError if the tree is broken, which is a bug of this package: for tests, while no other
    /// thread changes the index.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let check = || Ok(batch::alone(py, || self.engine.index.check_invariants()));
        guarded(&self.state, check)?.map_err(|broken| PyAssertionError::new_err(broken.to_string()))
    }
}

impl BytesCore {
    /// Does something with one entry.
    #[inline]
    fn one<T>(&self, work: impl FnOnce(&BytesEngine) -> Result<T>) -> PyResult<T> {
        guarded(&self.state, || {
            let _pass = Pass::for_one();
            work(&self.engine).map_err(|error| failure::exception(&error))
        })
    }

    /// The value under a key.
    #[inline]
    fn look(&self, key: &Object<'_>) -> PyResult<Option<u64>> {
        let bytes = self.keys.bytes(key)?;
        self.one(|engine| Ok(engine.index.get(bytes)))
    }

    fn near<'py>(&self, near: Near, key: &Object<'py>) -> PyResult<Option<Pair<'py>>> {
        let bytes = self.keys.bytes(key)?;
        self.pair(key.py(), self.one(|engine| Ok(engine.near(near, bytes)))?)
    }

    fn value_object<'py>(&self, py: Python<'py>, word: Option<u64>) -> PyResult<Option<Object<'py>>> {
        word.map(|word| self.values.object(py, word)).transpose()
    }

    fn pair<'py>(&self, py: Python<'py>, entry: Option<Entry>) -> PyResult<Option<Pair<'py>>> {
        let Some((key, value)) = entry else { return Ok(None) };
        Ok(Some((self.keys.object(py, &key)?, self.values.object(py, value)?)))
    }

    /// A column whose keys are of this index's type.
    fn own<'k>(&self, keys: &'k KeyColumn) -> PyResult<&'k KeyColumn> {
        if keys.of == self.keys {
            return Ok(keys);
        }
        let (own, its) = (self.keys.name(), keys.of.name());
        Err(PyTypeError::new_err(format!("keys are {own}, not {its}")))
    }

    /// Does something with a range.
    fn within<T>(
        &self,
        (low, high, closed): Told<'_, '_>,
        work: impl FnOnce(Ends<'_>) -> PyResult<T>,
    ) -> PyResult<T> {
        let low = low.map(|low| self.keys.bytes(low)).transpose()?;
        let high = high.map(|high| self.keys.bytes(high)).transpose()?;
        match closed {
            Some((low_belongs, high_belongs)) => {
                work(Closed { low: low_belongs, high: high_belongs }.bounds(low, high))
            }
            None => {
                let name = self.keys.name();
                let none = || PyTypeError::new_err(format!("a prefix is {name}, not of type NoneType"));
                let prefix = low.ok_or_else(none)?;
                let after = after_prefix(prefix);
                work(Closed { low: true, high: false }.bounds(Some(prefix), after.as_deref()))
            }
        }
    }

    fn collect(
        &self,
        py: Python<'_>,
        ends: Ends<'_>,
        direction: Direction,
        limit: usize,
    ) -> PyResult<(Strings, Vec<u64>)> {
        guarded(&self.state, || {
            let collected = py.detach(|| self.engine.collect(ends, direction, limit));
            collected.map_err(|undone: Undone| undone_exception(&self.values, undone))
        })
    }

    /// Changes the index by a batch.
    fn change_many(
        &self,
        py: Python<'_>,
        keys: &Strings,
        change: impl Fn(Range<usize>, &mut Changed) + Sync,
    ) -> PyResult<usize> {
        guarded(&self.state, || {
            let cuts = (&[0, keys.len()][..], batch::CHUNK);
            let (parts, failed) =
                batch::run_with(py, cuts, repeat_with(Changed::default), |chunk, changed| {
                    change(chunk, changed);
                    Ok(())
                });
            failure::changed(py, parts, failed, &Sequence::<u64>::AsGiven)
        })
    }
}

/// A column of keys, and one of values as an array, of anything that gives an Arrow stream: each is a copy.
#[pyfunction]
pub fn read_arrow_strings<'py>(
    data: &Object<'py>,
    key: &Object<'py>,
    value: &Object<'py>,
    text: bool,
) -> PyResult<(KeyColumn, Object<'py>)> {
    let (strings, values) = read_columns(data, (key, value), text)?;
    Ok((KeyColumn { strings, of: KeyType { is_text: text } }, values))
}
