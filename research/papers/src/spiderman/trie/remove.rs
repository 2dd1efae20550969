//! Removals.

use super::hold::{Holder, Restart, Seen};
use super::reference::{Ref, To};
use super::{Trie, byte_at};
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{Trace, Work};

impl<B: Bits, T: Trace> Trie<B, T> {
    /// Removes a key and returns its value.
    pub fn take(&self, key: B) -> Option<B> {
        T::work(Work::Operation);
        let leaf = self.until_done(|| self.try_unlink(key))?;
        // It isn't reachable any more; its value may have changed until then.
        let value = self.leaf_at(leaf).value;
        self.pools.free::<T>(Ref::leaf(leaf));
        self.len.add(-1);
        Some(value)
    }

    /// Takes a key's leaf out of the trie.
    fn try_unlink(&self, key: B) -> Result<Option<NodeRef>, Restart> {
        let (mut stand, mut above) = (self.enter()?, None);
        while let To::Inner(kind, place) = stand.at.to() {
            let holder = stand.above;
            stand = self.down(stand, self.inner(kind, place), key)?;
            // For the place above all nodes the depth is meaningless.
            let byte = if holder.node == Ref::NIL { 0 } else { byte_at(key, holder.node.depth()) };
            above = Some(Holder { seen: holder, byte });
        }
        let To::Leaf(leaf) = stand.at.to() else { return self.check(stand.above).map(|()| None) };
        if self.answer(stand, key)?.is_none() {
            return Ok(None);
        }
        match above {
            Some(above) => self.remove_child(above, stand.above, key)?,
            None => {
                let mut root = self.upgrade(stand.above)?;
                root.changing();
                self.hang(Holder { seen: stand.above, byte: 0 }, Ref::NIL);
            }
        }
        Ok(Some(leaf))
    }

    /// Removes a child of a node, which is replaced by its only other child, or by a smaller node if that
    /// suffices and memory allows.
    fn remove_child(&self, above: Holder, seen: Seen, key: B) -> Result<(), Restart> {
        let To::Inner(kind, place) = seen.node.to() else { return Err(Restart) };
        let (node, depth) = (self.inner(kind, place), seen.node.depth());
        let byte = byte_at(key, depth);
        let left = node.len().saturating_sub(1);
        if left == 1 {
            let (_, other) = node.children().find(|child| child.0 != byte).ok_or(Restart)?;
            return self.replace(above, seen, || other);
        }
        let smaller = kind.smaller().filter(|_| left <= kind.few());
        if let Some(smaller) = smaller.and_then(|kind| self.fresh_inner(kind, depth).ok()) {
            return self.replace(above, seen, || {
                if let Some(smaller) = smaller.inner() {
                    let others = node.children().filter(|child| child.0 != byte);
                    others.for_each(|(byte, child)| smaller.add(byte, child));
                }
                smaller.used()
            });
        }
        let mut held = self.upgrade(seen)?;
        held.changing();
        node.remove(byte);
        Ok(())
    }
}
