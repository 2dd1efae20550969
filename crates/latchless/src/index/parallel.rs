//! Parallel reads on rayon's thread pool.
//!
//! A range is split at a key in its middle: of words, in the middle of its encoded keys, and of byte strings,
//! in that of their number. Rayon splits further where a thread has nothing to do.

use super::Index;
use super::engine::{Engine, KeyFor};
use super::in_columns::check_columns;
use super::order::span;
use core::fmt;
use core::ops::{Bound, ControlFlow, RangeBounds};
use latchless_core::base::error::Result;
use latchless_core::base::index::check_side_by_side;
use latchless_core::base::index_value::IndexValue;
use rayon::iter::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
use rayon::prelude::*;

/// Keys that one thread looks up at a time: enough for the groups of a batch, and few enough that no thread
/// waits long for the last one.
const KEYS_TOGETHER: usize = 4096;

/// The entries of a range, distributed to the threads of rayon's pool: see [`Index::par_range`].
pub struct ParallelRange<'a, K: KeyFor<V>, V: IndexValue> {
    index: &'a Index<K, V>,
    low: Bound<K>,
    high: Bound<K>,
}

impl<'a, K: KeyFor<V>, V: IndexValue> ParallelRange<'a, K, V> {
    fn of<'q>(index: &'a Index<K, V>, range: impl RangeBounds<K::Probe<'q>>) -> Self {
        let (low, high) = span(&range);
        Self { index, low: low.map(K::own), high: high.map(K::own) }
    }

    fn span(&self) -> (Bound<K::Probe<'_>>, Bound<K::Probe<'_>>) {
        (self.low.as_ref().map(K::probe), self.high.as_ref().map(K::probe))
    }
}

impl<K: KeyFor<V> + Send, V: IndexValue> ParallelIterator for ParallelRange<'_, K, V> {
    type Item = (K, V);

    fn drive_unindexed<C: UnindexedConsumer<(K, V)>>(self, consumer: C) -> C::Result {
        bridge_unindexed(self, consumer)
    }
}

impl<K: KeyFor<V> + Send, V: IndexValue> UnindexedProducer for ParallelRange<'_, K, V> {
    type Item = (K, V);

    fn split(self) -> (Self, Option<Self>) {
        let Some(middle) = self.index.engine.middle(self.span()) else { return (self, None) };
        let Self { index, low, high } = self;
        let below = Self { index, low, high: Bound::Excluded(K::own(middle.probe())) };
        (below, Some(Self { index, low: Bound::Included(middle), high }))
    }

    fn fold_with<F: Folder<(K, V)>>(self, folder: F) -> F {
        let mut folder = Some(folder);
        let _ = self.index.engine.each(self.span(), |key, value| {
            folder = folder.take().map(|folder| folder.consume((key, value)));
            match &folder {
                Some(folder) if !folder.full() => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        });
        folder.expect("it is put back after each entry")
    }
}

impl<K: KeyFor<V>, V: IndexValue> Clone for ParallelRange<'_, K, V> {
    fn clone(&self) -> Self {
        Self::of(self.index, self.span())
    }
}

impl<K: KeyFor<V>, V: IndexValue> fmt::Debug for ParallelRange<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParallelRange").field("range", &self.span()).finish_non_exhaustive()
    }
}

/// Reads on rayon's threads.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Returns the entries of a range for rayon's threads, which visit parts of it in parallel, each part in
    /// ascending order. Concurrent changes are visible as in [`Entries`](super::Entries).
    ///
    /// ```
    /// use rayon::prelude::*;
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (key, 2 * key)).collect();
    /// let sum: u64 = index.par_range(..100).map(|(_, value)| value).sum();
    /// assert_eq!(sum, 9900);
    /// let names: latchless::Index<String, u64> = (0..10_000).map(|key| (key.to_string(), key)).collect();
    /// assert_eq!(names.par_range("99".."a").count(), 111);
    /// ```
    pub fn par_range<'q>(&self, range: impl RangeBounds<K::Probe<'q>>) -> ParallelRange<'_, K, V> {
        ParallelRange::of(self, range)
    }

    /// Folds the entries of a range on rayon's threads: each part of the range is folded separately,
    /// starting from `start`, and the parts' results are joined, in the order of their keys.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (key, 2 * key)).collect();
    /// let largest = index.par_fold(.., || 0, |so_far, _key, value| so_far.max(value), u64::max);
    /// assert_eq!(largest, 19_998);
    /// ```
    pub fn par_fold<'q, A: Send>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        start: impl Fn() -> A + Sync + Send,
        fold: impl Fn(A, K, V) -> A + Sync + Send,
        join: impl Fn(A, A) -> A + Sync + Send,
    ) -> A
    where
        K: Send,
    {
        let parts = self.par_range(range).fold(&start, |so_far, (key, value)| fold(so_far, key, value));
        parts.reduce(&start, join)
    }

    /// Looks up many keys on rayon's threads. See [`Index::get_many`].
    ///
    /// # Errors
    /// Those of [`Index::get_many`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (key, 2 * key)).collect();
    /// let keys: Vec<u64> = (0..20_000).collect();
    /// let mut answers = vec![None; keys.len()];
    /// index.par_get_many(&keys, &mut answers)?;
    /// assert_eq!((answers[9_999], answers[10_000]), (Some(19_998), None));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn par_get_many<'q>(&self, keys: &[K::Probe<'q>], answers: &mut [Option<V>]) -> Result<()>
    where
        K::Probe<'q>: Sync,
    {
        check_side_by_side(keys.len(), answers.len())?;
        let parts = keys.par_chunks(KEYS_TOGETHER).zip(answers.par_chunks_mut(KEYS_TOGETHER));
        parts.try_for_each(|(keys, answers)| self.get_many(keys, answers))
    }

    /// Looks up many keys on rayon's threads, with the answers in columns. See [`Index::get_columns`].
    ///
    /// # Errors
    /// Those of [`Index::get_columns`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (key, 2 * key)).collect();
    /// let keys: Vec<u64> = (0..20_000).collect();
    /// let (mut values, mut found) = (vec![0; keys.len()], vec![false; keys.len()]);
    /// assert_eq!(index.par_get_columns(&keys, &mut values, &mut found)?, 10_000);
    /// assert_eq!((values[9_999], found[10_000]), (19_998, false));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn par_get_columns<'q>(
        &self,
        keys: &[K::Probe<'q>],
        values: &mut [V],
        found: &mut [bool],
    ) -> Result<usize>
    where
        K::Probe<'q>: Sync,
    {
        check_columns(keys.len(), [values.len(), found.len()])?;
        let answers = values.par_chunks_mut(KEYS_TOGETHER).zip(found.par_chunks_mut(KEYS_TOGETHER));
        let parts = keys.par_chunks(KEYS_TOGETHER).zip(answers);
        parts.map(|(keys, (values, found))| self.get_columns(keys, values, found)).sum()
    }

    /// Finds the floor of each key on rayon's threads. See [`Index::floor_many`].
    ///
    /// # Errors
    /// Those of [`Index::floor_many`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (10 * key, key)).collect();
    /// let keys: Vec<u64> = (0..50_000).map(|at| 2 * at + 1).collect();
    /// let mut answers = vec![None; keys.len()];
    /// index.par_floor_many(&keys, &mut answers)?;
    /// assert_eq!(answers[7], index.floor(15));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn par_floor_many<'q>(&self, keys: &[K::Probe<'q>], answers: &mut [Option<(K, V)>]) -> Result<()>
    where
        K: Send,
        K::Probe<'q>: Sync,
    {
        check_side_by_side(keys.len(), answers.len())?;
        let parts = keys.par_chunks(KEYS_TOGETHER).zip(answers.par_chunks_mut(KEYS_TOGETHER));
        parts.try_for_each(|(keys, answers)| self.floor_many(keys, answers))
    }

    /// Finds the ceiling of each key on rayon's threads. See [`Index::ceiling_many`].
    ///
    /// # Errors
    /// Those of [`Index::ceiling_many`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (10 * key, key)).collect();
    /// let keys: Vec<u64> = (0..50_000).map(|at| 2 * at + 1).collect();
    /// let mut answers = vec![None; keys.len()];
    /// index.par_ceiling_many(&keys, &mut answers)?;
    /// assert_eq!(answers[7], index.ceiling(15));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn par_ceiling_many<'q>(&self, keys: &[K::Probe<'q>], answers: &mut [Option<(K, V)>]) -> Result<()>
    where
        K: Send,
        K::Probe<'q>: Sync,
    {
        check_side_by_side(keys.len(), answers.len())?;
        let parts = keys.par_chunks(KEYS_TOGETHER).zip(answers.par_chunks_mut(KEYS_TOGETHER));
        parts.try_for_each(|(keys, answers)| self.ceiling_many(keys, answers))
    }

    /// Finds the next lower entry of each key on rayon's threads. See [`Index::lower_many`].
    ///
    /// # Errors
    /// Those of [`Index::lower_many`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (10 * key, key)).collect();
    /// let keys: Vec<u64> = (0..50_000).map(|at| 2 * at + 1).collect();
    /// let mut answers = vec![None; keys.len()];
    /// index.par_lower_many(&keys, &mut answers)?;
    /// assert_eq!(answers[7], index.lower(15));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn par_lower_many<'q>(&self, keys: &[K::Probe<'q>], answers: &mut [Option<(K, V)>]) -> Result<()>
    where
        K: Send,
        K::Probe<'q>: Sync,
    {
        check_side_by_side(keys.len(), answers.len())?;
        let parts = keys.par_chunks(KEYS_TOGETHER).zip(answers.par_chunks_mut(KEYS_TOGETHER));
        parts.try_for_each(|(keys, answers)| self.lower_many(keys, answers))
    }

    /// Finds the next higher entry of each key on rayon's threads. See [`Index::higher_many`].
    ///
    /// # Errors
    /// Those of [`Index::higher_many`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (10 * key, key)).collect();
    /// let keys: Vec<u64> = (0..50_000).map(|at| 2 * at + 1).collect();
    /// let mut answers = vec![None; keys.len()];
    /// index.par_higher_many(&keys, &mut answers)?;
    /// assert_eq!(answers[7], index.higher(15));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn par_higher_many<'q>(&self, keys: &[K::Probe<'q>], answers: &mut [Option<(K, V)>]) -> Result<()>
    where
        K: Send,
        K::Probe<'q>: Sync,
    {
        check_side_by_side(keys.len(), answers.len())?;
        let parts = keys.par_chunks(KEYS_TOGETHER).zip(answers.par_chunks_mut(KEYS_TOGETHER));
        parts.try_for_each(|(keys, answers)| self.higher_many(keys, answers))
    }
}

impl<'a, K: KeyFor<V> + Send, V: IndexValue> IntoParallelIterator for &'a Index<K, V> {
    type Item = (K, V);
    type Iter = ParallelRange<'a, K, V>;

    fn into_par_iter(self) -> ParallelRange<'a, K, V> {
        ParallelRange { index: self, low: Bound::Unbounded, high: Bound::Unbounded }
    }
}
