//! The sequential twin as an owner: an index that never has more than one writer, as the compiler
//! sees to. For who needs the twin behind a trait object; [`Exclusive`](super::Exclusive) is the form
//! with all operations.

use super::access::Access;
use super::scan::Scan;
use super::{Exclusive, Index};
use crate::tree;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{Direction, OrderedIndex, Scanner, Span, Sum};
use latchless_core::base::key::Key;
use latchless_core::base::request::{Reply, Request};
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Value;

/// An [`Index`] that is changed through `&mut self` only, so that neither reads nor updates meet a
/// writer: nothing is latched and nothing validated.
///
/// ```
/// use latchless::index::ExclusiveIndex;
/// use latchless::index::OrderedIndex;
/// use latchless::Index;
///
/// let mut index: Box<dyn OrderedIndex<u64, u32>> = Box::new(ExclusiveIndex::from(Index::new()?));
/// index.insert(7, 70)?;
/// assert_eq!(index.get(7), Some(70));
/// assert!(index.as_concurrent().is_none());
/// # Ok::<(), latchless::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct ExclusiveIndex<K: Key, V: Value>(Index<K, V>);

impl<K: Key, V: Value> From<Index<K, V>> for ExclusiveIndex<K, V> {
    fn from(index: Index<K, V>) -> Self {
        Self(index)
    }
}

impl<K: Key, V: Value> From<ExclusiveIndex<K, V>> for Index<K, V> {
    fn from(alone: ExclusiveIndex<K, V>) -> Self {
        alone.0
    }
}

impl<K: Key, V: Value> ExclusiveIndex<K, V> {
    /// The index within, for [`super::Holder`].
    #[inline(always)]
    pub(super) fn index(&self) -> &Index<K, V> {
        &self.0
    }

    /// Every change goes through `&mut self`: whoever has `&self` shares it with readers alone.
    #[inline(always)]
    fn access(&self) -> Access<'_, K, V, tree::Exclusive> {
        Access::new(&self.0)
    }
}

impl<K: Key, V: Value> OrderedIndex<K, V> for ExclusiveIndex<K, V> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: K) -> Option<V> {
        self.access().get(key)
    }

    fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        self.access().get_many(keys, answers)
    }

    fn insert(&mut self, key: K, value: V) -> Result<Option<V>> {
        self.access().insert(key, value)
    }

    fn remove(&mut self, key: K) -> Option<V> {
        self.access().remove(key)
    }

    fn insert_many(&mut self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
        Ok(self.0.exclusive().insert_many(entries, replaced)?)
    }

    fn remove_many(&mut self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        self.access().remove_many(keys, removed)
    }

    fn visit(&self, span: Span<K>, limit: usize, visit: &mut dyn FnMut(&[K], &[V])) -> Result<usize> {
        self.access().visit_some(span, limit, visit)
    }

    fn sum(&self, span: Span<K>, limit: usize) -> Result<Sum> {
        self.access().sum(span, limit)
    }

    fn scan(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        self.access().scan(&span, direction, keys, values)
    }

    fn scanner<'a>(&'a self, span: Span<K>, direction: Direction) -> Result<Box<dyn Scanner<K, V> + 'a>> {
        Ok(Box::new(Scan::of(self, span, direction)?))
    }

    fn count(&self, span: Span<K>) -> Result<usize> {
        self.access().count(&span)
    }

    fn bulk_load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()> {
        self.0.bulk_load(entries, fill)
    }

    fn execute(&mut self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>) {
        Exclusive::execute(&mut self.0.exclusive(), requests, replies);
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.0.memory_bytes())
    }

    fn stats(&self) -> Option<Stats> {
        Some(self.0.stats())
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        self.0.check_invariants()
    }
}
