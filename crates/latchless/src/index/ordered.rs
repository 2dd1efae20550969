//! Implementations of the traits that tests, the command line and benchmarks use.

use super::access::{Access, Holder, try_encode_range};
use super::scan::Scan;
use super::{ExclusiveIndex, Index};
use crate::tree::Mode;
use core::ops::ControlFlow;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{ConcurrentIndex, Direction, OrderedIndex, Scanner, Span, Sum};
use latchless_core::base::key::Key;
use latchless_core::base::request::{Reply, Request};
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Value;

impl<K: Key, V: Value, M: Mode> Access<'_, K, V, M> {
    /// Implements [`OrderedIndex::for_each_chunk`] in a mode.
    pub(super) fn some_chunks(
        self,
        span: Span<K>,
        limit: usize,
        each: &mut dyn FnMut(&[K], &[V]),
    ) -> Result<usize> {
        let mut seen = 0;
        let Some(range) = try_encode_range::<K, V>(&span)? else { return Ok(0) };
        let _ = self.chunks_within(range, (limit, usize::MAX), |keys, values| {
            let shown = keys.len().min(limit - seen);
            if shown > 0 {
                each(&keys[..shown], &values[..shown]);
            }
            seen += shown;
            if seen < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        Ok(seen)
    }

    /// Implements [`OrderedIndex::sum`] in a mode.
    pub(super) fn sum(self, span: Span<K>, limit: usize) -> Result<Sum> {
        let Some((low, high)) = try_encode_range::<K, V>(&span)? else { return Ok(Sum::default()) };
        let (entries, total) = self.tree.sum::<M>(low, high, limit);
        Ok(Sum { entries, total })
    }
}

/// Implements [`OrderedIndex`] for a type that reads by its own `access` and has an index in the given
/// field, or is one. Updates go through `&mut self`, so they take no latches.
macro_rules! ordered {
    ($owner:ident $(.$field:tt)?, $($more:item)?) => {
        impl<K: Key, V: Value> OrderedIndex<K, V> for $owner<K, V> {
            fn len(&self) -> usize {
                self.access().tree.len()
            }

            fn get(&self, key: K) -> Option<V> {
                self.access().get(key)
            }

            fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
                self.access().get_many(keys, answers)
            }

            fn insert(&mut self, key: K, value: V) -> Result<Option<V>> {
                self$(.$field)?.exclusive().insert(key, value)
            }

            fn remove(&mut self, key: K) -> Option<V> {
                self$(.$field)?.exclusive().remove(key)
            }

            fn insert_many(&mut self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
                Ok(self$(.$field)?.exclusive().insert_many(entries, replaced)?)
            }

            fn remove_many(&mut self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
                self$(.$field)?.exclusive().remove_many(keys, removed)
            }

            fn for_each_chunk(&self, span: Span<K>, limit: usize, each: &mut dyn FnMut(&[K], &[V])) -> Result<usize> {
                self.access().some_chunks(span, limit, each)
            }

            fn sum(&self, span: Span<K>, limit: usize) -> Result<Sum> {
                self.access().sum(span, limit)
            }

            fn page(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize> {
                self.access().page(try_encode_range::<K, V>(&span)?, direction, keys, values)
            }

            fn scanner<'a>(&'a self, span: Span<K>, direction: Direction) -> Result<Box<dyn Scanner<K, V> + 'a>> {
                Ok(Box::new(Scan::within(self, try_encode_range::<K, V>(&span)?, direction)))
            }

            fn count(&self, span: Span<K>) -> Result<usize> {
                Ok(self.access().count(try_encode_range::<K, V>(&span)?))
            }

            fn bulk_load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()> {
                self$(.$field)?.bulk_load(entries, fill)
            }

            fn execute(&mut self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>) {
                self$(.$field)?.exclusive().execute(requests, replies);
            }

            fn memory_bytes(&self) -> Option<usize> {
                Some(self.access().tree.held_bytes())
            }

            fn stats(&self) -> Option<Stats> {
                Some(self.access().tree.stats())
            }

            fn check_invariants(&self) -> Result<(), Broken> {
                self.access().tree.check_invariants()
            }

            $($more)?
        }
    };
}

ordered! {
    // Reads are shared, because there may be other threads: through `as_concurrent`.
    Index,
    fn as_concurrent(&self) -> Option<&dyn ConcurrentIndex<K, V>> {
        Some(self)
    }
}

ordered! { ExclusiveIndex.0, }

impl<K: Key, V: Value> ConcurrentIndex<K, V> for Index<K, V> {
    fn insert_shared(&self, key: K, value: V) -> Result<Option<V>> {
        self.insert(key, value)
    }

    fn remove_shared(&self, key: K) -> Option<V> {
        self.remove(key)
    }

    fn insert_many_shared(&self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<()> {
        Ok(self.insert_many(entries, replaced)?)
    }

    fn remove_many_shared(&self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        self.remove_many(keys, removed)
    }

    fn execute_shared(&self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>) {
        self.execute(requests, replies);
    }
}

impl<H: Holder> Scanner<H::Key, H::Value> for Scan<H> {
    fn fill(&mut self, keys: &mut [H::Key], values: &mut [H::Value]) -> Result<usize> {
        self.fill(keys, values)
    }

    fn fill_values(&mut self, values: &mut [H::Value]) -> Result<usize> {
        self.fill_values(values)
    }
}
