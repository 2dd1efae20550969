//! Leaves of records: the layout of leaves in which all keys have one length.
//!
//! Most keys of one length are numbers, identifiers or timestamps in some notation. In a leaf of such keys
//! all suffixes have the same length, so neither lengths nor places need to be stored: the heads are
//! followed by the *records* in the same order, each an entry's value and the rest of its key. So the index
//! of a head is also the index of its value, and a lookup can prefetch both at once.
//!
//! A leaf of records has no tags: a key is searched for by its head. Equal heads would make that slow: such
//! a leaf is one of slots. The format is chosen when the whole leaf is rewritten. A leaf of records becomes
//! one of slots when a key of another length is inserted, or one with the head of another key.

use super::change::{Entry, Shared};
use super::node::{ABREAST, Image, Node, Words, ones};
use super::shape::{ENTRIES_MAX, Form, LONG, RECORD_MAX, SHAPE, SLOTS, SLOTS_MAX, Shape, WORDS, entry_words};
use super::shift::{shift_both_down, shift_both_up};
use super::values::Values;
use crate::node::lines::Lines;
use core::ops::Range;

impl Shape {
    /// Whether the node is a leaf of records.
    #[inline(always)]
    pub fn is_of_records(self) -> bool {
        self.0 >> Self::RECORDS != 0
    }

    /// The length of all suffixes in a leaf of records.
    #[inline(always)]
    pub fn record_length(self) -> u8 {
        (self.0 >> Self::RECORDS) as u8
    }

    /// How many places are empty before the first record.
    #[inline(always)]
    pub fn first(self) -> usize {
        ((self.0 >> Self::WASTED) as usize & 0xFF).min(self.slots() - self.len())
    }

    /// With this many empty places before the first record.
    fn with_first(self, first: usize) -> Self {
        Self(self.0 & !(0xFF << Self::WASTED) | (first as u64) << Self::WASTED)
    }

    /// The first word of a record, in a leaf of them: its value.
    #[inline(always)]
    pub fn record(self, at: usize) -> usize {
        SLOTS + self.slots() + (self.first() + at) * entry_words(self.record_length())
    }

    /// The word after all places for records.
    #[inline(always)]
    pub fn records_end(self) -> usize {
        SLOTS + self.slots() + self.slots() * entry_words(self.record_length())
    }
}

/// The form of a leaf of this many records whose suffixes have this length, with `other` words of fences;
/// `None` if records can't have it or don't fit.
pub(super) fn records_for(len: usize, length: usize, other: usize) -> Option<Form> {
    if !(1..=RECORD_MAX).contains(&length) {
        return None;
    }
    let length = length as u8;
    let most = ((WORDS - SLOTS - other) / (1 + entry_words(length))).min(SLOTS_MAX);
    (len <= most.min(ENTRIES_MAX)).then_some(Form::Records(most, length))
}

impl<W: Words> Node<'_, W> {
    /// The length of all suffixes of these entries, if there are any, they have the same, none is long, and
    /// values have one word.
    pub(super) fn length_of_all(self, entries: Range<usize>) -> Option<u8> {
        let shape = self.shape();
        let first = self.length(shape, entries.start);
        let may_be = !entries.is_empty() && first != LONG && shape.values() == Values::ONE_WORD;
        (may_be && (shape.is_of_records() || self.lengths_are(first, entries))).then_some(first)
    }

    /// Whether all of these entries of a node of slots have this length. Eight are compared at once.
    fn lengths_are(self, length: u8, entries: Range<usize>) -> bool {
        let all = u64::from(length) * (u64::MAX / 0xFF);
        (entries.start / 8..entries.end.div_ceil(8)).all(|at| {
            let until = |end: usize| ones(8 * end.saturating_sub(8 * at));
            let those = until(entries.end) & !until(entries.start);
            (self.words.word(self.shape().lengths() + at) ^ all) & those == 0
        })
    }

    /// In a leaf of records: how many heads are smaller than this one, which is likely to come after
    /// `likely` of them. `None` if the heads around that place don't decide it.
    #[inline(always)]
    pub(super) fn rank_near<S: Lines>(self, shape: Shape, own: u64, likely: usize) -> Option<usize> {
        let (len, first) = (shape.len(), shape.first());
        let place = around(first + likely);
        let (start, end) = (place.saturating_sub(first), (place + ABREAST - first).min(len));
        let rank = start + self.heads_below::<S>(shape, start..end, own);
        let is_told = (rank > start || start == 0) && (rank < end || end == len);
        // A closure in place of the branch would be called.
        if is_told { Some(rank) } else { None }
    }

    /// Whether the last head is smaller than this one.
    #[inline(always)]
    pub(super) fn ends_below(self, shape: Shape, own: u64) -> bool {
        let len = shape.len();
        len > 0 && self.head(shape, len - 1) < own
    }

    /// Whether two of these entries have equal heads.
    pub(super) fn has_ties(self, entries: Range<usize>) -> bool {
        let shape = self.shape();
        (entries.start + 1..entries.end).any(|at| self.head(shape, at - 1) == self.head(shape, at))
    }

    /// Whether a head is that of the entry at this place, or of the one before.
    #[inline(always)]
    pub(super) fn is_tie(self, shape: Shape, at: usize, own: u64) -> bool {
        let is_next = at < shape.len() && self.head(shape, at) == own;
        is_next || at > 0 && self.head(shape, at - 1) == own
    }

    /// Words that the entries take in addition to heads and slots.
    pub(super) fn words_of_entries(self) -> usize {
        let shape = self.shape();
        if shape.is_of_records() {
            return shape.len() * entry_words(shape.record_length());
        }
        shape.used().saturating_sub(shape.wasted() + self.fence_words())
    }
}

impl Shared<'_> {
    /// Inserts a record before the one at `at`. There is room for it.
    #[inline(always)]
    pub(super) fn insert_record<S: Lines>(self, at: usize, entry: Entry<'_>) {
        let (shape, len) = (self.shape(), self.shape().len());
        let (before, behind) = (shape.first(), shape.slots() - len - shape.first());
        // Fewer move if the nearer end does. At an end without room all do, so that the next ones needn't.
        let first = if at == len && behind > 0 {
            before
        } else if before > 0 && (at < len / 2 || behind == 0) {
            let by = if at == len && behind == 0 { before } else { 1 };
            self.move_down::<S>(shape, 0..at, by);
            before - by
        } else {
            let by = if at == 0 && before == 0 { behind } else { 1 };
            self.move_up::<S>(shape, at..len, by);
            before + by - 1
        };
        let shape = shape.with_first(first).with_entry(0);
        self.set(SHAPE, shape.0);
        self.set(shape.heads() + at, entry.head);
        let place = shape.record(at);
        entry.store(|word, to| self.set(place + word, to));
    }

    /// Removes a record.
    #[inline(always)]
    pub(super) fn remove_record<S: Lines>(self, at: usize) {
        let (shape, len) = (self.shape(), self.shape().len());
        let first = if at < len / 2 {
            self.move_up::<S>(shape, 0..at, 1);
            shape.first() + 1
        } else {
            self.move_down::<S>(shape, at + 1..len, 1);
            shape.first()
        };
        self.set(SHAPE, shape.without_entry(0).with_first(first).0);
    }

    /// Moves these heads and records this many places up.
    #[inline(always)]
    fn move_up<S: Lines>(self, shape: Shape, those: Range<usize>, by: usize) {
        let words = entry_words(shape.record_length());
        let heads = &self.words[shape.heads() + those.start..shape.heads() + those.end + by];
        let records = &self.words[shape.record(those.start)..shape.record(those.end + by)];
        shift_both_up::<S>(heads, records, by, words);
    }

    /// Moves these heads and records this many places down.
    #[inline(always)]
    fn move_down<S: Lines>(self, shape: Shape, those: Range<usize>, by: usize) {
        let words = entry_words(shape.record_length());
        let heads = &self.words[shape.heads() + those.start - by..shape.heads() + those.end];
        let records = &self.words[shape.record(those.start) - by * words..shape.record(those.end)];
        shift_both_down::<S>(heads, records, by, words);
    }
}

/// The first of [`ABREAST`] places for heads around this one. In a leaf of records these are two lines.
#[inline(always)]
pub(super) fn around(place: usize) -> usize {
    const LINE: usize = 8;
    (place + LINE / 2).saturating_sub(ABREAST / 2) / LINE * LINE
}

/// Appends records of one leaf, which are at `from` there, to those of another one in private memory; both
/// have the same prefix and suffixes of the same length.
pub(super) fn append_records(image: &mut Image, node: Node<'_, &Image>, from: Range<usize>) {
    let (shape, old, count) = (Shape(image[SHAPE]), node.shape(), from.len());
    let (heads, place) = (shape.heads() + shape.len(), shape.record(shape.len()));
    let own_heads = &node.words[old.heads()..][from.clone()];
    image[heads..heads + count].copy_from_slice(own_heads);
    let own = &node.words[old.record(from.start)..old.record(from.end)];
    image[place..place + own.len()].copy_from_slice(own);
    image[SHAPE] = shape.with_entries(count, 0).0;
}

/// Moves the records of a leaf in private memory, which has no empty places before them, to the middle:
/// half of the new ones then goes to either side.
pub(super) fn centre_records(image: &mut Image) {
    let shape = Shape(image[SHAPE]);
    let (centred, len) = (shape.with_first((shape.slots() - shape.len()) / 2), shape.len());
    image.copy_within(shape.record(0)..shape.record(len), centred.record(0));
    image.copy_within(shape.heads()..shape.heads() + len, centred.heads());
    image[SHAPE] = centred.0;
}

#[cfg(test)]
mod tests;
