//! Latching nodes that change beside the path: those that move within a group, and under VN all nodes that
//! are copied.

use super::OlfitTree;
use super::climb::Again;
use super::path::Path;
use crate::olfit::node::{At, Fields, Flag, Kind, NodeLatch, Scheme};
use core::ops::Range;
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;

impl<K: Kind> OlfitTree<K> {
    /// Returns the number of nodes in the unit of the path's node at a level: as many as its parent has
    /// children.
    pub(super) fn unit_size(&self, level: usize, path: &Path<'_, K>) -> usize {
        let grouped = K::GROUPS && level + 1 < path.levels;
        if grouped { self.node(path.at(level + 1)).children() } else { 1 }
    }

    /// Returns the place in its parent of the path's node of a level.
    pub(super) fn place_above(&self, level: usize, path: &Path<'_, K>) -> usize {
        if level + 1 < path.levels { path.place(level + 1) } else { 0 }
    }

    /// Latches a node that isn't latched yet. Under OL this may be out of order, so it is only tried.
    pub(super) fn hold<'a>(&'a self, node: NodeRef, path: &mut Path<'a, K>) -> Result<(), Again> {
        let address = self.node_of(node).latch_address();
        if path.holds(address) {
            return Ok(());
        }
        let guard = match K::Scheme::NODE_LATCH {
            NodeLatch::Optimistic => self.try_latch(node).ok_or(Again::Disturbed(address.addr()))?,
            _ => self.latch(node),
        };
        path.keep(guard);
        Ok(())
    }

    /// Latches nodes of the unit that the path leads through at a level.
    pub(super) fn hold_nodes<'a>(
        &'a self,
        unit: NodeRef,
        nodes: Range<usize>,
        path: &mut Path<'a, K>,
    ) -> Result<(), Again> {
        nodes.into_iter().try_for_each(|index| self.hold(At::first(unit).further(index).node::<K>(), path))
    }

    /// Latches what moves within groups when all nodes of the path below `top` are split: "the node to
    /// split, the shifting nodes, the parent node, the nodes to be moved into the new node group, and the
    /// link pointer" (§5.5).
    pub(super) fn hold_movers<'a>(&'a self, top: usize, path: &mut Path<'a, K>) -> Result<(), Again> {
        let latched = matches!(K::Scheme::NODE_LATCH, NodeLatch::Optimistic | NodeLatch::Shared);
        if !K::GROUPS || !latched {
            return Ok(());
        }
        for level in 0..top {
            let (unit, size, place) =
                (path.at(level).unit, self.unit_size(level, path), self.place_above(level, path));
            let parent_splits = level + 1 < top && level + 1 < path.levels;
            let nodes =
                if parent_splits { place.min(Self::first_mover(size / 2))..size } else { place..size + 1 };
            self.hold_nodes(unit, nodes, path)?;
            if parent_splits {
                self.hold_head(unit, path)?;
            }
        }
        Ok(())
    }

    /// Latches the head of a group, which holds its link.
    pub(super) fn hold_head<'a>(&'a self, unit: NodeRef, path: &mut Path<'a, K>) -> Result<(), Again> {
        if Fields::<K>::HEADS == 0 { Ok(()) } else { self.hold(unit, path) }
    }

    /// Under VN, latches the nodes that are copied at the levels `0..=top` of the path and the node above,
    /// whose reference will lead to the copies; and checks that all of them are still in the tree.
    pub(super) fn hold_versions<'a>(&'a self, top: usize, path: &mut Path<'a, K>) -> Result<(), Again> {
        if K::Scheme::NODE_LATCH != NodeLatch::Writers {
            return Ok(());
        }
        for level in 0..=top {
            if K::GROUPS && level > 0 {
                // References of these nodes may be changed in place, so none of them may be while the
                // group is copied. Leaves have none.
                self.hold_nodes(path.at(level).unit, 0..self.unit_size(level, path), path)?;
            } else {
                self.hold(path.at(level).node::<K>(), path)?;
            }
        }
        if top + 1 < path.levels {
            self.hold(path.at(top + 1).node::<K>(), path)?;
        } else {
            path.root = Some(self.latch_root());
        }
        if self.is_current(top, path) { Ok(()) } else { Err(Again::DISTURBED) }
    }

    /// Returns whether the path from the leaf to the node above `top` is still in the tree.
    fn is_current(&self, top: usize, path: &Path<'_, K>) -> bool {
        let lives = |level| !self.node(path.at(level)).meta().is(Flag::Dead);
        let named = |level: usize| match level + 1 < path.levels {
            true => self.node(path.at(level + 1)).child(path.place(level + 1)) == path.at(level),
            false => self.root() == (path.at(level).unit, path.levels),
        };
        (0..=(top + 1).min(path.levels - 1)).all(lives) && (0..=top).all(named)
    }
}
