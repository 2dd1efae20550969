//! Looking up one key.

use super::blink::BlinkTree;
use super::finder::Finder;
use super::store::At;
use crate::blink::{Levels, Mode};
use crate::node::operation::{Operation, Search};
use core::marker::PhantomData;
use latchless_core::base::key::Bits;
use latchless_core::search::Scalar;

impl<B: Bits> BlinkTree<B> {
    /// Returns the value of `key`.
    #[inline]
    pub fn get<M: Mode>(&self, key: B) -> Option<B> {
        self.store().run(Get { tree: self, key, mode: PhantomData::<M> })
    }
}

#[inline(always)]
pub(super) fn get_with<B: Bits, S: Search, M: Mode>(tree: &BlinkTree<B>, key: B) -> Option<B> {
    let guess = tree.finder().guesses().guess(key.to_u64());
    // No call returns to this function, so no register has to be saved.
    if let Some((node, share)) = guess
        && let Some(at) = tree.store().near(node)
    {
        Finder::<B>::ask_for_leaf(at, share);
        return get_from::<_, S, M>(tree, at, key);
    }
    get_through_nodes::<_, M>(tree, key)
}

/// Looks up a key whose leaf can't be predicted. A separate function, so that the longer way takes no
/// registers from the short one. See [`BlinkTree::get`].
#[inline(never)]
fn get_through_nodes<B: Bits, M: Mode>(tree: &BlinkTree<B>, key: B) -> Option<B> {
    tree.store().run(GetThroughNodes { tree, key, mode: PhantomData::<M> })
}

/// Looks up a key from `at`, the result of a descent. See [`BlinkTree::get`].
#[inline(always)]
fn get_from<B: Bits, S: Search, M: Mode>(tree: &BlinkTree<B>, at: At<'_>, key: B) -> Option<B> {
    let (latch, leaf) = (at.latch(), at.leaf::<B>());
    if !M::SHARED {
        let (found, is_answer) = leaf.get_at_once::<S>(key);
        return if is_answer { found } else { get_again::<_, M>(tree, at, key) };
    }
    if let Some(version) = latch.stable_version() {
        let (found, is_answer) = leaf.get_at_once::<S>(key);
        if is_answer & latch.validate(version) {
            return found;
        }
    }
    get_again::<_, M>(tree, at, key)
}

/// Looks up a key when one read of `at` was not conclusive.
#[cold]
#[inline(never)]
pub(super) fn get_again<B: Bits, M: Mode>(tree: &BlinkTree<B>, at: At<'_>, key: B) -> Option<B> {
    tree.finder().read_leaf_from::<M, _>(at, key, |leaf| leaf.get::<Scalar>(key)).0
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
        get_with::<_, S, M>(self.tree, self.key)
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
        let (leaf, share) = self.tree.finder().descend_through_nodes::<S>(self.key);
        let at = self.tree.store().at(leaf);
        Finder::<B>::ask_for_leaf(at, share);
        get_from::<_, S, M>(self.tree, at, self.key)
    }
}
