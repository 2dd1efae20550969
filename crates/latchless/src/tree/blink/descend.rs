//! From the root to a node: blindly, and then for sure.

use super::*;
use crate::mem::line::prefetch_read;
use crate::search::Search;
use crate::sync::Backoff;

impl<B: Bits> BlinkTree<B> {
    /// The leaf that `key` belongs to, or one that it belonged to: only the leaf's fences tell.
    ///
    /// Where the key stands in the leaf is guessed from where it stands between the leaf's separators,
    /// as if keys were spread evenly, so that a line that holds it is likely on its way already when
    /// the leaf's first line tells which it is.
    #[inline(always)]
    pub(super) fn descend<S: Search>(&self, key: B) -> NodeRef {
        let start = self.start::<S>(key);
        let (mut node, level) = (start.node(), start.level());
        // The slot's width is about a block's, so the key is in one of these two, if not in a third.
        for line in Inner::<B>::likely_lines(start.block()) {
            prefetch_read(self.line_address(node, line));
        }
        for _ in 1..level {
            node = self.inner(node).child::<S>(key);
        }
        if level > 0 {
            let (leaf, share) = self.inner(node).child_and_share::<S>(key);
            node = leaf;
            for line in Leaf::<B>::likely_lines(share) {
                prefetch_read(self.line_address(node, line));
            }
        }
        node
    }

    /// As [`BlinkTree::descend`], to the level above the leaves, if there is one.
    #[inline(always)]
    pub(super) fn descend_near<S: Search>(&self, key: B) -> Option<NodeRef> {
        let start = self.start::<S>(key);
        let down = (1..start.level()).fold(start.node(), |node, _| self.inner(node).child::<S>(key));
        (start.level() > 0).then_some(down)
    }

    /// As [`BlinkTree::descend`], from the root to a level above the leaves (level 0), if there is that
    /// level.
    pub(super) fn descend_to<S: Search>(&self, level: usize, key: B) -> Option<NodeRef> {
        let (mut node, levels) = self.root();
        for _ in level + 1..levels {
            node = self.inner(node).child::<S>(key);
        }
        (level < levels).then_some(node)
    }

    /// The fences of a node.
    #[inline(always)]
    pub(super) fn fences(&self, level: usize, node: NodeRef) -> (B, B) {
        if level == 0 {
            let leaf = self.leaf(node);
            (leaf.low(), leaf.high())
        } else {
            let inner = self.inner(node);
            (inner.low(), inner.high())
        }
    }

    /// Latches the leaf that `key` belongs to. `start`: where a descent came out.
    #[inline(always)]
    pub(super) fn latch_leaf<S: Search, M: Mode>(&self, start: NodeRef, key: B) -> (NodeRef, M::Held<'_>) {
        let held = M::latch(hinted::latch(self.arena.node(start)));
        let (low, high) = self.fences(0, start);
        if low <= key && key <= high {
            return (start, held);
        }
        drop(held);
        self.learn::<S>(key);
        self.latch_covering::<S, M>(0, key).expect("every tree has leaves")
    }

    /// Latches the node of a level that `key` belongs to, if the tree has that level.
    #[inline(never)]
    pub(super) fn latch_covering<S: Search, M: Mode>(
        &self,
        level: usize,
        key: B,
    ) -> Option<(NodeRef, M::Held<'_>)> {
        let mut backoff = Backoff::default();
        loop {
            let mut node = self.descend_to::<S>(level, key)?;
            loop {
                let held = M::latch(hinted::latch(self.arena.node(node)));
                let (low, high) = self.fences(level, node);
                if low <= key && key <= high {
                    return Some((node, held));
                }
                self.restarts.add(1);
                let right = self.link(level, node);
                if low > key || low > high || right.is_nil() {
                    break;
                }
                node = right;
            }
            backoff.wait();
        }
    }

    /// What `look` finds in the leaf that `key` belongs to, seen at rest. `look` may run several
    /// times, and on a leaf that is being changed; what it finds there is thrown away.
    #[inline(always)]
    pub(super) fn read_leaf<S: Search, M: Mode, R>(
        &self,
        key: B,
        mut look: impl FnMut(Leaf<'_, B>) -> R,
    ) -> R {
        let mut node = self.descend::<S>(key);
        if !M::SHARED {
            if !self.leaf(node).covers(key) {
                self.learn::<S>(key);
                node = self.descend_to::<S>(0, key).expect("every tree has leaves");
            }
            return look(self.leaf(node));
        }
        let mut backoff = Backoff::default();
        for _ in 0..READ_TRIES {
            let (latch, leaf) = (hinted::latch(self.arena.node(node)), self.leaf(node));
            if let Some(version) = latch.stable_version() {
                let (low, high, right) = (leaf.low(), leaf.high(), leaf.link());
                let found = look(leaf);
                if latch.validate(version) {
                    if low <= key && key <= high {
                        return found;
                    }
                    // Split meanwhile: what was sent away is to be found along the links.
                    if low <= high && key > high && !right.is_nil() {
                        node = right;
                        continue;
                    }
                }
            }
            self.restarts.add(1);
            self.learn::<S>(key);
            backoff.wait();
            node = self.descend::<S>(key);
        }
        let (node, _held) = self.latch_leaf::<S, M>(node, key);
        look(self.leaf(node))
    }
}
