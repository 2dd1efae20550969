//! Changes that are committed together.

use core::fmt;
use core::ops::{Bound, RangeBounds};
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;

/// A change of a [`WriteBatch`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change<K, V> {
    /// The key has this value, or none.
    Put(K, Option<V>),
    /// No key of the range has a value.
    RemoveRange(Bound<K>, Bound<K>),
}

/// Changes that [`VersionedIndex::commit`](super::VersionedIndex::commit) makes together, in their order.
///
/// ```
/// use latchless::versions::{VersionedIndex, WriteBatch};
///
/// let index = VersionedIndex::<(u64, String), f64>::new()?;
/// let mut batch = WriteBatch::new();
/// for hour in 0..24 {
///     batch.insert((hour, "Oslo"), 0.5);
/// }
/// batch.remove_range((12, "")..).insert((12, "Bergen"), 7.5);
/// assert_eq!(index.commit(batch)?, 1);
/// assert_eq!((index.len(), index.get((12, "Bergen"))), (13, Some(7.5)));
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct WriteBatch<K, V> {
    pub(super) changes: Vec<Change<K, V>>,
}

impl<K: IndexKey, V: IndexValue> WriteBatch<K, V> {
    /// Creates an empty batch.
    pub const fn new() -> Self {
        Self { changes: Vec::new() }
    }

    /// Adds the insertion of an entry.
    pub fn insert(&mut self, key: K::Probe<'_>, value: V::Given<'_>) -> &mut Self {
        self.put(K::own(key), Some(V::given(value)));
        self
    }

    /// Adds the removal of a key.
    pub fn remove(&mut self, key: K::Probe<'_>) -> &mut Self {
        self.put(K::own(key), None);
        self
    }

    /// Adds the change of a key's value.
    pub(super) fn put(&mut self, key: K, value: Option<V>) {
        self.changes.push(Change::Put(key, value));
    }

    /// Adds the removal of all keys of a range that have a value when the batch is committed, or have one
    /// by an earlier change of it. An inverted range has no keys.
    pub fn remove_range<'q>(&mut self, range: impl RangeBounds<K::Probe<'q>>) -> &mut Self {
        let (low, high) = owned(&range);
        self.changes.push(Change::RemoveRange(low, high));
        self
    }

    /// Returns the changes, in their order.
    pub fn changes(&self) -> &[Change<K, V>] {
        &self.changes
    }

    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Returns `true` if there is no change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// Returns the bounds of a range in owned form.
pub(crate) fn owned<'q, K: IndexKey>(range: &impl RangeBounds<K::Probe<'q>>) -> (Bound<K>, Bound<K>) {
    let own = |bound: Bound<&K::Probe<'q>>| bound.map(|&probe| K::own(probe));
    (own(range.start_bound()), own(range.end_bound()))
}

impl<K: IndexKey, V: IndexValue> Default for WriteBatch<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: IndexKey, V: IndexValue> fmt::Debug for WriteBatch<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteBatch").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<K: IndexKey, V: IndexValue> Extend<(K, V)> for WriteBatch<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        self.changes.extend(entries.into_iter().map(|(key, value)| Change::Put(key, Some(value))));
    }
}

impl<K: IndexKey, V: IndexValue> FromIterator<(K, V)> for WriteBatch<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut batch = Self::new();
        batch.extend(entries);
        batch
    }
}
