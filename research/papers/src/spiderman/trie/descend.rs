//! Descents from the root to the leaf that a key's bytes lead to.

use super::hold::{Holder, Restart, Seen};
use super::node::Node;
use super::reference::{Ref, To};
use super::way::{Leaf, Way};
use super::{Trie, byte_at};
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{Trace, Work};

/// The position of a descent: a child of a node that was seen. It was the child when it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stand {
    pub(super) above: Seen,
    pub(super) at: Ref,
}

/// Some leaf that agrees with a key as far as any does, and the way to it.
#[derive(Debug)]
pub(super) struct Near<B> {
    pub(super) way: Way,
    /// `None`: there is no leaf.
    pub(super) leaf: Option<Leaf<B>>,
}

impl<B: Bits, T: Trace> Trie<B, T> {
    /// Above the first node.
    #[inline(always)]
    pub(super) fn enter(&self) -> Result<Stand, Restart> {
        let above = self.see(Ref::NIL)?;
        let at = self.top();
        self.check(above)?;
        Ok(Stand { above, at })
    }

    /// Descends from an inner node to its child.
    #[inline(always)]
    pub(super) fn down(&self, stand: Stand, node: Node<'_, T>, key: B) -> Result<Stand, Restart> {
        T::work(Work::Visit);
        let above = self.see_below(stand.above, stand.at)?;
        let at = node.child(byte_at(key, stand.at.depth()));
        // A reference out of a node that is just changing is never followed: its arena may not be known here.
        self.check(above)?;
        Ok(Stand { above, at })
    }

    /// Returns the value under a key whose descent has ended here.
    #[inline(always)]
    pub(super) fn answer(&self, stand: Stand, key: B) -> Result<Option<B>, Restart> {
        let found = match stand.at.to() {
            To::Leaf(place) => Some(self.pools.leaf::<T>(place)).filter(|leaf| leaf.0 == key),
            _ => None,
        };
        self.check(stand.above)?;
        Ok(found.map(|leaf| leaf.1))
    }

    /// The value under a key.
    #[inline]
    pub fn get(&self, key: B) -> Option<B> {
        T::work(Work::Operation);
        self.until_done(|| self.try_get(key))
    }

    #[inline(always)]
    fn try_get(&self, key: B) -> Result<Option<B>, Restart> {
        let mut stand = self.enter()?;
        while let To::Inner(kind, place) = stand.at.to() {
            stand = self.down(stand, self.inner(kind, place), key)?;
        }
        self.answer(stand, key)
    }

    /// Some leaf that agrees with a key as far as any does: where no child has the key's byte, any child
    /// does.
    pub(super) fn near(&self, key: B) -> Result<Near<B>, Restart> {
        let mut stand = self.enter()?;
        let mut near = Near { way: Way::from_root(stand.above), leaf: None };
        while let To::Inner(kind, place) = stand.at.to() {
            T::work(Work::Visit);
            let seen = self.see_below(stand.above, stand.at)?;
            let (node, byte) = (self.inner(kind, place), byte_at(key, stand.at.depth()));
            let child = node.child(byte);
            let taken = if child == Ref::NIL { node.first_from(0) } else { Some((byte, child)) };
            self.check(seen)?;
            let (byte, at) = taken.ok_or(Restart)?;
            near.way.push(Holder { seen, byte });
            stand = Stand { above: seen, at };
        }
        if let To::Leaf(place) = stand.at.to() {
            near.leaf = Some(self.leaf_at(place));
            self.check(stand.above)?;
        }
        Ok(near)
    }

    pub(super) fn leaf_at(&self, place: NodeRef) -> Leaf<B> {
        let (key, value) = self.pools.leaf::<T>(place);
        Leaf { place, key, value }
    }
}
