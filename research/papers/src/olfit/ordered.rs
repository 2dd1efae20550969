//! The traits by which tests, the command line and the lab drive the family. They have one value per key;
//! a map with duplicates keeps every entry, and returns that an insert replaced none.

use super::map::OlfitMap;
use super::{Kind, Scan, Scheme};
use crate::common::ordered::forwarded;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{
    ConcurrentIndex, Direction, OrderedIndex, Scanner, Span, check_buffers, check_side_by_side,
};
use latchless_core::base::key::Key;
use latchless_core::base::span::encoded_range;
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Fits;

impl<K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> OrderedIndex<K, V> for OlfitMap<K, V, D> {
    forwarded! { len get get_many scanner count bulk_load memory_bytes stats check_invariants }

    fn insert_many(&mut self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
        self.insert_many_shared(entries, replaced)
    }

    fn remove_many(&mut self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        self.remove_many_shared(keys, removed)
    }

    fn insert(&mut self, key: K, value: V) -> Result<Option<V>> {
        self.insert_alone(key, value)
    }

    fn remove(&mut self, key: K) -> Option<V> {
        self.remove_alone(key)
    }

    fn page(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        Scan::new(self.tree(), encoded_range(&span)?, direction, keys.len()).fill(keys, values)
    }

    fn as_concurrent(&self) -> Option<&dyn ConcurrentIndex<K, V>> {
        if D::Scheme::CONCURRENT { Some(self) } else { None }
    }
}

/// Under NO no other thread may use the map meanwhile, and [`OrderedIndex::as_concurrent`] doesn't offer
/// this: others would get wrong answers, though never foreign memory.
impl<K: Key, V: Fits<K::Bits>, D: Kind<Bits = K::Bits>> ConcurrentIndex<K, V> for OlfitMap<K, V, D> {
    fn insert_shared(&self, key: K, value: V) -> Result<Option<V>> {
        self.shared.insert(key, value)
    }

    fn remove_shared(&self, key: K) -> Option<V> {
        self.shared.remove(key)
    }

    fn insert_many_shared(&self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(entries.len(), replaced.len())?;
        let mut refused = Ok(());
        self.update_each(
            entries.len(),
            |at| entries[at].0,
            |at| {
                let (key, value) = entries[at];
                match self.shared.insert(key, value) {
                    Ok(before) => replaced[at] = before,
                    Err(error) => refused = Err(error),
                }
            },
        );
        refused
    }

    fn remove_many_shared(&self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), removed.len())?;
        self.update_each(keys.len(), |at| keys[at], |at| removed[at] = self.shared.remove(keys[at]));
        Ok(())
    }
}
