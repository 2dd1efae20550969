//! The index of versions, and the reads of the newest ones.

use super::clock::{Clock, Retention};
use super::version::Version;
use crate::KeyFor;
use crate::blink::Tries;
use crate::frozen::{Frozen, NotFrozen};
use crate::index::{Index, Options, PrefixKey, Prefixed};
use core::fmt;
use core::ops::Bound;
use core::ops::ControlFlow::{Break, Continue};
use latchless_core::base::error::{Broken, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index_value::IndexValue;
use latchless_core::sync::Tally;
use std::sync::Arc;

/// An ordered map that keeps versions of its values, for snapshots, atomic batches and transactions. See the
/// [module](super).
///
/// ```
/// use latchless::versions::{VersionedIndex, WriteBatch};
///
/// let stock = VersionedIndex::<String, u32>::new()?;
/// stock.insert("apples", 7)?;
/// let before = stock.snapshot();
///
/// let mut delivery = WriteBatch::new();
/// delivery.insert("pears", 5).remove("apples");
/// stock.commit(delivery)?; // Both, or neither.
///
/// assert_eq!((stock.get("apples"), stock.get("pears")), (None, Some(5)));
/// assert_eq!((before.get("apples"), before.get("pears")), (Some(7), None));
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct VersionedIndex<K: KeyFor<Version<V>>, V: IndexValue> {
    pub(super) index: Index<K, Version<V>>,
    pub(super) clock: Arc<Clock>,
    /// Keys with a value, as of the newest commit.
    pub(super) keys: Tally,
}

impl<K: KeyFor<Version<V>>, V: IndexValue> VersionedIndex<K, V> {
    /// Creates an empty index. Its newest number is 0.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn new() -> Result<Self> {
        Self::with_options(Options::default(), Retention::default())
    }

    /// Creates an empty index with these options. The memory limit applies to the tree and to the newest
    /// versions; older versions, and what values refer to, aren't counted.
    ///
    /// # Errors
    /// Those of [`Index::with_options`].
    pub fn with_options(options: Options, retention: Retention) -> Result<Self> {
        Self::with_clock(options, Arc::new(Clock::new(0, retention)))
    }

    /// Creates an empty index whose commits have this clock.
    pub(crate) fn with_clock(options: Options, clock: Arc<Clock>) -> Result<Self> {
        Ok(Self::of(Index::with_options(options)?, clock))
    }

    /// Creates an index from entries in any order, as versions of number 0; of equal keys the last one
    /// stays. O(n log n): sorts the entries and loads them in bulk.
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// let squares = VersionedIndex::<u64, u64>::try_from_iter((0..10).map(|key| (key, key * key)))?;
    /// assert_eq!((squares.len(), squares.newest(), squares.get(3)), (10, 0, Some(9)));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Index::try_from_iter`].
    pub fn try_from_iter(entries: impl IntoIterator<Item = (K, V)>) -> Result<Self> {
        let entries = entries.into_iter().map(|(key, value)| (key, Version::first(0, value)));
        Ok(Self::of(Index::try_from_iter(entries)?, Arc::new(Clock::new(0, Retention::default()))))
    }

    fn of(index: Index<K, Version<V>>, clock: Arc<Clock>) -> Self {
        let keys = Tally::new(index.len());
        Self { index, clock, keys }
    }

    /// Replaces all entries and versions by these entries, which are strictly ascending, as versions of one
    /// number, the newest: a state that was saved together with its number. O(n).
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// let mut index = VersionedIndex::<u64, u64>::new()?;
    /// index.reload([(7, 70), (8, 80)], 41)?;
    /// index.insert(7, 71)?;
    /// assert_eq!((index.newest(), index.len(), index.get(8)), (42, 2, Some(80)));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Index::bulk_load`]. The index is then empty, as a new one.
    pub fn reload(&mut self, entries: impl IntoIterator<Item = (K, V)>, number: u64) -> Result<()> {
        let entries = entries.into_iter().map(|(key, value)| (key, Version::first(number, value)));
        let entries: Vec<_> = entries.collect();
        self.index.clear();
        let loaded = self.index.bulk_load(&entries, FillFactor::UPDATED);
        // Full leaves may be within a memory limit that others aren't.
        let loaded = loaded.or_else(|_| self.index.bulk_load(&entries, FillFactor::FULL));
        self.keys = Tally::new(self.index.len());
        let newest = if loaded.is_ok() { number } else { 0 };
        self.clock = Arc::new(Clock::new(newest, self.clock.retention));
        loaded
    }

    /// Removes all keys and versions, while no commit is under way, and no snapshot is there.
    pub(crate) fn empty(&self) {
        self.index.clear();
        self.keys.subtract(self.keys.get());
    }

    /// Returns the number of the newest commit. O(1).
    #[inline]
    pub fn newest(&self) -> u64 {
        self.clock.newest()
    }

    /// Returns the number of keys with a value. O(1). Exact if no thread is changing the index.
    pub fn len(&self) -> usize {
        self.keys.get()
    }

    /// Returns `true` if no key has a value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the newest value of a key. O(log n).
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// let index = VersionedIndex::<u64, String>::new()?;
    /// index.insert(7, "seven")?;
    /// assert_eq!((index.get(7).as_deref(), index.get(8)), (Some("seven"), None));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn get(&self, key: K::Probe<'_>) -> Option<V> {
        // The number is read after the key, so the key has a version that is at most as new.
        self.index.get_with(key, |version| version.value_at(self.newest()).cloned()).flatten()
    }

    /// Calls `see` with the newest value of a key, lent, and returns the result. O(log n).
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// let index = VersionedIndex::<u64, String>::new()?;
    /// index.insert(7, "seven")?;
    /// assert_eq!(index.get_with(7, str::len), Some(5));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn get_with<R>(&self, key: K::Probe<'_>, see: impl FnOnce(V::Lent<'_>) -> R) -> Option<R> {
        let see = |version: &Version<V>| version.value_at(self.newest()).map(|value| see(value.lend()));
        self.index.get_with(key, see).flatten()
    }

    /// Returns whether a key has a value. O(log n).
    #[inline]
    pub fn contains_key(&self, key: K::Probe<'_>) -> bool {
        self.get_with(key, |_| ()).is_some()
    }

    /// Returns the tries of an operation with a closure on `key`.
    pub(crate) fn tries(&self, key: K::Probe<'_>) -> Tries<'_> {
        self.index.tries(key)
    }

    /// Returns whether a commit after this number wrote a key. A snapshot of this number is there, so a key
    /// that had a value has a version.
    pub(crate) fn has_changed_since(&self, key: K::Probe<'_>, number: u64) -> bool {
        self.index.get_with(key, |version| version.has_changed_since(number)).unwrap_or(false)
    }

    /// Returns a key of a range that a commit after this number wrote. A snapshot of this number is there.
    pub(crate) fn changed_in(&self, (low, high): &(Bound<K>, Bound<K>), number: u64) -> Option<K> {
        let mut changed = None;
        let _ = self.index.scan((low.as_ref().map(K::probe), high.as_ref().map(K::probe)), |key, version| {
            changed = version.has_changed_since(number).then_some(key);
            if changed.is_none() { Continue(()) } else { Break(()) }
        });
        changed
    }

    /// The same of the keys that begin with a prefix within these bounds.
    pub(crate) fn changed_between(
        &self,
        low: Bound<K::Prefix<'_>>,
        high: Bound<K::Prefix<'_>>,
        number: u64,
    ) -> Option<K>
    where
        K: PrefixKey,
        K::Engine: Prefixed<K, Version<V>>,
    {
        let mut entries = self.index.between(low, high);
        entries.find_map(|(key, version)| version.has_changed_since(number).then_some(key))
    }

    /// Moves all keys to new nodes, each filled to this degree, and returns the memory of the old ones to the
    /// system: see [`Index::shrink`]. All versions stay; [`prune`](VersionedIndex::prune) drops those that
    /// no reader needs, and removed keys.
    ///
    /// ```
    /// # use latchless::{FillFactor, versions::VersionedIndex};
    /// let mut index = VersionedIndex::<u64, u64>::try_from_iter((0..10_000).map(|key| (key, key)))?;
    /// let full = index.memory_bytes();
    /// index.retain(|key, _| key < 100)?;
    /// index.prune()?;
    /// index.shrink(FillFactor::default())?;
    /// assert!(index.len() == 100 && index.memory_bytes() < full / 2);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Index::shrink`]. Nothing has changed then.
    pub fn shrink(&mut self, fill: FillFactor) -> Result<()> {
        self.index.shrink(fill)
    }

    /// Packs the index, and returns it for reading alone, with shared ownership: see [`Index::freeze`].
    /// All versions stay: [`prune`](VersionedIndex::prune) drops those that no reader needs.
    ///
    /// # Errors
    /// Those of [`Index::freeze`].
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// let memtable = VersionedIndex::<u64, String>::from([(7, "seven".into()), (9, "nine".into())]);
    /// memtable.prune()?;
    /// let memtable = memtable.freeze()?;
    /// let entries = memtable.snapshot_owned().into_range(..); // For the thread that writes a file.
    /// assert_eq!((memtable.get(7).as_deref(), entries.count()), (Some("seven"), 2));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn freeze(self) -> Result<Frozen<Self>, NotFrozen<Self>> {
        Frozen::packed(self, Self::shrink)
    }

    /// Checks the invariants of the tree, see [`Index::check_invariants`].
    ///
    /// # Errors
    /// The first violated invariant.
    pub fn check_invariants(&self) -> Result<(), Broken> {
        self.index.check_invariants()
    }

    /// Returns the bytes of the tree and of the newest versions, see [`Index::memory_bytes`]. O(1).
    pub fn memory_bytes(&self) -> usize {
        self.index.memory_bytes()
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> fmt::Debug for VersionedIndex<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VersionedIndex")
            .field("len", &self.len())
            .field("newest", &self.newest())
            .finish_non_exhaustive()
    }
}
