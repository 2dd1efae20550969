//! A dump of the tree, for debugging.

use super::blink::BlinkTree;
use super::store::Store;
use crate::blink::Levels;
use crate::node::{Children, Entries, LeafReader};
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
        let (root, levels) = self.store().root().get();
        dump_node(self.store(), levels - 1, root, 0, out)
    }
}

/// Writes a node, and those below it.
fn dump_node<B: Bits>(
    store: &Store<B>,
    level: usize,
    node: NodeRef,
    depth: usize,
    out: &mut impl fmt::Write,
) -> fmt::Result {
    let (low, high) = store.fences(level, node);
    let name = if level == 0 { "leaf" } else { "inner" };
    write!(out, "{:1$}", "", 2 * depth)?;
    write!(
        out,
        "{name} {} [{low:?}, {high:?}] link {}:",
        node.to_word(),
        store.leaf(node).link().to_word() as i32
    )?;
    if level == 0 {
        let mut entries = Entries::default();
        LeafReader(store.leaf(node)).copy_out::<Scalar>(&mut entries);
        return writeln!(out, " {:?}", entries.keys());
    }
    let mut children = Children::default();
    store.inner(node).copy_out(&mut children);
    writeln!(out, " {:?}", children.separators())?;
    children.nodes().iter().try_for_each(|&child| dump_node(store, level - 1, child, depth + 1, out))
}
