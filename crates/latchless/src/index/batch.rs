//! Batches. Requests descend in groups, so that their cache misses overlap: a batch of random lookups takes
//! a fraction of the time of as many single ones.
//!
//! Answers come in the order of the requests, and requests for the same key are served in order. Each
//! request is atomic; the batch is not: other threads may see some of its changes before the others.

use super::Index;
use super::access::{
    Access, decode_value, encode_key, encode_range, encode_value, expect_infallible, full_range,
};
use super::bulk::Bulk;
use super::engine::{Engine, KeyFor};
use super::exclusive::Exclusive;
use super::operations::{exclusive, operations};
use super::refused::Incomplete;
use crate::tree::{Edit, Group, Mode};
use core::ops::{ControlFlow, RangeBounds};
#[cfg(doc)]
use latchless_core::base::error::Error;
use latchless_core::base::error::Result;
use latchless_core::base::index::check_side_by_side;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

/// The number of ranges whose first leaves are prefetched together.
const RANGES_TOGETHER: usize = 16;

impl<K: Key, V: Value, M: Mode> Access<'_, K, V, M> {
    /// Returns the same access with another group size.
    pub(super) fn grouped(self, group: Group) -> Self {
        Self { group, ..self }
    }

    #[inline]
    pub(super) fn get_many(self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        self.tree.get_each::<M>(
            keys.len(),
            self.group,
            |at| encode_key::<K, V>(keys[at]),
            |at, value| answers[at] = value.map(decode_value::<K, V>),
        );
        Ok(())
    }

    #[inline]
    pub(super) fn get_each(self, keys: &[K], mut see: impl FnMut(usize, Option<V>)) {
        self.tree.get_each::<M>(
            keys.len(),
            self.group,
            |at| encode_key::<K, V>(keys[at]),
            |at, value| see(at, value.map(decode_value::<K, V>)),
        );
    }

    pub(super) fn get_all(self, keys: &[K]) -> Vec<Option<V>> {
        let mut answers = vec![None; keys.len()];
        let lengths = self.get_many(keys, &mut answers);
        debug_assert_eq!(lengths, Ok(()));
        answers
    }

    #[inline]
    pub(super) fn insert_many(
        self,
        entries: &[(K, V)],
        replaced: &mut [Option<V>],
    ) -> Result<(), Incomplete> {
        if let Err(error) = check_side_by_side(entries.len(), replaced.len()) {
            return Err(Incomplete { error, refused: (0..entries.len()).collect() });
        }
        let mut incomplete = None;
        self.tree.edit_each::<M>(
            entries.len(),
            self.group,
            |at| {
                let (key, value) = entries[at];
                (encode_key::<K, V>(key), Edit::Put(encode_value::<K, V>(value)))
            },
            |at, edited| match edited {
                Ok(edited) => replaced[at] = edited.before.map(decode_value::<K, V>),
                Err(error) => {
                    replaced[at] = None;
                    Incomplete::add(&mut incomplete, at, error);
                }
            },
        );
        Incomplete::or(incomplete, ())
    }

    #[inline]
    pub(super) fn remove_many(self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        check_side_by_side(keys.len(), removed.len())?;
        self.tree.edit_each::<M>(
            keys.len(),
            self.group,
            |at| (encode_key::<K, V>(keys[at]), Edit::Remove),
            |at, edited| removed[at] = expect_infallible(edited).before.map(decode_value::<K, V>),
        );
        Ok(())
    }

    pub(super) fn range_many<R: RangeBounds<K>>(
        self,
        ranges: &[R],
        mut see: impl FnMut(usize, &[K], &[V]) -> ControlFlow<()>,
    ) {
        let mut together = [(0, full_range::<K, V>()); RANGES_TOGETHER];
        for start in (0..ranges.len()).step_by(RANGES_TOGETHER) {
            let mut len = 0;
            for (at, range) in ranges.iter().enumerate().skip(start).take(RANGES_TOGETHER) {
                if let Some(encoded) = encode_range::<K, V>(range) {
                    together[len] = (at, encoded);
                    len += 1;
                }
            }
            // Their grouped descents bring these into the cache.
            self.tree.get_each::<M>(len, self.group, |at| together[at].1.0, |_, _| {});
            for &(at, encoded) in &together[..len] {
                self.chunks_of_short(encoded, |keys, values| see(at, keys, values));
            }
        }
    }
}

/// Batches, for keys and values of every type.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Looks up many keys, and calls `see` with the position of each and its value, in the keys' order. The
    /// value is lent, as by [`Index::get_with`]. See [`Index::get_many`].
    ///
    /// ```
    /// use latchless::Index;
    /// let names: Index<String, String> = ["a", "b"].map(|name| (name.to_owned(), name.repeat(3))).into();
    /// let mut lengths = [0; 3];
    /// names.get_each(&["b", "x", "a"], |at, text| lengths[at] = text.map_or(0, str::len));
    /// assert_eq!(lengths, [3, 0, 3]);
    /// ```
    #[inline]
    pub fn get_each(&self, keys: &[K::Probe<'_>], see: impl FnMut(usize, Option<V::Lent<'_>>)) {
        self.engine.get_each(keys, see);
    }

    /// Inserts many entries; of equal keys the last one stays. `replaced` gets the values that they
    /// replaced, in the entries' order.
    ///
    /// # Errors
    /// [`Incomplete`] lists exactly the inserts that were refused, for want of memory or for a string's
    /// length; all others are done. If the buffers have unequal lengths, all are refused. `?` converts it to
    /// an [`Error`].
    ///
    /// ```
    /// use latchless::Index;
    /// let index = Index::<u64, u32>::new()?;
    /// let mut replaced = [None; 3];
    /// index.insert_many(&[(7, 70), (5, 50), (7, 71)], &mut replaced)?;
    /// assert_eq!(replaced, [None, None, Some(70)]);
    /// assert_eq!(index.get(7), Some(71));
    /// let names = Index::<String, u32>::new()?;
    /// names.insert_many(&[("seven", 70), ("five", 50), ("seven", 71)], &mut replaced)?;
    /// assert_eq!(replaced, [None, None, Some(70)]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn insert_many(
        &self,
        entries: &[(K::Probe<'_>, V)],
        replaced: &mut [Option<V>],
    ) -> Result<(), Incomplete> {
        self.engine.insert_many(entries, replaced)
    }

    /// Removes many keys; of equal keys the first one gets the value. `removed` gets the keys' values, in
    /// the keys' order.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] if `removed` isn't as long as `keys`; the index is then unchanged.
    ///
    /// ```
    /// use latchless::Index;
    /// let index: Index<u64, u32> = (0..100).map(|key| (key, 2 * key as u32)).collect();
    /// let mut removed = [None; 3];
    /// index.remove_many(&[50, 5, 50], &mut removed)?;
    /// assert_eq!(removed, [Some(100), Some(10), None]);
    /// let names: Index<String, u32> = [("five".to_owned(), 5), ("six".to_owned(), 6)].into();
    /// names.remove_many(&["six", "seven", "six"], &mut removed)?;
    /// assert_eq!(removed, [Some(6), None, None]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn remove_many(&self, keys: &[K::Probe<'_>], removed: &mut [Option<V>]) -> Result<()> {
        self.engine.remove_many(keys, removed)
    }
}

operations! {
    /// Looks up many keys in groups of the given size. See [`Index::get_many`].
    ///
    /// # Errors
    /// Those of [`Index::get_many`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..100).map(|key| (key, 2 * key)).collect();
    /// use latchless::index::Group;
    /// use std::num::NonZeroUsize;
    /// let group = Group::Of(NonZeroUsize::new(8).unwrap());
    /// let mut answers = [None; 2];
    /// index.get_many_with(group, &[3, 300], &mut answers)?;
    /// assert_eq!(answers, [Some(6), None]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn get_many_with(&self, group: Group, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        self.access().grouped(group).get_many(keys, answers)
    }

    /// Inserts many entries in groups of the given size. See [`Index::insert_many`].
    ///
    /// # Errors
    /// Those of [`Index::insert_many`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..100).map(|key| (key, 2 * key)).collect();
    /// use latchless::index::Group;
    /// use std::num::NonZeroUsize;
    /// let group = Group::Of(NonZeroUsize::new(8).unwrap());
    /// let mut replaced = [None; 2];
    /// index.insert_many_with(group, &[(3, 0), (300, 0)], &mut replaced)?;
    /// assert_eq!(replaced, [Some(6), None]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn insert_many_with(
        &mut self,
        group: Group,
        entries: &[(K, V)],
        replaced: &mut [Option<V>],
    ) -> Result<(), Incomplete> {
        self.access().grouped(group).insert_many(entries, replaced)
    }

    /// Removes many keys in groups of the given size. See [`Index::remove_many`].
    ///
    /// # Errors
    /// Those of [`Index::remove_many`].
    ///
    /// ```
    /// # let index: latchless::Index<u64, u64> = (0..100).map(|key| (key, 2 * key)).collect();
    /// use latchless::index::Group;
    /// use std::num::NonZeroUsize;
    /// let group = Group::Of(NonZeroUsize::new(8).unwrap());
    /// let mut removed = [None; 2];
    /// index.remove_many_with(group, &[3, 300], &mut removed)?;
    /// assert_eq!(removed, [Some(6), None]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn remove_many_with(&mut self, group: Group, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        self.access().grouped(group).remove_many(keys, removed)
    }

    /// Calls `see` with the entries of many ranges: those of the first range, ascending, then those of the
    /// second, and so on. `see` gets the range's position and parallel slices of keys and values; breaking
    /// continues with the next range. The ranges' first leaves are prefetched together.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// # let index: latchless::Index<u64, u32> = (0..100).map(|key| (key, 2 * key as u32)).collect();
    /// let mut sums = [0; 3];
    /// index.range_many(&[90..200, 3..5, 7..7], |range, _keys, values| {
    ///     sums[range] += values.iter().sum::<u32>();
    ///     ControlFlow::Continue(())
    /// });
    /// assert_eq!(sums, [1890, 14, 0]);
    /// ```
    pub fn range_many<R: RangeBounds<K>>(
        &self,
        ranges: &[R],
        see: impl FnMut(usize, &[K], &[V]) -> ControlFlow<()>,
    ) {
        self.access().range_many(ranges, see);
    }
}

exclusive! {
    /// See [`Index::insert_many`].
    #[inline]
    pub fn insert_many(&mut self, entries: &[(K, V)], replaced: &mut [Option<V>]) -> Result<(), Incomplete> {
        self.access().insert_many(entries, replaced)
    }

    /// See [`Index::remove_many`].
    #[inline]
    pub fn remove_many(&mut self, keys: &[K], removed: &mut [Option<V>]) -> Result<()> {
        self.access().remove_many(keys, removed)
    }

    /// See [`Index::get_many`].
    #[inline]
    pub fn get_many(&self, keys: &[K], answers: &mut [Option<V>]) -> Result<()> {
        self.access().get_many(keys, answers)
    }

    /// See [`Index::get_all`].
    pub fn get_all(&self, keys: &[K]) -> Vec<Option<V>> {
        self.access().get_all(keys)
    }
}
