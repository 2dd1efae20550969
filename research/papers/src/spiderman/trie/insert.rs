//! Inserts.

use super::descend::Near;
use super::hold::{Holder, Restart, Seen, Stopped};
use super::reference::{Kind, Ref, To};
use super::way::Leaf;
use super::{Trie, byte_at, first_difference};
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::touch::{Trace, Work};

impl<B: Bits, T: Trace> Trie<B, T> {
    /// Puts a value under a key and returns the value that it replaces.
    ///
    /// # Errors
    /// When memory is refused; the trie is then as before.
    pub fn put(&self, key: B, value: B) -> Result<Option<B>> {
        T::work(Work::Operation);
        let before = self.until_done(|| match self.try_put(key, value) {
            Ok(before) => Ok(Ok(before)),
            Err(Stopped::Refused(refused)) => Ok(Err(refused)),
            Err(Stopped::Restart) => Err(Restart),
        })?;
        if before.is_none() {
            self.len.add(1);
        }
        Ok(before)
    }

    fn try_put(&self, key: B, value: B) -> Result<Option<B>, Stopped> {
        let near = self.near(key)?;
        let Some(leaf) = near.leaf else {
            let leaf = self.fresh_leaf(key, value)?;
            let mut root = self.upgrade(near.way.last().seen)?;
            root.changing();
            self.hang(near.way.last(), leaf.used());
            return Ok(None);
        };
        let Some(depth) = first_difference(key, leaf.key) else {
            return Ok(Some(self.put_value(&near, leaf, value)?));
        };
        // The key's path separates from the leaf's at a node that branches on that byte, or above one.
        let nth = near.way.above(depth);
        let holder = near.way.holders()[nth];
        match near.way.holders().get(nth + 1).map(|below| below.seen) {
            Some(seen) if seen.node.depth() == depth => self.put_child(holder, seen, (key, value))?,
            below => {
                let below = below.map_or(Ref::leaf(leaf.place), |seen| seen.node);
                self.put_fork(holder, depth, (leaf.key, below), (key, value))?;
            }
        }
        Ok(None)
    }

    /// Replaces a leaf's value. The node above is unchanged, and so is its version.
    fn put_value(&self, near: &Near<B>, leaf: Leaf<B>, value: B) -> Result<B, Restart> {
        let _held = self.upgrade(near.way.last().seen)?;
        // It may have been replaced since the leaf was found.
        let before = self.leaf_at(leaf.place).value;
        self.pools.set_value::<T>(leaf.place, value);
        Ok(before)
    }

    /// Replaces the reference to `below` by a node with two children: that one and a new leaf. The keys
    /// there agree with `beside` in all bytes before its depth.
    fn put_fork(
        &self,
        holder: Holder,
        depth: usize,
        (beside, below): (B, Ref),
        (key, value): (B, B),
    ) -> Result<(), Stopped> {
        let leaf = self.fresh_leaf(key, value)?;
        let fork = self.fresh_inner(Kind::Four, depth)?;
        if let Some(node) = fork.inner() {
            node.add(byte_at(beside, depth), below);
            node.add(byte_at(key, depth), leaf.node);
        }
        let mut held = self.upgrade(holder.seen)?;
        held.changing();
        leaf.used();
        self.hang(holder, fork.used());
        Ok(())
    }

    /// Inserts a leaf into a node, which is replaced by a larger one if it is full.
    fn put_child(&self, holder: Holder, seen: Seen, (key, value): (B, B)) -> Result<(), Stopped> {
        let To::Inner(kind, place) = seen.node.to() else { return Err(Stopped::Restart) };
        let (node, depth) = (self.inner(kind, place), seen.node.depth());
        let byte = byte_at(key, depth);
        let is_full = node.len() >= kind.places();
        let leaf = self.fresh_leaf(key, value)?;
        if !is_full {
            let mut held = self.upgrade(seen)?;
            held.changing();
            node.add(byte, leaf.used());
            return Ok(());
        }
        let larger = self.fresh_inner(kind.larger().ok_or(Restart)?, depth)?;
        self.replace(holder, seen, || {
            if let Some(larger) = larger.inner() {
                node.children().for_each(|(byte, child)| larger.add(byte, child));
                larger.add(byte, leaf.used());
            }
            larger.used()
        })?;
        Ok(())
    }
}
