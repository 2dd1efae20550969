//! Slot storage: addressing, the free list, and returning unused pages to the system.
//!
//! Slots lie on pages, pages in segments of 1, 2, 4, … pages. A segment stays where it is while the map
//! exists, so a slot's address never changes. But the memory of a page whose slots are all vacant is
//! returned to the system whenever more than half of the slots are vacant. The words of such a page read as
//! zeros, and a slot of zeros is vacant: a stale handle, or one that was never handed out, finds nothing
//! there.
//!
//! # Thread safety
//! 1. A slot's number is in one place: in use with one thread, in one stripe's list, or in the depot.
//! 2. A page is closed and returned, and later opened again, while the depot is locked, and only if all of
//!    its slots are in the depot. So no value lives on it, none is being written, and no reference to any
//!    exists: a slot becomes vacant after the last pin that could see its value.
//! 3. Other threads access a closed page only by loads of its slots' states, and by compare-and-swaps that
//!    expect a live or retired slot, and so fail.
//! 4. Stripes and depot are locked one at a time, so waits can't form a cycle. None is locked while code of
//!    the value's type runs.

use super::depot::{Depot, Opened, Shape, Vacated};
use crate::slot_map::life::SlotState;
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use latchless_core::base::error::{Error, Result};
use latchless_core::mem::budget::Budget;
use latchless_core::mem::segment::Segment;
use latchless_core::sync::{self, Mutex, Tally};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard, OnceLock};

/// Pages are multiples of this: at least the system's page size. Tests and Miri have smaller pages, so more
/// of them.
const PAGE_BYTES: usize = match (cfg!(miri), cfg!(test)) {
    (true, _) => 512,
    (false, true) => 4 << 10,
    (false, false) => 64 << 10,
};
/// Bytes of vacant slots that are kept in addition to half of the open ones. So an empty map keeps twice as
/// much.
const SPARE_BYTES: usize = 8 * PAGE_BYTES;
/// Segments until page numbers of 32 bits are used up.
const SEGMENTS: usize = 32;
/// The number of lists of vacant slots: enough that threads rarely contend for one.
const STRIPES: usize = 8;
/// The maximum number of slots that move between a stripe and the depot at once.
const TOGETHER_MAX: usize = 32;
/// The maximum number of slots in each list of a stripe.
const LIST_SLOTS_MAX: usize = 512;

/// A place for one value at a time.
pub(super) struct Slot<T> {
    pub(super) life: SlotState,
    pub(super) value: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Slot<T> {
    /// Moves the value out and makes the slot vacant.
    ///
    /// # Safety
    /// The caller has taken the slot in this generation, and no reference to its value exists.
    pub(super) unsafe fn empty(&self, generation: u32) -> T {
        // SAFETY: a slot can be taken only after it was live, so a value was written; the compare-and-swap
        // that took it acquired that. It is read out once, because one caller takes a slot in a generation,
        // and that one ensures that there is no reference.
        let value = unsafe { (*self.value.get()).assume_init_read() };
        self.life.end(generation);
        value
    }

    /// Drops the value where it is and makes the slot vacant. Returns the drop's panic, if it panics.
    ///
    /// # Safety
    /// See [`Slot::empty`].
    pub(super) unsafe fn drop_value(&self, generation: u32) -> Option<Box<dyn Any + Send>> {
        // SAFETY: as in `empty`: there is a value, this caller alone drops it, and it is never read again,
        // not even if its drop panics.
        let drop = || unsafe { (*self.value.get()).assume_init_drop() };
        let panic = catch_unwind(AssertUnwindSafe(drop)).err();
        self.life.end(generation);
        panic
    }
}

/// Vacant slots for some of the threads.
#[derive(Debug, Default)]
struct Lists {
    /// The next ones to hand out, the last one first.
    out: Vec<Vacated>,
    /// Those that were returned.
    back: Vec<Vacated>,
}

impl Lists {
    /// Moves everything to `recalled`.
    fn recall_all(&mut self, recalled: &mut Vec<Vacated>) {
        recalled.append(&mut self.back);
        recalled.append(&mut self.out);
    }
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe(Mutex<Lists>);

/// Locks; a lock is never poisoned, because no code of the caller runs while one is held.
fn hold<L>(lock: &Mutex<L>) -> MutexGuard<'_, L> {
    lock.lock()
}

/// The state that a map and its deferred drops share.
pub(super) struct Slots<T> {
    segments: [OnceLock<Segment>; SEGMENTS],
    stripes: [Stripe; STRIPES],
    depot: Mutex<Depot>,
    /// 1 if the depot has more vacant slots than the spare ones, so that placing values on the lowest ones
    /// is worthwhile; else 0.
    ample: Tally,
    /// The number of the next stripe to be recalled.
    turn: Tally,
    values: PhantomData<T>,
    /// After the memory that it counts, so that it is dropped later.
    budget: Arc<Budget>,
}

// SAFETY: a slot's value is accessed through `&T` from several threads at once (T: Sync), and moved in and
// out by the thread that made the slot's transition for it (T: Send), in the order that the module
// documentation gives, enforced by `SlotState`'s acquiring and releasing steps and by the epoch. A segment's
// memory is plain memory, bound to no thread, and freed with the last `Slots`.
unsafe impl<T: Send + Sync> Sync for Slots<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Send for Slots<T> {}

/// Returns the segment of a page and the place in it.
#[inline(always)]
fn place_of(page: usize) -> (usize, usize) {
    let segment = (page + 1).ilog2() as usize;
    (segment, page + 1 - (1 << segment))
}

impl<T> Slots<T> {
    const SLOT_BYTES: usize = size_of::<Slot<T>>();
    /// The length of a page in bytes: at least one slot.
    const PAGE_BYTES: usize = Self::SLOT_BYTES.next_multiple_of(PAGE_BYTES);
    const PAGE_SLOTS: usize = Self::PAGE_BYTES / Self::SLOT_BYTES;
    /// The bits of a slot's number that are its place on its page.
    const PLACE_BITS: u32 = Self::PAGE_SLOTS.next_power_of_two().trailing_zeros();
    /// Lists contain no more slots than a page, however large slots are.
    const LIST_SLOTS: usize =
        if Self::PAGE_SLOTS < LIST_SLOTS_MAX { Self::PAGE_SLOTS } else { LIST_SLOTS_MAX };
    const TOGETHER: usize = if Self::PAGE_SLOTS < TOGETHER_MAX { Self::PAGE_SLOTS } else { TOGETHER_MAX };

    pub(super) fn new(budget: Arc<Budget>) -> Self {
        let shape = Shape {
            slot_bytes: Self::SLOT_BYTES,
            page_slots: Self::PAGE_SLOTS as u32,
            place_bits: Self::PLACE_BITS,
            spare_slots: SPARE_BYTES.div_ceil(Self::SLOT_BYTES),
        };
        Self {
            segments: [const { OnceLock::new() }; SEGMENTS],
            stripes: Default::default(),
            depot: Mutex::new(Depot::new(shape, Arc::clone(&budget))),
            ample: Tally::new(0),
            turn: Tally::new(0),
            values: PhantomData,
            budget,
        }
    }

    /// Returns the slot of this number, if there is memory for it. Any number may be given.
    #[inline(always)]
    pub(super) fn slot(&self, number: u32) -> Option<&Slot<T>> {
        let (page, place) = (number >> Self::PLACE_BITS, number as usize & ((1 << Self::PLACE_BITS) - 1));
        let (segment, at) = place_of(page as usize);
        if place >= Self::PAGE_SLOTS {
            return None;
        }
        let start = self.segments.get(segment)?.get()?.start();
        // SAFETY: the segment has 2^segment pages, each with room for that many slots, and is aligned to
        // slots, as pages are. Its memory exists as long as `self`, and is a slot in any state: the slot's
        // state is an atomic for which all words are valid, zeros among them, which the system may put
        // there; the value may be uninitialized and is inside an `UnsafeCell`.
        Some(unsafe { start.add(at * Self::PAGE_BYTES + place * Self::SLOT_BYTES).cast().as_ref() })
    }

    fn own_lists(&self) -> &Mutex<Lists> {
        &self.stripes[sync::slot() % STRIPES].0
    }

    /// Returns a vacant slot, for the calling thread only.
    #[inline]
    pub(super) fn vacant(&self) -> Result<u32> {
        // Unlocks the list before the search continues.
        let found = hold(self.own_lists()).out.pop();
        found.map_or_else(|| self.refill(), |found| Ok(found.slot))
    }

    /// Gets vacant slots for the calling thread's stripe, and one for the caller, from the first of: slots
    /// that were returned to the stripe or, if there are enough, the lowest ones of all; slots that were
    /// returned to other stripes; newly opened memory; or, if that is refused, what other stripes would hand
    /// out.
    #[cold]
    #[inline(never)]
    fn refill(&self) -> Result<u32> {
        let mut recalled = Vec::new();
        {
            let mut own = hold(self.own_lists());
            if self.ample.get() == 0 {
                let Lists { out, back } = &mut *own;
                core::mem::swap(out, back);
                if let Some(found) = out.pop() {
                    return Ok(found.slot);
                }
            }
            own.recall_all(&mut recalled);
        }
        if let Some(slot) = self.restock(&mut recalled) {
            return Ok(slot);
        }
        self.stripes.iter().for_each(|stripe| recalled.append(&mut hold(&stripe.0).back));
        if let Some(slot) = self.restock(&mut recalled) {
            return Ok(slot);
        }
        let refused = match self.budget.relieved(|| self.open()) {
            Ok(()) => return self.vacant(),
            Err(refused) => refused,
        };
        self.stripes.iter().for_each(|stripe| hold(&stripe.0).recall_all(&mut recalled));
        self.restock(&mut recalled).ok_or(refused)
    }

    /// Moves the recalled slots to the depot, and gets the lowest ones.
    fn restock(&self, recalled: &mut Vec<Vacated>) -> Option<u32> {
        let mut lowest = {
            let mut depot = hold(&self.depot);
            recalled.drain(..).for_each(|slot| depot.vacate(slot));
            let lowest = depot.take_lowest(Self::TOGETHER);
            self.note_ample(&depot);
            lowest
        };
        let found = lowest.pop()?;
        hold(self.own_lists()).out.append(&mut lowest);
        Some(found.slot)
    }

    /// Records whether the depot, which is locked, has more than the spare slots.
    fn note_ample(&self, depot: &Depot) {
        match (self.ample.get(), depot.is_ample()) {
            (0, true) => _ = self.ample.add(1),
            (1, false) => self.ample.subtract(1),
            _ => {}
        }
    }

    /// Opens slots for the calling thread's stripe.
    #[expect(clippy::significant_drop_tightening, reason = "a page is opened under the depot's mutex")]
    fn open(&self) -> Result<()> {
        let Opened { slots, generation } = {
            let mut depot = hold(&self.depot);
            let page = depot.next_page()?;
            self.make_segment(place_of(page as usize).0)?;
            let opened = depot.open(page, Self::TOGETHER)?;
            // Slots that were never in use are zeros, and so of generation 0.
            if opened.generation > 0 {
                let lives = opened.slots.clone().filter_map(|number| self.slot(number));
                lives.for_each(|slot| slot.life.restart(opened.generation));
            }
            opened
        };
        debug_assert!(generation <= SlotState::LAST_GENERATION);
        debug_assert!(!slots.is_empty(), "at least one slot is opened");
        hold(self.own_lists()).out.extend(slots.rev().map(|slot| Vacated { slot, generation: 0 }));
        Ok(())
    }

    /// Allocates a segment, if it doesn't exist. The depot is locked.
    fn make_segment(&self, segment: usize) -> Result<()> {
        if self.segments[segment].get().is_none() {
            let bytes = Self::PAGE_BYTES.checked_mul(1 << segment);
            let bytes = bytes.ok_or(Error::OutOfMemory { requested_bytes: usize::MAX })?;
            // Set only here, under the mutex.
            let _ = self.segments[segment].set(Segment::new(bytes, align_of::<Slot<T>>())?);
        }
        Ok(())
    }

    /// Returns a slot that the caller has emptied in this generation.
    pub(super) fn give_back(&self, slot: u32, generation: u32) {
        let mut recalled = {
            let mut own = hold(self.own_lists());
            own.back.push(Vacated { slot, generation: generation + 1 });
            let most = if self.ample.get() == 0 { Self::LIST_SLOTS } else { Self::TOGETHER };
            if own.back.len() < most {
                return;
            }
            core::mem::take(&mut own.back)
        };
        // And those of another stripe, in rotation: its threads may be gone.
        hold(&self.stripes[self.turn.add(1) % STRIPES].0).recall_all(&mut recalled);
        self.take_back(recalled, Depot::close_surplus);
    }

    /// Moves vacant slots to the depot, and returns the memory of the pages that `close` closes then.
    fn take_back(&self, recalled: Vec<Vacated>, close: impl Fn(&mut Depot) -> Option<u32>) {
        let mut depot = hold(&self.depot);
        recalled.into_iter().for_each(|slot| depot.vacate(slot));
        while Segment::GIVES_BACK
            && let Some(page) = close(&mut depot)
        {
            self.give_back_page(page);
        }
        depot.count_given_back();
        self.note_ample(&depot);
    }

    /// Returns the memory of all pages without values to the system.
    pub(super) fn give_back_all(&self) {
        let mut recalled = Vec::new();
        self.stripes.iter().for_each(|stripe| hold(&stripe.0).recall_all(&mut recalled));
        self.take_back(recalled, Depot::close_one);
    }

    /// Returns the memory of a page that was just closed. The depot has been locked since then.
    fn give_back_page(&self, page: u32) {
        let (segment, at) = place_of(page as usize);
        let Some(segment) = self.segments[segment].get() else { return };
        if !Segment::ZEROES {
            // So each of them is zero, whether the system keeps the page or not.
            let slots = (0..Self::PAGE_SLOTS as u32).map(|place| (page << Self::PLACE_BITS) + place);
            slots.filter_map(|number| self.slot(number)).for_each(|slot| slot.life.restart(0));
        }
        // SAFETY: the page lies in its segment, which has 2^segment of them. All of its slots are vacant and
        // in the depot, which is locked, so no thread is about to write a value, and no reference to one
        // exists: see rule 2 of the module documentation. Other threads only load states, and a slot of
        // zeros is a vacant one for them.
        unsafe { segment.give_back(at * Self::PAGE_BYTES, Self::PAGE_BYTES) };
    }

    /// Returns the numbers of the open slots of a page; `None` past the last page.
    pub(super) fn open_of(&self, page: u32) -> Option<core::ops::Range<u32>> {
        let open = hold(&self.depot).open_of(page)?;
        let first = page << Self::PLACE_BITS;
        Some(first..first + open)
    }

    /// Returns the bytes of the open slots, and of those of them that are in use or about to be.
    pub(super) fn bytes(&self) -> (usize, usize) {
        let depot = hold(&self.depot);
        (depot.bytes(), depot.live_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_found_where_they_were_put() {
        let mut expected = Vec::new();
        for segment in 0..6 {
            expected.extend((0..1 << segment).map(|at| (segment, at)));
        }
        let places: Vec<_> = (0..expected.len()).map(place_of).collect();
        assert_eq!(places, expected);
        assert_eq!(place_of(u32::MAX as usize - 1), (31, (1 << 31) - 1));
    }

    /// Checks that slots of this type have distinct, aligned addresses, and the last number has none.
    fn addresses<T: Send + Sync + 'static>(count: usize) {
        let slots = Slots::<T>::new(Arc::new(Budget::new(None)));
        assert!(slots.slot(0).is_none() && slots.slot(u32::MAX).is_none());
        let mut found: Vec<_> = (0..count)
            .map(|_| slots.vacant().unwrap())
            .map(|number| core::ptr::from_ref(slots.slot(number).unwrap()).addr())
            .collect();
        assert!(found.iter().all(|at| at % align_of::<Slot<T>>() == 0));
        found.sort_unstable();
        assert!(found.windows(2).all(|pair| pair[1] - pair[0] >= size_of::<Slot<T>>()));
        assert!(slots.slot(u32::MAX).is_none());
    }

    #[test]
    fn values_of_any_size_and_alignment_have_slots() {
        #[repr(align(16384))]
        struct Aligned {
            _byte: u8,
        }
        addresses::<()>(if cfg!(miri) { 200 } else { 5000 });
        addresses::<u8>(300);
        addresses::<[u64; 16]>(300);
        addresses::<[u8; 5000]>(40);
        addresses::<Aligned>(5);
    }
}
