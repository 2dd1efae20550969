//! What [`Core`](crate::core::Core) needs from an index, whatever its keys and values are: [`Map`].
//!
//! An index of another kind of keys is one more type that has this trait, and one more variant of
//! [`Tree`](crate::core::Tree).

use crate::asked::{Asked, Ends};
use crate::bytes::grouped::{Asked as Grouped, InGroups};
use crate::engine::Undone;
use crate::export::Exported;
use crate::kind::Format;
use crate::lookups::{Near, Sides};
use crate::serve::ClosedOf;
use crate::store::Reach;
use latchless::{Broken, Direction, Stats};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::Path;

/// An object of Python's.
pub type Object<'py> = Bound<'py, PyAny>;
/// A key and its value.
pub type Entry<'py> = (Object<'py>, Object<'py>);
/// Answers to a batch: keys, values, and whether there are any; or offsets, keys and values.
pub type Answers<'py> = (Object<'py>, Object<'py>, Object<'py>);
/// A key of an index, and its value.
pub type Found<M> = (<M as Map>::Key, <M as Map>::Value);
/// The description of a range: its ends, of which None is open, and which of them belong to it. Without the
/// latter the low end is a prefix.
pub type Told<'a, 'py> = (Option<&'a Object<'py>>, Option<&'a Object<'py>>, Option<(bool, bool)>);

/// A question for the nearest entries of keys, in the words of `pandas.merge_asof`.
#[derive(Debug, Clone, Copy)]
pub struct Nearest<'a> {
    /// `backward`, `forward` or `nearest`.
    pub direction: &'a str,
    /// Whether the key's own entry counts.
    pub exact: bool,
    /// How far away an entry may be.
    pub farthest: Option<u64>,
    /// Whether of keys that are tuples only the last parts may differ.
    pub grouped: bool,
    /// How many threads share the batch.
    pub threads: usize,
}

impl Nearest<'_> {
    /// On which side of a key its nearest entry is looked for.
    pub fn sides(self) -> PyResult<Sides> {
        let direction = self.direction;
        let unknown =
            || PyValueError::new_err(format!("direction is backward, forward or nearest, not '{direction}'"));
        Sides::of(direction, self.exact).ok_or_else(unknown)
    }
}

/// An index, and how its keys and values are Python's objects. Columns of keys and of values are arrays of
/// words, or columns of strings; the package's Python code makes them.
pub trait Map: Send + Sync + Sized {
    /// A key as it is looked for.
    type Probe<'a>: Send;
    /// A value as changes take it.
    type Lent<'a>: Copy + Send;
    /// A key that was found.
    type Key: Send;
    /// A value that was found.
    type Value: Send;
    /// Copies of keys and of values.
    type Columns: Default + Send;

    // ---- objects ----

    /// A key to be stored.
    fn key<'a>(&self, key: &'a Object<'_>) -> PyResult<Self::Probe<'a>>;
    /// The place of an object among the keys; the inner error if it has none.
    fn asked<'a>(&self, key: &'a Object<'_>) -> PyResult<Result<Asked<Self::Probe<'a>>, PyErr>>;
    /// Does something with the range of the keys that begin with a prefix.
    fn with_prefix<T>(
        &self,
        prefix: Option<&Object<'_>>,
        work: impl FnOnce(Ends<Self::Probe<'_>>) -> PyResult<T>,
    ) -> PyResult<T>;
    /// The object that [`Map::value`] takes for a value of the caller's.
    fn prepared<'py>(&self, value: &Object<'py>) -> PyResult<Object<'py>> {
        Ok(value.clone())
    }
    /// An object as a value.
    fn value<'a>(&self, value: &'a Object<'_>) -> PyResult<Self::Lent<'a>>;
    /// A key as an object.
    fn key_object<'py>(&self, py: Python<'py>, key: Self::Key) -> PyResult<Object<'py>>;
    /// A value as an object.
    fn value_object<'py>(&self, py: Python<'py>, value: Self::Value) -> PyResult<Object<'py>>;
    /// Copies as Python's columns.
    fn columns<'py>(&self, py: Python<'py>, copied: Self::Columns) -> PyResult<Entry<'py>>;
    /// The exception for work that wasn't done.
    fn exception(&self, undone: Undone) -> PyErr;

    // ---- reads ----

    /// How many keys there are.
    fn len(&self) -> usize;
    /// Bytes that the index holds.
    fn memory_bytes(&self) -> usize;
    /// Bytes that are in use.
    fn live_bytes(&self) -> usize;
    /// How the tree is built; of words, how many bits one has.
    fn stats(&self) -> (Stats, Option<u32>);
    /// What is broken.
    fn check_invariants(&self) -> Result<(), Broken>;
    /// The value under a key.
    fn get(&self, key: Self::Probe<'_>) -> Option<Self::Value>;
    /// Whether a key is there.
    fn contains(&self, key: Self::Probe<'_>) -> bool;
    /// The first entry, or the last one.
    fn end(&self, last: bool) -> Option<Found<Self>>;
    /// A neighbour of a key.
    fn near(&self, near: Near, key: Self::Probe<'_>) -> Option<Found<Self>>;
    /// The nearest entry on either side of a key. An error if keys have no distance.
    fn nearest(&self, key: Self::Probe<'_>) -> PyResult<Option<Found<Self>>>;
    /// How many keys are less.
    fn rank(&self, key: Self::Probe<'_>) -> usize;
    /// The entry at a position.
    fn nth(&self, position: usize) -> Option<Found<Self>>;
    /// How many keys a range has.
    fn count(&self, ends: Ends<Self::Probe<'_>>) -> usize;
    /// The entries of a range, at most `limit`, from its low end or from its high end.
    fn collect(
        &self,
        ends: Ends<Self::Probe<'_>>,
        direction: Direction,
        limit: usize,
    ) -> Result<Self::Columns, Undone>;

    // ---- changes ----

    /// What they reach: those of a log may wait for the disk.
    fn reach(&self) -> Reach<'_>;
    /// Sets a key.
    fn insert(&self, key: Self::Probe<'_>, value: Self::Lent<'_>) -> Result<(), Undone>;
    /// Removes a key, and returns its value.
    fn remove(&self, key: Self::Probe<'_>) -> Result<Option<Self::Value>, Undone>;
    /// Removes the first entry, or the last one.
    fn pop(&self, last: bool) -> Result<Option<Found<Self>>, Undone>;
    /// The key's value; without one it gets this value first.
    fn get_or_insert(&self, key: Self::Probe<'_>, value: Self::Lent<'_>) -> Result<Self::Value, Undone>;
    /// Replaces the value of a present key, and returns the previous one.
    fn replace(&self, key: Self::Probe<'_>, value: Self::Lent<'_>) -> Result<Option<Self::Value>, Undone>;
    /// Replaces the key's value if it is the expected one, and returns whether it was.
    fn compare_exchange<'v>(
        &self,
        key: Self::Probe<'_>,
        expected: Self::Lent<'v>,
        value: Self::Lent<'v>,
    ) -> Result<bool, Undone>;
    /// Removes a key if its value is the expected one, and returns whether it was.
    fn compare_remove(&self, key: Self::Probe<'_>, expected: Self::Lent<'_>) -> Result<bool, Undone>;
    /// Removes the entries of a range, and returns how many there were.
    fn remove_range(&self, ends: Ends<Self::Probe<'_>>) -> Result<usize, Undone>;
    /// Removes all entries.
    fn clear(&self) -> Result<(), Undone> {
        self.remove_range(Ends::ALL).map(drop)
    }

    // ---- batches ----

    /// The values under keys, and whether each is there.
    fn get_many<'py>(
        &self,
        keys: &Object<'py>,
        missing: &Object<'py>,
        threads: usize,
    ) -> PyResult<(Object<'py>, Object<'py>)>;
    /// Writes the values under keys, if there is an array for them, and whether each is there.
    fn get_many_into(
        &self,
        keys: &Object<'_>,
        values: Option<(&Object<'_>, &Object<'_>)>,
        found: &Object<'_>,
        threads: usize,
    ) -> PyResult<()>;
    /// The neighbours of keys: these, their values, and whether there are any.
    fn near_many<'py>(
        &self,
        keys: &Object<'py>,
        asked: Nearest<'_>,
        missing: (&Object<'py>, &Object<'py>),
    ) -> PyResult<Answers<'py>>;
    /// The same of keys that are tuples, in groups; `None`: they have to be looked up one by one.
    fn near_in_groups<'py>(
        &self,
        _: Grouped<'_, 'py>,
        _: Nearest<'_>,
        _: (u64, &Object<'py>),
    ) -> PyResult<Option<InGroups<'py>>> {
        Ok(None)
    }
    /// Inserts entries, and returns how many keys are new.
    fn insert_many(&self, keys: &Object<'_>, values: &Object<'_>, threads: usize) -> PyResult<usize>;
    /// Removes keys, and returns how many there were.
    fn remove_many(&self, keys: &Object<'_>, threads: usize) -> PyResult<usize>;
    /// The entries of many ranges: where those of each begin, keys, and values.
    fn range_many<'py>(
        &self,
        lows: &Object<'py>,
        highs: &Object<'py>,
        closed: ClosedOf<'py>,
    ) -> PyResult<Answers<'py>>;
    /// Writes how many keys each of many ranges has.
    fn count_many(
        &self,
        ends: (&Object<'_>, &Object<'_>),
        closed: ClosedOf<'_>,
        counts: &Object<'_>,
    ) -> PyResult<()>;
    /// Writes how many keys are less than each key.
    fn rank_many(&self, keys: &Object<'_>, ranks: &Object<'_>) -> PyResult<()>;
    /// A column of the keys that cut the index into parts of one size.
    fn split_points<'py>(&self, py: Python<'py>, parts: usize) -> PyResult<Object<'py>>;

    // ---- the whole ----

    /// Copies as Arrow's columns, of so many rows.
    fn exported(&self, copied: Self::Columns) -> PyResult<(usize, [Exported; 2])>;
    /// The types of these columns.
    fn formats(&self) -> PyResult<[Format; 2]>;
    /// Writes all entries to a file, and returns how many there are.
    fn save(&self, py: Python<'_>, path: &Path) -> PyResult<u64>;
}
