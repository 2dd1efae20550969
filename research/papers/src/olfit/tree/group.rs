//! Node groups of the full CSB+-Tree: a split shifts the nodes after it by one place, and when a parent
//! splits, its group does (§5.5). The caller holds latches on all nodes that move.

use super::OlfitTree;
use super::path::Path;
use super::spares::Reserve;
use crate::olfit::node::{At, Fields, Flag, Kind, Node, NodeLatch, Scheme};
use core::ops::Range;
use latchless_core::mem::node_ref::NodeRef;

impl<K: Kind> OlfitTree<K> {
    /// Sets the link of a group to the next one, where groups have one.
    pub(super) fn set_group_link(&self, unit: NodeRef, to: NodeRef) {
        if Fields::<K>::HEADS > 0 {
            self.node_of(unit).set_link(to);
        }
    }

    /// The nodes of a unit from `at` on to the right.
    fn in_unit(&self, unit: NodeRef, index: usize) -> Node<'_, K> {
        self.node(At::first(unit).further(index))
    }

    /// Splits the node of a level into itself and the next place of its group.
    pub(super) fn split_in_group<'a>(
        &'a self,
        level: usize,
        key: K::Bits,
        path: &mut Path<'a, K>,
        spares: &mut Reserve<'_, K>,
    ) {
        let (at, parent, place) = (path.at(level), self.node(path.at(level + 1)), path.place(level + 1));
        for index in (place + 1..parent.children()).rev() {
            self.in_unit(at.unit, index).copy_to(self.in_unit(at.unit, index + 1));
        }
        let (node, right) = (self.node(at), self.in_unit(at.unit, place + 1));
        let separator = if level == 0 {
            self.move_half(0, node, right)
        } else {
            self.split_with_group(level, node, right, path, spares)
        };
        if K::Scheme::LINKS {
            right.set_flag(Flag::Last, node.meta().is(Flag::Last));
            node.set_flag(Flag::Last, false);
        }
        parent.insert_child(place, separator, NodeRef::NIL);
        let kept = node.size();
        if self.turns_right(level, key, separator, path) {
            path.set(level, at.further(1));
            if level > 0 {
                let below = path.at(level - 1);
                let index = below.index - kept as u32;
                path.set(level - 1, At { unit: right.group(), index });
            }
        }
    }

    /// Splits an inner node and the group of its children.
    fn split_with_group<'a>(
        &'a self,
        level: usize,
        node: Node<'_, K>,
        right: Node<'_, K>,
        path: &mut Path<'a, K>,
        spares: &mut Reserve<'_, K>,
    ) -> K::Bits {
        let (group, size) = (node.group(), node.children());
        let separator = self.move_half(level, node, right);
        let kept = node.children();
        self.assert_held(group, Self::first_mover(kept)..size, path);
        let new = spares.take(level - 1);
        right.set_group(new);
        (0..size - kept + 1).for_each(|index| {
            self.hold_new(At::first(new).further(index).node::<K>(), path);
        });
        for index in kept..size {
            let moving = self.in_unit(group, index);
            moving.copy_to(self.in_unit(new, index - kept));
            moving.mark_dead();
        }
        if Fields::<K>::HEADS > 0 {
            self.hold_new(new, path);
            self.set_group_link(new, self.node_of(group).link());
            self.set_group_link(group, new);
            self.in_unit(group, kept - 1).set_flag(Flag::Last, true);
        }
        separator
    }

    /// Returns the first node of a group that changes when it splits after `kept` nodes: with links the
    /// last one that stays, which gets the flag of the last one.
    pub(super) fn first_mover(kept: usize) -> usize {
        if Fields::<K>::HEADS > 0 { kept - 1 } else { kept }
    }

    /// Asserts, if nodes have writers' latches, that the latches of the changed nodes are held. A write of
    /// one flag stores the rest of its word as well, and so would undo another writer's change.
    fn assert_held(&self, unit: NodeRef, nodes: Range<usize>, path: &Path<'_, K>) {
        if K::Scheme::NODE_LATCH == NodeLatch::Optimistic {
            debug_assert!(
                nodes.clone().all(|index| path.holds(self.in_unit(unit, index).latch_address())),
                "nodes {nodes:?} of {unit:?} change, and not all are latched"
            );
        }
    }

    /// Takes the node at an index out of a group of `size` nodes, all of which from there on are latched, and
    /// the one before if it becomes the last: those after it move to the left.
    pub(super) fn close_gap(&self, unit: NodeRef, index: usize, size: usize) {
        for moving in index + 1..size {
            self.in_unit(unit, moving).copy_to(self.in_unit(unit, moving - 1));
        }
        self.in_unit(unit, size - 1).mark_dead();
        if K::Scheme::LINKS {
            self.in_unit(unit, size - 2).set_flag(Flag::Last, true);
        }
    }
}
