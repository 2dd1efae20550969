//! Destinations of an index's changes: memory alone, a redo log first, or none. Reads are the same for all.
//!
//! Each change is a function of its own, not inlined, so that the wheel has it once.

use crate::batch::{CHUNK, RECORD};
use crate::engine::Undone;
use latchless::{BytesValue, Index, IndexValue, KeyFor, Reader};
use latchless_log::{Durable, Error, Kept, Stored};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of a change, unless it is refused.
pub type Result<T> = std::result::Result<T, Undone>;

/// An index, with its redo log if it has one, whose columns are `C`.
pub enum Store<K: KeyFor<V>, V: IndexValue, C> {
    /// In memory alone.
    Memory(Index<K, V>),
    /// With a log. Its changes may wait for the disk.
    Durable(Box<Durable<Index<K, V>, C>>),
    /// Read from a folder, which changes don't reach: so none is made.
    ReadOnly(Box<ReadOnly<K, V>>),
}

/// An index that is only read.
pub struct ReadOnly<K: KeyFor<V>, V: IndexValue> {
    /// The folder's entries.
    pub index: Index<K, V>,
    /// The folder.
    pub folder: PathBuf,
}

impl<K: KeyFor<V>, V: IndexValue> ReadOnly<K, V> {
    /// The error for a change.
    #[cold]
    pub fn refusal(&self) -> Undone {
        Undone::ReadOnly(self.folder.clone())
    }
}

/// A redo log, whatever it has the changes of: the operations that don't depend on keys.
pub trait Log: Send + Sync {
    /// Returns when all changes so far are on the disk.
    fn sync(&self) -> latchless_log::Result<()>;
    /// Saves a snapshot, and returns how many entries it has.
    fn snapshot(&self) -> latchless_log::Result<u64>;
    /// Why the last snapshot failed that was due.
    fn snapshot_failure(&self) -> Option<Arc<Error>>;
    /// Bytes of the log since the last snapshot.
    fn log_bytes(&self) -> u64;
    /// Syncs, and unlocks the folder.
    fn close(&self) -> latchless_log::Result<()>;
    /// In a forked child: leaves the folder to the parent.
    fn forsake(&self);
}

impl<I: Kept<C>, C: Send + Sync> Log for Durable<I, C> {
    fn sync(&self) -> latchless_log::Result<()> {
        Self::sync(self)
    }

    fn snapshot(&self) -> latchless_log::Result<u64> {
        Self::snapshot(self)
    }

    fn snapshot_failure(&self) -> Option<Arc<Error>> {
        Self::snapshot_failure(self)
    }

    fn log_bytes(&self) -> u64 {
        Self::log_bytes(self)
    }

    fn close(&self) -> latchless_log::Result<()> {
        Self::close(self)
    }

    fn forsake(&self) {
        Self::forsake(self);
    }
}

/// What the changes of an index reach.
#[derive(Clone, Copy)]
pub enum Reach<'a> {
    /// Memory alone.
    Memory,
    /// A log.
    Log(&'a dyn Log),
    /// Nothing: the index was read from this folder.
    Nothing(&'a Path),
}

impl Reach<'_> {
    /// How many entries a chunk of a batch of changes has.
    pub fn chunk(self) -> usize {
        match self {
            Self::Log(_) => RECORD,
            Self::Memory | Self::Nothing(_) => CHUNK,
        }
    }
}

/// How many keys of a chunk were new, or the places in it that were refused, and why the first one was.
pub type Inserted = std::result::Result<usize, (Vec<usize>, latchless::Error)>;

/// The outcome of inserting a chunk with a log.
pub fn logged(inserted: latchless_log::Result<usize>) -> Result<Inserted> {
    match inserted {
        Err(Error::Index { cause, refused }) => Ok(Err((refused, cause))),
        inserted => Ok(Ok(inserted?)),
    }
}

impl<K, V, C> Store<K, V, C>
where
    K: KeyFor<V, Engine: Stored<K, V, C>>,
    V: BytesValue,
    C: Send + Sync + 'static,
{
    /// The index, for reading.
    #[inline(always)]
    pub fn index(&self) -> &Reader<Index<K, V>> {
        match self {
            Self::Memory(index) => Reader::of(index),
            Self::Durable(durable) => durable.index(),
            Self::ReadOnly(reading) => Reader::of(&reading.index),
        }
    }

    /// The index, while it is filled.
    ///
    /// # Panics
    /// If it has a log, which it gets afterwards.
    pub fn in_memory(&mut self) -> &mut Index<K, V> {
        match self {
            Self::Memory(index) => index,
            Self::Durable(_) | Self::ReadOnly(_) => unreachable!("the log doesn't know what is loaded"),
        }
    }

    /// What its changes reach.
    #[inline]
    pub fn reach(&self) -> Reach<'_> {
        match self {
            Self::Memory(_) => Reach::Memory,
            Self::Durable(durable) => Reach::Log(&**durable),
            Self::ReadOnly(reading) => Reach::Nothing(&reading.folder),
        }
    }
}

/// The changes of a kind of index. `$given` makes a value of an argument as the index stores it, `$lent` as it
/// compares it, `$logged` as the log takes it, `$owned` one of its own; `$settled` is the outcome of replacing one.
macro_rules! changes {
    (
        impl[$($generic:tt)*] $store:ty, ($key:ty, $probe:ty), ($value:ty, $taken:ty);
        $given:path, $lent:path, $logged:path, $owned:path, $settled:path
    ) => {
        impl<$($generic)*> $store {
            /// Sets a key, and returns its value before.
            #[inline(never)]
            pub fn insert(&self, key: $probe, value: $taken) -> $crate::store::Result<Option<$value>> {
                match self {
                    Self::Memory(index) => Ok(index.insert(key, $given(value))?),
                    Self::Durable(durable) => Ok(durable.insert(key, $logged(value))?),
                    Self::ReadOnly(reading) => Err(reading.refusal()),
                }
            }

            /// Removes a key, and returns its value.
            #[inline(never)]
            pub fn remove(&self, key: $probe) -> $crate::store::Result<Option<$value>> {
                match self {
                    Self::Memory(index) => Ok(index.remove(key)),
                    Self::Durable(durable) => Ok(durable.remove(key)?),
                    Self::ReadOnly(reading) => Err(reading.refusal()),
                }
            }

            /// The key's value; without one it gets this value first.
            #[inline(never)]
            pub fn get_or_insert(&self, key: $probe, value: $taken) -> $crate::store::Result<$value> {
                match self {
                    Self::Memory(index) => Ok(index.get_or_insert(key, $given(value))?),
                    Self::Durable(durable) => Ok(durable.get_or_insert(key, $owned(value))?),
                    Self::ReadOnly(reading) => Err(reading.refusal()),
                }
            }

            /// Replaces the value of a present key, and returns the previous one.
            #[inline(never)]
            pub fn replace(&self, key: $probe, value: $taken) -> $crate::store::Result<Option<$value>> {
                match self {
                    Self::Memory(index) => Ok($settled(index.replace(key, $given(value)))?),
                    Self::Durable(durable) => Ok(durable.replace(key, $logged(value))?),
                    Self::ReadOnly(reading) => Err(reading.refusal()),
                }
            }

            /// Replaces the key's value if it is the expected one, and returns whether it was.
            #[inline(never)]
            pub fn compare_exchange(
                &self,
                key: $probe,
                [expected, value]: [$taken; 2],
            ) -> $crate::store::Result<bool> {
                match self {
                    Self::Memory(index) => {
                        let replaced = index.compare_exchange(key, $lent(expected), $given(value));
                        Ok($settled(replaced)?.is_ok())
                    }
                    Self::Durable(durable) => Ok(durable.compare_exchange(key, $logged(expected), $logged(value))?),
                    Self::ReadOnly(reading) => Err(reading.refusal()),
                }
            }

            /// Removes a key if its value is the expected one, and returns whether it was.
            #[inline(never)]
            pub fn compare_remove(&self, key: $probe, expected: $taken) -> $crate::store::Result<bool> {
                match self {
                    Self::Memory(index) => Ok(index.compare_remove(key, $lent(expected)).is_ok()),
                    Self::Durable(durable) => Ok(durable.compare_remove(key, $logged(expected))?),
                    Self::ReadOnly(reading) => Err(reading.refusal()),
                }
            }

            /// Removes the last entry, or the first one, and gives it back.
            #[inline(never)]
            pub fn pop(&self, last: bool) -> $crate::store::Result<Option<($key, $value)>> {
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
            pub fn remove_range(
                &self,
                range: (std::ops::Bound<$probe>, std::ops::Bound<$probe>),
            ) -> $crate::store::Result<usize> {
                match self {
                    Self::Memory(index) => Ok(index.remove_range(range)?),
                    Self::Durable(durable) => Ok(durable.remove_range(range)?),
                    Self::ReadOnly(reading) => Err(reading.refusal()),
                }
            }

            /// Removes all entries.
            pub fn clear(&self) -> $crate::store::Result<()> {
                match self {
                    Self::Memory(index) => {
                        index.clear();
                        Ok(())
                    }
                    Self::Durable(_) | Self::ReadOnly(_) => {
                        self.remove_range((std::ops::Bound::Unbounded, std::ops::Bound::Unbounded)).map(drop)
                    }
                }
            }
        }
    };
}
pub(crate) use changes;
