//! Values of any type. The operations are in the files beside this one, as those of [`Index`] are.
//!
//! The index holds handles to the values. A value is put into the slots before its handle comes into the
//! index, and retired after its handle has left it. A handle comes into the index at most once. So:
//! * A reader that finds a handle whose value is retired looks at the index again: the handle isn't there
//!   any more.
//! * An edit that expects such a handle does nothing.
//! * The thread that removes a handle from the index retires its value.

mod batch;
mod closures;
mod cursor;
mod load;
mod order;
mod point;
mod range;
mod traits;

pub use cursor::BoxedCursor;
pub use order::BoxedEntries;
pub use point::CompareExchangeError;
pub use traits::BoxedIntoEntries;

use super::{Index, Options};
use crate::slot_map::{Pinned, SlotId, SlotMap};
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::key::Key;
use latchless_core::base::stats::Stats;

/// Values that are put in, looked up or retired together.
const TOGETHER: usize = 64;

/// An ordered map from keys of fixed width to values of any type, for many readers and many writers
/// at once.
///
/// The keys are stored in an [`Index`], the values beside it in slots of their own, so a lookup costs one
/// cache miss more than one in an [`Index`]. Keys of 32 bits take 64 here.
///
/// Values are read by reference under a pin ([`BoxedIndex::pin`]). A value that was replaced or
/// removed is *retired*: it can still be read under a pin from before, and is dropped
/// once no such pin is left, by whichever thread comes to it: an operation that retires others, the end of
/// a pin, [`BoxedIndex::flush`]. Retired values are dropped in batches of 64 or more, so up to 63 for each
/// eighth of the threads wait for the next ones, for a flush, or for the end of the index. Every value is
/// dropped exactly once, at the latest with the index. A panic in a value's `Drop` leaves the index whole.
/// The memory of values that are gone is given back while the index is used: see
/// [`BoxedIndex::memory_bytes`].
///
/// Operations on single keys are linearizable, ranges weakly consistent, as for [`Index`]. What takes a
/// closure keeps to the [race rule](crate::index#races): an entry is replaced or removed only as the closure
/// saw it. So an entry that has expired is removed by
/// `index.remove_if(key, |entry| entry.has_expired(), &pin)`, and one that was refreshed meanwhile stays.
///
/// A value that others may be reading can't be moved out, so what is replaced or removed comes back by
/// reference. For an owned value: clone it, or keep `Arc`s in the index, or use [`BoxedIndex::take`] or
/// [`into_iter`](IntoIterator::into_iter) where no other thread has the index.
///
/// ```
/// use latchless::BoxedIndex;
///
/// let names = BoxedIndex::<u32, String>::new()?;
/// let pin = names.pin();
/// names.insert(7, "seven".to_owned(), &pin)?;
/// names.insert(9, "nine".to_owned(), &pin)?;
/// assert_eq!(names.get(7, &pin).map(String::as_str), Some("seven"));
/// let old = names.insert(7, "VII".to_owned(), &pin)?;
/// assert_eq!(old.map(String::as_str), Some("seven"));
/// assert_eq!(names.read(7, |name| name.len()), Some(3), "a pin of its own");
/// let all: Vec<_> = names.iter(&pin).map(|(key, name)| format!("{key} {name}")).collect();
/// assert_eq!(all, ["7 VII", "9 nine"]);
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct BoxedIndex<K: Key, T: Send + Sync + 'static> {
    index: Index<K, SlotId>,
    slots: SlotMap<T>,
}

impl<K: Key, T: Send + Sync + 'static> BoxedIndex<K, T> {
    /// An empty index.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn new() -> Result<Self> {
        Self::with_options(Options::default())
    }

    /// An empty index with options of the caller's choice. The limit holds for nodes and slots of values
    /// together; what values own elsewhere isn't counted.
    ///
    /// # Errors
    /// As [`Index::with_options`].
    pub fn with_options(options: Options) -> Result<Self> {
        let index = Index::with_options(options)?;
        Ok(Self { slots: SlotMap::new(index.access().tree.budget()), index })
    }

    /// Pins the calling thread: what it reads stays as long as the pin. One pin may serve many
    /// operations.
    pub fn pin(&self) -> Pinned {
        Pinned::new()
    }

    /// How many keys there are, as exact as [`Index::len`]. O(1).
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there is no key; as exact as [`BoxedIndex::len`].
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Bytes of the nodes and tables, as [`Index::memory_bytes`], and of the values' slots with their
    /// books; what values own elsewhere isn't counted, nor eight bytes for each value that waits to be
    /// dropped. O(1).
    ///
    /// Slots are given back to the system (on Linux) when more than half of them, and half a megabyte, are
    /// vacant; that takes pages of 64 KiB on which no value is left. Values that are put in gather on the
    /// pages that are kept. A value that is retired has its slot until it is dropped, so a pin that is held
    /// for long makes this grow; it falls again when that pin ends.
    pub fn memory_bytes(&self) -> usize {
        self.index.memory_bytes()
    }

    /// Bytes of the nodes in use and of the slots with values, those included that wait to be dropped.
    /// O(1).
    pub fn live_bytes(&self) -> usize {
        self.index.live_bytes() + self.slots.live_bytes()
    }

    /// As [`Index::stats`], of the nodes that hold the keys.
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(7, "seven"), (9, "nine")].into();
    /// assert_eq!((names.stats().levels, names.stats().leaves), (1, 1));
    /// ```
    pub fn stats(&self) -> Stats {
        self.index.stats()
    }

    /// As [`Index::check_invariants`]; and every key's value is there. O(n).
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.index.check_invariants()?;
        let pin = self.pin();
        match self.index.iter().find(|&(_, handle)| self.slots.read(handle, &pin).is_none()) {
            Some((key, _)) => Err(Broken::new(format!("the value of {key:?} was retired"))),
            None => Ok(()),
        }
    }

    /// Removes all keys, as [`BoxedIndex::remove_range`] does, and drops their values, but for those that a
    /// pin can see, as [`BoxedIndex::flush`] does. [`BoxedIndex::reset`] waits for no pin.
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(7, "seven"), (9, "nine")].into();
    /// names.clear();
    /// assert!(names.is_empty());
    /// ```
    pub fn clear(&self) {
        let all = self.remove_range(..);
        debug_assert!(all.is_ok(), "the range of all keys is none that is inverted");
        self.flush();
    }

    /// Drops every value that was replaced or removed and that no pin can see any more, and gives the
    /// memory of their slots back. When no pin of any index is held, none of them is left afterwards. O(1)
    /// for each value that waits, and for each page of vacant slots.
    ///
    /// Later operations and pins that end do the same in part, and leave a few hundred values at the most.
    /// So this is for values that hold what is scarce, such as files, and for an index that is at rest.
    /// Called by a value's own `Drop`, it does nothing.
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

    /// Removes all keys, drops all values, and gives all memory back, now. If drops panic, all others are
    /// done first and then the first panic goes on.
    ///
    /// ```
    /// # let mut names: latchless::BoxedIndex<u32, String> = [(7, "seven".to_owned())].into();
    /// names.reset();
    /// assert!(names.is_empty());
    /// ```
    pub fn reset(&mut self) {
        self.index.exclusive().clear();
        self.slots.clear();
    }

    /// The value of a handle that this thread has just removed from the index, which is retired.
    fn retire<'p>(&'p self, handle: SlotId, pin: &'p Pinned) -> Option<&'p T> {
        let value = self.slots.read(handle, pin);
        let retired = self.slots.retire(handle, pin);
        debug_assert!(retired && value.is_some(), "a handle is taken out of the index by one thread");
        value
    }

    /// Puts a value in; a value that is refused is dropped.
    fn put(&self, value: T) -> Result<SlotId> {
        self.slots.put(value).map_err(|(error, _)| error)
    }

    /// Retires a value that didn't come into the index.
    fn discard(&self, own: SlotId, pin: &Pinned) {
        let retired = self.slots.retire(own, pin);
        debug_assert!(retired, "no other thread has the handle");
    }

    /// Retires every value whose handle it is shown, under pins of its own.
    fn retiring(&self) -> impl FnMut(SlotId) + '_ {
        let (mut pin, mut retired) = (Pinned::new(), 0);
        move |handle| {
            self.retire(handle, &pin);
            retired += 1;
            if retired % TOGETHER == 0 {
                pin.repin();
            }
        }
    }
}
