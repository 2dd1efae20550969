//! The state of a slot, which stores one value after another.
//!
//! # Thread safety
//! A slot is *vacant*, then *live*, then *retired*, then *taken*, then vacant again with the next
//! generation. Each transition is made by one thread:
//! 1. Vacant to live: by the thread that got the slot from its free list, and so has exclusive access to it.
//! 2. Live to retired, and live or retired to taken: by the thread that wins the compare-and-swap.
//! 3. Taken to vacant: by the thread that took it.
//!
//! The memory of vacant slots can be returned to the system. A word of zeros is a vacant slot, so a thread
//! that reads it meanwhile sees a slot that isn't live. Before the slot is reused, its owner
//! [restarts](SlotState::restart) it with a generation that it never had.

use core::sync::atomic::{AtomicU32, Ordering};

const VACANT: u32 = 0;
const LIVE: u32 = 1;
const RETIRED: u32 = 2;
const TAKEN: u32 = 3;

/// A slot's stage and generation. New slots are vacant, of generation 0.
#[derive(Debug, Default)]
pub struct SlotState(AtomicU32);

impl SlotState {
    /// The last generation. A slot that was taken in it is never reused, so generations don't repeat.
    pub const LAST_GENERATION: u32 = u32::MAX >> 2;

    /// Makes a vacant slot live: a thread that sees it live sees the value that was written before. Returns
    /// its generation.
    pub fn begin(&self) -> u32 {
        let word = self.0.load(Ordering::Relaxed);
        debug_assert_eq!(word & 3, VACANT, "only vacant slots are given out");
        // Release: pairs with the loads of `is_live` and of the compare-and-swaps.
        self.0.store(word | LIVE, Ordering::Release);
        word >> 2
    }

    /// Returns whether the slot is live in this generation; if so, its value has been written.
    #[inline]
    pub fn is_live(&self, generation: u32) -> bool {
        self.0.load(Ordering::Acquire) == generation << 2 | LIVE
    }

    /// Retires the slot if it is live in this generation. Returns `true` to one caller.
    pub fn retire(&self, generation: u32) -> bool {
        self.step(generation, LIVE, RETIRED)
    }

    /// Takes the slot if it was retired in this generation. Returns `true` to one caller, which has
    /// exclusive access from then on.
    pub fn take_retired(&self, generation: u32) -> bool {
        self.step(generation, RETIRED, TAKEN)
    }

    /// Takes the slot if it is live in this generation. Returns `true` to one caller, which must ensure that
    /// nothing else reads the slot's value.
    pub fn take_live(&self, generation: u32) -> bool {
        self.step(generation, LIVE, TAKEN)
    }

    /// Takes the slot if it has a value, live or retired, and returns the value's generation.
    pub fn take(&self) -> Option<u32> {
        let word = self.0.load(Ordering::Relaxed);
        let generation = word >> 2;
        // From live it can only become retired, so the second try is conclusive.
        let taken = matches!(word & 3, LIVE | RETIRED)
            && (self.step(generation, LIVE, TAKEN) || self.step(generation, RETIRED, TAKEN));
        taken.then_some(generation)
    }

    /// Makes a taken slot vacant again, unless its generations are used up.
    pub fn end(&self, generation: u32) {
        if generation < Self::LAST_GENERATION {
            // Release: the thread that gets the slot next writes after the value was read out of it.
            self.0.store((generation + 1) << 2 | VACANT, Ordering::Release);
        }
    }

    /// Sets the generation of a vacant slot to which the calling thread has exclusive access. A slot never
    /// returns to a generation that it had, except to 0 until it is handed out.
    pub fn restart(&self, generation: u32) {
        let word = self.0.load(Ordering::Relaxed);
        debug_assert!(
            word & 3 == VACANT || word == u32::MAX,
            "nothing lives in it: vacant, or taken for good"
        );
        // Relaxed: whatever other threads see of this, the slot isn't live for them. The thread that gets
        // the slot sees it, because of a mutex in between.
        self.0.store(generation << 2 | VACANT, Ordering::Relaxed);
    }

    fn step(&self, generation: u32, from: u32, to: u32) -> bool {
        let (from, to) = (generation << 2 | from, generation << 2 | to);
        // Acquire: a thread that takes a slot reads its value. Release: and has read it before it is vacant.
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_made_once_and_in_order() {
        let life = SlotState::default();
        assert!(life.take().is_none() && !life.retire(0) && !life.is_live(0));
        assert_eq!(life.begin(), 0);
        assert!(life.is_live(0) && !life.is_live(1) && !life.take_retired(0));
        assert!(life.retire(0) && !life.retire(0) && !life.is_live(0));
        assert!(life.take_retired(0) && !life.take_retired(0) && life.take().is_none());
        life.end(0);
        assert_eq!(life.begin(), 1);
        assert!(!life.retire(0), "an old generation's holder does nothing to the new one");
        assert_eq!(life.take(), Some(1));
        life.end(1);
        life.restart(0);
        assert!(!life.is_live(0) && !life.is_live(1) && life.take().is_none());
        life.restart(7);
        assert_eq!((life.begin(), life.take_live(6), life.take_live(7)), (7, false, true));
        life.end(7);
        life.restart(SlotState::LAST_GENERATION);
        assert_eq!(
            (life.begin(), life.take()),
            (SlotState::LAST_GENERATION, Some(SlotState::LAST_GENERATION))
        );
        life.end(SlotState::LAST_GENERATION);
        assert!(life.take().is_none() && !life.take_live(0), "taken for good");
        assert_eq!(life.0.load(Ordering::Relaxed), u32::MAX, "and never vacant again");
    }

    #[test]
    fn one_of_many_threads_retires() {
        let life = SlotState::default();
        let generation = life.begin();
        let winners = std::thread::scope(|scope| {
            let tries: Vec<_> = (0..4).map(|_| scope.spawn(|| life.retire(generation))).collect();
            tries.into_iter().map(|thread| thread.join().unwrap()).filter(|&won| won).count()
        });
        assert_eq!(winners, 1);
    }
}
