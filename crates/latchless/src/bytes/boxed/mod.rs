//! [`BoxedBytesIndex`]: keys of any length with values of any type and size, byte strings among them.
//!
//! The index stores handles to the values, as [`BoxedIndex`](crate::BoxedIndex) does, by the same rules: a
//! value is stored in a slot before its handle is inserted, and the thread that removes a handle from the
//! index retires its value. A handle is inserted at most once.

mod closures;
mod order;

use super::{BytesEntries, BytesIndex};
use crate::index::{Options, TryInsertError};
use crate::slot_map::{Pinned, SlotId, SlotMap};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::{ControlFlow, RangeBounds};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::index::check_side_by_side;
use latchless_core::base::stats::Stats;

/// An ordered map from keys of any length to values of any type, for many readers and many writers at once.
///
/// The keys are those of a [`BytesIndex`]. The values are stored outside of it, in slots of their own, so a
/// lookup costs one more cache miss. They are read by reference under a [`pin`](BoxedBytesIndex::pin). A
/// replaced or removed value can still be read under an earlier pin, and is dropped once no such pin is
/// left ([`BoxedIndex`](crate::BoxedIndex) has the details), at the latest by a
/// [`flush`](BoxedBytesIndex::flush). Operations on single keys and on the nearest key are linearizable,
/// ranges weakly consistent.
///
/// ```
/// use latchless::bytes::BoxedBytesIndex;
///
/// let pages = BoxedBytesIndex::<String, Vec<u8>>::new()?;
/// let pin = pages.pin();
/// pages.insert("/index.html", b"<html>".to_vec(), &pin)?;
/// pages.insert("/index/a.html", b"<p>".to_vec(), &pin)?;
/// assert_eq!(pages.get("/index.html", &pin).map(Vec::len), Some(6));
/// let before = pages.insert("/index.html", b"<!doctype html>".to_vec(), &pin)?;
/// assert_eq!(before.map(Vec::len), Some(6), "still there to be read");
/// assert_eq!(pages.prefix("/index/", &pin).count(), 1);
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct BoxedBytesIndex<K: BytesKey, T: Send + Sync + 'static> {
    index: BytesIndex<K, SlotId>,
    slots: SlotMap<T>,
}

impl<K: BytesKey, T: Send + Sync + 'static> BoxedBytesIndex<K, T> {
    /// An empty index.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) when the system has none for a first node.
    pub fn new() -> Result<Self> {
        Self::with_options(Options::default())
    }

    /// An empty index with these options. The limit covers nodes, long keys and the slots of values; memory
    /// that values own elsewhere isn't counted.
    ///
    /// # Errors
    /// Those of [`BytesIndex::with_options`].
    pub fn with_options(options: Options) -> Result<Self> {
        let index = BytesIndex::<K, SlotId>::with_options(options)?;
        Ok(Self { slots: SlotMap::new(index.tree.budget()), index })
    }

    /// Pins the calling thread: values that it reads stay as long as the pin. One pin may serve many
    /// operations.
    pub fn pin(&self) -> Pinned {
        Pinned::new()
    }

    /// How many keys there are; exact when no thread is changing that.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there is no key; as exact as [`BoxedBytesIndex::len`].
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Bytes of the nodes, the long keys and the tables ([`BytesIndex::memory_bytes`]), and of the values'
    /// slots with their bookkeeping. Memory that values own elsewhere isn't counted, nor eight bytes for
    /// each value that waits to be dropped. O(1).
    pub fn memory_bytes(&self) -> usize {
        self.index.memory_bytes()
    }

    /// Returns statistics about the nodes that hold the keys. See [`BytesIndex::stats`].
    pub fn stats(&self) -> Stats {
        self.index.stats()
    }

    /// Checks the tree's invariants, and that every key has its value. O(n), while no thread changes the
    /// index.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.index.check_invariants()?;
        let pin = self.pin();
        match self.index.iter().position(|(_, handle)| self.slots.read(handle, &pin).is_none()) {
            Some(at) => Err(Broken::new(format!("the value of key {at} was retired"))),
            None => Ok(()),
        }
    }

    /// The value under a key. O(log n + l).
    pub fn get<'p, Q>(&'p self, key: &Q, pin: &'p Pinned) -> Option<&'p T>
    where
        Q: BytesKey<K> + ?Sized,
    {
        Some(self.present(key, pin)?.1)
    }

    /// Returns the result of `read` on the value under a key, under a pin of its own. O(log n + l).
    pub fn read<Q, R>(&self, key: &Q, read: impl FnOnce(&T) -> R) -> Option<R>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.get(key, &self.pin()).map(read)
    }

    /// Whether a key is there. O(log n + l); needs no pin.
    pub fn contains_key<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> bool {
        self.index.contains_key(key)
    }

    /// The values under many keys: `answers[i]` is that of `keys[i]`. The waits for memory overlap.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers) when there isn't an answer for each key.
    pub fn get_many<'p, Q: BytesKey<K>>(
        &'p self,
        keys: &[Q],
        answers: &mut [Option<&'p T>],
        pin: &'p Pinned,
    ) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let mut handles = [None; TOGETHER];
        for (keys, answers) in keys.chunks(TOGETHER).zip(answers.chunks_mut(TOGETHER)) {
            let handles = &mut handles[..keys.len()];
            self.index.get_many(keys, handles)?;
            handles.iter().flatten().for_each(|&handle| self.slots.prefetch(handle));
            for ((key, &handle), answer) in keys.iter().zip(&*handles).zip(answers) {
                *answer = handle.and_then(|handle| self.value_of(handle, key, pin));
            }
        }
        Ok(())
    }

    /// Inserts a value under a key and returns the value that it replaces, which is retired. O(log n + l).
    ///
    /// # Errors
    /// When the key is too long or memory is refused; the index is then as before, and `value` is dropped.
    pub fn insert<'p, Q>(&'p self, key: &Q, value: T, pin: &'p Pinned) -> Result<Option<&'p T>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        let own = self.put(value)?;
        match self.index.insert(key, own) {
            Ok(old) => Ok(old.and_then(|old| self.retire(old, pin))),
            Err(error) => {
                self.discard(own, pin);
                Err(error)
            }
        }
    }

    /// Inserts a value under a key that isn't there; otherwise drops it. O(log n + l).
    ///
    /// # Errors
    /// [`TryInsertError::Present`] with the value that is there, or [`TryInsertError::Refused`]. The index
    /// is then as before.
    pub fn try_insert<'p, Q>(
        &'p self,
        key: &Q,
        value: T,
        pin: &'p Pinned,
    ) -> Result<(), TryInsertError<&'p T, ()>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        let own = self.put(value).map_err(|error| TryInsertError::Refused { error, value: () })?;
        let refused = loop {
            match self.index.try_insert(key, own) {
                Ok(()) => return Ok(()),
                // If it was retired meanwhile, the key has another value now, or none.
                Err(TryInsertError::Present { present, .. }) => match self.slots.read(present, pin) {
                    Some(present) => break TryInsertError::Present { present, value: () },
                    None => continue,
                },
                Err(TryInsertError::Refused { error, .. }) => {
                    break TryInsertError::Refused { error, value: () };
                }
            }
        };
        self.discard(own, pin);
        Err(refused)
    }

    /// Removes a key and returns its value, which is retired: it is dropped when no pin of this moment is
    /// left, in a batch with others ([`BoxedBytesIndex::flush`] doesn't wait for those). O(log n + l).
    pub fn remove<'p, Q>(&'p self, key: &Q, pin: &'p Pinned) -> Option<&'p T>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.index.remove(key).and_then(|handle| self.retire(handle, pin))
    }

    /// Removes a key and moves its value out: no other thread has the index. O(log n + l).
    pub fn take<Q: BytesKey<K> + ?Sized>(&mut self, key: &Q) -> Option<T> {
        let handle = self.index.remove(key)?;
        self.slots.take(handle)
    }

    /// Removes the keys of a range and returns how many. Not atomic as a whole.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange): nothing was removed.
    pub fn remove_range<Q>(&self, range: impl RangeBounds<Q>) -> Result<usize>
    where
        Q: BytesKey<K> + ?Sized,
    {
        let (mut pin, mut removed) = (Pinned::new(), 0);
        for (key, _) in self.index.try_range(range)? {
            if let Some(handle) = self.index.remove(&key) {
                self.retire(handle, &pin);
                removed += 1;
                if removed % TOGETHER == 0 {
                    pin.repin();
                }
            }
        }
        Ok(removed)
    }

    /// Drops every replaced or removed value that no pin can see any more, and frees their slots. If no pin
    /// of any index is held, none of them is left afterwards. O(1) for each value that waits, and for each
    /// page of vacant slots.
    ///
    /// Later operations and pins that end do the same in part, and leave a few hundred values at most. So
    /// this is for values that hold scarce resources, such as files, and for an index that is at rest.
    /// Called by a value's own `Drop`, it does nothing.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// let files = latchless::bytes::BoxedBytesIndex::<String, Arc<str>>::new()?;
    /// let file: Arc<str> = "seven".into();
    /// files.insert("7", Arc::clone(&file), &files.pin())?;
    /// files.remove("7", &files.pin());
    /// files.flush();
    /// assert_eq!(Arc::strong_count(&file), 1);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn flush(&self) {
        self.slots.flush();
    }

    /// Removes all keys, drops all values, and gives all memory back, now.
    pub fn reset(&mut self) {
        self.index.clear();
        self.slots.clear();
    }

    /// The handle and the value under a key.
    fn present<'p, Q>(&'p self, key: &Q, pin: &'p Pinned) -> Option<(SlotId, &'p T)>
    where
        Q: BytesKey<K> + ?Sized,
    {
        loop {
            // A handle that was retired meanwhile: the key has another one now, or none.
            let handle = self.index.get(key)?;
            if let Some(value) = self.slots.read(handle, pin) {
                return Some((handle, value));
            }
        }
    }

    /// The value of a handle that was found under a key; if that was retired, the key's present value.
    fn value_of<'p, Q>(&'p self, handle: SlotId, key: &Q, pin: &'p Pinned) -> Option<&'p T>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.slots.read(handle, pin).or_else(|| self.get(key, pin))
    }

    /// Stores a value in a slot; a value that is refused is dropped.
    fn put(&self, value: T) -> Result<SlotId> {
        self.slots.put(value).map_err(|(error, _)| error)
    }

    /// The value of a handle that this thread has just removed from the index, which is retired.
    fn retire<'p>(&'p self, handle: SlotId, pin: &'p Pinned) -> Option<&'p T> {
        let value = self.slots.read(handle, pin);
        let retired = self.slots.retire(handle, pin);
        debug_assert!(retired && value.is_some(), "a handle is removed from the index by one thread");
        value
    }

    /// Retires a value that didn't come into the index.
    fn discard(&self, own: SlotId, pin: &Pinned) {
        let retired = self.slots.retire(own, pin);
        debug_assert!(retired, "no other thread has the handle");
    }
}

/// Values that are looked up or retired together.
const TOGETHER: usize = 64;

/// By the order of keys.
impl<K: BytesKey, T: Send + Sync + 'static> BoxedBytesIndex<K, T> {
    /// All entries, in order, from both ends.
    pub fn iter<'p>(&'p self, pin: &'p Pinned) -> BoxedBytesEntries<'p, K, T> {
        BoxedBytesEntries { entries: self.index.iter(), of: self, pin }
    }

    /// The entries of a range, in order, from both ends; weakly consistent.
    pub fn range<'p, Q>(&'p self, range: impl RangeBounds<Q>, pin: &'p Pinned) -> BoxedBytesEntries<'p, K, T>
    where
        Q: BytesKey<K> + ?Sized,
    {
        BoxedBytesEntries { entries: self.index.range(range), of: self, pin }
    }

    /// The entries of a range; returns an error, not an empty iterator, if the ends are in the wrong order.
    /// See [`BoxedBytesIndex::range`].
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange) when it starts after its end.
    pub fn try_range<'p, Q>(
        &'p self,
        range: impl RangeBounds<Q>,
        pin: &'p Pinned,
    ) -> Result<BoxedBytesEntries<'p, K, T>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        Ok(BoxedBytesEntries { entries: self.index.try_range(range)?, of: self, pin })
    }

    /// The entries whose keys' bytes begin with those of `prefix`, as [`BytesIndex::prefix`].
    pub fn prefix<'p, P: BytesKey, Q>(&'p self, prefix: &Q, pin: &'p Pinned) -> BoxedBytesEntries<'p, K, T>
    where
        Q: BytesKey<P> + ?Sized,
    {
        BoxedBytesEntries { entries: self.index.prefix(prefix), of: self, pin }
    }

    /// How many keys a range has. O(r).
    pub fn count<Q: BytesKey<K> + ?Sized>(&self, range: impl RangeBounds<Q>) -> usize {
        self.index.count(range)
    }

    /// Calls `see` with the entries of a range in order until it breaks off: the borrowed bytes of each
    /// key, and its value, under a pin of its own.
    pub fn scan<Q>(
        &self,
        range: impl RangeBounds<Q>,
        mut see: impl FnMut(&[u8], &T) -> ControlFlow<()>,
    ) -> ControlFlow<()>
    where
        Q: BytesKey<K> + ?Sized,
    {
        let pin = self.pin();
        self.index.scan(range, |key, handle| match self.slots.read(handle, &pin) {
            Some(value) => see(key, value),
            None => match self.get(&K::from_bytes(key), &pin) {
                Some(value) => see(key, value),
                None => ControlFlow::Continue(()),
            },
        })
    }
}

impl<K: BytesKey, T: Send + Sync + 'static> fmt::Debug for BoxedBytesIndex<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxedBytesIndex").field("index", &self.index).finish_non_exhaustive()
    }
}

/// Entries of a [`BoxedBytesIndex`] under a pin, from both ends; weakly consistent, as [`BytesEntries`].
pub struct BoxedBytesEntries<'p, K: BytesKey, T: Send + Sync + 'static> {
    entries: BytesEntries<'p, K, SlotId>,
    of: &'p BoxedBytesIndex<K, T>,
    pin: &'p Pinned,
}

impl<'p, K: BytesKey, T: Send + Sync + 'static> BoxedBytesEntries<'p, K, T> {
    /// The entry itself, unless its key was removed since it was copied.
    fn entry(&self, (key, handle): (K, SlotId)) -> Option<(K, &'p T)> {
        let value = self.of.value_of(handle, &key, self.pin)?;
        Some((key, value))
    }
}

impl<'p, K: BytesKey, T: Send + Sync + 'static> Iterator for BoxedBytesEntries<'p, K, T> {
    type Item = (K, &'p T);

    fn next(&mut self) -> Option<(K, &'p T)> {
        loop {
            let copied = self.entries.next()?;
            if let Some(entry) = self.entry(copied) {
                return Some(entry);
            }
        }
    }
}

impl<K: BytesKey, T: Send + Sync + 'static> DoubleEndedIterator for BoxedBytesEntries<'_, K, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            let copied = self.entries.next_back()?;
            if let Some(entry) = self.entry(copied) {
                return Some(entry);
            }
        }
    }
}

impl<K: BytesKey, T: Send + Sync + 'static> FusedIterator for BoxedBytesEntries<'_, K, T> {}

impl<K: BytesKey, T: Send + Sync + 'static> fmt::Debug for BoxedBytesEntries<'_, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxedBytesEntries").field("entries", &self.entries).finish_non_exhaustive()
    }
}
