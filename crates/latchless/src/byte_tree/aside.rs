//! Nodes and blocks reserved before latches are taken, so that nothing is allocated under a latch.

use super::long::Blocks;
use super::store::Store;
use super::strings::Strings;
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::refusal::reserve;

/// More levels than a tree of 2^32 nodes has; of the smallest nodes, than those of tests.
const LEVELS_MAX: usize = if cfg!(latchless_small_nodes) { 48 } else { 16 };

/// The memory that a change lacked: this many nodes and blocks must be reserved before it is retried.
#[derive(Debug, Clone, Copy)]
pub struct Lack {
    pub levels: usize,
    pub blocks: usize,
}

/// A node and strings for each of the lowest levels, and blocks of long strings. Unused ones go back.
#[derive(Debug)]
pub struct Aside<'a> {
    store: &'a Store,
    nodes: [NodeRef; LEVELS_MAX],
    strings: Vec<Strings>,
    pub blocks: Blocks<'a>,
}

impl<'a> Aside<'a> {
    /// Nothing yet.
    pub fn none(store: &'a Store) -> Self {
        Self {
            store,
            nodes: [NodeRef::NIL; LEVELS_MAX],
            strings: Vec::new(),
            blocks: store.long().put_aside(),
        }
    }

    /// Reserves the missing memory.
    ///
    /// # Errors
    /// If memory is refused.
    pub fn reserve(&mut self, lack: Lack) -> Result<()> {
        let longest = self.store.longest().get();
        let more = lack.levels.saturating_sub(self.strings.len());
        reserve(&mut self.strings, more)?;
        for level in 0..lack.levels {
            if level == self.strings.len() {
                self.strings.push(Strings::default());
            }
            if self.nodes[level].is_nil() {
                self.nodes[level] = self.store.nodes().allocate(level)?;
                self.store.prefetch().all(self.nodes[level]);
            }
            self.strings[level].reserve(longest)?;
        }
        self.blocks.reserve(lack.blocks)
    }

    /// Whether there is a node for a level.
    pub fn has_node(&self, level: usize) -> bool {
        !self.nodes[level].is_nil()
    }

    /// The node of a level, to be used.
    pub fn take_node(&mut self, level: usize) -> NodeRef {
        core::mem::replace(&mut self.nodes[level], NodeRef::NIL)
    }

    /// The strings of a level, to be brought back.
    pub fn take_strings(&mut self, level: usize) -> Strings {
        core::mem::take(&mut self.strings[level])
    }

    /// Brings strings back.
    pub fn bring_strings(&mut self, level: usize, strings: Strings) {
        self.strings[level] = strings;
    }
}

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        for (level, &node) in self.nodes.iter().enumerate() {
            if !node.is_nil() {
                self.store.nodes().free(level, node);
            }
        }
    }
}
