//! A static array in the order of a breadth-first walk over its search tree (Eytzinger layout): binary
//! search whose upper steps share cache lines. The sixteen descendants four levels below a node share one
//! line, which is prefetched.

use super::contestant::{Contestant, chain};
use std::hint::select_unpredictable;

/// Keys in breadth-first order, from place 1 on, and their ranks.
pub(super) struct Eytzinger {
    keys: Vec<u32>,
    ranks: Vec<u32>,
    len: usize,
}

impl Eytzinger {
    pub(super) fn new(sorted: &[u32]) -> Self {
        let mut built =
            Self { keys: vec![0; sorted.len() + 1], ranks: vec![0; sorted.len() + 1], len: sorted.len() };
        let mut next = 0;
        built.fill(sorted, &mut next, 1);
        built
    }

    fn fill(&mut self, sorted: &[u32], next: &mut usize, at: usize) {
        if at <= self.len {
            self.fill(sorted, next, 2 * at);
            (self.keys[at], self.ranks[at]) = (sorted[*next], *next as u32);
            *next += 1;
            self.fill(sorted, next, 2 * at + 1);
        }
    }

    /// The place of the smallest key that doesn't go before; 0 if all do.
    #[inline(always)]
    fn first(&self, goes_before: impl Fn(u32) -> bool) -> usize {
        let mut at = 1;
        while at <= self.len {
            latchless_core::mem::line::prefetch_read(self.keys.as_ptr().wrapping_add(16 * at).cast());
            at = select_unpredictable(goes_before(self.keys[at]), 2 * at + 1, 2 * at);
        }
        // Up again over all turns to the right, and over the last one to the left.
        at >> (at.trailing_ones() + 1)
    }

    #[inline(always)]
    fn rank(&self, at: usize) -> usize {
        if at == 0 { self.len } else { self.ranks[at] as usize }
    }
}

impl Contestant for Eytzinger {
    fn lookups(&self, keys: &[u32]) -> u64 {
        let is_there = |key: u32| {
            let at = self.first(|other| other < key);
            at > 0 && self.keys[at] == key
        };
        keys.iter().map(|&key| u64::from(is_there(key))).sum()
    }

    fn chained(&self, keys: &[u32]) -> u64 {
        chain(keys, |key| {
            let at = self.first(|other| other < key);
            (at > 0 && self.keys[at] == key).then_some(at as u32)
        })
    }

    fn ranges(&self, ranges: &[(u32, u32)]) -> u64 {
        let mut found = 0;
        for &(low, high) in ranges {
            let end = self.rank(self.first(|key| key <= high));
            found += end - self.rank(self.first(|key| key < low));
        }
        found as u64
    }

    fn bytes(&self) -> Option<usize> {
        Some(size_of_val(&self.keys[..]) + size_of_val(&self.ranks[..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_key_and_counts_every_range() {
        for len in [0u32, 1, 2, 3, 7, 8, 100] {
            let sorted: Vec<u32> = (0..len).map(|i| i * 3 + 1).collect();
            let tree = Eytzinger::new(&sorted);
            for key in 0..3 * len + 4 {
                assert_eq!(tree.lookups(&[key]), u64::from(sorted.contains(&key)), "{key} of {len}");
                let within = sorted.iter().filter(|&&other| (key..=key + 10).contains(&other)).count();
                assert_eq!(tree.ranges(&[(key, key + 10)]), within as u64, "{key} of {len}");
            }
        }
    }
}
