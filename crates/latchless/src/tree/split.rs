//! Splitting full nodes.
//!
//! The leaf is latched, then its full ancestors, bottom-up, and the first one that has room. Only then is
//! the number of new nodes known: if there are too few spare nodes, everything is unlatched unchanged.

use super::mode::{Held, Mode};
use super::spares::Reserve;
use super::{BlinkTree, LEVELS_MAX};
use crate::node::operation::{Operation, Run, Search};
use crate::node::{Children, Cut, Inner, Leaf};
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::base::span::before;
use latchless_core::mem::node_ref::NodeRef;

/// A latched node.
type Latched<'a, M> = (NodeRef, <M as Mode>::Held<'a>);

/// The nodes that a split changes: the leaf, its full ancestors, and the one that has room.
struct Path<'a, M: Mode> {
    nodes: [Option<Latched<'a, M>>; LEVELS_MAX],
    len: usize,
    /// Whether the last of them is a full root, above which a new one is needed.
    grows: bool,
}

impl<'a, M: Mode> Path<'a, M> {
    fn push(&mut self, node: Latched<'a, M>) {
        self.nodes[self.len] = Some(node);
        self.len += 1;
    }

    /// Returns the latched node of a level.
    fn node(&self, level: usize) -> NodeRef {
        self.nodes[level].as_ref().map_or(NodeRef::NIL, |(node, _)| *node)
    }
}

impl<B: Bits> BlinkTree<B> {
    /// Splits a latched, full leaf and inserts an entry whose key isn't present.
    ///
    /// # Errors
    /// The number of the lowest levels that need a spare node, if fewer have one.
    pub(super) fn split<'a, S: Search, M: Mode>(
        &'a self,
        leaf: Latched<'a, M>,
        (new, cut): ((B, B), Cut),
        spares: &mut Reserve<'_>,
    ) -> Result<(), usize> {
        let mut path = self.latch_full_ancestors::<S, M>(leaf, new.0);
        let splitting = path.len - usize::from(!path.grows);
        let needed = splitting + usize::from(path.grows);
        if spares.levels() < needed {
            return Err(needed);
        }
        path.nodes[..path.len].iter_mut().flatten().for_each(|(_, held)| held.changing());
        if let Some((leaf, held)) = &mut path.nodes[0] {
            self.outdate::<M>(self.leaf(*leaf), held);
        }
        let mut child = self.split_leaf::<M>(path.node(0), (new, cut), spares.take(0));
        [path.node(0), child.1].into_iter().for_each(|leaf| self.name_leaf(leaf, self.fences(0, leaf)));
        for level in 1..splitting {
            child = self.split_inner::<M>(path.node(level), child, spares.take(level));
        }
        if path.grows {
            self.grow_root::<M>(path.node(splitting - 1), child, splitting, spares.take(splitting));
        } else {
            self.add_child::<S>(path.node(splitting), child);
        }
        self.splits.add(splitting as u64);
        if splitting > 1 || path.grows {
            self.directory.count_added(1);
        }
        Ok(())
    }

    fn latch_full_ancestors<'a, S: Search, M: Mode>(&'a self, leaf: Latched<'a, M>, key: B) -> Path<'a, M> {
        let mut path = Path { nodes: [const { None }; LEVELS_MAX], len: 0, grows: false };
        path.push(leaf);
        loop {
            let level = path.len - 1;
            let (root, levels) = self.root();
            if levels == path.len && root == path.node(level) {
                path.grows = true;
                return path;
            }
            // `None`: the root above was just replaced by this node.
            let Some(parent) = self.latch_covering::<S, M>(level + 1, key) else { continue };
            let full = self.inner(parent.0).children() == Inner::<B>::CAPACITY;
            path.push(parent);
            if !full {
                return path;
            }
        }
    }

    /// Moves the upper part of a full leaf, with the new entry in its place, to the node `right`, and
    /// returns the separator.
    fn split_leaf<M: Mode>(&self, left: NodeRef, (new, cut): ((B, B), Cut), right: NodeRef) -> (B, NodeRef) {
        let mut held = self.latch::<M>(right);
        held.changing();
        let right = (right, self.leaf(right));
        (self.dispatch.run(SplitLeaf { left: self.leaf(left), right, new, cut }), right.0)
    }

    /// Returns where to cut an inner node: in the middle, except that sequential keys leave full nodes.
    fn cut(&self, keys: &[B], new: B, low: B, link: NodeRef) -> usize {
        let last = keys.len() - 1;
        if link.is_nil() && keys[last] == new {
            last
        } else if low == B::MIN && keys[0] == new {
            1
        } else {
            keys.len() / 2
        }
    }

    /// Splits an inner node and inserts a new child. See [`BlinkTree::split_leaf`].
    fn split_inner<M: Mode>(&self, left: NodeRef, child: (B, NodeRef), right: NodeRef) -> (B, NodeRef) {
        let mut children = Children::default();
        let inner = self.inner(left);
        inner.copy_out(&mut children);
        children.insert(child.0, child.1);
        let (separators, nodes) = (children.separators(), children.nodes());
        let cut = self.cut(separators, child.0, inner.low(), inner.link());
        debug_assert!(0 < cut && cut < separators.len(), "both nodes get children");
        let (low, high, separator) = (inner.low(), inner.high(), separators[cut]);
        let mut held = self.latch::<M>(right);
        held.changing();
        self.inner(right).set((separator, high), inner.link(), &separators[cut..], &nodes[cut..]);
        drop(held);
        inner.set((low, before(separator)), right, &separators[..cut], &nodes[..cut]);
        (separator, right)
    }

    /// Inserts a new child in an inner node that has room.
    fn add_child<S: Search>(&self, parent: NodeRef, (separator, child): (B, NodeRef)) {
        let inner = self.inner(parent);
        if !inner.insert_in_place::<S>(separator, child) {
            let mut children = Children::default();
            inner.copy_out(&mut children);
            children.insert(separator, child);
            inner.fill(children.separators(), children.nodes());
        }
    }

    /// Puts a new root above the old one, which was split, at `level`.
    fn grow_root<M: Mode>(
        &self,
        old: NodeRef,
        (separator, right): (B, NodeRef),
        level: usize,
        root: NodeRef,
    ) {
        // Late readers of its earlier use may be reading its fences under its latch.
        let mut held = self.latch::<M>(root);
        held.changing();
        self.inner(root).set((B::MIN, B::MAX), NodeRef::NIL, &[B::MIN, separator], &[old, right]);
        self.set_root(root, level + 1);
        drop(held);
    }
}

/// The part that moves entries is compiled for each kernel; the rest of a split isn't.
struct SplitLeaf<'a, B> {
    left: Leaf<'a, B>,
    right: (NodeRef, Leaf<'a, B>),
    new: (B, B),
    cut: Cut,
}

impl<B: Bits> Operation for SplitLeaf<'_, B> {
    type Output = B;

    #[inline(always)]
    fn run<S: Search>(self) -> B {
        self.left.split_into::<S>(self.right, self.new, self.cut)
    }
}
