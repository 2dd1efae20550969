//! The class under `latchless.Index`: single operations on Python's objects, batches on arrays of words.
//! The package's Python code turns arrays of all dtypes into arrays of words, and checks its arguments.

use crate::asked::{Asked, Ends};
use crate::durable::Folder;
use crate::engine::Engine;
use crate::gate::Pass;
use crate::kind::Kind;
use crate::lookups::{Near, Sides};
use crate::ranges::{RANGES, words};
use crate::serve::{ClosedOf, Closing, FINE, ends, make, stats_dict, undone_exception};
use crate::snapshot::{self, Snapshot};
use crate::{batch, column, export};
use latchless::{Bits, Direction};
use numpy::PyArray1;
use pyo3::exceptions::{PyAssertionError, PyIndexError, PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU64};

/// An index of one of the two widths.
pub enum Tree {
    /// Of 32 bits.
    Narrow(Engine<u32>),
    /// Of 64 bits.
    Wide(Engine<u64>),
}

/// Does something with the engine, whatever its width.
macro_rules! with {
    ($core:expr, $engine:ident => $body:expr) => {
        match &*$core.tree {
            $crate::core::Tree::Narrow($engine) => $body,
            $crate::core::Tree::Wide($engine) => $body,
        }
    };
}
pub(crate) use with;

/// An object of Python's.
pub type Object<'py> = Bound<'py, PyAny>;
/// A key and its value.
pub type Entry<'py> = (Object<'py>, Object<'py>);

/// The description of a dtype for `Core`: NumPy's code, its name, functions for single times, and for keys
/// the function that finds the keys around an object.
pub type DtypeOf = (String, String, Option<(Py<PyAny>, Py<PyAny>)>, Option<Py<PyAny>>);

/// An ordered index of words. Not for users: `latchless.Index` is.
#[pyclass(subclass, frozen, weakref, module = "latchless._latchless")]
pub struct Core {
    /// Its entries. In a box, because an index is aligned as lines of the cache are, and Python's objects aren't.
    pub tree: Box<Tree>,
    /// The kind of the keys.
    pub keys: Kind,
    /// The kind of the values.
    pub values: Kind,
    /// Finds the keys around an object that can't be a key.
    pub ask: Option<Py<PyAny>>,
    /// Whether it is used, an operation has failed in the middle, or it was closed.
    pub state: AtomicU8,
}

#[pymethods]
impl Core {
    #[new]
    #[pyo3(signature = (wide, key, value, keys, values, sorted, fill, limit_bytes, snapshot=None, folder=None))]
    #[expect(clippy::too_many_arguments, reason = "Python's side passes them by position, once")]
    fn new(
        py: Python<'_>,
        wide: bool,
        key: DtypeOf,
        value: DtypeOf,
        keys: Option<&Object<'_>>,
        values: Option<&Object<'_>>,
        sorted: bool,
        fill: f64,
        limit_bytes: Option<usize>,
        snapshot: Option<&Bound<'_, Snapshot>>,
        folder: Option<&Bound<'_, Folder>>,
    ) -> PyResult<Self> {
        let keys_kind = Kind::new(wide, &key.0, key.1, key.2, true)?;
        let values_kind = Kind::new(wide, &value.0, value.1, value.2, false)?;
        let kinds = (&keys_kind, &values_kind);
        let (how, from) = ((sorted, fill, limit_bytes), (snapshot, folder));
        let tree = if wide {
            Tree::Wide(make(py, kinds, (keys, values), how, from)?)
        } else {
            Tree::Narrow(make(py, kinds, (keys, values), how, from)?)
        };
        let state = AtomicU8::new(FINE);
        Ok(Self { tree: Box::new(tree), keys: keys_kind, values: values_kind, ask: key.3, state })
    }

    // ---- one entry ----

    fn __len__(&self) -> usize {
        with!(self, engine => engine.index().len())
    }

    fn __contains__(&self, key: &Object<'_>) -> PyResult<bool> {
        with!(self, engine => {
            let Some(word) = self.sought(engine, key)? else { return Ok(false) };
            self.one(|| Ok(engine.index().contains_key(word)))
        })
    }

    fn __getitem__<'py>(&self, key: &Object<'py>) -> PyResult<Object<'py>> {
        with!(self, engine => {
            match self.look(engine, key)? {
                Some(value) => self.value_object(key.py(), value),
                None => Err(PyKeyError::new_err(key.clone().unbind())),
            }
        })
    }

    fn __setitem__(&self, key: &Object<'_>, value: &Object<'_>) -> PyResult<()> {
        with!(self, engine => {
            let (word, value) = (self.key(engine, key)?, self.value(value)?);
            self.change(key.py(), engine, |store| store.insert(word, value)).map(drop)
        })
    }

    fn __delitem__(&self, key: &Object<'_>) -> PyResult<()> {
        with!(self, engine => {
            match self.removed(engine, key)? {
                Some(_) => Ok(()),
                None => Err(PyKeyError::new_err(key.clone().unbind())),
            }
        })
    }

    /// The key's value, or the default.
    #[pyo3(signature = (key, default=None, /))]
    fn get<'py>(&self, key: &Object<'py>, default: Option<Object<'py>>) -> PyResult<Option<Object<'py>>> {
        with!(self, engine => {
            match self.look(engine, key)? {
                Some(value) => self.value_object(key.py(), value).map(Some),
                None => Ok(default),
            }
        })
    }

    fn _take<'py>(&self, key: &Object<'py>) -> PyResult<Option<Object<'py>>> {
        with!(self, engine => {
            self.removed(engine, key)?.map(|value| self.value_object(key.py(), value)).transpose()
        })
    }

    fn _end<'py>(&self, py: Python<'py>, last: bool, remove: bool) -> PyResult<Option<Entry<'py>>> {
        with!(self, engine => {
            let entry = if remove {
                self.change(py, engine, |store| store.pop(last))?
            } else {
                self.one(|| Ok(if last { engine.index().last() } else { engine.index().first() }))?
            };
            self.entry(py, engine, entry)
        })
    }

    fn _get_or_insert<'py>(&self, key: &Object<'py>, value: &Object<'py>) -> PyResult<Object<'py>> {
        with!(self, engine => {
            let (word, value) = (self.key(engine, key)?, self.value(value)?);
            let value = self.change(key.py(), engine, |store| store.get_or_insert(word, value))?;
            self.value_object(key.py(), value)
        })
    }

    /// Replace the value of a present key, atomically: return the previous one, or None if the key isn't
    /// there.
    fn replace<'py>(&self, key: &Object<'py>, value: &Object<'py>) -> PyResult<Option<Object<'py>>> {
        with!(self, engine => {
            let (word, value) = (self.sought(engine, key)?, self.value(value)?);
            let Some(word) = word else { return Ok(None) };
            let before = self.change(key.py(), engine, |store| store.replace(word, value))?;
            before.map(|before| self.value_object(key.py(), before)).transpose()
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
        with!(self, engine => {
            let (word, expected, value) = (self.sought(engine, key)?, self.value(expected)?, self.value(value)?);
            let Some(word) = word else { return Ok(false) };
            self.change(key.py(), engine, |store| store.compare_exchange(word, expected, value))
        })
    }

    /// Remove a key if its value is the expected one, atomically: return whether it was.
    fn compare_remove(&self, key: &Object<'_>, expected: &Object<'_>) -> PyResult<bool> {
        with!(self, engine => {
            let (word, expected) = (self.sought(engine, key)?, self.value(expected)?);
            let Some(word) = word else { return Ok(false) };
            self.change(key.py(), engine, |store| store.compare_remove(word, expected))
        })
    }

    /// The entry with the largest key that is equal or smaller, as (key, value), or None.
    fn floor<'py>(&self, key: &Object<'py>) -> PyResult<Option<Entry<'py>>> {
        self.near(Near::Floor, key)
    }

    /// The entry with the smallest key that is equal or larger, as (key, value), or None.
    fn ceiling<'py>(&self, key: &Object<'py>) -> PyResult<Option<Entry<'py>>> {
        self.near(Near::Ceiling, key)
    }

    /// The entry with the largest smaller key, as (key, value), or None.
    fn lower<'py>(&self, key: &Object<'py>) -> PyResult<Option<Entry<'py>>> {
        self.near(Near::Lower, key)
    }

    /// The entry with the smallest larger key, as (key, value), or None.
    fn higher<'py>(&self, key: &Object<'py>) -> PyResult<Option<Entry<'py>>> {
        self.near(Near::Higher, key)
    }

    /// The entry whose key is nearest, as (key, value), or None if the index is empty; of two that are equally
    /// near the one before.
    fn nearest<'py>(slf: &Bound<'py, Self>, key: &Object<'py>) -> PyResult<Option<Entry<'py>>> {
        Self::nearest_of(slf, key)
    }

    // ---- batches: arrays of words ----

    fn _get_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Object<'py>,
        missing: u64,
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>)> {
        with!(self, engine => self.look_up(py, engine, keys, missing, threads))
    }

    fn _get_many_into(
        &self,
        py: Python<'_>,
        keys: &Object<'_>,
        values: Option<&Object<'_>>,
        missing: u64,
        found: &Object<'_>,
        threads: usize,
    ) -> PyResult<()> {
        with!(self, engine => self.look_up_into(py, engine, keys, (values, missing, found), threads))
    }

    #[expect(clippy::too_many_arguments, reason = "Python's side passes them by position, once")]
    fn _near_many<'py>(
        &self,
        py: Python<'py>,
        direction: &str,
        exact: bool,
        farthest: Option<u64>,
        keys: &Object<'py>,
        missing: (u64, u64),
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>, Object<'py>)> {
        let unknown =
            || PyValueError::new_err(format!("direction is backward, forward or nearest, not '{direction}'"));
        let sides = Sides::of(direction, exact).ok_or_else(unknown)?;
        with!(self, engine => self.look_near(py, engine, keys, (sides, farthest, missing), threads))
    }

    fn _insert_many(
        &self,
        py: Python<'_>,
        keys: &Object<'_>,
        values: &Object<'_>,
        threads: usize,
    ) -> PyResult<usize> {
        with!(self, engine => self.insert(py, engine, keys, values, threads))
    }

    fn _remove_many(&self, py: Python<'_>, keys: &Object<'_>, threads: usize) -> PyResult<usize> {
        with!(self, engine => self.remove(py, engine, keys, threads))
    }

    // ---- ranges ----

    fn _range<'py>(
        &self,
        py: Python<'py>,
        low: Option<&Object<'py>>,
        high: Option<&Object<'py>>,
        closed: (bool, bool),
        reverse: bool,
        limit: Option<usize>,
    ) -> PyResult<Entry<'py>> {
        let direction = if reverse { Direction::Reverse } else { Direction::Forward };
        with!(self, engine => {
            let ends = self.ends(engine, (low, high), closed)?;
            let range = ends.and_then(|ends| words(ends.low, ends.high, ends.closed));
            let (keys, values) = match range {
                None => (Vec::new(), Vec::new()),
                Some(range) => self.guarded(|| {
                    py.detach(|| engine.collect(range, direction, limit.unwrap_or(usize::MAX)))
                })?,
            };
            Ok((PyArray1::from_vec(py, keys).into_any(), PyArray1::from_vec(py, values).into_any()))
        })
    }

    fn _count(
        &self,
        py: Python<'_>,
        low: Option<&Object<'_>>,
        high: Option<&Object<'_>>,
        closed: (bool, bool),
        remove: bool,
    ) -> PyResult<usize> {
        with!(self, engine => {
            let Some(ends) = self.ends(engine, (low, high), closed)? else { return Ok(0) };
            let Ends { low, high, closed } = ends;
            let Some(range) = words(low, high, closed) else { return Ok(0) };
            if remove {
                self.change_long(py, engine, |store| store.remove_range(closed.bounds(low, high)))
            } else {
                self.guarded(|| Ok(batch::alone(py, || engine.count(range))))
            }
        })
    }

    fn _range_many<'py>(
        &self,
        py: Python<'py>,
        lows: &Object<'py>,
        highs: &Object<'py>,
        closed: ClosedOf<'py>,
    ) -> PyResult<(Object<'py>, Object<'py>, Object<'py>)> {
        with!(self, engine => {
            let (lows, highs) = ends(engine, lows, highs)?;
            let (lows, highs) = (lows.words(), highs.words());
            let closing = Closing::new(closed, lows.len())?;
            let closes = closing.closes();
            self.checked(py, engine, lows)?;
            self.checked(py, engine, highs)?;
            let (ends, keys, values) = self.guarded(|| py.detach(|| {
                let (mut ends, mut keys, mut values) = (vec![0], Vec::new(), Vec::new());
                let mut pulse = batch::Pulse::new();
                for start in (0..lows.len()).step_by(RANGES) {
                    let chunk = start..lows.len().min(start + RANGES);
                    {
                        let _pass = Pass::new();
                        let columns = (&mut keys, &mut values);
                        engine.append_ranges(lows, highs, closes, chunk, &mut ends, columns)
                    }.map_err(|undone| undone_exception(&self.keys, undone))?;
                    pulse.check()?;
                }
                Ok((ends, keys, values))
            }))?;
            let (keys, values) = (PyArray1::from_vec(py, keys).into_any(), PyArray1::from_vec(py, values).into_any());
            Ok((PyArray1::from_vec(py, ends).into_any(), keys, values))
        })
    }

    fn _count_many<'py>(
        &self,
        py: Python<'py>,
        lows: &Object<'py>,
        highs: &Object<'py>,
        closed: ClosedOf<'py>,
        counts: &Object<'_>,
    ) -> PyResult<()> {
        with!(self, engine => {
            let (lows, highs) = ends(engine, lows, highs)?;
            let (lows, highs) = (lows.words(), highs.words());
            let closing = Closing::new(closed, lows.len())?;
            let closes = closing.closes();
            let counts = column::output::<u64>(counts, lows.len())?;
            let counts: column::Words<'_, AtomicU64> = counts.words();
            self.guarded(|| {
                self.checked(py, engine, lows)?;
                self.checked(py, engine, highs)?;
                let (_, failed) = batch::run::<()>(py, &[0, lows.len()], |chunk, ()| {
                    engine.count_chunk(lows, highs, closes, chunk, counts).map_err(|no_key| self.no_key(no_key))
                });
                failed.map_or(Ok(()), Err)
            })
        })
    }

    // ---- positions ----

    /// How many keys are less than this one, whether it is there or not. Exact when no thread changes the
    /// index.
    fn rank(&self, py: Python<'_>, key: &Object<'_>) -> PyResult<usize> {
        with!(self, engine => {
            let word = match self.asked(engine, key)? {
                Asked::Key(word) | Asked::Between(_, Some(word)) => word,
                Asked::Between(Some(_), None) => return self.guarded(|| Ok(engine.index().len())),
                Asked::Between(None, None) => return Ok(0),
            };
            self.guarded(|| Ok(batch::alone(py, || engine.index().rank(word))))
        })
    }

    fn _rank_many(&self, py: Python<'_>, keys: &Object<'_>, ranks: &Object<'_>) -> PyResult<()> {
        with!(self, engine => self.ranks(py, engine, keys, ranks))
    }

    /// The entry at a position in the order of keys, as (key, value); from the end where it is negative.
    /// Raises IndexError where there is none.
    fn nth<'py>(&self, py: Python<'py>, position: isize) -> PyResult<Entry<'py>> {
        with!(self, engine => {
            let found = self.guarded(|| Ok(batch::alone(py, || {
                let from_start = if position < 0 {
                    engine.index().len().checked_sub(position.unsigned_abs())
                } else {
                    Some(position.unsigned_abs())
                };
                from_start.and_then(|at| engine.index().nth(at))
            })))?;
            let outside = || PyIndexError::new_err(format!("there is no entry at position {position}"));
            self.entry(py, engine, found)?.ok_or_else(outside)
        })
    }

    fn _split_points<'py>(&self, py: Python<'py>, parts: usize) -> PyResult<Object<'py>> {
        with!(self, engine => {
            let mut keys = self.guarded(|| Ok(batch::alone(py, || engine.index().split_points(parts))))?;
            keys.iter_mut().for_each(|key| *key = engine.decode(*key));
            Ok(PyArray1::from_vec(py, keys).into_any())
        })
    }

    // ---- the whole ----

    /// All entries as a stream of Arrow's, in a capsule.
    fn _arrow_stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        with!(self, engine => {
            let columns = self.guarded(|| {
                py.detach(|| engine.collect(<_ as Bits>::MIN..=<_ as Bits>::MAX, Direction::Forward, usize::MAX))
            })?;
            export::stream(py, (&self.keys, &self.values), columns)
        })
    }

    /// The type of that stream, in a capsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export::schema_of(py, (&self.keys, &self.values))
    }

    fn _save(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        with!(self, engine => self.guarded(|| snapshot::save(py, engine, (&self.keys, &self.values), &path)))
    }

    /// Remove all entries. Other threads may see some gone and others not yet.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        with!(self, engine => self.change_long(py, engine, |store| store.clear()))
    }

    /// Bytes that the index holds for its nodes.
    #[getter]
    fn nbytes(&self) -> usize {
        with!(self, engine => engine.index().memory_bytes())
    }

    /// Bytes of the nodes that are in use.
    #[getter]
    fn live_nbytes(&self) -> usize {
        with!(self, engine => engine.index().live_bytes())
    }

    /// How the tree is built, as a dict: bits per word, levels, nodes, leaf_fill, splits, restarts, misled.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (stats, width) = with!(self, engine => {
            let stats = self.guarded(|| Ok(batch::alone(py, || engine.index().stats())))?;
            (stats, if matches!(*self.tree, Tree::Wide(_)) { 64 } else { 32 })
        });
        let dict = stats_dict(py, &stats)?;
        dict.set_item("bits", width)?;
        dict.set_item("misled", stats.misled)?;
        Ok(dict)
    }

    /// Raise AssertionError if the tree is broken, which is a bug of this package: for tests, while no other
    /// thread changes the index.
    fn check_invariants(&self, py: Python<'_>) -> PyResult<()> {
        let checked = with!(self, engine => self.guarded(|| {
            Ok(batch::alone(py, || engine.index().check_invariants()))
        }))?;
        checked.map_err(|broken| PyAssertionError::new_err(broken.to_string()))
    }
}
