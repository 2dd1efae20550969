//! A dump of the tree, for debugging.

use super::BlinkTree;
use crate::node::{Children, Entries};
use core::fmt;
use latchless_core::base::key::Bits;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;

impl<B: Bits> BlinkTree<B> {
    /// Writes the tree, one node per line, children indented below their parents.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn dump(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let (root, levels) = self.root();
        self.dump_node(levels - 1, root, 0, out)
    }

    fn dump_node(&self, level: usize, node: NodeRef, depth: usize, out: &mut impl fmt::Write) -> fmt::Result {
        let (low, high) = self.fences(level, node);
        let name = if level == 0 { "leaf" } else { "inner" };
        write!(out, "{:1$}", "", 2 * depth)?;
        write!(
            out,
            "{name} {} [{low:?}, {high:?}] link {}:",
            node.to_word(),
            self.link(level, node).to_word() as i32
        )?;
        if level == 0 {
            let mut entries = Entries::default();
            self.leaf(node).copy_out::<Scalar>(&mut entries);
            return writeln!(out, " {:?}", entries.keys());
        }
        let mut children = Children::default();
        self.inner(node).copy_out(&mut children);
        writeln!(out, " {:?}", children.separators())?;
        children.nodes().iter().try_for_each(|&child| self.dump_node(level - 1, child, depth + 1, out))
    }
}
