//! Which page of the modelled machine stands for which page of this one.
//!
//! Pages get their numbers in the order in which they are first touched. So neither the address
//! space's random layout nor the allocator can change a result: the same touches give the same
//! cycles in every process on every machine.

use super::parameters::PAGE_BYTES;
use latchless::mem::line::LINE_BYTES;
use std::collections::HashMap;

/// Lines in a page.
pub const PAGE_LINES: usize = PAGE_BYTES / LINE_BYTES;
const PAGE_SHIFT: u32 = PAGE_BYTES.trailing_zeros();
/// Translations that are found without the hash map; direct-mapped by page number.
const QUICK_ENTRIES: usize = 1 << 16;
const UNUSED: (u64, u64) = (u64::MAX, 0);

/// A page table that grows by itself.
#[derive(Debug)]
pub struct Pages {
    by_first_touch: HashMap<u64, u64>,
    quick: Vec<(u64, u64)>,
}

impl Pages {
    /// No page yet.
    pub fn new() -> Self {
        Self { by_first_touch: HashMap::new(), quick: vec![UNUSED; QUICK_ENTRIES] }
    }

    /// The modelled address of `address`. O(1).
    pub fn translate(&mut self, address: usize) -> u64 {
        let page = (address >> PAGE_SHIFT) as u64;
        let offset = (address & (PAGE_BYTES - 1)) as u64;
        let quick = &mut self.quick[page as usize % QUICK_ENTRIES];
        if quick.0 != page {
            let next = self.by_first_touch.len() as u64;
            *quick = (page, *self.by_first_touch.entry(page).or_insert(next));
        }
        quick.1 << PAGE_SHIFT | offset
    }

    /// How many pages have been touched.
    pub fn len(&self) -> usize {
        self.by_first_touch.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_numbered_by_first_touch() {
        let mut pages = Pages::new();
        assert_eq!(pages.translate(0x7fff_1234_5678), 0x678);
        assert_eq!(pages.translate(0x5555_0000_0010), 0x1010);
        assert_eq!(pages.translate(0x7fff_1234_5000), 0);
        assert_eq!(pages.len(), 2);
    }

    #[test]
    fn pages_that_share_a_quick_place_keep_their_numbers() {
        let mut pages = Pages::new();
        let (one, other) = (0x1000, 0x1000 + QUICK_ENTRIES * PAGE_BYTES);
        for _ in 0..2 {
            assert_eq!(pages.translate(one), 0);
            assert_eq!(pages.translate(other), 0x1000);
        }
    }
}
