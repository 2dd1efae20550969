//! Splitting the full nodes of a path, from the uppermost down, so that each finds room in its parent: one
//! order for trees with one reference per child and for node groups.

use super::OlfitTree;
use super::path::Path;
use super::spares::{Need, Reserve};
use crate::olfit::node::{At, Kind, Node, NodeLatch, Scheme};
use latchless_core::mem::node_ref::NodeRef;

impl<K: Kind> OlfitTree<K> {
    /// Returns the units that are needed to split all nodes of the path below `top`, after copies of the
    /// nodes that change.
    pub(super) fn need_of_splits(&self, top: usize, path: &Path<'_, K>) -> Need {
        let (first, last) = if K::GROUPS { (0, top.saturating_sub(1)) } else { (0, top) };
        // A split of a group's node needs no memory; the split of its parent needs a group.
        let mut levels = (first..last).fold(0, |levels, level| levels | 1 << level);
        if top == path.levels {
            levels |= 1 << top;
        }
        let copies = if K::Scheme::COPIES { (top + 1).min(path.levels) } else { 0 };
        Need { levels, copies }
    }

    /// Splits all nodes of the path below `top`, which has room, and leads the path to the node that `key`
    /// belongs to.
    pub(super) fn split_down<'a>(
        &'a self,
        top: usize,
        key: K::Bits,
        path: &mut Path<'a, K>,
        spares: &mut Reserve<'_, K>,
    ) {
        if top == path.levels {
            self.grow(path, spares);
        }
        for level in (0..top).rev() {
            self.splits.0[level].add(1);
            if K::GROUPS {
                self.split_in_group(level, key, path, spares);
            } else {
                self.split_node(level, key, path, spares);
            }
        }
    }

    /// Puts a new root above the old one.
    fn grow<'a>(&'a self, path: &mut Path<'a, K>, spares: &mut Reserve<'_, K>) {
        let level = path.levels;
        let unit = spares.take(level);
        self.hold_new(At::first(unit).node::<K>(), path);
        self.set_alone(unit, level);
        self.node(At::first(unit)).plant_child(path.at(level - 1).unit);
        path.set(level, At::first(unit));
        path.set_place(level, 0);
        path.levels += 1;
    }

    /// Latches a node that only threads with a reference from its previous use can find: they must detect
    /// that it was reused.
    pub(super) fn hold_new<'a>(&'a self, node: NodeRef, path: &mut Path<'a, K>) {
        if K::Scheme::NODE_LATCH == NodeLatch::Optimistic && K::Scheme::AT_ONCE {
            let mut guard = self.latch(node);
            guard.changing();
            path.keep(guard);
        }
    }

    /// Splits the node of a level into itself and a new one to its right.
    fn split_node<'a>(
        &'a self,
        level: usize,
        key: K::Bits,
        path: &mut Path<'a, K>,
        spares: &mut Reserve<'_, K>,
    ) {
        let right_unit = spares.take(level);
        self.hold_new(right_unit, path);
        let (node, right) = (self.node(path.at(level)), self.node(At::first(right_unit)));
        let separator = self.move_half(level, node, right);
        if K::Scheme::LINKS {
            right.set_link(node.link());
            node.set_link(right_unit);
        }
        let place = path.place(level + 1);
        self.node(path.at(level + 1)).insert_child(place, separator, right_unit);
        if self.turns_right(level, key, separator, path) {
            path.set(level, At::first(right_unit));
        }
    }

    /// Moves the upper half of a node to another one, and returns the key that separates them.
    pub(super) fn move_half(&self, level: usize, node: Node<'_, K>, right: Node<'_, K>) -> K::Bits {
        right.reset(level);
        let cut = node.size() / 2;
        let separator = if level == 0 { node.split_leaf(right, cut) } else { node.split_inner(right, cut) };
        if K::Scheme::LINKS {
            right.set_high(node.high());
            right.set_low(Some(separator));
            node.set_high(separator);
        }
        separator
    }

    /// Returns whether the path continues in the right one of the halves that `separator` separates; if
    /// so, its places are those there. The caller sets the node.
    pub(super) fn turns_right(
        &self,
        level: usize,
        key: K::Bits,
        separator: K::Bits,
        path: &mut Path<'_, K>,
    ) -> bool {
        let cut = self.node(path.at(level)).size();
        let right = if level == 0 { key > separator } else { path.place(level) >= cut };
        if right {
            path.set_place(level + 1, path.place(level + 1) + 1);
            if level > 0 {
                path.set_place(level, path.place(level) - cut);
            }
        }
        right
    }
}
