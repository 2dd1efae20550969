//! The memtable of `lsm-tree`, with its entries in a `latchless::Index`.
//!
//! The engine orders its entries by user key and, of one key, by falling sequence number. The index has
//! that key, and the place of the entry in a vector that only grows. So a reader clones the entry as the
//! engine made it, by two reference counts, and no key is rebuilt from the index's bytes.
//!
//! A place is filled before its number is in the index, so a reader that finds the number finds the entry.

use crate::key::InternalKey;
use crate::value::{InternalValue, SeqNo};
use latchless::{Index, VersionedKey};
use std::ops::RangeBounds;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub use crate::tree::inner::MemtableId;

#[cfg(test)]
mod memtables;
#[cfg(test)]
mod model;
#[cfg(test)]
mod race;

fn version(key: &InternalKey) -> VersionedKey<&[u8]> {
    VersionedKey(&key.user_key, key.seqno)
}

/// Sorted entries in memory, until they are written to a table on disk.
pub struct Memtable {
    #[doc(hidden)]
    pub id: MemtableId,
    places: Index<VersionedKey, usize>,
    contents: boxcar::Vec<InternalValue>,
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
        self.places.iter().values().map(|place| self.item(place))
    }

    /// The entries of a range, in order, from both ends. A range that starts after its end has none.
    pub(crate) fn range<'a, R: RangeBounds<InternalKey> + 'a>(
        &'a self,
        range: R,
    ) -> impl DoubleEndedIterator<Item = InternalValue> + 'a {
        let ends = (range.start_bound().map(version), range.end_bound().map(version));
        self.places.range(ends).values().map(|place| self.item(place))
    }

    /// The newest entry of a key whose sequence number is less than `seqno`.
    #[doc(hidden)]
    pub fn get(&self, key: &[u8], seqno: SeqNo) -> Option<InternalValue> {
        let newest = seqno.checked_sub(1)?;
        self.places.newest(key, newest).map(|(_, place)| self.item(place))
    }

    /// About how many bytes the entries have.
    pub fn size(&self) -> u64 {
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

    /// Inserts an entry. Returns its size, and that of all entries with it.
    #[doc(hidden)]
    pub fn insert(&self, item: InternalValue) -> (u64, u64) {
        let size = (item.key.user_key.len() + item.value.len() + size_of::<InternalValue>()) as u64;
        let size_before = self.approximate_size.fetch_add(size, Ordering::AcqRel);
        let seqno = item.key.seqno;
        let place = self.contents.push(item);
        let content = &self.contents[place];
        #[allow(clippy::expect_used)]
        self.places
            .insert(version(&content.key), place)
            .expect("keys have up to 64 KiB, and memory isn't limited");
        self.highest_seqno.fetch_max(seqno, Ordering::AcqRel);
        (size, size_before + size)
    }

    /// The highest sequence number of all entries.
    pub fn get_highest_seqno(&self) -> Option<SeqNo> {
        (!self.is_empty()).then(|| self.highest_seqno.load(Ordering::Acquire))
    }
}
