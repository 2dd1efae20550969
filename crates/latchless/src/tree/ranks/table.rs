//! Buckets: their first keys, their counts, and which of them are dirty.
//!
//! 64 buckets are a *block*: their counts are added up in one word, and their dirty bits are one.

use core::ops::Range;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::words::Words;
use latchless_core::sync::Word;

/// Buckets in a block.
pub(in crate::tree) const BUCKETS_PER_BLOCK: usize = 64;

/// See the module documentation. Everything but the dirty bits is for the holder of the mutex; writers look
/// up buckets.
#[derive(Debug)]
pub(in crate::tree) struct Table {
    /// Buckets in use.
    len: Word,
    /// The first key of each bucket.
    starts: Words<Word>,
    /// Each bucket's number of keys when it was counted last.
    counts: Words<Word>,
    /// The first key of each block.
    block_starts: Words<Word>,
    /// The sum of the counts of each block's buckets.
    sums: Words<Word>,
    /// One bit per bucket of a block.
    dirty: Words<Word>,
}

impl Table {
    /// Allocates a table for this many buckets, in whole blocks.
    pub(super) fn new(buckets: usize) -> Result<Self> {
        let blocks = buckets / BUCKETS_PER_BLOCK;
        Ok(Self {
            len: Word::new(0),
            starts: Words::new(buckets, false)?,
            counts: Words::new(buckets, false)?,
            block_starts: Words::new(blocks, false)?,
            sums: Words::new(blocks, false)?,
            dirty: Words::new(blocks, false)?,
        })
    }

    /// Returns the bytes of a table with room for this many buckets.
    pub(super) fn bytes(buckets: usize) -> usize {
        (2 * buckets + 3 * (buckets / BUCKETS_PER_BLOCK)) * size_of::<Word>()
    }

    /// Returns the number of buckets.
    pub(in crate::tree) fn len(&self) -> usize {
        self.len.load_relaxed() as usize
    }

    /// Removes all buckets but a first one, which begins with the smallest key.
    pub(super) fn begin(&self) {
        self.len.store_relaxed(0);
        self.append(0);
    }

    /// Adds a bucket that begins with this key, unless there is no room, or the last one doesn't begin
    /// before it.
    pub(super) fn add(&self, start: u64) {
        let at = self.len();
        if at < self.starts.len() && self.start(at - 1) < start {
            self.append(start);
        }
    }

    fn append(&self, start: u64) {
        let at = self.len();
        self.starts[at].store_relaxed(start);
        self.counts[at].store_relaxed(0);
        let (block, bit) = (at / BUCKETS_PER_BLOCK, at % BUCKETS_PER_BLOCK);
        if bit == 0 {
            self.block_starts[block].store_relaxed(start);
            self.sums[block].store_relaxed(0);
            // Those after it, too.
            self.dirty[block].store_relaxed(u64::MAX);
        }
        self.len.store_relaxed(at as u64 + 1);
    }

    fn start(&self, bucket: usize) -> u64 {
        self.starts[bucket].load_relaxed()
    }

    /// Returns the first and the last key of some buckets, at least one.
    pub(in crate::tree) fn keys<B: Bits>(&self, buckets: Range<usize>) -> (B, B) {
        let end = if buckets.end < self.len() { self.start(buckets.end) - 1 } else { u64::MAX };
        (B::truncate(self.start(buckets.start)), B::truncate(end.min(B::MAX.to_u64())))
    }

    /// Returns the bucket that a key is in.
    pub(in crate::tree) fn bucket_of(&self, key: u64) -> usize {
        // The last word of those that begin with the key or before it. In a table that is rebuilt meanwhile
        // it is any bucket.
        let last_up_to = |words: &[Word]| words.partition_point(|word| word.load_relaxed() <= key).max(1) - 1;
        let len = self.len();
        let block = last_up_to(&self.block_starts[..len.div_ceil(BUCKETS_PER_BLOCK)]);
        let first = block * BUCKETS_PER_BLOCK;
        first + last_up_to(self.starts.get(first..len.min(first + BUCKETS_PER_BLOCK)).unwrap_or_default())
    }

    /// Makes buckets dirty.
    pub(super) fn make_dirty(&self, buckets: Range<usize>) {
        for part in by_block(buckets) {
            let (word, bits) = self.dirty_bits(&part);
            // Others may read this line, so it is only written if that changes it.
            if word.load_relaxed() & bits != bits {
                word.set_bits(bits);
            }
        }
    }

    /// Finds the first adjacent dirty buckets among these of one block, and makes them clean.
    pub(super) fn take_dirty(&self, buckets: Range<usize>) -> Option<Range<usize>> {
        let (word, bits) = self.dirty_bits(&buckets);
        let found = word.load_relaxed() & bits;
        if found == 0 {
            return None;
        }
        let start = found.trailing_zeros() as usize;
        let end = start + (found >> start).trailing_ones() as usize;
        let first = buckets.start / BUCKETS_PER_BLOCK * BUCKETS_PER_BLOCK;
        let taken = first + start..first + end;
        word.take_bits(self.dirty_bits(&taken).1);
        Some(taken)
    }

    /// Returns the dirty bits of buckets of one block: their word, and a mask.
    fn dirty_bits(&self, buckets: &Range<usize>) -> (&Word, u64) {
        let bits = u64::MAX >> (BUCKETS_PER_BLOCK - buckets.len()) << (buckets.start % BUCKETS_PER_BLOCK);
        (&self.dirty[buckets.start / BUCKETS_PER_BLOCK], bits)
    }

    /// Returns whether a bucket is dirty.
    pub(in crate::tree) fn is_dirty(&self, bucket: usize) -> bool {
        self.dirty[bucket / BUCKETS_PER_BLOCK].load_relaxed() >> (bucket % BUCKETS_PER_BLOCK) & 1 != 0
    }

    pub(in crate::tree) fn count(&self, bucket: usize) -> usize {
        self.counts[bucket].load_relaxed() as usize
    }

    pub(super) fn set_count(&self, bucket: usize, count: usize) {
        let (sum, before) = (&self.sums[bucket / BUCKETS_PER_BLOCK], self.count(bucket));
        self.counts[bucket].store_relaxed(count as u64);
        sum.store_relaxed(sum.load_relaxed().wrapping_add(count as u64).wrapping_sub(before as u64));
    }

    /// Returns the number of keys of some buckets of one block.
    pub(in crate::tree) fn sum(&self, buckets: Range<usize>) -> usize {
        if buckets.len() == BUCKETS_PER_BLOCK {
            return self.sums[buckets.start / BUCKETS_PER_BLOCK].load_relaxed() as usize;
        }
        buckets.map(|bucket| self.count(bucket)).sum()
    }
}

/// Splits a range of buckets at the borders of blocks. No part is empty.
pub(in crate::tree) fn by_block(buckets: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = if buckets.is_empty() { 0 } else { buckets.end.div_ceil(BUCKETS_PER_BLOCK) };
    (buckets.start / BUCKETS_PER_BLOCK..end).map(move |block| {
        let start = block * BUCKETS_PER_BLOCK;
        start.max(buckets.start)..(start + BUCKETS_PER_BLOCK).min(buckets.end)
    })
}
