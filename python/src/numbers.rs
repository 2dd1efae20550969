//! An index whose keys and values are numbers and times, as words of one width.

use crate::asked::{Asked, Ends};
use crate::cells::Cells;
use crate::column::{self, Fresh, Words};
use crate::core::Made;
use crate::dtype::KeyDtype;
use crate::engine::{Engine, NoKey, Undone};
use crate::export::{self, Exported};
use crate::gate::Pass;
use crate::kind::{Format, Kind};
use crate::lane::Lane;
use crate::lookups::{Near, Places, Question, Reading};
use crate::map::{Answers, Entry, Map, Nearest, Object};
use crate::ranges::{RANGES, words};
use crate::serve::{ClosedOf, Closing, check_ends};
use crate::store::Reach;
use crate::updates::{Changed, Sequence};
use crate::{batch, failure, snapshot};
use latchless::{Broken, Direction, Stats};
use numpy::PyArray1;
use pyo3::prelude::*;
use std::iter::repeat_with;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Words of a caller's array.
type Of<'a, B> = Words<'a, <B as Lane>::Atomic>;
/// The ends of ranges.
type End<'py, B> = column::Column<'py, <B as Lane>::Atomic>;

/// An index of words, and the dtypes that these are of.
pub struct Numbers<B: Lane> {
    /// The index.
    pub engine: Engine<B>,
    keys: KeyDtype,
    values: Kind,
}

impl<B: Lane> Numbers<B> {
    /// An index, filled from columns or from a file, with the log of a folder if there is one.
    pub fn new(py: Python<'_>, (keys, values): (KeyDtype, Kind), made: &Made<'_, '_>) -> PyResult<Self> {
        let engine = Engine::<B>::new(keys.kind.order(), made.limit_bytes);
        let mut engine = engine.map_err(|error| failure::exception(&error))?;
        match made.snapshot {
            Some(snapshot) => snapshot.get().load(py, &mut engine, (&keys.kind, &values), made.fill)?,
            None => load(py, &mut engine, &keys.kind, made)?,
        }
        if let Some(folder) = made.folder {
            engine.store = folder.get().recover(py, engine.store, Cells::new(&keys.kind, &values))?;
        }
        Ok(Self { engine, keys, values })
    }

    fn no_key(&self, no_key: NoKey) -> PyErr {
        self.keys.no_key(no_key)
    }

    /// An error if one of the words is no key. A long batch is looked through without the interpreter's
    /// lock.
    fn checked(&self, py: Python<'_>, keys: Of<'_, B>) -> PyResult<()> {
        let engine = &self.engine;
        let checked =
            if keys.len() > batch::CHUNK { py.detach(|| engine.check(keys)) } else { engine.check(keys) };
        checked.map_err(|undone| self.exception(undone))
    }

    /// Reads a batch: calls `read` for its chunks, with room for the answers of each, and returns these; no
    /// keys if none are wanted.
    fn read<'py>(
        &self,
        keys: &Object<'py>,
        (with_keys, threads): (bool, usize),
        read: impl Fn(Of<'_, B>, Range<usize>, &mut Reading<'_, B>) -> Result<(), NoKey> + Sync,
    ) -> PyResult<Answers<'py>> {
        let (py, keys) = (keys.py(), column::input::<B>(keys)?);
        let words = keys.words();
        let len = words.len();
        let mut found_keys = Fresh::<B>::new(py, if with_keys { len } else { 0 })?;
        let (mut values, mut found) = (Fresh::<B>::new(py, len)?, Fresh::<bool>::new(py, len)?);
        let cuts = batch::cuts(len, threads);
        if cuts.len() > 2 {
            // A single thread finds the first word that is no key itself.
            self.checked(py, words)?;
        }
        let no_cuts = vec![0; cuts.len()];
        let key_places = Places::cut(found_keys.places(), if with_keys { &cuts } else { &no_cuts });
        let places = Places::cut(values.places(), &cuts).into_iter().zip(Places::cut(found.places(), &cuts));
        let states = key_places.into_iter().zip(places).map(Reading::new);
        let (_, failed) = batch::run_with(py, (&cuts, batch::LOOKUPS), states, |chunk, reading| {
            read(words, chunk, reading).map_err(|no_key| self.no_key(no_key))
        });
        failed.map_or(Ok(()), Err)?;
        Ok((found_keys.into_any(), values.into_any(), found.into_any()))
    }

    /// Two columns with the ends of ranges, of one length.
    fn ends<'py>(lows: &Object<'py>, highs: &Object<'py>) -> PyResult<(End<'py, B>, End<'py, B>)> {
        let (lows, highs) = (column::input::<B>(lows)?, column::input::<B>(highs)?);
        check_ends(lows.words().len(), highs.words().len())?;
        Ok((lows, highs))
    }
}

/// Fills an index that no other thread has yet.
fn load<B: Lane>(py: Python<'_>, engine: &mut Engine<B>, kind: &Kind, made: &Made<'_, '_>) -> PyResult<()> {
    let Some((keys, values)) = made.columns else { return Ok(()) };
    let keys = column::input::<B>(keys)?;
    let values = column::input::<B>(values)?.beside(keys.words().len(), "values")?;
    let (keys, values, sorted, fill) = (keys.words(), values.words(), made.sorted, made.fill);
    let loaded = catch_unwind(AssertUnwindSafe(|| py.detach(|| engine.load(keys, values, sorted, fill))));
    let loaded = loaded.map_err(|panic| failure::panicked(&*panic))?;
    loaded.map_err(|undone| undone_exception(kind, undone))
}

fn undone_exception(kind: &Kind, undone: Undone) -> PyErr {
    match undone {
        Undone::NoKey(NoKey(at)) => kind.no_key_at(at),
        undone => failure::undone(undone),
    }
}

impl<B: Lane> Map for Numbers<B> {
    type Probe<'a> = B;
    type Lent<'a> = B;
    type Key = B;
    type Value = B;
    type Columns = (Vec<B>, Vec<B>);

    #[inline]
    fn key(&self, key: &Object<'_>) -> PyResult<B> {
        self.keys.key(key)
    }

    #[inline]
    fn asked(&self, key: &Object<'_>) -> PyResult<Result<Asked<B>, PyErr>> {
        self.keys.asked(key)
    }

    fn with_prefix<T>(&self, _: Option<&Object<'_>>, _: impl FnOnce(Ends<B>) -> PyResult<T>) -> PyResult<T> {
        Err(self.keys.no_prefix())
    }

    #[inline]
    fn value(&self, value: &Object<'_>) -> PyResult<B> {
        Ok(B::truncate(self.values.word(value)?))
    }

    #[inline]
    fn key_object<'py>(&self, py: Python<'py>, key: B) -> PyResult<Object<'py>> {
        self.keys.kind.object(py, self.engine.decode(key).to_u64())
    }

    #[inline]
    fn value_object<'py>(&self, py: Python<'py>, value: B) -> PyResult<Object<'py>> {
        self.values.object(py, value.to_u64())
    }

    fn columns<'py>(&self, py: Python<'py>, (keys, values): (Vec<B>, Vec<B>)) -> PyResult<Entry<'py>> {
        Ok((PyArray1::from_vec(py, keys).into_any(), PyArray1::from_vec(py, values).into_any()))
    }

    fn exception(&self, undone: Undone) -> PyErr {
        undone_exception(&self.keys.kind, undone)
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
        (self.engine.index().stats(), Some(8 * size_of::<B>() as u32))
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        self.engine.index().check_invariants()
    }

    #[inline]
    fn get(&self, key: B) -> Option<B> {
        self.engine.index().get(key)
    }

    #[inline]
    fn contains(&self, key: B) -> bool {
        self.engine.index().contains_key(key)
    }

    fn end(&self, last: bool) -> Option<(B, B)> {
        if last { self.engine.index().last() } else { self.engine.index().first() }
    }

    fn near(&self, near: Near, key: B) -> Option<(B, B)> {
        self.engine.near(near, key)
    }

    fn nearest(&self, key: B) -> PyResult<Option<(B, B)>> {
        Ok(self.engine.nearest(key))
    }

    fn rank(&self, key: B) -> usize {
        self.engine.index().rank(key)
    }

    fn nth(&self, position: usize) -> Option<(B, B)> {
        self.engine.index().nth(position)
    }

    fn count(&self, ends: Ends<B>) -> usize {
        words(ends).map_or(0, |range| self.engine.count(range))
    }

    fn collect(&self, ends: Ends<B>, direction: Direction, limit: usize) -> Result<Self::Columns, Undone> {
        match words(ends) {
            None => Ok(Self::Columns::default()),
            Some(range) => Ok(self.engine.collect(range, direction, limit)?),
        }
    }

    fn reach(&self) -> Reach<'_> {
        self.engine.store.reach()
    }

    fn insert(&self, key: B, value: B) -> Result<(), Undone> {
        self.engine.store.insert(key, value).map(drop)
    }

    fn remove(&self, key: B) -> Result<Option<B>, Undone> {
        self.engine.store.remove(key)
    }

    fn pop(&self, last: bool) -> Result<Option<(B, B)>, Undone> {
        self.engine.store.pop(last)
    }

    fn get_or_insert(&self, key: B, value: B) -> Result<B, Undone> {
        self.engine.store.get_or_insert(key, value)
    }

    fn replace(&self, key: B, value: B) -> Result<Option<B>, Undone> {
        self.engine.store.replace(key, value)
    }

    fn compare_exchange<'v>(&self, key: B, expected: B, value: B) -> Result<bool, Undone> {
        self.engine.store.compare_exchange(key, [expected, value])
    }

    fn compare_remove(&self, key: B, expected: B) -> Result<bool, Undone> {
        self.engine.store.compare_remove(key, expected)
    }

    fn remove_range(&self, ends: Ends<B>) -> Result<usize, Undone> {
        // An empty range may be inverted, which is refused.
        words(ends).map_or(Ok(0), |_| self.engine.store.remove_range(ends.bounds()))
    }

    fn clear(&self) -> Result<(), Undone> {
        self.engine.store.clear()
    }

    fn get_many<'py>(
        &self,
        keys: &Object<'py>,
        missing: &Object<'py>,
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>)> {
        let missing = B::truncate(missing.extract()?);
        let get = |words: Of<'_, B>, chunk: Range<usize>, reading: &mut Reading<'_, B>| {
            self.engine.get_chunk(words, chunk, missing, reading)
        };
        let (_, values, found) = self.read(keys, (false, threads), get)?;
        Ok((values, found))
    }

    fn get_many_into(
        &self,
        keys: &Object<'_>,
        values: Option<(&Object<'_>, &Object<'_>)>,
        found: &Object<'_>,
        threads: usize,
    ) -> PyResult<()> {
        let (py, keys) = (keys.py(), column::input::<B>(keys)?);
        let words = keys.words();
        let missing = values.map_or(Ok(0), |(_, missing)| missing.extract())?;
        let values = values.map(|(values, _)| column::output::<B>(values, words.len())).transpose()?;
        let values = values.as_ref().map(column::Column::words);
        let found = column::flags(found, words.len())?;
        let (found, missing) = (found.words(), B::truncate(missing));
        let cuts = batch::cuts(words.len(), threads);
        self.checked(py, words)?;
        let (_, failed) = batch::run::<()>(py, &cuts, |chunk, ()| {
            let done = self.engine.get_chunk_into(words, chunk, missing, (values, found));
            done.map_err(|no_key| self.no_key(no_key))
        });
        failed.map_or(Ok(()), Err)
    }

    fn near_many<'py>(
        &self,
        keys: &Object<'py>,
        asked: Nearest<'_>,
        missing: (&Object<'py>, &Object<'py>),
    ) -> PyResult<Answers<'py>> {
        let missing = (B::truncate(missing.0.extract()?), B::truncate(missing.1.extract()?));
        let question = Question { sides: asked.sides()?, farthest: asked.farthest, missing };
        let near = |words: Of<'_, B>, chunk: Range<usize>, reading: &mut Reading<'_, B>| {
            self.engine.near_chunk(question, words, chunk, reading)
        };
        self.read(keys, (true, asked.threads), near)
    }

    fn insert_many(&self, keys: &Object<'_>, values: &Object<'_>, threads: usize) -> PyResult<usize> {
        let (py, keys) = (keys.py(), column::input::<B>(keys)?);
        let values = column::input::<B>(values)?.beside(keys.words().len(), "values")?;
        let (keys, values) = (keys.words(), values.words());
        let mut cuts = batch::cuts(keys.len(), threads);
        let sequence = py.detach(|| self.engine.sequence(keys, cuts.len() > 2));
        let sequence = sequence.map_err(|undone| self.exception(undone))?;
        sequence.cut_between_keys(&mut cuts);
        let cuts = (&cuts[..], self.reach().chunk());
        let (parts, failed) = batch::run_with(py, cuts, repeat_with(Changed::default), |chunk, changed| {
            let inserted = self.engine.insert_chunk(keys, values, &sequence, chunk, changed);
            inserted.map_err(|undone| self.exception(undone))
        });
        failure::changed(py, parts, failed, &sequence)
    }

    fn remove_many(&self, keys: &Object<'_>, threads: usize) -> PyResult<usize> {
        let (py, keys) = (keys.py(), column::input::<B>(keys)?);
        let keys = keys.words();
        self.checked(py, keys)?;
        let cuts = batch::cuts(keys.len(), threads);
        let cuts = (&cuts[..], self.reach().chunk());
        let (parts, failed) = batch::run_with(py, cuts, repeat_with(Changed::default), |chunk, changed| {
            let removed = self.engine.remove_chunk(keys, chunk, changed);
            removed.map_err(|undone| self.exception(undone))
        });
        failure::changed(py, parts, failed, &Sequence::<B>::AsGiven)
    }

    fn range_many<'py>(
        &self,
        lows: &Object<'py>,
        highs: &Object<'py>,
        closed: ClosedOf<'py>,
    ) -> PyResult<Answers<'py>> {
        let (py, (lows, highs)) = (lows.py(), Self::ends(lows, highs)?);
        let (lows, highs) = (lows.words(), highs.words());
        let closing = Closing::new(closed, lows.len())?;
        let closes = closing.closes();
        self.checked(py, lows)?;
        self.checked(py, highs)?;
        let copied = py.detach(|| {
            let (mut ends, mut keys, mut values) = (vec![0], Vec::new(), Vec::new());
            let mut pulse = batch::Pulse::new();
            for start in (0..lows.len()).step_by(RANGES) {
                let chunk = start..lows.len().min(start + RANGES);
                {
                    let _pass = Pass::new();
                    let columns = (&mut keys, &mut values);
                    self.engine.append_ranges(lows, highs, closes, chunk, &mut ends, columns)?;
                }
                pulse.check()?;
            }
            Ok((ends, (keys, values)))
        });
        let (ends, copied) = copied.map_err(|undone| self.exception(undone))?;
        let (keys, values) = self.columns(py, copied)?;
        Ok((PyArray1::from_vec(py, ends).into_any(), keys, values))
    }

    fn count_many(
        &self,
        (lows, highs): (&Object<'_>, &Object<'_>),
        closed: ClosedOf<'_>,
        counts: &Object<'_>,
    ) -> PyResult<()> {
        let (py, (lows, highs)) = (lows.py(), Self::ends(lows, highs)?);
        let (lows, highs) = (lows.words(), highs.words());
        let closing = Closing::new(closed, lows.len())?;
        let closes = closing.closes();
        let counts = column::output::<u64>(counts, lows.len())?;
        let counts = counts.words();
        self.checked(py, lows)?;
        self.checked(py, highs)?;
        let (_, failed) = batch::run::<()>(py, &[0, lows.len()], |chunk, ()| {
            let counted = self.engine.count_chunk(lows, highs, closes, chunk, counts);
            counted.map_err(|no_key| self.no_key(no_key))
        });
        failed.map_or(Ok(()), Err)
    }

    fn rank_many(&self, keys: &Object<'_>, ranks: &Object<'_>) -> PyResult<()> {
        let (py, keys) = (keys.py(), column::input::<B>(keys)?);
        let keys = keys.words();
        let ranks = column::output::<u64>(ranks, keys.len())?;
        let ranks = ranks.words();
        self.checked(py, keys)?;
        let (_, failed) = batch::run::<()>(py, &[0, keys.len()], |chunk, ()| {
            self.engine.rank_chunk(keys, chunk, ranks).map_err(|no_key| self.no_key(no_key))
        });
        failed.map_or(Ok(()), Err)
    }

    fn split_points<'py>(&self, py: Python<'py>, parts: usize) -> PyResult<Object<'py>> {
        let mut keys = batch::alone(py, || self.engine.index().split_points(parts));
        keys.iter_mut().for_each(|key| *key = self.engine.decode(*key));
        Ok(PyArray1::from_vec(py, keys).into_any())
    }

    fn exported(&self, (keys, values): Self::Columns) -> PyResult<(usize, [Exported; 2])> {
        let rows = keys.len();
        let keys = export::column(c"key", &self.keys.kind, keys)?;
        Ok((rows, [keys, export::column(c"value", &self.values, values)?]))
    }

    fn formats(&self) -> PyResult<[Format; 2]> {
        Ok([export::format(&self.keys.kind)?, export::format(&self.values)?])
    }

    fn save(&self, py: Python<'_>, path: &Path) -> PyResult<u64> {
        snapshot::save(py, &self.engine, (&self.keys.kind, &self.values), path)
    }
}
