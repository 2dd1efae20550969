//! Spare nodes that are allocated before latches are taken, so that nothing is allocated under one.

use super::arena::SharedArena;
use super::root::LEVELS_MAX;
use latchless_core::base::error::Result;
use latchless_core::mem::line::prefetch_read_all;
use latchless_core::mem::node_ref::NodeRef;

/// At most one node for each of the lowest levels. Unused nodes are freed.
#[derive(Debug)]
pub(crate) struct Spares<'a, const LINES: usize> {
    arena: &'a SharedArena<LINES>,
    nodes: [NodeRef; LEVELS_MAX],
}

impl<'a, const LINES: usize> Spares<'a, LINES> {
    pub(crate) fn none(arena: &'a SharedArena<LINES>) -> Self {
        Self { arena, nodes: [NodeRef::NIL; LEVELS_MAX] }
    }

    /// Returns whether there is a node for a level.
    pub(crate) fn has(&self, level: usize) -> bool {
        !self.nodes[level].is_nil()
    }

    /// Allocates a node for each of the lowest `levels` levels that has none. The caller holds no latch.
    ///
    /// # Errors
    /// Memory was refused.
    pub(crate) fn reserve(&mut self, levels: usize) -> Result<()> {
        self.arena.budget().relieved(|| self.allocate(levels))
    }

    fn allocate(&mut self, levels: usize) -> Result<()> {
        for (level, node) in self.nodes[..levels].iter_mut().enumerate().filter(|(_, node)| node.is_nil()) {
            *node = self.arena.allocate(level)?;
            // It will be written as a whole, under latches.
            prefetch_read_all(self.arena.address(*node), SharedArena::<LINES>::NODE_BYTES);
        }
        Ok(())
    }

    /// Takes the node of a level.
    pub(crate) fn take(&mut self, level: usize) -> NodeRef {
        core::mem::replace(&mut self.nodes[level], NodeRef::NIL)
    }
}

impl<const LINES: usize> Drop for Spares<'_, LINES> {
    fn drop(&mut self) {
        for (level, &node) in self.nodes.iter().enumerate().filter(|(_, node)| !node.is_nil()) {
            self.arena.free(level, node);
        }
    }
}
