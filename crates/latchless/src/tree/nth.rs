//! The entry at a position, and keys that partition the tree evenly.

use super::blink::BlinkTree;
use super::count::WALKED;
use super::ranks::recount::count_dirty;
use super::ranks::{Table, by_block};
use super::sweep::{AHEAD_OF_COUNTS, Sweep};
use crate::blink::Mode;
use crate::node::operation::{Operation, Search};
use crate::node::{Entries, LeafReader};
use core::marker::PhantomData;
use core::ops::Range;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;

impl<B: Bits> BlinkTree<B> {
    /// Returns the entry before which there are `position` others.
    pub fn nth<M: Mode>(&self, position: usize) -> Option<(B, B)> {
        Nth { tree: self, position, mode: PhantomData::<M> }.find()
    }

    /// Returns ascending keys that partition the entries into `parts` parts of about equal size.
    pub fn split_points<M: Mode>(&self, parts: usize) -> Vec<B> {
        let len = self.count::<M>(B::MIN, B::MAX);
        let parts = parts.min(len);
        let mut keys: Vec<B> = Vec::new();
        for part in 1..parts {
            let position = (part as u128 * len as u128 / parts as u128) as usize;
            let key = self.nth::<M>(position).map(|entry| entry.0);
            // Concurrent inserts and removals may move a position backwards.
            keys.extend(key.filter(|key| keys.last() < Some(key)));
        }
        keys
    }
}

struct Nth<'a, B, M> {
    tree: &'a BlinkTree<B>,
    position: usize,
    mode: PhantomData<M>,
}

/// The progress of a walk.
enum Walked<B> {
    Found((B, B)),
    /// There are fewer entries.
    Ended,
    /// It visited the maximum number of leaves.
    Stopped,
}

impl<B: Bits, M: Mode> Nth<'_, B, M> {
    fn find(&self) -> Option<(B, B)> {
        let start = (B::MIN, self.position);
        if !self.tree.ranks().are_kept() {
            match self.walk(start, WALKED) {
                Walked::Found(entry) => return Some(entry),
                Walked::Ended => return None,
                Walked::Stopped => {}
            }
        }
        match self.walk(self.keep().unwrap_or(start), usize::MAX) {
            Walked::Found(entry) => Some(entry),
            Walked::Ended | Walked::Stopped => None,
        }
    }

    /// Finds the bucket of the entry by cached counts, and returns the bucket's first key and the number of
    /// its entries before the entry; for the last bucket if the entry is in none. `None`: there are no
    /// cached counts.
    fn keep(&self) -> Option<(B, usize)> {
        let (table, _guard) = self.tree.ranks().kept_counts(self.tree.store())?;
        let mut counted = 0;
        // By counts that may be out of date, until none up to there is.
        let (block, mut left) = loop {
            let (block, left) = self.block_in(table);
            if block.end <= counted {
                break (block, left);
            }
            count_dirty::<_, M>(self.tree, table, counted..block.end);
            counted = block.end;
        };
        let mut bucket = block.start;
        while bucket + 1 < block.end && left >= table.count(bucket) {
            left -= table.count(bucket);
            bucket += 1;
        }
        Some((table.keys(bucket..bucket + 1).0, left))
    }

    /// Returns the block of buckets of the entry, and the number of the block's entries before the entry;
    /// for the last block if the entry is in none.
    fn block_in(&self, table: &Table) -> (Range<usize>, usize) {
        let mut left = self.position;
        for block in by_block(0..table.len()) {
            let sum = table.sum(block.clone());
            if left < sum || block.end == table.len() {
                return (block, left);
            }
            left -= sum;
        }
        unreachable!("a table has buckets")
    }

    fn walk(&self, start: (B, usize), leaves: usize) -> Walked<B> {
        self.tree.store().run(Walk { tree: self.tree, start, leaves, mode: PhantomData::<M> })
    }
}

/// Finds the entry at a position counted from a key, within a number of leaves.
struct Walk<'a, B, M> {
    tree: &'a BlinkTree<B>,
    start: (B, usize),
    leaves: usize,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for Walk<'_, B, M> {
    type Output = Walked<B>;

    #[inline(always)]
    fn run<S: Search>(self) -> Walked<B> {
        let (low, mut left) = self.start;
        let wanted = left.saturating_add(1);
        let mut sweep = Sweep::<B, AHEAD_OF_COUNTS>::with_room(low, B::MAX, Direction::Forward, wanted);
        let mut entries = Entries::default();
        for visited in 0..self.leaves {
            let Some((low, high)) = sweep.remaining() else { return Walked::Ended };
            let ((count, found), _) = sweep.next::<S, M, _>(
                self.tree,
                #[inline(always)]
                |leaf| {
                    if low <= leaf.low() && leaf.len() <= left {
                        return ((leaf.len(), None), leaf.fences());
                    }
                    LeafReader(leaf).copy_out::<S>(&mut entries);
                    entries.trim(low, high);
                    let entry = |&key: &B| (key, entries.values()[left]);
                    ((entries.keys().len(), entries.keys().get(left).map(entry)), leaf.fences())
                },
            );
            if let Some(entry) = found {
                self.tree.ranks().waste_visits(visited, 1);
                return Walked::Found(entry);
            }
            left -= count.min(left);
        }
        Walked::Stopped
    }
}
