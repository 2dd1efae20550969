//! Spare nodes that are allocated before latches are taken, so that nothing is allocated under one.

use super::store::{Arena, LEVELS_MAX};
use latchless_core::base::error::Result;
use latchless_core::mem::line::prefetch_read_all;
use latchless_core::mem::node_ref::NodeRef;

/// One node for each of the lowest levels. Unused nodes are freed.
#[derive(Debug)]
pub(super) struct Reserve<'a> {
    arena: &'a Arena,
    nodes: [NodeRef; LEVELS_MAX],
    /// The number of levels that got a node, from the leaves up.
    levels: usize,
}

impl<'a> Reserve<'a> {
    pub(super) fn none(arena: &'a Arena) -> Self {
        Self { arena, nodes: [NodeRef::NIL; LEVELS_MAX], levels: 0 }
    }

    /// Returns how many of the lowest levels have a spare node.
    pub(super) fn levels(&self) -> usize {
        self.levels
    }

    /// Allocates a node for each of the lowest `levels` levels.
    pub(super) fn reserve(&mut self, levels: usize) -> Result<()> {
        while self.levels < levels {
            let node = self.arena.allocate(self.levels)?;
            // It will be written as a whole, under latches.
            prefetch_read_all(self.arena.address(node), Arena::NODE_BYTES);
            self.nodes[self.levels] = node;
            self.levels += 1;
        }
        Ok(())
    }

    /// Takes the node of a level.
    pub(super) fn take(&mut self, level: usize) -> NodeRef {
        core::mem::replace(&mut self.nodes[level], NodeRef::NIL)
    }
}

impl Drop for Reserve<'_> {
    fn drop(&mut self) {
        for (level, &node) in self.nodes[..self.levels].iter().enumerate() {
            if !node.is_nil() {
                self.arena.free(level, node);
            }
        }
    }
}
