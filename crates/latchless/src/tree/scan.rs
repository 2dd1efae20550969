//! Visiting the entries of a range, leaf by leaf.

use super::blink::BlinkTree;
use super::sweep::Sweep;
use crate::blink::Mode;
use crate::node::Entries;
use crate::node::operation::{Operation, Search};
use core::marker::PhantomData;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;

impl<B: Bits> BlinkTree<B> {
    /// Calls `visit` with the entries of `low..=high`, leaf by leaf, until it returns `false`. The entries
    /// of one call are of one moment and ascend; the calls follow the direction. `wanted` is the maximum
    /// number of entries.
    #[inline]
    pub fn scan<M: Mode>(
        &self,
        low: B,
        high: B,
        direction: Direction,
        wanted: usize,
        mut visit: impl FnMut(&[B], &[B]) -> bool,
    ) {
        let visit = |leaf: &Entries<B>| visit(leaf.keys(), leaf.values());
        self.scan_leaves::<M>((low, high), direction, (wanted, usize::MAX), visit);
    }

    /// Calls `visit` with the copies of leaves themselves. `expected` is the number of entries that the
    /// caller probably needs. See [`BlinkTree::scan`].
    #[inline]
    pub fn scan_leaves<M: Mode>(
        &self,
        (low, high): (B, B),
        direction: Direction,
        (wanted, expected): (usize, usize),
        visit: impl FnMut(&Entries<B>) -> bool,
    ) {
        let range = (low, high, direction);
        self.store().run(Scan { tree: self, range, wanted, expected, visit, mode: PhantomData::<M> });
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

impl<B: Bits, M: Mode, F: FnMut(&Entries<B>) -> bool> Operation for Scan<'_, B, F, M> {
    type Output = ();

    #[inline(always)]
    fn run<S: Search>(mut self) {
        let (low, high, direction) = self.range;
        let mut sweep = Sweep::<B>::new(low, high, direction, self.wanted);
        sweep.expect(self.expected.min(self.tree.finder().about(low, high)));
        let mut entries = Entries::default();
        while sweep.next_leaf_with::<S, M>(self.tree, &mut entries) {
            if !(self.visit)(&entries) {
                return;
            }
        }
    }
}
