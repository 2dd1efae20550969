//! The memtable of `lsm-tree`, with its entries in a `latchless::bytes::BytesIndex`.
//!
//! The engine orders its entries by user key and, of one key, by falling sequence number. Whether an entry is
//! a value or a tombstone takes no part in that order, so it isn't in the key here: it is stored beside the
//! value, in a vector that only grows, and the index has the place there.
//!
//! A place is filled before the index has its number, so a reader that finds the number finds the value.

use crate::key::InternalKey;
use crate::segment::block::ItemSize;
use crate::value::{InternalValue, SeqNo, UserValue, ValueType};
use latchless::bytes::BytesIndex;
use std::cmp::Reverse;
use std::ops::RangeBounds;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[cfg(test)]
mod model;

/// A key as the index has it, and as the index is asked for it.
type StoredKey = (Vec<u8>, Reverse<SeqNo>);
type AskedKey<'k> = (&'k [u8], Reverse<SeqNo>);

fn asked(key: &InternalKey) -> AskedKey<'_> {
    (&key.user_key, Reverse(key.seqno))
}

/// Sorted entries in memory, until they are written to a segment on disk.
#[derive(Default)]
pub struct Memtable {
    places: BytesIndex<StoredKey, usize>,
    contents: boxcar::Vec<(ValueType, UserValue)>,

    /// About how many bytes the entries have. The engine reads these two itself.
    pub(crate) approximate_size: AtomicU32,
    /// The highest sequence number so far.
    pub(crate) highest_seqno: AtomicU64,
}

impl Memtable {
    /// Removes all entries.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn item(&self, (user_key, Reverse(seqno)): StoredKey, place: usize) -> InternalValue {
        #[allow(clippy::expect_used)]
        let (value_type, value) = self.contents.get(place).expect("filled before the index had it").clone();
        InternalValue { key: InternalKey::new(user_key, seqno, value_type), value }
    }

    /// All entries, in order, from both ends.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = InternalValue> + '_ {
        self.places.iter().map(|(key, place)| self.item(key, place))
    }

    /// The entries of a range, in order, from both ends. A range that starts after its end has none.
    pub(crate) fn range<'a, R: RangeBounds<InternalKey> + 'a>(
        &'a self,
        range: R,
    ) -> impl DoubleEndedIterator<Item = InternalValue> + 'a {
        let ends = (range.start_bound().map(asked), range.end_bound().map(asked));
        let entries = self.places.range::<AskedKey<'_>>(ends).ok();
        entries.into_iter().flatten().map(|(key, place)| self.item(key, place))
    }

    /// The newest entry of a key whose sequence number is less than `seqno`; without one, the newest entry.
    #[doc(hidden)]
    pub fn get(&self, key: &[u8], seqno: Option<SeqNo>) -> Option<InternalValue> {
        let newest = seqno.unwrap_or(SeqNo::MAX);
        let newest = if seqno.is_some() { newest.checked_sub(1)? } else { newest };
        let (found, place) = self.places.ceiling(&(key, Reverse(newest)))?;
        (found.0 == key).then(|| self.item(found, place))
    }

    /// About how many bytes the entries have.
    pub fn size(&self) -> u32 {
        self.approximate_size.load(Ordering::Acquire)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Puts an entry in. Returns its size, and that of all entries with it.
    ///
    /// # Panics
    /// If the index can't have the key: with each zero byte twice it has more than 65,525 bytes.
    #[doc(hidden)]
    #[allow(clippy::cast_possible_truncation, clippy::panic)]
    pub fn insert(&self, item: InternalValue) -> (u32, u32) {
        let size = item.size() as u32;
        let size_before = self.approximate_size.fetch_add(size, Ordering::AcqRel);
        let place = self.contents.push((item.key.value_type, item.value));
        if let Err(error) = self.places.insert(&asked(&item.key), place) {
            panic!("the memtable can't take this entry: {error}");
        }
        self.highest_seqno.fetch_max(item.key.seqno, Ordering::AcqRel);
        (size, size_before + size)
    }

    /// The highest sequence number of all entries.
    pub fn get_highest_seqno(&self) -> Option<SeqNo> {
        (!self.is_empty()).then(|| self.highest_seqno.load(Ordering::Acquire))
    }
}
