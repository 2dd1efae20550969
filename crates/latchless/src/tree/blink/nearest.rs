//! The entry at a key, or the next one before or behind it.

use super::*;
use crate::base::index::Direction;
use crate::base::span::{next, previous};
use crate::search::{Operation, Search};

impl<B: Bits> BlinkTree<B> {
    /// The entry at `from`, or the next one in that direction.
    #[inline]
    pub fn nearest<M: Mode>(&self, from: B, direction: Direction) -> Option<(B, B)> {
        self.dispatch.run(Nearest { tree: self, from, direction, mode: PhantomData::<M> })
    }
}

impl<B: Bits> BlinkTree<B> {
    /// The largest key that belongs to the same leaf as `key`.
    pub fn leaf_end<M: Mode>(&self, key: B) -> B {
        self.dispatch.run(LeafEnd { tree: self, key, mode: PhantomData::<M> })
    }
}

struct LeafEnd<'a, B, M> {
    tree: &'a BlinkTree<B>,
    key: B,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for LeafEnd<'_, B, M> {
    type Output = B;

    #[inline(always)]
    fn run<S: Search>(self) -> B {
        self.tree.read_leaf::<S, M, _>(self.key, |leaf| leaf.high())
    }
}

struct Nearest<'a, B, M> {
    tree: &'a BlinkTree<B>,
    from: B,
    direction: Direction,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for Nearest<'_, B, M> {
    type Output = Option<(B, B)>;

    #[inline(always)]
    fn run<S: Search>(self) -> Self::Output {
        let mut from = self.from;
        loop {
            let (found, end) = self.tree.read_leaf::<S, M, _>(from, |leaf| match self.direction {
                Direction::Forward => (leaf.first_from::<S>(from), leaf.high()),
                Direction::Reverse => (leaf.last_up_to::<S>(from), leaf.low()),
            });
            if found.is_some() {
                return found;
            }
            // Nothing left in this leaf: on to where the next one begins.
            from = match self.direction {
                Direction::Forward => next(end),
                Direction::Reverse => previous(end),
            }?;
        }
    }
}
