//! Ways to an index: alone, from many threads at once, or through one lock.

use super::word::Word;
use latchless::base::index::ConcurrentIndex;
use latchless::{Direction, Error, OrderedIndex, Result};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{PoisonError, RwLock};

/// What a stream of requests asks of an index, however it is reached.
pub trait Access<L> {
    /// See [`OrderedIndex::get`].
    fn get(&mut self, key: L) -> Option<L>;
    /// See [`OrderedIndex::get_many`].
    fn get_many(&mut self, keys: &[L], answers: &mut [Option<L>]) -> Result<()>;
    /// See [`OrderedIndex::insert`].
    fn insert(&mut self, key: L, value: L) -> Result<Option<L>>;
    /// See [`OrderedIndex::remove`].
    fn remove(&mut self, key: L) -> Result<Option<L>>;
    /// The entries from `from` upwards; see [`OrderedIndex::scan`].
    fn scan(&mut self, from: L, keys: &mut [L], values: &mut [L]) -> Result<usize>;
}

/// One thread, the index to itself.
pub struct Alone<'a, L>(pub &'a mut dyn OrderedIndex<L, L>);

impl<L: Word> Access<L> for Alone<'_, L> {
    #[inline(always)]
    fn get(&mut self, key: L) -> Option<L> {
        self.0.get(key)
    }

    fn get_many(&mut self, keys: &[L], answers: &mut [Option<L>]) -> Result<()> {
        self.0.get_many(keys, answers)
    }

    #[inline(always)]
    fn insert(&mut self, key: L, value: L) -> Result<Option<L>> {
        self.0.insert(key, value)
    }

    #[inline(always)]
    fn remove(&mut self, key: L) -> Result<Option<L>> {
        Ok(self.0.remove(key))
    }

    #[inline(always)]
    fn scan(&mut self, from: L, keys: &mut [L], values: &mut [L]) -> Result<usize> {
        self.0.scan((Bound::Included(from), Bound::Unbounded), Direction::Forward, keys, values)
    }
}

/// Many threads at once: reads through `&self`, updates where the index is made for them.
pub struct Together<'a, L> {
    /// The index.
    pub index: &'a dyn OrderedIndex<L, L>,
    /// The same index, if it takes updates from many threads.
    pub writer: Option<&'a dyn ConcurrentIndex<L, L>>,
}

impl<L: Copy> Clone for Together<'_, L> {
    fn clone(&self) -> Self {
        Self { index: self.index, writer: self.writer }
    }
}

impl<'a, L> Together<'a, L> {
    fn writer(&self) -> Result<&'a dyn ConcurrentIndex<L, L>> {
        self.writer.ok_or(Error::Unsupported { index: "this index", operation: "updates from many threads" })
    }
}

impl<L: Word> Access<L> for Together<'_, L> {
    #[inline(always)]
    fn get(&mut self, key: L) -> Option<L> {
        self.index.get(key)
    }

    fn get_many(&mut self, keys: &[L], answers: &mut [Option<L>]) -> Result<()> {
        self.index.get_many(keys, answers)
    }

    #[inline(always)]
    fn insert(&mut self, key: L, value: L) -> Result<Option<L>> {
        self.writer()?.insert_shared(key, value)
    }

    #[inline(always)]
    fn remove(&mut self, key: L) -> Result<Option<L>> {
        Ok(self.writer()?.remove_shared(key))
    }

    #[inline(always)]
    fn scan(&mut self, from: L, keys: &mut [L], values: &mut [L]) -> Result<usize> {
        self.index.scan((Bound::Included(from), Bound::Unbounded), Direction::Forward, keys, values)
    }
}

/// Many threads, one at a time as soon as anybody writes.
pub struct Locked<'a, L>(pub &'a RwLock<&'a mut dyn OrderedIndex<L, L>>);

impl<L> Clone for Locked<'_, L> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<L: Word> Access<L> for Locked<'_, L> {
    #[inline(always)]
    fn get(&mut self, key: L) -> Option<L> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(key)
    }

    fn get_many(&mut self, keys: &[L], answers: &mut [Option<L>]) -> Result<()> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get_many(keys, answers)
    }

    #[inline(always)]
    fn insert(&mut self, key: L, value: L) -> Result<Option<L>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key, value)
    }

    #[inline(always)]
    fn remove(&mut self, key: L) -> Result<Option<L>> {
        Ok(self.0.write().unwrap_or_else(PoisonError::into_inner).remove(key))
    }

    #[inline(always)]
    fn scan(&mut self, from: L, keys: &mut [L], values: &mut [L]) -> Result<usize> {
        let index = self.0.read().unwrap_or_else(PoisonError::into_inner);
        index.scan((Bound::Included(from), Bound::Unbounded), Direction::Forward, keys, values)
    }
}

/// The reference that every answer is compared with.
impl<L: Word> Access<L> for BTreeMap<L, L> {
    fn get(&mut self, key: L) -> Option<L> {
        BTreeMap::get(self, &key).copied()
    }

    fn get_many(&mut self, keys: &[L], answers: &mut [Option<L>]) -> Result<()> {
        answers.iter_mut().zip(keys).for_each(|(answer, key)| *answer = BTreeMap::get(self, key).copied());
        Ok(())
    }

    fn insert(&mut self, key: L, value: L) -> Result<Option<L>> {
        Ok(BTreeMap::insert(self, key, value))
    }

    fn remove(&mut self, key: L) -> Result<Option<L>> {
        Ok(BTreeMap::remove(self, &key))
    }

    fn scan(&mut self, from: L, keys: &mut [L], values: &mut [L]) -> Result<usize> {
        let places = keys.iter_mut().zip(values);
        let copied = self.range(from..).zip(places).map(|((&key, &value), (key_place, value_place))| {
            *key_place = key;
            *value_place = value;
        });
        Ok(copied.count())
    }
}
