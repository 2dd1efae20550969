//! The recommended index, updated as if other threads used it.

use latchless::{Direction, FillFactor, Index, Key, Result, Value};
use latchless_core::base::error::Broken;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::index::{ConcurrentIndex, Scanner, Span};
use latchless_core::base::request::{Reply, Request};
use latchless_core::base::stats::Stats;

/// Through its trait an index that is lent by `&mut` updates itself without latches; this one takes
/// them.
pub struct Shared<K: Key + Value>(pub Index<K, K>);

impl<K: Key + Value + Default> OrderedIndex<K, K> for Shared<K> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: K) -> Option<K> {
        self.0.get(key)
    }

    fn get_many(&self, keys: &[K], answers: &mut [Option<K>]) -> Result<()> {
        self.0.get_many(keys, answers)
    }

    fn insert(&mut self, key: K, value: K) -> Result<Option<K>> {
        self.0.insert_shared(key, value)
    }

    fn remove(&mut self, key: K) -> Option<K> {
        self.0.remove_shared(key)
    }

    fn insert_many(&mut self, entries: &[(K, K)], replaced: &mut [Option<K>]) -> Result<()> {
        self.0.insert_many_shared(entries, replaced)
    }

    fn remove_many(&mut self, keys: &[K], removed: &mut [Option<K>]) -> Result<()> {
        self.0.remove_many_shared(keys, removed)
    }

    fn page(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [K]) -> Result<usize> {
        OrderedIndex::page(&self.0, span, direction, keys, values)
    }

    fn scanner<'a>(&'a self, span: Span<K>, direction: Direction) -> Result<Box<dyn Scanner<K, K> + 'a>> {
        OrderedIndex::scanner(&self.0, span, direction)
    }

    fn count(&self, span: Span<K>) -> Result<usize> {
        OrderedIndex::count(&self.0, span)
    }

    fn bulk_load(&mut self, entries: &[(K, K)], fill: FillFactor) -> Result<()> {
        self.0.bulk_load(entries, fill)
    }

    fn execute(&mut self, requests: &[Request<K, K>], replies: &mut Vec<Reply<K, K>>) {
        self.0.execute_shared(requests, replies);
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
