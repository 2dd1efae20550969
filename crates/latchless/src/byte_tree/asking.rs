//! What of a node is asked for before it is read.
//!
//! A leaf has thirty-two lines. Which of them tell where a key is depends on how many slots the leaf has, and
//! its header, which says that, comes no sooner than the others. So the leaf that was split or loaded last
//! tells it for all.

use super::image::Private;
use super::shape::{LINES, Shape, WORDS};
use super::tree::ByteTree;
use core::ops::Range;
use latchless_core::mem::line::{LINE_BYTES, prefetch_read};
use latchless_core::mem::node_ref::NodeRef;

/// Lines of a leaf that tell where a key is, as long as no leaf has told: its header, and tags, lengths and
/// places.
pub(super) const LEAF_LINES: usize = 4;

impl ByteTree {
    /// Asks for the lines of a node that tell where to go on: of an inner node all, since children, and what
    /// tells equal heads apart, are anywhere in it.
    #[inline(always)]
    pub(super) fn ask_for(&self, node: NodeRef, level: usize) {
        self.ask_for_lines(node, 0..if level == 0 { self.leaf_lines() } else { LINES });
    }

    /// As [`ByteTree::ask_for`], of a leaf that is read at once: as many lines of each, without a loop.
    #[inline(always)]
    pub(super) fn ask_for_leaf(&self, leaf: NodeRef) {
        let address = self.nodes.address(leaf);
        prefetch_read(address);
        prefetch_read(address.wrapping_add(LINE_BYTES));
        prefetch_read(address.wrapping_add(2 * LINE_BYTES));
        prefetch_read(address.wrapping_add(3 * LINE_BYTES));
        prefetch_read(address.wrapping_add(4 * LINE_BYTES));
        prefetch_read(address.wrapping_add(5 * LINE_BYTES));
    }

    /// Asks for what is read and written of a leaf beside that when an entry comes or goes: the heads, and
    /// what tells equal ones apart.
    #[inline(always)]
    pub(super) fn ask_for_heads(&self, leaf: NodeRef) {
        let address = self.nodes.address(leaf);
        // Four at a time; some are asked for already.
        for line in (self.leaf_lines() / 4 * 4..LINES).step_by(4) {
            (line..line + 4).for_each(|line| prefetch_read(address.wrapping_add(line * LINE_BYTES)));
        }
    }

    /// As [`ByteTree::ask_for_heads`], of a leaf whose header has come, and with it where the slots end and
    /// the next entry goes. What tells equal heads apart is asked for if other leaves have such. In a group
    /// of keys, lines that nobody reads are in the way of others.
    #[inline(always)]
    pub(super) fn ask_for_slots(&self, leaf: NodeRef) {
        let shape = self.at(leaf).1.shape();
        self.ask_for_lines(leaf, self.leaf_lines()..(shape.heads() + shape.len()) / 8 + 1);
        let free = WORDS - shape.used();
        let end = if self.has_ties.load_relaxed() == 0 { free.div_ceil(8) } else { LINES };
        self.ask_for_lines(leaf, free.saturating_sub(2) / 8..end);
    }

    /// How many lines of a leaf are likely to tell where a key is.
    #[inline(always)]
    pub(super) fn leaf_lines(&self) -> usize {
        self.leaf_lines.load_relaxed() as usize % LINES
    }

    /// Remembers whether a leaf had equal heads, and where they began.
    pub(super) fn learn_shape(&self, leaf: Private<'_>) {
        let (shape, first) = (leaf.shape(), leaf.shape().heads());
        let heads = &leaf.words[first..first + shape.len()];
        let has_ties = u64::from(heads.array_windows().any(|[one, next]| one == next));
        let lines = first.div_ceil(8) as u64;
        // A line that nobody writes stays in every processor's cache.
        for (word, now) in [(&self.has_ties, has_ties), (&self.leaf_lines, lines)] {
            if word.load_relaxed() != now {
                word.store_relaxed(now);
            }
        }
    }

    #[inline(always)]
    fn ask_for_lines(&self, node: NodeRef, lines: Range<usize>) {
        let address = self.nodes.address(node);
        lines.into_iter().for_each(|line| prefetch_read(address.wrapping_add(line * LINE_BYTES)));
    }

    /// Asks for a whole node.
    #[inline(always)]
    pub(super) fn ask_for_all(&self, node: NodeRef) {
        let address = self.nodes.address(node);
        (0..LINES).for_each(|line| prefetch_read(address.wrapping_add(line * LINE_BYTES)));
    }

    /// Asks for the lines that a node of this shape uses.
    #[inline(always)]
    pub(super) fn ask_for_used(&self, node: NodeRef, shape: Shape) {
        let [slots, heap] = shape.used_lines();
        self.ask_for_lines(node, slots);
        self.ask_for_lines(node, heap);
    }

    /// Asks for a node's header.
    #[inline(always)]
    pub(super) fn ask_for_header(&self, node: NodeRef) {
        self.ask_for_lines(node, 0..1);
    }
}
