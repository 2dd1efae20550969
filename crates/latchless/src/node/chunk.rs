//! A few entries of a leaf, copied out of some of its lines, for range scans whose reader may stop at any
//! entry.
//!
//! A chunk has two *windows*, of which one is in use: entries are taken from the front one in ascending
//! order, from the back one in descending order. Only the entries that are copied into a chunk are written,
//! so creating and moving a range costs less than copying a full chunk.
//!
//! # Invariants
//! 1. The places of both windows contain entries: `at..end` and `back..behind`, within the arrays.

use super::hints::Shape;
use super::leaf::Leaf;
use super::leaf_reader::LeafReader;
use super::lines::Lines;
use core::mem::MaybeUninit;
use latchless_core::base::index::Direction;
use latchless_core::base::key::Bits;

/// The capacity of a chunk in entries: half a leaf of 64-bit lanes.
pub const CHUNK: usize = 32;

/// A few entries in ascending order. See the module documentation.
pub struct Chunk<B> {
    keys: [MaybeUninit<B>; CHUNK],
    values: [MaybeUninit<B>; CHUNK],
    at: u32,
    end: u32,
    back: u32,
    behind: u32,
}

impl<B: Bits> Clone for Chunk<B> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<B: Bits> Default for Chunk<B> {
    #[inline(always)]
    fn default() -> Self {
        let [keys, values] = [const { [const { MaybeUninit::uninit() }; CHUNK] }; 2];
        Self { keys, values, at: 0, end: 0, back: 0, behind: 0 }
    }
}

impl<B: Bits> Chunk<B> {
    /// Returns the number of entries in both windows.
    #[inline(always)]
    pub fn len(&self) -> usize {
        (self.end - self.at + self.behind - self.back) as usize
    }

    /// Returns whether both windows are empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the entry at a place of one of the windows.
    #[inline(always)]
    fn entry(&self, at: u32) -> (B, B) {
        debug_assert!((self.at..self.end).contains(&at) || (self.back..self.behind).contains(&at));
        debug_assert!(self.end as usize <= CHUNK && self.behind as usize <= CHUNK);
        let at = at as usize;
        // SAFETY: every caller names a place of a window, which lies within the room and has been written
        // (invariant 1).
        unsafe { (self.keys.get_unchecked(at).assume_init(), self.values.get_unchecked(at).assume_init()) }
    }

    /// Removes and returns the first entry of the front window.
    #[inline(always)]
    pub fn take_first(&mut self) -> Option<(B, B)> {
        if self.at == self.end {
            return None;
        }
        let entry = self.entry(self.at);
        self.at += 1;
        Some(entry)
    }

    /// Removes and returns the last entry of the back window.
    #[inline(always)]
    pub fn take_last(&mut self) -> Option<(B, B)> {
        if self.back == self.behind {
            return None;
        }
        let entry = self.entry(self.behind - 1);
        self.behind -= 1;
        Some(entry)
    }

    /// Skips up to `most` entries of the front window, and returns their number.
    #[inline(always)]
    pub fn skip(&mut self, most: usize) -> usize {
        let passed = most.min((self.end - self.at) as usize);
        self.at += passed as u32;
        passed
    }

    /// Returns the number of entries in the front window.
    #[inline(always)]
    pub fn front_len(&self) -> usize {
        (self.end - self.at) as usize
    }

    /// Returns the smallest and the greatest key of the front window.
    #[inline(always)]
    pub fn front_ends(&self) -> Option<(B, B)> {
        (self.at < self.end).then(|| (self.entry(self.at).0, self.entry(self.end - 1).0))
    }

    /// Returns the smallest key in either window.
    #[inline(always)]
    pub fn first(&self) -> Option<B> {
        let at = if self.at < self.end { self.at } else { self.back };
        (!self.is_empty()).then(|| self.entry(at).0)
    }

    /// Returns the greatest key in either window.
    #[inline(always)]
    pub fn last(&self) -> Option<B> {
        let end = if self.at < self.end { self.end } else { self.behind };
        (!self.is_empty()).then(|| self.entry(end - 1).0)
    }

    /// Removes all entries.
    #[inline(always)]
    pub fn clear(&mut self) {
        (self.at, self.end, self.back, self.behind) = (0, 0, 0, 0);
    }

    /// Makes the front window the back one.
    #[inline(always)]
    pub fn turn(&mut self) {
        (self.back, self.behind) = (self.at, self.end);
        (self.at, self.end) = (0, 0);
    }

    /// Removes keys of the front window below `low`.
    #[inline(always)]
    pub fn trim_front(&mut self, low: B) {
        while self.at < self.end && self.entry(self.at).0 < low {
            self.at += 1;
        }
    }

    /// Removes keys of the front window above `high`.
    #[inline(always)]
    pub fn trim_back(&mut self, high: B) {
        while self.at < self.end && self.entry(self.end - 1).0 > high {
            self.end -= 1;
        }
    }

    /// Keeps the `most` entries that are taken first.
    #[inline(always)]
    pub fn keep(&mut self, most: usize, direction: Direction) {
        let dropped = self.len().saturating_sub(most) as u32;
        match direction {
            Direction::Forward => {
                let of_back = dropped.min(self.behind - self.back);
                self.behind -= of_back;
                self.end -= dropped - of_back;
            }
            Direction::Reverse => {
                let of_front = dropped.min(self.end - self.at);
                self.at += of_front;
                self.back += dropped - of_front;
            }
        }
    }
}

impl<B> core::fmt::Debug for Chunk<B> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let windows = (self.at..self.end, self.back..self.behind);
        f.debug_struct("Chunk").field("windows", &windows).finish_non_exhaustive()
    }
}

impl<B: Bits> LeafReader<'_, B> {
    /// The number of full blocks that fit in a chunk.
    pub const CHUNK_BLOCKS: usize = CHUNK / Leaf::<B>::WIDTH;

    /// Copies the entries of at most `count` blocks from block `first` on to the front window, no more than
    /// fit and no further than the leaf's last one. Returns the next block.
    #[inline(always)]
    pub fn copy_chunk<S: Lines>(self, first: usize, count: usize, into: &mut Chunk<B>) -> usize {
        if self.is_alone() {
            return self.copy_of_few::<S>(first, count, into);
        }
        self.copy_blocks::<S>(self.shape(), first, count.min(Self::CHUNK_BLOCKS), into)
    }

    /// The same for the only leaf of its tree: all of its blocks, if it has few entries. A copy of its own,
    /// so that the loop of large trees has a bound that doesn't vary.
    #[inline(always)]
    fn copy_of_few<S: Lines>(self, first: usize, count: usize, into: &mut Chunk<B>) -> usize {
        let shape = self.shape();
        let are_few = shape.total() <= CHUNK - Leaf::<B>::WIDTH;
        let most = if are_few { Leaf::<B>::BLOCKS } else { Self::CHUNK_BLOCKS };
        self.copy_blocks::<S>(shape, first, count.min(most), into)
    }

    /// Copies the entries of at most `count` blocks, which fit, from block `first` on. Returns the next
    /// block.
    #[inline(always)]
    fn copy_blocks<S: Lines>(
        self,
        shape: Shape<B>,
        first: usize,
        count: usize,
        into: &mut Chunk<B>,
    ) -> usize {
        into.clear();
        let (mut counts, mut end) = (shape.counts_from(first), 0);
        let (count_bits, count_max) = (Shape::<B>::COUNT_BITS, Shape::<B>::COUNT_MAX);
        let blocks = self.node.get(1 + first..1 + Leaf::<B>::BLOCKS).unwrap_or_default();
        // Their number depends on no count.
        let blocks = &blocks[..blocks.len().min(count)];
        for line in blocks {
            assert!(end <= CHUNK - Leaf::<B>::WIDTH, "as many blocks as there is room for");
            S::copy_half_to(line, 0, &mut into.keys[end..end + Leaf::<B>::WIDTH]);
            S::copy_half_to(line, 4, &mut into.values[end..end + Leaf::<B>::WIDTH]);
            // Even with a torn shape, no place counts that wasn't written.
            end += ((counts & count_max) as usize).min(Leaf::<B>::WIDTH);
            counts >>= count_bits;
        }
        into.end = end as u32;
        first + blocks.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{Entries, LeafEditor, NodeLines, latch};
    use latchless_core::mem::node_ref::NodeRef;
    use latchless_core::search::Scalar;
    use latchless_core::sync::Word;

    const ENTRIES: u64 = 12;

    /// Returns the entries 0 to 11 of a leaf, in the front window.
    fn chunk() -> Chunk<u64> {
        let lines: NodeLines = core::array::from_fn(|_| core::array::from_fn(|_| Word::new(0)));
        let _held = latch(&lines).try_latch();
        let leaf = LeafEditor(Leaf::<u64>::new(&lines));
        leaf.set((0, u64::MAX), NodeRef::NIL, &Entries::default(), 0..0);
        (0..ENTRIES).for_each(|key| assert!(leaf.insert::<Scalar>(leaf.seek::<Scalar>(key), (key, key))));
        let mut chunk = Chunk::default();
        LeafReader(*leaf).copy_chunk::<Scalar>(0, LeafReader::<u64>::CHUNK_BLOCKS, &mut chunk);
        assert!(chunk.len() > 4, "{chunk:?}");
        chunk
    }

    fn drained(mut chunk: Chunk<u64>) -> (Vec<u64>, Vec<u64>) {
        let front = core::iter::from_fn(|| chunk.take_first()).map(|(key, _)| key).collect();
        (front, core::iter::from_fn(|| chunk.take_last()).map(|(key, _)| key).collect())
    }

    #[test]
    fn what_is_kept_is_what_is_taken_first_in_either_window() {
        let len = chunk().len();
        for direction in [Direction::Forward, Direction::Reverse] {
            for turned in [false, true] {
                for most in [0, 1, 3, len, len + 1, usize::MAX] {
                    let mut chunk = chunk();
                    if turned {
                        chunk.turn();
                    }
                    chunk.keep(most, direction);
                    let kept = most.min(len);
                    assert_eq!(chunk.len(), kept);
                    let (front, mut back) = drained(chunk);
                    back.reverse();
                    let own = if turned { back } else { front };
                    let from = if direction == Direction::Forward { 0 } else { len - kept };
                    assert!(own.into_iter().eq((from..from + kept).map(|key| key as u64)));
                }
            }
        }
    }
}
