//! Ways to access an index: exclusively, from several threads at once, or through one lock.

use super::ranged::Ranged;
use super::word::Word;
use latchless::{Direction, Error, Result};
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::index::{ConcurrentIndex, Span, Sum};
use latchless_core::base::request::{Reply, Request};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{PoisonError, RwLock};

/// The operations that a stream of requests uses, whichever way the index is accessed.
pub trait Access<L> {
    /// See [`OrderedIndex::get`].
    fn get(&mut self, key: L) -> Option<L>;
    /// See [`OrderedIndex::get_many`].
    fn get_many(&mut self, keys: &[L], answers: &mut [Option<L>]) -> Result<()>;
    /// See [`OrderedIndex::insert`].
    fn insert(&mut self, key: L, value: L) -> Result<Option<L>>;
    /// See [`OrderedIndex::insert_many`].
    fn insert_many(&mut self, entries: &[(L, L)], replaced: &mut [Option<L>]) -> Result<()>;
    /// See [`OrderedIndex::remove`].
    fn remove(&mut self, key: L) -> Result<Option<L>>;
    /// See [`OrderedIndex::remove_many`].
    fn remove_many(&mut self, keys: &[L], removed: &mut [Option<L>]) -> Result<()>;
    /// Copies the entries from `from` upwards; see [`OrderedIndex::page`].
    fn page(&mut self, from: L, keys: &mut [L], values: &mut [L]) -> Result<usize>;
    /// See [`Ranged::by_iterator`].
    fn range(&mut self, from: L, limit: usize) -> Result<Sum>;
    /// See [`Ranged::by_leaf`].
    fn by_leaf(&mut self, from: L, limit: usize) -> Result<Sum>;
    /// See [`OrderedIndex::sum`].
    fn sum(&mut self, span: Span<L>, limit: usize) -> Result<Sum>;
    /// See [`OrderedIndex::count`].
    fn count(&mut self, span: Span<L>) -> Result<usize>;
}

/// The part in which the ways to an index differ; reads are the same through all of them.
pub trait Reach<L: Copy> {
    /// The index. Its own type if users would name it, so that no call goes through a table of functions.
    type Index: Ranged<L> + ?Sized;
    /// Passes the index to `ask` for a read.
    fn read<R>(&mut self, ask: impl FnOnce(&Self::Index) -> R) -> R;
    /// See [`Access::insert`].
    fn put(&mut self, key: L, value: L) -> Result<Option<L>>;
    /// See [`Access::insert_many`].
    fn put_many(&mut self, entries: &[(L, L)], replaced: &mut [Option<L>]) -> Result<()>;
    /// See [`Access::remove`].
    fn take(&mut self, key: L) -> Result<Option<L>>;
    /// See [`Access::remove_many`].
    fn take_many(&mut self, keys: &[L], removed: &mut [Option<L>]) -> Result<()>;
    /// See [`OrderedIndex::execute`].
    fn execute(&mut self, requests: &[Request<L, L>], replies: &mut Vec<Reply<L, L>>) -> Result<()>;
}

/// A way to an index, with all operations.
#[derive(Clone)]
pub struct Way<A>(pub A);

impl<L: Word, A: Reach<L>> Access<L> for Way<A> {
    #[inline(always)]
    fn get(&mut self, key: L) -> Option<L> {
        self.0.read(|index| index.get(key))
    }

    fn get_many(&mut self, keys: &[L], answers: &mut [Option<L>]) -> Result<()> {
        self.0.read(|index| index.get_many(keys, answers))
    }

    #[inline(always)]
    fn insert(&mut self, key: L, value: L) -> Result<Option<L>> {
        self.0.put(key, value)
    }

    fn insert_many(&mut self, entries: &[(L, L)], replaced: &mut [Option<L>]) -> Result<()> {
        self.0.put_many(entries, replaced)
    }

    #[inline(always)]
    fn remove(&mut self, key: L) -> Result<Option<L>> {
        self.0.take(key)
    }

    fn remove_many(&mut self, keys: &[L], removed: &mut [Option<L>]) -> Result<()> {
        self.0.take_many(keys, removed)
    }

    #[inline(always)]
    fn page(&mut self, from: L, keys: &mut [L], values: &mut [L]) -> Result<usize> {
        let span = (Bound::Included(from), Bound::Unbounded);
        self.0.read(|index| index.page(span, Direction::Forward, keys, values))
    }

    #[inline(always)]
    fn range(&mut self, from: L, limit: usize) -> Result<Sum> {
        self.0.read(|index| index.by_iterator(from, limit))
    }

    #[inline(always)]
    fn by_leaf(&mut self, from: L, limit: usize) -> Result<Sum> {
        self.0.read(|index| index.by_leaf(from, limit))
    }

    #[inline(always)]
    fn sum(&mut self, span: Span<L>, limit: usize) -> Result<Sum> {
        self.0.read(|index| index.sum(span, limit))
    }

    #[inline(always)]
    fn count(&mut self, span: Span<L>) -> Result<usize> {
        self.0.read(|index| index.count(span))
    }
}

/// Access by one thread that has the index exclusively.
pub struct Alone<'a, I: ?Sized>(pub &'a mut I);

impl<L: Word, I: Ranged<L> + ?Sized> Reach<L> for Alone<'_, I> {
    type Index = I;

    #[inline(always)]
    fn read<R>(&mut self, ask: impl FnOnce(&I) -> R) -> R {
        ask(self.0)
    }

    #[inline(always)]
    fn put(&mut self, key: L, value: L) -> Result<Option<L>> {
        self.0.insert(key, value)
    }

    fn put_many(&mut self, entries: &[(L, L)], replaced: &mut [Option<L>]) -> Result<()> {
        self.0.insert_many(entries, replaced)
    }

    #[inline(always)]
    fn take(&mut self, key: L) -> Result<Option<L>> {
        Ok(self.0.remove(key))
    }

    fn take_many(&mut self, keys: &[L], removed: &mut [Option<L>]) -> Result<()> {
        self.0.remove_many(keys, removed)
    }

    fn execute(&mut self, requests: &[Request<L, L>], replies: &mut Vec<Reply<L, L>>) -> Result<()> {
        self.0.execute(requests, replies);
        Ok(())
    }
}

/// Access by any number of threads: reads through `&self`, updates if the index supports concurrent ones.
pub struct Together<'a, I: ?Sized, W: ?Sized> {
    /// The index.
    pub index: &'a I,
    /// The same index, if it accepts updates from many threads.
    pub writer: Option<&'a W>,
}

impl<I: ?Sized, W: ?Sized> Clone for Together<'_, I, W> {
    fn clone(&self) -> Self {
        Self { index: self.index, writer: self.writer }
    }
}

impl<'a, I: ?Sized, W: ?Sized> Together<'a, I, W> {
    #[inline(always)]
    fn writer(&self) -> Result<&'a W> {
        self.writer.ok_or(Error::Unsupported { index: "this index", operation: "updates from many threads" })
    }
}

impl<L, I, W> Reach<L> for Together<'_, I, W>
where
    L: Word,
    I: Ranged<L> + ?Sized,
    W: ConcurrentIndex<L, L> + ?Sized,
{
    type Index = I;

    #[inline(always)]
    fn read<R>(&mut self, ask: impl FnOnce(&I) -> R) -> R {
        ask(self.index)
    }

    #[inline(always)]
    fn put(&mut self, key: L, value: L) -> Result<Option<L>> {
        self.writer()?.insert_shared(key, value)
    }

    fn put_many(&mut self, entries: &[(L, L)], replaced: &mut [Option<L>]) -> Result<()> {
        self.writer()?.insert_many_shared(entries, replaced)
    }

    #[inline(always)]
    fn take(&mut self, key: L) -> Result<Option<L>> {
        Ok(self.writer()?.remove_shared(key))
    }

    fn take_many(&mut self, keys: &[L], removed: &mut [Option<L>]) -> Result<()> {
        self.writer()?.remove_many_shared(keys, removed)
    }

    fn execute(&mut self, requests: &[Request<L, L>], replies: &mut Vec<Reply<L, L>>) -> Result<()> {
        self.writer()?.execute_shared(requests, replies);
        Ok(())
    }
}

/// Access by many threads through one lock, which a writer holds exclusively.
pub struct Locked<'a, L>(pub &'a RwLock<&'a mut dyn OrderedIndex<L, L>>);

impl<L> Clone for Locked<'_, L> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<L> Locked<'_, L> {
    #[inline(always)]
    fn write<R>(&self, ask: impl FnOnce(&mut dyn OrderedIndex<L, L>) -> R) -> R {
        ask(&mut **self.0.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<'a, L: Word> Reach<L> for Locked<'a, L> {
    type Index = dyn OrderedIndex<L, L> + 'a;

    #[inline(always)]
    fn read<R>(&mut self, ask: impl FnOnce(&Self::Index) -> R) -> R {
        ask(&**self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    #[inline(always)]
    fn put(&mut self, key: L, value: L) -> Result<Option<L>> {
        self.write(|index| index.insert(key, value))
    }

    fn put_many(&mut self, entries: &[(L, L)], replaced: &mut [Option<L>]) -> Result<()> {
        self.write(|index| index.insert_many(entries, replaced))
    }

    #[inline(always)]
    fn take(&mut self, key: L) -> Result<Option<L>> {
        Ok(self.write(|index| index.remove(key)))
    }

    fn take_many(&mut self, keys: &[L], removed: &mut [Option<L>]) -> Result<()> {
        self.write(|index| index.remove_many(keys, removed))
    }

    fn execute(&mut self, requests: &[Request<L, L>], replies: &mut Vec<Reply<L, L>>) -> Result<()> {
        self.write(|index| index.execute(requests, replies));
        Ok(())
    }
}

/// The reference with which every answer is compared.
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

    fn insert_many(&mut self, entries: &[(L, L)], replaced: &mut [Option<L>]) -> Result<()> {
        let old = entries.iter().map(|&(key, value)| BTreeMap::insert(self, key, value));
        replaced.iter_mut().zip(old).for_each(|(place, old)| *place = old);
        Ok(())
    }

    fn remove(&mut self, key: L) -> Result<Option<L>> {
        Ok(BTreeMap::remove(self, &key))
    }

    fn remove_many(&mut self, keys: &[L], removed: &mut [Option<L>]) -> Result<()> {
        let old = keys.iter().map(|key| BTreeMap::remove(self, key));
        removed.iter_mut().zip(old).for_each(|(place, old)| *place = old);
        Ok(())
    }

    fn page(&mut self, from: L, keys: &mut [L], values: &mut [L]) -> Result<usize> {
        let places = keys.iter_mut().zip(values);
        let copied =
            BTreeMap::range(self, from..).zip(places).map(|((&key, &value), (key_place, value_place))| {
                *key_place = key;
                *value_place = value;
            });
        Ok(copied.count())
    }

    fn range(&mut self, from: L, limit: usize) -> Result<Sum> {
        Access::sum(self, (Bound::Included(from), Bound::Unbounded), limit)
    }

    fn by_leaf(&mut self, from: L, limit: usize) -> Result<Sum> {
        Access::sum(self, (Bound::Included(from), Bound::Unbounded), limit)
    }

    fn sum(&mut self, span: Span<L>, limit: usize) -> Result<Sum> {
        let values = BTreeMap::range(self, span).map(|(_, &value)| super::word::number(value));
        Ok(values.take(limit).fold(Sum::default(), |sum, value| Sum {
            entries: sum.entries + 1,
            total: sum.total.wrapping_add(value),
        }))
    }

    fn count(&mut self, span: Span<L>) -> Result<usize> {
        Ok(BTreeMap::range(self, span).count())
    }
}
