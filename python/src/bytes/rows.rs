//! The class under `latchless.MultiIndex`: keys that map to any number of rows. Keys of a dtype are byte
//! strings of eight bytes here; Python's side converts them.

use super::engine::{Ends, PIECE, until_signal};
use super::keys::{StringColumn, StringType};
use super::strings::Strings;
use crate::asked::{Closed, Ends as Asked};
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
use std::ops::{ControlFlow, Range};
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
    keys: StringType,
    state: AtomicU8,
}

#[pymethods]
impl RowsCore {
    #[new]
    fn new(
        py: Python<'_>,
        text: bool,
        keys: Option<&Bound<'_, StringColumn>>,
        rows: Option<&Object<'_>>,
        sorted: bool,
        fill: f64,
        limit_bytes: Option<usize>,
    ) -> PyResult<Self> {
        let (own, state) = (StringType { is_text: text, is_value: false }, AtomicU8::new(FINE));
        let options = Options { limit_bytes, ..Options::default() };
        let mut index = Box::new(MultiIndex::with_options(options).map_err(refused)?);
        if let Some((keys, rows)) = keys.map(|keys| keys.get()).zip(rows) {
            let strings = keys.keys_of(own)?;
            keys.check_lengths()?;
            let rows = column::input::<u64>(rows)?.beside(strings.len(), "rows")?;
            let (rows, index) = (rows.words(), &mut index);
            let load = || load(index, (strings, rows), sorted, fill);
            guarded(&state, || py.detach(load).map_err(not_loaded))?;
        }
        Ok(Self { index, keys: own, state })
    }

    // ---- one pair ----

    fn __len__(&self) -> usize {
        self.index.len()
    }

    fn _insert(&self, key: &Object<'_>, row: u64) -> PyResult<bool> {
        let key = self.keys.bytes(key)?;
        self.one(|| self.index.insert(key, row))
    }

    fn _remove(&self, key: &Object<'_>, row: u64) -> PyResult<bool> {
        let key = self.keys.bytes(key)?;
        self.one(|| Ok(self.index.remove(key, row)))
    }

    fn _contains(&self, key: &Object<'_>, row: Option<u64>) -> PyResult<bool> {
        let key = self.keys.bytes(key)?;
        self.one(|| {
            Ok(match row {
                Some(row) => self.index.contains(key, row),
                None => self.index.scan_rows(key, |_| ControlFlow::Break(())).is_break(),
            })
        })
    }

    fn _end<'py>(&self, py: Python<'py>, last: bool) -> PyResult<Option<Pair<'py>>> {
        let pair = self.one(|| Ok(if last { self.index.last() } else { self.index.first() }))?;
        pair.map(|(key, row)| Ok((self.keys.object(py, &key)?, row))).transpose()
    }

    // ---- batches ----

    /// The rows of all keys, one after the other, and where those of each key end.
    fn _rows_many<'py>(
        &self,
        py: Python<'py>,
        keys: &Bound<'py, StringColumn>,
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>)> {
        let keys = keys.get().keys_of(self.keys)?;
        guarded(&self.state, || {
            let cuts = batch::cuts(keys.len(), threads);
            let read = |chunk: Range<usize>, found: &mut Found| {
                found.read(&self.index, keys, chunk).map_err(|error| failure::exception(&error))
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

    fn _insert_many(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, StringColumn>,
        rows: &Object<'_>,
    ) -> PyResult<usize> {
        keys.get().check_lengths()?;
        self.change_many(py, keys, rows, |pairs, first, changed| match self.index.insert_many(pairs) {
            Ok(new) => changed.keys += new,
            // If inserts of a batch were refused, the number of new keys isn't reported.
            Err(some) => {
                changed.refused.extend(some.refused.iter().map(|&at| first + at));
                changed.error.get_or_insert(some.error);
            }
        })
    }

    fn _remove_many(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, StringColumn>,
        rows: &Object<'_>,
    ) -> PyResult<usize> {
        self.change_many(py, keys, rows, |pairs, _, changed| {
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
    ) -> PyResult<(StringColumn, Object<'py>)> {
        let (strings, rows) = self.within((low, high, closed), |ends| {
            let copy = || collect(&self.index, ends, reverse, limit.unwrap_or(usize::MAX));
            guarded(&self.state, || py.detach(copy).map_err(failure::undone))
        })?;
        Ok((StringColumn { strings, of: self.keys }, PyArray1::from_vec(py, rows).into_any()))
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
            let index = &self.index;
            // An inverted range is empty.
            let removed = || index.remove_range::<[u8]>(ends).unwrap_or(0);
            let work = || if remove { removed() } else { index.count::<[u8]>(ends) };
            guarded(&self.state, || Ok(batch::alone(py, work)))
        })
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

    /// Does something with a range of keys.
    fn within<T>(
        &self,
        (low, high, closed): Told<'_, '_>,
        work: impl FnOnce(Ends<'_>) -> PyResult<T>,
    ) -> PyResult<T> {
        let Some((low_belongs, high_belongs)) = closed else {
            return self.keys.with_prefix(low, |ends| work(ends.bounds()));
        };
        let low = low.map(|low| self.keys.bytes(low)).transpose()?;
        let high = high.map(|high| self.keys.bytes(high)).transpose()?;
        work(Asked { low, high, closed: Closed { low: low_belongs, high: high_belongs } }.bounds())
    }

    /// Changes the index by a batch: `change` gets the pairs of a chunk, and where that begins.
    fn change_many(
        &self,
        py: Python<'_>,
        keys: &Bound<'_, StringColumn>,
        rows: &Object<'_>,
        change: impl Fn(&[(&[u8], u64)], usize, &mut Changed) + Sync,
    ) -> PyResult<usize> {
        let keys = keys.get().keys_of(self.keys)?;
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
