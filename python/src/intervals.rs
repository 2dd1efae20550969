//! The class under `latchless.IntervalIndex`: intervals of integers, in numbered groups.

use crate::batch::{self, CHUNK, Pulse};
use crate::column::{self, Column, Words};
use crate::failure;
use crate::gate::Pass;
use crate::map::Object;
use crate::serve::{FINE, change_in_order, guarded};
use crate::sort::{reserve, room};
use crate::updates::Changed;
use latchless::index::Options;
use latchless::intervals::{IntervalIndex, Near};
use latchless::{FillFactor, Result};
use numpy::PyArray1;
use pyo3::exceptions::{PyAssertionError, PyValueError};
use pyo3::prelude::*;
use std::ops::{Range, RangeInclusive};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// Questions between two looks at the clock: so many that a copy of the intervals is worth it.
const PIECE: usize = 1 << 20;

/// An interval, or a question.
type Interval = (u32, RangeInclusive<i64>);

/// Arrays of groups, of starts, and of ends: without groups there is one, without ends starts are points.
type Arrays<'py> = (Option<Object<'py>>, Object<'py>, Option<Object<'py>>);

/// Intervals in numbered groups. Not for users: `latchless.IntervalIndex` is.
#[pyclass(subclass, frozen, weakref, module = "latchless._latchless")]
pub struct IntervalCore {
    /// In a box, because an index is aligned as lines of the cache are, and Python's objects aren't.
    index: Box<IntervalIndex<u32, i64>>,
    state: AtomicU8,
}

#[pymethods]
impl IntervalCore {
    #[new]
    fn new(
        py: Python<'_>,
        intervals: Option<(Arrays<'_>, Object<'_>)>,
        fill: f64,
        limit_bytes: Option<usize>,
    ) -> PyResult<Self> {
        let options = Options { limit_bytes, ..Options::default() };
        let (made, fill) = (IntervalIndex::with_options(options), FillFactor::new(fill));
        let (mut index, fill) = (Box::new(made.map_err(refused)?), fill.map_err(refused)?);
        if let Some((arrays, ids)) = intervals {
            let columns = Columns::new(&arrays)?;
            let ids = column::input::<u64>(&ids)?.beside(columns.starts.words().len(), "values")?;
            let (words, ids) = (columns.words(), ids.words());
            let entry = |at| {
                let (group, range) = words.get(at);
                (group, range, ids.load(at))
            };
            let load = || index.bulk_load((0..words.len()).map(entry), fill);
            batch::alone(py, load).map_err(refused)?;
        }
        Ok(Self { index, state: AtomicU8::new(FINE) })
    }

    fn __len__(&self) -> usize {
        self.index.len()
    }

    /// The positions of questions, and the ids that they found.
    fn _overlaps<'py>(&self, py: Python<'py>, arrays: Arrays<'py>) -> PyResult<(Object<'py>, Object<'py>)> {
        let (mut positions, mut ids) = (Vec::new(), Vec::new());
        self.ask(py, &arrays, |first, asked| {
            let found = self.index.overlaps_many(asked)?;
            reserve(&mut positions, found.ids.len())?;
            for (at, ends) in (first..).zip(found.offsets.windows(2)) {
                positions.extend(std::iter::repeat_n(at as i64, ends[1] - ends[0]));
            }
            if ids.is_empty() {
                ids = found.ids;
                return Ok(());
            }
            reserve(&mut ids, found.ids.len())?;
            ids.extend(found.ids);
            Ok(())
        })?;
        Ok((PyArray1::from_vec(py, positions).into_any(), PyArray1::from_vec(py, ids).into_any()))
    }

    fn _count<'py>(&self, py: Python<'py>, arrays: Arrays<'py>) -> PyResult<Object<'py>> {
        self.answers(py, &arrays, |asked| self.index.count_many(asked), |count| count as i64)
    }

    fn _coverage<'py>(&self, py: Python<'py>, arrays: Arrays<'py>) -> PyResult<Object<'py>> {
        self.answers(py, &arrays, |asked| self.index.coverage_many(asked), to_signed)
    }

    /// For each question an id, a distance, and whether there is one.
    fn _nearest<'py>(
        &self,
        py: Python<'py>,
        arrays: Arrays<'py>,
        direction: &str,
    ) -> PyResult<(Object<'py>, Object<'py>, Object<'py>)> {
        let find = match direction {
            "nearest" => IntervalIndex::nearest_many::<u32, RangeInclusive<i64>>,
            "backward" => IntervalIndex::nearest_before_many,
            "forward" => IntervalIndex::nearest_after_many,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "direction is 'nearest', 'backward' or 'forward', not '{direction}'"
                )));
            }
        };
        let (mut ids, mut distances, mut found) = (Vec::new(), Vec::new(), Vec::new());
        self.ask(py, &arrays, |_, asked| {
            let answers: Vec<Option<Near<i64>>> = find(&self.index, asked)?;
            reserve(&mut ids, answers.len())?;
            reserve(&mut distances, answers.len())?;
            reserve(&mut found, answers.len())?;
            for answer in answers {
                found.push(answer.is_some());
                let (id, distance) = answer.map_or((u64::MAX, 0), |near| (near.id, near.distance));
                ids.push(id);
                distances.push(to_signed(distance));
            }
            Ok(())
        })?;
        let [ids, distances] =
            [PyArray1::from_vec(py, ids).into_any(), PyArray1::from_vec(py, distances).into_any()];
        Ok((ids, distances, PyArray1::from_vec(py, found).into_any()))
    }

    fn _insert_many(&self, py: Python<'_>, arrays: Arrays<'_>, ids: &Object<'_>) -> PyResult<usize> {
        self.change(py, &arrays, ids, |intervals, first, changed| {
            let inserted = self.index.insert_many(intervals);
            changed.note(inserted.map_err(|some| (some.refused, some.error)), |at| first + at);
        })
    }

    fn _remove_many(&self, py: Python<'_>, arrays: Arrays<'_>, ids: &Object<'_>) -> PyResult<usize> {
        self.change(py, &arrays, ids, |intervals, _, changed| {
            changed.keys += self.index.remove_many(intervals);
        })
    }

    /// The groups, starts, ends and ids of all intervals.
    fn _all<'py>(&self, py: Python<'py>) -> PyResult<(Object<'py>, Object<'py>, Object<'py>, Object<'py>)> {
        let copied = guarded(&self.state, || {
            let copy = || -> Result<_> {
                let len = self.index.len();
                let (mut groups, mut starts, mut ends, mut ids) =
                    (room(len)?, room(len)?, room(len)?, room(len)?);
                for (group, interval, id) in self.index.iter() {
                    groups.push(group);
                    starts.push(*interval.start());
                    // It was given as this one.
                    ends.push(interval.end().wrapping_add(1));
                    ids.push(id);
                }
                Ok((groups, starts, ends, ids))
            };
            batch::alone(py, copy).map_err(refused)
        });
        let (groups, starts, ends, ids) = copied?;
        let [starts, ends] = [starts, ends].map(|column| PyArray1::from_vec(py, column).into_any());
        Ok((PyArray1::from_vec(py, groups).into_any(), starts, ends, PyArray1::from_vec(py, ids).into_any()))
    }

    /// Bytes that the index holds for its nodes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.index.memory_bytes()
    }

    /// Raise AssertionError if the tree is broken, which is a bug of this package: for tests, while no other
    /// thread changes the index.
    fn check_invariants(&self, py: Python<'_>) -> PyResult<()> {
        let checked = guarded(&self.state, || Ok(batch::alone(py, || self.index.check_invariants())))?;
        checked.map_err(|broken| PyAssertionError::new_err(broken.to_string()))
    }
}

impl IntervalCore {
    /// Shows pieces of a batch of questions, and where they begin, without the interpreter's lock.
    fn ask(
        &self,
        py: Python<'_>,
        arrays: &Arrays<'_>,
        mut answer: impl FnMut(usize, &[Interval]) -> Result<()> + Send,
    ) -> PyResult<()> {
        let columns = Columns::new(arrays)?;
        let words = columns.words();
        let mut ask = || {
            let (mut asked, mut pulse) = (room(words.len().min(PIECE))?, Pulse::new());
            for first in (0..words.len()).step_by(PIECE) {
                {
                    let _pass = Pass::new();
                    asked.clear();
                    asked.extend((first..words.len().min(first + PIECE)).map(|at| words.get(at)));
                    answer(first, &asked)?;
                }
                pulse.check()?;
            }
            Ok(())
        };
        guarded(&self.state, || py.detach(&mut ask).map_err(failure::undone))
    }

    /// An array of one answer to each question.
    fn answers<'py, A, T: numpy::Element + Send>(
        &self,
        py: Python<'py>,
        arrays: &Arrays<'_>,
        find: impl Fn(&[Interval]) -> Result<Vec<A>> + Sync,
        shown: impl Fn(A) -> T + Sync,
    ) -> PyResult<Object<'py>> {
        let mut answers = Vec::new();
        self.ask(py, arrays, |_, asked| {
            let found = find(asked)?;
            reserve(&mut answers, found.len())?;
            answers.extend(found.into_iter().map(&shown));
            Ok(())
        })?;
        Ok(PyArray1::from_vec(py, answers).into_any())
    }

    /// Changes the index by a batch: `change` gets the intervals of a chunk, and where that begins.
    fn change(
        &self,
        py: Python<'_>,
        arrays: &Arrays<'_>,
        ids: &Object<'_>,
        change: impl Fn(&[(u32, RangeInclusive<i64>, u64)], usize, &mut Changed) + Sync,
    ) -> PyResult<usize> {
        let columns = Columns::new(arrays)?;
        let words = columns.words();
        let ids = column::input::<u64>(ids)?.beside(words.len(), "values")?;
        let ids = ids.words();
        let change = |chunk: Range<usize>, changed: &mut Changed| {
            let first = chunk.start;
            let interval = |at| {
                let (group, range) = words.get(at);
                (group, range, ids.load(at))
            };
            change(&chunk.map(interval).collect::<Vec<_>>(), first, changed);
            Ok(())
        };
        guarded(&self.state, || change_in_order(py, (words.len(), 1), CHUNK, change))
    }
}

/// The arrays of a batch.
struct Columns<'py> {
    groups: Option<Column<'py, AtomicU32>>,
    starts: Column<'py, AtomicU64>,
    ends: Option<Column<'py, AtomicU64>>,
}

impl<'py> Columns<'py> {
    fn new((groups, starts, ends): &Arrays<'py>) -> PyResult<Self> {
        let starts = column::input::<u64>(starts)?;
        let len = starts.words().len();
        let groups = groups.as_ref().map(|groups| column::input::<u32>(groups)?.beside(len, "groups"));
        let ends = ends.as_ref().map(|ends| column::input::<u64>(ends)?.beside(len, "ends"));
        Ok(Self { groups: groups.transpose()?, starts, ends: ends.transpose()? })
    }

    fn words(&self) -> Batch<'_> {
        Batch {
            groups: self.groups.as_ref().map(Column::words),
            starts: self.starts.words(),
            ends: self.ends.as_ref().map(Column::words),
        }
    }
}

/// The words of a batch.
#[derive(Clone, Copy)]
struct Batch<'a> {
    groups: Option<Words<'a, AtomicU32>>,
    starts: Words<'a, AtomicU64>,
    ends: Option<Words<'a, AtomicU64>>,
}

impl Batch<'_> {
    fn len(&self) -> usize {
        self.starts.len()
    }

    fn get(&self, at: usize) -> Interval {
        let start = self.starts.load(at) as i64;
        let last = match self.ends {
            None => Some(start),
            Some(ends) => (ends.load(at) as i64).checked_sub(1),
        };
        // Before the least integer there is no position.
        let range = last.map_or(RangeInclusive::new(0, -1), |last| start..=last);
        (self.groups.map_or(0, |groups| groups.load(at)), range)
    }
}

/// A count as Python's side has it.
fn to_signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn refused(error: latchless::Error) -> PyErr {
    failure::exception(&error)
}
