//! The class under `latchless.MultiIndex`: keys that map to any number of rows.

use super::engine::Ends;
use super::key_type::{BatchKeys, KeyBytes, KeyOf, KeyType};
use super::nearest;
use super::pairs::{self, Found, Pairs};
use super::snapshot as files;
use super::strings::Strings;
use super::value;
use crate::asked::{Asked, Ends as Between, no_key_of_a_dict};
use crate::batch::{self, CHUNK, Pulse};
use crate::column::{self, Fresh};
use crate::engine::Undone;
use crate::failure;
use crate::gate::Pass;
use crate::lookups::Near;
use crate::map::{Answers, Nearest, Object, Told};
use crate::serve::{ClosedOf, Closing, FINE, change_in_order, check_ends, guarded, one, stats_dict};
use crate::snapshot::Snapshot;
use crate::updates::Changed;
use latchless::bytes::MultiIndex;
use latchless::index::Options;
use latchless::{Error, Result};
use numpy::PyArray1;
use pyo3::exceptions::PyAssertionError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::iter::repeat_with;
use std::ops::{Bound as Bounded, Range};
use std::path::PathBuf;
use std::sync::atomic::AtomicU8;

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
    #[pyo3(signature = (key, keys, rows, sorted, fill, limit_bytes, snapshot=None))]
    #[expect(clippy::too_many_arguments, reason = "Python's side passes them by position, once")]
    fn new(
        py: Python<'_>,
        key: KeyOf,
        keys: Option<&Object<'_>>,
        rows: Option<&Object<'_>>,
        sorted: bool,
        fill: f64,
        limit_bytes: Option<usize>,
        snapshot: Option<&Bound<'_, Snapshot>>,
    ) -> PyResult<Self> {
        let (own, state) = (KeyType::new(py, key)?, AtomicU8::new(FINE));
        let options = Options { limit_bytes, ..Options::default() };
        let mut index = Box::new(MultiIndex::with_options(options).map_err(refused)?);
        if let Some((keys, rows)) = keys.zip(rows) {
            let strings = own.batch_to_store(keys)?;
            let rows = column::input::<u64>(rows)?.beside(strings.len(), "rows")?;
            let (rows, index) = (rows.words(), &mut index);
            let load = || pairs::load(index, (&strings, rows), sorted, fill);
            guarded(&state, || py.detach(load).map_err(pairs::not_loaded))?;
        }
        if let Some(file) = snapshot {
            files::load_pairs(file.get().rows()?, py, &mut index, &own, fill)?;
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

    fn _end<'py>(&self, py: Python<'py>, last: bool, remove: bool) -> PyResult<Option<Pair<'py>>> {
        let pair = self.one(|| {
            Ok(match (last, remove) {
                (false, false) => self.index.first(),
                (true, false) => self.index.last(),
                (false, true) => self.index.pop_first(),
                (true, true) => self.index.pop_last(),
            })
        });
        self.pair(py, pair?)
    }

    /// The last row of the greatest key that is equal or smaller, as (key, row), or None.
    fn floor<'py>(&self, key: &Object<'py>) -> PyResult<Option<Pair<'py>>> {
        self.near(Near::Floor, key)
    }

    /// The first row of the smallest key that is equal or larger, as (key, row), or None.
    fn ceiling<'py>(&self, key: &Object<'py>) -> PyResult<Option<Pair<'py>>> {
        self.near(Near::Ceiling, key)
    }

    /// The last row of the greatest smaller key, as (key, row), or None.
    fn lower<'py>(&self, key: &Object<'py>) -> PyResult<Option<Pair<'py>>> {
        self.near(Near::Lower, key)
    }

    /// The first row of the smallest larger key, as (key, row), or None.
    fn higher<'py>(&self, key: &Object<'py>) -> PyResult<Option<Pair<'py>>> {
        self.near(Near::Higher, key)
    }

    /// How many different keys there are. The time is that of going over those that have few rows; of others most
    /// rows are passed over.
    fn distinct_keys(&self, py: Python<'_>) -> PyResult<usize> {
        guarded(&self.state, || Ok(batch::alone(py, || self.index.distinct_keys())))
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

    fn _near_many<'py>(
        &self,
        question: (String, bool, Option<u64>, bool),
        keys: &Object<'py>,
        missing: (Object<'py>, u64),
        threads: usize,
    ) -> PyResult<Answers<'py>> {
        let (direction, exact, farthest, grouped) = question;
        let asked = Nearest { direction: &direction, exact, farthest, grouped, threads };
        guarded(&self.state, || {
            let (keys, found) = nearest::near_many(&*self.index, (&self.keys, keys), asked, &missing.0)?;
            let flags = value::flags(keys.py(), &found)?;
            Ok((keys, value::words(missing.0.py(), &found, missing.1)?, flags))
        })
    }

    fn _range_many<'py>(
        &self,
        lows: &Object<'py>,
        highs: &Object<'py>,
        closed: ClosedOf<'py>,
    ) -> PyResult<Answers<'py>> {
        let (py, mut ends) = (lows.py(), vec![0]);
        let copied = self.in_ranges((lows, highs), closed, |ranges| {
            let (mut copied, mut pulse) = (Pairs::default(), Pulse::new());
            for range in ranges {
                pairs::append(&self.index, range.bounds(), (false, usize::MAX), &mut copied, &mut pulse)?;
                ends.push(copied.1.len() as i64);
                pulse.check()?;
            }
            Ok(copied)
        });
        let (strings, rows) = copied?;
        let keys = self.keys.column(py, strings)?;
        Ok((PyArray1::from_vec(py, ends).into_any(), keys, PyArray1::from_vec(py, rows).into_any()))
    }

    fn _count_many(
        &self,
        lows: &Object<'_>,
        highs: &Object<'_>,
        closed: ClosedOf<'_>,
        counts: &Object<'_>,
    ) -> PyResult<()> {
        let counts = column::output::<u64>(counts, lows.len()?)?;
        let counts = counts.words();
        self.in_ranges((lows, highs), closed, |ranges| {
            let mut pulse = Pulse::new();
            for (at, range) in ranges.enumerate() {
                {
                    let _pass = Pass::new();
                    counts.store(at, self.index.count::<[u8]>(range.bounds()) as u64);
                }
                pulse.check()?;
            }
            Ok(())
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

    fn _save(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        guarded(&self.state, || files::save_pairs(py, &self.index, &self.keys, &path))
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

    fn pair<'py>(&self, py: Python<'py>, pair: Option<(Vec<u8>, u64)>) -> PyResult<Option<Pair<'py>>> {
        pair.map(|(key, row)| Ok((self.keys.object(py, &key)?, row))).transpose()
    }

    /// The neighbour of a question.
    fn near<'py>(&self, near: Near, key: &Object<'py>) -> PyResult<Option<Pair<'py>>> {
        let Some((near, asked)) = self.keys.asked(key)??.near(near) else { return Ok(None) };
        let pair = self.one(|| Ok(nearest::pair_beside(&self.index, near, &asked)))?;
        self.pair(key.py(), pair)
    }

    /// Does something with many ranges, without the interpreter's lock.
    fn in_ranges<T: Send>(
        &self,
        (lows, highs): (&Object<'_>, &Object<'_>),
        closed: ClosedOf<'_>,
        work: impl FnOnce(&mut dyn Iterator<Item = Between<&[u8]>>) -> Result<T, Undone> + Send,
    ) -> PyResult<T> {
        let (py, lows, highs) = (lows.py(), self.keys.batch(lows)?, self.keys.batch(highs)?);
        check_ends(lows.len(), highs.len())?;
        let closing = Closing::new(closed, lows.len())?;
        let closes = closing.closes();
        guarded(&self.state, || {
            let done = py.detach(|| {
                let range = |at| Between {
                    low: Some(lows.get(at)),
                    high: Some(highs.get(at)),
                    closed: closes.at(at),
                };
                work(&mut (0..lows.len()).map(range))
            });
            done.map_err(failure::undone)
        })
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
        let copy = || {
            let (mut copied, most) = (Pairs::default(), limit.unwrap_or(usize::MAX));
            pairs::append(&self.index, ends, (reverse, most), &mut copied, &mut Pulse::new()).map(|()| copied)
        };
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
            Ok(())
        };
        guarded(&self.state, || change_in_order(py, (keys.len(), 1), CHUNK, change))
    }
}

fn refused(error: Error) -> PyErr {
    failure::exception(&error)
}
