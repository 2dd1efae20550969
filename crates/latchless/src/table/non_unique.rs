//! The handle of an index whose keys many rows may have, and its reads at one moment.

use super::moment::{RowSnapshot, at};
use super::secondary::Entries;
use super::{EntryKey, TableKey};
use crate::index::PrefixKey;
use crate::versions::{Snapshot, SnapshotRange, VersionedIndex, View};
use core::fmt;
use core::iter::FusedIterator;
use core::ops::Bound::{Excluded, Included, Unbounded};
use core::ops::{Deref, RangeBounds};
use latchless_core::base::index_key::IndexKey;
use std::sync::Arc;

/// A secondary index of a [`Table`](super::Table) in which any number of rows have a key. Its entries are
/// in the order of `E`, the pair of key and primary key: `NonUnique<(u32, u64), Person>` is an index by a
/// `u32` of a table by a `u64`. From [`Builder::index`](super::Builder::index). Clones are handles of the
/// same index.
///
/// Reads are those of a [`snapshot`](NonUnique::snapshot), as several rows are of one moment only there.
pub struct NonUnique<E: EntryKey<R>, R: Send + Sync + 'static>(pub(super) Arc<Entries<E, R>>);

impl<E: EntryKey<R>, R: Send + Sync + 'static> NonUnique<E, R> {
    /// Returns the number of entries: of rows, if each has one key. O(1).
    pub fn len(&self) -> usize {
        self.0.index.len()
    }

    /// Returns `true` if no row has a key.
    pub fn is_empty(&self) -> bool {
        self.0.index.is_empty()
    }

    /// Returns the index as of now. O(1).
    pub fn snapshot(&self) -> NonUniqueSnapshot<'_, E, R> {
        NonUniqueSnapshot(Snapshot::newest(View::of(&self.0.index)))
    }

    /// Returns the index as of the moment of a snapshot of the table. O(1).
    ///
    /// # Panics
    /// If the snapshot is of another table.
    pub fn at<K, H>(&self, snapshot: &Snapshot<K, Arc<R>, H>) -> NonUniqueSnapshot<'_, E, R>
    where
        K: TableKey<R>,
        H: Deref<Target = VersionedIndex<K, Arc<R>>>,
    {
        NonUniqueSnapshot(at(&self.0.index, snapshot))
    }
}

impl<E: EntryKey<R>, R: Send + Sync + 'static> Clone for NonUnique<E, R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E: EntryKey<R>, R: Send + Sync + 'static> fmt::Debug for NonUnique<E, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NonUnique").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// A [`NonUnique`] index as of one moment.
pub struct NonUniqueSnapshot<'t, E: EntryKey<R>, R: Send + Sync + 'static>(RowSnapshot<'t, E, R>);

impl<E: EntryKey<R>, R: Send + Sync + 'static> NonUniqueSnapshot<'_, E, R> {
    /// Returns the number of the newest commit that the snapshot sees.
    pub fn number(&self) -> u64 {
        self.0.number()
    }

    /// Returns the rows that have this key, in the order of their primary keys. O(log n) to start, O(1) per
    /// row.
    pub fn get(&self, key: E::Prefix<'_>) -> Rows<'_, E, R> {
        Rows(self.0.prefix(key))
    }

    /// Returns the rows whose keys are in a range, in the order of (key, primary key); from the back, in the
    /// reverse order. O(log n) to start, O(1) per row. A range that starts after its end is empty.
    pub fn range<'q>(&self, range: impl RangeBounds<E::Prefix<'q>>) -> Rows<'_, E, R> {
        Rows(self.0.between(range.start_bound().cloned(), range.end_bound().cloned()))
    }

    /// Returns all rows that have a key, in the order of (key, primary key).
    pub fn iter(&self) -> Rows<'_, E, R> {
        Rows(self.0.iter())
    }

    /// Returns the number of rows that have this key. O(rows).
    pub fn count(&self, key: E::Prefix<'_>) -> usize {
        self.get(key).count()
    }
}

impl<K: IndexKey, R: Send + Sync + 'static> NonUniqueSnapshot<'_, (String, K), R>
where
    (String, K): EntryKey<R> + for<'q> PrefixKey<Prefix<'q> = &'q str>,
{
    /// Returns the rows whose keys begin with `prefix`, in the order of (key, primary key).
    pub fn prefix(&self, prefix: &str) -> Rows<'_, (String, K), R> {
        let end = end_of(prefix);
        let high = end.as_deref().map_or(Unbounded, Excluded);
        Rows(self.0.between(Included(prefix), high))
    }
}

/// Returns the smallest string after all that begin with this one.
fn end_of(prefix: &str) -> Option<String> {
    let kept = prefix.trim_end_matches(char::MAX);
    let last = kept.chars().next_back()?;
    let next = (last..=char::MAX).nth(1)?;
    let mut end = kept[..kept.len() - last.len_utf8()].to_owned();
    end.push(next);
    Some(end)
}

impl<E: EntryKey<R>, R: Send + Sync + 'static> fmt::Debug for NonUniqueSnapshot<'_, E, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NonUniqueSnapshot").field("number", &self.number()).finish_non_exhaustive()
    }
}

/// The rows of a part of a [`NonUniqueSnapshot`], from both ends.
#[derive(Debug)]
pub struct Rows<'s, E: EntryKey<R>, R: Send + Sync + 'static>(SnapshotRange<'s, E, Arc<R>>);

impl<E: EntryKey<R>, R: Send + Sync + 'static> Iterator for Rows<'_, E, R> {
    type Item = Arc<R>;

    fn next(&mut self) -> Option<Arc<R>> {
        self.0.next().map(|(_, row)| row)
    }
}

impl<E: EntryKey<R>, R: Send + Sync + 'static> DoubleEndedIterator for Rows<'_, E, R> {
    fn next_back(&mut self) -> Option<Arc<R>> {
        self.0.next_back().map(|(_, row)| row)
    }
}

impl<E: EntryKey<R>, R: Send + Sync + 'static> FusedIterator for Rows<'_, E, R> {}

#[cfg(test)]
mod tests {
    use super::end_of;

    #[test]
    fn a_prefix_ends_before_the_next_string_that_begins_otherwise() {
        for (prefix, end) in [("a", "b"), ("az", "a{"), ("\u{D7FF}", "\u{E000}"), ("b\u{10FFFF}", "c")] {
            assert_eq!(end_of(prefix).as_deref(), Some(end), "{prefix:?}");
        }
        assert_eq!([end_of(""), end_of("\u{10FFFF}")], [None, None]);
    }
}
