//! Searching a page: at once, or a cache line at a time, so that other walks can proceed while a line is
//! loaded.

use super::{Form, Page};
use crate::common::words::words_below;
use core::cmp::Ordering;
use core::hint::{black_box, select_unpredictable};
use latchless_core::mem::touch::Work;

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

impl Probes {
    /// Continues after the next key was compared with the searched one: before it, after it, or there. The
    /// black boxes keep the compiler from turning the branches into conditional moves.
    #[inline(always)]
    fn three_way(self, middle: Ordering) -> Self {
        let half = self.left / 2;
        match middle {
            Ordering::Greater => Self { base: black_box(self.base), left: half },
            Ordering::Less => Self { base: black_box(self.base + half + 1), left: self.left - half - 1 },
            Ordering::Equal => Self { base: self.base + half, left: 0 },
        }
    }
}

impl<T: Form> Page<'_, T> {
    /// The first of `size` places whose key is at least `key`.
    #[inline(always)]
    pub fn lower(self, size: usize, key: u64) -> usize {
        if T::THREE_WAY {
            let mut probes = Probes::through(size);
            while !probes.is_over() {
                probes = self.probe(probes, key);
            }
            return probes.place();
        }
        let first = self.key_at(0);
        words_below::<u64, T>(&self.words[first..first + size], key)
    }

    /// The place of the child that `key` belongs to, of `size` children.
    #[inline(always)]
    pub fn child_place(self, size: usize, key: u64) -> usize {
        self.lower(size.saturating_sub(1), key)
    }

    /// Reads one key; see [`Page::lower`].
    #[inline(always)]
    pub fn probe(self, at: Probes, key: u64) -> Probes {
        let middle = self.key(at.middle());
        T::work(Work::Probe);
        if T::THREE_WAY {
            return at.three_way(middle.cmp(&key));
        }
        let [left, right] = at.halves();
        Probes { base: select_unpredictable(middle < key, right.base, left.base), left: left.left }
    }
}
