//! An index with values of any type, over either kind of key: [`Boxed`]. Each operation is declared once, in
//! the files of this folder.
//!
//! The keys are in an index of handles ([`HandleIndex`]): of words, or of byte strings. A program names the
//! two kinds [`BoxedIndex`] and [`BoxedBytesIndex`](crate::bytes::BoxedBytesIndex).
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
mod cursor;
mod engine;
mod handles;
mod load;
mod newest;
mod numbers;
mod order;
mod point;
mod range;
mod traits;

pub use crate::slot_map::SlotId;
pub use cursor::Cursor;
pub(crate) use engine::Clones;
pub use handles::{HandleIndex, KeyArg, KeyForm};
pub(crate) use handles::{Handles, Span};
pub use numbers::{BoxedCursor, BoxedEntries, BoxedIndex, BoxedIntoEntries};
pub use order::Entries;
pub use point::CompareExchangeError;
pub use traits::IntoEntries;

#[cfg(doc)]
use super::Index;
use super::Options;
use crate::slot_map::{Pinned, SlotMap};
use core::ops::Bound::Unbounded;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::stats::Stats;

/// Values that are inserted, looked up or retired together.
const TOGETHER: usize = 64;

/// An ordered map to values of any type, for many concurrent readers and writers: a [`BoxedIndex`] for keys
/// of fixed width, a [`BoxedBytesIndex`](crate::bytes::BoxedBytesIndex) for keys of any length.
///
/// The keys are stored in the index `I`, the values outside of it in slots, so a lookup costs one more cache
/// miss than in `I`. Keys of fixed width are passed by value, byte strings by reference and in any form
/// ([`KeyArg`]). Costs are those of number keys; the length of a byte string adds to them.
///
/// Values are read by reference under a pin ([`Boxed::pin`]). A value that was replaced or removed is
/// *retired*: it remains readable under older pins, and is dropped once no such pin exists, by the next
/// operation that retires values, by the end of a pin, or by [`Boxed::flush`]. Retired values are
/// dropped in batches of 64 or more, so up to 63 for each eighth of the threads wait for the next ones, for
/// a flush, or for the end of the index. Every value is dropped exactly once, at the latest with the index.
/// A panic in a value's `Drop` leaves the index intact. The memory of dropped values is returned to the
/// system while the index is in use: see [`Boxed::memory_bytes`].
///
/// Operations on single keys are linearizable, ranges weakly consistent, as for [`Index`]. Operations with
/// closures follow the [race rule](crate::index#races): an entry is replaced or removed only as the closure
/// saw it. So an entry that has expired is removed by `index.remove_if(key, |entry| entry.has_expired(),
/// &pin)`, and one that was refreshed meanwhile stays.
///
/// A value that other threads may be reading can't be moved out, so a replaced or removed value is returned
/// by reference. For an owned value, clone it, store `Arc`s in the index, or use [`Boxed::take`] or
/// [`into_iter`](IntoIterator::into_iter) where no other thread has the index.
///
/// A function over both kinds of key:
///
/// ```
/// use latchless::index::boxed::{Boxed, HandleIndex};
///
/// fn texts<I: HandleIndex>(index: &Boxed<I, String>) -> String {
///     index.values(&index.pin()).map(String::as_str).collect::<Vec<_>>().join(" ")
/// }
/// let numbers: latchless::BoxedIndex<u64, String> = [(7, "seven".into()), (5, "five".into())].into();
/// let strings: latchless::bytes::BoxedBytesIndex<String, String> = [("VII", "seven".into())].into();
/// assert_eq!((texts(&numbers), texts(&strings)), ("five seven".into(), "seven".into()));
/// ```
pub struct Boxed<I, T: Send + Sync + 'static> {
    index: I,
    slots: SlotMap<T>,
}

impl<I: HandleIndex, T: Send + Sync + 'static> Boxed<I, T> {
    /// Creates an empty index.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn new() -> Result<Self> {
        Self::with_options(Options::default())
    }

    /// Creates an empty index with these options. The limit applies to nodes and slots of values together;
    /// the values' allocations elsewhere aren't counted.
    ///
    /// # Errors
    /// Those of [`Index::with_options`].
    pub fn with_options(options: Options) -> Result<Self> {
        let index = I::create(options)?;
        Ok(Self { slots: SlotMap::new(index.budget()), index })
    }

    /// Pins the calling thread: references that it reads stay valid as long as the pin. One pin may serve
    /// many operations.
    pub fn pin(&self) -> Pinned {
        Pinned::new()
    }

    /// Returns the number of keys, as exactly as [`Index::len`]. O(1).
    pub fn len(&self) -> usize {
        self.index.key_count()
    }

    /// Returns `true` if there is no key, as exactly as [`Boxed::len`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of the nodes and tables, see [`Index::memory_bytes`], and of the values' slots with
    /// their bookkeeping. Not counted are the values' allocations elsewhere, and eight bytes for each value
    /// that waits to be dropped. O(1).
    ///
    /// Slots are returned to the system (not on WebAssembly) when more than half of them, and half a
    /// megabyte, are vacant; that takes pages of 64 KiB without values. New values gather on the pages that
    /// are kept. A retired value occupies its slot until it is dropped, so a pin that is held for long
    /// increases the memory; it falls again when that pin ends.
    pub fn memory_bytes(&self) -> usize {
        self.index.memory_bytes()
    }

    /// Returns the bytes of the nodes in use and of the slots with values, including those that wait to be
    /// dropped. O(1).
    pub fn live_bytes(&self) -> usize {
        self.index.live_bytes() + self.slots.live_bytes()
    }

    /// Returns the shape of the tree that stores the keys. See [`Index::stats`].
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(7, "seven"), (9, "nine")].into();
    /// assert_eq!((names.stats().levels, names.stats().leaves), (1, 1));
    /// ```
    pub fn stats(&self) -> Stats {
        self.index.stats()
    }

    /// Checks all invariants, see [`Index::check_invariants`], and that every key has a value. O(n).
    ///
    /// # Errors
    /// The first violated invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.index.check_invariants()?;
        let pin = self.pin();
        let mut entries = self.index.entries((Unbounded, Unbounded));
        match entries.position(|(_, handle)| self.slots.read(handle, &pin).is_none()) {
            Some(at) => Err(Broken::new(format!("the value of key {at} was retired"))),
            None => Ok(()),
        }
    }

    /// Removes all keys, like [`Boxed::remove_range`], and drops their values, like
    /// [`Boxed::flush`], except those that a pin can see. [`Boxed::reset`] waits for no pin.
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(7, "seven"), (9, "nine")].into();
    /// names.clear();
    /// assert!(names.is_empty());
    /// ```
    pub fn clear(&self) {
        let all = self.index.remove_span((Unbounded, Unbounded), self.retiring());
        debug_assert!(all.is_ok(), "the range of all keys is none that is inverted");
        self.flush();
    }

    /// Drops every retired value that no pin can see any more, and returns the memory of their slots to the
    /// system. If no pin of any index is held, none of them is left afterwards. O(1) per waiting value and
    /// per page of vacant slots.
    ///
    /// Later operations and ends of pins also drop values, and leave a few hundred at most. So this is for
    /// values that own scarce resources, such as files, and for an index at rest. In a value's own `Drop`,
    /// it does nothing.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// let files = latchless::BoxedIndex::<u32, Arc<str>>::new()?;
    /// let file: Arc<str> = "seven".into();
    /// files.insert(7, Arc::clone(&file), &files.pin())?;
    /// files.remove(7, &files.pin());
    /// files.flush();
    /// assert_eq!(Arc::strong_count(&file), 1);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn flush(&self) {
        self.slots.flush();
    }

    /// Removes all keys, drops all values, and returns all memory to the system at once. If drops panic, all
    /// others are done first and then the first panic is resumed.
    ///
    /// ```
    /// # let mut names: latchless::BoxedIndex<u32, String> = [(7, "seven".to_owned())].into();
    /// names.reset();
    /// assert!(names.is_empty());
    /// ```
    pub fn reset(&mut self) {
        self.index.empty();
        self.slots.clear();
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
