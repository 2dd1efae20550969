//! Which lines of a node to prefetch.
//!
//! A leaf has thirty-two lines. The lines that locate a key depend on the leaf's number of slots. The
//! header that says so arrives no earlier than the lines themselves, so the most recently written leaf
//! serves as the estimate for all.

use super::finder::start::Start;
use super::node::Private;
use super::records::around;
use super::shape::{LINES, SLOTS, Shape, WORDS, entry_words};
use super::tree::ByteTree;
use crate::tree::Share;
use core::ops::Range;
use latchless_core::mem::line::{LINE_BYTES, prefetch_read};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Word;

/// Lines of a leaf that locate a key, until a leaf has been learnt from: its header, tags, lengths and
/// places.
pub(super) const LEAF_LINES: usize = 4;

/// This many of the leaves that were split or loaded last were of records, more or less, before all are
/// taken to be.
const MOST: u64 = 12;
/// It is known to one part in this many how many keys there are in a part of a slot.
const DENSITY_SHARE: u64 = 16;

/// The usual shape of leaves of records: slots per leaf, words per record, and keys per part of a slot of
/// the position table. Zero: leaves usually don't hold records.
#[derive(Debug, Clone, Copy)]
pub(super) struct UsualRecords(u64);

impl UsualRecords {
    fn of(shape: Shape, density: u64) -> Self {
        let sizes = shape.slots() as u64 | (entry_words(shape.record_length()) as u64) << 8;
        Self(sizes | density << 32)
    }

    /// One that says anything.
    #[cfg(any(test, fuzzing))]
    pub(super) fn any(word: u64) -> Self {
        Self(word)
    }

    /// Whether both shapes are equal or nearly so. Then the shared word, which other processors cache,
    /// isn't written.
    fn is_like(self, other: Self) -> bool {
        let (own, its) = (self.density(), other.density());
        self.0 as u32 == other.0 as u32 && own.abs_diff(its) <= its / DENSITY_SHARE
    }

    fn slots(self) -> usize {
        self.0 as usize & 0xFF
    }

    fn words(self) -> usize {
        (self.0 >> 8) as usize & 0xF
    }

    fn density(self) -> u64 {
        self.0 >> 32
    }

    /// The place of the record that a key is likely to have.
    #[inline(always)]
    fn place(self, share: Share) -> usize {
        self.places(share).end
    }

    /// The places from a leaf's first record to the one that a key is likely to have. Records fill the
    /// middle of their room.
    #[inline(always)]
    fn places(self, share: Share) -> Range<usize> {
        let len = share.len(self.density()).min(self.slots());
        let first = (self.slots() - len) / 2;
        first..first + share.of(len)
    }
}

impl ByteTree {
    /// Prefetches the lines of a node that the descent reads: all lines of an inner node, since children
    /// and the bytes that tell equal heads apart may be anywhere in it.
    #[inline(always)]
    pub(super) fn ask_for(&self, node: NodeRef, level: usize) {
        self.ask_for_lines(node, 0..if level == 0 { self.leaf_lines() } else { LINES });
    }

    /// The usual shape of leaves of records, if leaves usually are such.
    #[inline(always)]
    pub(super) fn usual_records(&self) -> Option<UsualRecords> {
        let word = self.usual.load_relaxed();
        (word != 0).then_some(UsualRecords(word))
    }

    /// In leaves of records, prefetches the lines that are likely to have a key's head and record.
    #[inline(always)]
    pub(super) fn ask_for_record(&self, leaf: NodeRef, share: Share, usual: UsualRecords) {
        self.ask_for_header(leaf);
        self.ask_for_records(leaf, usual.place(share), (SLOTS, SLOTS + usual.slots(), usual.words()));
    }

    /// Prefetches the likely head and record of a key and all entries after them, which an insert or a
    /// removal moves.
    #[inline(always)]
    pub(super) fn ask_from_record_on(&self, leaf: NodeRef, share: Share, usual: UsualRecords) {
        self.ask_for_header(leaf);
        let (slots, words) = (usual.slots(), usual.words());
        let those = nearer_end(usual.place(share), slots / 6..slots * 5 / 6);
        self.ask_for_both(leaf, those, (SLOTS + slots, words));
    }

    /// Prefetches the likely head and record of a key, all entries after them, and the first head, which
    /// decides whether the key comes before the leaf.
    #[inline(always)]
    pub(super) fn ask_from(&self, leaf: NodeRef, share: Share, usual: UsualRecords) {
        let Range { start, end } = usual.places(share);
        let (records, place) = (SLOTS + usual.slots(), end.saturating_sub(8));
        self.ask_for_header(leaf);
        self.ask_for_word(leaf, SLOTS + start);
        self.ask_for_lines(leaf, (SLOTS + place) / 8..records.div_ceil(8));
        self.ask_for_lines(leaf, (records + place * usual.words()) / 8..LINES);
    }

    /// Prefetches these heads and records of a leaf, given the word where records begin and the words per
    /// record.
    #[inline(always)]
    fn ask_for_both(&self, leaf: NodeRef, those: Range<usize>, (records, words): (usize, usize)) {
        let (head, last) = (SLOTS + those.start, SLOTS + those.end);
        let (record, end) = ((records + those.start * words) / 8, (records + those.end * words) / 8);
        // Both at once: how many lines there are can't be foretold.
        for line in 0..=end.saturating_sub(record) {
            self.ask_for_word(leaf, (head + 8 * line).min(last));
            self.ask_for_word(leaf, 8 * (record + line));
        }
    }

    /// Prefetches the heads among which a key's is likely to be, in a leaf of records of this shape.
    #[inline(always)]
    pub(super) fn ask_for_heads_near(&self, leaf: NodeRef, share: Share, shape: Shape) {
        let head = SLOTS + around(shape.first() + share.of(shape.len()));
        self.ask_for_word(leaf, head);
        self.ask_for_word(leaf, head + 8);
    }

    /// Prefetches a word of a leaf.
    #[inline(always)]
    pub(super) fn ask_for_word(&self, leaf: NodeRef, word: usize) {
        // Beyond the node nothing is read, only prefetched.
        prefetch_read(self.long.nodes.address(leaf).wrapping_add(8 * word));
    }

    /// Prefetches heads and records around a place, given the words where they begin and the words per
    /// record. Fewer of long records: the additional lines would cost more than an occasional late line.
    #[inline(always)]
    fn ask_for_records(&self, leaf: NodeRef, at: usize, (heads, records, words): (usize, usize, usize)) {
        let head = heads + at.saturating_sub(8);
        (0..3).for_each(|line| self.ask_for_word(leaf, head + 8 * line));
        let record = records + (at * words).saturating_sub(4 * (1 + words));
        (0..3).for_each(|line| self.ask_for_word(leaf, record + 8 * line));
        for line in 3..2 + words {
            self.ask_for_word(leaf, record + 8 * line);
        }
    }

    /// Prefetches as many lines as [`ByteTree::ask_for`], without a loop, in a leaf that is read at once.
    #[inline(always)]
    pub(super) fn ask_for_leaf(&self, leaf: NodeRef) {
        let address = self.long.nodes.address(leaf);
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
    pub(super) fn ask_for_heads(&self, leaf: NodeRef) {
        let address = self.long.nodes.address(leaf);
        // Every fourth line; some are prefetched already.
        for line in (self.leaf_lines() / 4 * 4..LINES).step_by(4) {
            (line..line + 4).for_each(|line| prefetch_read(address.wrapping_add(line * LINE_BYTES)));
        }
    }

    /// Prefetches heads in a leaf whose header has arrived, so that the end of its slots and the place of
    /// the next entry are known. The bytes that tell equal heads apart are prefetched if other leaves have
    /// equal heads. In a group of keys, unused lines displace those of other keys.
    #[inline(always)]
    pub(super) fn ask_for_slots(&self, Start { leaf, share, .. }: Start) {
        let shape = self.at(leaf).1.shape();
        if shape.is_of_records() {
            let (first, len, words) = (shape.first(), shape.len(), entry_words(shape.record_length()));
            let place = first + share.map_or(0, |share| share.of(len));
            let those = nearer_end(place, first..first + len);
            self.ask_for_both(leaf, those, (SLOTS + shape.slots(), words));
            return;
        }
        self.ask_for_lines(leaf, self.leaf_lines()..(shape.heads() + shape.len()) / 8 + 1);
        let free = WORDS - shape.used();
        let end = if self.has_ties.load_relaxed() == 0 { free.div_ceil(8) } else { LINES };
        self.ask_for_lines(leaf, free.saturating_sub(2) / 8..end);
    }

    /// Lines of a leaf that are likely to be needed to locate a key.
    #[inline(always)]
    pub(super) fn leaf_lines(&self) -> usize {
        self.leaf_lines.load_relaxed() as usize % LINES
    }

    /// Remembers a leaf's shape as the estimate for others: whether it had equal heads, and where they
    /// began. Records are found by their heads alone.
    pub(super) fn learn_shape(&self, leaf: Private<'_>) {
        let (shape, first) = (leaf.shape(), leaf.shape().heads());
        let are_records = shape.is_of_records();
        let score = self.records_score.load_relaxed();
        let score = if are_records { (score + 1).min(MOST + MOST / 2) } else { score.saturating_sub(1) };
        let are_usual = score >= MOST && !self.positions.are_far();
        store_if_new(&self.records_score, score);
        if !are_usual {
            store_if_new(&self.usual, 0);
        }
        if are_records != are_usual {
            return;
        }
        if are_records {
            let usual = UsualRecords::of(shape, self.positions.density(self.len()));
            if !usual.is_like(UsualRecords(self.usual.load_relaxed())) {
                self.usual.store_relaxed(usual.0);
            }
        }
        let end = if are_records { first + shape.len() } else { first };
        store_if_new(&self.has_ties, u64::from(!are_records && leaf.has_ties(0..shape.len())));
        store_if_new(&self.leaf_lines, end.div_ceil(8) as u64);
    }

    #[inline(always)]
    fn ask_for_lines(&self, node: NodeRef, lines: Range<usize>) {
        let address = self.long.nodes.address(node);
        lines.into_iter().for_each(|line| prefetch_read(address.wrapping_add(line * LINE_BYTES)));
    }

    /// Prefetches a whole node.
    #[inline(always)]
    pub(super) fn ask_for_all(&self, node: NodeRef) {
        let address = self.long.nodes.address(node);
        (0..LINES).for_each(|line| prefetch_read(address.wrapping_add(line * LINE_BYTES)));
    }

    /// Prefetches the lines that a node of this shape uses.
    #[inline(always)]
    pub(super) fn ask_for_used(&self, node: NodeRef, shape: Shape) {
        shape.used_lines().into_iter().for_each(|lines| self.ask_for_lines(node, lines));
    }

    /// Prefetches a node's header.
    #[inline(always)]
    pub(super) fn ask_for_header(&self, node: NodeRef) {
        self.ask_for_lines(node, 0..1);
    }
}

/// Of these places, those that move when a record comes or goes, and some on the other side.
#[inline(always)]
fn nearer_end(place: usize, among: Range<usize>) -> Range<usize> {
    let Range { start, end } = among;
    if place < (start + end) / 2 { start..place + 8 } else { place.saturating_sub(8)..end }
}

/// An unwritten line stays in every processor's cache.
fn store_if_new(word: &Word, now: u64) {
    if word.load_relaxed() != now {
        word.store_relaxed(now);
    }
}
