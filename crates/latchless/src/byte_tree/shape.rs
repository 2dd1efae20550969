//! The layout of a node of byte strings: 256 words.
//!
//! | word | what |
//! |---|---|
//! | 0 | latch and version |
//! | 1 | the [`Shape`]: entries, slots, used and wasted words, length of the prefix, flags, values |
//! | 2 | link to the right neighbour (32 bits), lengths of the low and the high fence (16 bits each) |
//! | 3 | the [`head`](super::text::head) of the high fence after the prefix; all ones without a high fence |
//! | 4–7 | the first 32 bytes of the low fence |
//! | 8… | slots, arrays in the order of the keys: tags, lengths, places (a byte each), heads (a word) |
//! | …255 | from the end down: the high fence, the low fence from its byte 32 on, and the entries' words |
//!
//! The *prefix* is common to both fences, so every key of the node begins with it, and none stores it. The
//! bytes after it are the key's *suffix*: its first eight bytes are the *head*, the others are the *rest*.
//! A slot's *place* is the word where the entry's value begins; the rest follows its first word, and its
//! other words, if it has any, follow that (see `values.rs`). The *tag* is a byte of the key's hash.
//!
//! Where all suffixes of a leaf have the same length, a short one, and values have one word, the leaf is
//! one *of records*. Its entries have no tags, lengths and places. The heads are followed by the records:
//! values and rests, in the order of the keys (see `records`).
//!
//! A suffix of more than [`SUFFIX_MAX`] bytes, and a fence of more than [`FENCE_MAX`], is *long*: the whole
//! string is stored outside of the node (see `long.rs`), and in its place is a word with its location and
//! length.

use super::text::words_of;
use crate::blink::SharedArena;
use core::hint::select_unpredictable;
use core::ops::Range;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Line;

/// Cache lines in a node.
pub const LINES: usize = 32;
/// Words in a node.
pub const WORDS: usize = 8 * LINES;
/// A node's lines.
pub type NodeLines = [Line; LINES];
/// The memory of all nodes.
pub type Nodes = SharedArena<LINES>;

/// Words of the header.
pub const LATCH: usize = 0;
pub const SHAPE: usize = 1;
pub const LINK: usize = 2;
pub const HIGH_HEAD: usize = 3;
pub const LOW: usize = 4;
/// Bytes of the low fence that are in the header.
pub const LOW_BYTES: usize = 32;
/// The first word of the slots.
pub const SLOTS: usize = 8;

/// The most slots in a node; a multiple of eight. Under `--cfg latchless_small_nodes` so few that small
/// trees have many levels.
pub const SLOTS_MAX: usize = 128;
/// The most entries in a node.
pub const ENTRIES_MAX: usize = if cfg!(latchless_small_nodes) { 4 } else { SLOTS_MAX };
/// The longest suffix that is stored in its node. The shorter it is, the more entries a node has at least.
pub const SUFFIX_MAX: usize = if cfg!(latchless_small_nodes) { 24 } else { 192 };
/// The longest suffix that records have.
pub const RECORD_MAX: usize = if cfg!(latchless_small_nodes) { 16 } else { 40 };
/// The longest fence that is stored in its node.
pub const FENCE_MAX: usize = if cfg!(latchless_small_nodes) { 40 } else { 120 };
/// The longest string: a value outside has 24 bits for its length.
pub const LEN_MAX: usize = 0xFF_FFFF;
/// The longest prefix of a node, and the longest length of a fence that its header holds: 16 bits. The
/// length of a longer fence is with its name.
pub const HEADER_LEN_MAX: usize = 0xFFFF;
/// The length that marks a long suffix.
pub const LONG: u8 = u8::MAX;

/// The second word of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape(pub u64);

impl Shape {
    /// There is no high fence: the node is the last of its level.
    pub const NO_HIGH: u64 = 1 << 48;
    /// The low fence is long.
    pub const LOW_LONG: u64 = 1 << 49;
    /// The high fence is long.
    pub const HIGH_LONG: u64 = 1 << 50;
    /// The node is no longer part of the tree.
    pub const DEAD: u64 = 1 << 51;
    /// From this bit on: eight bits, the wasted words, or the places that are empty before the first record.
    pub const WASTED: u32 = 24;
    /// From this bit on: four bits for the length of values.
    pub const VALUES: u32 = 52;
    /// From this bit on: the length of all suffixes, in a leaf of records; zero in any other node.
    pub const RECORDS: u32 = 56;

    /// How many entries there are, at most as many as slots, whatever the word is.
    #[inline(always)]
    pub fn len(self) -> usize {
        (self.0 as usize & 0xFF).min(self.slots())
    }

    /// How many slots there are: a multiple of eight, or as many as there may be records.
    #[inline(always)]
    pub fn slots(self) -> usize {
        ((self.0 >> 8) as usize & 0xFF).min(SLOTS_MAX)
    }

    /// Words in use from the node's end down.
    #[inline(always)]
    pub fn used(self) -> usize {
        (self.0 >> 16) as usize & 0xFF
    }

    /// Words of these that belonged to entries that were removed; not in a leaf of records.
    #[inline(always)]
    pub fn wasted(self) -> usize {
        (self.0 >> Self::WASTED) as usize & 0xFF
    }

    /// Bytes of the prefix.
    #[inline(always)]
    pub fn prefix(self) -> usize {
        (self.0 >> 32) as usize & HEADER_LEN_MAX
    }

    #[inline(always)]
    pub fn has(self, flag: u64) -> bool {
        self.0 & flag != 0
    }

    /// A shape of no entries.
    pub fn new(form: Form, used: usize, prefix: usize, flags: u64) -> Self {
        let (slots, length) = match form {
            Form::Slots(slots) => (slots, 0),
            Form::Records(slots, length) => (slots, length),
        };
        debug_assert!(slots <= SLOTS_MAX && used <= 0xFF && prefix <= HEADER_LEN_MAX);
        debug_assert!(length > 0 || slots.is_multiple_of(8));
        let sizes = (slots as u64) << 8 | (used as u64) << 16 | (prefix as u64) << 32;
        Self(sizes | flags | u64::from(length) << Self::RECORDS)
    }

    /// With one entry more, which takes this many words.
    #[inline(always)]
    pub fn with_entry(self, words: usize) -> Self {
        Self(self.0 + 1 + ((words as u64) << 16))
    }

    /// With this many entries more, which take this many words together.
    pub fn with_entries(self, count: usize, words: usize) -> Self {
        Self(self.0 + count as u64 + ((words as u64) << 16))
    }

    /// With one entry fewer, which took this many words.
    #[inline(always)]
    pub fn without_entry(self, words: usize) -> Self {
        Self(self.0 - 1 + ((words as u64) << Self::WASTED))
    }

    /// With this many words more in use.
    pub fn with_words(self, words: usize) -> Self {
        Self(self.0 + ((words as u64) << 16))
    }

    /// With this many words more that belong to no entry.
    pub fn with_waste(self, words: usize) -> Self {
        Self(self.0 + ((words as u64) << Self::WASTED))
    }

    /// The first word of the lengths.
    #[inline(always)]
    pub fn lengths(self) -> usize {
        SLOTS + self.slots() / 8
    }

    /// The first word of the places.
    #[inline(always)]
    pub fn places(self) -> usize {
        SLOTS + self.slots() / 4
    }

    /// The first word of the heads.
    #[inline(always)]
    pub fn heads(self) -> usize {
        select_unpredictable(self.is_of_records(), SLOTS + self.first(), heads_at(self.slots()))
    }

    /// The first word after the slots, records included.
    #[inline(always)]
    fn slots_end(self) -> usize {
        if self.is_of_records() { self.records_end() } else { slots_end(self.slots()) }
    }

    /// The lines that are in use, whatever the word is: the header, slots, records, and the heap. Of records
    /// and their heads, those from entry `first` on.
    #[inline(always)]
    pub fn used_lines_from(self, first: usize) -> [Range<usize>; 4] {
        let (slots, record, last) = if self.is_of_records() {
            let (first, len) = (first.min(self.len()), self.len());
            (self.heads() + first..self.heads() + len, self.record(first), self.record(len))
        } else {
            (SLOTS..slots_end(self.slots()), SLOTS, SLOTS)
        };
        // A torn word may claim more than there can be.
        let (end, last) = (slots.end.div_ceil(8), last.div_ceil(8).min(LINES));
        let (slot, record) = ((slots.start / 8).min(end), (record / 8).clamp(end, LINES));
        let heap = (WORDS - self.used()) / 8;
        [0..1, slot..end, record..last.max(record), heap.max(end).max(last)..LINES]
    }

    /// All lines that are in use.
    #[inline(always)]
    pub fn used_lines(self) -> [Range<usize>; 4] {
        self.used_lines_from(0)
    }

    /// Whether there is a slot and room for an entry whose suffix has this length, or is long, and whose
    /// value has this many words after its first.
    #[inline(always)]
    pub fn has_room(self, length: u8, more: usize) -> bool {
        let has_slot = self.len() < self.slots().min(ENTRIES_MAX);
        has_slot
            && if self.is_of_records() {
                length == self.record_length()
            } else {
                self.has_words(entry_words(length) + more)
            }
    }

    /// Whether there is room for this many words in addition to the slots.
    #[inline(always)]
    pub fn has_words(self, words: usize) -> bool {
        self.slots_end() + self.used() + words <= WORDS
    }
}

/// How the entries of a node are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// In this many slots, and a heap.
    Slots(usize),
    /// At most this many records, whose suffixes have this length.
    Records(usize, u8),
}

#[inline(always)]
const fn heads_at(slots: usize) -> usize {
    SLOTS + slots / 8 * 3
}

/// The first word after this many slots.
#[inline(always)]
pub const fn slots_end(slots: usize) -> usize {
    heads_at(slots) + slots
}

/// How many slots suit a node with `len` entries that take this many words, with `other` words of fences;
/// `None` if they don't fit.
pub fn slots_for(len: usize, words: usize, other: usize) -> Option<usize> {
    if len > ENTRIES_MAX {
        return None;
    }
    let free = WORDS - SLOTS - other;
    // An entry takes eleven eighths of a word in the slots.
    let eighths = (8 * words).checked_div(len).unwrap_or(16) + 11;
    let fitting = |slots: usize| slots_end(slots) + other + words <= WORDS;
    let least = len.next_multiple_of(8).max(8);
    let most = ((free * 8 / eighths + 4) / 8 * 8).clamp(least, SLOTS_MAX);
    (least..=most).rev().step_by(8).find(|&slots| fitting(slots))
}

/// The size of an entry: the length of its suffix, or [`LONG`], and the words of its value after the first.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub length: u8,
    pub more: usize,
}

/// Words that an entry with a value of one word takes in addition to its slot, by the length of its suffix.
#[inline(always)]
pub const fn entry_words(length: u8) -> usize {
    if length == LONG { 2 } else { 1 + words_of((length as usize).saturating_sub(8)) }
}

/// Words that a high fence takes at the node's end.
pub const fn high_words(len: usize) -> usize {
    if len > FENCE_MAX { 1 } else { words_of(len) }
}

/// Words of a low fence outside the header.
pub const fn low_words(len: usize) -> usize {
    if len > FENCE_MAX { 1 } else { words_of(len.saturating_sub(LOW_BYTES)) }
}

/// A long string: where its first block is, and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongRef {
    pub first: NodeRef,
    pub len: usize,
}

impl LongRef {
    #[inline(always)]
    pub fn to_word(self) -> u64 {
        u64::from(self.first.to_word()) | (self.len as u64) << 32
    }

    #[inline(always)]
    pub fn from_word(word: u64) -> Self {
        Self { first: NodeRef::from_word(word as u32), len: (word >> 32) as usize & LEN_MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_entries_than_a_node_may_have_do_not_fit() {
        for len in [ENTRIES_MAX + 1, SLOTS_MAX + 1, 2 * SLOTS_MAX] {
            assert_eq!(slots_for(len, 0, 0), None, "{len}");
        }
        assert!(slots_for(ENTRIES_MAX, ENTRIES_MAX / 2, 0).is_none_or(|slots| slots >= ENTRIES_MAX));
    }
}
