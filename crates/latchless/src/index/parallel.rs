//! Parallel reads on rayon's thread pool.
//!
//! A range is split in the middle of its encoded keys, after its ends were moved to the first and the last
//! key in it; rayon splits further where a thread has nothing to do.

use super::Index;
use super::access::{EncodedRange, decode_entry, encode_range};
use super::in_columns::check_columns;
use crate::tree::Shared;
use core::ops::RangeBounds;
use latchless_core::base::error::Result;
use latchless_core::base::index::{Direction, check_side_by_side};
use latchless_core::base::key::{Bits, Key};
use latchless_core::base::span::next;
use latchless_core::base::value::Value;
use rayon::iter::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
use rayon::prelude::*;

/// Keys that one thread looks up at a time: enough for the groups of a batch, and few enough that no thread
/// waits long for the last one.
const KEYS_TOGETHER: usize = 4096;

/// The entries of a range, distributed to the threads of rayon's pool: see [`Index::par_range`].
#[derive(Debug, Clone)]
pub struct ParallelRange<'a, K: Key, V: Value> {
    index: &'a Index<K, V>,
    rest: Option<EncodedRange<K, V>>,
}

impl<K: Key, V: Value> ParallelIterator for ParallelRange<'_, K, V> {
    type Item = (K, V);

    fn drive_unindexed<C: UnindexedConsumer<(K, V)>>(self, consumer: C) -> C::Result {
        bridge_unindexed(self, consumer)
    }
}

impl<K: Key, V: Value> UnindexedProducer for ParallelRange<'_, K, V> {
    type Item = (K, V);

    fn split(self) -> (Self, Option<Self>) {
        let Self { index, rest } = self;
        let part = |rest| Self { index, rest };
        let nearest =
            |from, direction| index.engine.tree.nearest::<Shared>(from, direction).map(|(key, _)| key);
        let ends = rest.and_then(|(low, high)| {
            let ends = (nearest(low, Direction::Forward)?, nearest(high, Direction::Reverse)?);
            (ends.0 < ends.1).then_some((ends.0.to_u64(), ends.1.to_u64()))
        });
        // Keys that are inserted beyond the ends meanwhile are still in one of the parts.
        match (rest, ends) {
            (Some((low, high)), Some((first, last))) => {
                let middle = Bits::truncate(first + (last - first) / 2);
                (part(Some((low, middle))), Some(part(next(middle).map(|behind| (behind, high)))))
            }
            _ => (part(rest), None),
        }
    }

    fn fold_with<F: Folder<(K, V)>>(self, folder: F) -> F {
        let Some((low, high)) = self.rest else { return folder };
        let mut folder = Some(folder);
        self.index.engine.tree.scan::<Shared>(low, high, Direction::Forward, usize::MAX, |keys, values| {
            let entries = keys.iter().zip(values).map(|(&key, &value)| decode_entry::<K, V>((key, value)));
            folder = folder.take().map(|folder| folder.consume_iter(entries));
            folder.as_ref().is_some_and(|folder| !folder.full())
        });
        folder.expect("it is put back after each leaf")
    }
}

impl<K: Key, V: Value> Index<K, V> {
    /// Returns the entries of a range for rayon's threads, which visit parts of it in parallel, each part in
    /// ascending order. Concurrent changes are visible as in [`Entries`](super::Entries).
    ///
    /// ```
    /// use rayon::prelude::*;
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (key, 2 * key)).collect();
    /// let sum: u64 = index.par_range(..100).map(|(_, value)| value).sum();
    /// assert_eq!(sum, 9900);
    /// ```
    pub fn par_range(&self, range: impl RangeBounds<K>) -> ParallelRange<'_, K, V> {
        ParallelRange { index: self, rest: encode_range::<K, V>(&range) }
    }

    /// Folds the entries of a range on rayon's threads: each part of the range is folded separately,
    /// starting from `start`, and the parts' results are joined, in the order of their keys.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..10_000).map(|key| (key, 2 * key)).collect();
    /// let largest = index.par_fold(.., || 0, |so_far, _key, value| so_far.max(value), u64::max);
    /// assert_eq!(largest, 19_998);
    /// ```
    pub fn par_fold<A: Send>(
        &self,
        range: impl RangeBounds<K>,
        start: impl Fn() -> A + Sync + Send,
        fold: impl Fn(A, K, V) -> A + Sync + Send,
        join: impl Fn(A, A) -> A + Sync + Send,
    ) -> A {
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
    pub fn par_get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
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
    pub fn par_get_columns(&self, keys: &[K], values: &mut [V], found: &mut [bool]) -> Result<usize> {
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
    pub fn par_floor_many(&self, keys: &[K], answers: &mut [Option<(K, V)>]) -> Result<()> {
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
    pub fn par_ceiling_many(&self, keys: &[K], answers: &mut [Option<(K, V)>]) -> Result<()> {
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
    pub fn par_lower_many(&self, keys: &[K], answers: &mut [Option<(K, V)>]) -> Result<()> {
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
    pub fn par_higher_many(&self, keys: &[K], answers: &mut [Option<(K, V)>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        let parts = keys.par_chunks(KEYS_TOGETHER).zip(answers.par_chunks_mut(KEYS_TOGETHER));
        parts.try_for_each(|(keys, answers)| self.higher_many(keys, answers))
    }
}

impl<'a, K: Key, V: Value> IntoParallelIterator for &'a Index<K, V> {
    type Item = (K, V);
    type Iter = ParallelRange<'a, K, V>;

    fn into_par_iter(self) -> ParallelRange<'a, K, V> {
        ParallelRange { index: self, rest: Some(super::access::full_range::<K, V>()) }
    }
}
