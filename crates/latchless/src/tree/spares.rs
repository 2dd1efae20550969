//! Nodes put aside before latches are taken, so that nothing is allocated under one.

use super::*;
use latchless_core::mem::line::prefetch_read_all;

/// One node for each of the lowest levels. What isn't used goes back.
#[derive(Debug)]
pub(super) struct Reserve<'a> {
    arena: &'a SharedArena<{ node::LINES }>,
    nodes: [NodeRef; LEVELS_MAX],
    /// Levels that have had a node put aside, from the leaves up.
    levels: usize,
}

impl<'a> Reserve<'a> {
    pub(super) fn none(arena: &'a SharedArena<{ node::LINES }>) -> Self {
        Self { arena, nodes: [NodeRef::NIL; LEVELS_MAX], levels: 0 }
    }

    /// How many of the lowest levels have a node put aside.
    pub(super) fn levels(&self) -> usize {
        self.levels
    }

    /// Puts a node aside for each of the lowest `levels` levels.
    pub(super) fn reserve(&mut self, levels: usize) -> Result<()> {
        while self.levels < levels {
            let node = self.arena.allocate(self.levels)?;
            // It will be written whole, under latches.
            prefetch_read_all(self.arena.address(node), SharedArena::<{ node::LINES }>::NODE_BYTES);
            self.nodes[self.levels] = node;
            self.levels += 1;
        }
        Ok(())
    }

    /// The node of a level, to be used.
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
