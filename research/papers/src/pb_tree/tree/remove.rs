//! Lazy deletion (§2.1): a pair is removed and nothing else changes, unless it was the leaf's last. Then
//! the leaf gets half of a sibling's pairs or, if the sibling has only one, the two are merged. The same
//! rule applies to inner nodes that are left with a single child.

use super::Tree;
use crate::pb_tree::node::{Children, Jump, Shape};
use crate::pb_tree::path::Path;
use latchless_core::mem::node_ref::NodeRef;

/// Two neighbours under one parent, one of them in need.
struct Neighbours {
    parent: NodeRef,
    left: NodeRef,
    right: NodeRef,
    /// Position of the separator between them in the parent.
    separator: usize,
    left_in_need: bool,
}

impl<S: Shape> Tree<S> {
    /// Removes a key and returns its value.
    pub fn remove(&mut self, key: S::Bits) -> Option<S::Bits> {
        let mut path = Path::EMPTY;
        let found = self.find(key, &mut path);
        if !found.here {
            return None;
        }
        let value = self.nodes.remove_pair(found.leaf, found.count, found.at);
        self.len -= 1;
        if found.count == 1 && self.levels > 1 {
            self.refill_leaf(&path);
        }
        Some(value)
    }

    /// Refills the empty leaf at the end of the path from a sibling, or removes it.
    fn refill_leaf(&mut self, path: &Path) {
        let pair = self.neighbours(path, path.len());
        let Neighbours { parent, left, right, separator, left_in_need } = pair;
        let giver = if left_in_need { right } else { left };
        // The sibling isn't on the path; all else is in the cache already.
        self.nodes.prefetch(giver);
        let held = self.nodes.count(giver);
        if held == 1 {
            self.merge_leaves(&pair);
            self.refill_inner_if_needed(path, path.len() - 1);
            return;
        }
        let given = held / 2;
        if left_in_need {
            self.nodes.move_pairs((right, 0), (left, 0), given);
            self.nodes.move_pairs((right, given), (right, 0), held - given);
        } else {
            self.nodes.move_pairs((left, held - given), (right, 0), given);
        }
        self.nodes.set_pairs(giver, held - given);
        self.nodes.set_pairs(if left_in_need { left } else { right }, given);
        let least = self.nodes.key(right, 0);
        self.nodes.set_key(parent, separator, least);
    }

    /// Moves the one pair of two neighbouring leaves to the left one, and removes the right one.
    fn merge_leaves(&mut self, pair: &Neighbours) {
        let &Neighbours { parent, left, right, separator, left_in_need } = pair;
        if left_in_need {
            self.nodes.move_pairs((right, 0), (left, 0), 1);
            self.nodes.set_pairs(left, 1);
        }
        if let Some(jumps) = &mut self.jumps {
            jumps.remove(&mut self.nodes, right);
        }
        let end = self.nodes.leaves_end(parent);
        if S::CHILDREN == Children::References {
            let next = self.nodes.next(right);
            self.nodes.set_next(left, next);
        }
        self.nodes.close_child(parent, separator + 1, Some(end));
        self.leaves -= 1;
    }

    /// If the inner node at `depth` of the path is left with a single child, refills it from a sibling, or
    /// removes it; then its parent likewise, if necessary.
    fn refill_inner_if_needed(&mut self, path: &Path, depth: usize) {
        let inner = path.step(depth).0;
        if self.nodes.count(inner) > 0 {
            return;
        }
        if depth == 0 {
            return self.shrink_root();
        }
        let pair = self.neighbours(path, depth);
        let Neighbours { parent, left, right, separator, left_in_need } = pair;
        let on_leaves = depth + 1 == path.len();
        let giver = if left_in_need { right } else { left };
        self.nodes.prefetch(giver);
        let held = self.nodes.count(giver) + 1;
        let between = self.nodes.key(parent, separator);
        if held > 2 {
            let given = held / 2;
            let new = self.nodes.shift_children((left, right), given, left_in_need, between, on_leaves);
            if let Some(new) = new {
                self.nodes.set_key(parent, separator, new);
            }
            return;
        }
        let all = self.nodes.count(right) + 1;
        self.nodes.shift_children((left, right), all, true, between, on_leaves);
        if S::JUMP == Jump::Internal && on_leaves {
            let sibling = self.nodes.sibling(right);
            self.nodes.set_sibling(left, sibling);
        }
        self.nodes.free_group(right);
        self.nodes.close_child(parent, separator + 1, None);
        self.inner_nodes -= 1;
        self.refill_inner_if_needed(path, depth - 1);
    }

    /// The root has a single child, which becomes the root.
    fn shrink_root(&mut self) {
        let child = self.nodes.child(self.root, 0);
        self.nodes.free(self.root);
        self.root = child;
        self.levels -= 1;
        self.inner_nodes -= 1;
    }

    /// The node that the path enters at `depth`, and a neighbour: the right one if there is one.
    fn neighbours(&self, path: &Path, depth: usize) -> Neighbours {
        let (parent, at) = path.step(depth - 1);
        let left_in_need = at < self.nodes.count(parent);
        let separator = if left_in_need { at } else { at - 1 };
        Neighbours {
            parent,
            left: self.nodes.child(parent, separator),
            right: self.nodes.child(parent, separator + 1),
            separator,
            left_in_need,
        }
    }
}
