//! The entry at a position, and keys that cut the tree into equal parts.

use super::count::WALKED;
use super::ranks::by_block;
use super::sweep::{AHEAD_OF_COUNTS, Depth};
use super::*;
use crate::node::Entries;
use crate::node::operation::{Operation, Run, Search};
use latchless_core::base::index::Direction;

impl<B: Bits> BlinkTree<B> {
    /// The entry before which there are so many others.
    pub fn nth<M: Mode>(&self, position: usize) -> Option<(B, B)> {
        self.dispatch.run(Nth { tree: self, position, mode: PhantomData::<M> })
    }

    /// Keys, ascending, before each of which there is a further part of the keys, one of so many equal ones.
    pub fn split_points<M: Mode>(&self, parts: usize) -> Vec<B> {
        let len = self.count::<M>(B::MIN, B::MAX);
        let parts = parts.min(len);
        let mut keys: Vec<B> = Vec::new();
        for part in 1..parts {
            let position = (part as u128 * len as u128 / parts as u128) as usize;
            let key = self.nth::<M>(position).map(|entry| entry.0);
            // Keys that come and go meanwhile may move a position backwards.
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

/// How far a walk came.
enum Walked<B> {
    Found((B, B)),
    /// There are fewer entries.
    Ended,
    /// It visited as many leaves as it may.
    Stopped,
}

impl<B: Bits, M: Mode> Operation for Nth<'_, B, M> {
    type Output = Option<(B, B)>;

    #[inline(always)]
    fn run<S: Search>(self) -> Self::Output {
        let start = (B::MIN, self.position);
        if !self.tree.ranks.are_kept() {
            match self.walk::<S>(start, WALKED) {
                Walked::Found(entry) => return Some(entry),
                Walked::Ended => return None,
                Walked::Stopped => {}
            }
        }
        match self.walk::<S>(self.keep::<S>().unwrap_or(start), usize::MAX) {
            Walked::Found(entry) => Some(entry),
            Walked::Ended | Walked::Stopped => None,
        }
    }
}

impl<B: Bits, M: Mode> Nth<'_, B, M> {
    /// Where the bucket of the entry begins, by the counts that are kept, and how many entries of it are before
    /// the entry; of the last bucket, if it isn't in any. `None`: no counts are kept.
    #[inline(never)]
    fn keep<S: Search>(&self) -> Option<(B, usize)> {
        let (table, _guard) = self.tree.kept_counts()?;
        let (mut left, last) = (self.position, table.len() - 1);
        for mut buckets in by_block(0..table.len()) {
            self.tree.settle::<S, M>(table, buckets.clone());
            let sum = table.sum(buckets.clone());
            if left >= sum && buckets.end <= last {
                left -= sum;
                continue;
            }
            let passes = |&bucket: &usize| {
                let count = table.count(bucket);
                let passes = left >= count && bucket < last;
                left -= if passes { count } else { 0 };
                !passes
            };
            let bucket = buckets.find(passes)?;
            return Some((table.keys(bucket..bucket + 1).0, left));
        }
        None
    }

    /// Looks for the entry before which there are so many at `low` or after it, in so many leaves.
    #[inline(never)]
    fn walk<S: Search>(&self, (low, mut left): (B, usize), leaves: usize) -> Walked<B> {
        let wanted = left.saturating_add(1);
        let mut sweep = Sweep::<B, AHEAD_OF_COUNTS>::with_room(low, B::MAX, Direction::Forward, wanted);
        let mut entries = Entries::default();
        for visited in 0..leaves {
            let Some((low, high)) = sweep.remaining() else { return Walked::Ended };
            let (count, found) = sweep.next::<S, M, _>(self.tree, Depth::Header, |leaf| {
                if low <= leaf.low() && leaf.len() <= left {
                    return (leaf.len(), None);
                }
                leaf.copy_out::<S>(&mut entries);
                entries.trim(low, high);
                let entry = |&key: &B| (key, entries.values()[left]);
                (entries.keys().len(), entries.keys().get(left).map(entry))
            });
            if let Some(entry) = found {
                self.tree.ranks.waste_visits(visited, 1);
                return Walked::Found(entry);
            }
            left -= count.min(left);
        }
        Walked::Stopped
    }
}
