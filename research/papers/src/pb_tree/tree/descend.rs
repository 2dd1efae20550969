//! Descents from the root to the leaf of a key.

use super::Tree;
use crate::common::operation::{Operation, Run, Search};
use crate::pb_tree::node::Shape;
use crate::pb_tree::path::Path;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{Trace, Work};

/// Keys that go down together in [`Tree::get_each`]. From 16 on more make little difference.
const GROUP: usize = 16;

/// The place of a key, present or absent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) leaf: NodeRef,
    /// Pairs in the leaf.
    pub(super) count: usize,
    /// The number of smaller keys in the leaf.
    pub(super) at: usize,
    /// Whether the key is present.
    pub(super) here: bool,
}

impl<S: Shape> Tree<S> {
    /// The value under a key.
    #[inline]
    pub fn get(&self, key: S::Bits) -> Option<S::Bits> {
        self.options.dispatch.run(Get { tree: self, key })
    }

    /// Finds the place of a key; `path`, empty before, becomes the path to it.
    pub(super) fn find(&self, key: S::Bits, path: &mut Path) -> Found {
        self.options.dispatch.run(Find { tree: self, key, path })
    }

    /// Looks up each key; `each` gets the answers one by one, in the keys' order.
    ///
    /// A group of keys descends level by level: while the node of one is loaded, those of the others are
    /// searched, so their misses overlap.
    #[inline]
    pub fn get_each(&self, keys: impl Iterator<Item = S::Bits>, each: impl FnMut(Option<S::Bits>)) {
        self.options.dispatch.run(GetEach { tree: self, keys, each });
    }

    #[inline(always)]
    fn get_with<K: Search>(&self, key: S::Bits) -> Option<S::Bits> {
        S::Trace::work(Work::Operation);
        let mut node = self.root;
        for _ in 1..self.levels {
            node = self.step::<K>(node, key).0;
        }
        let (at, here) = self.find_in_leaf::<K>(node, key);
        if here { Some(self.nodes.value(node, at)) } else { None }
    }

    /// Returns the child of an inner node that covers `key`, and the child's position.
    #[inline(always)]
    fn step<K: Search>(&self, inner: NodeRef, key: S::Bits) -> (NodeRef, usize) {
        S::Trace::work(Work::Visit);
        self.nodes.prefetch(inner);
        let at = self.nodes.child_position::<K>(inner, key);
        (self.nodes.child(inner, at), at)
    }

    /// Leads a group of keys from the root to their leaves, which are on their way at the end.
    #[inline(always)]
    fn descend_group<K: Search>(&self, group: &mut [(S::Bits, NodeRef)]) {
        for _ in 1..self.levels {
            for (key, node) in group.iter_mut() {
                S::Trace::work(Work::Visit);
                let at = self.nodes.child_position::<K>(*node, *key);
                *node = self.nodes.child(*node, at);
                self.nodes.prefetch(*node);
            }
        }
    }

    /// Prefetches a leaf and searches it.
    #[inline(always)]
    fn find_in_leaf<K: Search>(&self, leaf: NodeRef, key: S::Bits) -> (usize, bool) {
        S::Trace::work(Work::Visit);
        self.nodes.prefetch(leaf);
        self.search_leaf::<K>(leaf, key)
    }

    /// Returns the place of a key in its leaf, and whether it is present.
    #[inline(always)]
    pub(super) fn search_leaf<K: Search>(&self, leaf: NodeRef, key: S::Bits) -> (usize, bool) {
        let at = self.nodes.pairs_below::<K>(leaf, key);
        (at, self.nodes.holds(leaf, at, key))
    }

    /// Returns how many of an inner node's separators are at most `key`: the position of its child.
    pub(super) fn position_in(&self, inner: NodeRef, key: S::Bits) -> usize {
        self.options.dispatch.run(PositionIn { tree: self, inner, key })
    }

    /// Returns how many keys of a leaf are at most `key`.
    pub(super) fn up_to_in(&self, leaf: NodeRef, key: S::Bits) -> usize {
        self.options.dispatch.run(UpToIn { tree: self, leaf, key })
    }
}

struct Get<'a, S: Shape> {
    tree: &'a Tree<S>,
    key: S::Bits,
}

impl<S: Shape> Operation for Get<'_, S> {
    type Output = Option<S::Bits>;

    #[inline(always)]
    fn run<K: Search>(self) -> Self::Output {
        self.tree.get_with::<K>(self.key)
    }
}

struct GetEach<'a, S: Shape, I, F> {
    tree: &'a Tree<S>,
    keys: I,
    each: F,
}

impl<S: Shape, I, F> Operation for GetEach<'_, S, I, F>
where
    I: Iterator<Item = S::Bits>,
    F: FnMut(Option<S::Bits>),
{
    type Output = ();

    #[inline(always)]
    fn run<K: Search>(mut self) {
        let mut group = [(S::Bits::MIN, NodeRef::NIL); GROUP];
        loop {
            let mut taken = 0;
            for (place, key) in group.iter_mut().zip(&mut self.keys) {
                *place = (key, self.tree.root);
                taken += 1;
            }
            let group = &mut group[..taken];
            self.tree.descend_group::<K>(group);
            for &mut (key, leaf) in group {
                let (at, here) = self.tree.search_leaf::<K>(leaf, key);
                (self.each)(if here { Some(self.tree.nodes.value(leaf, at)) } else { None });
            }
            if taken < GROUP {
                return;
            }
        }
    }
}

struct Find<'a, 'p, S: Shape> {
    tree: &'a Tree<S>,
    key: S::Bits,
    path: &'p mut Path,
}

impl<S: Shape> Operation for Find<'_, '_, S> {
    type Output = Found;

    #[inline(always)]
    fn run<K: Search>(self) -> Self::Output {
        S::Trace::work(Work::Operation);
        let mut node = self.tree.root;
        for _ in 1..self.tree.levels {
            let (child, at) = self.tree.step::<K>(node, self.key);
            self.path.push(node, at);
            node = child;
        }
        let (at, here) = self.tree.find_in_leaf::<K>(node, self.key);
        Found { leaf: node, count: self.tree.nodes.count(node), at, here }
    }
}

struct PositionIn<'a, S: Shape> {
    tree: &'a Tree<S>,
    inner: NodeRef,
    key: S::Bits,
}

impl<S: Shape> Operation for PositionIn<'_, S> {
    type Output = usize;

    #[inline(always)]
    fn run<K: Search>(self) -> usize {
        self.tree.nodes.child_position::<K>(self.inner, self.key)
    }
}

struct UpToIn<'a, S: Shape> {
    tree: &'a Tree<S>,
    leaf: NodeRef,
    key: S::Bits,
}

impl<S: Shape> Operation for UpToIn<'_, S> {
    type Output = usize;

    #[inline(always)]
    fn run<K: Search>(self) -> usize {
        self.tree.nodes.pairs_up_to::<K>(self.leaf, self.key)
    }
}
