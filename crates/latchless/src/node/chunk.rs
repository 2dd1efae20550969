//! A few entries of a leaf, copied out of some of its lines: what a range is read by when its reader may stop
//! at any entry.

use super::*;
use latchless_core::base::index::Direction;

/// Room for the entries of a chunk.
pub const CHUNK: usize = 16;

/// A few entries in ascending order. Those before `from` are outside of the range.
#[derive(Debug, Clone)]
pub struct Chunk<B> {
    pub(super) keys: [B; CHUNK],
    pub(super) values: [B; CHUNK],
    pub(super) len: usize,
}

impl<B: Bits> Default for Chunk<B> {
    #[inline(always)]
    fn default() -> Self {
        Self { keys: [B::MIN; CHUNK], values: [B::MIN; CHUNK], len: 0 }
    }
}

impl<B: Bits> Chunk<B> {
    /// How many entries there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no entries.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entry at a place below [`Chunk::len`]; at another place, no entry that means anything.
    #[inline(always)]
    pub fn entry(&self, at: usize) -> (B, B) {
        // The mask tells the compiler that nothing can go wrong.
        (self.keys[at % CHUNK], self.values[at % CHUNK])
    }

    /// The keys, ascending.
    #[inline(always)]
    pub fn keys(&self) -> &[B] {
        &self.keys[..self.len]
    }

    /// The values, in the order of their keys.
    #[inline(always)]
    pub fn values(&self) -> &[B] {
        &self.values[..self.len]
    }

    /// Forgets everything.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Forgets what lies outside of `low..=high`.
    #[inline(always)]
    pub fn trim(&mut self, low: B, high: B) {
        let end = self.keys().partition_point(|&key| key <= high);
        let start = self.keys[..end].partition_point(|&key| key < low);
        if start > 0 {
            self.keys.copy_within(start..end, 0);
            self.values.copy_within(start..end, 0);
        }
        self.len = end - start;
    }
}

impl<B: Bits> Chunk<B> {
    /// Keeps, of the last `pending` entries, the first `most`; in reverse, of the first, the last.
    pub fn keep_pending(&mut self, pending: usize, most: usize, direction: Direction) {
        let drop_front = match direction {
            Direction::Forward => self.len - pending,
            Direction::Reverse => pending - most,
        };
        self.keys.copy_within(drop_front..drop_front + most, 0);
        self.values.copy_within(drop_front..drop_front + most, 0);
        self.len = most;
    }

    /// Keeps the first `most` entries; in reverse, the last ones.
    #[inline(always)]
    pub fn keep(&mut self, most: usize, direction: Direction) {
        if self.len <= most {
            return;
        }
        if direction == Direction::Reverse {
            self.keys.copy_within(self.len - most..self.len, 0);
            self.values.copy_within(self.len - most..self.len, 0);
        }
        self.len = most;
    }
}

impl<B: Bits> Leaf<'_, B> {
    /// Blocks that a chunk has room for.
    pub const CHUNK_BLOCKS: usize = {
        let blocks = CHUNK / Self::WIDTH;
        if blocks < Self::BLOCKS { blocks } else { Self::BLOCKS }
    };

    /// Copies the entries of `count` blocks from block `first` on, of at most [`Leaf::CHUNK_BLOCKS`] and no
    /// further than the leaf's last one. Says which block comes after them.
    #[inline(always)]
    pub fn copy_chunk<S: Lines>(self, first: usize, count: usize, into: &mut Chunk<B>) -> usize {
        let end = (first + count.min(Self::CHUNK_BLOCKS)).min(Self::BLOCKS);
        let (shape, mut len) = (self.shape(), 0);
        for at in first..end {
            S::copy_half(self.line(at), 0, &mut into.keys[len..]);
            S::copy_half(self.line(at), 4, &mut into.values[len..]);
            // Whatever a torn shape says, the next block finds room.
            len += shape.count(at).min(Self::WIDTH);
        }
        into.len = len;
        end
    }

    /// The last block that may hold keys up to `key`.
    #[inline(always)]
    pub fn last_block<S: Lines>(self, key: B) -> usize {
        self.named::<S>(self.shape(), key).0.min(Self::BLOCKS - 1)
    }
}
