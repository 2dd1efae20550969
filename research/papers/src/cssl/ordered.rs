//! The traits by which tests, the command line and the lab drive the family.

use super::Scan;
use super::map::CsslMap;
use crate::common::ordered::forwarded;
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
    forwarded! { len get get_many insert remove scanner count memory_bytes check_invariants }

    fn sum(&self, span: Span<K>, limit: usize) -> Result<Sum>
    where
        K: Key + Default,
        V: Value + Default,
    {
        let lanes = encoded_range(&span)?;
        Ok(lanes.map_or(Sum::default(), |(low, high)| self.pin().sum_lanes(low, high, limit)))
    }

    fn page(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        Scan::new(&self.list, encoded_range(&span)?, direction, keys.len()).fill(keys, values)
    }

    /// A data list has no places to leave free: the fill factor is ignored.
    fn bulk_load(&mut self, entries: &[(K, V)], _: FillFactor) -> Result<()> {
        self.bulk_load(entries)
    }

    /// Levels are the lanes and the data list; there are no nodes above it.
    fn stats(&self) -> Option<Stats> {
        let space = self.space();
        let mut stats = Stats::default();
        stats.levels = space.lanes + 1;
        stats.leaves = self.len();
        stats.leaf_fill = 1.0;
        Some(stats)
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
