//! Searching a page: at once, or a cache line at a time, so that other walks can proceed while a line is
//! loaded.

use super::{HEADER_WORDS, Page};
use crate::common::words::words_below;
use core::hint::select_unpredictable;
use latchless_core::mem::touch::{Trace, Work};

/// A binary search in progress: its result is one of `base..=base + left`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Probes {
    base: u16,
    left: u16,
}

impl Probes {
    /// Starts a search through that many keys.
    #[inline(always)]
    pub fn through(keys: usize) -> Self {
        Self { base: 0, left: keys as u16 }
    }

    /// Returns whether the search is over.
    #[inline(always)]
    pub fn is_over(self) -> bool {
        self.left == 0
    }

    /// Returns its current position: at the end, the number of smaller keys.
    #[inline(always)]
    pub fn place(self) -> usize {
        usize::from(self.base)
    }

    /// Returns the number of remaining keys.
    #[inline(always)]
    pub fn left(self) -> usize {
        usize::from(self.left)
    }

    /// Returns the place of the next key that it reads.
    #[inline(always)]
    pub fn middle(self) -> usize {
        usize::from(self.base) + usize::from(self.left / 2)
    }

    /// Returns the two continuations: if the next key isn't smaller than the searched one, and if it is.
    /// For an even number the upper half is one short: it includes the middle again, as in
    /// [`words_below`].
    #[inline(always)]
    pub fn halves(self) -> [Self; 2] {
        let half = self.left / 2;
        [self.base, self.base + (self.left - half)].map(|base| Self { base, left: half })
    }
}

impl<T: Trace> Page<'_, T> {
    /// The first of `size` places whose key is at least `key`.
    #[inline(always)]
    pub fn lower(self, size: usize, key: u64) -> usize {
        words_below::<u64, T>(&self.words[HEADER_WORDS..HEADER_WORDS + size], key)
    }

    /// The place of the child that `key` belongs to, of `size` children.
    #[inline(always)]
    pub fn child_place(self, size: usize, key: u64) -> usize {
        self.lower(size.saturating_sub(1), key)
    }

    /// Reads one key; see [`Page::lower`].
    #[inline(always)]
    pub fn probe(self, at: Probes, key: u64) -> Probes {
        T::work(Work::Probe);
        let ([left, right], middle) = (at.halves(), self.key(at.middle()));
        Probes { base: select_unpredictable(middle < key, right.base, left.base), left: left.left }
    }
}
