//! Counting a range: a few leaves by their headers, more by cached counts.

use super::blink::BlinkTree;
use super::ranks::by_block;
use super::ranks::recount::count_dirty;
use super::sweep::{AHEAD_OF_COUNTS, Sweep};
use crate::blink::Mode;
use crate::node::operation::{Operation, Search};
use crate::node::{Entries, Leaf, LeafReader};
use core::marker::PhantomData;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;
use latchless_core::base::span::{before, behind};

/// Leaves that are counted one by one before cached counts are built. Harsher in tests.
pub(super) const WALKED: usize = if cfg!(debug_assertions) { 1 } else { 256 };
/// Leaves that are counted one by one before cached counts are looked up.
const FEW: usize = if cfg!(debug_assertions) { 0 } else { 4 };

impl<B: Bits> BlinkTree<B> {
    /// Returns the number of keys in `low..=high`. Each leaf's count is of a moment during the call, or
    /// cached and unchanged since.
    pub fn count<M: Mode>(&self, low: B, high: B) -> usize {
        Count { tree: self, mode: PhantomData::<M> }.count((low, high))
    }
}

struct Count<'a, B, M> {
    tree: &'a BlinkTree<B>,
    mode: PhantomData<M>,
}

/// The part of a range that cached counts cover.
struct Kept<B> {
    /// The number of keys in whole buckets.
    count: usize,
    /// The rest of the range at either end.
    rest: [Option<(B, B)>; 2],
}

impl<B: Bits, M: Mode> Count<'_, B, M> {
    fn count(&self, range: (B, B)) -> usize {
        let walked = if self.tree.ranks().are_kept() { FEW } else { WALKED };
        let (count, rest) = self.walk(range, walked);
        let Some(range) = rest else { return count };
        let kept = self.keep(range.0, range.1).unwrap_or(Kept { count: 0, rest: [Some(range), None] });
        let rest = kept.rest.into_iter().flatten();
        count + kept.count + rest.map(|range| self.walk(range, usize::MAX).0).sum::<usize>()
    }

    /// Counts by cached counts. `None`: there are none.
    fn keep(&self, low: B, high: B) -> Option<Kept<B>> {
        let (table, _guard) = self.tree.ranks().kept_counts(self.tree.store())?;
        let (first, last) = (table.bucket_of(low.to_u64()), table.bucket_of(high.to_u64()));
        let starts_inside = table.keys::<B>(first..first + 1).0 < low;
        let ends_inside = high < table.keys::<B>(last..last + 1).1;
        let whole = first + usize::from(starts_inside)..last + usize::from(!ends_inside);
        if whole.is_empty() {
            return Some(Kept { count: 0, rest: [Some((low, high)), None] });
        }
        count_dirty::<_, M>(self.tree, table, whole.clone());
        let (start, end) = table.keys::<B>(whole.clone());
        let left = starts_inside.then(|| (low, before(start)));
        let right = ends_inside.then(|| (behind(end), high));
        Some(Kept { count: by_block(whole).map(|part| table.sum(part)).sum(), rest: [left, right] })
    }

    /// Counts leaf by leaf. Also returns the rest of the range after `leaves` leaves.
    fn walk(&self, range: (B, B), leaves: usize) -> (usize, Option<(B, B)>) {
        self.tree.store().run(Walk { tree: self.tree, range, leaves, mode: PhantomData::<M> })
    }
}

/// Counts leaf by leaf: reads one line of each leaf, and all lines of the first and the last leaf of the
/// range.
struct Walk<'a, B, M> {
    tree: &'a BlinkTree<B>,
    range: (B, B),
    leaves: usize,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for Walk<'_, B, M> {
    type Output = (usize, Option<(B, B)>);

    #[inline(always)]
    fn run<S: Search>(self) -> Self::Output {
        let Self { range: (low, high), leaves, .. } = self;
        let wanted = leaves.saturating_mul(Leaf::<B>::CAPACITY);
        let mut sweep = Sweep::<B, AHEAD_OF_COUNTS>::with_room(low, high, Direction::Forward, wanted);
        let (mut entries, mut count, mut visited) = (Entries::default(), 0, 0);
        while let Some((low, high)) = sweep.remaining().filter(|_| visited < leaves) {
            let (own, _) = sweep.next::<S, M, _>(
                self.tree,
                #[inline(always)]
                |leaf| {
                    if low <= leaf.low() && leaf.high() <= high {
                        return (leaf.len(), leaf.fences());
                    }
                    LeafReader(leaf).copy_out::<S>(&mut entries);
                    entries.trim(low, high);
                    (entries.keys().len(), leaf.fences())
                },
            );
            count += own;
            visited += 1;
        }
        if leaves == usize::MAX {
            self.tree.ranks().waste_visits(visited, 1);
        }
        (count, sweep.remaining())
    }
}
