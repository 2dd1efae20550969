//! Hints: which block of a node a key belongs to, by the node's first line.

use super::{BASE, LINES, LINK, NodeLines, SHAPE, header, line};
use crate::node::lines::Lines;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::prefetch_read;
use latchless_core::sync::Line;

/// The hint of blocks that no key may be looked for in.
pub(super) const NO_BLOCK: u16 = 0xFFFF;
/// The largest hint of a key.
pub(super) const HINT_MAX: u64 = 0xFFFE;

/// A node's shape: places taken by block, and the hints' shift. See the module's head.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape(pub(super) u64);

impl Shape {
    #[inline(always)]
    pub(super) fn of(node: &NodeLines) -> Self {
        Self(header(node)[SHAPE].load_relaxed())
    }

    /// Nothing in any block yet, and hints that tell keys up to `span` behind the base apart: the
    /// smallest shift by whole nibbles with which all of them stay below the largest hint.
    pub(super) fn for_span(span: u64) -> Self {
        let bits = u64::BITS - span.leading_zeros();
        let nibbles = bits.saturating_sub(16).div_ceil(4);
        Self(u64::from(nibbles + u32::from(span >> (4 * nibbles) >= HINT_MAX)) << 60)
    }

    #[inline(always)]
    pub(super) fn count(self, block: usize) -> usize {
        (self.0 >> (4 * block)) as usize & 15
    }

    /// Places taken by block, from block `first` on: a nibble for each, and zeros for those behind the last.
    #[inline(always)]
    pub(super) fn counts_from(self, first: usize) -> u64 {
        (self.0 & !(15 << 60)) >> (4 * (first & 15))
    }

    /// Places taken in all blocks.
    #[inline(always)]
    pub(super) fn total(self) -> usize {
        let nibbles = self.0 & !(15 << 60);
        let pairs = (nibbles & 0x0F0F_0F0F_0F0F_0F0F) + (nibbles >> 4 & 0x0F0F_0F0F_0F0F_0F0F);
        (pairs.wrapping_mul(0x0101_0101_0101_0101) >> 56) as usize
    }

    pub(super) fn set_count(&mut self, block: usize, count: usize) {
        self.0 = self.0 & !(15 << (4 * block)) | (count as u64) << (4 * block);
    }

    /// How far behind the base a key stands, in hints, unbounded.
    #[inline(always)]
    pub(super) fn distance(self, key: u64, base: u64) -> u64 {
        key.saturating_sub(base) >> ((self.0 >> 58) & 60)
    }

    /// The same with one more place of a block taken.
    #[inline(always)]
    pub(super) fn with_one_more(self, block: usize) -> Self {
        Self(self.0 + (1 << (4 * block)))
    }

    /// One bit, in its nibble, for each block with fewer than `full` (4 or 8) places taken.
    #[inline(always)]
    pub(super) fn rooms(self, full: usize) -> u64 {
        !self.0 & (0x0111_1111_1111_1111 * full as u64)
    }

    /// How far apart keys of different hints are.
    pub(super) fn step(self) -> u64 {
        1 << ((self.0 >> 58) & 60)
    }

    #[inline(always)]
    pub(super) fn hint(self, key: u64, base: u64) -> u16 {
        self.distance(key, base).min(HINT_MAX) as u16
    }
}

/// The block that the hints name for `key`, and the key's hint. On a tie the rightmost one.
#[inline(always)]
pub(super) fn named_block<S: Lines, B: Bits>(node: &NodeLines, shape: Shape, key: B) -> (usize, u16) {
    let hint = shape.hint(key.to_u64(), header(node)[BASE].load_relaxed());
    // Fourteen hints, so at most fourteen: the mask only tells the compiler.
    (S::hints_up_to(header(node), hint) & 15, hint)
}

/// Whether the hints name other blocks than `at`, too, for a key of this hint, which they named `at` for.
#[inline(always)]
pub(super) fn is_tied(node: &NodeLines, at: usize, hint: u16) -> bool {
    at > 0 && block_hint(node, at) == hint
}

/// The first block that may hold keys of this hint.
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

/// The line of a block.
#[inline(always)]
pub(super) fn block(node: &NodeLines, at: usize) -> &Line {
    line(node, at + 1)
}

/// The hint of block `at`, which isn't the first.
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

/// Sets the hints of all blocks; the first block has none.
pub(super) fn set_block_hints(node: &NodeLines, hints: &[u16; LINES - 1]) {
    let hint = |lane: usize| u64::from(hints[lane - 1]) << (lane % 4 * 16);
    let first = &header(node)[LINK];
    first.store_relaxed(first.load_relaxed() & 0xFFFF_FFFF | hint(2) | hint(3));
    for word in 1..4 {
        header(node)[LINK + word]
            .store_relaxed((4 * word..4 * word + 4).fold(0, |word, lane| word | hint(lane)));
    }
}
