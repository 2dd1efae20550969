//! Adding up the values of a range, without copying them out of their leaves.

use super::blink::BlinkTree;
use super::sweep::Sweep;
use crate::blink::Mode;
use crate::node::LeafReader;
use crate::node::operation::{Operation, Search};
use core::marker::PhantomData;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;

impl<B: Bits> BlinkTree<B> {
    /// Returns the number and the sum, modulo 2^64, of the values of the first `most` entries in
    /// `low..=high`. Those of one leaf are of one moment.
    #[inline]
    pub fn sum<M: Mode>(&self, low: B, high: B, most: usize) -> (usize, u64) {
        self.store().run(SumUp { tree: self, range: (low, high), most, mode: PhantomData::<M> })
    }
}

struct SumUp<'a, B, M> {
    tree: &'a BlinkTree<B>,
    range: (B, B),
    most: usize,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for SumUp<'_, B, M> {
    type Output = (usize, u64);

    #[inline(always)]
    fn run<S: Search>(self) -> (usize, u64) {
        let mut sweep = Sweep::<B>::new(self.range.0, self.range.1, Direction::Forward, self.most);
        sweep.expect(self.tree.finder().about(self.range.0, self.range.1));
        let (mut left, mut sum) = (self.most, 0u64);
        while left > 0
            && let Some((low, high)) = sweep.remaining()
        {
            let (start, ahead) = sweep.reach::<S>(self.tree);
            let (((entries, part), fences), _, _) = sweep.read::<M, _>(
                self.tree,
                start,
                #[inline(always)]
                |leaf| (LeafReader(leaf).sum::<S>(low, high, left, ahead), leaf.fences()),
            );
            sweep.advance(fences);
            left -= entries;
            sum = sum.wrapping_add(part);
            sweep.shown(entries);
        }
        (self.most - left, sum)
    }
}
