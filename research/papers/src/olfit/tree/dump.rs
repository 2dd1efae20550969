//! Prints the tree, for debugging.

use super::OlfitTree;
use crate::olfit::node::{At, Kind, Scheme};
use core::fmt;

impl<K: Kind> OlfitTree<K> {
    /// Writes the tree, a node a line, children indented below their parents.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn dump(&self, out: &mut impl fmt::Write) -> fmt::Result {
        let (root, levels) = self.root();
        writeln!(out, "{} entries, {levels} levels, {}", self.len(), K::Scheme::NAME)?;
        self.dump_node(At::first(root), levels - 1, 0, out)
    }

    fn dump_node(&self, at: At, level: usize, depth: usize, out: &mut impl fmt::Write) -> fmt::Result {
        let node = self.node(at);
        let name = if level == 0 { "leaf" } else { "inner" };
        write!(out, "{:indent$}{name} {}", "", at.node::<K>().to_word(), indent = 2 * depth)?;
        if K::Scheme::LINKS {
            write!(out, " up to {:?}", node.high())?;
        }
        if level == 0 {
            let keys: Vec<K::Bits> = (0..node.entries()).map(|place| node.key(place)).collect();
            return writeln!(out, " {keys:?}");
        }
        let children = node.children();
        let separators: Vec<K::Bits> = (0..children - 1).map(|place| node.separator(place)).collect();
        writeln!(out, " {separators:?}")?;
        (0..children).try_for_each(|place| self.dump_node(node.child(place), level - 1, depth + 1, out))
    }
}
