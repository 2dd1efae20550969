//! The mapping of this machine's lines to lines of the modelled machine.
//!
//! Pages, or single lines, get their numbers in the order in which they are first touched. So neither the
//! address space's random layout nor the allocator can change a result: the same touches give the same
//! cycles in every process on every machine.

use super::parameters::{Granule, LINES_OF_PAGE, PAGE_BYTES};
use latchless_core::mem::line::LINE_BYTES;
use std::collections::HashMap;

const PAGE_LINES: usize = LINES_OF_PAGE as usize;
const PAGE_SHIFT: u32 = PAGE_BYTES.trailing_zeros();
const LINE_SHIFT: u32 = LINE_BYTES.trailing_zeros();
/// Translations that are found without the hash map; direct-mapped by page number.
const QUICK_ENTRIES: usize = 1 << 16;
const UNUSED: (u64, u64) = (u64::MAX, 0);
/// A line that has no number yet.
const UNTOUCHED: u32 = u32::MAX;

/// The numbers of a line and of the page that it lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// The line's.
    pub line: u64,
    /// The page's.
    pub page: u64,
}

/// A page table that grows by itself.
#[derive(Debug)]
pub struct Pages {
    by_first_touch: HashMap<u64, u64>,
    quick: Vec<(u64, u64)>,
    /// By page, the numbers of its lines, if each has a separate one.
    lines: Vec<[u32; PAGE_LINES]>,
    granule: Granule,
    /// Lines that have a separate number.
    numbered: u32,
}

impl Pages {
    /// No page yet.
    pub fn new(granule: Granule) -> Self {
        let quick = vec![UNUSED; QUICK_ENTRIES];
        Self { by_first_touch: HashMap::new(), quick, lines: Vec::new(), granule, numbered: 0 }
    }

    /// The place of `address` in the modelled machine. O(1).
    pub fn translate(&mut self, address: usize) -> Numbers {
        let page = self.page(address);
        let within = address >> LINE_SHIFT & (PAGE_LINES - 1);
        let line = match self.granule {
            Granule::Page => page * PAGE_LINES as u64 + within as u64,
            Granule::Line => self.line(page, within),
        };
        Numbers { line, page }
    }

    /// Returns the number of touched pages.
    pub fn len(&self) -> usize {
        self.by_first_touch.len()
    }

    fn page(&mut self, address: usize) -> u64 {
        let page = (address >> PAGE_SHIFT) as u64;
        let quick = &mut self.quick[page as usize % QUICK_ENTRIES];
        if quick.0 != page {
            let next = self.by_first_touch.len() as u64;
            *quick = (page, *self.by_first_touch.entry(page).or_insert(next));
        }
        quick.1
    }

    fn line(&mut self, page: u64, within: usize) -> u64 {
        let page = page as usize;
        if page >= self.lines.len() {
            self.lines.resize(page + 1, [UNTOUCHED; PAGE_LINES]);
        }
        let number = &mut self.lines[page][within];
        if *number == UNTOUCHED {
            *number = self.numbered;
            self.numbered += 1;
        }
        u64::from(*number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_of(pages: &mut Pages, address: usize) -> u64 {
        pages.translate(address).line
    }

    #[test]
    fn pages_are_numbered_by_first_touch() {
        let mut pages = Pages::new(Granule::Page);
        assert_eq!(line_of(&mut pages, 0x7fff_1234_5678), 0x678 / 64);
        assert_eq!(line_of(&mut pages, 0x5555_0000_0040), 64 + 1);
        assert_eq!(pages.translate(0x7fff_1234_5000), Numbers { line: 0, page: 0 });
        assert_eq!(pages.len(), 2);
    }

    #[test]
    fn lines_are_numbered_by_first_touch_wherever_they_lie() {
        let order = |base: usize, step: usize| {
            let mut pages = Pages::new(Granule::Line);
            [5, 3, 5, 900, 3].map(|nth| line_of(&mut pages, base + nth * step))
        };
        assert_eq!(order(0x7fff_1234_5000, 64), [0, 1, 0, 2, 1]);
        assert_eq!(order(0x5555_0000_0fc0, 4096), [0, 1, 0, 2, 1]);
    }

    #[test]
    fn lines_with_numbers_of_their_own_still_lie_in_pages() {
        let mut pages = Pages::new(Granule::Line);
        pages.translate(0x1000);
        assert_eq!(pages.translate(0x2fff), Numbers { line: 1, page: 1 });
        assert_eq!(pages.translate(0x1fff), Numbers { line: 2, page: 0 });
    }

    #[test]
    fn pages_that_share_a_quick_place_keep_their_numbers() {
        let mut pages = Pages::new(Granule::Page);
        let (one, other) = (0x1000, 0x1000 + QUICK_ENTRIES * PAGE_BYTES);
        for _ in 0..2 {
            assert_eq!(line_of(&mut pages, one), 0);
            assert_eq!(line_of(&mut pages, other), 64);
        }
    }
}
