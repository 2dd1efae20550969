//! Operations on whole ranges: count, fold, scan, copy, remove. The leaves ahead are prefetched while one
//! is read. Concurrent changes are visible as in [`Entries`](super::Entries), except that all entries of one
//! leaf are of one moment.

use super::Index;
use super::access::{
    Access, Encoded, EncodedIn, EncodedRange, Holder, decode_key, decode_value, encode_range,
    expect_infallible, try_encode_range,
};
use super::exclusive::Exclusive;
use super::operations::{exclusive, operations};
use crate::tree::{Edit, LeafCopy, Mode, Sweep};
use core::fmt;
use core::ops::{ControlFlow, RangeBounds};
use latchless_core::base::error::Result;
use latchless_core::base::index::{Direction, check_buffers};
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::value::Value;
use latchless_core::mem::filled::Filled;

/// Entries that are passed at a time: at least as many as a leaf has.
const PAGE: usize = 128;
/// The expected number of entries for a caller that may stop after each leaf, until it has continued for
/// longer.
const SCANNED: usize = 64;

impl<K: Key, V: Value, M: Mode> Access<'_, K, V, M> {
    pub(super) fn count(self, range: Option<EncodedRange<K, V>>) -> usize {
        range.map_or(0, |(low, high)| self.tree.count::<M>(low, high))
    }

    #[inline]
    pub(super) fn fold<A>(
        self,
        range: Option<EncodedRange<K, V>>,
        start: A,
        mut fold: impl FnMut(A, K, V) -> A,
    ) -> A {
        let Some((low, high)) = range else { return start };
        let mut folded = Some(start);
        self.tree.scan::<M>(low, high, Direction::Forward, usize::MAX, |keys, values| {
            let entries = keys.iter().zip(values);
            folded = folded.take().map(|so_far| {
                entries.fold(so_far, |so_far, (&key, &value)| {
                    fold(so_far, decode_key::<K, V>(key), decode_value::<K, V>(value))
                })
            });
            true
        });
        folded.expect("it is put back after each leaf")
    }

    #[inline]
    pub(super) fn scan(
        self,
        range: Option<EncodedRange<K, V>>,
        mut see: impl FnMut(K, V) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.scan_chunks(range, |keys, values| {
            keys.iter().zip(values).try_for_each(|(&key, &value)| see(key, value))
        })
    }

    /// Shows a range's entries in a direction, until `see` breaks.
    #[inline]
    pub(super) fn scan_towards(
        self,
        range: Option<EncodedRange<K, V>>,
        direction: Direction,
        mut see: impl FnMut(K, V) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if direction == Direction::Forward {
            return self.scan(range, see);
        }
        let mut last = ControlFlow::Continue(());
        if let Some((low, high)) = range {
            self.tree.scan::<M>(low, high, direction, usize::MAX, |keys, values| {
                last =
                    keys.iter().zip(values).rev().try_for_each(|(&key, &value)| {
                        see(decode_key::<K, V>(key), decode_value::<K, V>(value))
                    });
                last.is_continue()
            });
        }
        last
    }

    #[inline]
    pub(super) fn scan_chunks(
        self,
        range: Option<EncodedRange<K, V>>,
        see: impl FnMut(&[K], &[V]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        range.map_or(ControlFlow::Continue(()), |range| self.chunks_within(range, (usize::MAX, SCANNED), see))
    }

    /// Scans a range of which the caller needs at most `wanted.0` entries, and probably `wanted.1`. See
    /// [`Access::scan_chunks`].
    #[inline]
    pub(super) fn chunks_within(
        self,
        range: EncodedRange<K, V>,
        wanted: (usize, usize),
        mut see: impl FnMut(&[K], &[V]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (mut page, mut last) = (Page::new(), ControlFlow::Continue(()));
        self.tree.scan_leaves::<M>(range, Direction::Forward, wanted, |leaf| {
            last = page.show(leaf, &mut see);
            last.is_continue()
        });
        last
    }

    /// Scans a range that often ends in its first leaf: no leaf after it is prefetched. See
    /// [`Access::scan_chunks`].
    pub(super) fn chunks_of_short(
        self,
        (low, high): EncodedRange<K, V>,
        mut see: impl FnMut(&[K], &[V]) -> ControlFlow<()>,
    ) {
        let (mut page, mut leaf) = (Page::new(), LeafCopy::default());
        let mut sweep = Sweep::new(low, high, Direction::Forward, 0);
        if !sweep.next_leaf::<M>(self.tree, &mut leaf) {
            return;
        }
        let broken = page.show(&leaf, &mut see).is_break();
        if let Some((low, high)) = sweep.remaining().filter(|_| !broken) {
            self.tree.scan_leaves::<M>((low, high), Direction::Forward, (usize::MAX, usize::MAX), |leaf| {
                page.show(leaf, &mut see).is_continue()
            });
        }
    }

    pub(super) fn page(
        self,
        range: Option<EncodedRange<K, V>>,
        direction: Direction,
        keys: &mut [K],
        values: &mut [V],
    ) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        let Some((low, high)) = range else { return Ok(0) };
        let (room, mut filled) = (keys.len(), 0);
        self.tree.scan::<M>(low, high, direction, room, |found, theirs| {
            let entries = found.iter().zip(theirs);
            let (keys, values) = (&mut keys[filled..], &mut values[filled..]);
            filled += match direction {
                Direction::Forward => copy::<K, V>(entries, keys, values),
                Direction::Reverse => copy::<K, V>(entries.rev(), keys, values),
            };
            filled < room
        });
        Ok(filled)
    }

    pub(super) fn remove_range(self, range: &impl RangeBounds<K>) -> Result<usize> {
        Ok(try_encode_range::<K, V>(range)?.map_or(0, |(low, high)| self.tree.remove_range::<M>(low, high)))
    }

    /// Removes the keys of a range and calls `gone` with each removed value. Atomic for each key. See
    /// [`Access::remove_range`].
    pub(super) fn remove_each(self, range: &impl RangeBounds<K>, mut gone: impl FnMut(V)) -> Result<usize> {
        let Some((low, high)) = try_encode_range::<K, V>(range)? else { return Ok(0) };
        let mut removed = 0;
        self.tree.scan::<M>(low, high, Direction::Forward, usize::MAX, |keys, _| {
            let edit = |at: usize| (keys[at], Edit::Remove);
            self.tree.edit_each::<M>(keys.len(), self.group, edit, |_, edited| {
                if let Some(value) = expect_infallible(edited).before {
                    removed += 1;
                    gone(decode_value::<K, V>(value));
                }
            });
            true
        });
        Ok(removed)
    }
}

/// Entries in the caller's types. The arrays can't be initialized beforehand: a type may have no value for
/// bits that were never stored.
struct Page<K, V>(Filled<K, V, PAGE>);

impl<K: Key, V: Value> Page<K, V> {
    #[inline(always)]
    fn new() -> Self {
        Self(Filled::new())
    }

    /// Calls `see` with the entries of a leaf; if the caller's types are those of the tree, with the copy
    /// itself.
    #[inline(always)]
    fn show(
        &mut self,
        leaf: &LeafCopy<Encoded<K, V>>,
        see: &mut impl FnMut(&[K], &[V]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if let Some((keys, values)) = leaf.of_types::<K, V>() {
            return see(keys, values);
        }
        leaf.keys().chunks(PAGE).zip(leaf.values().chunks(PAGE)).try_for_each(|(keys, values)| {
            let (keys, values) = self.0.fill(keys, values, decode_key::<K, V>, decode_value::<K, V>);
            see(keys, values)
        })
    }
}

/// Copies entries until the arrays are full, and returns their number.
#[inline(always)]
fn copy<'a, K: Key, V: Value>(
    entries: impl Iterator<Item = (&'a Encoded<K, V>, &'a Encoded<K, V>)>,
    keys: &mut [K],
    values: &mut [V],
) -> usize {
    let places = keys.iter_mut().zip(values);
    let copied = places.zip(entries).map(|((to_key, to_value), (&key, &value))| {
        (*to_key, *to_value) = (decode_key::<K, V>(key), decode_value::<K, V>(value));
    });
    copied.count()
}

/// A scan that fills the caller's buffers, pauses when they are full and resumes where it stopped. Holds no
/// latch or pin while it is paused. Concurrent changes are visible as in [`Entries`](super::Entries).
///
/// ```
/// use latchless::Direction;
/// # let index: latchless::Index<u64, u32> = (0..10).map(|key| (key, 10 * key as u32)).collect();
/// let mut scan = index.scanner(3.., Direction::Reverse);
/// let (mut keys, mut values) = ([0; 4], [0; 4]);
/// assert_eq!((scan.fill(&mut keys, &mut values)?, keys), (4, [9, 8, 7, 6]));
/// assert_eq!((scan.fill_values(&mut values)?, &values[..3]), (3, [50, 40, 30].as_slice()));
/// assert_eq!(scan.fill(&mut keys, &mut values)?, 0);
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct Scan<H: Holder> {
    holder: H,
    sweep: Sweep<EncodedIn<H>>,
    direction: Direction,
    leaf: LeafCopy<EncodedIn<H>>,
    /// Entries of the leaf that were copied already.
    used: usize,
}

impl<H: Holder> Scan<H> {
    /// Creates a scan of a range, in a direction. The holder is as for [`Entries::of`](super::Entries::of).
    pub fn of(holder: H, range: impl RangeBounds<H::Key>, direction: Direction) -> Self {
        Self::within(holder, encode_range::<H::Key, H::Value>(&range), direction)
    }

    pub(super) fn within(
        holder: H,
        range: Option<EncodedRange<H::Key, H::Value>>,
        direction: Direction,
    ) -> Self {
        // For a range without keys, one that starts after its end.
        let (low, high) = range.unwrap_or((Bits::MAX, Bits::MIN));
        let sweep = Sweep::new(low, high, direction, usize::MAX);
        Self { holder, sweep, direction, leaf: LeafCopy::default(), used: 0 }
    }

    /// Copies the next entries to two buffers of the same length and returns their number; 0 means that the
    /// range has ended.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`](crate::Error::EmptyBuffer),
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers).
    pub fn fill(&mut self, keys: &mut [H::Key], values: &mut [H::Value]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        Ok(self.advance(keys.len(), |place, key, value| {
            keys[place] = decode_key::<H::Key, H::Value>(key);
            values[place] = decode_value::<H::Key, H::Value>(value);
        }))
    }

    /// Copies only the next values and returns their number; 0 means that the range has ended.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`](crate::Error::EmptyBuffer).
    pub fn fill_values(&mut self, values: &mut [H::Value]) -> Result<usize> {
        check_buffers(values.len(), values.len())?;
        Ok(self
            .advance(values.len(), |place, _, value| values[place] = decode_value::<H::Key, H::Value>(value)))
    }

    /// Takes the next entries, at most `room`.
    #[inline(always)]
    fn advance(&mut self, room: usize, mut take: impl FnMut(usize, EncodedIn<H>, EncodedIn<H>)) -> usize {
        let mut taken = 0;
        while taken < room {
            let len = self.leaf.keys().len();
            if self.used == len {
                self.used = 0;
                if !self.sweep.next_leaf::<H::Mode>(&self.holder.words().tree, &mut self.leaf) {
                    break;
                }
                continue;
            }
            let now = (len - self.used).min(room - taken);
            let (first, forward) = match self.direction {
                Direction::Forward => (self.used, true),
                Direction::Reverse => (len - self.used - now, false),
            };
            let entries =
                self.leaf.keys()[first..first + now].iter().zip(&self.leaf.values()[first..first + now]);
            for (at, (&key, &value)) in entries.enumerate() {
                take(taken + if forward { at } else { now - 1 - at }, key, value);
            }
            self.used += now;
            taken += now;
        }
        taken
    }
}

impl<H: Holder> fmt::Debug for Scan<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan").field("direction", &self.direction).finish_non_exhaustive()
    }
}

/// Calls `see` with all entries of an index, ascending, leaf by leaf, until it breaks.
#[cfg(feature = "snapshot")]
pub(crate) fn scan_all<H: Holder>(
    holder: &H,
    see: impl FnMut(&[H::Key], &[H::Value]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let access = Access::<_, _, H::Mode>::new(holder.words());
    access.scan_chunks(Some(super::access::full_range::<H::Key, H::Value>()), see)
}

operations! {
    /// Calls `see` with the entries of a range, ascending, as parallel slices of keys and values, until it
    /// breaks. Each call gets the entries of one leaf in the range, as of one moment. Returns the last result
    /// of `see`.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// # let index: latchless::Index<u64, u32> = (0..1000).map(|key| (key, 2 * key as u32)).collect();
    /// let mut largest = 0;
    /// let shown = index.scan_chunks(10.., |_keys, values| {
    ///     largest = values.iter().fold(largest, |largest, &value| largest.max(value));
    ///     if largest < 500 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    /// });
    /// assert!(shown.is_break() && (500..1998).contains(&largest));
    /// ```
    #[inline]
    pub fn scan_chunks(
        &self,
        range: impl RangeBounds<K>,
        see: impl FnMut(&[K], &[V]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.access().scan_chunks(encode_range::<K, V>(&range), see)
    }

    /// Copies the entries of a range to two buffers of the same length, in a direction, until the range or
    /// the buffers end. Returns the number of entries.
    ///
    /// # Errors
    /// [`Error::EmptyBuffer`](crate::Error::EmptyBuffer),
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers).
    ///
    /// ```
    /// use latchless::Direction;
    /// # let index: latchless::Index<u64, u32> = (0..1000).map(|key| (key, 2 * key as u32)).collect();
    /// let (mut keys, mut values) = ([0; 3], [0; 3]);
    /// assert_eq!(index.page(..100, Direction::Reverse, &mut keys, &mut values)?, 3);
    /// assert_eq!((keys, values), ([99, 98, 97], [198, 196, 194]));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn page(
        &self,
        range: impl RangeBounds<K>,
        direction: Direction,
        keys: &mut [K],
        values: &mut [V],
    ) -> Result<usize> {
        self.access().page(encode_range::<K, V>(&range), direction, keys, values)
    }

    /// Returns a scan that pauses when the caller's buffers are full: see [`Scan`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..100).map(|key| (key, 2 * key)).collect();
    /// let mut values = [0; 3];
    /// let mut scan = index.scanner(10.., latchless::Direction::Forward);
    /// assert_eq!((scan.fill_values(&mut values)?, values), (3, [20, 22, 24]));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn scanner(&self, range: impl RangeBounds<K>, direction: Direction) -> Scan<&Self> {
        Scan::of(self, range, direction)
    }
}

exclusive! {
    /// See [`Index::fold`].
    #[inline]
    pub fn fold<A>(&self, range: impl RangeBounds<K>, start: A, fold: impl FnMut(A, K, V) -> A) -> A {
        self.access().fold(encode_range::<K, V>(&range), start, fold)
    }

    /// See [`Index::for_each`].
    #[inline]
    pub fn for_each(&self, range: impl RangeBounds<K>, mut each: impl FnMut(K, V)) {
        self.fold(range, (), |(), key, value| each(key, value));
    }

    /// See [`Index::scan`].
    #[inline]
    pub fn scan(
        &self,
        range: impl RangeBounds<K>,
        see: impl FnMut(K, V) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.access().scan(encode_range::<K, V>(&range), see)
    }

    /// See [`Index::count`].
    pub fn count(&self, range: impl RangeBounds<K>) -> usize {
        self.access().count(encode_range::<K, V>(&range))
    }

    /// See [`Index::remove_range`].
    pub fn remove_range(&mut self, range: impl RangeBounds<K>) -> Result<usize> {
        self.access().remove_range(&range)
    }
}
