//! The map behind the traits that tests, the command line and the lab drive.

use super::{Scan, SpidermanMap};
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{ConcurrentIndex, Direction, OrderedIndex, Scanner, Span, check_buffers};
use latchless_core::base::key::Key;
use latchless_core::base::request::{Reply, Request};
use latchless_core::base::span::encoded_range;
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::Trace;

impl<K: Key, V: Fits<K::Bits>, T: Trace> OrderedIndex<K, V> for SpidermanMap<K, V, T> {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, key: K) -> Option<V> {
        self.get(key)
    }

    fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        self.get_many(keys, answers)
    }

    fn insert(&mut self, key: K, value: V) -> Result<Option<V>> {
        SpidermanMap::insert(self, key, value)
    }

    fn remove(&mut self, key: K) -> Option<V> {
        SpidermanMap::remove(self, key)
    }

    fn insert_many(&mut self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
        SpidermanMap::insert_many(self, entries, replaced)
    }

    fn remove_many(&mut self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        SpidermanMap::remove_many(self, keys, removed)
    }

    fn scan(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        Scan::new(self.tree(), encoded_range(&span)?, direction, keys.len()).fill(keys, values)
    }

    fn scanner<'a>(&'a self, span: Span<K>, direction: Direction) -> Result<Box<dyn Scanner<K, V> + 'a>> {
        Ok(Box::new(SpidermanMap::scan(self, span, direction)?))
    }

    fn count(&self, span: Span<K>) -> Result<usize> {
        SpidermanMap::count(self, span)
    }

    fn bulk_load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()> {
        self.bulk_load(entries, fill)
    }

    fn execute(&mut self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>) {
        SpidermanMap::execute(self, requests, replies);
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.memory_bytes())
    }

    fn stats(&self) -> Option<Stats> {
        Some(self.stats())
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        self.check_invariants()
    }

    fn as_concurrent(&self) -> Option<&dyn ConcurrentIndex<K, V>> {
        Some(self)
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Trace> ConcurrentIndex<K, V> for SpidermanMap<K, V, T> {
    fn insert_shared(&self, key: K, value: V) -> Result<Option<V>> {
        self.insert(key, value)
    }

    fn remove_shared(&self, key: K) -> Option<V> {
        self.remove(key)
    }

    fn insert_many_shared(&self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
        self.insert_many(entries, replaced)
    }

    fn remove_many_shared(&self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        self.remove_many(keys, removed)
    }

    fn execute_shared(&self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>) {
        self.execute(requests, replies);
    }
}
