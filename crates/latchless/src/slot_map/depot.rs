//! Bookkeeping for a slot map: free slots and open pages.
//!
//! Slots lie on pages. A page is *open* when some of its slots are in use or vacant; it is *whole* when all
//! of these are vacant. A whole page can be closed, and its memory returned to the system. When the page is
//! opened again, its slots begin with a generation that none of them has had: the page's entry here outlives
//! its memory.
//!
//! The lowest vacant slots are handed out first and the highest whole pages are closed first. So where
//! values come and go, they gather on the low pages, and the other pages become whole.
//!
//! This file accesses no slot, and nothing in it is shared between threads: a mutex guards it.

use crate::slot_map::life::SlotState;
use crate::slot_map::numbers::Numbers;
use core::ops::Range;
use latchless_core::base::error::{Error, Result};
use latchless_core::mem::budget::Budget;
use std::sync::Arc;

/// The layout of slots on pages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// The length of a slot in bytes.
    pub(super) slot_bytes: usize,
    /// The number of slots on a page.
    pub(super) page_slots: u32,
    /// The bits of a slot's number that are its place on its page.
    pub(super) place_bits: u32,
    /// Vacant slots that are kept in addition to half of the open ones.
    pub(super) spare_slots: usize,
}

impl Shape {
    /// Returns the bytes that the depot takes per page that was ever open: its entry, and two bits per slot.
    fn book_bytes(self) -> usize {
        2 * size_of::<Page>() + (self.page_slots as usize).div_ceil(4)
    }
}

/// A slot that has become vacant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vacated {
    pub(super) slot: u32,
    /// The slot's next generation; 0 if the depot knows it already.
    pub(super) generation: u32,
}

/// Slots that were opened.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) slots: Range<u32>,
    /// Their first generation.
    pub(super) generation: u32,
}

#[derive(Debug, Default)]
struct Page {
    /// The number of open slots, which are the first ones of the page.
    open: u32,
    /// The number of these that are vacant.
    vacant: u32,
    /// The number of these whose generations are used up.
    worn: u32,
    /// No slot of the page has had this generation or a later one.
    generation: u32,
}

#[derive(Debug)]
pub(super) struct Depot {
    shape: Shape,
    /// The budget of open slots and of this bookkeeping.
    budget: Arc<Budget>,
    pages: Vec<Page>,
    vacant: Numbers,
    vacant_slots: usize,
    open_slots: usize,
    /// The page that is partly open.
    partly_open: Option<u32>,
    whole: Numbers,
    /// Pages that were closed and can be opened again.
    closed: Numbers,
    /// Bytes of slots on closed pages whose memory is still held.
    closed_bytes: usize,
}

impl Depot {
    pub(super) fn new(shape: Shape, budget: Arc<Budget>) -> Self {
        Self {
            shape,
            budget,
            pages: Vec::new(),
            vacant: Numbers::default(),
            vacant_slots: 0,
            open_slots: 0,
            partly_open: None,
            whole: Numbers::default(),
            closed: Numbers::default(),
            closed_bytes: 0,
        }
    }

    /// Returns the bytes of the open slots.
    pub(super) fn bytes(&self) -> usize {
        self.open_slots * self.shape.slot_bytes
    }

    /// Returns the bytes of the open slots that aren't vacant.
    pub(super) fn live_bytes(&self) -> usize {
        (self.open_slots - self.vacant_slots) * self.shape.slot_bytes
    }

    /// Returns the number of open slots of a page; `None` past the last page.
    pub(super) fn open_of(&self, page: u32) -> Option<u32> {
        self.pages.get(page as usize).map(|page| page.open)
    }

    fn page_of(&self, slot: u32) -> u32 {
        slot >> self.shape.place_bits
    }

    /// Returns whether more slots are vacant than the spare ones.
    pub(super) fn is_ample(&self) -> bool {
        self.vacant_slots > self.shape.spare_slots
    }

    /// Removes and returns the lowest vacant slots, at most this many, the lowest one last.
    pub(super) fn take_lowest(&mut self, most: usize) -> Vec<Vacated> {
        let mut taken = Vec::with_capacity(most);
        let Self { vacant, pages, whole, shape, .. } = self;
        vacant.take_first(most, |slot| {
            let number = slot >> shape.place_bits;
            let page = &mut pages[number as usize];
            if page.vacant + page.worn == page.open {
                whole.remove(number);
            }
            page.vacant -= 1;
            taken.push(Vacated { slot, generation: 0 });
        });
        self.vacant_slots -= taken.len();
        taken.reverse();
        taken
    }

    /// Makes a slot that was handed out vacant again.
    #[inline]
    pub(super) fn vacate(&mut self, Vacated { slot, generation }: Vacated) {
        let number = self.page_of(slot);
        let page = &mut self.pages[number as usize];
        debug_assert!(page.vacant + page.worn < page.open, "a slot is vacated once");
        page.generation = page.generation.max(generation);
        if generation > SlotState::LAST_GENERATION {
            page.worn += 1;
        } else {
            page.vacant += 1;
            self.vacant_slots += 1;
            self.vacant.insert(slot);
        }
        if page.vacant + page.worn == page.open {
            self.whole.insert(number);
        }
    }

    /// Returns the page on which slots can be opened next: the one that is partly open, else the lowest
    /// closed one, else a new one.
    ///
    /// # Errors
    /// [`Error::ReferencesExhausted`].
    pub(super) fn next_page(&self) -> Result<u32> {
        let new = self.pages.len() as u64;
        match self.partly_open.or_else(|| self.closed.first()) {
            Some(page) => Ok(page),
            None if new < (1 << 32) >> self.shape.place_bits => Ok(new as u32),
            None => Err(Error::ReferencesExhausted { limit: 1 << 32 }),
        }
    }

    /// Opens slots on the [next page](Self::next_page), at most this many and at least one.
    ///
    /// # Errors
    /// [`Error::MemoryLimit`]; nothing has changed then.
    pub(super) fn open(&mut self, number: u32, most: usize) -> Result<Opened> {
        let (shape, page) = (self.shape, self.pages.get(number as usize));
        let books = if page.is_some() { 0 } else { shape.book_bytes() };
        let mut opened = most.min((shape.page_slots - page.map_or(0, |page| page.open)) as usize);
        loop {
            match self.budget.take(opened * shape.slot_bytes + books) {
                Err(Error::MemoryLimit { requested_bytes, limit_bytes }) if opened > 1 => {
                    // What is left may be enough for some.
                    let excess = (requested_bytes - limit_bytes).div_ceil(shape.slot_bytes);
                    opened = opened.saturating_sub(excess).max(1);
                }
                taken => break taken?,
            }
        }
        if number as usize == self.pages.len() {
            self.pages.push(Page::default());
        }
        self.closed.remove(number);
        let page = &mut self.pages[number as usize];
        let first = (number << self.shape.place_bits) + page.open;
        page.open += opened as u32;
        self.open_slots += opened;
        self.partly_open = (page.open < self.shape.page_slots).then_some(number);
        self.whole.remove(number);
        Ok(Opened { slots: first..first + opened as u32, generation: page.generation })
    }

    /// Closes a page if there are more vacant slots than are kept for future values: half of the open ones
    /// and the spare ones. Returns the page; the caller returns its memory before it opens any.
    pub(super) fn close_surplus(&mut self) -> Option<u32> {
        let kept = self.open_slots / 2 + self.shape.spare_slots;
        if self.vacant_slots > kept { self.close_one() } else { None }
    }

    /// Records that the memory of all closed pages has been returned to the system.
    pub(super) fn count_given_back(&mut self) {
        self.budget.give_back(core::mem::take(&mut self.closed_bytes));
    }

    /// Closes the highest whole page, and returns it.
    pub(super) fn close_one(&mut self) -> Option<u32> {
        let number = self.whole.last()?;
        self.whole.remove(number);
        let page = &mut self.pages[number as usize];
        let first = number << self.shape.place_bits;
        (first..first + page.open).for_each(|slot| self.vacant.remove(slot));
        self.vacant_slots -= page.vacant as usize;
        self.open_slots -= page.open as usize;
        self.closed_bytes += page.open as usize * self.shape.slot_bytes;
        // Each generation below this one has been used by one of its slots. If all are used up, the page is
        // never opened again.
        let generation = page.generation;
        *page = Page { generation, ..Page::default() };
        if generation <= SlotState::LAST_GENERATION {
            self.closed.insert(number);
        }
        self.partly_open = self.partly_open.filter(|&other| other != number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depot(limit_slots: Option<usize>) -> Depot {
        let shape = Shape { slot_bytes: 10, page_slots: 6, place_bits: 3, spare_slots: 2 };
        let limit_bytes = limit_slots.map(|slots| slots * 10 + 2 * shape.book_bytes());
        Depot::new(shape, Arc::new(Budget::new(limit_bytes)))
    }

    fn open(depot: &mut Depot, most: usize) -> Result<Opened> {
        depot.next_page().and_then(|page| depot.open(page, most))
    }

    fn lowest(depot: &mut Depot) -> Vec<u32> {
        depot.take_lowest(9).into_iter().map(|vacated| vacated.slot).collect()
    }

    fn vacate(depot: &mut Depot, slots: impl IntoIterator<Item = u32>, generation: u32) {
        slots.into_iter().for_each(|slot| depot.vacate(Vacated { slot, generation }));
    }

    #[test]
    fn pages_are_opened_bit_by_bit_and_closed_from_the_top() {
        let mut depot = depot(None);
        for expected in [0..4, 4..6, 8..12, 12..14] {
            assert_eq!(open(&mut depot, 4).unwrap().slots, expected);
        }
        assert_eq!((depot.bytes(), depot.live_bytes()), (120, 120));
        vacate(&mut depot, 0..6, 5);
        assert_eq!(depot.close_surplus(), None, "half of them and two more are kept");
        vacate(&mut depot, 8..11, 3);
        assert_eq!(depot.close_surplus(), Some(0), "the only one that is whole");
        assert_eq!((depot.bytes(), depot.live_bytes()), (60, 30));
        let opened = open(&mut depot, 9).unwrap();
        assert_eq!((opened.slots, opened.generation), (0..6, 5), "no generation comes twice");
        assert_eq!(lowest(&mut depot), [10, 9, 8]);
        assert_eq!(open(&mut depot, 1).unwrap().slots, 16..17);
    }

    #[test]
    fn a_page_whose_slots_are_worn_is_closed_for_good() {
        let mut depot = depot(None);
        assert_eq!(open(&mut depot, 6).unwrap().slots, 0..6);
        vacate(&mut depot, 0..5, 1);
        vacate(&mut depot, 5..6, SlotState::LAST_GENERATION + 1);
        assert_eq!(lowest(&mut depot).len(), 5, "a worn slot isn't vacant");
        vacate(&mut depot, 0..5, 2);
        assert_eq!((depot.close_one(), depot.close_one()), (Some(0), None));
        assert_eq!((depot.bytes(), open(&mut depot, 1).unwrap().slots), (0, 8..9));
    }

    #[test]
    fn the_limit_is_kept_to_the_slot() {
        let mut depot = depot(Some(8));
        assert_eq!(open(&mut depot, 6).unwrap().slots, 0..6);
        assert_eq!(open(&mut depot, 6).unwrap().slots, 8..10);
        let books = 2 * depot.shape.book_bytes();
        let refused = Error::MemoryLimit { requested_bytes: 90 + books, limit_bytes: 80 + books };
        assert_eq!(open(&mut depot, 6).unwrap_err(), refused);
        vacate(&mut depot, 0..6, 1);
        assert_eq!(depot.close_one(), Some(0));
        assert_eq!(open(&mut depot, 6).unwrap_err(), refused, "its memory is still held");
        depot.count_given_back();
        assert_eq!(open(&mut depot, 9).unwrap().slots, 10..14, "a page that is open in part comes first");
        assert_eq!(open(&mut depot, 9).unwrap().slots, 0..2);
        assert_eq!(open(&mut depot, 6).unwrap_err(), refused);
    }
}
