//! The way from the root to a leaf, which leads on to the next leaf and to the one before.

use super::*;

/// The most nodes on a way: one for each byte of a key.
const NODES_MAX: usize = 8;

/// The inner nodes from the root to a leaf, and the byte that was taken in each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    nodes: [(Ref, u8); NODES_MAX],
    len: usize,
}

impl Way {
    pub(super) const EMPTY: Self = Self { nodes: [(Ref::NIL, 0); NODES_MAX], len: 0 };

    fn push(&mut self, node: Ref, byte: u8) {
        self.nodes[self.len] = (node, byte);
        self.len += 1;
    }

    fn pop(&mut self) -> Option<(Ref, u8)> {
        self.len = self.len.checked_sub(1)?;
        Some(self.nodes[self.len])
    }
}

impl<B: Bits, T: Trace> Trie<B, T> {
    /// The way to the first leaf whose key is at least this one, or, backward, to the last one whose key is
    /// at most this one.
    pub(super) fn seek(&self, key: B, forward: bool) -> (Way, Option<usize>) {
        let mut way = Way::EMPTY;
        let Some(near) = self.nearest(key) else { return (way, None) };
        let near_key = self.pools.leaf(near).key;
        let depth = first_difference(key, near_key).unwrap_or(B::BYTES);
        let mut at = self.root;
        while let To::Inner(kind, place) = at.to()
            && at.depth() < depth
        {
            let byte = byte_at(key, at.depth());
            way.push(at, byte);
            at = self.pools.child::<T>((kind, place), byte);
        }
        let leaf = match at.to() {
            _ if depth == B::BYTES => Some(near),
            // No child has the key's byte.
            To::Inner(..) if at.depth() == depth => {
                way.push(at, byte_at(key, depth));
                self.advance(&mut way, forward)
            }
            // All keys below differ from the key in the same way.
            _ if (near_key > key) == forward => self.edge(at, &mut way, forward),
            _ => self.advance(&mut way, forward),
        };
        (way, leaf)
    }

    /// The next leaf of a way, or, backward, the one before.
    pub(super) fn advance(&self, way: &mut Way, forward: bool) -> Option<usize> {
        while let Some((node, byte)) = way.pop() {
            let To::Inner(kind, place) = node.to() else { continue };
            T::work(Work::Visit);
            let beside = match forward {
                true => self.pools.first_from((kind, place), usize::from(byte) + 1),
                false => self.pools.last_below((kind, place), usize::from(byte)),
            };
            if let Some((byte, child)) = beside {
                way.push(node, byte);
                return self.edge(child, way, forward);
            }
        }
        None
    }

    /// The first leaf below a node, or, backward, the last one.
    fn edge(&self, mut at: Ref, way: &mut Way, forward: bool) -> Option<usize> {
        loop {
            match at.to() {
                To::Nothing => return None,
                To::Leaf(place) => return Some(place),
                To::Inner(kind, place) => {
                    T::work(Work::Visit);
                    let (byte, child) = match forward {
                        true => self.pools.first_from((kind, place), 0),
                        false => self.pools.last_below((kind, place), 256),
                    }?;
                    way.push(at, byte);
                    at = child;
                }
            }
        }
    }
}
