//! What goes by the order of the keys: the ends, neighbours, counts and ranges.

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
    /// Removes the entry with the smallest key, as [`Index::pop_first`] does; its value is retired.
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

    /// Removes the entry with the largest key; otherwise as [`BoxedIndex::pop_first`].
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

    /// The entry that `find` finds, once its value is found as well. A handle names one value only, so that
    /// is the entry of the moment in which `find` took effect; if the value was retired since, it starts
    /// again.
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

    /// The entry with the smallest key. O(log n).
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

    /// The entry with the largest key. O(log n).
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

    /// The entry with the largest key that is at most `key`. O(log n).
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

    /// The entry with the smallest key that is at least `key`. O(log n).
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

    /// The entry with the largest key below `key`. O(log n).
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

    /// The entry with the smallest key above `key`. O(log n).
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

    /// The entry whose key is nearest to `key`, as [`Index::nearest`].
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

    /// As [`BoxedIndex::nearest`], by the caller's distance, as [`Index::nearest_by`].
    pub fn nearest_by<'p, D: Ord>(
        &'p self,
        key: K,
        (own, distance): (Own, impl Fn(K, K) -> D),
        pin: &'p Pinned,
    ) -> Option<(K, &'p T)> {
        self.entry(pin, |index| index.nearest_by(key, own, &distance))
    }

    /// How many keys lie in a range, as [`Index::count`].
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

    /// How many keys are less than this one, as [`Index::rank`].
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

    /// The entry before which there are so many others, as [`Index::nth`].
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

    /// Keys that cut the index into so many parts of equal size, as [`Index::split_points`].
    pub fn split_points(&self, parts: usize) -> Vec<K> {
        self.index.split_points(parts)
    }

    /// The entries of a range under one pin, as [`Index::range`]. A value that is replaced after its
    /// leaf was read is shown as it is when its turn comes.
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

    /// As [`BoxedIndex::range`], for ends that may be the wrong way round.
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

    /// All entries under one pin; otherwise as [`BoxedIndex::range`].
    pub fn iter<'p>(&'p self, pin: &'p Pinned) -> BoxedEntries<'p, K, T> {
        BoxedEntries { entries: self.index.iter(), index: self, pin }
    }
}

/// The entries of a range of a [`BoxedIndex`], from both ends. Weakly consistent, like [`Entries`].
pub struct BoxedEntries<'p, K: Key, T: Send + Sync + 'static> {
    entries: Entries<&'p Index<K, SlotId>>,
    index: &'p BoxedIndex<K, T>,
    pin: &'p Pinned,
}

impl<'p, K: Key, T: Send + Sync + 'static> BoxedEntries<'p, K, T> {
    /// The value that is stored under a key of the range: the one of its handle, or what came after it.
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
