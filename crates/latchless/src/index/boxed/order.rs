//! Operations by the order of keys: the ends, neighbours, counts and ranges.

use super::BoxedIndex;
use crate::index::{Entries, Index, Own};
use crate::slot_map::{Pinned, SlotId};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::RangeBounds;
use latchless_core::base::distance::Distance;
use latchless_core::base::error::Result;
use latchless_core::base::key::Key;

impl<K: Key, T: Send + Sync + 'static> BoxedIndex<K, T> {
    /// Removes the entry with the smallest key; its value is retired. See [`Index::pop_first`].
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// # for (number, name) in [(5, "five"), (7, "seven"), (9, "nine")] {
    /// #     names.insert(number, name.to_owned(), &pin)?;
    /// # }
    /// assert_eq!(names.pop_first(&pin).unwrap(), (5, &"five".to_owned()));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn pop_first<'p>(&'p self, pin: &'p Pinned) -> Option<(K, &'p T)> {
        let (key, handle) = self.index.pop_first()?;
        self.retire(handle, pin).map(|value| (key, value))
    }

    /// Removes the entry with the largest key; its value is retired. See [`BoxedIndex::pop_first`].
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// # for (number, name) in [(5, "five"), (7, "seven"), (9, "nine")] {
    /// #     names.insert(number, name.to_owned(), &pin)?;
    /// # }
    /// assert_eq!(names.pop_last(&pin).unwrap(), (9, &"nine".to_owned()));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn pop_last<'p>(&'p self, pin: &'p Pinned) -> Option<(K, &'p T)> {
        let (key, handle) = self.index.pop_last()?;
        self.retire(handle, pin).map(|value| (key, value))
    }

    /// Returns the entry that `find` finds, with its value. A handle names one value only, so that is the
    /// entry of the moment in which `find` took effect; if the value was retired since, it starts again.
    fn entry<'p>(
        &'p self,
        pin: &'p Pinned,
        find: impl Fn(&Index<K, SlotId>) -> Option<(K, SlotId)>,
    ) -> Option<(K, &'p T)> {
        loop {
            let (key, handle) = find(&self.index)?;
            if let Some(value) = self.slots.read(handle, pin) {
                return Some((key, value));
            }
        }
    }

    /// Returns the entry with the smallest key. O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// # for (number, name) in [(5, "five"), (7, "seven"), (9, "nine")] {
    /// #     names.insert(number, name.to_owned(), &pin)?;
    /// # }
    /// assert_eq!(names.first(&pin).unwrap(), (5, &"five".to_owned()));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn first<'p>(&'p self, pin: &'p Pinned) -> Option<(K, &'p T)> {
        self.entry(pin, Index::first)
    }

    /// Returns the entry with the largest key. O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// # for (number, name) in [(5, "five"), (7, "seven"), (9, "nine")] {
    /// #     names.insert(number, name.to_owned(), &pin)?;
    /// # }
    /// assert_eq!(names.last(&pin).unwrap(), (9, &"nine".to_owned()));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn last<'p>(&'p self, pin: &'p Pinned) -> Option<(K, &'p T)> {
        self.entry(pin, Index::last)
    }

    /// Returns the entry with the largest key that is at most `key`. O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// # for (number, name) in [(5, "five"), (7, "seven"), (9, "nine")] {
    /// #     names.insert(number, name.to_owned(), &pin)?;
    /// # }
    /// assert_eq!(names.floor(8, &pin).unwrap(), (7, &"seven".to_owned()));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn floor<'p>(&'p self, key: K, pin: &'p Pinned) -> Option<(K, &'p T)> {
        self.entry(pin, |index| index.floor(key))
    }

    /// Returns the entry with the smallest key that is at least `key`. O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// # for (number, name) in [(5, "five"), (7, "seven"), (9, "nine")] {
    /// #     names.insert(number, name.to_owned(), &pin)?;
    /// # }
    /// assert_eq!(names.ceiling(8, &pin).unwrap(), (9, &"nine".to_owned()));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn ceiling<'p>(&'p self, key: K, pin: &'p Pinned) -> Option<(K, &'p T)> {
        self.entry(pin, |index| index.ceiling(key))
    }

    /// Returns the entry with the largest key below `key`. O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// # for (number, name) in [(5, "five"), (7, "seven"), (9, "nine")] {
    /// #     names.insert(number, name.to_owned(), &pin)?;
    /// # }
    /// assert_eq!(names.lower(7, &pin).unwrap(), (5, &"five".to_owned()));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn lower<'p>(&'p self, key: K, pin: &'p Pinned) -> Option<(K, &'p T)> {
        self.entry(pin, |index| index.lower(key))
    }

    /// Returns the entry with the smallest key above `key`. O(log n).
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// # for (number, name) in [(5, "five"), (7, "seven"), (9, "nine")] {
    /// #     names.insert(number, name.to_owned(), &pin)?;
    /// # }
    /// assert_eq!(names.higher(7, &pin).unwrap(), (9, &"nine".to_owned()));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn higher<'p>(&'p self, key: K, pin: &'p Pinned) -> Option<(K, &'p T)> {
        self.entry(pin, |index| index.higher(key))
    }

    /// Returns the entry whose key is nearest to `key`. See [`Index::nearest`].
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// # for (number, name) in [(5, "five"), (7, "seven"), (12, "twelve")] {
    /// #     names.insert(number, name.to_owned(), &pin)?;
    /// # }
    /// assert_eq!(names.nearest(9, &pin).unwrap(), (7, &"seven".to_owned()));
    /// assert_eq!(names.nearest(6, &pin).unwrap(), (5, &"five".to_owned()));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn nearest<'p>(&'p self, key: K, pin: &'p Pinned) -> Option<(K, &'p T)>
    where
        K: Distance,
    {
        self.entry(pin, |index| index.nearest(key))
    }

    /// Returns the entry whose key is nearest to `key` by the caller's distance. See [`Index::nearest_by`].
    pub fn nearest_by<'p, D: Ord>(
        &'p self,
        key: K,
        (own, distance): (Own, impl Fn(K, K) -> D),
        pin: &'p Pinned,
    ) -> Option<(K, &'p T)> {
        self.entry(pin, |index| index.nearest_by(key, own, &distance))
    }

    /// Returns the number of keys in a range. See [`Index::count`].
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// # for (number, name) in [(5, "five"), (7, "seven"), (9, "nine")] {
    /// #     names.insert(number, name.to_owned(), &pin)?;
    /// # }
    /// assert_eq!(names.count(6..), 2);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn count(&self, range: impl RangeBounds<K>) -> usize {
        self.index.count(range)
    }

    /// Returns the number of keys that are less than `key`. See [`Index::rank`].
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// # for (number, name) in [(5, "five"), (7, "seven"), (9, "nine")] {
    /// #     names.insert(number, name.to_owned(), &pin)?;
    /// # }
    /// assert_eq!(names.rank(9), 2);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn rank(&self, key: K) -> usize {
        self.index.rank(key)
    }

    /// Returns the entry before which there are `position` others. See [`Index::nth`].
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// # for (number, name) in [(5, "five"), (7, "seven"), (9, "nine")] {
    /// #     names.insert(number, name.to_owned(), &pin)?;
    /// # }
    /// assert_eq!(names.nth(1, &pin).unwrap(), (7, &"seven".to_owned()));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn nth<'p>(&'p self, position: usize, pin: &'p Pinned) -> Option<(K, &'p T)> {
        self.entry(pin, |index| index.nth(position))
    }

    /// Returns keys that partition the index into parts of equal size. See [`Index::split_points`].
    pub fn split_points(&self, parts: usize) -> Vec<K> {
        self.index.split_points(parts)
    }

    /// Returns an iterator over the entries of a range, under one pin. A value that is replaced after its
    /// leaf was read is shown in its state when the iterator reaches it. See [`Index::range`].
    ///
    /// ```
    /// # let names = latchless::BoxedIndex::<u32, String>::new()?;
    /// # let pin = names.pin();
    /// for (number, name) in [(5, "five"), (7, "seven"), (9, "nine")] {
    ///     names.insert(number, name.to_owned(), &pin)?;
    /// }
    /// let backwards: Vec<_> = names.range(6.., &pin).rev().map(|(_, name)| name.as_str()).collect();
    /// assert_eq!(backwards, ["nine", "seven"]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn range<'p>(&'p self, range: impl RangeBounds<K>, pin: &'p Pinned) -> BoxedEntries<'p, K, T> {
        BoxedEntries { entries: self.index.range(range), index: self, pin }
    }

    /// Returns an iterator over the entries of a range, which may be inverted. See [`BoxedIndex::range`].
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
    pub fn try_range<'p>(
        &'p self,
        range: impl RangeBounds<K>,
        pin: &'p Pinned,
    ) -> Result<BoxedEntries<'p, K, T>> {
        Ok(BoxedEntries { entries: self.index.try_range(range)?, index: self, pin })
    }

    /// Returns an iterator over all entries, under one pin. See [`BoxedIndex::range`].
    pub fn iter<'p>(&'p self, pin: &'p Pinned) -> BoxedEntries<'p, K, T> {
        BoxedEntries { entries: self.index.iter(), index: self, pin }
    }
}

/// An iterator over the entries of a range of a [`BoxedIndex`], from both ends. Weakly consistent, like
/// [`Entries`].
pub struct BoxedEntries<'p, K: Key, T: Send + Sync + 'static> {
    entries: Entries<&'p Index<K, SlotId>>,
    index: &'p BoxedIndex<K, T>,
    pin: &'p Pinned,
}

impl<'p, K: Key, T: Send + Sync + 'static> BoxedEntries<'p, K, T> {
    /// Returns the value of a key of the range: the one of its handle, or the one that replaced it.
    fn value(&self, key: K, handle: SlotId) -> Option<&'p T> {
        self.index.slots.read(handle, self.pin).or_else(|| self.index.get(key, self.pin))
    }
}

impl<'p, K: Key, T: Send + Sync + 'static> Iterator for BoxedEntries<'p, K, T> {
    type Item = (K, &'p T);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (key, handle) = self.entries.next()?;
            if let Some(value) = self.value(key, handle) {
                return Some((key, value));
            }
        }
    }
}

impl<K: Key, T: Send + Sync + 'static> DoubleEndedIterator for BoxedEntries<'_, K, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        loop {
            let (key, handle) = self.entries.next_back()?;
            if let Some(value) = self.value(key, handle) {
                return Some((key, value));
            }
        }
    }
}

impl<K: Key, T: Send + Sync + 'static> FusedIterator for BoxedEntries<'_, K, T> {}

impl<K: Key, T: Send + Sync + 'static> fmt::Debug for BoxedEntries<'_, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.fmt(f)
    }
}
