//! Executing a task on an index, one operation at a time. The same code runs on the model and natively;
//! only its surroundings differ.

use super::data::{Keys, ReturnBuffer, Spaced};
use crate::error::{LabError, Result};
use crate::experiment::{Built, Case, Task};
use crate::subject::Index;
use core::ops::Bound;
use latchless::{Direction, FillFactor};

/// Gives an empty index the case's keys.
///
/// # Errors
/// When the index refuses them.
pub fn build(index: &mut Index, case: &Case, keys: &Keys) -> Result<()> {
    let fill = FillFactor::new(case.fill)?;
    if case.built != Built::Mature {
        return Ok(index.bulk_load(keys.entries(), fill)?);
    }
    index.bulk_load(&keys.loaded_first(), fill)?;
    for (key, rank) in keys.inserted_after() {
        index.insert(key, rank)?;
    }
    Ok(())
}

/// A task's requests, made before anything is timed.
#[derive(Debug)]
pub enum Requests {
    /// No operation.
    None,
    /// Keys to search for.
    Search(Vec<u32>),
    /// Ranks to scan from, and how.
    Scan {
        /// Ranks of the first keys.
        starts: Vec<usize>,
        /// The number of segments of a scan, including the first.
        segments: usize,
        /// The buffer for a segment.
        buffer: ReturnBuffer,
    },
    /// Keys to insert.
    Insert(Vec<u32>),
    /// Keys to remove.
    Remove(Vec<u32>),
}

impl Requests {
    /// The requests of `task` on an index with `keys`.
    pub fn new(task: Task, keys: &Keys) -> Self {
        match task {
            Task::Load => Self::None,
            Task::Search { count, .. } => Self::Search(keys.present(count)),
            Task::Scan { starts, segments, entries } => Self::Scan {
                starts: keys.starts(starts, segments * entries),
                segments,
                buffer: ReturnBuffer::new(entries),
            },
            Task::Insert { count, .. } => Self::Insert(keys.absent(count)),
            Task::Remove { count, .. } => Self::Remove(keys.distinct(count)),
        }
    }

    /// Returns whether there is no operation.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of operations.
    pub fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Search(keys) | Self::Insert(keys) | Self::Remove(keys) => keys.len(),
            Self::Scan { starts, .. } => starts.len(),
        }
    }

    /// Returns the operation at `position`, modulo their number.
    pub fn at(&mut self, position: usize, keys: &Keys) -> Request<'_> {
        let nth = position % self.len().max(1);
        match self {
            Self::None => Request::None,
            Self::Search(wanted) => Request::Search { key: wanted[nth], keys: keys.spaced() },
            Self::Scan { starts, segments, buffer } => Request::Scan {
                start: starts[nth],
                keys: keys.spaced(),
                segments: *segments,
                buffer: buffer.as_mut_slice(),
            },
            Self::Insert(new) => Request::Insert(new[nth]),
            Self::Remove(old) => Request::Remove(old[nth]),
        }
    }

    /// Executes the operation at `position`, and returns whether the answer was right.
    ///
    /// # Errors
    /// When the index refuses it.
    pub fn perform(&mut self, position: usize, index: &mut Index, keys: &Keys) -> latchless::Result<bool> {
        self.at(position, keys).perform(index)
    }
}

/// One operation and all that its check needs, so that nothing but the index is read while it is timed.
#[derive(Debug)]
pub enum Request<'a> {
    /// No operation.
    None,
    /// A search.
    Search {
        /// For this key.
        key: u32,
        /// The index's keys.
        keys: Spaced,
    },
    /// A scan.
    Scan {
        /// The rank of its first key.
        start: usize,
        /// The index's keys.
        keys: Spaced,
        /// The number of segments, including the first.
        segments: usize,
        /// The buffer for a segment.
        buffer: &'a mut [u32],
    },
    /// An insert of this key.
    Insert(u32),
    /// A removal of this key.
    Remove(u32),
}

impl Request<'_> {
    /// Executes the operation, and returns whether the answer was right.
    ///
    /// # Errors
    /// When the index refuses it.
    pub fn perform(self, index: &mut Index) -> latchless::Result<bool> {
        match self {
            Self::None => Ok(true),
            Self::Search { key, keys } => Ok(index.get(key).is_some_and(|rank| keys.at(rank) == key)),
            Self::Scan { start, keys, segments, buffer } => scan(index, keys, start, segments, buffer),
            Self::Insert(new) => Ok(index.insert(new, 0)?.is_none()),
            Self::Remove(old) => Ok(index.remove(old).is_some()),
        }
    }
}

/// Checks the first and the last entry of every segment: the check must not outweigh the scan.
fn scan(
    index: &Index,
    keys: Spaced,
    start: usize,
    segments: usize,
    buffer: &mut [u32],
) -> latchless::Result<bool> {
    let from = (Bound::Included(keys.at(start as u32)), Bound::Unbounded);
    let mut scanner = index.scanner(from, Direction::Forward)?;
    let (mut right, mut next) = (true, start);
    for _ in 0..segments {
        let wanted = buffer.len().min(keys.count as usize - next);
        let found = scanner.fill_values(buffer)?;
        right &= found == wanted
            && buffer.first().is_none_or(|&rank| found == 0 || rank as usize == next)
            && buffer.get(found.wrapping_sub(1)).is_none_or(|&rank| rank as usize + 1 == next + found);
        next += found;
    }
    Ok(right)
}

/// A wrong answer ends the run: its time would mean nothing.
///
/// # Errors
/// [`LabError::Wrong`] unless all answers were right.
pub fn all_right(right: usize, of: usize, index: &'static str, task: Task) -> Result<()> {
    if right == of {
        return Ok(());
    }
    Err(LabError::Wrong { index, what: format!("{} of {of} answers of {task:?}", of - right) })
}
