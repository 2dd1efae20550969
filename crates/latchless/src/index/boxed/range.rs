//! Operations on whole ranges: fold, scan, remove; and iterators over keys or values only.

use super::BoxedIndex;
use crate::slot_map::Pinned;
use core::iter::FusedIterator;
use core::ops::{ControlFlow, RangeBounds};
use latchless_core::base::error::Result;
use latchless_core::base::key::Key;

impl<K: Key, T: Send + Sync + 'static> BoxedIndex<K, T> {
    /// Returns an iterator over all keys, ascending. Needs no pin.
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.keys().rev().collect::<Vec<_>>(), [9, 7, 5]);
    /// ```
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = K> + FusedIterator + '_ {
        self.index.keys()
    }

    /// Returns an iterator over all values, in the order of their keys.
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.values(&names.pin()).collect::<Vec<_>>(), [&"five", &"seven", &"nine"]);
    /// ```
    pub fn values<'p>(
        &'p self,
        pin: &'p Pinned,
    ) -> impl DoubleEndedIterator<Item = &'p T> + FusedIterator + 'p {
        self.iter(pin).map(|(_, value)| value)
    }

    /// Folds the entries of a range, ascending, into one result, under a temporary pin.
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.fold(6.., 0, |length, _, name| length + name.len()), 9);
    /// ```
    pub fn fold<A>(&self, range: impl RangeBounds<K>, start: A, mut fold: impl FnMut(A, K, &T) -> A) -> A {
        let pin = self.pin();
        self.range(range, &pin).fold(start, |folded, (key, value)| fold(folded, key, value))
    }

    /// Calls `each` with every entry of a range, ascending, under a temporary pin.
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// let mut longest = 0;
    /// names.for_each(.., |_, name| longest = longest.max(name.len()));
    /// assert_eq!(longest, 5);
    /// ```
    pub fn for_each(&self, range: impl RangeBounds<K>, mut each: impl FnMut(K, &T)) {
        self.fold(range, (), |(), key, value| each(key, value));
    }

    /// Calls `see` with every entry of a range, ascending, until it breaks, under a temporary pin. Returns
    /// the last result of `see`.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// let mut seen = 0;
    /// let shown = names.scan(.., |_, name| {
    ///     seen += 1;
    ///     if *name == "seven" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    /// });
    /// assert!(shown.is_break() && seen == 2);
    /// ```
    pub fn scan(
        &self,
        range: impl RangeBounds<K>,
        mut see: impl FnMut(K, &T) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let pin = self.pin();
        self.range(range, &pin).try_for_each(|(key, value)| see(key, value))
    }

    /// Removes the keys of a range and returns their number; their values are retired. O(entries in the
    /// range). Atomic for each key, not for the whole range: keys that are inserted meanwhile may stay.
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange); the index is then unchanged.
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.remove_range(6..)?, 2);
    /// assert_eq!(names.last(&names.pin()), Some((5, &"five")));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn remove_range(&self, range: impl RangeBounds<K>) -> Result<usize> {
        self.index.access().remove_each(&range, self.retiring())
    }
}
