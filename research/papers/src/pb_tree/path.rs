//! The stored path from the root to a leaf, by which the leaves to either side can be reached without any
//! extra pointer (§5: "sweeping").

use crate::pb_tree::node::{Nodes, Shape};
use latchless_core::mem::node_ref::NodeRef;

/// The maximum number of levels of a tree: every inner node but the root has at least two children, and
/// 4-byte references distinguish at most 2^32 nodes.
pub const MAX_LEVELS: usize = 34;

/// The inner nodes from the root down to the one above a leaf, and the child taken in each.
#[derive(Debug, Clone, Copy)]
pub struct Path {
    steps: [(NodeRef, u32); MAX_LEVELS],
    len: usize,
}

impl Path {
    /// The path that ends at the root.
    pub const EMPTY: Self = Self { steps: [(NodeRef::NIL, 0); MAX_LEVELS], len: 0 };

    /// Returns the number of inner nodes on the path.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the root is a leaf.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a step: the child at position `at` of `inner`.
    #[inline(always)]
    pub fn push(&mut self, inner: NodeRef, at: usize) {
        self.steps[self.len] = (inner, at as u32);
        self.len += 1;
    }

    /// The node passed `depth` steps below the root, and the child taken there.
    #[inline(always)]
    pub fn step(&self, depth: usize) -> (NodeRef, usize) {
        let (inner, at) = self.steps[depth];
        (inner, at as usize)
    }

    /// Replaces the step at `depth`, after the path takes another child or another node.
    pub fn set_step(&mut self, depth: usize, inner: NodeRef, at: usize) {
        self.steps[depth] = (inner, at as u32);
    }

    /// Puts a new root above all steps; its only child is taken.
    pub fn push_root(&mut self, root: NodeRef) {
        self.steps.copy_within(0..self.len, 1);
        self.steps[0] = (root, 0);
        self.len += 1;
    }

    /// The last inner node, right above the leaf, and the leaf's position in it.
    pub fn bottom(&self) -> Option<(NodeRef, usize)> {
        self.len.checked_sub(1).map(|depth| self.step(depth))
    }

    /// Advances to the next leaf on the right (`forward`) or on the left and returns it; `None` at the
    /// end. Amortised O(1). Every inner node on the way is prefetched one step before.
    pub fn advance<S: Shape>(&mut self, nodes: &Nodes<S>, forward: bool) -> Option<NodeRef> {
        let (depth, at) = (0..self.len).rev().find_map(|depth| {
            let (inner, at) = self.step(depth);
            let next = if forward { (at < nodes.count(inner)).then_some(at + 1) } else { at.checked_sub(1) };
            next.map(|next| (depth, next))
        })?;
        let inner = self.step(depth).0;
        self.set_step(depth, inner, at);
        self.prefetch_neighbour(nodes, depth, forward);
        let mut node = nodes.child(inner, at);
        for below in depth + 1..self.len {
            let at = if forward { 0 } else { nodes.count(node) };
            self.set_step(below, node, at);
            self.prefetch_neighbour(nodes, below, forward);
            node = nodes.child(node, at);
        }
        Some(node)
    }

    /// Prefetches the inner nodes that a sweep from here will visit first.
    pub fn prefetch_neighbours<S: Shape>(&self, nodes: &Nodes<S>, forward: bool) {
        for depth in 0..self.len {
            self.prefetch_neighbour(nodes, depth, forward);
        }
    }

    /// Prefetches the inner node after the child taken at `depth`.
    fn prefetch_neighbour<S: Shape>(&self, nodes: &Nodes<S>, depth: usize, forward: bool) {
        if !S::PREFETCH || depth + 1 >= self.len {
            return;
        }
        let (inner, at) = self.step(depth);
        let neighbour = if forward { (at < nodes.count(inner)).then_some(at + 1) } else { at.checked_sub(1) };
        if let Some(neighbour) = neighbour {
            nodes.prefetch(nodes.child(inner, neighbour));
        }
    }
}
