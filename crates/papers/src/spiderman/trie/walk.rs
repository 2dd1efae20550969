//! Descents of a trie step by step: one node a step.

use super::*;
use crate::common::walk::{Aim, Step, Walk};
use latchless_core::mem::line::prefetch_read_all;

/// The walks of a trie. They come out at the leaf that a key's bytes lead to, which may be another key's, or
/// at no node.
#[derive(Debug)]
pub struct TrieWalk<'a, B: Bits, T>(&'a Trie<B, T>);

impl<B: Bits, T: Trace> Trie<B, T> {
    /// Walks down this trie.
    pub fn walk(&self) -> TrieWalk<'_, B, T> {
        TrieWalk(self)
    }
}

impl<B: Bits, T: Trace> Walk for TrieWalk<'_, B, T> {
    type Key = B;
    type Place = Ref;
    type Anchor = Ref;

    #[inline(always)]
    fn enter(&self, _: B, _: Aim) -> Ref {
        T::work(Work::Walk);
        self.0.root
    }

    /// The reference to the child names the byte that is next, so of a large node just the lines that are
    /// read are asked for.
    #[inline(always)]
    fn step(&self, at: &mut Ref, key: B) -> Step<Ref> {
        let To::Inner(kind, place) = at.to() else { return Step::Landed(Some(*at)) };
        let pools = &self.0.pools;
        T::work(Work::Visit);
        *at = pools.child::<T>((kind, place), byte_at(key, at.depth()));
        match at.to() {
            To::Nothing => Step::Landed(Some(*at)),
            To::Inner(kind, place) => {
                pools.ask::<T>((kind, place), byte_at(key, at.depth()));
                Step::On
            }
            To::Leaf(place) => {
                let leaf = core::ptr::from_ref(pools.leaf(place)).cast();
                T::prefetch(leaf, size_of::<pools::Leaf<B>>());
                prefetch_read_all(leaf, size_of::<pools::Leaf<B>>());
                Step::Landed(Some(*at))
            }
        }
    }
}
