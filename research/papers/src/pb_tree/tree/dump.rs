//! Prints a tree as text, for debugging.

use super::Tree;
use crate::pb_tree::node::Shape;
use core::fmt::{self, Write};
use latchless_core::mem::node_ref::NodeRef;

impl<S: Shape> Tree<S> {
    /// Writes the tree as text: a line a node, children indented below their parent.
    ///
    /// # Errors
    /// When `out` refuses.
    pub fn dump(&self, out: &mut impl Write) -> fmt::Result {
        writeln!(out, "{} keys, {} levels", self.len, self.levels)?;
        self.dump_node(out, self.root, self.levels - 1, 0)
    }

    fn dump_node(&self, out: &mut impl Write, node: NodeRef, level: usize, depth: usize) -> fmt::Result {
        let count = self.nodes.count(node);
        let keys = self.nodes.keys(node, count);
        let name = if level == 0 { "leaf" } else { "inner" };
        writeln!(out, "{:indent$}{name} {} {keys:?}", "", node.to_word(), indent = 2 * depth)?;
        if level > 0 {
            for at in 0..=count {
                self.dump_node(out, self.nodes.child(node, at), level - 1, depth + 1)?;
            }
        }
        Ok(())
    }
}
