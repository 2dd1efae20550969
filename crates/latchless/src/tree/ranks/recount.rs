//! Counting dirty buckets anew.

use super::{Table, by_block};
use crate::node::Entries;
use crate::node::operation::Search;
use crate::tree::mode::Held;
use crate::tree::sweep::{AHEAD_OF_COUNTS, Sweep};
use crate::tree::*;
use core::ops::Range;
use latchless_core::base::index::Direction;

/// A bucket that is being counted.
struct Count<'a, B> {
    table: &'a Table,
    bucket: usize,
    /// How many keys were found in it.
    found: usize,
    /// Its first and its last key.
    keys: (B, B),
}

impl<'a, B: Bits> Count<'a, B> {
    fn begin(table: &'a Table, bucket: usize) -> Self {
        Self { table, bucket, found: 0, keys: table.keys(bucket..bucket + 1) }
    }

    /// Adds what a leaf has, and goes on to the bucket that its keys end in, or to the last before `end`.
    fn add<S: Search>(&mut self, leaf: Leaf<'_, B>, entries: &mut Entries<B>, end: usize) {
        if self.keys.0 <= leaf.low() && leaf.high() <= self.keys.1 {
            self.found += leaf.len();
            entries.clear();
        } else {
            leaf.copy_out::<S>(entries);
        }
        let mut rest = entries.keys();
        loop {
            rest = &rest[rest.partition_point(|&key| key < self.keys.0)..];
            let own = rest.partition_point(|&key| key <= self.keys.1);
            (self.found, rest) = (self.found + own, &rest[own..]);
            if leaf.high() < self.keys.1 {
                return;
            }
            self.table.set_count(self.bucket, self.found);
            if self.bucket + 1 == end {
                return;
            }
            *self = Self::begin(self.table, self.bucket + 1);
        }
    }
}

impl<B: Bits> BlinkTree<B> {
    /// Counts those of these buckets that are dirty. For the holder of the mutex.
    pub(in crate::tree) fn settle<S: Search, M: Mode>(&self, table: &Table, buckets: Range<usize>) {
        for block in by_block(buckets) {
            while let Some(dirty) = table.take_dirty(block.clone()) {
                self.recount::<S, M>(table, dirty);
            }
        }
    }

    /// Counts buckets that were dirty.
    fn recount<S: Search, M: Mode>(&self, table: &Table, buckets: Range<usize>) {
        let (low, high) = table.keys(buckets.clone());
        let mut sweep = Sweep::<B, AHEAD_OF_COUNTS>::with_room(low, high, Direction::Forward, usize::MAX);
        let (mut count, mut entries) = (Count::begin(table, buckets.start), Entries::default());
        let mut leaves = 0;
        while sweep.remaining().is_some() {
            sweep.next_latched::<S, M>(self, |leaf, held| {
                count.add::<S>(leaf, &mut entries, buckets.end);
                held.set_mark(true);
            });
            leaves += 1;
        }
        self.ranks.waste_visits(leaves, buckets.len());
    }
}
