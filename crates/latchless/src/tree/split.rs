//! Splitting full nodes.
//!
//! The leaf is latched, then its full ancestors, bottom-up, and the first one that has room. Only then is
//! the number of new nodes known: if there are too few spare nodes, everything is unlatched unchanged.

use super::blink::BlinkTree;
use super::store::{Latched, Store};
use crate::blink::{Held, LEVELS_MAX, Levels, Mode, Spares};
use crate::node::operation::{Operation, Search};
use crate::node::{self, Children, Cut, FullLeaf, Inner, Leaf, LeafEditor, Right};
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::base::span::before;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

/// The split of a full leaf for an entry whose key isn't present.
pub(super) struct Split<'a, B> {
    pub(super) tree: &'a BlinkTree<B>,
    pub(super) new: (B, B),
    pub(super) cut: Cut,
}

/// A node that its parent doesn't name yet.
#[derive(Clone, Copy)]
struct Child<B> {
    separator: B,
    node: NodeRef,
}

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
        self.nodes[level].as_ref().map_or(NodeRef::NIL, |(at, _)| at.node)
    }
}

impl<'a, B: Bits> Split<'a, B> {
    /// Splits the leaf, which is latched, and inserts the entry.
    ///
    /// # Errors
    /// The number of the lowest levels that need a spare node, if fewer have one.
    pub(super) fn run<M: Mode>(
        &self,
        leaf: Latched<'a, M>,
        spares: &mut Spares<'_, { node::LINES }>,
    ) -> Result<(), usize> {
        let (store, finder) = (self.tree.store(), self.tree.finder());
        let mut path = self.latch_full_ancestors::<M>(leaf);
        let splitting = path.len - usize::from(!path.grows);
        let needed = splitting + usize::from(path.grows);
        if !(0..needed).all(|level| spares.has(level)) {
            return Err(needed);
        }
        path.nodes[..path.len].iter_mut().flatten().for_each(|(_, held)| held.changing());
        if let Some((leaf, held)) = &mut path.nodes[0] {
            self.tree.ranks().outdate(leaf.leaf::<B>(), held);
        }
        let mut child = self.split_leaf::<M>(path.node(0), spares.take(0));
        for leaf in [path.node(0), child.node] {
            let (low, high) = store.fences(0, leaf);
            finder.name_leaf(leaf, low, high);
        }
        for level in 1..splitting {
            child = split_inner::<_, M>(store, path.node(level), child, spares.take(level));
        }
        if path.grows {
            grow_root::<_, M>(store, path.node(splitting - 1), child, splitting, spares.take(splitting));
        } else {
            add_child(store, path.node(splitting), child);
        }
        self.tree.store().counts().count_splits(splitting);
        if splitting > 1 || path.grows {
            finder.directory().count_added(1);
        }
        Ok(())
    }

    fn latch_full_ancestors<M: Mode>(&self, leaf: Latched<'a, M>) -> Path<'a, M> {
        let (store, finder) = (self.tree.store(), self.tree.finder());
        let mut path = Path { nodes: [const { None }; LEVELS_MAX], len: 0, grows: false };
        path.push(leaf);
        loop {
            let level = path.len - 1;
            let (root, levels) = store.root().get();
            if levels == path.len && root == path.node(level) {
                path.grows = true;
                return path;
            }
            // `None`: the root above was just replaced by this node.
            let Some(parent) = finder.latch_covering::<M>(level + 1, self.new.0) else { continue };
            let full = parent.0.inner::<B>().children() == Inner::<B>::CAPACITY;
            path.push(parent);
            if !full {
                return path;
            }
        }
    }

    /// Moves the upper part of a full leaf, with the new entry in its place, to the node `right`.
    fn split_leaf<M: Mode>(&self, left: NodeRef, right: NodeRef) -> Child<B> {
        let store = self.tree.store();
        let (_, mut held) = store.latch::<M>(right);
        held.changing();
        let (from, to) = (store.leaf(left), store.leaf(right));
        let separator = store.run(SplitLeaf { from, to, to_node: right, new: self.new, cut: self.cut });
        Child { separator, node: right }
    }
}

/// Returns where to cut an inner node: in the middle, except that sequential keys leave full nodes.
fn place_to_cut<B: Bits>(keys: &[B], new: B, low: B, link: NodeRef) -> usize {
    let last = keys.len() - 1;
    if link.is_nil() && keys[last] == new {
        last
    } else if low == B::MIN && keys[0] == new {
        1
    } else {
        keys.len() / 2
    }
}

/// Splits an inner node and inserts a new child. See [`Split::split_leaf`].
fn split_inner<B: Bits, M: Mode>(
    store: &Store<B>,
    left: NodeRef,
    child: Child<B>,
    right: NodeRef,
) -> Child<B> {
    let mut children = Children::default();
    let inner = store.inner(left);
    inner.copy_out(&mut children);
    children.insert(child.separator, child.node);
    let (separators, nodes) = (children.separators(), children.nodes());
    let cut = place_to_cut(separators, child.separator, inner.low(), inner.link());
    debug_assert!(0 < cut && cut < separators.len(), "both nodes get children");
    let (low, high, separator) = (inner.low(), inner.high(), separators[cut]);
    let (_, mut held) = store.latch::<M>(right);
    held.changing();
    store.inner(right).set((separator, high), inner.link(), &separators[cut..], &nodes[cut..]);
    drop(held);
    inner.set((low, before(separator)), right, &separators[..cut], &nodes[..cut]);
    Child { separator, node: right }
}

/// Inserts a new child in an inner node that has room.
fn add_child<B: Bits>(store: &Store<B>, parent: NodeRef, child: Child<B>) {
    let inner = store.inner(parent);
    if !inner.insert_in_place::<Scalar>(child.separator, child.node) {
        let mut children = Children::default();
        inner.copy_out(&mut children);
        children.insert(child.separator, child.node);
        inner.fill(children.separators(), children.nodes());
    }
}

/// Puts a new root above the old one, which was split, at `level`.
fn grow_root<B: Bits, M: Mode>(store: &Store<B>, old: NodeRef, right: Child<B>, level: usize, root: NodeRef) {
    // Late readers of its earlier use may be reading its fences under its latch.
    let (_, mut held) = store.latch::<M>(root);
    held.changing();
    store.inner(root).set((B::MIN, B::MAX), NodeRef::NIL, &[B::MIN, right.separator], &[old, right.node]);
    store.root().set(root, level + 1);
    drop(held);
}

/// The part that moves entries is compiled for each kernel; the rest of a split isn't.
struct SplitLeaf<'a, B> {
    from: Leaf<'a, B>,
    to: Leaf<'a, B>,
    to_node: NodeRef,
    new: (B, B),
    cut: Cut,
}

impl<B: Bits> Operation for SplitLeaf<'_, B> {
    type Output = B;

    #[inline(always)]
    fn run<S: Search>(self) -> B {
        let right = Right { name: self.to_node, leaf: LeafEditor(self.to) };
        FullLeaf(self.from).split_into::<S>(right, self.new, self.cut)
    }
}
