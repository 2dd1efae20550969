//! Inner nodes: separators and children. The child at position i covers the keys from separator i − 1
//! (inclusive) up to separator i (exclusive).
//!
//! Children have one reference each, or are adjacent in a group. Only the functions in this file depend on
//! which; the tree algorithms above don't. With groups, opening and closing a place moves whole nodes, so
//! references to the children after it change, and leaves that moved are linked again.

use super::layout::Layout;
use super::shape::{Children, Shape};
use super::store::Nodes;
use crate::common::operation::Search;
use crate::pb_tree::arena::Block;
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{Trace, Work};

const GROUPED_NODE: &str = "every inner node has a group";

impl<S: Shape> Nodes<S> {
    const GROUPED: bool = matches!(S::CHILDREN, Children::Group);

    /// The child at position `at`.
    #[inline(always)]
    pub fn child(&self, inner: NodeRef, at: usize) -> NodeRef {
        match S::CHILDREN {
            Children::References => {
                self.told_read(inner, Layout::<S>::CHILDREN_AT + at * 4, 4);
                assert!(at < Layout::<S>::FANOUT, "a child that no node has room for");
                NodeRef::from_word(self.arena.word(inner, Layout::<S>::CHILDREN_AT + at * 4))
            }
            Children::Group => self.group(inner).offset(at),
        }
    }

    #[inline(always)]
    fn group(&self, inner: NodeRef) -> NodeRef {
        debug_assert!(Self::GROUPED, "{GROUPED_NODE}");
        NodeRef::from_word(self.word(inner, Layout::<S>::CHILDREN_AT))
    }

    /// The right sibling of a bottom inner node, or [`NodeRef::NIL`] (p_i).
    #[inline(always)]
    pub fn sibling(&self, bottom: NodeRef) -> NodeRef {
        NodeRef::from_word(self.word(bottom, Layout::<S>::SIBLING_AT))
    }

    /// Links a bottom inner node to its right sibling (p_i).
    pub fn set_sibling(&mut self, bottom: NodeRef, sibling: NodeRef) {
        self.set_word(bottom, Layout::<S>::SIBLING_AT, sibling.to_word());
    }

    /// Makes `inner` a node of one child and no separators.
    pub fn adopt_only(&mut self, inner: NodeRef, child: NodeRef) {
        self.start(inner, Layout::<S>::INNER_KEYS);
        self.set_word(inner, Layout::<S>::CHILDREN_AT, child.to_word());
    }

    fn set_inner_count(&mut self, inner: NodeRef, count: usize) {
        self.set_count(inner, count, Layout::<S>::INNER_KEYS);
    }

    /// The position of the child that holds `key`.
    #[inline(always)]
    pub fn child_position<K: Search>(&self, inner: NodeRef, key: S::Bits) -> usize {
        self.up_to::<K>(inner, Layout::<S>::INNER_KEYS, key)
    }

    /// Fills a new inner node with separators and children. With groups the children must be adjacent from
    /// the first on.
    pub fn write_inner(
        &mut self,
        inner: NodeRef,
        children: impl ExactSizeIterator<Item = (S::Bits, NodeRef)>,
    ) {
        self.start(inner, Layout::<S>::INNER_KEYS);
        let keys = children.len() - 1;
        for (at, (least, child)) in children.enumerate() {
            if at > 0 {
                self.arena.lanes_mut::<S::Bits>(inner, Layout::<S>::KEYS_AT, keys)[at - 1] = least;
            }
            if at == 0 || !Self::GROUPED {
                self.set_word(inner, Layout::<S>::CHILDREN_AT + at * 4, child.to_word());
            }
        }
        self.set_inner_count(inner, keys);
    }

    /// Opens a place for a new child at position `at` of a node that has room, under the separator
    /// `separator`, and returns the child's node: a new one or, with groups, one that is vacated by moving
    /// the children after it. `on_leaves` says whether the children are leaves.
    ///
    /// # Errors
    /// When memory is refused; reserve it before.
    pub fn open_child(
        &mut self,
        inner: NodeRef,
        at: usize,
        separator: S::Bits,
        on_leaves: bool,
    ) -> Result<NodeRef> {
        let count = self.count(inner);
        let child = if Self::GROUPED {
            let end = on_leaves.then(|| self.leaves_end(inner));
            let place = self.group(inner).offset(at);
            self.move_blocks(place, place.offset(1), count + 1 - at);
            if let Some(end) = end {
                self.relink_group(inner, at - 1, count + 2, end);
            }
            self.prefetch(place);
            place
        } else {
            let child = self.allocate()?;
            let place = |at: usize| (inner, Layout::<S>::CHILDREN_AT + at * 4);
            self.move_lanes::<u32>(place(at), place(at + 1), count + 1 - at);
            self.set_word(inner, Layout::<S>::CHILDREN_AT + at * 4, child.to_word());
            child
        };
        let room = if on_leaves { Layout::<S>::LEAF_PAIRS } else { Layout::<S>::INNER_KEYS };
        self.start(child, room);
        self.move_keys((inner, at - 1), (inner, at), count + 1 - at);
        self.set_key(inner, at - 1, separator);
        self.set_inner_count(inner, count + 1);
        Ok(child)
    }

    /// Takes the child at position `at` (not the first) out, with the separator before it, and
    /// frees its node. `next` is what follows the last child when the children are leaves.
    pub fn close_child(&mut self, inner: NodeRef, at: usize, leaves_end: Option<NodeRef>) {
        let count = self.count(inner);
        if Self::GROUPED {
            let place = self.group(inner).offset(at);
            self.move_blocks(place.offset(1), place, count - at);
        } else {
            let child = self.child(inner, at);
            let place = |at: usize| (inner, Layout::<S>::CHILDREN_AT + at * 4);
            self.move_lanes::<u32>(place(at + 1), place(at), count - at);
            self.free(child);
        }
        self.move_keys((inner, at), (inner, at - 1), count - at);
        self.set_inner_count(inner, count - 1);
        if let (true, Some(end)) = (Self::GROUPED, leaves_end) {
            self.relink_group(inner, at - 1, count, end);
        }
    }

    /// Returns the successor of the last child of a node of leaves.
    pub fn leaves_end(&self, inner: NodeRef) -> NodeRef {
        self.next(self.child(inner, self.count(inner)))
    }

    /// Moves the upper part of a full inner node to the new node `right`: the separators and
    /// children after separator `middle`, which stays in neither.
    ///
    /// # Errors
    /// When memory for a new group is refused; reserve it before.
    pub fn split_inner(
        &mut self,
        left: NodeRef,
        right: NodeRef,
        middle: usize,
        on_leaves: bool,
    ) -> Result<()> {
        let count = self.count(left);
        let moved = count - middle - 1;
        self.move_keys((left, middle + 1), (right, 0), moved);
        if Self::GROUPED {
            let group = self.allocate()?;
            let end = on_leaves.then(|| self.leaves_end(left));
            self.set_word(right, Layout::<S>::CHILDREN_AT, group.to_word());
            let source = self.group(left).offset(middle + 1);
            self.move_blocks(source, group, moved + 1);
            if let Some(end) = end {
                self.relink_group(right, 0, moved + 1, end);
                self.relink_group(left, middle, middle + 1, group);
            }
        } else {
            let place = |node, at: usize| (node, Layout::<S>::CHILDREN_AT + at * 4);
            self.move_lanes::<u32>(place(left, middle + 1), place(right, 0), moved + 1);
        }
        self.set_inner_count(right, moved);
        self.set_inner_count(left, middle);
        Ok(())
    }

    /// Moves `count` children, with their separators, between two neighbours under one parent: the
    /// first of `right` to the end of `left` (`leftward`), or the last of `left` to the front of
    /// `right`. `separator` is the one between the two nodes in their parent; the new one is
    /// returned, or `None` if all children of `right` moved.
    pub fn shift_children(
        &mut self,
        (left, right): (NodeRef, NodeRef),
        count: usize,
        leftward: bool,
        separator: S::Bits,
        on_leaves: bool,
    ) -> Option<S::Bits> {
        let (left_keys, right_keys) = (self.count(left), self.count(right));
        let end = on_leaves.then(|| self.leaves_end(right));
        self.shift_child_nodes((left, left_keys), (right, right_keys), count, leftward);
        let new = if leftward {
            self.set_key(left, left_keys, separator);
            self.move_keys((right, 0), (left, left_keys + 1), count - 1);
            let new = (count <= right_keys).then(|| self.key(right, count - 1));
            if count <= right_keys {
                self.move_keys((right, count), (right, 0), right_keys - count);
                self.set_inner_count(right, right_keys - count);
            }
            self.set_inner_count(left, left_keys + count);
            new
        } else {
            self.move_keys((right, 0), (right, count), right_keys);
            self.set_key(right, count - 1, separator);
            self.move_keys((left, left_keys + 1 - count), (right, 0), count - 1);
            let new = self.key(left, left_keys - count);
            self.set_inner_count(right, right_keys + count);
            self.set_inner_count(left, left_keys - count);
            Some(new)
        };
        if let (true, Some(end)) = (Self::GROUPED, end) {
            let in_left = if leftward { left_keys + 1 + count } else { left_keys + 1 - count };
            let in_right = left_keys + right_keys + 2 - in_left;
            let left_end = if in_right == 0 { end } else { self.group(right) };
            self.relink_group(left, in_left.min(left_keys + 1) - 1, in_left, left_end);
            if in_right > 0 {
                self.relink_group(right, 0, in_right, end);
            }
        }
        new
    }

    fn shift_child_nodes(
        &mut self,
        (left, left_keys): (NodeRef, usize),
        (right, right_keys): (NodeRef, usize),
        count: usize,
        leftward: bool,
    ) {
        let (kept_right, first_moved) =
            (right_keys + 1 - count.min(right_keys + 1), left_keys + 1 - count.min(left_keys + 1));
        if Self::GROUPED {
            let (left, right) = (self.group(left), self.group(right));
            if leftward {
                self.move_blocks(right, left.offset(left_keys + 1), count);
                self.move_blocks(right.offset(count), right, kept_right);
            } else {
                self.move_blocks(right, right.offset(count), right_keys + 1);
                self.move_blocks(left.offset(first_moved), right, count);
            }
        } else {
            let place = |node, at: usize| (node, Layout::<S>::CHILDREN_AT + at * 4);
            if leftward {
                self.move_lanes::<u32>(place(right, 0), place(left, left_keys + 1), count);
                self.move_lanes::<u32>(place(right, count), place(right, 0), kept_right);
            } else {
                self.move_lanes::<u32>(place(right, 0), place(right, count), right_keys + 1);
                self.move_lanes::<u32>(place(left, first_moved), place(right, 0), count);
            }
        }
    }

    /// Frees the group of an inner node whose children have all moved away.
    pub fn free_group(&mut self, inner: NodeRef) {
        if Self::GROUPED {
            self.free(self.group(inner));
        }
    }

    /// Links the leaves of a group of `children` one to the next, from position `from` on, and the
    /// last to `end`.
    fn relink_group(&mut self, inner: NodeRef, from: usize, children: usize, end: NodeRef) {
        let group = self.group(inner);
        for at in from..children - 1 {
            self.set_next(group.offset(at), group.offset(at + 1));
        }
        self.set_next(group.offset(children - 1), end);
    }

    fn move_blocks(&mut self, from: NodeRef, to: NodeRef, count: usize) {
        if count > 0 {
            let bytes = count * S::Block::BYTES;
            self.told_read(from, 0, bytes);
            self.told_write(to, 0, bytes);
            S::Trace::work(Work::Shift(bytes / size_of::<S::Bits>()));
            self.arena.copy_blocks(from, to, count);
        }
    }
}
