//! Operations on whole ranges: fold, scan, remove; and iterators over keys or values only.

use super::order::Entries;
use super::{Boxed, HandleIndex, KeyForm, Pins, SlotId, Span};
use crate::index::settled;
use crate::slot_map::Pinned;
use crate::tree::Edit;
use core::iter::FusedIterator;
use core::ops::Bound::Unbounded;
use core::ops::{ControlFlow, RangeBounds};
use latchless_core::base::error::Result;
use latchless_core::base::index::Direction::{Forward, Reverse};

impl<I: HandleIndex, T: Send + Sync + 'static> Boxed<I, T> {
    /// Returns an iterator over all keys, ascending. Needs no pin.
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.keys().rev().collect::<Vec<_>>(), [9, 7, 5]);
    /// ```
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = I::Key> + FusedIterator + Clone + '_ {
        self.index.entries((Unbounded, Unbounded)).map(|(key, _)| key)
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
        Values(self.iter(pin))
    }

    /// Folds the entries of a range, ascending, into one result, under a temporary pin. A key that is a byte
    /// string is lent as bytes.
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.fold(6.., 0, |length, _, name| length + name.len()), 9);
    /// ```
    pub fn fold<Q: ?Sized, A>(
        &self,
        range: impl RangeBounds<Q>,
        start: A,
        mut fold: impl FnMut(A, I::KeyRef<'_>, &T) -> A,
    ) -> A
    where
        I: KeyForm<Q>,
    {
        let mut folded = Some(start);
        self.for_each(range, |key, value| {
            folded = folded.take().map(|so_far| fold(so_far, key, value));
        });
        folded.expect("it is put back after each entry")
    }

    /// Calls `each` with every entry of a range, ascending, under a temporary pin. A key that is a byte
    /// string is lent as bytes.
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// let mut longest = 0;
    /// names.for_each(.., |_, name| longest = longest.max(name.len()));
    /// assert_eq!(longest, 5);
    /// ```
    pub fn for_each<Q: ?Sized>(&self, range: impl RangeBounds<Q>, mut each: impl FnMut(I::KeyRef<'_>, &T))
    where
        I: KeyForm<Q>,
    {
        let _ = self.scan(range, |key, value| {
            each(key, value);
            ControlFlow::Continue(())
        });
    }

    /// Calls `see` with every entry of a range, ascending, until it breaks, under a temporary pin. Returns
    /// the last result of `see`. A key that is a byte string is lent as bytes.
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
    pub fn scan<Q: ?Sized>(
        &self,
        range: impl RangeBounds<Q>,
        see: impl FnMut(I::KeyRef<'_>, &T) -> ControlFlow<()>,
    ) -> ControlFlow<()>
    where
        I: KeyForm<Q>,
    {
        I::with_span(&range, |span| self.scan_within(span, see))
    }

    fn scan_within(
        &self,
        span: Span<'_, I>,
        mut see: impl FnMut(I::KeyRef<'_>, &T) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let pin = self.pin();
        self.index.scan_span(span, Forward, |key, handle| match self.value_of(handle, key, &pin) {
            Some(value) => see(key, value),
            None => ControlFlow::Continue(()),
        })
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
    pub fn remove_range<Q: ?Sized>(&self, range: impl RangeBounds<Q>) -> Result<usize>
    where
        I: KeyForm<Q>,
    {
        I::with_span(&range, |span| self.index.remove_span(span, self.retiring()))
    }

    /// Removes every entry for which `keep` returns `false`, and returns their number. O(n). `keep` is
    /// called with the value that is removed; if that changes meanwhile, it is called again. Entries that
    /// are inserted meanwhile may be tested or not. The [race rule](crate::index#races) applies to `keep`.
    ///
    /// # Panics
    /// If `keep` changes the value of its key in every call.
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.retain(|_, name| name.len() == 4), 1);
    /// assert_eq!(names.keys().collect::<Vec<_>>(), [5, 9]);
    /// ```
    pub fn retain(&self, mut keep: impl FnMut(I::KeyRef<'_>, &T) -> bool) -> usize {
        let (mut removed, mut pins) = (0, Pins::default());
        let _ = self.index.scan_span((Unbounded, Unbounded), Forward, |key, handle| {
            let pin = pins.next();
            removed += usize::from(self.remove_unless(key, handle, pin, |value| keep(key, value)));
            ControlFlow::Continue(())
        });
        removed
    }

    /// Removes a key that had this handle unless `keep` holds for its value. Returns whether it was removed.
    fn remove_unless(
        &self,
        key: I::KeyRef<'_>,
        handle: SlotId,
        pin: &Pinned,
        mut keep: impl FnMut(&T) -> bool,
    ) -> bool {
        let (mut current, mut tries) = (Some(handle), None);
        while let Some(handle) = current {
            let Some(value) = self.slots.read(handle, pin) else {
                // Retired meanwhile: the key has another handle now, or none.
                current = self.index.find(key);
                continue;
            };
            if keep(value) {
                return false;
            }
            let edited = settled(self.index.edit_handle(key, Edit::RemoveIf(handle)));
            if edited.applied {
                self.retire(handle, pin);
                return true;
            }
            settled(tries.get_or_insert_with(|| self.index.tries(key)).failed());
            current = edited.before;
        }
        false
    }
}

/// The values of a range: no key is put into owned form.
struct Values<'p, I: HandleIndex, T: Send + Sync + 'static>(Entries<'p, I, T>);

impl<'p, I: HandleIndex, T: Send + Sync + 'static> Iterator for Values<'p, I, T> {
    type Item = &'p T;

    fn next(&mut self) -> Option<&'p T> {
        self.0.step(Forward, |_, value| value)
    }
}

impl<I: HandleIndex, T: Send + Sync + 'static> DoubleEndedIterator for Values<'_, I, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.step(Reverse, |_, value| value)
    }
}

impl<I: HandleIndex, T: Send + Sync + 'static> FusedIterator for Values<'_, I, T> {}
