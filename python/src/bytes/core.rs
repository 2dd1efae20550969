//! The class under `latchless.StringIndex` and `latchless.BytesIndex`: single operations on Python's
//! objects, batches on columns of keys and arrays of words.

use super::engine::{Ends, Entry};
use super::import::read_columns;
use super::keys::{StringColumn, StringType};
use super::snapshot::{self, StringSnapshot};
use super::strings::Strings;
use super::typed::{Made, Tree, Typed, undone_exception, with};
use super::value::{Value, own};
use crate::column::Fresh;
use crate::core::{DtypeOf, Entry as Pair, Object};
use crate::kind::Kind;
use crate::lookups::{Near, Places};
use crate::serve::{FINE, change_in_order, guarded, one, stats_dict};
use crate::{batch, export};
use latchless::{Direction, Result};
use pyo3::exceptions::{PyAssertionError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::ops;
use std::path::PathBuf;
use std::sync::atomic::AtomicU8;

/// An ordered index of byte strings. Not for users: `latchless.StringIndex` and `latchless.BytesIndex` are.
#[pyclass(subclass, frozen, weakref, module = "latchless._latchless")]
pub struct BytesCore {
    /// In a box, because an index is aligned as lines of the cache are, and Python's objects aren't.
    tree: Box<Tree>,
    keys: StringType,
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
        keys: Option<&Bound<'_, StringColumn>>,
        values: Option<&Object<'_>>,
        sorted: bool,
        fill: f64,
        limit_bytes: Option<usize>,
        snapshot: Option<&Bound<'_, StringSnapshot>>,
    ) -> PyResult<Self> {
        let own = StringType { is_text: text, is_value: false };
        let columns = keys.map(|keys| keys.get()).zip(values);
        columns.map_or(Ok(()), |(keys, _)| keys.check(own))?;
        let made = Made { columns, sorted, fill, limit_bytes };
        let tree = if let Some(values) = StringType::of_values(&value.0) {
            let mut typed = made.typed::<Vec<u8>>(py, values)?;
            if let Some(snapshot) = snapshot {
                snapshot.get().load_strings(py, &mut typed.engine, (own, values), fill)?;
            }
            Tree::Strings(typed)
        } else {
            let kind = Kind::new(true, &value.0, value.1, value.2, false)?;
            let mut typed = made.typed::<u64>(py, kind)?;
            if let Some(snapshot) = snapshot {
                snapshot.get().load(py, &mut typed.engine, (own, &typed.values), fill)?;
            }
            Tree::Words(typed)
        };
        Ok(Self { tree: Box::new(tree), keys: own, state: AtomicU8::new(FINE) })
    }

    // ---- one entry ----

    fn __len__(&self) -> usize {
        with!(self, typed => typed.engine.index.len())
    }

    fn __contains__(&self, key: &Object<'_>) -> PyResult<bool> {
        let Some(bytes) = self.keys.sought(key)? else { return Ok(false) };
        with!(self, typed => self.one(|| Ok(typed.engine.index.contains_key(bytes))))
    }

    fn __getitem__<'py>(&self, key: &Object<'py>) -> PyResult<Object<'py>> {
        self.look(key)?.ok_or_else(|| PyKeyError::new_err(key.clone().unbind()))
    }

    fn __setitem__(&self, key: &Object<'_>, value: &Object<'_>) -> PyResult<()> {
        let bytes = self.keys.bytes(key)?;
        with!(self, typed => {
            let value = typed.lent(value)?;
            self.one(|| typed.engine.index.insert(bytes, value)).map(drop)
        })
    }

    fn __delitem__(&self, key: &Object<'_>) -> PyResult<()> {
        let was_there = match self.keys.sought(key)? {
            Some(bytes) => with!(self, typed => self.one(|| Ok(typed.engine.index.remove(bytes).is_some())))?,
            None => false,
        };
        if was_there { Ok(()) } else { Err(PyKeyError::new_err(key.clone().unbind())) }
    }

    /// The key's value, or the default.
    #[pyo3(signature = (key, default=None, /))]
    fn get<'py>(&self, key: &Object<'py>, default: Option<Object<'py>>) -> PyResult<Option<Object<'py>>> {
        Ok(self.look(key)?.or(default))
    }

    fn _take<'py>(&self, key: &Object<'py>) -> PyResult<Option<Object<'py>>> {
        let Some(bytes) = self.keys.sought(key)? else { return Ok(None) };
        with!(self, typed => {
            typed.optional(key.py(), self.one(|| Ok(typed.engine.index.remove(bytes)))?)
        })
    }

    fn _end<'py>(&self, py: Python<'py>, last: bool, remove: bool) -> PyResult<Option<Pair<'py>>> {
        with!(self, typed => {
            let index = &typed.engine.index;
            let entry = self.one(|| {
                Ok(match (last, remove) {
                    (false, false) => index.first(),
                    (true, false) => index.last(),
                    (false, true) => index.pop_first(),
                    (true, true) => index.pop_last(),
                })
            })?;
            self.pair(py, typed, entry)
        })
    }

    fn _get_or_insert<'py>(&self, key: &Object<'py>, value: &Object<'py>) -> PyResult<Object<'py>> {
        let bytes = self.keys.bytes(key)?;
        with!(self, typed => {
            let value = own(typed.lent(value)?);
            let there = self.one(|| typed.engine.index.get_or_insert_with(bytes, || value))?;
            typed.object(key.py(), &there)
        })
    }

    /// Replace the value of a present key, atomically: return the previous one, or None if the key isn't
    /// there.
    fn replace<'py>(&self, key: &Object<'py>, value: &Object<'py>) -> PyResult<Option<Object<'py>>> {
        let bytes = self.keys.sought(key)?;
        with!(self, typed => {
            let value = typed.lent(value)?;
            let Some(bytes) = bytes else { return Ok(None) };
            typed.optional(key.py(), self.one(|| typed.engine.index.try_replace(bytes, value))?)
        })
    }

    /// Replace the key's value if it is the expected one, atomically: return whether it was. Floats are
    /// compared by their bits, so NaN equals itself.
    fn compare_exchange(
        &self,
        key: &Object<'_>,
        expected: &Object<'_>,
        value: &Object<'_>,
    ) -> PyResult<bool> {
        let bytes = self.keys.sought(key)?;
        with!(self, typed => {
            let (expected, value) = (typed.lent(expected)?, typed.lent(value)?);
            let Some(bytes) = bytes else { return Ok(false) };
            let exchange = || typed.engine.index.try_compare_exchange(bytes, expected, value);
            self.one(exchange).map(|done| done.is_ok())
        })
    }

    /// Remove a key if its value is the expected one, atomically: return whether it was.
    fn compare_remove(&self, key: &Object<'_>, expected: &Object<'_>) -> PyResult<bool> {
        let bytes = self.keys.sought(key)?;
        with!(self, typed => {
            let expected = typed.lent(expected)?;
            let Some(bytes) = bytes else { return Ok(false) };
            self.one(|| Ok(typed.engine.index.compare_remove(bytes, expected).is_ok()))
        })
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

    // ---- batches: columns of keys, and arrays of words or columns of strings ----

    fn _get_many<'py>(
        &self,
        keys: &Bound<'py, StringColumn>,
        missing: &Object<'py>,
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>)> {
        let keys = keys.get().keys_of(self.keys)?;
        with!(self, typed => {
            guarded(&self.state, || typed.get_many(keys, missing, threads))
        })
    }

    fn _contains_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, StringColumn>,
        threads: usize,
    ) -> PyResult<Object<'py>> {
        let keys = keys.get().keys_of(self.keys)?;
        let mut found = Fresh::<bool>::new(py, keys.len())?;
        guarded(&self.state, || {
            let cuts = batch::cuts(keys.len(), threads);
            let states = Places::cut(found.places(), &cuts);
            with!(self, typed => {
                let (_, failed) = batch::run_with(py, (&cuts, batch::LOOKUPS), states, |chunk, found| {
                    typed.engine.contains_chunk(keys, chunk.clone(), found.next(chunk.len(), false));
                    Ok(())
                });
                failed.map_or(Ok(()), Err)
            })
        })?;
        Ok(found.into_any())
    }

    fn _insert_many(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, StringColumn>,
        values: &Object<'_>,
    ) -> PyResult<usize> {
        keys.get().check_lengths()?;
        let keys = keys.get().keys_of(self.keys)?;
        with!(self, typed => {
            let given = typed.given(values, keys.len())?;
            let batch = typed.batch(&given);
            change_in_order(py, &self.state, keys.len(), |chunk, changed| typed.engine.insert_chunk(keys, batch, chunk, changed))
        })
    }

    fn _remove_many(&self, py: Python<'_>, keys: &Bound<'_, StringColumn>) -> PyResult<usize> {
        let keys = keys.get().keys_of(self.keys)?;
        with!(self, typed => {
            change_in_order(py, &self.state, keys.len(), |chunk, changed| typed.engine.remove_chunk(keys, chunk, changed))
        })
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
    ) -> PyResult<(StringColumn, Object<'py>)> {
        let direction = if reverse { Direction::Reverse } else { Direction::Forward };
        let limit = limit.unwrap_or(usize::MAX);
        with!(self, typed => {
            let (strings, values) = self.keys.within((low, high, closed), |ends| {
                self.collect(py, typed, ends, direction, limit)
            })?;
            Ok((StringColumn { strings, of: self.keys }, typed.column(py, values)?))
        })
    }

    fn _count(
        &self,
        py: Python<'_>,
        low: Option<&Object<'_>>,
        high: Option<&Object<'_>>,
        closed: Option<(bool, bool)>,
        remove: bool,
    ) -> PyResult<usize> {
        with!(self, typed => self.keys.within((low, high, closed), |ends| {
            let engine = &typed.engine;
            let work = || if remove { engine.remove_range(ends) } else { engine.count(ends) };
            guarded(&self.state, || Ok(batch::alone(py, work)))
        }))
    }

    // ---- the whole ----

    /// All entries as a stream of Arrow's, in a capsule.
    fn _arrow_stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let all = (ops::Bound::Unbounded, ops::Bound::Unbounded);
        with!(self, typed => {
            let (keys, values) = self.collect(py, typed, all, Direction::Forward, usize::MAX)?;
            let values = py.detach(|| typed.arrow_column(values))?;
            export::stream_of_strings(py, (self.keys.is_text, keys), values)
        })
    }

    /// The type of that stream, in a capsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let values = with!(self, typed => typed.arrow_format())?;
        export::schema_of_formats(py, export::string_format(self.keys.is_text), values)
    }

    fn _save(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        guarded(&self.state, || match &*self.tree {
            Tree::Words(typed) => snapshot::save(py, &typed.engine, (self.keys, &typed.values), &path),
            Tree::Strings(typed) => {
                snapshot::save_strings(py, &typed.engine, (self.keys, typed.values), &path)
            }
        })
    }

    /// Remove all entries. Other threads may see some gone and others not yet. The memory stays with the
    /// index, for the entries to come.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self._count(py, None, None, Some((true, true)), true).map(drop)
    }

    /// Bytes that the index holds for its nodes and long keys.
    #[getter]
    fn nbytes(&self) -> usize {
        with!(self, typed => typed.engine.index.memory_bytes())
    }

    /// Bytes of the nodes and long keys that are in use.
    #[getter]
    fn live_nbytes(&self) -> usize {
        with!(self, typed => typed.engine.index.live_bytes())
    }

    /// How the tree is built, as a dict: levels, nodes, leaf_fill, splits, restarts.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = with!(self, typed => {
            guarded(&self.state, || Ok(batch::alone(py, || typed.engine.index.stats())))
        })?;
        stats_dict(py, &stats)
    }

    /// Raise AssertionError if the tree is broken, which is a bug of this package: for tests, while no other
    /// thread changes the index.
    fn check_invariants(&self, py: Python<'_>) -> PyResult<()> {
        let checked = with!(self, typed => {
            guarded(&self.state, || Ok(batch::alone(py, || typed.engine.index.check_invariants())))
        })?;
        checked.map_err(|broken| PyAssertionError::new_err(broken.to_string()))
    }
}

impl BytesCore {
    /// Does something with one entry.
    #[inline]
    fn one<T>(&self, work: impl FnOnce() -> Result<T>) -> PyResult<T> {
        one(&self.state, work)
    }

    /// The value under a key.
    #[inline]
    fn look<'py>(&self, key: &Object<'py>) -> PyResult<Option<Object<'py>>> {
        let Some(bytes) = self.keys.sought(key)? else { return Ok(None) };
        with!(self, typed => {
            // The object is made after the pass is given back.
            typed.optional(key.py(), self.one(|| Ok(typed.engine.index.get(bytes)))?)
        })
    }

    fn near<'py>(&self, near: Near, key: &Object<'py>) -> PyResult<Option<Pair<'py>>> {
        let bytes = self.keys.bytes(key)?;
        with!(self, typed => {
            let entry = self.one(|| Ok(typed.engine.near(near, bytes)))?;
            self.pair(key.py(), typed, entry)
        })
    }

    fn pair<'py, V: Value>(
        &self,
        py: Python<'py>,
        typed: &Typed<V>,
        entry: Option<Entry<V>>,
    ) -> PyResult<Option<Pair<'py>>> {
        let Some((key, value)) = entry else { return Ok(None) };
        Ok(Some((self.keys.object(py, &key)?, typed.object(py, &value)?)))
    }

    fn collect<V: Value>(
        &self,
        py: Python<'_>,
        typed: &Typed<V>,
        ends: Ends<'_>,
        direction: Direction,
        limit: usize,
    ) -> PyResult<(Strings, V::Copied)> {
        guarded(&self.state, || {
            py.detach(|| typed.engine.collect(ends, direction, limit)).map_err(undone_exception)
        })
    }
}

/// A column of keys, and values as an array or as a column of strings, of anything that gives an Arrow
/// stream: each is a copy.
#[pyfunction]
pub fn read_arrow_strings<'py>(
    data: &Object<'py>,
    key: &Object<'py>,
    value: &Object<'py>,
    text: bool,
) -> PyResult<(StringColumn, Object<'py>)> {
    let of = StringType { is_text: text, is_value: false };
    let (strings, values) = read_columns(data, (key, value), of)?;
    Ok((StringColumn { strings, of }, values))
}
