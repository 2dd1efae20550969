//! Steps from a leaf to the next one to the right: along the link, or along the path.

use super::OlfitTree;
use super::path::Path;
use crate::olfit::node::{Kind, NodeLatch, Scheme};

impl<K: Kind> OlfitTree<K> {
    /// Leads the path to the next leaf to the right, if there is one, and returns the level at which it
    /// turned. For trees without links, whose path stays valid: because it is latched (LC, all of it),
    /// because no other thread is inside (NO, TL), or because versions don't change. In a tree of versions
    /// (VN, VT) a leaf is seen as of the descent or later; as long as the node at which the path turned
    /// isn't dead, the leaf is the next one.
    pub(super) fn step_right<'a>(&'a self, path: &mut Path<'a, K>) -> Option<usize> {
        let turn =
            (1..path.levels).find(|&level| path.place(level) + 1 < self.node(path.at(level)).children())?;
        path.low = Some(self.node(path.at(turn)).separator(path.place(turn)));
        if K::Scheme::NODE_LATCH == NodeLatch::Shared {
            path.let_go_down_to(path.levels - turn);
        }
        path.set_place(turn, path.place(turn) + 1);
        for level in (0..turn).rev() {
            let child = self.node(path.at(level + 1)).child(path.place(level + 1));
            path.set(level, child);
            path.set_place(level, 0);
            if K::Scheme::NODE_LATCH == NodeLatch::Shared {
                self.couple(child, level, path);
            }
        }
        Some(turn)
    }

    /// The last key that may be in the path's leaf, in trees without links; `None`: any.
    pub(super) fn upper(&self, path: &Path<'_, K>) -> Option<K::Bits> {
        (1..path.levels).find_map(|level| {
            let (node, place) = (self.node(path.at(level)), path.place(level));
            (place + 1 < node.children()).then(|| node.separator(place))
        })
    }
}
