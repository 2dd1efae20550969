//! The memtable of `lsm-tree`, with its entries in a `latchless::Index`.
//!
//! The engine orders its entries by user key and, of one key, by falling sequence number. The index has
//! that key, and the place of the entry in a vector that only grows. So a reader clones the entry as the
//! engine made it, by two reference counts, and no key is rebuilt from the index's bytes.
//!
//! A place is filled before its number is in the index, so a reader that finds the number finds the entry.
//!
//! Keys that the index refuses because they are too long (each zero byte counts twice) are in an additional
//! skip list, which is nearly always empty.

use crate::key::InternalKey;
use crate::value::{InternalValue, SeqNo, UserValue};
use crossbeam_skiplist::SkipMap;
use latchless::Index;
use std::cmp::Reverse;
use std::ops::RangeBounds;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub use crate::tree::inner::MemtableId;

#[cfg(test)]
mod model;
#[cfg(test)]
mod race;

/// A key as the index stores it and as lookups pass it.
type StoredKey = (Vec<u8>, Reverse<SeqNo>);
type AskedKey<'k> = (&'k [u8], Reverse<SeqNo>);

fn asked(key: &InternalKey) -> AskedKey<'_> {
    (&key.user_key, Reverse(key.seqno))
}

/// Sorted entries in memory, until they are written to a table on disk.
pub struct Memtable {
    #[doc(hidden)]
    pub id: MemtableId,
    places: Index<StoredKey, usize>,
    contents: boxcar::Vec<InternalValue>,
    too_long: SkipMap<InternalKey, UserValue>,
    /// About how many bytes the entries have.
    approximate_size: AtomicU64,
    /// The highest sequence number so far.
    highest_seqno: AtomicU64,
    requested_rotation: AtomicBool,
}

impl Memtable {
    /// The number of this memtable.
    pub fn id(&self) -> MemtableId {
        self.id
    }

    /// Whether a new memtable in place of this one was requested.
    pub fn is_flagged_for_rotation(&self) -> bool {
        self.requested_rotation.load(Ordering::Relaxed)
    }

    /// Requests a new memtable in place of this one.
    pub fn flag_rotated(&self) {
        self.requested_rotation.store(true, Ordering::Relaxed);
    }

    /// An empty memtable.
    #[doc(hidden)]
    #[must_use]
    pub fn new(id: MemtableId) -> Self {
        Self {
            id,
            places: Index::default(),
            contents: boxcar::Vec::new(),
            too_long: SkipMap::new(),
            approximate_size: AtomicU64::default(),
            highest_seqno: AtomicU64::default(),
            requested_rotation: AtomicBool::default(),
        }
    }

    fn item(&self, place: usize) -> InternalValue {
        #[allow(clippy::expect_used)]
        self.contents.get(place).expect("filled before the index had it").clone()
    }

    /// All entries, in order, from both ends.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = InternalValue> + '_ {
        let stored = self.places.iter().values().map(|place| self.item(place));
        Entries::new(stored, (!self.too_long.is_empty()).then(|| self.too_long.iter().map(long_item)))
    }

    /// The entries of a range, in order, from both ends. A range that starts after its end has none.
    pub(crate) fn range<'a, R: RangeBounds<InternalKey> + 'a>(
        &'a self,
        range: R,
    ) -> impl DoubleEndedIterator<Item = InternalValue> + 'a {
        let ends = (range.start_bound().map(asked), range.end_bound().map(asked));
        let stored = self.places.range(ends).values().map(|place| self.item(place));
        Entries::new(stored, (!self.too_long.is_empty()).then(|| self.too_long.range(range).map(long_item)))
    }

    /// The newest entry of a key whose sequence number is less than `seqno`.
    #[doc(hidden)]
    pub fn get(&self, key: &[u8], seqno: SeqNo) -> Option<InternalValue> {
        let newest = seqno.checked_sub(1)?;
        let bound: AskedKey<'_> = (key, Reverse(newest));
        let stored = self.places.ceiling(bound).map(|(_, place)| self.item(place));
        let stored = stored.filter(|item| *item.key.user_key == *key);
        if self.too_long.is_empty() {
            return stored;
        }
        let bound = InternalKey::new(key, newest, crate::ValueType::Value);
        let long = self.too_long.lower_bound(std::ops::Bound::Included(&bound)).map(long_item);
        let long = long.filter(|item| *item.key.user_key == *key);
        stored.into_iter().chain(long).max_by_key(|item| item.key.seqno)
    }

    /// About how many bytes the entries have.
    pub fn size(&self) -> u64 {
        self.approximate_size.load(Ordering::Acquire)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.places.len() + self.too_long.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && self.too_long.is_empty()
    }

    /// Inserts an entry. Returns its size, and that of all entries with it.
    #[doc(hidden)]
    pub fn insert(&self, item: InternalValue) -> (u64, u64) {
        let size = (item.key.user_key.len() + item.value.len() + size_of::<InternalValue>()) as u64;
        let size_before = self.approximate_size.fetch_add(size, Ordering::AcqRel);
        let seqno = item.key.seqno;
        let place = self.contents.push(item);
        let content = &self.contents[place];
        if self.places.insert(asked(&content.key), place).is_err() {
            self.too_long.insert(content.key.clone(), content.value.clone());
        }
        self.highest_seqno.fetch_max(seqno, Ordering::AcqRel);
        (size, size_before + size)
    }

    /// The highest sequence number of all entries.
    pub fn get_highest_seqno(&self) -> Option<SeqNo> {
        (!self.is_empty()).then(|| self.highest_seqno.load(Ordering::Acquire))
    }
}

fn long_item(entry: crossbeam_skiplist::map::Entry<'_, InternalKey, UserValue>) -> InternalValue {
    InternalValue { key: entry.key().clone(), value: entry.value().clone() }
}

/// The entries of the index and, if there are any, those that are too long for it: two sorted iterators as one.
struct Entries<S, L> {
    stored: Side<S>,
    long: Option<Side<L>>,
}

/// An iterator, and the entries that were taken from each of its ends and not yet returned.
struct Side<I> {
    rest: I,
    first: Option<InternalValue>,
    last: Option<InternalValue>,
}

impl<I: DoubleEndedIterator<Item = InternalValue>> Side<I> {
    fn of(rest: I) -> Self {
        Self { rest, first: None, last: None }
    }

    /// Ensures that `first` is there, if anything is left.
    fn look_first(&mut self) -> Option<&InternalKey> {
        if self.first.is_none() {
            self.first = self.rest.next().or_else(|| self.last.take());
        }
        self.first.as_ref().map(|item| &item.key)
    }

    fn look_last(&mut self) -> Option<&InternalKey> {
        if self.last.is_none() {
            self.last = self.rest.next_back().or_else(|| self.first.take());
        }
        self.last.as_ref().map(|item| &item.key)
    }
}

impl<S, L> Entries<S, L>
where
    S: DoubleEndedIterator<Item = InternalValue>,
    L: DoubleEndedIterator<Item = InternalValue>,
{
    fn new(stored: S, long: Option<L>) -> Self {
        Self { stored: Side::of(stored), long: long.map(Side::of) }
    }
}

impl<S, L> Iterator for Entries<S, L>
where
    S: DoubleEndedIterator<Item = InternalValue>,
    L: DoubleEndedIterator<Item = InternalValue>,
{
    type Item = InternalValue;

    fn next(&mut self) -> Option<InternalValue> {
        let Some(long) = &mut self.long else { return self.stored.rest.next() };
        match (self.stored.look_first(), long.look_first()) {
            (Some(stored), Some(long_key)) if long_key < stored => long.first.take(),
            (None, _) => long.first.take(),
            _ => self.stored.first.take(),
        }
    }
}

impl<S, L> DoubleEndedIterator for Entries<S, L>
where
    S: DoubleEndedIterator<Item = InternalValue>,
    L: DoubleEndedIterator<Item = InternalValue>,
{
    fn next_back(&mut self) -> Option<InternalValue> {
        let Some(long) = &mut self.long else { return self.stored.rest.next_back() };
        match (self.stored.look_last(), long.look_last()) {
            (Some(stored), Some(long_key)) if long_key > stored => long.last.take(),
            (None, _) => long.last.take(),
            _ => self.stored.last.take(),
        }
    }
}
