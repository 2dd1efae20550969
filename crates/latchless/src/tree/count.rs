//! Counting a range by the leaves' first lines.

use super::sweep::{AHEAD_OF_COUNTS, Depth};
use super::*;
use crate::node::Entries;
use crate::node::operation::{Operation, Run, Search};
use latchless_core::base::index::Direction;

impl<B: Bits> BlinkTree<B> {
    /// How many keys lie in `low..=high`. Reads one line of each leaf, and all lines of the first and
    /// the last leaf of the range.
    pub fn count<M: Mode>(&self, low: B, high: B) -> usize {
        self.dispatch.run(Count { tree: self, low, high, mode: PhantomData::<M> })
    }
}

struct Count<'a, B, M> {
    tree: &'a BlinkTree<B>,
    low: B,
    high: B,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for Count<'_, B, M> {
    type Output = usize;

    #[inline(always)]
    fn run<S: Search>(self) -> usize {
        let (low, high) = (self.low, self.high);
        let mut sweep = Sweep::<B, AHEAD_OF_COUNTS>::with_room(low, high, Direction::Forward, usize::MAX);
        let (mut entries, mut count) = (Entries::default(), 0);
        while let Some((low, high)) = sweep.remaining() {
            count += sweep.next::<S, M, _>(self.tree, Depth::Header, |leaf| {
                if low <= leaf.low() && leaf.high() <= high {
                    return leaf.len();
                }
                leaf.copy_out::<S>(&mut entries);
                entries.trim(low, high);
                entries.keys().len()
            });
        }
        count
    }
}
