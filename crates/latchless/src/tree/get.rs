//! Looking up one key.

use super::mode::Mode;
use super::{At, BlinkTree};
use crate::node::operation::{Operation, Run, Search};
use core::marker::PhantomData;
use latchless_core::base::key::Bits;
use latchless_core::search::Scalar;

impl<B: Bits> BlinkTree<B> {
    /// Returns the value of `key`.
    #[inline]
    pub fn get<M: Mode>(&self, key: B) -> Option<B> {
        self.dispatch.run(Get { tree: self, key, mode: PhantomData::<M> })
    }

    #[inline(always)]
    pub(super) fn get_with<S: Search, M: Mode>(&self, key: B) -> Option<B> {
        let guess = self.guesses.guess(key.to_u64());
        // No call returns to this function, so no register has to be saved.
        if let Some((node, share)) = guess
            && let Some(lines) = self.arena.near(node)
        {
            let at = At { node, lines };
            Self::ask_for_leaf(at, share);
            return self.get_from::<S, M>(at, key);
        }
        self.get_through_nodes::<M>(key)
    }

    /// Looks up a key whose leaf can't be predicted. A separate function, so that the longer way takes no
    /// registers from the short one. See [`BlinkTree::get`].
    #[inline(never)]
    fn get_through_nodes<M: Mode>(&self, key: B) -> Option<B> {
        self.dispatch.run(GetThroughNodes { tree: self, key, mode: PhantomData::<M> })
    }

    /// Looks up a key from `at`, the result of a descent. See [`BlinkTree::get`].
    #[inline(always)]
    fn get_from<S: Search, M: Mode>(&self, at: At<'_>, key: B) -> Option<B> {
        let (latch, leaf) = (at.latch(), at.leaf::<B>());
        if !M::SHARED {
            let (found, is_answer) = leaf.get_at_once::<S>(key);
            return if is_answer { found } else { self.get_again::<Scalar, M>(at, key) };
        }
        if let Some(version) = latch.stable_version() {
            let (found, is_answer) = leaf.get_at_once::<S>(key);
            if is_answer & latch.validate(version) {
                return found;
            }
        }
        self.get_again::<Scalar, M>(at, key)
    }

    /// Looks up a key when one read of `at` was not conclusive.
    #[cold]
    #[inline(never)]
    pub(super) fn get_again<S: Search, M: Mode>(&self, at: At<'_>, key: B) -> Option<B> {
        self.read_leaf_from::<M, _>(at, key, |leaf| leaf.get::<S>(key)).0
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

struct GetThroughNodes<'a, B, M> {
    tree: &'a BlinkTree<B>,
    key: B,
    mode: PhantomData<M>,
}

impl<B: Bits, M: Mode> Operation for GetThroughNodes<'_, B, M> {
    type Output = Option<B>;

    #[inline(always)]
    fn run<S: Search>(self) -> Option<B> {
        let (leaf, share) = self.tree.descend_through_nodes::<S>(self.key);
        let at = self.tree.at(leaf);
        BlinkTree::<B>::ask_for_leaf(at, share);
        self.tree.get_from::<S, M>(at, self.key)
    }
}
