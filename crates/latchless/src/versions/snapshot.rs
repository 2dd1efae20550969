//! Reads of one moment.

use super::range::SnapshotRange;
use super::version::Version;
use super::versioned::VersionedIndex;
use crate::KeyFor;
use crate::index::pages::{self, Pages};
use crate::index::{LentKey, OwnedRange, PrefixKey, Prefixed};
use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::Bound::{self, Excluded, Included, Unbounded};
use core::ops::{ControlFlow, Deref, RangeBounds};
use latchless_core::base::error::Result;
use latchless_core::base::index::{Direction, check_side_by_side};
use latchless_core::base::index_value::IndexValue;
use std::sync::Arc;

/// A number at which nothing can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no snapshot at number {number}: versions of {oldest} to {newest} are there")]
pub struct NoSuchVersion {
    /// The number that was given.
    pub number: u64,
    /// The smallest number with all its versions.
    pub oldest: u64,
    /// The number of the newest commit.
    pub newest: u64,
}

/// The entries of a [`VersionedIndex`] as of one commit, whatever is committed later. `H` refers to the
/// index, or is an `Arc` of it: such a snapshot can be kept and sent.
///
/// As long as it lives, the versions that it sees stay.
///
/// ```
/// use latchless::versions::VersionedIndex;
///
/// let index = VersionedIndex::<u64, u64>::try_from_iter((0..1000).map(|key| (key, 1)))?;
/// let snapshot = index.snapshot();
/// index.insert(7, 100)?;
/// index.remove(8)?;
/// index.insert(5000, 1)?;
/// assert_eq!(snapshot.iter().map(|(_, value)| value).sum::<u64>(), 1000);
/// assert_eq!((snapshot.ceiling(8), snapshot.last()), (Some((8, 1)), Some((999, 1))));
/// # Ok::<(), latchless::Error>(())
/// ```
pub struct Snapshot<K, V, H = Arc<VersionedIndex<K, V>>>
where
    K: KeyFor<Version<V>>,
    V: IndexValue,
    H: Deref<Target = VersionedIndex<K, V>>,
{
    holder: H,
    number: u64,
    types: PhantomData<fn() -> (K, V)>,
}

impl<K, V, H> Snapshot<K, V, H>
where
    K: KeyFor<Version<V>>,
    V: IndexValue,
    H: Deref<Target = VersionedIndex<K, V>>,
{
    /// Returns a snapshot of the newest commit that holds the index in this way. O(1).
    pub fn newest(holder: H) -> Self {
        let number = holder.clock.readers.enter();
        Self { holder, number, types: PhantomData }
    }

    /// Returns a snapshot as of an earlier commit, or of the newest one. O(1).
    ///
    /// # Errors
    /// Those of [`VersionedIndex::snapshot_at`].
    pub fn at(holder: H, number: u64) -> Result<Self, NoSuchVersion> {
        match holder.clock.readers.enter_at(number) {
            Ok(()) => Ok(Self { holder, number, types: PhantomData }),
            Err([oldest, newest]) => Err(NoSuchVersion { number, oldest, newest }),
        }
    }

    /// Returns whether the commits of an index have the numbers of this one's.
    pub(crate) fn has_clock_of<L: KeyFor<Version<V>>>(&self, other: &VersionedIndex<L, V>) -> bool {
        Arc::ptr_eq(&self.holder.clock, &other.clock)
    }

    /// Returns the number of the newest commit that the snapshot sees. O(1).
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the value of a key. O(log n).
    #[inline]
    pub fn get(&self, key: K::Probe<'_>) -> Option<V> {
        self.see(key, |value| value.cloned())
    }

    #[inline]
    fn see<R>(&self, key: K::Probe<'_>, see: impl FnOnce(Option<&V>) -> Option<R>) -> Option<R> {
        self.holder.index.get_with(key, |version| see(version.value_at(self.number))).flatten()
    }

    /// Calls `see` with the value of a key, lent, and returns the result. O(log n).
    #[inline]
    pub fn get_with<R>(&self, key: K::Probe<'_>, see: impl FnOnce(V::Lent<'_>) -> R) -> Option<R> {
        self.see(key, |value| value.map(|value| see(value.lend())))
    }

    /// Returns whether a key has a value. O(log n).
    #[inline]
    pub fn contains_key(&self, key: K::Probe<'_>) -> bool {
        self.see(key, |value| value.map(|_| ())).is_some()
    }

    /// Looks up many keys, with one answer per key in the keys' order. See
    /// [`Index::get_many`](crate::Index::get_many).
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers) if `answers` isn't as long as `keys`.
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// let index = VersionedIndex::<u64, u64>::try_from_iter([(5, 50), (7, 70)])?;
    /// let (snapshot, mut answers) = (index.snapshot(), [None; 3]);
    /// index.insert(7, 71)?;
    /// snapshot.get_many(&[7, 6, 5], &mut answers)?;
    /// assert_eq!(answers, [Some(70), None, Some(50)]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn get_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        // The chains are lent: a copy would count a reference to the version before the newest one.
        self.holder.index.get_each(keys, |at, version| {
            answers[at] = version.and_then(|version| version.value_at(self.number)).cloned();
        });
        Ok(())
    }

    /// Returns an iterator over the entries of a range, ascending; from the back, descending. O(log n) to
    /// start, and O(1) per step and per key without a value. A range that starts after its end is empty.
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// let index = VersionedIndex::<u64, u64>::try_from_iter((0..10).map(|key| (key, 10 * key)))?;
    /// let snapshot = index.snapshot();
    /// index.remove(4)?;
    /// assert_eq!(snapshot.range(3..=5).rev().collect::<Vec<_>>(), [(5, 50), (4, 40), (3, 30)]);
    /// assert_eq!(index.snapshot().range(3..=5).collect::<Vec<_>>(), [(3, 30), (5, 50)]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn range<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> SnapshotRange<'_, K, V> {
        SnapshotRange::new(self.holder.index.range(range), self.number)
    }

    /// Returns an iterator over the entries whose keys begin with `prefix`. See
    /// [`Index::prefix`](crate::Index::prefix).
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// let names = ["ada", "adam", "bob"].map(|name| (name.to_owned(), name.len() as u64));
    /// let snapshot = VersionedIndex::<String, u64>::try_from_iter(names)?;
    /// assert_eq!(snapshot.snapshot().prefix("ad").map(|(_, len)| len).collect::<Vec<_>>(), [3, 4]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn prefix(&self, prefix: K::Prefix<'_>) -> SnapshotRange<'_, K, V>
    where
        K: PrefixKey,
        K::Engine: Prefixed<K, Version<V>>,
    {
        self.between(Included(prefix), Included(prefix))
    }

    /// Returns an iterator over the entries whose keys begin with a prefix within these bounds.
    pub(crate) fn between(
        &self,
        low: Bound<K::Prefix<'_>>,
        high: Bound<K::Prefix<'_>>,
    ) -> SnapshotRange<'_, K, V>
    where
        K: PrefixKey,
        K::Engine: Prefixed<K, Version<V>>,
    {
        SnapshotRange::new(self.holder.index.between(low, high), self.number)
    }

    /// Returns an iterator over all entries. See [`Snapshot::range`].
    pub fn iter(&self) -> SnapshotRange<'_, K, V> {
        SnapshotRange::new(self.holder.index.iter(), self.number)
    }

    /// Calls `see` with every entry of a range, ascending, until it breaks. Each value is lent: nothing is
    /// allocated or counted for it. Returns the last result of `see`.
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// use core::ops::ControlFlow;
    ///
    /// let names = VersionedIndex::<u64, String>::try_from_iter((0..10).map(|key| (key, key.to_string())))?;
    /// let snapshot = names.snapshot();
    /// names.remove(7)?;
    /// let mut found = None;
    /// let _ = snapshot.scan(3.., |key, name| match name {
    ///     "7" => {
    ///         found = Some(key);
    ///         ControlFlow::Break(())
    ///     }
    ///     _ => ControlFlow::Continue(()),
    /// });
    /// assert_eq!(found, Some(7));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn scan<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        mut see: impl FnMut(K, V::Lent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.holder.index.scan(range, |key, version| match version.value_at(self.number) {
            Some(value) => see(key, value.lend()),
            None => ControlFlow::Continue(()),
        })
    }

    /// Calls `see` with every entry of a range, in a direction, until it breaks. Key and value are lent:
    /// nothing is allocated, cloned or counted. Returns the last result of `see`. See
    /// [`Index::scan_lent`](crate::Index::scan_lent).
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// use core::ops::ControlFlow;
    /// use latchless::Direction;
    ///
    /// let names = VersionedIndex::<String, Vec<u8>>::try_from_iter(
    ///     ["ada", "bob", "eve"].map(|name| (name.to_owned(), name.as_bytes().to_vec())),
    /// )?;
    /// let snapshot = names.snapshot();
    /// names.remove("bob")?;
    /// let mut file = Vec::new();
    /// let shown = snapshot.scan_lent("b".., Direction::Reverse, |name, value| {
    ///     file.extend([name, value].concat());
    ///     ControlFlow::Continue(())
    /// });
    /// assert!(shown.is_continue() && file == b"eveevebobbob");
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn scan_lent<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        direction: Direction,
        mut see: impl FnMut(LentKey<'_, K, Version<V>>, V::Lent<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.holder.index.scan_lent(range, direction, |key, version| match version.value_at(self.number) {
            Some(value) => see(key, value.lend()),
            None => ControlFlow::Continue(()),
        })
    }

    /// Folds the entries of a range, ascending, into one result. Each value is lent.
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// let names = VersionedIndex::<u64, String>::try_from_iter([(7, "seven".into()), (8, "eight".into())])?;
    /// assert_eq!(names.snapshot().fold(.., 0, |letters, _, name| letters + name.len()), 10);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn fold<'q, A>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        start: A,
        mut fold: impl FnMut(A, K, V::Lent<'_>) -> A,
    ) -> A {
        self.holder.index.fold(range, start, |so_far, key, version| match version.value_at(self.number) {
            Some(value) => fold(so_far, key, value.lend()),
            None => so_far,
        })
    }

    /// Returns an iterator over all keys.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = K> + FusedIterator + Clone + '_ {
        self.iter().map(|(key, _)| key)
    }

    /// Returns an iterator over all values, in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = V> + FusedIterator + Clone + '_ {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the number of keys in a range. O(keys of the range).
    pub fn count<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> usize {
        let mut count = 0;
        let all = self.scan_lent(range, Direction::Forward, |_, _| {
            count += 1;
            ControlFlow::Continue(())
        });
        debug_assert!(all.is_continue(), "nothing breaks it");
        count
    }

    /// Returns the entry with the smallest key. O(log n), as are its kin, and O(1) per key without a value
    /// that lies between.
    pub fn first(&self) -> Option<(K, V)> {
        self.iter().next()
    }

    /// Returns the entry with the largest key.
    pub fn last(&self) -> Option<(K, V)> {
        self.iter().next_back()
    }

    /// Returns the entry with the largest key that is at most `key`.
    pub fn floor(&self, key: K::Probe<'_>) -> Option<(K, V)> {
        self.range((Unbounded, Included(key))).next_back()
    }

    /// Returns the entry with the smallest key that is at least `key`.
    pub fn ceiling(&self, key: K::Probe<'_>) -> Option<(K, V)> {
        self.range((Included(key), Unbounded)).next()
    }

    /// Returns the entry with the largest key below `key`.
    pub fn lower(&self, key: K::Probe<'_>) -> Option<(K, V)> {
        self.range((Unbounded, Excluded(key))).next_back()
    }

    /// Returns the entry with the smallest key above `key`.
    pub fn higher(&self, key: K::Probe<'_>) -> Option<(K, V)> {
        self.range((Excluded(key), Unbounded)).next()
    }
}

impl<'i, K: KeyFor<Version<V>>, V: IndexValue> Snapshot<K, V, &'i VersionedIndex<K, V>> {
    /// Returns the index.
    pub fn index(&self) -> &'i VersionedIndex<K, V> {
        self.holder
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> Snapshot<K, V> {
    /// Returns the index.
    pub fn index(&self) -> &Arc<VersionedIndex<K, V>> {
        &self.holder
    }
}

impl<K, V, H> Snapshot<K, V, H>
where
    K: KeyFor<Version<V>>,
    V: IndexValue,
    H: Deref<Target = VersionedIndex<K, V>> + Clone,
{
    /// Returns an iterator over the entries of a range that owns the snapshot: it can be stored and sent,
    /// and is cloned with its place. O(log n) per page of at most 256 entries.
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// use std::sync::Arc;
    ///
    /// let index = Arc::new(VersionedIndex::<u64, u64>::try_from_iter((0..1000).map(|key| (key, 1)))?);
    /// let range = index.snapshot_owned().into_range(..100);
    /// for key in 0..1000 {
    ///     index.remove(key)?;
    /// }
    /// index.prune()?;
    /// assert_eq!((range.clone().rev().next(), range.count()), (Some((99, 1)), 100));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn into_range<'q>(self, range: impl RangeBounds<K::Probe<'q>>) -> OwnedRange<Self> {
        OwnedRange::new(self, range)
    }
}

impl<K, V, H> pages::sealed::Sealed for Snapshot<K, V, H>
where
    K: KeyFor<Version<V>>,
    V: IndexValue,
    H: Deref<Target = VersionedIndex<K, V>>,
{
}

impl<K, V, H> Pages for Snapshot<K, V, H>
where
    K: KeyFor<Version<V>>,
    V: IndexValue,
    H: Deref<Target = VersionedIndex<K, V>>,
{
    type Key = K;
    type Value = V;

    fn page<'q>(
        &self,
        range: pages::Bounds<'q, K>,
        direction: Direction,
        max: usize,
        each: impl FnMut(K, V),
    ) {
        self.range(range).page(direction, max, each);
    }
}

impl<K, V, H> Clone for Snapshot<K, V, H>
where
    K: KeyFor<Version<V>>,
    V: IndexValue,
    H: Deref<Target = VersionedIndex<K, V>> + Clone,
{
    /// Creates another snapshot of the same moment.
    fn clone(&self) -> Self {
        let entered = self.holder.clock.readers.enter_at(self.number);
        debug_assert!(entered.is_ok(), "this snapshot is there");
        Self { holder: self.holder.clone(), number: self.number, types: PhantomData }
    }
}

impl<K, V, H> Drop for Snapshot<K, V, H>
where
    K: KeyFor<Version<V>>,
    V: IndexValue,
    H: Deref<Target = VersionedIndex<K, V>>,
{
    fn drop(&mut self) {
        self.holder.clock.readers.leave(self.number);
    }
}

impl<K, V, H> fmt::Debug for Snapshot<K, V, H>
where
    K: KeyFor<Version<V>>,
    V: IndexValue,
    H: Deref<Target = VersionedIndex<K, V>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("number", &self.number).finish_non_exhaustive()
    }
}

impl<K: KeyFor<Version<V>>, V: IndexValue> VersionedIndex<K, V> {
    /// Returns a snapshot of the newest commit. O(1).
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// let index = VersionedIndex::<u64, u64>::new()?;
    /// index.insert(7, 70)?;
    /// let snapshot = index.snapshot();
    /// index.insert(7, 71)?;
    /// assert_eq!((snapshot.get(7), index.get(7)), (Some(70), Some(71)));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn snapshot(&self) -> Snapshot<K, V, &Self> {
        Snapshot::newest(self)
    }

    /// Returns a snapshot of the newest commit that owns the index, for other threads and for as long as one
    /// likes. O(1).
    ///
    /// ```
    /// # use latchless::versions::VersionedIndex;
    /// use std::sync::Arc;
    ///
    /// let index = Arc::new(VersionedIndex::<u64, u64>::try_from_iter([(7, 70)])?);
    /// let snapshot = index.snapshot_owned();
    /// drop(index);
    /// assert_eq!(std::thread::spawn(move || snapshot.get(7)).join().unwrap(), Some(70));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn snapshot_owned(self: &Arc<Self>) -> Snapshot<K, V, Arc<Self>> {
        Snapshot::newest(Arc::clone(self))
    }

    /// Returns a snapshot as of an earlier commit, or of the newest one. O(1).
    ///
    /// # Errors
    /// The number is larger than that of the newest commit, or versions that it needs may have been dropped.
    ///
    /// ```
    /// use latchless::versions::{Retention, VersionedIndex};
    ///
    /// let table = VersionedIndex::<String, u64>::with_options(Default::default(), Retention::All)?;
    /// for version in 1..=5 {
    ///     table.insert("key", 100 + version)?; // Commits 1 to 5.
    /// }
    /// assert_eq!(table.snapshot_at(3).unwrap().get("key"), Some(103));
    /// table.prune_before(4)?;
    /// assert!(table.snapshot_at(3).is_err());
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn snapshot_at(&self, number: u64) -> Result<Snapshot<K, V, &Self>, NoSuchVersion> {
        Snapshot::at(self, number)
    }
}
