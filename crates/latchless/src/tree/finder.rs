//! Descents: unvalidated for readers, latched for writers.

use super::directory::Entry;
use super::mode::Mode;
use super::{At, BlinkTree, READ_TRIES};
use crate::node::operation::Search;
use crate::node::{Inner, Leaf};
use latchless_core::base::key::Bits;
use latchless_core::latch::Version;
use latchless_core::mem::line::{LINE_BYTES, prefetch_read};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::search::Scalar;
use latchless_core::sync::Backoff;

/// How often a misled reader looks elsewhere without backing off.
const MISLED_TRIES: u32 = 2;

impl<B: Bits> BlinkTree<B> {
    /// Finds the leaf of `key`, or one that it belonged to: only the leaf's fences decide. The key's place
    /// in the leaf is estimated from its place between the leaf's separators, as if keys were evenly
    /// distributed. So the line that has it is probably prefetched by the time the leaf's first line gives
    /// the exact place.
    #[inline(always)]
    pub(super) fn descend<S: Search>(&self, key: B) -> At<'_> {
        let guess = self.guesses.guess(key.to_u64());
        let (leaf, share) = match guess {
            Some(guess) => guess,
            None => self.descend_through_nodes::<S>(key),
        };
        let at = self.at(leaf);
        Self::ask_for_leaf(at, share);
        at
    }

    /// Prefetches the first line of a leaf and the lines that probably have a key of this sixteenth of it.
    #[inline(always)]
    pub(super) fn ask_for_leaf(leaf: At<'_>, share: usize) {
        prefetch_read(leaf.line_address(0));
        let likely = leaf.line_address(Leaf::<B>::first_likely_line(share));
        for line in 0..3 {
            prefetch_read(likely.wrapping_add(line * LINE_BYTES));
        }
    }

    /// Finds the leaf of `key` through inner nodes, without a predicted leaf. Also returns the sixteenth of
    /// the leaf in which the key probably is. See [`BlinkTree::descend`].
    #[inline(always)]
    pub(super) fn descend_through_nodes<S: Search>(&self, key: B) -> (NodeRef, usize) {
        if let Some(end) = self.guesses.at_an_end(key.to_u64()) {
            return end;
        }
        let start = self.start(key);
        let mut at = self.at(start.node());
        // A slot is as wide as a few blocks.
        if start.level() == 1
            && let Some(found) = at.inner::<B>().child_near::<S>(start.block(), key)
        {
            return found;
        }
        for _ in 1..start.level() {
            at = self.at(at.inner::<B>().child::<S>(key));
        }
        if start.level() > 0 { at.inner::<B>().child_and_share::<S>(key) } else { (at.node, 0) }
    }

    /// Prefetches the first of the blocks that a slot covers, and the hints.
    #[inline(always)]
    fn ask_for_block(at: At<'_>, start: Entry) {
        for line in Inner::<B>::likely_lines(start.block()) {
            prefetch_read(at.line_address(line));
        }
    }

    /// Prefetches the start of a descent of `key` to the level above the leaves.
    #[inline(always)]
    pub(super) fn ask_for_way(&self, key: B) {
        let start = self.start(key);
        Self::ask_for_block(self.at(start.node()), start);
    }

    /// Prefetches what a split or a loan accesses above the leaf of `key`: its parent's first line, the
    /// lines near the leaf's separator, and the fences.
    #[inline(always)]
    pub(super) fn ask_for_parent(&self, key: B) {
        let start = self.start(key);
        let at = self.at(start.node());
        Self::ask_for_block(at, start);
        prefetch_read(at.line_address(Inner::<B>::FENCES));
    }

    /// Finds the node of `key` on the level above the leaves, if there is one. See [`BlinkTree::descend`].
    #[inline(always)]
    pub(super) fn descend_near<S: Search>(&self, key: B) -> Option<At<'_>> {
        let start = self.start(key);
        let top = self.at(start.node());
        Self::ask_for_block(top, start);
        let mut at = top;
        for _ in 1..start.level() {
            at = self.at(at.inner::<B>().child::<S>(key));
        }
        (start.level() > 0).then_some(at)
    }

    /// Finds the node of `key` on a level, counted from the leaves (level 0), by a descent from the root;
    /// `None` if the tree has no such level.
    pub(super) fn descend_to<S: Search>(&self, level: usize, key: B) -> Option<NodeRef> {
        let (mut node, levels) = self.root();
        for _ in level + 1..levels {
            node = self.inner(node).child::<S>(key);
        }
        (level < levels).then_some(node)
    }

    /// Returns the fences of a node.
    #[inline(always)]
    pub(super) fn fences(&self, level: usize, node: NodeRef) -> (B, B) {
        if level == 0 {
            self.leaf(node).fences()
        } else {
            let inner = self.inner(node);
            (inner.low(), inner.high())
        }
    }

    /// Latches a node.
    #[inline(always)]
    pub(super) fn latch<M: Mode>(&self, node: NodeRef) -> M::Held<'_> {
        M::latch(self.arena.node(node), self.arena.origin())
    }

    /// Latches the leaf that `key` belongs to. `start` is the result of a descent.
    #[inline(always)]
    pub(super) fn latch_leaf<'a, M: Mode>(&'a self, start: At<'a>, key: B) -> (At<'a>, M::Held<'a>) {
        let (held, leaf) = (M::latch(start.lines, self.arena.origin()), start.leaf::<B>());
        if leaf.low() <= key && key <= leaf.high() {
            return (start, held);
        }
        drop(held);
        self.misled.add(1);
        self.correct(key, start.node);
        let (node, held) = self.latch_covering::<Scalar, M>(0, key).expect("every tree has leaves");
        (self.at(node), held)
    }

    /// Latches the node of a level that `key` belongs to, if the tree has that level.
    #[inline(never)]
    pub(super) fn latch_covering<S: Search, M: Mode>(
        &self,
        level: usize,
        key: B,
    ) -> Option<(NodeRef, M::Held<'_>)> {
        let mut backoff = Backoff::default();
        // The directory doesn't cover nodes that were split at the end of keys in order.
        let is_near = level == 1 && self.guesses.at_an_end(key.to_u64()).is_none();
        let mut near = if is_near { self.descend_near::<S>(key) } else { None };
        loop {
            let mut node = match near.take() {
                Some(at) => at.node,
                None => self.descend_to::<S>(level, key)?,
            };
            loop {
                let held = self.latch::<M>(node);
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
            backoff.wait_at(self.arena.origin());
        }
    }

    /// Returns what `look` finds in the leaf that `key` belongs to, at rest. `look` may run several times,
    /// also on a leaf that is being changed; such results are discarded.
    #[inline(always)]
    pub(super) fn read_leaf<S: Search, M: Mode, R>(&self, key: B, look: impl FnMut(Leaf<'_, B>) -> R) -> R {
        self.read_leaf_from::<M, R>(self.descend::<S>(key), key, look).0
    }

    /// Reads the leaf that `key` belongs to, from `node`, the result of a descent. Also returns that leaf
    /// and its version, unless it was read under its latch. See [`BlinkTree::read_leaf`].
    #[inline(always)]
    pub(super) fn read_leaf_from<'a, M: Mode, R>(
        &'a self,
        mut at: At<'a>,
        key: B,
        mut look: impl FnMut(Leaf<'_, B>) -> R,
    ) -> (R, NodeRef, Option<Version>) {
        let (mut backoff, mut tries) = (Backoff::default(), 0);
        loop {
            let (latch, leaf) = (at.latch(), at.leaf::<B>());
            // The only call of `look`: with two it wouldn't be inlined.
            let held = (tries == READ_TRIES).then(|| M::latch(at.lines, self.arena.origin()));
            let version = latch.stable_version();
            let inside = leaf.covers(key);
            let found = look(leaf);
            let at_rest =
                !M::SHARED || held.is_some() || version.is_some_and(|version| latch.validate(version));
            if inside && at_rest {
                return (found, at.node, version);
            }
            drop(held);
            at = self.at(self.look_again(at, key, at_rest));
            tries = READ_TRIES.min(tries + 1);
            // A reader that is only misled needn't wait. One that is misled repeatedly waits for a change
            // that is under way, or, in a child, for one that was under way at the fork.
            if !at_rest || tries > MISLED_TRIES {
                backoff.wait_at(self.arena.origin());
            }
        }
    }

    /// Returns where to look next for `key`, which this leaf doesn't cover, or which couldn't be read there.
    #[cold]
    #[inline(never)]
    fn look_again(&self, at: At<'_>, key: B, at_rest: bool) -> NodeRef {
        self.restarts.add(1);
        if at_rest {
            self.misled.add(1);
            self.correct(key, at.node);
            // A split moves keys to the next leaf.
            let right = at.leaf::<B>().link();
            if !right.is_nil() && self.leaf(right).covers(key) {
                return right;
            }
        }
        self.descend_to::<Scalar>(0, key).expect("every tree has leaves")
    }
}
