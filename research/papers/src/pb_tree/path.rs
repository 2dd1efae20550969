//! The path from the root to a leaf, kept, so that the leaves to either side can be reached without
//! any extra pointer (§5: "sweeping").

use crate::pb_tree::node::{Nodes, Shape};
use latchless_core::mem::node_ref::NodeRef;

/// The most levels that a tree can have: every inner node but the root has at least two children,
/// and 4-byte references tell at most 2^32 nodes apart.
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

    /// How many inner nodes it passes.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the root is a leaf.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One step further down: in `inner`, the child at position `at` is taken.
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

    /// Says that in the node at `depth` another child is taken, or that another node is there.
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

    /// Goes to the next leaf to the right (`forward`) or to the left and gives it; `None` at the
    /// end. Amortised O(1). Every inner node that it comes to is prefetched one step before.
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

    /// Asks for the inner nodes that a sweep from here will come to first.
    pub fn prefetch_neighbours<S: Shape>(&self, nodes: &Nodes<S>, forward: bool) {
        for depth in 0..self.len {
            self.prefetch_neighbour(nodes, depth, forward);
        }
    }

    /// Asks for the inner node that comes after the child taken at `depth`.
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
