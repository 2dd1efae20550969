//! The engine of an [`Index`](super::Index) whose values are stored outside of the tree: [`Boxed`], over either
//! kind of key.
//!
//! The keys are in an index of handles ([`Handles`]): of words, or of byte strings.
//!
//! The index stores handles to the values. A value is put into the slots before its handle is inserted into
//! the index, and retired after its handle has been removed. A handle is inserted into the index at most
//! once. So:
//! * A reader that finds a handle whose value is retired looks again in the index: the handle isn't there
//!   any more.
//! * An edit that expects such a handle does nothing.
//! * The thread that removes a handle from the index retires its value.

mod batch;
mod by_order;
mod closures;
mod engine;
mod handles;
mod into_entries;
mod load;
mod newest;
mod numbers;
mod order;
mod point;
mod retain;

pub(crate) use engine::Clones;
pub use handles::Handles;
pub(crate) use handles::{KeyForm, Span};
pub use into_entries::IntoEntries;

use super::{Options, Storage};
pub(crate) use crate::slot_map::SlotId;
use crate::slot_map::{Pinned, SlotMap};
use core::ops::Bound::Unbounded;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::stats::Stats;

/// Values that are inserted, looked up or retired together.
const TOGETHER: usize = 64;

/// The keys are stored in the index `I`, the values outside of it in slots, so a lookup costs one more cache
/// miss than in `I`.
///
/// Values are read by reference under a pin. A value that was replaced or removed is *retired*: it remains
/// readable under older pins, and is dropped once no such pin exists, by the next operation that retires
/// values, by the end of a pin, or by `flush`. Retired values are dropped in batches of 64 or more. Every
/// value is dropped exactly once, at the latest with the index. A panic in a value's `Drop` leaves the
/// index intact.
pub struct Boxed<I, T: Send + Sync + 'static> {
    index: I,
    slots: SlotMap<T>,
}

impl<I: Handles, T: Send + Sync + 'static> Storage for Boxed<I, T> {
    fn create(options: Options) -> Result<Self> {
        let index = I::create(options)?;
        Ok(Self { slots: SlotMap::new(index.budget()), index })
    }

    #[inline]
    fn key_count(&self) -> usize {
        self.index.key_count()
    }

    fn memory_bytes(&self) -> usize {
        self.index.memory_bytes()
    }

    fn live_bytes(&self) -> usize {
        self.index.live_bytes() + self.slots.live_bytes()
    }

    fn mapped_bytes(&self) -> usize {
        self.index.mapped_bytes()
    }

    fn counted(&self) -> Stats {
        self.index.counted()
    }

    fn stats(&self) -> Stats {
        self.index.stats()
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        self.check()
    }

    fn reset(&mut self) {
        Storage::reset(&mut self.index);
        self.slots.clear();
    }

    fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        // What awaits its drop takes memory that the new nodes may need.
        self.slots.flush();
        // Values stay where they are: only their handles move.
        self.index.shrink(fill)
    }

    fn flush(&self) {
        self.slots.flush();
    }
}

impl<I: Handles, T: Send + Sync + 'static> Boxed<I, T> {
    /// Pins the calling thread: references that it reads stay valid as long as the pin.
    pub(super) fn pin(&self) -> Pinned {
        Pinned::new()
    }

    /// Checks the tree of keys, and that every key has a value.
    fn check(&self) -> Result<(), Broken> {
        self.index.check_invariants()?;
        let pin = self.pin();
        let mut entries = self.index.entries((Unbounded, Unbounded));
        match entries.position(|(_, handle)| self.slots.read(handle, &pin).is_none()) {
            Some(at) => Err(Broken::new(format!("the value of key {at} was retired"))),
            None => Ok(()),
        }
    }

    /// Returns the value of a handle that this thread has just removed from the index, and retires it.
    fn retire<'p>(&'p self, handle: SlotId, pin: &'p Pinned) -> Option<&'p T> {
        let value = self.slots.read(handle, pin);
        let retired = self.slots.retire(handle, pin);
        debug_assert!(retired && value.is_some(), "a handle is taken out of the index by one thread");
        value
    }

    /// Adds a value to the slots; a value that is refused is dropped.
    fn put(&self, value: T) -> Result<SlotId> {
        self.slots.put(value).map_err(|(error, _)| error)
    }

    /// Retires a value that wasn't inserted into the index.
    fn discard(&self, own: SlotId, pin: &Pinned) {
        let retired = self.slots.retire(own, pin);
        debug_assert!(retired, "no other thread has the handle");
    }

    /// Returns a function that retires the values of handles, pinning as needed.
    fn retiring(&self) -> impl FnMut(SlotId) + '_ {
        let mut pins = Pins::default();
        move |handle| _ = self.retire(handle, pins.next())
    }

    /// Returns the value of a handle that was found under a key; if that was retired, the key's current
    /// value.
    #[inline]
    fn value_of<'p>(&'p self, handle: SlotId, key: I::KeyRef<'_>, pin: &'p Pinned) -> Option<&'p T> {
        self.slots.read(handle, pin).or_else(|| self.find(key, pin))
    }
}

/// A pin for many values in turn. It is renewed after every [`TOGETHER`] of them, so that it delays no drop
/// for long.
#[derive(Default)]
struct Pins {
    pin: Pinned,
    served: usize,
}

impl Pins {
    /// Returns the pin for the next value. No reference that was read under it before is in use.
    fn next(&mut self) -> &Pinned {
        if self.served == TOGETHER {
            self.served = 0;
            self.pin.repin();
        }
        self.served += 1;
        &self.pin
    }
}
