//! Shared by the methods of [`Core`]: objects to words, arrays to columns, panics to exceptions.

use crate::asked::Asked;
use crate::column::Fresh;
use crate::core::{Core, Entry, Object, with};
use crate::durable::Folder;
use crate::engine::{Engine, NoKey, Undone};
use crate::gate::Pass;
use crate::kind::Kind;
use crate::lane::Lane;
use crate::lookups::{Near, Places, Question, Reading, Sides};
use crate::ranges::{Closed, Closes};
use crate::snapshot::Snapshot;
use crate::store::{self, Store};
use crate::updates::{Changed, Sequence};
use crate::{batch, column, failure};
use latchless::Stats;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::iter::repeat_with;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// States of an index: it is used.
pub const FINE: u8 = 0;
/// An operation has failed in the middle.
pub const BROKEN: u8 = 1;
/// It was closed.
pub const CLOSED: u8 = 2;

/// Does something with an index in this state. A panic becomes an exception, and the index isn't used any
/// more.
#[inline]
pub fn guarded<T>(state: &AtomicU8, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    match state.load(Relaxed) {
        FINE => {}
        CLOSED => return Err(failure::closed()),
        _ => return Err(failure::broken()),
    }
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        state.store(BROKEN, Relaxed);
        Err(failure::panicked(&*panic))
    })
}

/// Does something with one entry of an index in this state, as [`guarded`].
#[inline]
pub fn one<T>(state: &AtomicU8, work: impl FnOnce() -> latchless::Result<T>) -> PyResult<T> {
    guarded(state, || {
        let _pass = Pass::for_one();
        work().map_err(|error| failure::exception(&error))
    })
}

/// Changes an index in this state by a batch of this many entries, in their order, a chunk at a time.
/// Returns how many keys were changed.
pub fn change_in_order(
    py: Python<'_>,
    state: &AtomicU8,
    count: usize,
    change: impl Fn(Range<usize>, &mut Changed) + Sync,
) -> PyResult<usize> {
    guarded(state, || {
        let cuts = (&[0, count][..], batch::CHUNK);
        let (parts, failed) = batch::run_with(py, cuts, repeat_with(Changed::default), |chunk, changed| {
            change(chunk, changed);
            Ok(())
        });
        failure::changed(py, parts, failed, &Sequence::<u64>::AsGiven)
    })
}

/// How a tree is built, as a dict.
pub fn stats_dict<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("levels", stats.levels)?;
    dict.set_item("inner_nodes", stats.inner_nodes)?;
    dict.set_item("leaves", stats.leaves)?;
    dict.set_item("leaf_fill", stats.leaf_fill)?;
    dict.set_item("splits", stats.splits)?;
    dict.set_item("restarts", stats.restarts)?;
    Ok(dict)
}

impl Core {
    /// Does something with the index. A panic becomes an exception, and the index isn't used any more.
    #[inline]
    pub fn guarded<T>(&self, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        guarded(&self.state, work)
    }

    /// Changes the index. A durable one may wait for the disk, without the interpreter's lock.
    pub fn change<B: Lane, T: Send>(
        &self,
        py: Python<'_>,
        engine: &Engine<B>,
        change: impl FnOnce(&Store<B>) -> store::Result<T> + Send,
    ) -> PyResult<T> {
        self.guarded(|| {
            let changed = if engine.is_durable() {
                batch::alone(py, || change(&engine.store))
            } else {
                let _pass = Pass::for_one();
                change(&engine.store)
            };
            changed.map_err(|undone| undone_exception(&self.keys, undone))
        })
    }

    /// Makes a change that takes long: always without the interpreter's lock. See [`Core::change`].
    pub fn change_long<B: Lane, T: Send>(
        &self,
        py: Python<'_>,
        engine: &Engine<B>,
        change: impl FnOnce(&Store<B>) -> store::Result<T> + Send,
    ) -> PyResult<T> {
        self.guarded(|| {
            batch::alone(py, || change(&engine.store)).map_err(|undone| undone_exception(&self.keys, undone))
        })
    }

    /// Runs an operation on a single entry. See [`Core::guarded`].
    #[inline]
    pub fn one<T>(&self, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
        self.guarded(|| {
            let _pass = Pass::for_one();
            work()
        })
    }

    /// The stored word of a key.
    #[inline]
    pub fn key<B: Lane>(&self, engine: &Engine<B>, key: &Object<'_>) -> PyResult<B> {
        engine.encode(B::truncate(self.keys.word(key)?)).ok_or_else(|| self.keys.no_key())
    }

    /// The value under a key.
    #[inline]
    pub fn look<B: Lane>(&self, engine: &Engine<B>, key: &Object<'_>) -> PyResult<Option<B>> {
        let Some(word) = self.sought(engine, key)? else { return Ok(None) };
        self.one(|| Ok(engine.index().get(word)))
    }

    /// The value of a key that was there, and isn't any more.
    pub fn removed<B: Lane>(&self, engine: &Engine<B>, key: &Object<'_>) -> PyResult<Option<B>> {
        let Some(word) = self.sought(engine, key)? else { return Ok(None) };
        self.change(key.py(), engine, |store| store.remove(word))
    }

    /// The word of a value.
    #[inline]
    pub fn value<B: Lane>(&self, value: &Object<'_>) -> PyResult<B> {
        Ok(B::truncate(self.values.word(value)?))
    }

    /// The object of a value's word.
    #[inline]
    pub fn value_object<'py, B: Lane>(&self, py: Python<'py>, value: B) -> PyResult<Object<'py>> {
        self.values.object(py, value.to_u64())
    }

    /// The objects of an entry's words.
    pub fn entry<'py, B: Lane>(
        &self,
        py: Python<'py>,
        engine: &Engine<B>,
        entry: Option<(B, B)>,
    ) -> PyResult<Option<Entry<'py>>> {
        let Some((key, value)) = entry else { return Ok(None) };
        let key = self.keys.object(py, engine.decode(key).to_u64())?;
        Ok(Some((key, self.value_object(py, value)?)))
    }

    /// The neighbour of a question.
    pub fn near<'py>(&self, near: Near, key: &Object<'py>) -> PyResult<Option<Entry<'py>>> {
        with!(self, engine => {
            let Some((near, word)) = self.asked(engine, key)?.near(near) else { return Ok(None) };
            let entry = self.one(|| Ok(engine.near(near, word)))?;
            self.entry(key.py(), engine, entry)
        })
    }

    /// The nearest entry of a question, on either side. Between two keys the package's Python code compares
    /// the distances, which needs more than their words.
    pub fn nearest_of<'py>(this: &Bound<'py, Self>, key: &Object<'py>) -> PyResult<Option<Entry<'py>>> {
        let (py, core) = (this.py(), this.get());
        with!(core, engine => match core.asked(engine, key)? {
            Asked::Key(word) => {
                let entry = core.one(|| Ok(engine.nearest(word)))?;
                core.entry(py, engine, entry)
            }
            Asked::Between(..) => {
                let words: Option<(u64, u64)> = this.call_method1("_nearest_between", (key,))?.extract()?;
                let Some((key, value)) = words else { return Ok(None) };
                Ok(Some((core.keys.object(py, key)?, core.values.object(py, value)?)))
            }
        })
    }

    /// The error for a word that is no key.
    pub fn no_key(&self, NoKey(at): NoKey) -> PyErr {
        self.keys.no_key_at(at)
    }

    /// An error if one of the words is no key. A long batch is looked through without the interpreter's
    /// lock.
    pub fn checked<B: Lane>(
        &self,
        py: Python<'_>,
        engine: &Engine<B>,
        keys: column::Words<'_, B::Atomic>,
    ) -> PyResult<()> {
        let checked =
            if keys.len() > batch::CHUNK { py.detach(|| engine.check(keys)) } else { engine.check(keys) };
        checked.map_err(|undone| undone_exception(&self.keys, undone))
    }

    /// Checks the keys if several threads share the batch. A single thread finds the first word that is no
    /// key itself. See [`Core::checked`].
    fn checked_for<B: Lane>(
        &self,
        py: Python<'_>,
        engine: &Engine<B>,
        keys: column::Words<'_, B::Atomic>,
        cuts: &[usize],
    ) -> PyResult<()> {
        if cuts.len() > 2 { self.checked(py, engine, keys) } else { Ok(()) }
    }

    /// Reads a batch: calls `read` for its chunks, with room for the answers of each, and returns these; no
    /// `values` if none are wanted.
    fn read<'py, B: Lane>(
        &self,
        py: Python<'py>,
        engine: &Engine<B>,
        keys: &Object<'py>,
        (with_keys, threads): (bool, usize),
        read: impl Fn(column::Words<'_, B::Atomic>, Range<usize>, &mut Reading<'_, B>) -> Result<(), NoKey> + Sync,
    ) -> PyResult<(Object<'py>, Object<'py>, Object<'py>)> {
        let keys = column::input::<B>(keys)?;
        let words = keys.words();
        let len = words.len();
        let mut found_keys = Fresh::<B>::new(py, if with_keys { len } else { 0 })?;
        let (mut values, mut found) = (Fresh::<B>::new(py, len)?, Fresh::<bool>::new(py, len)?);
        self.guarded(|| {
            let cuts = batch::cuts(len, threads);
            self.checked_for(py, engine, words, &cuts)?;
            let no_cuts = vec![0; cuts.len()];
            let key_places = Places::cut(found_keys.places(), if with_keys { &cuts } else { &no_cuts });
            let places =
                Places::cut(values.places(), &cuts).into_iter().zip(Places::cut(found.places(), &cuts));
            let states = key_places.into_iter().zip(places).map(Reading::new);
            let (_, failed) = batch::run_with(py, (&cuts, batch::LOOKUPS), states, |chunk, reading| {
                read(words, chunk, reading).map_err(|no_key| self.no_key(no_key))
            });
            failed.map_or(Ok(()), Err)
        })?;
        Ok((found_keys.into_any(), values.into_any(), found.into_any()))
    }

    /// Looks keys up: their values, and whether they are there.
    pub fn look_up<'py, B: Lane>(
        &self,
        py: Python<'py>,
        engine: &Engine<B>,
        keys: &Object<'py>,
        missing: u64,
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>)> {
        let missing = B::truncate(missing);
        let get = |words: column::Words<'_, B::Atomic>, chunk: Range<usize>, reading: &mut Reading<'_, B>| {
            engine.get_chunk(words, chunk, missing, reading)
        };
        let (_, values, found) = self.read(py, engine, keys, (false, threads), get)?;
        Ok((values, found))
    }

    /// Looks for the nearest entries of keys: these, their values, and whether there are any.
    pub fn look_near<'py, B: Lane>(
        &self,
        py: Python<'py>,
        engine: &Engine<B>,
        keys: &Object<'py>,
        (sides, farthest, missing): (Sides, Option<u64>, (u64, u64)),
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>, Object<'py>)> {
        let question =
            Question { sides, farthest, missing: (B::truncate(missing.0), B::truncate(missing.1)) };
        let near =
            |words: column::Words<'_, B::Atomic>, chunk: Range<usize>, reading: &mut Reading<'_, B>| {
                engine.near_chunk(question, words, chunk, reading)
            };
        self.read(py, engine, keys, (true, threads), near)
    }

    /// Looks keys up, and fills arrays of the caller with values and flags.
    pub fn look_up_into<B: Lane>(
        &self,
        py: Python<'_>,
        engine: &Engine<B>,
        keys: &Object<'_>,
        (values, missing, found): (Option<&Object<'_>>, u64, &Object<'_>),
        threads: usize,
    ) -> PyResult<()> {
        let keys = column::input::<B>(keys)?;
        let words = keys.words();
        let values = values.map(|values| column::output::<B>(values, words.len())).transpose()?;
        let values = values.as_ref().map(column::Column::words);
        let found = column::flags(found, words.len())?;
        let (found, missing) = (found.words(), B::truncate(missing));
        self.guarded(|| {
            let cuts = batch::cuts(words.len(), threads);
            self.checked(py, engine, words)?;
            let (_, failed) = batch::run::<()>(py, &cuts, |chunk, ()| {
                let done = engine.get_chunk_into(words, chunk, missing, (values, found));
                done.map_err(|no_key| self.no_key(no_key))
            });
            failed.map_or(Ok(()), Err)
        })
    }
}

impl Core {
    /// Inserts entries.
    pub fn insert<B: Lane>(
        &self,
        py: Python<'_>,
        engine: &Engine<B>,
        keys: &Object<'_>,
        values: &Object<'_>,
        threads: usize,
    ) -> PyResult<usize> {
        let keys = column::input::<B>(keys)?;
        let values = column::input::<B>(values)?.beside(keys.words().len(), "values")?;
        let (keys, values) = (keys.words(), values.words());
        self.guarded(|| {
            let mut cuts = batch::cuts(keys.len(), threads);
            let sequence = py.detach(|| engine.sequence(keys, cuts.len() > 2));
            let sequence = sequence.map_err(|undone| undone_exception(&self.keys, undone))?;
            sequence.cut_between_keys(&mut cuts);
            let cuts = (&cuts[..], engine.chunk_of_changes());
            let (parts, failed) =
                batch::run_with(py, cuts, repeat_with(Changed::default), |chunk, changed| {
                    let inserted = engine.insert_chunk(keys, values, &sequence, chunk, changed);
                    inserted.map_err(|undone| undone_exception(&self.keys, undone))
                });
            failure::changed(py, parts, failed, &sequence)
        })
    }

    /// Ranks of keys.
    pub fn ranks<B: Lane>(
        &self,
        py: Python<'_>,
        engine: &Engine<B>,
        keys: &Object<'_>,
        ranks: &Object<'_>,
    ) -> PyResult<()> {
        let keys = column::input::<B>(keys)?;
        let keys = keys.words();
        let ranks = column::output::<u64>(ranks, keys.len())?;
        let ranks = ranks.words();
        self.guarded(|| {
            self.checked(py, engine, keys)?;
            let (_, failed) = batch::run::<()>(py, &[0, keys.len()], |chunk, ()| {
                engine.rank_chunk(keys, chunk, ranks).map_err(|no_key| self.no_key(no_key))
            });
            failed.map_or(Ok(()), Err)
        })
    }

    /// Removes keys.
    pub fn remove<B: Lane>(
        &self,
        py: Python<'_>,
        engine: &Engine<B>,
        keys: &Object<'_>,
        threads: usize,
    ) -> PyResult<usize> {
        let keys = column::input::<B>(keys)?;
        let keys = keys.words();
        self.guarded(|| {
            self.checked(py, engine, keys)?;
            let cuts = batch::cuts(keys.len(), threads);
            let cuts = (&cuts[..], engine.chunk_of_changes());
            let (parts, failed) =
                batch::run_with(py, cuts, repeat_with(Changed::default), |chunk, changed| {
                    let removed = engine.remove_chunk(keys, chunk, changed);
                    removed.map_err(|undone| undone_exception(&self.keys, undone))
                });
            failure::changed(py, parts, failed, &Sequence::<B>::AsGiven)
        })
    }
}

/// The ends of ranges.
pub type End<'py, B> = column::Column<'py, <B as Lane>::Atomic>;

/// Two columns with the ends of ranges, of one length.
pub fn ends<'py, B: Lane>(
    _: &Engine<B>,
    lows: &Object<'py>,
    highs: &Object<'py>,
) -> PyResult<(End<'py, B>, End<'py, B>)> {
    let (lows, highs) = (column::input::<B>(lows)?, column::input::<B>(highs)?);
    let (low, high) = (lows.words().len(), highs.words().len());
    if low == high {
        Ok((lows, highs))
    } else {
        Err(PyValueError::new_err(format!("there are {low} low ends but {high} high ends")))
    }
}

/// The ends of ranges that belong to them: the same for all, or arrays of bools for each.
#[derive(FromPyObject)]
pub enum ClosedOf<'py> {
    /// The low end and the high end of all.
    All((bool, bool)),
    /// Those of each range.
    Each((Object<'py>, Object<'py>)),
}

/// The ends of each range that belong to it, while their arrays are borrowed.
pub enum Closing<'py> {
    /// Of all the same.
    All(Closed),
    /// Of each its own.
    Each(column::Column<'py, AtomicU8>, column::Column<'py, AtomicU8>),
}

impl<'py> Closing<'py> {
    /// For this many ranges.
    pub fn new(closed: ClosedOf<'py>, len: usize) -> PyResult<Self> {
        Ok(match closed {
            ClosedOf::All((low, high)) => Self::All(Closed { low, high }),
            ClosedOf::Each((low, high)) => Self::Each(column::flags(&low, len)?, column::flags(&high, len)?),
        })
    }

    /// The same for a batch.
    pub fn closes(&self) -> Closes<'_> {
        match self {
            Self::All(closed) => Closes::All(*closed),
            Self::Each(low, high) => Closes::Each(low.words(), high.words()),
        }
    }
}

/// Makes an index, filled from columns or from a file, with the log of a folder if there is one.
pub fn make<B: Lane>(
    py: Python<'_>,
    (keys_kind, values_kind): (&Kind, &Kind),
    (keys, values): (Option<&Object<'_>>, Option<&Object<'_>>),
    (sorted, fill, limit_bytes): (bool, f64, Option<usize>),
    (snapshot, folder): (Option<&Bound<'_, Snapshot>>, Option<&Bound<'_, Folder>>),
) -> PyResult<Engine<B>> {
    let kinds = (keys_kind, values_kind);
    let mut engine =
        Engine::<B>::new(keys_kind.order(), limit_bytes).map_err(|error| failure::exception(&error))?;
    match snapshot {
        Some(snapshot) => snapshot.get().load(py, &mut engine, kinds, fill)?,
        None => load(py, &mut engine, keys_kind, (keys, values), (sorted, fill))?,
    }
    match folder {
        Some(folder) => folder.get().recover(py, engine, kinds),
        None => Ok(engine),
    }
}

/// Fills an index that no other thread has yet.
fn load<B: Lane>(
    py: Python<'_>,
    engine: &mut Engine<B>,
    kind: &Kind,
    (keys, values): (Option<&Object<'_>>, Option<&Object<'_>>),
    (sorted, fill): (bool, f64),
) -> PyResult<()> {
    let (Some(keys), Some(values)) = (keys, values) else { return Ok(()) };
    let keys = column::input::<B>(keys)?;
    let values = column::input::<B>(values)?.beside(keys.words().len(), "values")?;
    let (keys, values) = (keys.words(), values.words());
    let loaded = catch_unwind(AssertUnwindSafe(|| py.detach(|| engine.load(keys, values, sorted, fill))));
    let loaded = loaded.map_err(|panic| failure::panicked(&*panic))?;
    loaded.map_err(|undone| undone_exception(kind, undone))
}

/// The exception for work that wasn't done.
pub fn undone_exception(kind: &Kind, undone: Undone) -> PyErr {
    match undone {
        Undone::NoKey(NoKey(at)) => kind.no_key_at(at),
        Undone::Refused(error) => failure::exception(&error),
        Undone::NotLogged(error) => failure::refused(&error),
        Undone::ReadOnly(folder) => failure::read_only(&folder),
        Undone::Stopped(raised) => raised,
    }
}
