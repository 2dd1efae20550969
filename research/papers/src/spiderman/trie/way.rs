//! The path from the root to a leaf, which leads to the next leaf and to the previous one.

use super::hold::{Holder, Restart, Seen};
use super::reference::{Ref, To};
use super::{Trie, byte_at, first_difference};
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{Trace, Work};

/// The most places on a way: the one above all nodes, and a node for each byte of a key.
const PLACES_MAX: usize = 1 + 8;

/// A leaf as it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf<B> {
    pub(super) place: NodeRef,
    pub(super) key: B,
    pub(super) value: B,
}

/// The places from the one above all nodes to the one where the reference to a leaf is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    holders: [Holder; PLACES_MAX],
    len: usize,
}

impl Way {
    /// The place above all nodes.
    pub(super) fn from_root(seen: Seen) -> Self {
        Self { holders: [Holder { seen, byte: 0 }; PLACES_MAX], len: 1 }
    }

    pub(super) fn holders(&self) -> &[Holder] {
        &self.holders[..self.len]
    }

    pub(super) fn last(&self) -> Holder {
        self.holders[self.len - 1]
    }

    /// Returns the last place above all nodes that branch on the byte of this depth or on a later one.
    pub(super) fn above(&self, depth: usize) -> usize {
        self.holders()[1..].iter().take_while(|holder| holder.seen.node.depth() < depth).count()
    }

    pub(super) fn push(&mut self, holder: Holder) {
        self.holders[self.len] = holder;
        self.len += 1;
    }

    /// Leaves the last node, if there is one.
    fn pop(&mut self) -> Option<Holder> {
        if self.len == 1 {
            return None;
        }
        self.len -= 1;
        Some(self.holders[self.len])
    }
}

impl<B: Bits, T: Trace> Trie<B, T> {
    /// The way to the first leaf whose key is at least this one, or, backward, to the last one whose key is
    /// at most this one.
    pub(super) fn seek(&self, key: B, forward: bool) -> Result<(Way, Option<Leaf<B>>), Restart> {
        let near = self.near(key)?;
        let mut way = near.way;
        let Some(leaf) = near.leaf else { return Ok((way, None)) };
        let Some(depth) = first_difference(key, leaf.key) else { return Ok((way, Some(leaf))) };
        let nth = way.above(depth);
        let parting = way.holders().get(nth + 1).copied();
        way.len = nth + 1;
        let found = match parting {
            // No child has the key's byte.
            Some(parting) if parting.seen.node.depth() == depth => {
                way.push(Holder { byte: byte_at(key, depth), ..parting });
                self.advance(&mut way, forward)?
            }
            // All keys below differ from the key in the same way.
            _ if (leaf.key > key) == forward => {
                let below = parting.map_or(Ref::leaf(leaf.place), |parting| parting.seen.node);
                self.edge(below, &mut way, forward)?
            }
            _ => self.advance(&mut way, forward)?,
        };
        Ok((way, found))
    }

    /// The next leaf of a way, or, backward, the one before.
    pub(super) fn advance(&self, way: &mut Way, forward: bool) -> Result<Option<Leaf<B>>, Restart> {
        while let Some(Holder { seen, byte }) = way.pop() {
            let To::Inner(kind, place) = seen.node.to() else { break };
            T::work(Work::Visit);
            let node = self.inner(kind, place);
            let beside = match forward {
                true => node.first_from(usize::from(byte) + 1),
                false => node.last_below(usize::from(byte)),
            };
            self.check(seen)?;
            if let Some((byte, child)) = beside {
                way.push(Holder { seen, byte });
                return self.edge(child, way, forward);
            }
        }
        Ok(None)
    }

    /// The first leaf below a way's last child, or, backward, the last one.
    fn edge(&self, mut at: Ref, way: &mut Way, forward: bool) -> Result<Option<Leaf<B>>, Restart> {
        while let To::Inner(kind, place) = at.to() {
            T::work(Work::Visit);
            let seen = self.see_below(way.last().seen, at)?;
            let node = self.inner(kind, place);
            let outermost = if forward { node.first_from(0) } else { node.last_below(256) };
            self.check(seen)?;
            let (byte, child) = outermost.ok_or(Restart)?;
            way.push(Holder { seen, byte });
            at = child;
        }
        let To::Leaf(place) = at.to() else { return Err(Restart) };
        let leaf = self.leaf_at(place);
        self.check(way.last().seen)?;
        Ok(Some(leaf))
    }
}
