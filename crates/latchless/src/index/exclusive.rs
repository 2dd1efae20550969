//! The sequential twin: the same structure and the same operations for who has the index alone.

use super::access::Access;
use super::batch::Incomplete;
use super::cursor::Cursor;
use super::point::TryInsertError;
use super::range::Entries;
use super::scan::Scan;
use super::{Group, Index};
use crate::tree;
use core::fmt;
use core::ops::{ControlFlow, RangeBounds};
use latchless_core::base::error::Result;
use latchless_core::base::index::Direction::{self, Forward, Reverse};
use latchless_core::base::key::Key;
use latchless_core::base::request::{Reply, Request};
use latchless_core::base::value::Value;

/// An [`Index`] that one thread has to itself: it takes no latch and validates nothing, so a single
/// thread pays nothing for the presence of others. Made by [`Index::exclusive`].
///
/// Every operation means what it means on [`Index`], where it is described. With nobody else there,
/// closures run once and ranges see exactly what is there: the compiler keeps changes away while an
/// iterator is in use.
///
/// ```
/// # let mut index = latchless::Index::<u64, u32>::new()?;
/// let mut alone = index.exclusive();
/// for key in [3, 5, 3] {
///     alone.upsert(key, |count| count.unwrap_or(0) + 1)?;
/// }
/// assert_eq!(alone.iter().collect::<Vec<_>>(), [(3, 2), (5, 1)]);
/// assert_eq!(alone.pop_first(), Some((3, 2)));
/// assert_eq!(alone.get_all(&[3, 5]), [None, Some(1)]);
/// alone.clear();
/// assert!(index.is_empty());
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct Exclusive<'a, K: Key, V: Value> {
    index: &'a mut Index<K, V>,
}

impl<'a, K: Key, V: Value> Exclusive<'a, K, V> {
    pub(super) fn new(index: &'a mut Index<K, V>) -> Self {
        Self { index }
    }

    pub(super) fn index(&self) -> &Index<K, V> {
        self.index
    }

    #[inline(always)]
    fn access(&self) -> Access<'_, K, V, tree::Exclusive> {
        Access::new(self.index)
    }

    /// As [`Index::len`], and always exact.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// As [`Index::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Forgets everything and gives the memory back to the system. O(1).
    pub fn clear(&mut self) {
        self.index.tree.clear();
    }
}

/// One key.
impl<K: Key, V: Value> Exclusive<'_, K, V> {
    /// As [`Index::get`].
    #[inline]
    pub fn get(&self, key: K) -> Option<V> {
        self.access().get(key)
    }

    /// As [`Index::contains_key`].
    #[inline]
    pub fn contains_key(&self, key: K) -> bool {
        self.access().get(key).is_some()
    }

    /// As [`Index::insert`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>> {
        self.access().insert(key, value)
    }

    /// As [`Index::try_insert`].
    ///
    /// # Errors
    /// As there.
    pub fn try_insert(&mut self, key: K, value: V) -> Result<(), TryInsertError<V>> {
        self.access().try_insert(key, value)
    }

    /// As [`Index::remove`].
    #[inline]
    pub fn remove(&mut self, key: K) -> Option<V> {
        self.access().remove(key)
    }

    /// As [`Index::replace`].
    #[inline]
    pub fn replace(&mut self, key: K, value: V) -> Option<V> {
        self.access().replace(key, value)
    }

    /// As [`Index::compare_exchange`].
    ///
    /// # Errors
    /// As there.
    pub fn compare_exchange(&mut self, key: K, expected: V, value: V) -> Result<V, Option<V>> {
        self.access().compare_exchange(key, expected, value)
    }

    /// As [`Index::compare_remove`].
    ///
    /// # Errors
    /// As there.
    pub fn compare_remove(&mut self, key: K, expected: V) -> Result<V, Option<V>> {
        self.access().compare_remove(key, expected)
    }

    /// As [`Index::update`].
    pub fn update(&mut self, key: K, change: impl FnMut(V) -> V) -> Option<V> {
        self.access().update(key, change)
    }

    /// As [`Index::upsert`].
    ///
    /// # Errors
    /// As there.
    pub fn upsert(&mut self, key: K, value: impl FnMut(Option<V>) -> V) -> Result<Option<V>> {
        self.access().upsert(key, value)
    }

    /// As [`Index::compute`].
    ///
    /// # Errors
    /// As there.
    pub fn compute(&mut self, key: K, value: impl FnMut(Option<V>) -> Option<V>) -> Result<Option<V>> {
        self.access().compute(key, value)
    }

    /// As [`Index::remove_if`].
    pub fn remove_if(&mut self, key: K, condition: impl FnMut(V) -> bool) -> Option<V> {
        self.access().remove_if(key, condition)
    }

    /// As [`Index::get_or_insert`].
    ///
    /// # Errors
    /// As there.
    pub fn get_or_insert(&mut self, key: K, value: V) -> Result<V> {
        self.access().get_or_insert_with(key, || value)
    }

    /// As [`Index::get_or_insert_with`].
    ///
    /// # Errors
    /// As there.
    pub fn get_or_insert_with(&mut self, key: K, value: impl FnOnce() -> V) -> Result<V> {
        self.access().get_or_insert_with(key, value)
    }
}

/// The ends and the neighbours of a key.
impl<K: Key, V: Value> Exclusive<'_, K, V> {
    /// As [`Index::first`].
    pub fn first(&self) -> Option<(K, V)> {
        self.access().end(Forward)
    }

    /// As [`Index::last`].
    pub fn last(&self) -> Option<(K, V)> {
        self.access().end(Reverse)
    }

    /// As [`Index::pop_first`].
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        self.access().pop(Forward)
    }

    /// As [`Index::pop_last`].
    pub fn pop_last(&mut self) -> Option<(K, V)> {
        self.access().pop(Reverse)
    }

    /// As [`Index::floor`].
    pub fn floor(&self, key: K) -> Option<(K, V)> {
        self.access().at_or_beside(key, Reverse)
    }

    /// As [`Index::ceiling`].
    pub fn ceiling(&self, key: K) -> Option<(K, V)> {
        self.access().at_or_beside(key, Forward)
    }

    /// As [`Index::lower`].
    pub fn lower(&self, key: K) -> Option<(K, V)> {
        self.access().beside(key, Reverse)
    }

    /// As [`Index::higher`].
    pub fn higher(&self, key: K) -> Option<(K, V)> {
        self.access().beside(key, Forward)
    }
}

/// Ranges.
impl<'a, K: Key, V: Value> Exclusive<'a, K, V> {
    /// As [`Index::range`].
    ///
    /// # Errors
    /// As there.
    pub fn range(&self, range: impl RangeBounds<K>) -> Result<Entries<&Self>> {
        Entries::of(self, range)
    }

    /// As [`Index::iter`].
    pub fn iter(&self) -> Entries<&Self> {
        Entries::all(self)
    }

    /// As [`Index::cursor`].
    pub fn cursor(&self) -> Cursor<&Self> {
        Cursor::of(self)
    }

    /// As [`Index::scanner`].
    ///
    /// # Errors
    /// As there.
    pub fn scanner(&self, range: impl RangeBounds<K>, direction: Direction) -> Result<Scan<&Self>> {
        Scan::of(self, range, direction)
    }

    /// As [`Index::scan`].
    ///
    /// # Errors
    /// As there.
    pub fn scan(
        &self,
        range: impl RangeBounds<K>,
        direction: Direction,
        keys: &mut [K],
        values: &mut [V],
    ) -> Result<usize> {
        self.access().scan(&range, direction, keys, values)
    }

    /// As [`Index::count`].
    ///
    /// # Errors
    /// As there.
    pub fn count(&self, range: impl RangeBounds<K>) -> Result<usize> {
        self.access().count(&range)
    }

    /// As [`Index::fold`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn fold<A>(&self, range: impl RangeBounds<K>, start: A, fold: impl FnMut(A, K, V) -> A) -> Result<A> {
        self.access().fold(&range, start, fold)
    }

    /// As [`Index::for_each`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn for_each(&self, range: impl RangeBounds<K>, mut each: impl FnMut(K, V)) -> Result<()> {
        self.access().fold(&range, (), |(), key, value| each(key, value))
    }

    /// As [`Index::visit`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn visit(
        &self,
        range: impl RangeBounds<K>,
        visit: impl FnMut(&[K], &[V]) -> ControlFlow<()>,
    ) -> Result<()> {
        self.access().visit(&range, visit)
    }

    /// As [`Index::remove_range`].
    ///
    /// # Errors
    /// As there.
    pub fn remove_range(&mut self, range: impl RangeBounds<K>) -> Result<usize> {
        self.access().remove_range(&range)
    }

    /// As [`Index::retain`].
    pub fn retain(&mut self, keep: impl FnMut(K, V) -> bool) -> usize {
        self.access().retain(keep)
    }
}

/// Batches. Groups are of the size that the index was made with; [`Exclusive::with_group`] changes it.
impl<K: Key, V: Value> Exclusive<'_, K, V> {
    /// Sets how many requests of a batch go down the tree together, from now on.
    pub fn with_group(self, group: Group) -> Self {
        self.index.group = group;
        self
    }

    /// As [`Index::get_many`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        self.access().get_many(keys, answers)
    }

    /// As [`Index::get_all`].
    pub fn get_all(&self, keys: &[K]) -> Vec<Option<V>> {
        self.access().get_all(keys)
    }

    /// As [`Index::insert_many`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn insert_many(&mut self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<(), Incomplete> {
        self.access().insert_many(entries, replaced)
    }

    /// As [`Index::remove_many`].
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn remove_many(&mut self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        self.access().remove_many(keys, removed)
    }

    /// As [`Index::execute`].
    pub fn execute(&mut self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>) {
        self.access().execute(requests, replies);
    }

    /// As [`Index::range_many`].
    ///
    /// # Errors
    /// As there.
    pub fn range_many<R: RangeBounds<K>>(
        &self,
        ranges: &[R],
        visit: impl FnMut(usize, &[K], &[V]) -> ControlFlow<()>,
    ) -> Result<()> {
        self.access().range_many(ranges, visit)
    }
}

impl<K: Key, V: Value> fmt::Debug for Exclusive<'_, K, V> {
    /// As a map, like [`Index`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.index.fmt(f)
    }
}
