//! The family behind the trait that tests, the command line and the lab drive.

use super::map::{Paused, PbTree};
use super::range::lane_range;
use crate::pb_tree::node::Shape;
use crate::pb_tree::tree::Pairs;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{Direction, OrderedIndex, Scanner, Span, check_buffers};
use latchless_core::base::key::Key;
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Fits;

impl<K: Key, V: Fits<K::Bits>, S: Shape<Bits = K::Bits>> OrderedIndex<K, V> for PbTree<K, V, S> {
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
        self.insert(key, value)
    }

    fn remove(&mut self, key: K) -> Option<V> {
        self.remove(key)
    }

    fn scan(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        let mut scan = self.tree.scan(lane_range(&span)?, direction == Direction::Forward);
        Ok(scan.fill(&mut Pairs::new(keys, values)))
    }

    fn scanner<'a>(&'a self, span: Span<K>, direction: Direction) -> Result<Box<dyn Scanner<K, V> + 'a>> {
        Ok(Box::new(PbTree::scan(self, span, direction)?))
    }

    fn count(&self, span: Span<K>) -> Result<usize> {
        PbTree::count(self, span)
    }

    fn bulk_load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()> {
        self.bulk_load(entries, fill)
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
}

impl<K: Key, V: Fits<K::Bits>, S: Shape<Bits = K::Bits>> Scanner<K, V> for Paused<'_, K, V, S> {
    fn fill(&mut self, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        self.fill(keys, values)
    }

    fn fill_values(&mut self, values: &mut [V]) -> Result<usize> {
        self.fill_values(values)
    }
}
