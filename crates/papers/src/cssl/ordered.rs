//! The family behind the traits that tests, the command line and the lab drive.

use super::map::CsslMap;
use super::scan::Scan;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{
    ConcurrentIndex, Direction, OrderedIndex, Scanner, Span, Sum, check_buffers,
};
use latchless_core::base::key::Key;
use latchless_core::base::span::encoded_range;
use latchless_core::base::stats::Stats;
use latchless_core::base::value::{Fits, Value};

impl<K: Key, V: Fits<K::Bits>> OrderedIndex<K, V> for CsslMap<K, V> {
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
        CsslMap::insert(self, key, value)
    }

    fn remove(&mut self, key: K) -> Option<V> {
        CsslMap::remove(self, key)
    }

    fn sum(&self, span: Span<K>, limit: usize) -> Result<Sum>
    where
        K: Key + Default,
        V: Value + Default,
    {
        let lanes = encoded_range(&span)?;
        Ok(lanes.map_or(Sum::default(), |(low, high)| self.pin().sum_lanes(low, high, limit)))
    }

    fn scan(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        CsslMap::scan(self, span, direction)?.fill(keys, values)
    }

    fn scanner<'a>(&'a self, span: Span<K>, direction: Direction) -> Result<Box<dyn Scanner<K, V> + 'a>> {
        let scan: Scan<'a, K, V> = CsslMap::scan(self, span, direction)?;
        Ok(Box::new(scan))
    }

    fn count(&self, span: Span<K>) -> Result<usize> {
        CsslMap::count(self, span)
    }

    /// A data list has no places to leave free: the fill factor isn't looked at.
    fn bulk_load(&mut self, entries: &[(K, V)], _: FillFactor) -> Result<()> {
        self.bulk_load(entries)
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.memory_bytes())
    }

    /// Levels are lanes, and the data list; there are no nodes above it.
    fn stats(&self) -> Option<Stats> {
        let space = self.space();
        Some(Stats { levels: space.lanes + 1, leaves: self.len(), leaf_fill: 1.0, ..Stats::default() })
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        self.check_invariants()
    }

    fn as_concurrent(&self) -> Option<&dyn ConcurrentIndex<K, V>> {
        Some(self)
    }
}

impl<K: Key, V: Fits<K::Bits>> ConcurrentIndex<K, V> for CsslMap<K, V> {
    fn insert_shared(&self, key: K, value: V) -> Result<Option<V>> {
        self.insert(key, value)
    }

    fn remove_shared(&self, key: K) -> Option<V> {
        self.remove(key)
    }
}
