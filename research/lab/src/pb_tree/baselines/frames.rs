//! The work of a buffer manager between a page and the reader of its reference: the page is looked up by
//! its number in a hash table, and it is pinned while it is read. For trees of pages that are built with
//! it.

use super::lines::{Lines, WORDS};
use latchless_core::mem::touch::{Trace, Work};

/// Pages in memory: a line of numbers for each bucket, a line with a count of pins for each page.
pub(super) struct Frames<T> {
    buckets: Lines<T>,
    descriptors: Lines<T>,
    bits: u32,
}

impl<T: Trace> Frames<T> {
    /// Creates frames for that many pages; about four share a bucket.
    pub(super) fn new(pages: usize) -> Self {
        let bits = (pages / 4).max(2).next_power_of_two().trailing_zeros();
        let lines = |count: usize| Lines::new((0..count * WORDS).map(|_| 0));
        Self { buckets: lines(1 << bits), descriptors: lines(pages), bits }
    }

    /// Looks a page up and pins it.
    pub(super) fn fix(&self, page: usize) {
        T::work(Work::Operation);
        let bucket = (page as u32).wrapping_mul(0x9E37_79B1) >> (32 - self.bits);
        Lines::<T>::read(&self.buckets.line(bucket as usize)[0]);
        T::work(Work::Probe);
        Lines::<T>::read(&self.descriptors.line(page)[0]);
        self.write(page);
    }

    /// Takes the pin back.
    pub(super) fn unfix(&self, page: usize) {
        self.write(page);
    }

    fn write(&self, page: usize) {
        T::write(core::ptr::from_ref(&self.descriptors.line(page)[0]).cast(), size_of::<u32>());
    }
}
