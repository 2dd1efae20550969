//! A few entries of a leaf, copied out of some of its lines: what a range is read by when its reader may stop
//! at any entry.

use super::hints::Shape;
use super::*;
use core::ops::Range;
use latchless_core::base::index::Direction;

/// Room for the entries of a chunk: a third of a leaf of 64-bit lanes.
pub const CHUNK: usize = 20;

/// A few entries in ascending order, from one place up to another.
#[derive(Debug, Clone)]
pub struct Chunk<B> {
    keys: [B; CHUNK],
    values: [B; CHUNK],
    first: u32,
    end: u32,
}

impl<B: Bits> Default for Chunk<B> {
    #[inline(always)]
    fn default() -> Self {
        Self { keys: [B::MIN; CHUNK], values: [B::MIN; CHUNK], first: 0, end: 0 }
    }
}

impl<B: Bits> Chunk<B> {
    /// The places of the entries.
    #[inline(always)]
    pub fn places(&self) -> Range<u32> {
        self.first..self.end
    }

    /// How many entries there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        (self.end - self.first) as usize
    }

    /// Whether there are no entries.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.first == self.end
    }

    /// The entry at one of the places.
    #[inline(always)]
    pub fn entry(&self, at: u32) -> (B, B) {
        (self.keys[at as usize], self.values[at as usize])
    }

    /// Forgets everything.
    #[inline(always)]
    pub fn clear(&mut self) {
        (self.first, self.end) = (0, 0);
    }

    /// Forgets keys below `low`.
    #[inline(always)]
    pub fn trim_front(&mut self, low: B) {
        while self.first < self.end && self.entry(self.first).0 < low {
            self.first += 1;
        }
    }

    /// Forgets keys above `high`.
    #[inline(always)]
    pub fn trim_back(&mut self, high: B) {
        while self.first < self.end && self.entry(self.end - 1).0 > high {
            self.end -= 1;
        }
    }

    /// Keeps the first `most` entries; in reverse, the last ones.
    #[inline(always)]
    pub fn keep(&mut self, most: usize, direction: Direction) {
        let dropped = self.len().saturating_sub(most) as u32;
        match direction {
            Direction::Forward => self.end -= dropped,
            Direction::Reverse => self.first += dropped,
        }
    }
}

impl<B: Bits> Leaf<'_, B> {
    /// Blocks that a chunk has room for.
    pub const CHUNK_BLOCKS: usize = CHUNK / Self::WIDTH;

    /// Copies the entries of `count` blocks from block `first` on, of at most [`Leaf::CHUNK_BLOCKS`] and no
    /// further than the leaf's last one.
    #[inline(always)]
    pub fn copy_chunk<S: Lines>(self, first: usize, count: usize, into: &mut Chunk<B>) {
        let (mut counts, mut len, mut end) = (self.shape().counts_from(first), 0, 0);
        let (count_bits, count_max) = (Shape::<B>::COUNT_BITS, Shape::<B>::COUNT_MAX);
        let blocks = self.node.get(1 + first..).unwrap_or_default();
        for line in blocks.iter().take(count.min(Self::CHUNK_BLOCKS)) {
            S::copy_half(line, 0, &mut into.keys[len..]);
            S::copy_half(line, 4, &mut into.values[len..]);
            // Whatever a torn shape says, the next block finds room.
            end = len + (counts & count_max) as usize;
            len = end.min(CHUNK - Self::WIDTH);
            counts >>= count_bits;
        }
        (into.first, into.end) = (0, end.min(CHUNK) as u32);
    }
}
