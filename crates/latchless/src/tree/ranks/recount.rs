//! Recounting dirty buckets.

use super::{Table, by_block};
use crate::blink::{Held, Mode};
use crate::node::operation::{Operation, Search};
use crate::node::{Entries, Leaf, LeafReader};
use crate::tree::blink::BlinkTree;
use crate::tree::store::Store;
use crate::tree::sweep::{AHEAD_OF_COUNTS, Sweep};
use core::marker::PhantomData;
use core::ops::Range;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;

/// A bucket that is being counted.
struct Count<'a, B> {
    table: &'a Table,
    bucket: usize,
    /// The number of keys that were found in it.
    found: usize,
    /// Its first and its last key.
    keys: (B, B),
}

impl<'a, B: Bits> Count<'a, B> {
    fn begin(table: &'a Table, bucket: usize) -> Self {
        Self { table, bucket, found: 0, keys: table.keys(bucket..bucket + 1) }
    }

    /// Adds a leaf's keys, and moves on to the bucket that its keys end in, or to the last before `end`.
    fn add(&mut self, store: &Store<B>, leaf: Leaf<'_, B>, entries: &mut Entries<B>, end: usize) {
        if self.keys.0 <= leaf.low() && leaf.high() <= self.keys.1 {
            self.found += leaf.len();
            entries.clear();
        } else {
            store.run(CopyOut { leaf, entries: &mut *entries });
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

/// A separate operation, so that it is compiled for its kernel, wherever the compiler places its caller.
struct CopyOut<'a, B: Bits> {
    leaf: Leaf<'a, B>,
    entries: &'a mut Entries<B>,
}

impl<B: Bits> Operation for CopyOut<'_, B> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        LeafReader(self.leaf).copy_out::<S>(self.entries);
    }
}

/// Adjacent dirty buckets whose first leaves were prefetched.
struct Asked<B> {
    buckets: Range<usize>,
    sweep: Sweep<B, AHEAD_OF_COUNTS>,
}

/// Counts those of these buckets that are dirty. For the holder of the mutex.
pub(in crate::tree) fn count_dirty<B: Bits, M: Mode>(
    tree: &BlinkTree<B>,
    table: &Table,
    buckets: Range<usize>,
) {
    let blocks = by_block(buckets);
    let dirty = blocks.flat_map(|block| core::iter::from_fn(move || table.take_dirty(block.clone())));
    // While some are counted, the leaves of the next ones are being prefetched, and the nodes above
    // those of the ones after these.
    let found = early(dirty.inspect(|buckets| tree.finder().ask_for_way(table.keys(buckets.clone()).0)));
    for asked in early(found.map(|buckets| ask_for_buckets(tree, table, buckets))) {
        tree.store().run(Recount { tree, table, asked, mode: PhantomData::<M> });
    }
}

fn ask_for_buckets<B: Bits>(tree: &BlinkTree<B>, table: &Table, buckets: Range<usize>) -> Asked<B> {
    let (low, high) = table.keys(buckets.clone());
    let mut sweep = Sweep::with_room(low, high, Direction::Forward, usize::MAX);
    tree.store().run(AskForFirst { tree, sweep: &mut sweep });
    Asked { buckets, sweep }
}

/// Counts buckets that were dirty.
#[inline(always)]
fn recount<B: Bits, S: Search, M: Mode>(tree: &BlinkTree<B>, table: &Table, asked: Asked<B>) {
    let Asked { buckets, mut sweep } = asked;
    let (mut count, mut entries) = (Count::begin(table, buckets.start), Entries::default());
    let mut leaves = 0;
    while sweep.remaining().is_some() {
        sweep.next_latched::<S, M>(tree, |leaf, held| {
            count.add(tree.store(), leaf, &mut entries, buckets.end);
            held.set_mark(true);
        });
        leaves += 1;
    }
    tree.ranks().waste_visits(leaves, buckets.len());
}

struct AskForFirst<'a, B> {
    tree: &'a BlinkTree<B>,
    sweep: &'a mut Sweep<B, AHEAD_OF_COUNTS>,
}

impl<B: Bits> Operation for AskForFirst<'_, B> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        self.sweep.ask_for_first::<S>(self.tree);
    }
}

struct Recount<'a, B, M> {
    tree: &'a BlinkTree<B>,
    table: &'a Table,
    asked: Asked<B>,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for Recount<'_, B, M> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(self) {
        recount::<_, S, M>(self.tree, self.table, self.asked);
    }
}

/// Yields the same items, each computed one step early.
fn early<I: Iterator>(mut items: I) -> impl Iterator<Item = I::Item> {
    let mut next = items.next();
    core::iter::from_fn(move || {
        let current = next.take()?;
        next = items.next();
        Some(current)
    })
}
