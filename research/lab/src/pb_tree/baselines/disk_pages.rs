//! Disk pages of 16 KB, and searches in them that are reported to the tracing hook.

use core::marker::PhantomData;
use latchless_core::mem::line::prefetch_read_all;
use latchless_core::mem::touch::{Trace, Work};

/// 4-byte words of a page.
pub(super) const PAGE_WORDS: usize = 4096;
/// 4-byte words of a cache line.
pub(super) const LINE_WORDS: usize = 16;

/// A page.
#[derive(Clone, Copy)]
#[repr(align(16384))]
pub(super) struct DiskPage(pub(super) [u32; PAGE_WORDS]);

/// Pages, and what listens when they are read.
pub(super) struct DiskPages<T> {
    pages: Vec<DiskPage>,
    trace: PhantomData<T>,
}

impl<T: Trace> DiskPages<T> {
    pub(super) fn new() -> Self {
        Self { pages: Vec::new(), trace: PhantomData }
    }

    /// Adds a page of zeros.
    pub(super) fn add(&mut self) -> usize {
        self.pages.push(DiskPage([0; PAGE_WORDS]));
        self.pages.len() - 1
    }

    /// Returns the number of pages.
    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    pub(super) fn words(&self, page: usize) -> &[u32; PAGE_WORDS] {
        &self.pages[page].0
    }

    pub(super) fn words_mut(&mut self, page: usize) -> &mut [u32; PAGE_WORDS] {
        &mut self.pages[page].0
    }
}

/// Prefetches these words whole.
pub(super) fn prefetch<T: Trace>(words: &[u32]) {
    let at = words.as_ptr().cast();
    T::prefetch(at, size_of_val(words));
    prefetch_read_all(at, size_of_val(words));
}

/// Reads a word.
pub(super) fn read<T: Trace>(word: &u32) -> u32 {
    T::read(core::ptr::from_ref(word).cast(), size_of::<u32>());
    *word
}

/// Returns the last of that many places, in ascending order, that isn't too far, or the first, by binary
/// search.
pub(super) fn last_that<T: Trace>(len: usize, near: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        T::work(Work::Probe);
        (low, high) = if near(middle) { (middle, high) } else { (low, middle) };
    }
    low
}

/// The place of the last of these ascending keys that is at most `key`, or of the first.
pub(super) fn last_up_to<T: Trace>(keys: &[u32], key: u32) -> usize {
    last_that::<T>(keys.len(), |at| read::<T>(&keys[at]) <= key)
}

/// The place number `at` of sixteen-bit numbers that are packed two a word.
pub(super) fn read_half<T: Trace>(words: &[u32], at: usize) -> usize {
    (read::<T>(&words[at / 2]) >> (16 * (at % 2)) & 0xFFFF) as usize
}

/// Sets a place that is zero.
pub(super) fn set_half(words: &mut [u32], at: usize, half: usize) {
    words[at / 2] |= (half as u32) << (16 * (at % 2));
}
