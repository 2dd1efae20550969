//! The trait by which tests, the command line and the lab drive the family.

use super::map::{Paused, PbTree};
use super::range::lane_range;
use crate::common::ordered::forwarded;
use crate::pb_tree::node::Shape;
use crate::pb_tree::tree::{Pairs, Total};
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::{Direction, OrderedIndex, Scanner, Span, Sum, check_buffers};
use latchless_core::base::key::Key;
use latchless_core::base::stats::Stats;
use latchless_core::base::value::Fits;

impl<K: Key, V: Fits<K::Bits>, S: Shape<Bits = K::Bits>> OrderedIndex<K, V> for PbTree<K, V, S> {
    forwarded! { len get get_many insert remove scanner count bulk_load memory_bytes stats check_invariants }

    fn page(&self, span: Span<K>, direction: Direction, keys: &mut [K], values: &mut [V]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        let mut scan = self.tree.scan(lane_range(&span)?, direction == Direction::Forward);
        Ok(scan.fill(&mut Pairs::new(keys, values)))
    }

    fn for_each_chunk(&self, span: Span<K>, limit: usize, each: &mut dyn FnMut(&[K], &[V])) -> Result<usize>
    where
        K: Default,
        V: Default,
    {
        const PAGE: usize = 128;
        let (mut keys, mut values) = ([K::default(); PAGE], [V::default(); PAGE]);
        let mut scan = self.tree.scan(lane_range(&span)?, true);
        loop {
            let left = limit - scan.seen();
            let room = PAGE.min(left);
            scan.expect_more(left - room);
            let found = scan.fill(&mut Pairs::new(&mut keys[..room], &mut values[..room]));
            if found == 0 {
                return Ok(scan.seen());
            }
            each(&keys[..found], &values[..found]);
        }
    }

    fn sum(&self, span: Span<K>, limit: usize) -> Result<Sum>
    where
        K: Default,
        V: Default,
    {
        let mut total = Total::<V>::of(limit);
        let entries = self.tree.scan(lane_range(&span)?, true).fill(&mut total);
        Ok(Sum { entries, total: total.total() })
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
