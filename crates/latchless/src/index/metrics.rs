//! An index's sizes and counts for the `metrics` facade.

use super::engine::KeyFor;
use super::{Index, Storage};
use latchless_core::base::index_value::IndexValue;
use metrics::{counter, gauge};

/// Metrics, with the feature `metrics`.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Hands the index's sizes and counts to the program's recorder, under a label `index` of this name.
    /// O(1): a program calls it whenever its metrics are collected, and operations themselves record nothing.
    ///
    /// | metric | kind | what |
    /// |---|---|---|
    /// | `latchless_entries` | gauge | [`len`](Index::len) |
    /// | `latchless_memory_bytes` | gauge | [`memory_bytes`](Index::memory_bytes) |
    /// | `latchless_live_bytes` | gauge | [`live_bytes`](Index::live_bytes) |
    /// | `latchless_mapped_bytes` | gauge | [`mapped_bytes`](Index::mapped_bytes) |
    /// | `latchless_levels` | gauge | levels of the tree |
    /// | `latchless_splits_total` | counter | [`splits`](crate::Stats::splits) |
    /// | `latchless_restarts_total` | counter | [`restarts`](crate::Stats::restarts) |
    /// | `latchless_misled_total` | counter | [`misled`](crate::Stats::misled) |
    ///
    /// ```
    /// let orders: latchless::Index<u64, u64> = (0..1000).map(|key| (key, key)).collect();
    /// orders.publish_metrics("orders"); // To the recorder that the program has installed.
    /// ```
    pub fn publish_metrics(&self, name: &str) {
        let labels = [("index", name.to_owned())];
        let counted = self.engine.counted();
        gauge!("latchless_entries", &labels).set(self.len() as f64);
        gauge!("latchless_memory_bytes", &labels).set(self.memory_bytes() as f64);
        gauge!("latchless_live_bytes", &labels).set(self.live_bytes() as f64);
        gauge!("latchless_mapped_bytes", &labels).set(self.mapped_bytes() as f64);
        gauge!("latchless_levels", &labels).set(counted.levels as f64);
        counter!("latchless_splits_total", &labels).absolute(counted.splits);
        counter!("latchless_restarts_total", &labels).absolute(counted.restarts);
        counter!("latchless_misled_total", &labels).absolute(counted.misled);
    }
}
