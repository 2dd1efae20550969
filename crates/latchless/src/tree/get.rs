//! Looking up one key.

use super::*;
use crate::node::operation::{Operation, Run, Search};
use latchless_core::search::Scalar;

impl<B: Bits> BlinkTree<B> {
    /// The value under `key`.
    #[inline]
    pub fn get<M: Mode>(&self, key: B) -> Option<B> {
        self.dispatch.run(Get { tree: self, key, mode: PhantomData::<M> })
    }

    #[inline(always)]
    pub(super) fn get_with<S: Search, M: Mode>(&self, key: B) -> Option<B> {
        let at = self.descend::<S>(key);
        let (latch, leaf) = (at.latch(), at.leaf::<B>());
        if !M::SHARED {
            let found = leaf.get::<S>(key);
            return if leaf.covers(key) { found } else { self.get_again::<Scalar, M>(at, key) };
        }
        if let Some(version) = latch.stable_version() {
            let inside = leaf.covers(key);
            let found = leaf.get::<S>(key);
            if inside && latch.validate(version) {
                return found;
            }
        }
        self.get_again::<Scalar, M>(at, key)
    }

    /// As [`BlinkTree::get_with`], when looking once didn't settle it. `at`: where that was.
    #[cold]
    #[inline(never)]
    pub(super) fn get_again<S: Search, M: Mode>(&self, at: At<'_>, key: B) -> Option<B> {
        self.read_leaf_from::<S, M, _>(at, key, |leaf| leaf.get::<S>(key)).0
    }
}

struct Get<'a, B, M> {
    tree: &'a BlinkTree<B>,
    key: B,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for Get<'_, B, M> {
    type Output = Option<B>;

    #[inline(always)]
    fn run<S: Search>(self) -> Option<B> {
        self.tree.get_with::<S, M>(self.key)
    }
}
