//! A slot map: values of any type, for an index whose nodes store handles to them.
//!
//! A [`SlotMap`] stores values in slots with fixed addresses. Readers get references under a [`Pinned`]
//! epoch; a retired value is dropped when every thread that was pinned at that time has unpinned. A handle
//! names a slot *and* its generation, so a stale handle finds nothing: whatever the index does with handles,
//! no reader gets a value that is gone and none is dropped twice. Retired values wait in lists of the map
//! (`limbo.rs`), in batches for pins to end (`pinned.rs`). Vacant slots are returned to the system, page by
//! page (`slots.rs`).
//!
//! # Thread safety
//! 1. A slot's value is written by the thread that got the slot when it was vacant, before the slot becomes
//!    live.
//! 2. It is read by threads that are pinned and have since then seen the slot live in the handle's
//!    generation.
//! 3. It is dropped or moved out by the thread that took the slot: if it was retired before all current pins
//!    began, or if no thread can be reading, because the slots are borrowed mutably.
//! 4. No code of the value's type runs while a mutex is held. A slot becomes vacant after the value's
//!    `Drop`, whether that panics or not.

mod depot;
mod life;
mod limbo;
mod numbers;
mod pinned;
mod slot_id;
mod slots;

pub use pinned::Pinned;
pub use slot_id::SlotId;

use crate::slot_map::life::SlotState;
use core::fmt;
use latchless_core::base::error::{Error, Result};
use latchless_core::mem::budget::Budget;
use latchless_core::mem::line::prefetch_read;
use limbo::Limbo;
use pinned::{busy, do_what_is_due, is_busy, put_off};
use slots::{Slot, Slots};
use std::any::Any;
use std::panic::resume_unwind;
use std::sync::Arc;

/// Values of any type, each named by a [`SlotId`].
pub struct SlotMap<T: Send + Sync + 'static> {
    shared: Arc<Shared<T>>,
}

/// The state that a map and its deferred drops share.
struct Shared<T> {
    slots: Slots<T>,
    limbo: Limbo,
}

impl<T: Send + Sync + 'static> SlotMap<T> {
    /// Creates an empty map, whose slots take their memory from this budget.
    pub fn new(budget: &Arc<Budget>) -> Self {
        let slots = Slots::new(Arc::clone(budget));
        Self { shared: Arc::new(Shared { slots, limbo: Limbo::default() }) }
    }

    /// Returns the bytes of the slots: at most about twice those of live values and a few megabytes, unless
    /// the live values are spread over all pages.
    pub fn bytes(&self) -> usize {
        self.shared.slots.bytes().0
    }

    /// Returns the bytes of the slots with values, including those that wait to be dropped, and of some that
    /// are about to be used.
    pub fn live_bytes(&self) -> usize {
        self.shared.slots.bytes().1
    }

    /// Adds a value.
    ///
    /// # Errors
    /// Returns the value if memory is refused.
    pub fn put(&self, value: T) -> Result<SlotId, (Error, T)> {
        let number = match self.shared.slots.vacant().or_else(|refused| self.vacated(refused)) {
            Ok(number) => number,
            Err(error) => return Err((error, value)),
        };
        let Some(slot) = self.shared.slots.slot(number) else {
            unreachable!("slots that are given out exist")
        };
        // SAFETY: the slot is vacant and was handed out to this thread, which alone has it until it becomes
        // live: no thread reads or writes its value. It contains no value that would have to be dropped.
        unsafe { (*slot.value.get()).write(value) };
        Ok(SlotId { slot: number, generation: slot.life.begin() })
    }

    /// Returns a slot whose value was due to be dropped, if memory is refused.
    #[cold]
    fn vacated(&self, refused: Error) -> Result<u32> {
        if is_busy() {
            return Err(refused);
        }
        self.flush();
        self.shared.slots.vacant()
    }

    /// Drops every retired value that no pin can see any more, and returns the memory of pages without
    /// values to the system. Does nothing while a value is being dropped.
    pub fn flush(&self) {
        let Shared { slots, limbo } = &*self.shared;
        if is_busy() {
            return;
        }
        limbo.take_all().for_each(|batch| self.put_off(batch));
        do_what_is_due(usize::MAX, || limbo.has_no_batch());
        // After this, the effects of other threads' drops of these batches are visible: each returned its
        // slots.
        slots.give_back_all();
    }

    /// Defers the drop of retired values.
    fn put_off(&self, batch: Vec<SlotId>) {
        let shared = Arc::clone(&self.shared);
        put_off(move || shared.drop_retired(&batch));
    }

    /// Returns the value of a handle, unless it was retired.
    #[inline]
    pub fn read<'p>(&'p self, handle: SlotId, _pin: &'p Pinned) -> Option<&'p T> {
        let slot = self.shared.slots.slot(handle.slot)?;
        if !slot.life.is_live(handle.generation) {
            return None;
        }
        // SAFETY: the slot was seen live by a load that acquired the write of its value. It can be taken
        // (and its value moved or dropped) in two ways. Through a mutable borrow of the slots: that ends
        // `'p`. Or by a drop that was deferred when the slot was retired: this thread has been pinned since
        // before it saw the slot not yet retired and stays so for `'p`, so the epoch runs that drop after
        // `'p`.
        Some(unsafe { (*slot.value.get()).assume_init_ref() })
    }

    /// Prefetches the memory of a value that is about to be read.
    #[inline]
    pub fn prefetch(&self, handle: SlotId) {
        if let Some(slot) = self.shared.slots.slot(handle.slot) {
            prefetch_read(core::ptr::from_ref(slot).cast());
        }
    }

    /// Retires a value: from now on its handle finds nothing, and the value is dropped once no pin can see
    /// it. Returns `false` if it was retired before.
    pub fn retire(&self, handle: SlotId, _pin: &Pinned) -> bool {
        let retired = self.slot(handle).is_some_and(|slot| slot.life.retire(handle.generation));
        // A value that retires others in its `Drop` starts no batch of these, which could go on without end.
        if retired && let Some(batch) = self.shared.limbo.push(handle, is_busy()) {
            self.put_off(batch);
        }
        retired
    }

    /// Removes a value that wasn't retired. No thread is reading it: the slots are borrowed mutably.
    pub fn take(&mut self, handle: SlotId) -> Option<T> {
        let SlotId { slot: number, generation } = handle;
        let slot = self.slot(handle).filter(|slot| slot.life.take_live(generation))?;
        // SAFETY: this thread has just taken the slot in this generation, and references borrow the slots,
        // which are borrowed mutably here.
        let value = unsafe { slot.empty(generation) };
        self.shared.slots.give_back(number, generation);
        Some(value)
    }

    /// Returns the slot of a handle, if this map can have created the handle.
    fn slot(&self, handle: SlotId) -> Option<&Slot<T>> {
        self.shared.slots.slot(handle.slot).filter(|_| handle.generation <= SlotState::LAST_GENERATION)
    }

    /// Drops all values, including those whose drop was deferred, and returns the memory of all slots. No
    /// thread is reading: the slots are borrowed mutably. If drops panic, all others are done first and then
    /// the first panic is resumed.
    pub fn clear(&mut self) {
        let panic = self.drop_all(|slot, generation| self.shared.slots.give_back(slot, generation));
        self.shared.slots.give_back_all();
        raise(panic);
    }

    /// Empties all slots and calls `emptied` for each one. Returns the first panic of a drop. The caller has
    /// borrowed the slots mutably.
    fn drop_all(&self, emptied: impl Fn(u32, u32)) -> Option<Box<dyn Any + Send>> {
        let mut panic = None;
        for number in (0..).map_while(|page| self.shared.slots.open_of(page)).flatten() {
            let Some(slot) = self.shared.slots.slot(number) else { continue };
            let Some(generation) = slot.life.take() else { continue };
            // SAFETY: this thread has just taken the slot in this generation, and references borrow the
            // slots, which the caller has borrowed mutably.
            let dropped = busy(|| unsafe { slot.drop_value(generation) });
            emptied(number, generation);
            match dropped {
                payload if panic.is_none() => panic = payload,
                payload => core::mem::forget(payload),
            }
        }
        panic
    }
}

/// Resumes a panic, unless the thread is panicking already.
fn raise(panic: Option<Box<dyn Any + Send>>) {
    if let Some(payload) = panic.filter(|_| !std::thread::panicking()) {
        resume_unwind(payload);
    }
}

impl<T> Shared<T> {
    /// Drops values that were retired before all current pins began. A panic of a drop would propagate
    /// through a thread that has no relation to the value, so it ends here.
    fn drop_retired(&self, batch: &[SlotId]) {
        for &SlotId { slot: number, generation } in batch {
            let Some(slot) = self.slots.slot(number).filter(|slot| slot.life.take_retired(generation)) else {
                continue;
            };
            // SAFETY: this thread has just taken the slot in this generation. A thread that has a reference
            // saw the slot live while pinned, so before it was retired, and every pin of that time has
            // ended: deferred work runs only then.
            let panic = unsafe { slot.drop_value(generation) };
            self.slots.give_back(number, generation);
            // Its payload isn't dropped, which could panic as well.
            core::mem::forget(panic);
        }
        self.limbo.is_dropped(batch.len());
    }
}

impl<T: Send + Sync + 'static> Drop for SlotMap<T> {
    fn drop(&mut self) {
        // Deferred batches keep the slots' memory.
        do_what_is_due(usize::MAX, || self.shared.limbo.has_no_batch());
        // No slot will be handed out again.
        raise(self.drop_all(|_, _| {}));
    }
}

impl<T: Send + Sync + 'static> fmt::Debug for SlotMap<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlotMap").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
