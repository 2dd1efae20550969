//! The trait by which tests, the command line and the lab drive PI.

use super::map::Pi;
use super::query::Query;
use super::scan::Scan;
use crate::common::ordered::forwarded;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{Direction, OrderedIndex, Scanner, Span, check_buffers};
use latchless_core::base::key::Key;
use latchless_core::base::request::{Reply, Request};
use latchless_core::base::span::encoded_range;
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::Trace;

impl<K: Key, V: Fits<K::Bits>, T: Trace> OrderedIndex<K, V> for Pi<K, V, T> {
    forwarded! { len get get_many insert remove insert_many remove_many scanner count memory_bytes stats check_invariants }

    /// Executes in batches that are cut before and after a scan: it sees the effects of everything before
    /// it and of nothing after it.
    fn execute(&mut self, requests: &[Request<K, V>], replies: &mut Vec<Reply<K, V>>)
    where
        K: Default,
        V: Default,
    {
        let is_scan = |request: &Request<K, V>| matches!(request, Request::Scan { .. });
        for run in requests.chunk_by(|a, b| is_scan(a) == is_scan(b)) {
            let queries: Vec<Query<K, V>> = run.iter().map(query_of).collect();
            replies.extend(Pi::execute(self, &queries));
        }
    }

    fn page(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        Scan::new(&self.engine, encoded_range(&span)?, direction).fill(keys, values)
    }

    fn bulk_load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()> {
        self.bulk_load_filled(entries, fill)
    }
}

/// A request as a query.
fn query_of<K: Key, V: Copy>(request: &Request<K, V>) -> Query<K, V> {
    match *request {
        Request::Get(key) => Query::Search(key),
        Request::Insert(key, value) => Query::Insert(key, value),
        Request::Remove(key) => Query::Delete(key),
        Request::Scan { from, limit } => Query::From { low: from, limit },
    }
}
