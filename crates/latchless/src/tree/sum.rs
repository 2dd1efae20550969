//! Adding up the values of a range, without copying them out of their leaves.

use super::*;
use crate::node::operation::{Operation, Run, Search};
use latchless_core::base::index::Direction;
use sweep::Depth;

impl<B: Bits> BlinkTree<B> {
    /// Adds up the values of the first entries in `low..=high`, at most so many of them, modulo 2^64.
    /// Says how many there were, and their sum. Those of one leaf are of one moment.
    #[inline]
    pub fn sum<M: Mode>(&self, low: B, high: B, most: usize) -> (usize, u64) {
        let mut sweep = Sweep::new(low, high, Direction::Forward, most);
        sweep.expect(self.about(low, high));
        self.dispatch.run(SumUp { tree: self, sweep, most, mode: PhantomData::<M> })
    }
}

struct SumUp<'a, B, M> {
    tree: &'a BlinkTree<B>,
    sweep: Sweep<B>,
    most: usize,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for SumUp<'_, B, M> {
    type Output = (usize, u64);

    #[inline(always)]
    fn run<S: Search>(mut self) -> (usize, u64) {
        let (mut left, mut sum) = (self.most, 0u64);
        while left > 0
            && let Some((low, high)) = self.sweep.remaining()
        {
            let (entries, part) =
                self.sweep.next::<S, M, _>(self.tree, Depth::Entries, |leaf| leaf.sum::<S>(low, high, left));
            left -= entries;
            sum = sum.wrapping_add(part);
            self.sweep.shown(entries);
        }
        (self.most - left, sum)
    }
}
