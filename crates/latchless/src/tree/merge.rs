//! Merging nodes that have become nearly empty, so that their memory can be reused.
//!
//! A removal never merges under its own latch: it starts a merge around its key afterwards. Two neighbours
//! below one parent are latched from left to right, then their parent. If the left one has no room for both,
//! the children of inner nodes are redistributed, and leaves stay as they are.

use super::BlinkTree;
use super::mode::{Held, Mode};
use crate::node::operation::Search;
use crate::node::{Children, Entries, Inner, Leaf};
use latchless_core::base::key::Bits;
use latchless_core::base::span::before;
use latchless_core::mem::node_ref::NodeRef;

/// How often a merge is tried when other threads interfere.
const TRIES: usize = 4;

/// The outcome of a merge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nothing had to be done, or it was done.
    Done,
    /// It was done, and the parent may now be too empty itself.
    Shrank,
    /// The parent has no other child.
    OnlyChild,
    /// Other threads changed the tree meanwhile.
    Disturbed,
}

/// How to combine two neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// One node.
    IntoOne,
    /// Two nodes with about as many children each.
    Evenly,
}

impl<B: Bits> BlinkTree<B> {
    /// Returns whether a leaf in which a removal left this many entries is worth a check of its neighbours:
    /// not after each removal, because the neighbours may be full.
    #[inline(always)]
    pub(super) fn invites_a_merge(left: usize) -> bool {
        left == 0 || left == Leaf::<B>::CAPACITY / 4 || left == Leaf::<B>::CAPACITY / 8
    }

    /// Merges the node of this level that `key` belongs to with a neighbour, if it is nearly empty.
    #[inline(never)]
    pub(super) fn merge_around<S: Search, M: Mode>(&self, level: usize, key: B) {
        for _ in 0..TRIES {
            let mut outcome = self.merge_right::<S, M>(level, key);
            if outcome == Outcome::OnlyChild {
                outcome = self.merge_left::<S, M>(level, key);
            }
            match outcome {
                Outcome::Done => return,
                Outcome::Shrank => return self.merge_around::<S, M>(level + 1, key),
                Outcome::OnlyChild => self.merge_around::<S, M>(level + 1, key),
                Outcome::Disturbed => {}
            }
        }
    }

    fn is_nearly_empty(&self, level: usize, node: NodeRef) -> bool {
        if level == 0 {
            self.leaf(node).len() <= Leaf::<B>::CAPACITY / 4
        } else {
            self.inner(node).children() <= Inner::<B>::CAPACITY / 4
        }
    }

    /// Merges the node that `key` belongs to with its right neighbour.
    fn merge_right<S: Search, M: Mode>(&self, level: usize, key: B) -> Outcome {
        let Some((left, held)) = self.latch_covering::<S, M>(level, key) else { return Outcome::Done };
        if !self.is_nearly_empty(level, left) {
            return Outcome::Done;
        }
        let (root, levels) = self.root();
        if levels == level + 1 && root == left {
            return self.collapse_root::<M>(level, left, held);
        }
        let right = self.link(level, left);
        if right.is_nil() { Outcome::OnlyChild } else { self.merge::<S, M>(level, (left, held), right) }
    }

    /// Merges the node that `key` belongs to with its left neighbour.
    fn merge_left<S: Search, M: Mode>(&self, level: usize, key: B) -> Outcome {
        let Some((node, held)) = self.latch_covering::<S, M>(level, key) else { return Outcome::Done };
        let (low, _) = self.fences(level, node);
        let still = self.is_nearly_empty(level, node);
        // Latches are taken from left to right: this one has to be released first.
        drop(held);
        if low == B::MIN || !still {
            return if still { Outcome::OnlyChild } else { Outcome::Done };
        }
        let Some(left) = self.latch_covering::<S, M>(level, before(low)) else { return Outcome::Done };
        let right = self.link(level, left.0);
        if right != node { Outcome::Disturbed } else { self.merge::<S, M>(level, left, right) }
    }

    /// Replaces a root that has one child by that child.
    fn collapse_root<M: Mode>(&self, level: usize, root: NodeRef, mut held: M::Held<'_>) -> Outcome {
        if level == 0 || self.inner(root).children() > 1 {
            return Outcome::Done;
        }
        held.changing();
        self.set_root(self.leftmost_child(root), level);
        self.inner(root).mark_dead();
        drop(held);
        self.arena.free(level, root);
        Outcome::Done
    }

    /// Merges a latched node and its right neighbour, if they have the same parent and fit in one node.
    fn merge<S: Search, M: Mode>(
        &self,
        level: usize,
        (left, mut left_held): (NodeRef, M::Held<'_>),
        right: NodeRef,
    ) -> Outcome {
        let mut right_held = self.latch::<M>(right);
        let ((low, _), (separator, high)) = (self.fences(level, left), self.fences(level, right));
        let Some((parent, mut parent_held)) = self.latch_covering::<S, M>(level + 1, low) else {
            return Outcome::Disturbed;
        };
        if self.fences(level + 1, parent).1 < high {
            return Outcome::OnlyChild;
        }
        let Some(way) = self.way_to_merge(level, left, right) else { return Outcome::Done };
        left_held.changing();
        right_held.changing();
        parent_held.changing();
        if level == 0 {
            self.outdate_both::<M>((left, &mut left_held), (right, &mut right_held));
        }
        let names = self.inner(parent);
        let mut children = Children::default();
        names.copy_out(&mut children);
        children.remove(children.place_of(separator));
        match way {
            Way::IntoOne if level == 0 => self.merge_leaves::<S>(left, right),
            Way::IntoOne => self.merge_inner_nodes(left, right),
            Way::Evenly => children.insert(self.even_out(left, right), right),
        }
        names.fill(children.separators(), children.nodes());
        if level == 0 {
            self.name_leaf(left, (low, high));
        }
        drop((left_held, right_held, parent_held));
        if way == Way::Evenly {
            return Outcome::Done;
        }
        self.arena.free(level, right);
        if self.is_nearly_empty(level + 1, parent) { Outcome::Shrank } else { Outcome::Done }
    }

    /// Decides whether to combine two neighbours: into one if there is room to spare; inner nodes evenly if
    /// one of them has a single child, which could otherwise never be merged.
    fn way_to_merge(&self, level: usize, left: NodeRef, right: NodeRef) -> Option<Way> {
        if level == 0 {
            let (left, right) = (self.leaf(left).len(), self.leaf(right).len());
            return fits(left, right, Leaf::<B>::CAPACITY).then_some(Way::IntoOne);
        }
        let (left, right) = (self.inner(left).children(), self.inner(right).children());
        if fits(left, right, Inner::<B>::CAPACITY) {
            return Some(Way::IntoOne);
        }
        (left == 1 || right == 1).then_some(Way::Evenly)
    }

    /// Moves everything to the left leaf.
    fn merge_leaves<S: Search>(&self, left: NodeRef, right: NodeRef) {
        let (into, from) = (self.leaf(left), self.leaf(right));
        let (mut entries, mut more) = (Entries::default(), Entries::default());
        into.copy_out::<S>(&mut entries);
        from.copy_out::<S>(&mut more);
        entries.append(&more, 0);
        into.set((into.low(), from.high()), from.link(), &entries, 0..entries.keys().len());
        from.mark_dead();
    }

    /// Moves everything to the left node.
    fn merge_inner_nodes(&self, left: NodeRef, right: NodeRef) {
        let (into, from) = (self.inner(left), self.inner(right));
        let all = self.children_of_both(left, right);
        into.set((into.low(), from.high()), from.link(), all.separators(), all.nodes());
        from.mark_dead();
    }

    /// Gives both nodes half of the children. Returns the new low fence of the right one.
    fn even_out(&self, left: NodeRef, right: NodeRef) -> B {
        let (into, from) = (self.inner(left), self.inner(right));
        let all = self.children_of_both(left, right);
        let (separators, nodes) = (all.separators(), all.nodes());
        let cut = separators.len() / 2;
        from.set((separators[cut], from.high()), from.link(), &separators[cut..], &nodes[cut..]);
        into.set((into.low(), before(separators[cut])), right, &separators[..cut], &nodes[..cut]);
        separators[cut]
    }

    fn children_of_both(&self, left: NodeRef, right: NodeRef) -> Children<B> {
        let (mut all, mut more) = (Children::default(), Children::default());
        self.inner(left).copy_out(&mut all);
        self.inner(right).copy_out(&mut more);
        more.separators().iter().zip(more.nodes()).for_each(|(&separator, &node)| all.push(separator, node));
        all
    }
}

/// Returns whether two nodes fit in one, with room to spare. An empty one always does.
fn fits(left: usize, right: usize, capacity: usize) -> bool {
    left + right <= capacity * 4 / 5 || left == 0 || right == 0
}
