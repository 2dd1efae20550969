//! Hints: the node's first line gives the block to which a key belongs.

use super::{LINES, LINK, NodeLines, SHAPE, header, line};
use crate::node::lines::Lines;
use core::marker::PhantomData;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::prefetch_read;
use latchless_core::sync::Line;

/// The hint of unused blocks, in which no key may be searched.
pub(super) const NO_BLOCK: u16 = 0xFFFF;
/// The largest hint of a key.
pub(super) const HINT_MAX: u64 = 0xFFFE;

/// A node's shape: the places in use by block, and the form of its hints. See the documentation of
/// [`node`](super).
///
/// | bits | nodes of 64-bit lanes | bits | nodes of 32-bit lanes |
/// |---|---|---|---|
/// | 0–44 | places in use, three bits per block | 0–59 | the same, four bits per block |
/// | 45 | whether hints may be tied | 60 | the same |
/// | 46 | whether hints are of picked bits | 61–63 | a third of the shift |
/// | 47 | whether the picked bits begin at [`RAISED`] | | |
/// | 48–53 | the shift | | |
/// | 54–59 | the lower field's shift; of one field: whether no other form ties fewer blocks | | |
/// | 60–63 | the lower field's width | | |
/// | 48–63 | of picked bits: the highest places | | |
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape<B>(pub(super) u64, PhantomData<B>);

/// The form of a node's hints: see [`Shape`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    /// The shift of keys, above the lower field.
    pub(super) shift: u32,
    /// The lowest bit of a key's lower field. Of one field: whether no other form ties fewer blocks.
    pub(super) lower: u32,
    /// The width of the lower field in bits.
    pub(super) width: u32,
    /// The bits of keys from which hints are made; 0: fields. See `picks.rs`.
    pub(super) picked: u64,
    /// Whether keys of different blocks may have the same hint.
    pub(super) tied: bool,
}

/// Bits of a hint that is made of picked bits. The others of its sixteen, taken together, store the places
/// that were picked: three for each of fourteen hints, the lowest places first.
pub(super) const PICKED_BITS: u32 = 13;
/// The largest hint of picked bits, without the other bits: below that of [`NO_BLOCK`]. Two keys that differ
/// in a picked bit may both have it.
pub(super) const PICKED_MAX: u64 = (1 << PICKED_BITS) - 2;
/// The bits of a hint that store places.
const PLACE_BITS: u64 = (1 << (16 - PICKED_BITS)) - 1;
/// Those bits of four hints.
const PLACES_OF_FOUR: u64 = PLACE_BITS * 0x0001_0001_0001_0001;
/// Places that the hints store; the shape stores the others.
const PLACES_IN_HINTS: u32 = 14 * (16 - PICKED_BITS);
/// The first picked bit if it isn't 0: the shape and the hints store 58 places.
pub(super) const RAISED: u32 = u64::BITS - PLACES_IN_HINTS - 16;

impl<B: Bits> Shape<B> {
    /// Bits of a block's count.
    pub(super) const COUNT_BITS: u32 = if B::BYTES == 8 { 3 } else { 4 };
    pub(super) const COUNT_MAX: u64 = (1 << Self::COUNT_BITS) - 1;
    /// The position at which the counts end and the form begins.
    const FORM: u32 = Self::COUNT_BITS * (LINES as u32 - 1);
    const COUNTS: u64 = (1 << Self::FORM) - 1;
    /// One in each count.
    const ONES: u64 = Self::COUNTS / Self::COUNT_MAX;
    const TIED: u64 = 1 << Self::FORM;
    const PICKED: u32 = Self::FORM + 1;
    const IS_RAISED: u32 = Self::FORM + 2;
    const WIDTH: u32 = 60;
    const LOWER: u32 = 54;
    const SHIFT: u32 = if B::BYTES == 8 { 48 } else { 61 };
    /// Shifts are multiples of this.
    const SHIFT_UNIT: u32 = if B::BYTES == 8 { 1 } else { 3 };

    #[inline(always)]
    pub(super) fn of(node: &NodeLines) -> Self {
        Self::from_word(header(node)[SHAPE].load_relaxed())
    }

    #[inline(always)]
    fn from_word(word: u64) -> Self {
        Self(word, PhantomData)
    }

    /// Creates a shape of empty blocks, with hints of this form.
    pub(super) fn new(form: Form) -> Self {
        let Form { shift, lower, width, picked, tied } = form;
        let tied = if tied { Self::TIED } else { 0 };
        if picked != 0 {
            return Self::of_picked(picked, tied);
        }
        let shift = u64::from(shift / Self::SHIFT_UNIT) << Self::SHIFT;
        let fields = u64::from(lower) << Self::LOWER | u64::from(width) << Self::WIDTH;
        Self::from_word(shift | fields | tied)
    }

    fn of_picked(picked: u64, tied: u64) -> Self {
        let (places, raised) = places_of(picked);
        debug_assert!(B::BYTES == 8 && places >> (PLACES_IN_HINTS + 16) == 0, "places that can be told");
        let high = places >> PLACES_IN_HINTS << Self::SHIFT;
        Self::from_word(high | u64::from(raised) << Self::IS_RAISED | 1 << Self::PICKED | tied)
    }

    /// Creates a shape of empty blocks, with hints of one field for keys up to `span` after the base.
    pub(super) fn for_span(span: u64) -> Self {
        Self::new(Self::form_for_span(span))
    }

    /// Returns the form of one field that distinguishes keys up to `span` after the base best: the smallest
    /// shift with which all hints stay below the largest one.
    pub(super) fn form_for_span(span: u64) -> Form {
        let unit = Self::SHIFT_UNIT;
        let least = (u64::BITS - span.leading_zeros()).saturating_sub(16).next_multiple_of(unit);
        let shift = if (span >> least) + 1 >= HINT_MAX { least + unit } else { least };
        Form { shift, lower: 0, width: 0, picked: 0, tied: false }
    }

    /// Returns the shift of keys, above the lower field.
    #[inline(always)]
    pub(super) fn shift(self) -> u32 {
        (self.0 >> Self::SHIFT) as u32 % 64 * Self::SHIFT_UNIT
    }

    /// Returns the width of the lower field in bits; 0 in most nodes, arbitrary with picked bits.
    #[inline(always)]
    fn width(self) -> u32 {
        if B::BYTES == 8 { (self.0 >> Self::WIDTH) as u32 } else { 0 }
    }

    /// Returns whether hints have one field, as in most nodes.
    #[inline(always)]
    pub(super) fn has_one_field(self) -> bool {
        B::BYTES < 8 || self.0 & (0xF << Self::WIDTH | 1 << Self::PICKED) == 0
    }

    /// Returns whether hints have one field although blocks are tied, because no other known form ties
    /// fewer.
    pub(super) fn is_best_of_one(self) -> bool {
        self.has_one_field() && (B::BYTES < 8 || self.0 >> Self::LOWER & 63 != 0)
    }

    /// Returns whether hints are made of picked bits.
    #[inline(always)]
    pub(super) fn is_picked(self) -> bool {
        B::BYTES == 8 && self.0 >> Self::PICKED & 1 != 0
    }

    /// Returns the bits of the hints that store places.
    #[inline(always)]
    pub(super) fn place_bits(self) -> u16 {
        if self.is_picked() { PLACE_BITS as u16 } else { 0 }
    }

    /// Returns the bits of keys that are picked in a node of this shape.
    #[inline(always)]
    pub(super) fn picked(self, node: &NodeLines) -> u64 {
        let words = &header(node)[LINK..];
        // A product collects the bits of four lanes.
        let of_four = |at: usize| {
            let lanes = words[at].load_relaxed() & PLACES_OF_FOUR;
            (lanes.wrapping_mul(1 << 48 | 1 << 35 | 1 << 22 | 1 << 9) >> 48) & 0xFFF
        };
        // The first word has two hints.
        let low = of_four(0) >> 6 | of_four(1) << 6 | of_four(2) << 18 | of_four(3) << 30;
        let places = low | self.0 >> Self::SHIFT << PLACES_IN_HINTS;
        let is_raised = (self.0 >> Self::IS_RAISED) as u32 & 1;
        places << (is_raised * RAISED)
    }

    /// Returns whether keys of different blocks may have the same hint.
    #[inline(always)]
    pub(super) fn is_tied(self) -> bool {
        self.0 & Self::TIED != 0
    }

    /// Returns whether hints name the right block for any key, even one that the node doesn't contain: there
    /// is one field, and no tie.
    #[inline(always)]
    pub(super) fn is_plain(self) -> bool {
        self.has_one_field() && !self.is_tied()
    }

    #[inline(always)]
    pub(super) fn count(self, block: usize) -> usize {
        (self.0 >> (Self::COUNT_BITS * (block as u32 & 15)) & Self::COUNT_MAX) as usize
    }

    /// Returns the places in use by block, from block `first` on: a count per block, and zeros after the
    /// last.
    #[inline(always)]
    pub(super) fn counts_from(self, first: usize) -> u64 {
        (self.0 & Self::COUNTS) >> (Self::COUNT_BITS * (first as u32 & 15))
    }

    /// Returns whether all blocks before this one are empty.
    #[inline(always)]
    pub(super) fn is_empty_before(self, block: usize) -> bool {
        self.0 & ((1 << (Self::COUNT_BITS * (block as u32 & 15))) - 1) == 0
    }

    /// Returns the number of places in use in all blocks.
    #[inline(always)]
    pub(super) fn total(self) -> usize {
        let counts = self.0 & Self::COUNTS;
        if B::BYTES == 8 {
            let pairs = (counts & 0o0707_0707_0707_0707) + (counts >> 3 & 0o0707_0707_0707_0707);
            let fours = (pairs & 0o0077_0077_0077_0077) + (pairs >> 6 & 0o0077_0077_0077_0077);
            return (fours.wrapping_mul(0o0001_0001_0001_0001) >> 36) as usize & 0xFFF;
        }
        let pairs = (counts & 0x0F0F_0F0F_0F0F_0F0F) + (counts >> 4 & 0x0F0F_0F0F_0F0F_0F0F);
        (pairs.wrapping_mul(0x0101_0101_0101_0101) >> 56) as usize
    }

    pub(super) fn set_count(&mut self, block: usize, count: usize) {
        let at = Self::COUNT_BITS * block as u32;
        self.0 = self.0 & !(Self::COUNT_MAX << at) | (count as u64) << at;
    }

    /// Returns the shape with these counts, in the order of their blocks; it has none so far.
    #[inline(always)]
    pub(super) fn with_counts(self, counts: u64) -> Self {
        Self::from_word(self.0 | counts)
    }

    /// Returns whether two keys have the same upper field of hints.
    #[inline(always)]
    pub(super) fn are_close(self, a: B, b: B) -> bool {
        (a.to_u64() ^ b.to_u64()) >> self.shift() == 0
    }

    /// Returns whether two keys agree above the lower field of their hints, so that the smaller one doesn't
    /// have the larger hint; `true` if there is one field.
    #[inline(always)]
    pub(super) fn agree_above_fields(self, a: B, b: B) -> bool {
        let width = self.width();
        let lower = (self.0 >> Self::LOWER) as u32 & 63;
        self.has_one_field() || !self.is_picked() && (a.to_u64() ^ b.to_u64()) >> ((lower + width) & 63) == 0
    }

    /// Returns the upper field of a key's hint in a leaf with this low fence, unbounded.
    #[inline(always)]
    pub(super) fn upper(self, key: u64, low: u64) -> u64 {
        (key >> self.shift()).wrapping_sub(low >> self.shift())
    }

    /// Returns a key's hint in a leaf with this low fence, unbounded; arbitrary for a key before the fence.
    #[inline(always)]
    pub(super) fn distance(self, key: u64, low: u64) -> u64 {
        let upper = self.upper(key, low);
        if B::BYTES == 4 {
            return upper;
        }
        let (lower, width) = (key >> (self.0 >> Self::LOWER & 63), self.width());
        upper << width | lower & ((1 << width) - 1)
    }

    /// Returns a key's hint of one field in a leaf with this low fence.
    #[inline(always)]
    pub(super) fn hint_of_one(self, key: u64, low: u64) -> u16 {
        self.upper(key, low).min(HINT_MAX) as u16
    }

    /// Returns a key's hint of fields in a leaf with this low fence.
    #[inline(always)]
    pub(super) fn hint(self, key: u64, low: u64) -> u16 {
        self.distance(key, low).min(HINT_MAX) as u16
    }

    /// Returns a key's hint in an inner node with this base.
    #[inline(always)]
    pub(super) fn hint_from(self, key: u64, base: u64) -> u16 {
        if !self.has_one_field() {
            return self.hint(key.max(base), base);
        }
        (key.saturating_sub(base) >> self.shift()).min(HINT_MAX) as u16
    }

    /// Returns the shape with the note that hints may be tied.
    pub(super) fn with_ties(self) -> Self {
        Self::from_word(self.0 | Self::TIED)
    }

    /// Returns the shape with one more place of a block in use.
    #[inline(always)]
    pub(super) fn with_one_more(self, block: usize) -> Self {
        Self::from_word(self.0 + (1 << (Self::COUNT_BITS * block as u32)))
    }

    /// Returns the shape with one place less of a block in use.
    #[inline(always)]
    pub(super) fn with_one_less(self, block: usize) -> Self {
        Self::from_word(self.0 - (1 << (Self::COUNT_BITS * block as u32)))
    }

    /// Returns bits within the counts of the blocks with fewer than `full` places in use: no count exceeds
    /// `full`, so only smaller ones lack bits of it.
    #[inline(always)]
    fn rooms(self, full: usize) -> u64 {
        !self.0 & (Self::ONES * full as u64)
    }

    /// Returns the first block from block `at` on with fewer than `full` places in use; a number that is far
    /// too large if there is none.
    #[inline(always)]
    pub(super) fn room_from(self, at: usize, full: usize) -> usize {
        let rooms = self.rooms(full) >> (Self::COUNT_BITS * at as u32);
        at + (rooms.trailing_zeros() / Self::COUNT_BITS) as usize
    }

    /// Returns the last block up to block `at` with fewer than `full` places in use.
    #[inline(always)]
    pub(super) fn room_up_to(self, at: usize, full: usize) -> Option<usize> {
        let rooms = self.rooms(full) << (u64::BITS - Self::COUNT_BITS * (at as u32 + 1));
        at.checked_sub((rooms.leading_zeros() / Self::COUNT_BITS) as usize)
    }

    /// Returns the distance of keys with different hints, if hints have one field.
    pub(super) fn step(self) -> u64 {
        1 << self.shift()
    }
}

/// Computes the hints of a leaf's keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct Maker<B> {
    shape: Shape<B>,
    low: u64,
    /// 0: hints are made of fields.
    picked: u64,
}

impl<B: Bits> Maker<B> {
    /// Creates the maker for a leaf of this shape with this low fence.
    #[inline(always)]
    pub(super) fn of(node: &NodeLines, shape: Shape<B>, low: u64) -> Self {
        Self { shape, low, picked: if shape.is_picked() { shape.picked(node) } else { 0 } }
    }

    /// Creates the maker for a leaf of this form, independent of its first line.
    pub(super) fn by_form(form: Form, low: u64) -> Self {
        Self { shape: Shape::new(form), low, picked: form.picked }
    }

    /// Returns a key's hint.
    #[inline(always)]
    pub(super) fn hint<S: Lines>(self, key: B) -> u16 {
        match self.picked {
            0 => self.shape.hint(key.to_u64(), self.low),
            picked => hint_of_picked::<S>(picked, key.to_u64()),
        }
    }

    /// Returns whether hints don't reach as far as a key.
    #[inline(always)]
    pub(super) fn is_far(self, key: B) -> bool {
        self.picked == 0 && self.shape.distance(key.to_u64(), self.low) > HINT_MAX
    }
}

/// Returns a key's hint of picked bits. The bits that store places are set: so it is at least that of a
/// block exactly if its own bits are.
#[inline(always)]
fn hint_of_picked<S: Lines>(picked: u64, key: u64) -> u16 {
    (S::bits_at(key, picked).min(PICKED_MAX) << (16 - PICKED_BITS) | PLACE_BITS) as u16
}

/// Returns the places that the hints and the shape store for these picked bits, and whether they begin at
/// [`RAISED`].
fn places_of(picked: u64) -> (u64, bool) {
    let raised = picked != 0 && picked.trailing_zeros() >= RAISED;
    (picked >> if raised { RAISED } else { 0 }, raised)
}

/// Returns the block that the hints name for this hint of a key: on a tie the rightmost one.
#[inline(always)]
pub(super) fn named_block<S: Lines>(node: &NodeLines, hint: u16) -> usize {
    // Fourteen hints, so at most fourteen: the mask is only for the compiler.
    S::hints_up_to(header(node), hint) & 15
}

/// Returns whether the hints also name other blocks than `at`, which they named for a key of this hint.
#[inline(always)]
pub(super) fn is_tied(node: &NodeLines, at: usize, hint: u16) -> bool {
    at > 0 && block_hint(node, at) == hint
}

/// Returns the first block that may contain keys of this hint.
#[inline(always)]
pub(super) fn first_tied<S: Lines>(node: &NodeLines, hint: u16) -> usize {
    hint.checked_sub(1).map_or(0, |before| S::hints_up_to(header(node), before) & 15)
}

/// Prefetches all blocks that the hints name for a key of this hint, up to block `at`.
#[inline(always)]
pub(super) fn prefetch_tied<S: Lines>(node: &NodeLines, at: usize, hint: u16) {
    for at in first_tied::<S>(node, hint)..at {
        prefetch_read(core::ptr::from_ref(block(node, at)).cast());
    }
}

/// Returns the line of a block.
#[inline(always)]
pub(super) fn block(node: &NodeLines, at: usize) -> &Line {
    line(node, at + 1)
}

/// Returns the hint of block `at`, which isn't the first.
#[inline(always)]
pub(super) fn block_hint(node: &NodeLines, at: usize) -> u16 {
    let lane = at + 1;
    (header(node)[LINK + lane / 4].load_relaxed() >> (lane % 4 * 16)) as u16
}

/// Sets the hint of block `at`, which isn't the first.
pub(super) fn set_block_hint(node: &NodeLines, at: usize, hint: u16) {
    let lane = at + 1;
    let (word, shift) = (&header(node)[LINK + lane / 4], lane % 4 * 16);
    word.store_relaxed(word.load_relaxed() & !(0xFFFF << shift) | u64::from(hint) << shift);
}

/// Sets the hints of all blocks except the first, which has none, and the places of picked bits that they
/// store.
pub(super) fn set_block_hints(node: &NodeLines, hints: &[u16; LINES - 1], picked: u64) {
    let own = if picked == 0 { u16::MAX } else { !(PLACE_BITS as u16) };
    let (places, _) = places_of(picked);
    let hint = |lane: usize| {
        let told = places >> ((lane - 2) * (16 - PICKED_BITS as usize)) & PLACE_BITS;
        u64::from(hints[lane - 1] & own | told as u16 & !own) << (lane % 4 * 16)
    };
    let first = &header(node)[LINK];
    first.store_relaxed(first.load_relaxed() & 0xFFFF_FFFF | hint(2) | hint(3));
    for word in 1..4 {
        header(node)[LINK + word]
            .store_relaxed((4 * word..4 * word + 4).fold(0, |word, lane| word | hint(lane)));
    }
}
