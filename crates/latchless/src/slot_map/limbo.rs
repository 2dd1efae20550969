//! Retired values that wait to be dropped.
//!
//! They belong to the index: they are in short lists, each for some of the threads, until there are enough
//! for a batch, which is dropped when every pin of that moment has ended. So a flush finds those of all
//! threads.
//!
//! # Thread safety
//! A list is held for a moment only; no code of a value's type runs meanwhile.

use super::pinned::waiting;
use super::slot_id::SlotId;
use latchless_core::sync::{self, Mutex, Tally};

/// Values per batch, and per batch while many batches wait for a pin to end: a batch takes two kilobytes of
/// the queue, however short it is.
const TOGETHER: usize = 64;
const MANY_TOGETHER: usize = 1024;
/// The number of waiting batches that counts as many.
const MANY: usize = 64;
/// The number of lists: enough that threads rarely contend for one.
const STRIPES: usize = 8;

/// The lists, and the number of values in batches. See the module documentation.
#[derive(Debug, Default)]
pub(super) struct Limbo {
    stripes: [Stripe; STRIPES],
    batched: Tally,
}

#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe(Mutex<Vec<SlotId>>);

impl Limbo {
    /// Adds a value. Returns a batch when there are enough values, which the caller defers; never while
    /// `keeps` is set. Inlined: the list that it returns would go through memory, and a tenth of a removal
    /// with it.
    #[inline(always)]
    pub(super) fn push(&self, retired: SlotId, keeps: bool) -> Option<Vec<SlotId>> {
        let mut own = self.stripes[sync::slot() % STRIPES].0.lock();
        own.push(retired);
        let is_full = own.len() >= TOGETHER && !keeps && (own.len() >= MANY_TOGETHER || waiting() < MANY);
        if is_full { Some(self.batch(&mut own)) } else { None }
    }

    /// Removes everything from the lists, in batches.
    pub(super) fn take_all(&self) -> impl Iterator<Item = Vec<SlotId>> + '_ {
        self.stripes.iter().map(|stripe| self.batch(&mut stripe.0.lock())).filter(|batch| !batch.is_empty())
    }

    fn batch(&self, list: &mut Vec<SlotId>) -> Vec<SlotId> {
        self.batched.add(list.len());
        core::mem::take(list)
    }

    /// Records that a batch of this many values has been dropped.
    pub(super) fn is_dropped(&self, values: usize) {
        self.batched.subtract(values);
    }

    /// Returns whether no batch is waiting.
    pub(super) fn has_no_batch(&self) -> bool {
        self.batched.get() == 0
    }
}
