//! The class under `latchless.MultiIndex`: keys that map to any number of rows.

use super::engine::{Ends, PIECE, until_signal};
use super::key_type::{BatchKeys, KeyBytes, KeyOf, KeyType};
use super::strings::Strings;
use crate::asked::{Asked, Ends as Between, no_key_of_a_dict};
use crate::batch::{self, CHUNK, Pulse};
use crate::column::{self, Fresh, Words};
use crate::engine::Undone;
use crate::failure;
use crate::gate::Pass;
use crate::map::{Object, Told};
use crate::serve::{FINE, change_in_order, guarded, one, stats_dict};
use crate::sort::{reserve, room};
use crate::updates::Changed;
use latchless::bytes::MultiIndex;
use latchless::index::Options;
use latchless::{Error, FillFactor, Result};
use numpy::PyArray1;
use pyo3::exceptions::{PyAssertionError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::iter::repeat_with;
use std::ops::{Bound as Bounded, ControlFlow, Range};
use std::sync::atomic::{AtomicU8, AtomicU64};

/// Row numbers of a caller's array.
type RowWords<'a> = Words<'a, AtomicU64>;
/// A pair of a key and a row.
type Pair<'py> = (Object<'py>, u64);

/// Keys in any number of rows. Not for users: `latchless.MultiIndex` is.
#[pyclass(subclass, frozen, weakref, module = "latchless._latchless")]
pub struct RowsCore {
    /// In a box, because an index is aligned as lines of the cache are, and Python's objects aren't.
    index: Box<MultiIndex<Vec<u8>>>,
    keys: KeyType,
    state: AtomicU8,
}

#[pymethods]
impl RowsCore {
    #[new]
    fn new(
        py: Python<'_>,
        key: KeyOf,
        keys: Option<&Object<'_>>,
        rows: Option<&Object<'_>>,
        sorted: bool,
        fill: f64,
        limit_bytes: Option<usize>,
    ) -> PyResult<Self> {
        let (own, state) = (KeyType::new(key)?, AtomicU8::new(FINE));
        let options = Options { limit_bytes, ..Options::default() };
        let mut index = Box::new(MultiIndex::with_options(options).map_err(refused)?);
        if let Some((keys, rows)) = keys.zip(rows) {
            let strings = own.batch_to_store(keys)?;
            let rows = column::input::<u64>(rows)?.beside(strings.len(), "rows")?;
            let (rows, index) = (rows.words(), &mut index);
            let load = || load(index, (&strings, rows), sorted, fill);
            guarded(&state, || py.detach(load).map_err(not_loaded))?;
        }
        Ok(Self { index, keys: own, state })
    }

    // ---- one pair ----

    fn __len__(&self) -> usize {
        self.index.len()
    }

    fn _insert(&self, key: &Object<'_>, row: u64) -> PyResult<bool> {
        let key = self.keys.key(key)?;
        self.one(|| self.index.insert(&*key, row))
    }

    fn _remove(&self, key: &Object<'_>, row: u64) -> PyResult<bool> {
        let Some(key) = self.sought(key)? else { return Ok(false) };
        self.one(|| Ok(self.index.remove(&*key, row)))
    }

    fn _contains(&self, key: &Object<'_>, row: Option<u64>) -> PyResult<bool> {
        let Some(key) = self.sought(key)? else { return Ok(false) };
        self.one(|| {
            Ok(match row {
                Some(row) => self.index.contains(&*key, row),
                None => self.index.contains_key(&*key),
            })
        })
    }

    /// The rows of a key.
    fn _rows<'py>(&self, key: &Object<'py>, reverse: bool, limit: Option<usize>) -> PyResult<Object<'py>> {
        let (py, key) = (key.py(), self.sought(key)?);
        let rows = match &key {
            None => Vec::new(),
            Some(key) => {
                let ends = (Bounded::Included(&**key), Bounded::Included(&**key));
                self.copied(py, ends, reverse, limit)?.1
            }
        };
        Ok(PyArray1::from_vec(py, rows).into_any())
    }

    /// Removes all rows of a key, and returns how many there were.
    fn _remove_all(&self, py: Python<'_>, key: &Object<'_>) -> PyResult<usize> {
        let Some(key) = self.sought(key)? else { return Ok(0) };
        guarded(&self.state, || Ok(batch::alone(py, || self.index.remove_all(&*key))))
    }

    fn _end<'py>(&self, py: Python<'py>, last: bool) -> PyResult<Option<Pair<'py>>> {
        let pair = self.one(|| Ok(if last { self.index.last() } else { self.index.first() }))?;
        pair.map(|(key, row)| Ok((self.keys.object(py, &key)?, row))).transpose()
    }

    // ---- batches ----

    /// The rows of all keys, one after the other, and where those of each key end.
    fn _rows_many<'py>(&self, keys: &Object<'py>, threads: usize) -> PyResult<(Object<'py>, Object<'py>)> {
        let (py, keys) = (keys.py(), self.keys.batch(keys)?);
        guarded(&self.state, || {
            let cuts = batch::cuts(keys.len(), threads);
            let read = |chunk: Range<usize>, found: &mut Found| {
                found.read(&self.index, &keys, chunk).map_err(|error| failure::exception(&error))
            };
            let (parts, failed) = batch::run_with(py, (&cuts, CHUNK), repeat_with(Found::default), read);
            failed.map_or(Ok(()), Err)?;
            let found: Vec<Found> = parts.into_iter().map(|part| part.state).collect();
            let count = found.iter().map(|found| found.rows.len()).sum();
            let (mut rows, mut ends) = (Fresh::<u64>::new(py, count)?, Fresh::<i64>::new(py, keys.len())?);
            let all = found.iter().flat_map(|found| &found.rows);
            rows.places().iter_mut().zip(all).for_each(|(to, &row)| _ = to.write(row));
            let mut end = 0;
            for (to, &count) in ends.places().iter_mut().zip(found.iter().flat_map(|found| &found.counts)) {
                end += count as i64;
                to.write(end);
            }
            Ok((rows.into_any(), ends.into_any()))
        })
    }

    fn _insert_many(&self, keys: &Object<'_>, rows: &Object<'_>) -> PyResult<usize> {
        self.change_many(keys.py(), self.keys.batch_to_store(keys)?, rows, |pairs, first, changed| match self
            .index
            .insert_many(pairs)
        {
            Ok(new) => changed.keys += new,
            // If inserts of a batch were refused, the number of new keys isn't reported.
            Err(some) => {
                changed.refused.extend(some.refused.iter().map(|&at| first + at));
                changed.error.get_or_insert(some.error);
            }
        })
    }

    fn _remove_many(&self, keys: &Object<'_>, rows: &Object<'_>) -> PyResult<usize> {
        self.change_many(keys.py(), self.keys.batch(keys)?, rows, |pairs, _, changed| {
            changed.keys += pairs.iter().filter(|(key, row)| self.index.remove(*key, *row)).count();
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
    ) -> PyResult<(Object<'py>, Object<'py>)> {
        let copied = self.within((low, high, closed), |ends| self.copied(py, ends, reverse, limit))?;
        let (strings, rows) = copied.unwrap_or_default();
        Ok((self.keys.column(py, strings)?, PyArray1::from_vec(py, rows).into_any()))
    }

    fn _count(
        &self,
        py: Python<'_>,
        low: Option<&Object<'_>>,
        high: Option<&Object<'_>>,
        closed: Option<(bool, bool)>,
        remove: bool,
    ) -> PyResult<usize> {
        let count = self.within((low, high, closed), |ends| {
            let index = &self.index;
            // An inverted range is empty.
            let removed = || index.remove_range::<[u8]>(ends).unwrap_or(0);
            let work = || if remove { removed() } else { index.count::<[u8]>(ends) };
            guarded(&self.state, || Ok(batch::alone(py, work)))
        })?;
        Ok(count.unwrap_or(0))
    }

    // ---- the whole ----

    /// Remove all pairs. Other threads may see some gone and others not yet. The memory stays with the index,
    /// for the pairs to come.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self._count(py, None, None, Some((true, true)), true).map(drop)
    }

    /// Bytes that the index holds for its nodes and long keys.
    #[getter]
    fn nbytes(&self) -> usize {
        self.index.memory_bytes()
    }

    /// How the tree is built, as a dict: levels, nodes, leaf_fill, splits, restarts.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = guarded(&self.state, || Ok(batch::alone(py, || self.index.stats())))?;
        stats_dict(py, &stats)
    }

    /// Raise AssertionError if the tree is broken, which is a bug of this package: for tests, while no other
    /// thread changes the index.
    fn check_invariants(&self, py: Python<'_>) -> PyResult<()> {
        let checked = guarded(&self.state, || Ok(batch::alone(py, || self.index.check_invariants())))?;
        checked.map_err(|broken| PyAssertionError::new_err(broken.to_string()))
    }
}

impl RowsCore {
    /// Does something with one pair.
    fn one<T>(&self, work: impl FnOnce() -> Result<T>) -> PyResult<T> {
        one(&self.state, work)
    }

    /// The key that a question is, if it can be one. Objects without an order among keys aren't there, as
    /// in a `dict`.
    fn sought<'a>(&self, key: &'a Object<'_>) -> PyResult<Option<KeyBytes<'a>>> {
        match self.keys.asked(key)? {
            Ok(Asked::Key(key)) => Ok(Some(key)),
            Ok(Asked::Between(..) | Asked::Before(_)) => Ok(None),
            Err(_) => no_key_of_a_dict(key).map(|()| None),
        }
    }

    /// Does something with a range; nothing if no key can be in it.
    fn within<T>(
        &self,
        (low, high, closed): Told<'_, '_>,
        work: impl FnOnce(Ends<'_>) -> PyResult<T>,
    ) -> PyResult<Option<T>> {
        let Some(closed) = closed else {
            return self.keys.with_prefix(low, |ends| work(ends.of_bytes())).map(Some);
        };
        let asked = |end: Option<_>| end.map(|end| self.keys.asked(end)?).transpose();
        Between::between(asked(low)?, asked(high)?, closed).map(|ends| work(ends.of_bytes())).transpose()
    }

    /// Copies of the pairs of a range.
    fn copied(
        &self,
        py: Python<'_>,
        ends: Ends<'_>,
        reverse: bool,
        limit: Option<usize>,
    ) -> PyResult<(Strings, Vec<u64>)> {
        let copy = || collect(&self.index, ends, reverse, limit.unwrap_or(usize::MAX));
        guarded(&self.state, || py.detach(copy).map_err(failure::undone))
    }

    /// Changes the index by a batch: `change` gets the pairs of a chunk, and where that begins.
    fn change_many(
        &self,
        py: Python<'_>,
        keys: BatchKeys<'_>,
        rows: &Object<'_>,
        change: impl Fn(&[(&[u8], u64)], usize, &mut Changed) + Sync,
    ) -> PyResult<usize> {
        let rows = column::input::<u64>(rows)?.beside(keys.len(), "rows")?;
        let rows = rows.words();
        let change = |chunk: Range<usize>, changed: &mut Changed| {
            let first = chunk.start;
            let pairs: Vec<_> = chunk.map(|at| (keys.get(at), rows.load(at))).collect();
            change(&pairs, first, changed);
        };
        guarded(&self.state, || change_in_order(py, (keys.len(), 1), change))
    }
}

fn refused(error: Error) -> PyErr {
    failure::exception(&error)
}

/// The exception for pairs that weren't loaded: they differ where keys needn't.
fn not_loaded(undone: Undone) -> PyErr {
    match undone {
        Undone::Refused(Error::DuplicateKey { position }) => PyValueError::new_err(format!(
            "with assume_sorted=True pairs must differ, but the one at position {position} equals the one before it"
        )),
        Undone::Refused(Error::Unsorted { position }) => PyValueError::new_err(format!(
            "with assume_sorted=True keys must ascend, and the rows of a key, but the pair at position {position} is \
             smaller than the one before it"
        )),
        undone => failure::undone(undone),
    }
}

/// Fills the empty index. In any order: pairs that come more than once are there once. A signal can end it.
fn load(
    index: &mut MultiIndex<Vec<u8>>,
    (keys, rows): (&Strings, RowWords<'_>),
    sorted: bool,
    fill: f64,
) -> Result<(), Undone> {
    let (fill, pulse) = (FillFactor::new(fill)?, &mut Pulse::new());
    // Other threads may write the caller's array: the rows that are sorted are those that are loaded.
    let mut copied = room(keys.len())?;
    copied.extend((0..keys.len()).map(|at| rows.load(at)));
    if sorted {
        return load_in_order(index, (keys, &copied), 0..keys.len(), fill, pulse);
    }
    let mut order = keys.sorted(pulse)?;
    for run in order.chunk_by_mut(|&one, &next| keys.get(one) == keys.get(next)) {
        run.sort_unstable_by_key(|&at| copied[at]);
    }
    order.dedup_by(|one, other| keys.get(*one) == keys.get(*other) && copied[*one] == copied[*other]);
    pulse.check()?;
    load_in_order(index, (keys, &copied), order.into_iter(), fill, pulse)
}

/// Fills the empty index with the pairs at these places.
fn load_in_order(
    index: &mut MultiIndex<Vec<u8>>,
    (keys, rows): (&Strings, &[u64]),
    places: impl Iterator<Item = usize>,
    fill: FillFactor,
    pulse: &mut Pulse,
) -> Result<(), Undone> {
    let mut stopped = None;
    let places = until_signal(places, pulse, &mut stopped);
    index.bulk_load(places.map(|at| (keys.get(at), rows[at])), fill)?;
    stopped.map_or(Ok(()), |raised| Err(raised.into()))
}

/// The rows of some keys, and how many each has.
#[derive(Debug, Default)]
struct Found {
    rows: Vec<u64>,
    counts: Vec<usize>,
}

impl Found {
    fn read(&mut self, index: &MultiIndex<Vec<u8>>, keys: &Strings, chunk: Range<usize>) -> Result<()> {
        reserve(&mut self.counts, chunk.len())?;
        for at in chunk {
            let (before, mut refused) = (self.rows.len(), Ok(()));
            let _ = index.scan_rows(keys.get(at), |row| {
                refused = reserve(&mut self.rows, 1);
                if refused.is_err() {
                    return ControlFlow::Break(());
                }
                self.rows.push(row);
                ControlFlow::Continue(())
            });
            refused?;
            self.counts.push(self.rows.len() - before);
        }
        Ok(())
    }
}

/// The pairs of a range, at most `limit`, from its low end or from its high end.
fn collect(
    index: &MultiIndex<Vec<u8>>,
    ends: Ends<'_>,
    reverse: bool,
    limit: usize,
) -> Result<(Strings, Vec<u64>), Undone> {
    let (mut keys, mut rows, mut pulse) = (Strings::default(), Vec::new(), Pulse::new());
    let mut pairs = index.range::<[u8]>(ends);
    while rows.len() < limit {
        let most = rows.len().saturating_add(PIECE).min(limit);
        let is_all = {
            let _pass = Pass::new();
            loop {
                if rows.len() == most {
                    break false;
                }
                let Some((key, row)) = (if reverse { pairs.next_back() } else { pairs.next() }) else {
                    break true;
                };
                keys.push(&key)?;
                reserve(&mut rows, 1)?;
                rows.push(row);
            }
        };
        if is_all {
            break;
        }
        pulse.check()?;
    }
    Ok((keys, rows))
}
