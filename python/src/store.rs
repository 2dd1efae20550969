//! Destinations of an index's changes: memory alone, a redo log first, or none. Reads are the same for all.
//!
//! Each change is a function of its own, not inlined, so that the wheel has it once.

use crate::cells::Cells;
use crate::engine::Undone;
use crate::lane::Lane;
use latchless::Index;
use latchless_log::{DurableIndex, Reader};
use std::ops::Bound;
use std::path::{Path, PathBuf};

/// The result of a change, unless it is refused.
pub type Result<T> = std::result::Result<T, Undone>;

/// An index, with its redo log if it has one.
#[expect(clippy::large_enum_variant, reason = "a box would cost each read of an index in memory a load more")]
pub enum Store<B: Lane> {
    /// In memory alone.
    Memory(Index<B, B>),
    /// With a log. Its changes may wait for the disk.
    Durable(Box<DurableIndex<B, B, Cells>>),
    /// Read from a folder, which changes don't reach: so none is made.
    ReadOnly(Box<ReadOnly<B>>),
}

/// An index that is only read.
pub struct ReadOnly<B: Lane> {
    /// The folder's entries.
    pub index: Index<B, B>,
    /// The folder.
    pub folder: PathBuf,
}

impl<B: Lane> ReadOnly<B> {
    /// The error for a change.
    #[cold]
    pub fn refusal(&self) -> Undone {
        Undone::ReadOnly(self.folder.clone())
    }
}

impl<B: Lane> Store<B> {
    /// The index, for reading.
    #[inline(always)]
    pub fn index(&self) -> Reader<'_, Index<B, B>> {
        match self {
            Self::Memory(index) => index.into(),
            Self::Durable(durable) => durable.index(),
            Self::ReadOnly(reading) => (&reading.index).into(),
        }
    }

    /// The folder of an index that is only read.
    pub fn folder_read(&self) -> Option<&Path> {
        match self {
            Self::ReadOnly(reading) => Some(&reading.folder),
            Self::Memory(_) | Self::Durable(_) => None,
        }
    }

    /// In a forked child: leaves the folder to the parent.
    pub fn forsake(&self) {
        if let Self::Durable(durable) = self {
            durable.forsake();
        }
    }

    /// Sets a key, and returns its value before.
    #[inline(never)]
    pub fn insert(&self, key: B, value: B) -> Result<Option<B>> {
        match self {
            Self::Memory(index) => Ok(index.insert(key, value)?),
            Self::Durable(durable) => Ok(durable.insert(key, value)?),
            Self::ReadOnly(reading) => Err(reading.refusal()),
        }
    }

    /// Removes a key, and returns its value.
    #[inline(never)]
    pub fn remove(&self, key: B) -> Result<Option<B>> {
        match self {
            Self::Memory(index) => Ok(index.remove(key)),
            Self::Durable(durable) => Ok(durable.remove(key)?),
            Self::ReadOnly(reading) => Err(reading.refusal()),
        }
    }

    /// The key's value; without one it gets this value first.
    #[inline(never)]
    pub fn get_or_insert(&self, key: B, value: B) -> Result<B> {
        match self {
            Self::Memory(index) => Ok(index.get_or_insert(key, value)?),
            Self::Durable(durable) => Ok(durable.get_or_insert(key, value)?),
            Self::ReadOnly(reading) => Err(reading.refusal()),
        }
    }

    /// Replaces the value of a present key, and returns the previous one.
    #[inline(never)]
    pub fn replace(&self, key: B, value: B) -> Result<Option<B>> {
        match self {
            Self::Memory(index) => Ok(index.replace(key, value)),
            Self::Durable(durable) => Ok(durable.replace(key, value)?),
            Self::ReadOnly(reading) => Err(reading.refusal()),
        }
    }

    /// Replaces the key's value if it is the expected one, and returns whether it was.
    #[inline(never)]
    pub fn compare_exchange(&self, key: B, expected: B, value: B) -> Result<bool> {
        match self {
            Self::Memory(index) => Ok(index.compare_exchange(key, expected, value).is_ok()),
            Self::Durable(durable) => Ok(durable.compare_exchange(key, expected, value)?),
            Self::ReadOnly(reading) => Err(reading.refusal()),
        }
    }

    /// Removes a key if its value is the expected one, and returns whether it was.
    #[inline(never)]
    pub fn compare_remove(&self, key: B, expected: B) -> Result<bool> {
        match self {
            Self::Memory(index) => Ok(index.compare_remove(key, expected).is_ok()),
            Self::Durable(durable) => Ok(durable.compare_remove(key, expected)?),
            Self::ReadOnly(reading) => Err(reading.refusal()),
        }
    }

    /// Removes the last entry, or the first one, and gives it back.
    #[inline(never)]
    pub fn pop(&self, last: bool) -> Result<Option<(B, B)>> {
        match (self, last) {
            (Self::Memory(index), false) => Ok(index.pop_first()),
            (Self::Memory(index), true) => Ok(index.pop_last()),
            (Self::Durable(durable), false) => Ok(durable.pop_first()?),
            (Self::Durable(durable), true) => Ok(durable.pop_last()?),
            (Self::ReadOnly(reading), _) => Err(reading.refusal()),
        }
    }

    /// Removes the entries of a range that isn't inverted, and returns how many there were.
    #[inline(never)]
    pub fn remove_range(&self, range: (Bound<B>, Bound<B>)) -> Result<usize> {
        match self {
            Self::Memory(index) => Ok(index.remove_range(range)?),
            Self::Durable(durable) => Ok(durable.remove_range(range)?),
            Self::ReadOnly(reading) => Err(reading.refusal()),
        }
    }

    /// Removes all entries.
    pub fn clear(&self) -> Result<()> {
        match self {
            Self::Memory(index) => {
                index.clear();
                Ok(())
            }
            Self::Durable(_) | Self::ReadOnly(_) => {
                self.remove_range((Bound::Unbounded, Bound::Unbounded)).map(drop)
            }
        }
    }
}
