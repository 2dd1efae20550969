//! The class under `latchless.Index`: single operations on Python's objects, batches on columns of keys and
//! of values. The package's Python code turns arrays of all types into such columns, and checks its arguments.

use crate::asked::{Asked, Ends};
use crate::bytes::grouped::{Asked as Grouped, InGroups};
use crate::bytes::key_type::{KeyOf, KeyType};
use crate::bytes::keys::StringType;
use crate::bytes::row::StringValues;
use crate::bytes::typed::Typed;
use crate::dtype::KeyDtype;
use crate::durable::Folder;
use crate::kind::{Hooks, Kind};
use crate::lookups::Near;
use crate::map::{Answers, Entry, Map, Nearest, Object};
use crate::numbers::Numbers;
use crate::serve::{ClosedOf, FINE, stats_dict};
use crate::snapshot::Snapshot;
use crate::{batch, export};
use latchless::Direction;
use pyo3::exceptions::{PyAssertionError, PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PySlice};
use std::path::PathBuf;
use std::sync::atomic::AtomicU8;

/// An index of one of the kinds that there are.
pub enum Tree {
    /// Of words of 32 bits.
    Narrow(Numbers<u32>),
    /// Of words of 64 bits.
    Wide(Numbers<u64>),
    /// Of byte strings, with words as values.
    StringsToWords(Typed<u64>),
    /// Of byte strings, or of numbers and times as such, with byte strings as values.
    StringsToStrings(Typed<Vec<u8>>),
}

/// Does something with the index, whichever it is.
macro_rules! with {
    ($core:expr, $map:ident => $body:expr) => {
        match &*$core.tree {
            $crate::core::Tree::Narrow($map) => $body,
            $crate::core::Tree::Wide($map) => $body,
            $crate::core::Tree::StringsToWords($map) => $body,
            $crate::core::Tree::StringsToStrings($map) => $body,
        }
    };
}
pub(crate) use with;

/// The description of a type for `Core`: NumPy's code or `str` or `bytes`, its name, functions for single
/// times, and for keys the function that finds the keys around an object. Of values that are rows: `V` and their
/// width, functions from a row to bytes and back, and the dtype.
pub type DtypeOf = (String, String, Hooks, Option<Py<PyAny>>);

/// What a new index is made of.
pub struct Made<'a, 'py> {
    /// Keys and values, if there are any.
    pub columns: Option<(&'a Object<'py>, &'a Object<'py>)>,
    /// Whether the caller claims that the keys ascend.
    pub sorted: bool,
    /// How full nodes are at first.
    pub fill: f64,
    /// The most memory that it may take.
    pub limit_bytes: Option<usize>,
    /// A file that has its entries.
    pub snapshot: Option<&'a Bound<'py, Snapshot>>,
    /// A folder that has its log.
    pub folder: Option<&'a Bound<'py, Folder>>,
}

/// An ordered index. Not for users: `latchless.Index` is.
#[pyclass(subclass, frozen, weakref, module = "latchless._latchless")]
pub struct Core {
    /// Its entries. In a box, because an index is aligned as lines of the cache are, and Python's objects
    /// aren't.
    pub tree: Box<Tree>,
    /// Whether it is used, an operation has failed in the middle, or it was closed.
    pub state: AtomicU8,
}

#[pymethods]
impl Core {
    #[new]
    #[pyo3(signature = (wide, key, value, keys, values, sorted, fill, limit_bytes, snapshot=None, folder=None))]
    #[expect(clippy::too_many_arguments, reason = "Python's side passes them by position, once")]
    fn new<'py>(
        py: Python<'py>,
        wide: bool,
        key: KeyOf,
        value: DtypeOf,
        keys: Option<&Object<'py>>,
        values: Option<&Object<'py>>,
        sorted: bool,
        fill: f64,
        limit_bytes: Option<usize>,
        snapshot: Option<&Bound<'py, Snapshot>>,
        folder: Option<&Bound<'py, Folder>>,
    ) -> PyResult<Self> {
        let made = Made { columns: keys.zip(values), sorted, fill, limit_bytes, snapshot, folder };
        let values = StringValues::new(py, &value);
        let kind = |wide| Kind::new(py, wide, (&value.0, value.1, value.2), false);
        let tree = match (key, values) {
            (key, Some(values)) => {
                Tree::StringsToStrings(Typed::new(py, (KeyType::new(py, key)?, values), &made)?)
            }
            (KeyOf::Plain(key), None) if StringType::of_code(&key.0, false).is_none() => match wide {
                true => Tree::Wide(Numbers::new(py, (KeyDtype::new(py, true, key)?, kind(true)?), &made)?),
                false => {
                    Tree::Narrow(Numbers::new(py, (KeyDtype::new(py, false, key)?, kind(false)?), &made)?)
                }
            },
            (key, None) => {
                Tree::StringsToWords(Typed::new(py, (KeyType::new(py, key)?, kind(true)?), &made)?)
            }
        };
        Ok(Self { tree: Box::new(tree), state: AtomicU8::new(FINE) })
    }

    // ---- one entry ----

    fn __len__(&self) -> usize {
        with!(self, map => map.len())
    }

    fn __contains__(&self, key: &Object<'_>) -> PyResult<bool> {
        with!(self, map => {
            let Some(key) = self.sought(map, key)? else { return Ok(false) };
            self.one(|| Ok(map.contains(key)))
        })
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Object<'py>) -> PyResult<Object<'py>> {
        if key.is_instance_of::<PySlice>() {
            return slf.call_method1("_sliced", (key,));
        }
        slf.get().look(key)?.ok_or_else(|| PyKeyError::new_err(key.clone().unbind()))
    }

    fn __setitem__(&self, key: &Object<'_>, value: &Object<'_>) -> PyResult<()> {
        with!(self, map => {
            let value = &map.prepared(value)?;
            let (word, value) = (map.key(key)?, map.value(value)?);
            self.change(key.py(), map, |map| map.insert(word, value)).map(drop)
        })
    }

    fn __delitem__(slf: &Bound<'_, Self>, key: &Object<'_>) -> PyResult<()> {
        if key.is_instance_of::<PySlice>() {
            return slf.call_method1("_remove_sliced", (key,)).map(drop);
        }
        match slf.get()._take(key)? {
            Some(_) => Ok(()),
            None => Err(PyKeyError::new_err(key.clone().unbind())),
        }
    }

    /// The key's value, or the default.
    #[pyo3(signature = (key, default=None, /))]
    fn get<'py>(&self, key: &Object<'py>, default: Option<Object<'py>>) -> PyResult<Option<Object<'py>>> {
        Ok(self.look(key)?.or(default))
    }

    fn _take<'py>(&self, key: &Object<'py>) -> PyResult<Option<Object<'py>>> {
        with!(self, map => {
            let Some(word) = self.sought(map, key)? else { return Ok(None) };
            let removed = self.change(key.py(), map, |map| map.remove(word))?;
            removed.map(|value| map.value_object(key.py(), value)).transpose()
        })
    }

    fn _end<'py>(&self, py: Python<'py>, last: bool, remove: bool) -> PyResult<Option<Entry<'py>>> {
        with!(self, map => {
            let entry = if remove {
                self.change(py, map, |map| map.pop(last))?
            } else {
                self.one(|| Ok(map.end(last)))?
            };
            Self::entry(py, map, entry)
        })
    }

    fn _get_or_insert<'py>(&self, key: &Object<'py>, value: &Object<'py>) -> PyResult<Object<'py>> {
        with!(self, map => {
            let value = &map.prepared(value)?;
            let (word, value) = (map.key(key)?, map.value(value)?);
            let value = self.change(key.py(), map, |map| map.get_or_insert(word, value))?;
            map.value_object(key.py(), value)
        })
    }

    /// Replace the value of a present key, atomically: return the previous one, or None if the key isn't
    /// there.
    fn replace<'py>(&self, key: &Object<'py>, value: &Object<'py>) -> PyResult<Option<Object<'py>>> {
        with!(self, map => {
            let value = &map.prepared(value)?;
            let (word, value) = (self.sought(map, key)?, map.value(value)?);
            let Some(word) = word else { return Ok(None) };
            let before = self.change(key.py(), map, |map| map.replace(word, value))?;
            before.map(|before| map.value_object(key.py(), before)).transpose()
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
        with!(self, map => {
            let (expected, value) = (&map.prepared(expected)?, &map.prepared(value)?);
            let (word, expected, value) = (self.sought(map, key)?, map.value(expected)?, map.value(value)?);
            let Some(word) = word else { return Ok(false) };
            self.change(key.py(), map, |map| map.compare_exchange(word, expected, value))
        })
    }

    /// Remove a key if its value is the expected one, atomically: return whether it was.
    fn compare_remove(&self, key: &Object<'_>, expected: &Object<'_>) -> PyResult<bool> {
        with!(self, map => {
            let expected = &map.prepared(expected)?;
            let (word, expected) = (self.sought(map, key)?, map.value(expected)?);
            let Some(word) = word else { return Ok(false) };
            self.change(key.py(), map, |map| map.compare_remove(word, expected))
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

    /// The entry whose key is nearest, as (key, value), or None if the index is empty; of two that are
    /// equally near the one before. Strings have no distance: TypeError.
    fn nearest<'py>(slf: &Bound<'py, Self>, key: &Object<'py>) -> PyResult<Option<Entry<'py>>> {
        let core = slf.get();
        with!(core, map => match core.asked(map, key)? {
            Asked::Key(word) => {
                let entry = core.one(|| map.nearest(word))?;
                Self::entry(slf.py(), map, entry)
            }
            // Python's side compares the distances, which needs more than the keys on both sides.
            Asked::Between(..) | Asked::Before(_) => slf.call_method1("_nearest_between", (key,))?.extract(),
        })
    }

    // ---- batches: columns of keys and of values ----

    fn _get_many<'py>(
        &self,
        keys: &Object<'py>,
        missing: &Object<'py>,
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>)> {
        with!(self, map => self.guarded(|| map.get_many(keys, missing, threads)))
    }

    fn _get_many_into(
        &self,
        keys: &Object<'_>,
        values: Option<&Object<'_>>,
        missing: &Object<'_>,
        found: &Object<'_>,
        threads: usize,
    ) -> PyResult<()> {
        let values = values.map(|values| (values, missing));
        with!(self, map => self.guarded(|| map.get_many_into(keys, values, found, threads)))
    }

    fn _near_many<'py>(
        &self,
        question: (String, bool, Option<u64>, bool),
        keys: &Object<'py>,
        missing: Entry<'py>,
        threads: usize,
    ) -> PyResult<Answers<'py>> {
        let (direction, exact, farthest, grouped) = question;
        let asked = Nearest { direction: &direction, exact, farthest, grouped, threads };
        with!(self, map => self.guarded(|| map.near_many(keys, asked, (&missing.0, &missing.1))))
    }

    fn _near_in_groups<'py>(
        &self,
        question: (String, bool, Option<u64>),
        groups: &Object<'py>,
        codes: Option<&Object<'py>>,
        numbers: &Object<'py>,
        missing: (u64, Object<'py>),
    ) -> PyResult<Option<InGroups<'py>>> {
        let (direction, exact, farthest) = question;
        let question = Nearest { direction: &direction, exact, farthest, grouped: true, threads: 1 };
        with!(self, map => self.guarded(|| {
            map.near_in_groups(Grouped { groups, codes, numbers }, question, (missing.0, &missing.1))
        }))
    }

    fn _insert_many(&self, keys: &Object<'_>, values: &Object<'_>, threads: usize) -> PyResult<usize> {
        with!(self, map => self.guarded(|| map.insert_many(keys, values, threads)))
    }

    fn _remove_many(&self, keys: &Object<'_>, threads: usize) -> PyResult<usize> {
        with!(self, map => self.guarded(|| map.remove_many(keys, threads)))
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
    ) -> PyResult<Entry<'py>> {
        let direction = if reverse { Direction::Reverse } else { Direction::Forward };
        let limit = limit.unwrap_or(usize::MAX);
        with!(self, map => {
            let copied = self.within(map, (low, high, closed), |ends| self.copied(py, map, ends, direction, limit))?;
            map.columns(py, copied.unwrap_or_default())
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
        with!(self, map => {
            let count = self.within(map, (low, high, closed), |ends| {
                if remove {
                    self.change_long(py, map, |map| map.remove_range(ends))
                } else {
                    self.guarded(|| Ok(batch::alone(py, || map.count(ends))))
                }
            })?;
            Ok(count.unwrap_or(0))
        })
    }

    fn _range_many<'py>(
        &self,
        lows: &Object<'py>,
        highs: &Object<'py>,
        closed: ClosedOf<'py>,
    ) -> PyResult<Answers<'py>> {
        with!(self, map => self.guarded(|| map.range_many(lows, highs, closed)))
    }

    fn _count_many(
        &self,
        lows: &Object<'_>,
        highs: &Object<'_>,
        closed: ClosedOf<'_>,
        counts: &Object<'_>,
    ) -> PyResult<()> {
        with!(self, map => self.guarded(|| map.count_many((lows, highs), closed, counts)))
    }

    // ---- positions ----

    /// How many keys are less than this one, whether it is there or not. Exact when no thread changes the
    /// index.
    fn rank(&self, py: Python<'_>, key: &Object<'_>) -> PyResult<usize> {
        with!(self, map => {
            let word = match self.asked(map, key)? {
                Asked::Key(word) | Asked::Between(_, Some(word)) | Asked::Before(word) => word,
                Asked::Between(Some(_), None) => return self.guarded(|| Ok(map.len())),
                Asked::Between(None, None) => return Ok(0),
            };
            self.guarded(|| Ok(batch::alone(py, || map.rank(word))))
        })
    }

    fn _rank_many(&self, keys: &Object<'_>, ranks: &Object<'_>) -> PyResult<()> {
        with!(self, map => self.guarded(|| map.rank_many(keys, ranks)))
    }

    /// The entry at a position in the order of keys, as (key, value); from the end where it is negative.
    /// Raises IndexError where there is none.
    fn nth<'py>(&self, py: Python<'py>, position: isize) -> PyResult<Entry<'py>> {
        with!(self, map => {
            let found = self.guarded(|| Ok(batch::alone(py, || {
                let from_start = if position < 0 {
                    map.len().checked_sub(position.unsigned_abs())
                } else {
                    Some(position.unsigned_abs())
                };
                from_start.and_then(|at| map.nth(at))
            })))?;
            let outside = || PyIndexError::new_err(format!("there is no entry at position {position}"));
            Self::entry(py, map, found)?.ok_or_else(outside)
        })
    }

    fn _split_points<'py>(&self, py: Python<'py>, parts: usize) -> PyResult<Object<'py>> {
        with!(self, map => self.guarded(|| map.split_points(py, parts)))
    }

    // ---- the whole ----

    /// All entries as a stream of Arrow's, in a capsule.
    fn _arrow_stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        with!(self, map => {
            let copied = self.copied(py, map, Ends::ALL, Direction::Forward, usize::MAX)?;
            export::stream(py, py.detach(|| map.exported(copied))?)
        })
    }

    /// The type of that stream, in a capsule.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export::schema_of(py, with!(self, map => map.formats())?)
    }

    fn _save(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        with!(self, map => self.guarded(|| map.save(py, &path)))
    }

    /// Remove all entries. Other threads may see some gone and others not yet. The memory stays with the
    /// index, for the entries to come.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        with!(self, map => self.change_long(py, map, Map::clear))
    }

    /// Bytes that the index holds for its nodes and long keys.
    #[getter]
    fn nbytes(&self) -> usize {
        with!(self, map => map.memory_bytes())
    }

    /// Bytes of the nodes and long keys that are in use.
    #[getter]
    fn live_nbytes(&self) -> usize {
        with!(self, map => map.live_bytes())
    }

    /// How the tree is built, as a dict: levels, nodes, leaf_fill, splits, restarts; of numbers and times
    /// also bits per word, misled.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (stats, width) = with!(self, map => self.guarded(|| Ok(batch::alone(py, || map.stats()))))?;
        let dict = stats_dict(py, &stats)?;
        if let Some(width) = width {
            dict.set_item("bits", width)?;
            dict.set_item("misled", stats.misled)?;
        }
        Ok(dict)
    }

    /// Raise AssertionError if the tree is broken, which is a bug of this package: for tests, while no other
    /// thread changes the index.
    fn check_invariants(&self, py: Python<'_>) -> PyResult<()> {
        let checked = with!(self, map => self.guarded(|| Ok(batch::alone(py, || map.check_invariants()))))?;
        checked.map_err(|broken| PyAssertionError::new_err(broken.to_string()))
    }
}
