//! An index whose keys are byte strings, or numbers and times as such, with values of one type.

use super::engine::{BytesEngine, Copies};
use super::grouped::{self, Asked as Grouped, InGroups, Removals};
use super::key_type::{KeyBytes, KeyType};
use super::nearest::{self, Beside};
use super::strings::Strings;
use super::value::{self, Found, Value};
use crate::asked::{Asked, Ends};
use crate::batch::{self, LOOKUPS, Pulse};
use crate::cells::Names;
use crate::column;
use crate::core::Made;
use crate::durable::Folder;
use crate::engine::Undone;
use crate::export::Exported;
use crate::failure;
use crate::gate::Pass;
use crate::kind::Format;
use crate::lookups::Near;
use crate::map::{Answers, Entry, Map, Nearest, Object};
use crate::ranges::RANGES;
use crate::serve::{ClosedOf, Closing, change_in_order, check_ends};
use crate::store::Reach;
use latchless::index::Own;
use latchless::{Broken, Direction, Stats};
use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::iter::repeat_with;
use std::ops::{Bound as End, ControlFlow};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// An index of byte strings, and the types that these and its values have in Python.
pub struct Typed<V: Value> {
    engine: BytesEngine<V>,
    keys: KeyType,
    values: V::Type,
    removals: Removals,
}

impl<V: Value> Typed<V> {
    /// An index, filled from columns or from a file.
    pub fn new(py: Python<'_>, (keys, values): (KeyType, V::Type), made: &Made<'_, '_>) -> PyResult<Self> {
        let engine = BytesEngine::new(made.limit_bytes).map_err(|error| failure::exception(&error))?;
        let mut typed = Self { engine, keys, values, removals: Removals::default() };
        match (made.snapshot, made.columns) {
            (Some(file), _) => {
                let file = file.get().strings()?;
                V::load(file, py, &mut typed.engine, (&typed.keys, &typed.values), made.fill)?;
            }
            (None, Some(columns)) => typed.load(py, columns, (made.sorted, made.fill))?,
            (None, None) => {}
        }
        match made.folder {
            None => Ok(typed),
            Some(folder) => typed.recovered(py, folder.get()),
        }
    }

    /// The same with the log of a folder, and its entries.
    fn recovered(self, py: Python<'_>, folder: &Folder) -> PyResult<Self> {
        let Self { engine, keys, values, removals } = self;
        let names = Names([keys.name().to_owned(), V::name(&values).to_owned()]);
        let engine = BytesEngine { store: folder.recover(py, engine.store, names)? };
        let mut none = None;
        let _ = py.detach(|| {
            let all = (End::Unbounded, End::Unbounded);
            V::show(engine.index(), all, Direction::Forward, |key, value| {
                none = match (keys.has(key), V::is_one(&values, value)) {
                    (true, true) => return ControlFlow::Continue(()),
                    (false, _) => Some(("key", keys.name())),
                    (true, false) => Some(("value", V::name(&values))),
                };
                ControlFlow::Break(())
            })
        });
        match none {
            None => Ok(Self { engine, keys, values, removals }),
            Some((what, name)) => {
                let told = format!("the directory has a {what} that is none of type {name}");
                Err(PyValueError::new_err(told))
            }
        }
    }

    /// Fills an index that no other thread has yet.
    fn load(
        &mut self,
        py: Python<'_>,
        (keys, values): (&Object<'_>, &Object<'_>),
        (sorted, fill): (bool, f64),
    ) -> PyResult<()> {
        let keys = self.keys.batch_to_store(keys)?;
        let given = V::owner(&self.values, values, keys.len())?;
        let (batch, engine) = (V::batch(&given), &mut self.engine);
        let load = || py.detach(|| engine.load(&keys, batch, sorted, fill));
        let loaded = catch_unwind(AssertUnwindSafe(load)).map_err(|panic| failure::panicked(&*panic))?;
        loaded.map_err(failure::undone)
    }
}

impl<V: Value> Map for Typed<V> {
    type Probe<'a> = KeyBytes<'a>;
    type Lent<'a> = V::Taken<'a>;
    type Key = V::Key;
    type Value = V;
    type Columns = Copies<V>;

    #[inline]
    fn key<'a>(&self, key: &'a Object<'_>) -> PyResult<KeyBytes<'a>> {
        self.keys.key(key)
    }

    #[inline]
    fn asked<'a>(&self, key: &'a Object<'_>) -> PyResult<Result<Asked<KeyBytes<'a>>, PyErr>> {
        self.keys.asked(key)
    }

    fn with_prefix<T>(
        &self,
        prefix: Option<&Object<'_>>,
        work: impl FnOnce(Ends<KeyBytes<'_>>) -> PyResult<T>,
    ) -> PyResult<T> {
        self.keys.with_prefix(prefix, work)
    }

    #[inline]
    fn prepared<'py>(&self, value: &Object<'py>) -> PyResult<Object<'py>> {
        V::prepared(&self.values, value)
    }

    #[inline]
    fn value<'a>(&self, value: &'a Object<'_>) -> PyResult<V::Taken<'a>> {
        V::taken(&self.values, value)
    }

    fn key_object<'py>(&self, py: Python<'py>, key: V::Key) -> PyResult<Object<'py>> {
        self.keys.object(py, key.as_ref())
    }

    fn value_object<'py>(&self, py: Python<'py>, value: V) -> PyResult<Object<'py>> {
        V::object(&self.values, py, &value)
    }

    fn columns<'py>(&self, py: Python<'py>, (strings, values): Copies<V>) -> PyResult<Entry<'py>> {
        Ok((self.keys.column(py, strings)?, V::column(&self.values, py, values)?))
    }

    fn exception(&self, undone: Undone) -> PyErr {
        failure::undone(undone)
    }

    fn len(&self) -> usize {
        self.engine.index().len()
    }

    fn memory_bytes(&self) -> usize {
        self.engine.index().memory_bytes()
    }

    fn live_bytes(&self) -> usize {
        self.engine.index().live_bytes()
    }

    fn stats(&self) -> (Stats, Option<u32>) {
        (self.engine.index().stats(), None)
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        self.engine.index().check_invariants()
    }

    #[inline]
    fn get(&self, key: KeyBytes<'_>) -> Option<V> {
        self.engine.index().get(&key)
    }

    #[inline]
    fn contains(&self, key: KeyBytes<'_>) -> bool {
        self.engine.index().contains_key(&key)
    }

    fn end(&self, last: bool) -> Option<(V::Key, V)> {
        if last { self.engine.index().last() } else { self.engine.index().first() }
    }

    fn near(&self, near: Near, key: KeyBytes<'_>) -> Option<(V::Key, V)> {
        match near {
            Near::Floor => self.engine.index().floor(&key),
            Near::Ceiling => self.engine.index().ceiling(&key),
            Near::Lower => self.engine.index().lower(&key),
            Near::Higher => self.engine.index().higher(&key),
        }
    }

    fn nearest(&self, key: KeyBytes<'_>) -> PyResult<Option<(V::Key, V)>> {
        if !self.keys.is_measured(false) {
            return Err(self.keys.no_distance());
        }
        let found = self.engine.nearest(&self.keys, Own::Counts, &[&key]);
        Ok(found.map_err(|error| failure::exception(&error))?.pop().flatten())
    }

    fn rank(&self, key: KeyBytes<'_>) -> usize {
        self.engine.index().rank(&key)
    }

    fn nth(&self, position: usize) -> Option<(V::Key, V)> {
        self.engine.index().nth(position)
    }

    fn count(&self, ends: Ends<KeyBytes<'_>>) -> usize {
        self.engine.index().count(ends.of_bytes())
    }

    fn collect(
        &self,
        ends: Ends<KeyBytes<'_>>,
        direction: Direction,
        limit: usize,
    ) -> Result<Copies<V>, Undone> {
        self.engine.collect(ends.of_bytes(), direction, limit)
    }

    fn reach(&self) -> Reach<'_> {
        self.engine.store.reach()
    }

    fn insert(&self, key: KeyBytes<'_>, value: V::Taken<'_>) -> Result<(), Undone> {
        self.engine.store.insert(&key, value).map(drop)
    }

    fn remove(&self, key: KeyBytes<'_>) -> Result<Option<V>, Undone> {
        let _removal = self.removals.begin();
        self.engine.store.remove(&key)
    }

    fn pop(&self, last: bool) -> Result<Option<(V::Key, V)>, Undone> {
        let _removal = self.removals.begin();
        self.engine.store.pop(last)
    }

    fn get_or_insert(&self, key: KeyBytes<'_>, value: V::Taken<'_>) -> Result<V, Undone> {
        self.engine.store.get_or_insert(&key, value)
    }

    fn replace(&self, key: KeyBytes<'_>, value: V::Taken<'_>) -> Result<Option<V>, Undone> {
        self.engine.store.replace(&key, value)
    }

    fn compare_exchange<'v>(
        &self,
        key: KeyBytes<'_>,
        expected: V::Taken<'v>,
        value: V::Taken<'v>,
    ) -> Result<bool, Undone> {
        self.engine.store.compare_exchange(&key, [expected, value])
    }

    fn compare_remove(&self, key: KeyBytes<'_>, expected: V::Taken<'_>) -> Result<bool, Undone> {
        let _removal = self.removals.begin();
        self.engine.store.compare_remove(&key, expected)
    }

    fn remove_range(&self, ends: Ends<KeyBytes<'_>>) -> Result<usize, Undone> {
        let _removal = self.removals.begin();
        match (ends.low.as_deref(), ends.high.as_deref()) {
            // An inverted range is empty, and one between a key and itself.
            (Some(low), Some(high)) if low > high => Ok(0),
            (Some(low), Some(high)) if low == high && !(ends.closed.low && ends.closed.high) => Ok(0),
            _ => self.engine.store.remove_range(ends.of_bytes()),
        }
    }

    fn clear(&self) -> Result<(), Undone> {
        let _removal = self.removals.begin();
        self.engine.store.clear()
    }

    fn get_many<'py>(
        &self,
        keys: &Object<'py>,
        missing: &Object<'py>,
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>)> {
        let (py, keys) = (keys.py(), self.keys.batch(keys)?);
        let cuts = batch::cuts(keys.len(), threads);
        let states = repeat_with(Found::<V>::default);
        let (parts, failed) = batch::run_with(py, (&cuts, LOOKUPS), states, |chunk, answers| {
            let mut kept = Ok(());
            self.engine.index().get_each(&keys.read(chunk), |_, value| {
                if kept.is_ok() {
                    kept = answers.push(value);
                }
            });
            kept.map_err(|error| failure::exception(&error))
        });
        failed.map_or(Ok(()), Err)?;
        let answers: Vec<_> = parts.into_iter().map(|part| part.state).collect();
        let found = value::flags(py, &answers)?;
        Ok((V::answers(&self.values, answers, missing)?, found))
    }

    fn get_many_into(
        &self,
        keys: &Object<'_>,
        values: Option<(&Object<'_>, &Object<'_>)>,
        found: &Object<'_>,
        threads: usize,
    ) -> PyResult<()> {
        if values.is_some() {
            return Err(PyTypeError::new_err("values under strings are copied from the answers"));
        }
        let strings = self.keys.batch(keys)?;
        let found = column::flags(found, strings.len())?;
        let (found, cuts) = (found.words(), batch::cuts(strings.len(), threads));
        let (_, failed) = batch::run_with(keys.py(), (&cuts, LOOKUPS), repeat_with(|| ()), |chunk, ()| {
            let start = chunk.start;
            let asked = strings.read(chunk);
            self.engine.index().get_each(&asked, |at, value| found.store(start + at, value.is_some()));
            Ok(())
        });
        failed.map_or(Ok(()), Err)
    }

    fn near_many<'py>(
        &self,
        keys: &Object<'py>,
        asked: Nearest<'_>,
        missing: (&Object<'py>, &Object<'py>),
    ) -> PyResult<Answers<'py>> {
        let (keys, answers) = nearest::near_many(&self.engine, (&self.keys, keys), asked, missing.0)?;
        let found = value::flags(missing.0.py(), &answers)?;
        Ok((keys, V::answers(&self.values, answers, missing.1)?, found))
    }

    fn near_in_groups<'py>(
        &self,
        asked: Grouped<'_, 'py>,
        question: Nearest<'_>,
        missing: (u64, &Object<'py>),
    ) -> PyResult<Option<InGroups<'py>>> {
        let KeyType::Tuples(of) = &self.keys else { return Ok(None) };
        let index = (&self.engine, &self.removals);
        grouped::near_in_groups(index, (of.get(), &self.values), asked, question, missing)
    }

    fn insert_many(&self, keys: &Object<'_>, values: &Object<'_>, _: usize) -> PyResult<usize> {
        let (py, keys) = (keys.py(), self.keys.batch_to_store(keys)?);
        let given = V::owner(&self.values, values, keys.len())?;
        let batch = V::batch(&given);
        // Of equal keys the last one stays: one thread inserts them in their order.
        change_in_order(py, (keys.len(), 1), self.reach().chunk(), |chunk, changed| {
            self.engine.insert_chunk(&keys, batch, chunk, changed).map_err(failure::undone)
        })
    }

    fn remove_many(&self, keys: &Object<'_>, threads: usize) -> PyResult<usize> {
        let (py, keys) = (keys.py(), self.keys.batch(keys)?);
        change_in_order(py, (keys.len(), threads), self.reach().chunk(), |chunk, changed| {
            let _removal = self.removals.begin();
            self.engine.remove_chunk(&keys, chunk, changed).map_err(failure::undone)
        })
    }

    fn range_many<'py>(
        &self,
        lows: &Object<'py>,
        highs: &Object<'py>,
        closed: ClosedOf<'py>,
    ) -> PyResult<Answers<'py>> {
        let (py, lows, highs) = (lows.py(), self.keys.batch(lows)?, self.keys.batch(highs)?);
        check_ends(lows.len(), highs.len())?;
        let closing = Closing::new(closed, lows.len())?;
        let closes = closing.closes();
        let copied = py.detach(|| -> Result<_, Undone> {
            let (mut ends, mut copied, mut pulse) = (vec![0], Copies::<V>::default(), Pulse::new());
            for at in 0..lows.len() {
                let range =
                    Ends { low: Some(lows.get(at)), high: Some(highs.get(at)), closed: closes.at(at) };
                let all = (Direction::Forward, usize::MAX);
                self.engine.append(range.bounds(), all, &mut copied, &mut pulse)?;
                ends.push(copied.0.len() as i64);
                if at % RANGES == 0 {
                    pulse.check()?;
                }
            }
            Ok((ends, copied))
        });
        let (ends, copied) = copied.map_err(failure::undone)?;
        let (keys, values) = self.columns(py, copied)?;
        Ok((PyArray1::from_vec(py, ends).into_any(), keys, values))
    }

    fn count_many(
        &self,
        (lows, highs): (&Object<'_>, &Object<'_>),
        closed: ClosedOf<'_>,
        counts: &Object<'_>,
    ) -> PyResult<()> {
        let (py, lows, highs) = (lows.py(), self.keys.batch(lows)?, self.keys.batch(highs)?);
        check_ends(lows.len(), highs.len())?;
        let closing = Closing::new(closed, lows.len())?;
        let closes = closing.closes();
        let counts = column::output::<u64>(counts, lows.len())?;
        let counts = counts.words();
        let (_, failed) = batch::run_with(py, (&[0, lows.len()], RANGES), [()], |chunk, ()| {
            for at in chunk {
                let range =
                    Ends { low: Some(lows.get(at)), high: Some(highs.get(at)), closed: closes.at(at) };
                counts.store(at, self.engine.index().count(range.bounds()) as u64);
            }
            Ok(())
        });
        failed.map_or(Ok(()), Err)
    }

    fn rank_many(&self, keys: &Object<'_>, ranks: &Object<'_>) -> PyResult<()> {
        let (py, keys) = (keys.py(), self.keys.batch(keys)?);
        let ranks = column::output::<u64>(ranks, keys.len())?;
        let ranks = ranks.words();
        // One pass over the index: from each key to the next one in their order.
        let ranked = py.detach(|| -> Result<(), Undone> {
            let pulse = &mut Pulse::new();
            let (mut rank, mut from) = (0, End::Unbounded);
            for at in keys.sorted(pulse)? {
                let key = keys.get(at);
                {
                    let _pass = Pass::new();
                    rank += self.engine.index().count((from, End::Excluded(key)));
                }
                ranks.store(at, rank as u64);
                from = End::Included(key);
                pulse.check()?;
            }
            Ok(())
        });
        ranked.map_err(failure::undone)
    }

    fn split_points<'py>(&self, py: Python<'py>, parts: usize) -> PyResult<Object<'py>> {
        let keys = batch::alone(py, || self.engine.index().split_points(parts));
        let mut strings = Strings::default();
        let copied = keys.iter().try_for_each(|key| strings.push(key.as_ref()));
        copied.map_err(|error| failure::exception(&error))?;
        self.keys.column(py, strings)
    }

    fn exported(&self, (keys, values): Copies<V>) -> PyResult<(usize, [Exported; 2])> {
        let rows = keys.len();
        Ok((rows, [self.keys.exported(keys)?, V::arrow_column(&self.values, values)?]))
    }

    fn formats(&self) -> PyResult<[Format; 2]> {
        Ok([self.keys.format()?, V::arrow_format(&self.values)?])
    }

    fn save(&self, py: Python<'_>, path: &Path) -> PyResult<u64> {
        V::save(py, &self.engine, (&self.keys, &self.values), path)
    }
}
