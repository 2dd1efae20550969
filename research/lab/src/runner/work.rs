//! Executing a task on an index, one operation at a time. The same code runs on the model and natively;
//! only its surroundings differ.

use super::data::{Keys, ReturnBuffer};
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
    if case.built == Built::Loaded {
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

    /// Executes the operation at `position`, and returns whether the answer was right.
    ///
    /// # Errors
    /// When the index refuses it.
    pub fn perform(&mut self, position: usize, index: &mut Index, keys: &Keys) -> latchless::Result<bool> {
        match self {
            Self::None => Ok(true),
            Self::Search(wanted) => {
                let key = wanted[position];
                Ok(index.get(key).is_some_and(|rank| keys.entries()[rank as usize].0 == key))
            }
            Self::Scan { starts, segments, buffer } => {
                scan(index, keys, starts[position], *segments, buffer.as_mut_slice())
            }
            Self::Insert(new) => Ok(index.insert(new[position], 0)?.is_none()),
            Self::Remove(old) => Ok(index.remove(old[position]).is_some()),
        }
    }
}

/// Checks the first and the last entry of every segment: the check must not outweigh the scan.
fn scan(
    index: &Index,
    keys: &Keys,
    start: usize,
    segments: usize,
    buffer: &mut [u32],
) -> latchless::Result<bool> {
    let from = (Bound::Included(keys.entries()[start].0), Bound::Unbounded);
    let mut scanner = index.scanner(from, Direction::Forward)?;
    let (mut right, mut next) = (true, start);
    for _ in 0..segments {
        let wanted = buffer.len().min(keys.entries().len() - next);
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
