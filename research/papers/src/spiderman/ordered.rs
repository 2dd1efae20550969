//! The traits by which tests, the command line and the lab drive the map.

use super::{Scan, SpidermanMap};
use crate::common::ordered::forwarded;
use crate::spiderman::page::Form;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{ConcurrentIndex, Direction, OrderedIndex, Scanner, Span, check_buffers};
use latchless_core::base::key::Key;
use latchless_core::base::request::{Reply, Request};
use latchless_core::base::span::encoded_range;
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Fits;

impl<K: Key, V: Fits<K::Bits>, T: Form> OrderedIndex<K, V> for SpidermanMap<K, V, T> {
    forwarded! { len get get_many insert remove insert_many remove_many scanner count bulk_load memory_bytes stats check_invariants }

    fn page(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        Scan::new(self.tree(), encoded_range(&span)?, direction, keys.len()).fill(keys, values)
    }

    fn execute(&mut self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>) {
        SpidermanMap::execute(self, requests, replies);
    }

    fn as_concurrent(&self) -> Option<&dyn ConcurrentIndex<K, V>> {
        Some(self)
    }
}

impl<K: Key, V: Fits<K::Bits>, T: Form> ConcurrentIndex<K, V> for SpidermanMap<K, V, T> {
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
