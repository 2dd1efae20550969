//! From a leaf to the next one to the right: along the link, or along the path.

use super::path::Path;
use super::*;
use crate::node::olfit::NodeLatch;

impl<K: Kind> OlfitTree<K> {
    /// Leads the path to the next leaf to the right, if there is one. For trees without links, whose path
    /// stays right: because it is latched (LC, all of it), because nobody else is inside (NO, TL), or
    /// because versions never change (VN, VT: then every leaf is seen as it was when the path was gone, or
    /// later).
    pub(super) fn step_right<'a>(&'a self, path: &mut Path<'a, K>) -> bool {
        let Some(turn) =
            (1..path.levels).find(|&level| path.place(level) + 1 < self.node(path.at(level)).children())
        else {
            return false;
        };
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
        true
    }

    /// The last key that may stand in the path's leaf, in trees without links; `None`: any.
    pub(super) fn upper(&self, path: &Path<'_, K>) -> Option<K::Bits> {
        (1..path.levels).find_map(|level| {
            let (node, place) = (self.node(path.at(level)), path.place(level));
            (place + 1 < node.children()).then(|| node.separator(place))
        })
    }
}
