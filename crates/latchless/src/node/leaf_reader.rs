//! Reading the entries of a leaf: all of them, or those of a range.

use super::copies::Entries;
use super::hints::Shape;
use super::leaf::Leaf;
use super::line_address;
use super::lines::Lines;
use core::ops::Deref;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::prefetch_read;

/// A leaf whose entries are read. The nearest entries to a key are in `leaf_nearest.rs`.
#[derive(Debug, Clone, Copy)]
pub struct LeafReader<'a, B>(pub Leaf<'a, B>);

impl<'a, B> Deref for LeafReader<'a, B> {
    type Target = Leaf<'a, B>;

    #[inline(always)]
    fn deref(&self) -> &Leaf<'a, B> {
        &self.0
    }
}

impl<B: Bits> LeafReader<'_, B> {
    /// Copies all entries.
    #[inline(always)]
    pub fn copy_out<S: Lines>(self, into: &mut Entries<B>) {
        into.len = 0;
        self.append_to::<S>(0, into);
    }

    /// Copies the entries of block `first` and of all after it. For each block that is copied, prefetches
    /// the line of the same block of the node at `ahead`, if there is one, and that node's first line.
    #[inline(always)]
    pub fn copy_out_and_ask<S: Lines>(self, first: usize, into: &mut Entries<B>, ahead: Option<*const u8>) {
        into.len = 0;
        if let Some(ahead) = ahead {
            prefetch_read(ahead);
        }
        self.append::<S>(first, into, ahead);
    }

    /// Appends the entries of block `first` and of all after it to others.
    #[inline(always)]
    pub(super) fn append_to<S: Lines>(self, first: usize, to: &mut Entries<B>) {
        self.append::<S>(first, to, None);
    }

    #[inline(always)]
    fn append<S: Lines>(self, first: usize, to: &mut Entries<B>, ahead: Option<*const u8>) {
        let (shape, mut len) = (self.shape(), to.len);
        let (keys, values) = to.room();
        for at in first..Leaf::<B>::BLOCKS {
            if let Some(ahead) = ahead {
                prefetch_read(line_address(ahead, at + 1));
            }
            S::copy_half(self.line(at), 0, &mut keys[len..]);
            S::copy_half(self.line(at), 4, &mut values[len..]);
            // Even if the shape is torn, the next block fits.
            len = (len + shape.count(at)).min(Entries::<B>::ROOM - Leaf::<B>::WIDTH);
        }
        to.len = len;
    }

    /// Adds up the values of at most `most` entries in `low..=high`, modulo 2^64. Returns the number of
    /// entries, and the sum. Meanwhile prefetches the lines of the node at `ahead`, if there is one.
    #[inline(always)]
    pub fn sum<S: Lines>(self, low: B, high: B, most: usize, ahead: Option<*const u8>) -> (usize, u64) {
        let (shape, mut sums) = (self.shape(), S::no_sums());
        if let Some(ahead) = ahead {
            prefetch_read(ahead);
        }
        if !((low <= self.low()) & (self.high() <= high) & (most >= Leaf::<B>::CAPACITY)) {
            return self.sum_some::<S>(shape, low, high, most);
        }
        for at in 0..Leaf::<B>::BLOCKS {
            if let Some(ahead) = ahead {
                prefetch_read(line_address(ahead, at + 1));
            }
            sums = S::add_values::<B>(self.line(at), (1 << shape.count(at)) - 1, sums);
        }
        (shape.total(), S::total(sums))
    }

    #[inline(always)]
    fn sum_some<S: Lines>(self, shape: Shape<B>, low: B, high: B, most: usize) -> (usize, u64) {
        let (mut left, mut sums) = (most, S::no_sums());
        let last = self.last_block::<S>(high);
        for at in self.first_block::<S>(low)..=last {
            let line = self.line(at);
            let taken = S::keys_between(line, low, high) & ((1 << shape.count(at)) - 1);
            // Those of a block are adjacent: the first so many of them.
            let end = (taken.trailing_zeros() as usize + left.min(Leaf::<B>::PER_BLOCK)).min(31);
            let taken = taken & ((1 << end) - 1);
            sums = S::add_values::<B>(line, taken, sums);
            left -= taken.count_ones() as usize;
            if left == 0 {
                break;
            }
        }
        (most - left, S::total(sums))
    }
}
