//! Shared by the operations of all kinds of index: panics become exceptions, batches are cut and run.

use crate::asked::Closed;
use crate::gate::Pass;
use crate::map::Object;
use crate::ranges::Closes;
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

/// Changes an index by a batch of this many entries, in their order, a chunk at a time; by as many threads as
/// it has to be cut for. Returns how many keys were changed.
pub fn change_in_order(
    py: Python<'_>,
    (count, threads): (usize, usize),
    chunk: usize,
    change: impl Fn(Range<usize>, &mut Changed) -> PyResult<()> + Sync,
) -> PyResult<usize> {
    let cuts = batch::cuts(count, threads);
    let cuts = (&cuts[..], chunk);
    let (parts, failed) = batch::run_with(py, cuts, repeat_with(Changed::default), change);
    failure::changed(py, parts, failed, &Sequence::<u64>::AsGiven)
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

/// Refuses ends of ranges of which there aren't as many low ones as high ones.
pub fn check_ends(low: usize, high: usize) -> PyResult<()> {
    if low == high {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("there are {low} low ends but {high} high ends")))
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
