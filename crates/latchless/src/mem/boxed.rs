//! Values of any type, for an index whose nodes hold handles to them.
//!
//! A [`Vault`] keeps values in slots that stay where they are. Readers get references under a
//! [`Pinned`] epoch; a value that was retired is dropped when every thread that was pinned by then has
//! let go. A handle names a slot *and* its generation, so a handle that is out of date finds nothing:
//! whatever the index above does with handles, no reader gets a value that is gone and none is
//! dropped twice.
//!
//! # Thread safety
//! 1. A slot's value is written by who got the slot from a free list, before the slot becomes live.
//! 2. It is read by who is pinned and saw the slot live in the handle's generation since then.
//! 3. It is moved out by who took the slot: when it was retired before all present pins began, or
//!    when nobody can be reading, because the vault is borrowed mutably.
//! 4. No code of the value's type runs while a mutex is held; a panic in its `Drop` finds the slot
//!    vacant already.

use super::line::prefetch_read;
use crate::base::error::{Error, Result};
use crate::base::value::Value;
use crate::sync::{Life, Mutex};
use core::cell::UnsafeCell;
use core::fmt;
use core::mem::MaybeUninit;
use std::any::Any;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, MutexGuard, OnceLock};

/// Slots of the first segment; each further segment has twice as many.
const FIRST_SEGMENT: usize = 64;
/// Segments until slot numbers of 32 bits are used up.
const SEGMENTS: usize = 26;
/// Free lists, so that threads rarely meet at one.
const FREE_LISTS: usize = 8;
/// Slots that move to a free list at once.
const SLOTS_TOGETHER: usize = 32;

/// Flushes after which what this thread put off is done, unless another one stays pinned: the epoch
/// must advance twice.
const FLUSHES: usize = 3;

/// Keeps what the calling thread reads from being dropped, as long as it lives. Pinning costs some
/// 20 ns, so one pin should serve a batch or a scan; but while a thread is pinned nothing that any
/// thread retires is dropped, so none should be kept for good.
///
/// ```
/// # use latchless::BoxedIndex;
/// # let index = BoxedIndex::<u64, String>::new()?;
/// let pin = index.pin();
/// index.insert(7, "seven".to_owned(), &pin)?;
/// let seven = index.get(7, &pin);
/// index.remove(7, &pin);
/// assert_eq!(seven.map(String::as_str), Some("seven"), "still there to be read");
/// # Ok::<(), latchless::Error>(())
/// ```
#[derive(Debug)]
pub struct Pinned(crossbeam_epoch::Guard);

impl Pinned {
    /// Pins the calling thread.
    pub fn new() -> Self {
        Self(crossbeam_epoch::pin())
    }

    /// Lets go for a moment, so that what was retired meanwhile can be dropped. No reference that was
    /// read under the pin is left by then.
    pub fn repin(&mut self) {
        self.0.repin();
    }

    /// Hurries the dropping of what this thread retired.
    pub fn flush(&self) {
        self.0.flush();
    }
}

impl Default for Pinned {
    fn default() -> Self {
        Self::new()
    }
}

/// Names a value in a [`Vault`]. Never used twice for different values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle {
    slot: u32,
    generation: u32,
}

impl Value for Handle {
    type Lane = u64;

    #[inline(always)]
    fn to_bits(self) -> u64 {
        u64::from(self.slot) << 32 | u64::from(self.generation)
    }

    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        Self { slot: (bits >> 32) as u32, generation: bits as u32 }
    }
}

/// A place for one value at a time.
struct Slot<T> {
    life: Life,
    value: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Slot<T> {
    /// Moves the value out and makes the slot vacant. `false`: the slot can't be used again.
    ///
    /// # Safety
    /// The caller has taken the slot in this generation, and no reference to its value is left.
    unsafe fn empty(&self, generation: u32) -> (T, bool) {
        // SAFETY: a slot can be taken only after it was live, so a value was written; the
        // compare-and-swap that took it acquired that. It is read out once, because one caller takes
        // a slot in a generation, and that one says that nobody has a reference.
        let value = unsafe { (*self.value.get()).assume_init_read() };
        (value, self.life.end(generation))
    }
}

/// What a vault and the drops that it has put off share.
struct Slots<T> {
    segments: [OnceLock<Box<[Slot<T>]>>; SEGMENTS],
    /// Slots that were vacated.
    free: [Mutex<Vec<u32>>; FREE_LISTS],
    /// How many slots were ever given out.
    given_out: Mutex<usize>,
    limit_bytes: Option<usize>,
}

// SAFETY: a slot's value is reached through `&T` from several threads at once (T: Sync), and moved in
// and out by whichever thread won the slot's life for that (T: Send), in the order of the module's
// head, kept by `Life`'s acquiring and releasing steps and by the epoch.
unsafe impl<T: Send + Sync> Sync for Slots<T> {}
// SAFETY: as above; nothing in it belongs to one thread.
unsafe impl<T: Send + Sync> Send for Slots<T> {}

/// Slots never break when a thread panics: nothing of the caller runs while a list is held.
fn hold<L>(list: &Mutex<L>) -> MutexGuard<'_, L> {
    list.lock()
}

/// The calling thread's own free list.
fn own_list() -> usize {
    thread_local! {
        static OWN: usize = RandomState::new().hash_one(std::thread::current().id()) as usize % FREE_LISTS;
    }
    OWN.try_with(|own| *own).unwrap_or(0)
}

/// The segment of a slot and the place in it.
#[inline(always)]
fn place_of(slot: u32) -> (usize, usize) {
    let at = slot as usize + FIRST_SEGMENT;
    let segment = (at / FIRST_SEGMENT).ilog2() as usize;
    (segment, at - (FIRST_SEGMENT << segment))
}

impl<T> Slots<T> {
    #[inline(always)]
    fn slot(&self, slot: u32) -> Option<&Slot<T>> {
        let (segment, at) = place_of(slot);
        self.segments.get(segment)?.get()?.get(at)
    }

    /// A vacant slot, which nobody else gets.
    fn vacant(&self) -> Result<u32> {
        let own = own_list();
        if let Some(slot) = hold(&self.free[own]).pop() {
            return Ok(slot);
        }
        // Threads that take out may be others than those that put in. Lists are held one at a time,
        // so waiting never goes round.
        for list in 1..FREE_LISTS {
            let mut found = {
                let mut free = hold(&self.free[(own + list) % FREE_LISTS]);
                let rest = free.len().saturating_sub(SLOTS_TOGETHER);
                free.split_off(rest)
            };
            if let Some(slot) = found.pop() {
                hold(&self.free[own]).append(&mut found);
                return Ok(slot);
            }
        }
        let mut fresh = self.fresh()?;
        let slot = fresh.start;
        fresh.start += 1;
        hold(&self.free[own]).extend(fresh.rev());
        Ok(slot)
    }

    /// Slots that were never used.
    fn fresh(&self) -> Result<core::ops::Range<u32>> {
        let mut given_out = hold(&self.given_out);
        let end = *given_out + SLOTS_TOGETHER;
        if end + FIRST_SEGMENT > FIRST_SEGMENT << SEGMENTS {
            return Err(Error::ReferencesExhausted { limit: *given_out as u64 });
        }
        // Segments are multiples of what is given out at once.
        let (segment, _) = place_of(*given_out as u32);
        if self.segments[segment].get().is_none() {
            let slots = FIRST_SEGMENT << segment;
            self.check_limit(segment)?;
            let mut room = Vec::new();
            let requested_bytes = slots * size_of::<Slot<T>>();
            room.try_reserve_exact(slots).map_err(|_| Error::OutOfMemory { requested_bytes })?;
            room.resize_with(slots, || Slot {
                life: Life::default(),
                value: UnsafeCell::new(MaybeUninit::uninit()),
            });
            // Set here alone, under the mutex.
            let _ = self.segments[segment].set(room.into_boxed_slice());
        }
        let fresh = *given_out as u32..end as u32;
        *given_out = end;
        Ok(fresh)
    }

    /// Whether the segments up to this one, included, keep the limit.
    fn check_limit(&self, segment: usize) -> Result<()> {
        let slots = (FIRST_SEGMENT << (segment + 1)) - FIRST_SEGMENT;
        let requested_bytes = slots * size_of::<Slot<T>>();
        match self.limit_bytes {
            Some(limit_bytes) if requested_bytes > limit_bytes => {
                Err(Error::MemoryLimit { requested_bytes, limit_bytes })
            }
            _ => Ok(()),
        }
    }

    fn give_back(&self, slot: u32) {
        hold(&self.free[own_list()]).push(slot);
    }

    fn bytes(&self) -> usize {
        self.segments.iter().filter_map(OnceLock::get).map(|slots| size_of_val::<[Slot<T>]>(slots)).sum()
    }
}

/// Values of any type, each named by a [`Handle`].
pub struct Vault<T: Send + Sync + 'static> {
    slots: Arc<Slots<T>>,
}

impl<T: Send + Sync + 'static> Vault<T> {
    /// An empty vault, whose slots may take that many bytes.
    pub fn new(limit_bytes: Option<usize>) -> Self {
        let slots = Slots {
            segments: [const { OnceLock::new() }; SEGMENTS],
            free: core::array::from_fn(|_| Mutex::default()),
            given_out: Mutex::new(0),
            limit_bytes,
        };
        Self { slots: Arc::new(slots) }
    }

    /// Bytes of the slots.
    pub fn bytes(&self) -> usize {
        self.slots.bytes()
    }

    /// Puts a value in.
    ///
    /// # Errors
    /// Gives it back when memory is refused.
    pub fn put(&self, value: T) -> Result<Handle, (Error, T)> {
        let number = match self.slots.vacant() {
            Ok(number) => number,
            Err(error) => return Err((error, value)),
        };
        let Some(slot) = self.slots.slot(number) else { unreachable!("slots that are given out exist") };
        // SAFETY: the slot is vacant and came from a free list or fresh, so this thread alone has it
        // until it begins to live: nobody reads or writes its value. There is none in it to drop.
        unsafe { (*slot.value.get()).write(value) };
        Ok(Handle { slot: number, generation: slot.life.begin() })
    }

    /// The value of a handle, unless it was retired.
    #[inline]
    pub fn read<'p>(&'p self, handle: Handle, _pin: &'p Pinned) -> Option<&'p T> {
        let slot = self.slots.slot(handle.slot)?;
        if !slot.life.is_live(handle.generation) {
            return None;
        }
        // SAFETY: the slot was seen live by a load that acquired the write of its value. It can be
        // taken (and its value moved or dropped) in two ways. Through a mutable borrow of the vault:
        // that ends `'p`. Or by a drop that was put off when the slot was retired: this thread has
        // been pinned since before it saw the slot not yet retired and stays so for `'p`, so the epoch
        // runs that drop after `'p`.
        Some(unsafe { (*slot.value.get()).assume_init_ref() })
    }

    /// Asks for the memory of a value that is about to be read.
    #[inline]
    pub fn prefetch(&self, handle: Handle) {
        if let Some(slot) = self.slots.slot(handle.slot) {
            prefetch_read(core::ptr::from_ref(slot).cast());
        }
    }

    /// Retires a value: from now on its handle finds nothing, and the value is dropped once no pin
    /// can see it. `false`: it was retired before.
    pub fn retire(&self, handle: Handle, pin: &Pinned) -> bool {
        let Handle { slot: number, generation } = handle;
        let retired = self.slots.slot(number).is_some_and(|slot| slot.life.retire(generation));
        if retired {
            let slots = Arc::clone(&self.slots);
            pin.0.defer(move || {
                let slot = slots.slot(number).filter(|slot| slot.life.take_retired(generation));
                let Some(slot) = slot else { return };
                // SAFETY: this thread has just taken the slot in this generation. Whoever has a
                // reference saw the slot live while pinned, so before it was retired, and every pin of
                // that time has ended: that is when the epoch runs what was put off.
                let (value, usable) = unsafe { slot.empty(generation) };
                if usable {
                    slots.give_back(number);
                }
                // A panic would go through a thread that has nothing to do with the value. Its payload
                // isn't dropped, which could panic as well.
                core::mem::forget(drop_quietly(value));
            });
        }
        retired
    }

    /// Drops all values, those included whose drop was put off. Nobody is reading: the vault is
    /// borrowed mutably. If drops panic, all others are done first and then the first panic goes on.
    pub fn clear(&mut self) {
        let mut panic = None;
        for (segment, slots) in self.slots.segments.iter().enumerate() {
            let first = (FIRST_SEGMENT << segment) - FIRST_SEGMENT;
            for (at, slot) in slots.get().iter().flat_map(|slots| slots.iter()).enumerate() {
                let Some(generation) = slot.life.take() else { continue };
                // SAFETY: this thread has just taken the slot in this generation, and references
                // borrow the vault, which is borrowed mutably here.
                let (value, usable) = unsafe { slot.empty(generation) };
                if usable {
                    self.slots.give_back((first + at) as u32);
                }
                match drop_quietly(value) {
                    payload if panic.is_none() => panic = payload,
                    payload => core::mem::forget(payload),
                }
            }
        }
        if let Some(payload) = panic.filter(|_| !std::thread::panicking()) {
            resume_unwind(payload);
        }
    }
}

/// Drops a value and returns its panic, if it panics.
fn drop_quietly<T>(value: T) -> Option<Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(|| drop(value))).err()
}

impl<T: Send + Sync + 'static> Drop for Vault<T> {
    fn drop(&mut self) {
        // Drops that were put off keep the slots' memory: a few flushes bring most of them about.
        (0..FLUSHES).for_each(|_| Pinned::new().flush());
        self.clear();
    }
}

impl<T: Send + Sync + 'static> fmt::Debug for Vault<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("bytes", &self.slots.bytes()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Sender, channel};

    /// Says when it is dropped.
    #[derive(Debug)]
    struct Loud(u32, Sender<u32>);

    impl Drop for Loud {
        fn drop(&mut self) {
            self.1.send(self.0).unwrap();
            if self.0 == 13 {
                panic!("thirteen");
            }
        }
    }

    #[test]
    fn slots_are_found_where_they_were_put() {
        let mut expected = Vec::new();
        for segment in 0..4 {
            expected.extend((0..FIRST_SEGMENT << segment).map(|at| (segment, at)));
        }
        let places: Vec<_> = (0..expected.len()).map(|slot| place_of(slot as u32)).collect();
        assert_eq!(places, expected);
        let (segment, at) = place_of(u32::MAX - FIRST_SEGMENT as u32);
        assert_eq!((segment, at), (SEGMENTS - 1, (FIRST_SEGMENT << (SEGMENTS - 1)) - 1));
    }

    #[test]
    fn handles_that_are_out_of_date_find_nothing() {
        let vault = Vault::new(None);
        let pin = Pinned::new();
        let old = vault.put("old".to_owned()).unwrap();
        assert_eq!(vault.read(old, &pin).unwrap(), "old");
        assert!(vault.retire(old, &pin));
        assert!(!vault.retire(old, &pin));
        assert_eq!(vault.read(old, &pin), None);
        let far = Handle { slot: u32::MAX, generation: 0 };
        assert!(vault.read(far, &pin).is_none() && !vault.retire(far, &pin));
        assert_eq!(Handle::from_bits(old.to_bits()), old);
    }

    #[test]
    fn a_reader_keeps_what_it_reads() {
        let (sender, dropped) = channel();
        let vault = Vault::new(None);
        let handle = vault.put(Loud(1, sender)).unwrap();
        let pin = Pinned::new();
        let loud = vault.read(handle, &pin).unwrap();
        std::thread::scope(|threads| {
            let retire = threads.spawn(|| {
                let pin = Pinned::new();
                vault.retire(handle, &pin);
                (0..100).for_each(|_| pin.flush());
            });
            retire.join().unwrap();
        });
        assert!(dropped.try_recv().is_err());
        assert_eq!(loud.0, 1);
        drop(pin);
        drop(vault);
        assert_eq!(dropped.recv(), Ok(1));
        assert!(dropped.recv().is_err(), "once");
    }

    #[test]
    fn slots_are_used_again() {
        let vault = Vault::new(None);
        for round in 0..2000u64 {
            let pin = Pinned::new();
            let handle = vault.put(round).unwrap();
            vault.retire(handle, &pin);
            pin.flush();
        }
        assert!(vault.bytes() < 1500 * size_of::<Slot<u64>>(), "{}", vault.bytes());
    }

    #[test]
    fn a_limit_refuses_and_gives_the_value_back() {
        let vault = Vault::new(Some(200 * size_of::<Slot<u64>>()));
        let handles: Vec<_> = (0..192u64).map(|value| vault.put(value).unwrap()).collect();
        let (error, value) = vault.put(192).unwrap_err();
        assert!(matches!(error, Error::MemoryLimit { .. }) && value == 192);
        let pin = Pinned::new();
        assert!(handles.iter().zip(0..).all(|(&handle, value)| vault.read(handle, &pin) == Some(&value)));
    }

    #[test]
    fn a_panicking_drop_keeps_the_others_from_nothing() {
        let (sender, dropped) = channel();
        let mut vault = Vault::new(None);
        for number in 10..17 {
            vault.put(Loud(number, sender.clone())).unwrap();
        }
        let panic = catch_unwind(AssertUnwindSafe(|| vault.clear())).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"thirteen"));
        drop(sender);
        assert_eq!(dropped.try_iter().collect::<Vec<_>>(), (10..17).collect::<Vec<_>>());
        vault.clear();
    }
}
