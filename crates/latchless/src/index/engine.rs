//! How the types of an [`Index`](super::Index) choose its engine, and what every engine can do.
//!
//! The form of the keys ([`IndexKey::Form`]) and that of the values ([`IndexValue::Form`]) choose a type that
//! stores the entries: `Words` in this folder, `ByteStrings`, or a `Boxed` of either ([`Choice`]).
//! `common.rs` has the operations of all of them; each is one call of a function here.

pub use super::access::Words;
use super::bulk::Bulk;
use super::changes::Changes;
use super::in_columns::{check_columns, fill, reserve};
use super::order::{Neighbours, Ranked, Scanned, Side};
pub use super::prefix::Prefixed;
use super::storage::Storage;
use crate::blink::Tries;
use core::cmp::Ordering;
use core::fmt;
use core::iter::FusedIterator;
#[cfg(feature = "rayon")]
use core::ops::ControlFlow;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::error::Result;
use latchless_core::base::index::Direction;
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;

/// A type of keys of an [`Index`](super::Index) to values of the type `V`: any [`IndexKey`] to any
/// [`IndexValue`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "an `Index` can't map keys of type `{Self}` to values of type `{V}`",
    label = "these types have no index"
)]
pub trait KeyFor<V: IndexValue>: IndexKey {
    /// What stores the entries.
    #[doc(hidden)]
    type Engine: Engine<Self, V>;
}

impl<K, V: IndexValue> KeyFor<V> for K
where
    K: IndexKey<Form: Choice<K, V, V::Form>>,
{
    type Engine = <K::Form as Choice<K, V, V::Form>>::Engine;
}

/// The choice of an engine by the forms of keys (`Self`) and of values (`F`).
pub trait Choice<K: IndexKey, V: IndexValue, F> {
    type Engine: Engine<K, V>;
}

/// What stores the entries of an index.
pub trait Engine<K: IndexKey, V: IndexValue>:
    Storage + Sync + Changes<K, V> + Bulk<K, V> + Ranked<K, V> + Neighbours<K, V> + Scanned<K, V>
{
    type Entries<'i>: DoubleEndedIterator<Item = (K, V)> + FusedIterator + Clone + fmt::Debug
    where
        Self: 'i;

    /// Creates an index of entries in any order; of equal keys the last one stays.
    fn collect(entries: impl IntoIterator<Item = (K, V)>) -> Result<Self>;
    fn extend(&self, entries: impl IntoIterator<Item = (K, V)>) -> Result<()>;

    /// Compares two keys by the order of the index.
    fn order(one: &K, other: &K) -> Ordering;
    fn get(&self, key: K::Probe<'_>) -> Option<V>;
    /// Calls `see` with the value of a key.
    fn see<R>(&self, key: K::Probe<'_>, see: impl FnOnce(V::Lent<'_>) -> R) -> Option<R>;
    fn contains(&self, key: K::Probe<'_>) -> bool;
    fn insert(&self, key: K::Probe<'_>, value: V::Given<'_>) -> Result<Option<V>>;
    fn remove(&self, key: K::Probe<'_>) -> Option<V>;
    /// Returns the tries of an operation with a closure on `key`.
    fn tries(&self, key: K::Probe<'_>) -> Tries<'_>;
    fn get_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<V>]) -> Result<()>;
    /// Calls `see` with the position of each key and its value, in the keys' order.
    fn get_each(&self, keys: &[K::Probe<'_>], see: impl FnMut(usize, Option<V::Lent<'_>>));

    /// Returns the nearest entry in a direction: the key's own or the next one, without the key's own if it
    /// is excluded, or the first one if there is no key.
    fn near(&self, from: Bound<K::Probe<'_>>, direction: Direction) -> Option<(K, V)>;
    fn pop(&self, direction: Direction) -> Option<(K, V)>;

    fn all(&self) -> Self::Entries<'_>;
    /// Takes up to `most` entries from an end, and none ahead of these, past those that the iterator has read
    /// already: from the front, if the direction is forward. Returns whether there may be more.
    fn page(
        entries: &mut Self::Entries<'_>,
        direction: Direction,
        most: usize,
        mut each: impl FnMut(K, V),
    ) -> bool {
        (0..most).all(|_| {
            let entry = match direction {
                Direction::Forward => entries.next(),
                Direction::Reverse => entries.next_back(),
            };
            entry.map(|(key, value)| each(key, value)).is_some()
        })
    }
    /// The same. `show` gets the values, lent, and `each` the keys of those for which it returns something,
    /// with that.
    fn steps<R>(
        entries: &mut Self::Entries<'_>,
        direction: Direction,
        most: usize,
        show: impl Fn(V::Lent<'_>) -> Option<R>,
        mut each: impl FnMut(K, R),
    ) -> bool {
        Self::page(entries, direction, most, |key, value| {
            if let Some(shown) = show(value.lend()) {
                each(key, shown);
            }
        })
    }
    /// Returns the entries of a range; of an inverted range, none.
    fn entries<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Self::Entries<'_>;
    /// Returns the entries of a range.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange).
    fn try_entries<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<Self::Entries<'_>>;
    /// Returns the number of keys in a range; in an inverted range, zero.
    fn count<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> usize;
    /// Removes the keys of a range and returns their number.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange); the index is then unchanged.
    fn remove_range<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> Result<usize>;
    fn clear(&self);

    /// Looks up many keys, with the answers in columns, and returns how many were found.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers).
    fn get_columns(&self, keys: &[K::Probe<'_>], values: &mut [V], found: &mut [bool]) -> Result<usize> {
        check_columns(keys.len(), [values.len(), found.len()])?;
        fill(keys, found, |keys, answers| self.get_many(keys, answers), |at, value| values[at] = value)
    }

    /// Removes many keys, with the answers in columns, and returns how many were present.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers).
    fn remove_columns(&self, keys: &[K::Probe<'_>], values: &mut [V], found: &mut [bool]) -> Result<usize> {
        check_columns(keys.len(), [values.len(), found.len()])?;
        fill(keys, found, |keys, removed| self.remove_many(keys, removed), |at, value| values[at] = value)
    }

    /// Finds the neighbour of each key on this side, and returns how many have one.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers).
    fn near_columns(
        &self,
        side: Side,
        keys: &[K::Probe<'_>],
        (found_keys, values, found): (&mut [K], &mut [V], &mut [bool]),
    ) -> Result<usize> {
        check_columns(keys.len(), [found_keys.len(), values.len(), found.len()])?;
        let near = |keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]| {
            self.near_many(side, keys, answers);
            Ok(())
        };
        fill(keys, found, near, |at, entry| (found_keys[at], values[at]) = entry)
    }

    /// Appends the entries of a range to columns, and returns how many there are.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory); the columns are then unchanged.
    fn range_columns<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        keys: &mut Vec<K>,
        values: &mut Vec<V>,
    ) -> Result<usize> {
        let (keys_before, values_before) = (keys.len(), values.len());
        for (key, value) in self.entries(range) {
            if let Err(error) = reserve(keys, 1).and_then(|()| reserve(values, 1)) {
                keys.truncate(keys_before);
                values.truncate(values_before);
                return Err(error);
            }
            keys.push(key);
            values.push(value);
        }
        Ok(keys.len() - keys_before)
    }

    /// Returns a key at which a range is divided into two parts, neither of them empty; `None` if the range
    /// is short.
    #[cfg(feature = "rayon")]
    fn middle<'q>(&self, (low, high): (Bound<K::Probe<'q>>, Bound<K::Probe<'q>>)) -> Option<K> {
        let len = self.count((low, high));
        if len < 2 * PART_MIN {
            return None;
        }
        let before = match low {
            Bound::Included(key) => self.count((Bound::Unbounded, Bound::Excluded(key))),
            Bound::Excluded(key) => self.count((Bound::Unbounded, Bound::Included(key))),
            Bound::Unbounded => 0,
        };
        self.nth(before + len / 2).map(|(key, _)| key)
    }

    /// Calls `see` with every entry of a range, ascending, until it breaks.
    #[cfg(feature = "rayon")]
    fn each<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        mut see: impl FnMut(K, V) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.entries(range).try_for_each(|(key, value)| see(key, value))
    }
}

/// The minimum number of entries of a part that another thread visits.
#[cfg(feature = "rayon")]
const PART_MIN: usize = 256;
