//! Descents of a trie step by step: one node per step.

use super::descend::Stand;
use super::node::Node;
use super::reference::{Ref, To};
use super::{Trie, byte_at};
use crate::common::walk::{Aim, Step, Walk};
use latchless_core::base::key::Bits;
use latchless_core::mem::line::prefetch_read_all;
use latchless_core::mem::touch::{Trace, Work};

/// The walks of a trie. They come out at the leaf that a key's bytes lead to, which may be another key's, or
/// at no node; or nowhere, if others were in the way.
#[derive(Debug)]
pub struct TrieWalk<'a, B: Bits, T>(&'a Trie<B, T>);

/// The position of a walk; `None`: lost, because another thread interfered.
#[derive(Debug, Clone, Copy)]
pub struct Place(Option<Stand>);

/// The end of a walk, and the version of the node above.
#[derive(Debug, Clone, Copy)]
pub struct Landed(Stand);

impl<B: Bits, T: Trace> Trie<B, T> {
    /// Walks down this trie.
    pub fn walk(&self) -> TrieWalk<'_, B, T> {
        TrieWalk(self)
    }

    /// Looks up a key at the end of a walk; see [`Trie::get`].
    #[inline(always)]
    pub fn get_from(&self, landed: Landed, key: B) -> Option<B> {
        self.answer(landed.0, key).unwrap_or_else(|_| self.get(key))
    }

    /// Prefetches what the next step reads. The reference to a node has the position of the next byte, so
    /// only the required lines of a large node are prefetched.
    #[inline(always)]
    fn ask(&self, at: Ref, key: B) {
        match at.to() {
            To::Nothing => {}
            To::Inner(kind, place) => {
                Node::<T>::ask(kind, self.pools.inner_address(kind, place), byte_at(key, at.depth()));
            }
            To::Leaf(place) => {
                let (leaf, bytes) = self.pools.leaf_address(place);
                T::prefetch(leaf, bytes);
                prefetch_read_all(leaf, bytes);
            }
        }
    }
}

impl<B: Bits, T: Trace> Walk for TrieWalk<'_, B, T> {
    type Key = B;
    type Place = Place;
    type Anchor = Landed;

    #[inline(always)]
    fn enter(&self, _: B, _: Aim) -> Place {
        T::work(Work::Walk);
        Place(self.0.enter().ok())
    }

    #[inline(always)]
    fn step(&self, place: &mut Place, key: B) -> Step<Landed> {
        let Some(stand) = place.0 else { return Step::Landed(None) };
        let To::Inner(kind, node) = stand.at.to() else { return Step::Landed(Some(Landed(stand))) };
        place.0 = self.0.down(stand, self.0.inner(kind, node), key).ok();
        let Some(stand) = place.0 else { return Step::Landed(None) };
        self.0.ask(stand.at, key);
        match stand.at.to() {
            To::Inner(..) => Step::On,
            _ => Step::Landed(Some(Landed(stand))),
        }
    }
}
