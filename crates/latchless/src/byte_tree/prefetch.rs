//! Which lines of a node to prefetch.
//!
//! A leaf has thirty-two lines. Where the leaf's header hasn't arrived, the [usual](Usual) leaf says which
//! of them locate a key.

use super::records::around;
use super::shape::{LINES, Nodes, SLOTS, Shape, WORDS, entry_words};
use super::usual::{Usual, UsualRecords};
use crate::tree::Share;
use core::ops::Range;
use latchless_core::mem::line::{LINE_BYTES, prefetch_read};
use latchless_core::mem::node_ref::NodeRef;

/// Prefetches lines of nodes.
#[derive(Debug, Clone, Copy)]
pub struct Prefetch<'s> {
    pub nodes: &'s Nodes,
    pub usual: &'s Usual,
}

impl Prefetch<'_> {
    /// Prefetches the lines of a node that the descent reads: all lines of an inner node, since children
    /// and the bytes that tell equal heads apart may be anywhere in it.
    #[inline(always)]
    pub fn node(self, node: NodeRef, level: usize) {
        self.lines(node, 0..if level == 0 { self.usual.leaf_lines() } else { LINES });
    }

    /// In leaves of records, prefetches the lines that are likely to have a key's head and record.
    #[inline(always)]
    pub fn record(self, leaf: NodeRef, share: Share, usual: UsualRecords) {
        self.header(leaf);
        self.records(leaf, usual.place(share), SLOTS + usual.slots(), usual.words());
    }

    /// Prefetches the likely head and record of a key and all entries after them, which an insert or a
    /// removal moves.
    #[inline(always)]
    pub fn record_onwards(self, leaf: NodeRef, share: Share, usual: UsualRecords) {
        self.header(leaf);
        let (slots, words) = (usual.slots(), usual.words());
        let those = nearer_end(usual.place(share), slots / 6..slots * 5 / 6);
        self.both(leaf, those, SLOTS + slots, words);
    }

    /// Prefetches the likely head and record of a key, all entries after them, and the first head, which
    /// decides whether the key comes before the leaf.
    #[inline(always)]
    pub fn range_onwards(self, leaf: NodeRef, share: Share, usual: UsualRecords) {
        let Range { start, end } = usual.places(share);
        let (records, place) = (SLOTS + usual.slots(), end.saturating_sub(8));
        self.header(leaf);
        self.word(leaf, SLOTS + start);
        self.lines(leaf, (SLOTS + place) / 8..records.div_ceil(8));
        self.lines(leaf, (records + place * usual.words()) / 8..LINES);
    }

    /// Prefetches these heads and records of a leaf, given the word where records begin and the words per
    /// record.
    #[inline(always)]
    fn both(self, leaf: NodeRef, those: Range<usize>, records: usize, words: usize) {
        let (head, last) = (SLOTS + those.start, SLOTS + those.end);
        let (record, end) = ((records + those.start * words) / 8, (records + those.end * words) / 8);
        // Both at once: how many lines there are can't be foretold.
        for line in 0..=end.saturating_sub(record) {
            self.word(leaf, (head + 8 * line).min(last));
            self.word(leaf, 8 * (record + line));
        }
    }

    /// Prefetches the heads among which a key's is likely to be, in a leaf of records of this shape.
    #[inline(always)]
    pub fn heads_near(self, leaf: NodeRef, share: Share, shape: Shape) {
        let head = SLOTS + around(shape.first() + share.of(shape.len()));
        self.word(leaf, head);
        self.word(leaf, head + 8);
    }

    /// Prefetches a word of a leaf.
    #[inline(always)]
    pub fn word(self, leaf: NodeRef, word: usize) {
        // Beyond the node nothing is read, only prefetched.
        prefetch_read(self.nodes.address(leaf).wrapping_add(8 * word));
    }

    /// Prefetches heads and records around a place, given the word where records begin and the words per
    /// record. Fewer of long records: the additional lines would cost more than an occasional late line.
    #[inline(always)]
    fn records(self, leaf: NodeRef, at: usize, records: usize, words: usize) {
        let head = SLOTS + at.saturating_sub(8);
        (0..3).for_each(|line| self.word(leaf, head + 8 * line));
        let record = records + (at * words).saturating_sub(4 * (1 + words));
        (0..3).for_each(|line| self.word(leaf, record + 8 * line));
        for line in 3..2 + words {
            self.word(leaf, record + 8 * line);
        }
    }

    /// Prefetches as many lines as [`Prefetch::node`], without a loop, in a leaf that is read at once.
    #[inline(always)]
    pub fn leaf(self, leaf: NodeRef) {
        let address = self.nodes.address(leaf);
        prefetch_read(address);
        prefetch_read(address.wrapping_add(LINE_BYTES));
        prefetch_read(address.wrapping_add(2 * LINE_BYTES));
        prefetch_read(address.wrapping_add(3 * LINE_BYTES));
        prefetch_read(address.wrapping_add(4 * LINE_BYTES));
        prefetch_read(address.wrapping_add(5 * LINE_BYTES));
    }

    /// Prefetches the other lines that an insert or a removal reads and writes: the heads, and the bytes
    /// that tell equal heads apart.
    #[inline(always)]
    pub fn heads(self, leaf: NodeRef) {
        let address = self.nodes.address(leaf);
        // Every fourth line; some are prefetched already.
        for line in (self.usual.leaf_lines() / 4 * 4..LINES).step_by(4) {
            (line..line + 4).for_each(|line| prefetch_read(address.wrapping_add(line * LINE_BYTES)));
        }
    }

    /// Prefetches heads in a leaf whose header has arrived: with this shape the end of its slots and the
    /// place of the next entry are known. The bytes that tell equal heads apart are prefetched if other
    /// leaves have equal heads. In a group of keys, unused lines displace those of other keys.
    #[inline(always)]
    pub fn slots(self, leaf: NodeRef, share: Option<Share>, shape: Shape) {
        if shape.is_of_records() {
            let (first, len, words) = (shape.first(), shape.len(), entry_words(shape.record_length()));
            let place = first + share.map_or(0, |share| share.of(len));
            let those = nearer_end(place, first..first + len);
            self.both(leaf, those, SLOTS + shape.slots(), words);
            return;
        }
        self.lines(leaf, self.usual.leaf_lines()..(shape.heads() + shape.len()) / 8 + 1);
        let free = WORDS - shape.used();
        let end = if self.usual.has_ties() { LINES } else { free.div_ceil(8) };
        self.lines(leaf, free.saturating_sub(2) / 8..end);
    }

    #[inline(always)]
    fn lines(self, node: NodeRef, lines: Range<usize>) {
        let address = self.nodes.address(node);
        lines.into_iter().for_each(|line| prefetch_read(address.wrapping_add(line * LINE_BYTES)));
    }

    /// Prefetches a whole node.
    #[inline(always)]
    pub fn all(self, node: NodeRef) {
        let address = self.nodes.address(node);
        (0..LINES).for_each(|line| prefetch_read(address.wrapping_add(line * LINE_BYTES)));
    }

    /// Prefetches the lines that a node of this shape uses.
    #[inline(always)]
    pub fn used(self, node: NodeRef, shape: Shape) {
        shape.used_lines().into_iter().for_each(|lines| self.lines(node, lines));
    }

    /// Prefetches a node's header.
    #[inline(always)]
    pub fn header(self, node: NodeRef) {
        self.lines(node, 0..1);
    }
}

/// Of these places, those that move when a record comes or goes, and some on the other side.
#[inline(always)]
fn nearer_end(place: usize, among: Range<usize>) -> Range<usize> {
    let Range { start, end } = among;
    if place < (start + end) / 2 { start..place + 8 } else { place.saturating_sub(8)..end }
}
