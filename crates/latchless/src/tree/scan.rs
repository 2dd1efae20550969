//! Showing the entries of a range, leaf by leaf.

use super::*;
use crate::node::Entries;
use crate::node::operation::{Operation, Run, Search};
use latchless_core::base::index::Direction;

impl<B: Bits> BlinkTree<B> {
    /// Shows `visit` the entries of `low..=high`, leaf by leaf, until it says `false`. The entries of one
    /// call are of one moment and ascend; the calls go in the direction. `wanted`: the most entries that
    /// will be wanted.
    #[inline]
    pub fn scan<M: Mode>(
        &self,
        low: B,
        high: B,
        direction: Direction,
        wanted: usize,
        mut visit: impl FnMut(&[B], &[B]) -> bool,
    ) {
        let visit = |leaf: &LeafCopy<B>| visit(leaf.keys(), leaf.values());
        self.scan_leaves::<M>((low, high), direction, (wanted, usize::MAX), visit);
    }

    /// As [`BlinkTree::scan`]; shows the copies themselves. `expected`: how many entries the caller is
    /// likely to want.
    #[inline]
    pub fn scan_leaves<M: Mode>(
        &self,
        (low, high): (B, B),
        direction: Direction,
        (wanted, expected): (usize, usize),
        visit: impl FnMut(&LeafCopy<B>) -> bool,
    ) {
        let range = (low, high, direction);
        self.dispatch.run(Scan { tree: self, range, wanted, expected, visit, mode: PhantomData::<M> });
    }
}

struct Scan<'a, B, F, M> {
    tree: &'a BlinkTree<B>,
    range: (B, B, Direction),
    wanted: usize,
    expected: usize,
    visit: F,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode, F: FnMut(&LeafCopy<B>) -> bool> Operation for Scan<'_, B, F, M> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(mut self) {
        let (low, high, direction) = self.range;
        let mut sweep = Sweep::<B>::new(low, high, direction, self.wanted);
        sweep.expect(self.expected.min(self.tree.about(low, high)));
        let mut entries = Entries::default();
        while sweep.next_leaf_with::<S, M>(self.tree, &mut entries) {
            if !(self.visit)(&entries) {
                return;
            }
        }
    }
}
