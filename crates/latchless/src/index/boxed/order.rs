//! Operations by the order of keys: the ends, neighbours, counts and ranges.

use super::{Boxed, HandleIndex, KeyArg, KeyForm};
use crate::slot_map::Pinned;
use core::fmt;
use core::iter::FusedIterator;
use core::ops::Bound::{self, Excluded, Included, Unbounded};
use core::ops::RangeBounds;
use latchless_core::base::error::Result;
use latchless_core::base::index::Direction::{self, Forward, Reverse};

impl<I: HandleIndex, T: Send + Sync + 'static> Boxed<I, T> {
    /// Removes the entry with the smallest key; its value is retired. See
    /// [`Index::pop_first`](crate::Index::pop_first).
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.pop_first(&names.pin()), Some((5, &"five")));
    /// ```
    pub fn pop_first<'p>(&'p self, pin: &'p Pinned) -> Option<(I::Key, &'p T)> {
        self.pop(Forward, pin)
    }

    /// Removes the entry with the largest key; its value is retired. See [`Boxed::pop_first`].
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.pop_last(&names.pin()), Some((9, &"nine")));
    /// ```
    pub fn pop_last<'p>(&'p self, pin: &'p Pinned) -> Option<(I::Key, &'p T)> {
        self.pop(Reverse, pin)
    }

    pub(super) fn pop<'p>(&'p self, direction: Direction, pin: &'p Pinned) -> Option<(I::Key, &'p T)> {
        let (key, handle) = self.index.pop(direction)?;
        self.retire(handle, pin).map(|value| (key, value))
    }

    /// Calls `see` with the entry that is nearest to `from` in a direction. A handle names one value only,
    /// so that is the entry of the moment of the search; if the value was retired since, the search is
    /// repeated.
    #[inline]
    pub(super) fn near<'p, R>(
        &'p self,
        from: Bound<I::KeyRef<'_>>,
        direction: Direction,
        pin: &'p Pinned,
        see: impl FnOnce(I::KeyRef<'_>, &'p T) -> R,
    ) -> Option<R> {
        let mut see = Some(see);
        loop {
            let seen = self.index.near(from, direction, |key, handle| {
                let value = self.slots.read(handle, pin)?;
                see.take().map(|see| see(key, value))
            })?;
            if seen.is_some() {
                return seen;
            }
        }
    }

    /// Returns the entry with the smallest key. O(log n).
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.first(&names.pin()), Some((5, &"five")));
    /// ```
    pub fn first<'p>(&'p self, pin: &'p Pinned) -> Option<(I::Key, &'p T)> {
        self.first_with(pin, owned::<I, T>)
    }

    /// Returns the entry with the largest key. O(log n).
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.last(&names.pin()), Some((9, &"nine")));
    /// ```
    pub fn last<'p>(&'p self, pin: &'p Pinned) -> Option<(I::Key, &'p T)> {
        self.last_with(pin, owned::<I, T>)
    }

    /// Returns the entry with the largest key that is at most `key`. O(log n).
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.floor(8, &names.pin()), Some((7, &"seven")));
    /// ```
    pub fn floor<'p, A>(&'p self, key: A, pin: &'p Pinned) -> Option<(I::Key, &'p T)>
    where
        I: KeyArg<A>,
    {
        self.floor_with(key, pin, owned::<I, T>)
    }

    /// Returns the entry with the smallest key that is at least `key`. O(log n).
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.ceiling(8, &names.pin()), Some((9, &"nine")));
    /// ```
    pub fn ceiling<'p, A>(&'p self, key: A, pin: &'p Pinned) -> Option<(I::Key, &'p T)>
    where
        I: KeyArg<A>,
    {
        self.ceiling_with(key, pin, owned::<I, T>)
    }

    /// Returns the entry with the largest key below `key`. O(log n).
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.lower(7, &names.pin()), Some((5, &"five")));
    /// ```
    pub fn lower<'p, A>(&'p self, key: A, pin: &'p Pinned) -> Option<(I::Key, &'p T)>
    where
        I: KeyArg<A>,
    {
        self.lower_with(key, pin, owned::<I, T>)
    }

    /// Returns the entry with the smallest key above `key`. O(log n).
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.higher(7, &names.pin()), Some((9, &"nine")));
    /// ```
    pub fn higher<'p, A>(&'p self, key: A, pin: &'p Pinned) -> Option<(I::Key, &'p T)>
    where
        I: KeyArg<A>,
    {
        self.higher_with(key, pin, owned::<I, T>)
    }

    /// Calls `see` with the entry that has the smallest key. See [`Boxed::ceiling_with`].
    pub fn first_with<'p, R>(
        &'p self,
        pin: &'p Pinned,
        see: impl FnOnce(I::KeyRef<'_>, &'p T) -> R,
    ) -> Option<R> {
        self.near(Unbounded, Forward, pin, see)
    }

    /// Calls `see` with the entry that has the largest key. See [`Boxed::ceiling_with`].
    pub fn last_with<'p, R>(
        &'p self,
        pin: &'p Pinned,
        see: impl FnOnce(I::KeyRef<'_>, &'p T) -> R,
    ) -> Option<R> {
        self.near(Unbounded, Reverse, pin, see)
    }

    /// Calls `see` with the entry of [`Boxed::floor`]. See [`Boxed::ceiling_with`].
    pub fn floor_with<'p, A, R>(
        &'p self,
        key: A,
        pin: &'p Pinned,
        see: impl FnOnce(I::KeyRef<'_>, &'p T) -> R,
    ) -> Option<R>
    where
        I: KeyArg<A>,
    {
        I::with_arg(key, |key| self.near(Included(key), Reverse, pin, see))
    }

    /// Calls `see` with the entry of [`Boxed::ceiling`], and returns the result. A key that is a byte string
    /// is lent as bytes, so it isn't allocated; see
    /// [`Index::ceiling_with`](crate::Index::ceiling_with). O(log n).
    ///
    /// ```
    /// let pages = latchless::bytes::BoxedBytesIndex::<String, Vec<u8>>::new()?;
    /// let pin = pages.pin();
    /// pages.insert("/index.html", b"<html>".to_vec(), &pin)?;
    /// let found = pages.ceiling_with("/a", &pin, |key, page| (key == b"/index.html", page.len()));
    /// assert_eq!(found, Some((true, 6)));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn ceiling_with<'p, A, R>(
        &'p self,
        key: A,
        pin: &'p Pinned,
        see: impl FnOnce(I::KeyRef<'_>, &'p T) -> R,
    ) -> Option<R>
    where
        I: KeyArg<A>,
    {
        I::with_arg(key, |key| self.near(Included(key), Forward, pin, see))
    }

    /// Calls `see` with the entry of [`Boxed::lower`]. See [`Boxed::ceiling_with`].
    pub fn lower_with<'p, A, R>(
        &'p self,
        key: A,
        pin: &'p Pinned,
        see: impl FnOnce(I::KeyRef<'_>, &'p T) -> R,
    ) -> Option<R>
    where
        I: KeyArg<A>,
    {
        I::with_arg(key, |key| self.near(Excluded(key), Reverse, pin, see))
    }

    /// Calls `see` with the entry of [`Boxed::higher`]. See [`Boxed::ceiling_with`].
    pub fn higher_with<'p, A, R>(
        &'p self,
        key: A,
        pin: &'p Pinned,
        see: impl FnOnce(I::KeyRef<'_>, &'p T) -> R,
    ) -> Option<R>
    where
        I: KeyArg<A>,
    {
        I::with_arg(key, |key| self.near(Excluded(key), Forward, pin, see))
    }

    /// Returns the number of keys in a range. See [`Index::count`](crate::Index::count) and
    /// [`Index::count`](crate::Index::count).
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// assert_eq!(names.count(6..), 2);
    /// ```
    pub fn count<Q: ?Sized>(&self, range: impl RangeBounds<Q>) -> usize
    where
        I: KeyForm<Q>,
    {
        I::with_span(&range, |span| self.index.count_span(span))
    }

    /// Returns an iterator over the entries of a range, under one pin. A value that is replaced after its
    /// leaf was read is shown in its state when the iterator reaches it. See
    /// [`Index::range`](crate::Index::range).
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// let pin = names.pin();
    /// let backwards: Vec<_> = names.range(6.., &pin).rev().map(|(_, &name)| name).collect();
    /// assert_eq!(backwards, ["nine", "seven"]);
    /// ```
    pub fn range<'p, Q: ?Sized>(&'p self, range: impl RangeBounds<Q>, pin: &'p Pinned) -> Entries<'p, I, T>
    where
        I: KeyForm<Q>,
    {
        self.entries_of(pin, |index| I::with_span(&range, |span| index.entries(span)))
    }

    /// Returns an iterator over the entries of a range, which may be inverted. See [`Boxed::range`].
    ///
    /// # Errors
    /// [`Error::InvertedRange`](crate::Error::InvertedRange) if the range starts after its end.
    ///
    /// ```
    /// # let names: latchless::BoxedIndex<u32, &str> = [(5, "five"), (7, "seven"), (9, "nine")].into();
    /// let pin = names.pin();
    /// assert_eq!(names.try_range(9..5, &pin).err(), Some(latchless::Error::InvertedRange));
    /// assert_eq!(names.try_range(5..9, &pin)?.count(), 2);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn try_range<'p, Q: ?Sized>(
        &'p self,
        range: impl RangeBounds<Q>,
        pin: &'p Pinned,
    ) -> Result<Entries<'p, I, T>>
    where
        I: KeyForm<Q>,
    {
        let entries = I::with_span(&range, |span| self.index.try_entries(span))?;
        Ok(Entries::new(entries, self, pin))
    }

    /// Returns an iterator over the entries of handles that `find` finds.
    #[inline]
    pub(crate) fn entries_of<'p>(
        &'p self,
        pin: &'p Pinned,
        find: impl FnOnce(&'p I) -> I::Entries<'p>,
    ) -> Entries<'p, I, T> {
        Entries::new(find(&self.index), self, pin)
    }

    /// Returns an iterator over all entries, under one pin. See [`Boxed::range`].
    pub fn iter<'p>(&'p self, pin: &'p Pinned) -> Entries<'p, I, T> {
        self.entries_of(pin, |index| index.entries((Unbounded, Unbounded)))
    }
}

/// Returns an entry with its key in owned form.
#[inline(always)]
fn owned<'p, I: HandleIndex, T>(key: I::KeyRef<'_>, value: &'p T) -> (I::Key, &'p T) {
    (I::own(key), value)
}

/// An iterator over the entries of a range of a [`Boxed`], from both ends. Weakly consistent, like the
/// [`Entries`](crate::index::Entries) of an [`Index`](crate::Index).
pub struct Entries<'p, I: HandleIndex + 'p, T: Send + Sync + 'static> {
    entries: I::Entries<'p>,
    boxed: &'p Boxed<I, T>,
    pin: &'p Pinned,
}

/// A clone goes on from the same entry.
impl<I: HandleIndex, T: Send + Sync + 'static> Clone for Entries<'_, I, T> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), ..*self }
    }
}

impl<'p, I: HandleIndex, T: Send + Sync + 'static> Entries<'p, I, T> {
    #[inline]
    pub(super) fn new(entries: I::Entries<'p>, boxed: &'p Boxed<I, T>, pin: &'p Pinned) -> Self {
        Self { entries, boxed, pin }
    }

    /// Calls `show` with the next entry from an end: the value of its handle, or the one that replaced it.
    #[inline]
    pub(super) fn step<R>(
        &mut self,
        direction: Direction,
        show: impl Fn(I::KeyRef<'_>, &'p T) -> R,
    ) -> Option<R> {
        let (boxed, pin) = (self.boxed, self.pin);
        loop {
            let shown = I::step(&mut self.entries, direction, |key, handle| {
                boxed.value_of(handle, key, pin).map(|value| show(key, value))
            })?;
            if shown.is_some() {
                return shown;
            }
        }
    }
}

impl<'p, I: HandleIndex, T: Send + Sync + 'static> Iterator for Entries<'p, I, T> {
    type Item = (I::Key, &'p T);

    fn next(&mut self) -> Option<Self::Item> {
        self.step(Forward, owned::<I, T>)
    }
}

impl<I: HandleIndex, T: Send + Sync + 'static> DoubleEndedIterator for Entries<'_, I, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(Reverse, owned::<I, T>)
    }
}

impl<I: HandleIndex, T: Send + Sync + 'static> FusedIterator for Entries<'_, I, T> {}

impl<I: HandleIndex, T: Send + Sync + 'static> fmt::Debug for Entries<'_, I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.fmt(f)
    }
}
