//! The levels of a tree: nodes that are linked from left to right. Walks along a level, which need no more.

use super::counts::Counts;
use super::mode::Mode;
use super::root::Root;
use latchless_core::base::stats::Stats;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::{Origin, Word};

/// Where a key is, seen from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Between the node's fences.
    Here,
    /// After them.
    Right,
    /// Before them, or the node is dead.
    Left,
}

/// A node and its latch, which is held.
pub(crate) type Latched<'a, L, M> = (<L as Levels>::At<'a>, <M as Mode>::Held<'a>);

/// The nodes of a tree, as the algorithms of this folder use them. Levels are counted from the leaves, which
/// are level 0.
pub(crate) trait Levels {
    /// A key, or a fence.
    type Key: ?Sized;
    /// A node and its words, which are looked up once per visit.
    type At<'a>: Copy
    where
        Self: 'a;

    /// Returns the root.
    fn root(&self) -> &Root;
    /// Returns the tree's counts.
    fn counts(&self) -> &Counts;
    /// Returns the process in which the tree was made.
    fn origin(&self) -> &Origin;
    /// Looks a node up.
    fn at(&self, node: NodeRef) -> Self::At<'_>;
    /// Returns a node's reference.
    fn name(at: Self::At<'_>) -> NodeRef;
    /// Returns a node's words, of which the first one is its latch.
    fn words<'a>(&'a self, at: Self::At<'a>) -> &'a [Word];
    /// Returns where a key is, seen from a node of this level that is latched.
    fn side(at: Self::At<'_>, level: usize, key: &Self::Key) -> Side;
    /// Returns the right neighbour, or nil.
    fn link(at: Self::At<'_>) -> NodeRef;
    /// Returns the first node of a level, if there is such a level.
    fn first(&self, level: usize) -> Option<NodeRef>;
    /// Finds the node of a level that probably has a key; `None` if there is no such level.
    fn descend_to(&self, level: usize, key: &Self::Key) -> Option<NodeRef>;

    /// Latches a node.
    #[inline(always)]
    fn latch<'a, M: Mode>(&'a self, at: Self::At<'a>) -> M::Held<'a> {
        M::latch(self.words(at), self.origin())
    }
}

/// Visits the nodes of a level along its links.
fn visit<'a, L: Levels>(tree: &'a L, level: usize, mut visit: impl FnMut(L::At<'a>)) {
    let mut node = tree.first(level).unwrap_or(NodeRef::NIL);
    while !node.is_nil() {
        let at = tree.at(node);
        visit(at);
        node = L::link(at);
    }
}

/// Returns what a tree counts, and its levels. O(1).
pub(crate) fn counted(tree: &impl Levels) -> Stats {
    let mut stats = Stats::default();
    stats.levels = tree.root().get().1;
    stats.splits = tree.counts().splits();
    stats.restarts = tree.counts().restarts();
    stats.misled = tree.counts().misled();
    stats
}

/// Returns the shape of a tree whose leaves have `room` for entries, of which `filled` tells what is taken.
/// Visits every node; approximate while others change the tree.
pub(crate) fn stats<'a, L: Levels>(tree: &'a L, room: usize, filled: impl Fn(L::At<'a>) -> usize) -> Stats {
    let (mut stats, mut taken) = (counted(tree), 0);
    visit(tree, 0, |leaf| {
        stats.leaves += 1;
        taken += filled(leaf);
    });
    (1..stats.levels).for_each(|level| visit(tree, level, |_| stats.inner_nodes += 1));
    stats.leaf_fill = taken as f64 / (stats.leaves * room).max(1) as f64;
    stats
}
