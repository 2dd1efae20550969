//! The entry that is nearest to a key, on whichever side.

use super::Index;
use super::access::{Access, Encoded, EncodedRange, decode_entry, decode_key, encode_key};
use super::engine::KeyFor;
use super::exclusive::Exclusive;
use super::in_columns::check_columns;
use super::order::Neighbours;
use crate::tree::{Beside, Mode, Own};
use latchless_core::base::distance::Distance;
#[cfg(doc)]
use latchless_core::base::error::Error;
use latchless_core::base::error::Result;
use latchless_core::base::index::check_side_by_side;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

/// Returns the nearer one of two neighbours of a key; the first one, if they are equally far.
#[inline(always)]
fn nearer<K: Key, V: Value, D: Ord>(
    key: K,
    beside: Beside<Encoded<K, V>>,
    distance: &impl Fn(K, K) -> D,
) -> Option<EncodedRange<K, V>> {
    let Beside { before: Some(before), after: Some(after) } = beside else {
        return beside.before.or(beside.after);
    };
    let to = |(other, _): EncodedRange<K, V>| distance(key, decode_key::<K, V>(other));
    Some(if to(after) < to(before) { after } else { before })
}

impl<K: Key, V: Value, M: Mode> Access<'_, K, V, M> {
    pub(super) fn nearest_by<D: Ord>(self, key: K, own: Own, distance: impl Fn(K, K) -> D) -> Option<(K, V)> {
        let beside = self.tree.beside::<M>(encode_key::<K, V>(key), own);
        nearer::<K, V, D>(key, beside, &distance).map(decode_entry::<K, V>)
    }

    pub(super) fn nearest_each<D: Ord>(
        self,
        (keys, own): (&[K], Own),
        distance: impl Fn(K, K) -> D,
        mut answer: impl FnMut(usize, Option<(K, V)>),
    ) {
        let key_at = |at: usize| encode_key::<K, V>(keys[at]);
        self.tree.beside_each::<M>(keys.len(), self.group, own, key_at, |at, beside| {
            answer(at, nearer::<K, V, D>(keys[at], beside, &distance).map(decode_entry::<K, V>));
        });
    }
}

/// Returns what distributes entries to columns, and counts them.
#[inline(always)]
fn to_columns<'c, K, V>(
    (keys, values, found): (&'c mut [K], &'c mut [V], &'c mut [bool]),
    hits: &'c mut usize,
) -> impl FnMut(usize, Option<(K, V)>) + 'c {
    move |at, entry| {
        found[at] = entry.is_some();
        if let Some(entry) = entry {
            (keys[at], values[at]) = entry;
            *hits += 1;
        }
    }
}

/// The distance of two keys as operations take them.
fn apart<K: Distance>(one: K, other: K) -> u64 {
    one.distance(other)
}

/// The nearest entry, on whichever side.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Returns the entry whose key is nearest to `key`: the entry of `key`, or else the nearer one of
    /// [`Index::lower`] and [`Index::higher`]; the lower one, if both are equally far. The distance is that
    /// of [`Distance`], which numbers and times have; [`nearest_by`](Index::nearest_by) takes keys of any
    /// type with a distance of the caller's. O(log n).
    ///
    /// Linearizable: at one moment during the call no entry was nearer. Calling `floor` and then `ceiling`
    /// doesn't guarantee that: the nearest entry may be on one side first, and then on the other.
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!((index.nearest(0), index.nearest(-2)), (Some((3, 30)), Some((-5, 50))));
    /// assert_eq!((index.nearest(-1), index.nearest(i32::MAX)), (Some((-5, 50)), Some((3, 30))));
    /// ```
    pub fn nearest(&self, key: K::Probe<'_>) -> Option<(K, V)>
    where
        K: Distance,
    {
        self.engine.nearest_by(key, Own::Counts, apart::<K>)
    }

    /// Returns the entry whose key is nearest to `key` by the caller's distance. With [`Own::IsPassed`] the
    /// entry of `key` is excluded. Where `a < b < c`, `b` must be no farther from `a` than `c` is. See
    /// [`Index::nearest`].
    ///
    /// ```
    /// use latchless::index::Own;
    ///
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// assert_eq!(index.nearest_by(3, Own::IsPassed, i32::abs_diff), Some((-5, 50)));
    /// // (block, offset): blocks first.
    /// let blocks: latchless::Index<(u32, u32), u64> = [((1, 900), 1), ((3, 0), 3)].into_iter().collect();
    /// let apart = |one: (u32, u32), other: (u32, u32)| (one.0.abs_diff(other.0), one.1.abs_diff(other.1));
    /// assert_eq!(blocks.nearest_by((2, 0), Own::Counts, apart), Some(((3, 0), 3)));
    /// // Texts by their first bytes.
    /// let names: latchless::Index<String, u32> = [("bee".into(), 1), ("emu".into(), 2)].into();
    /// let first = |text: &str| text.bytes().next().unwrap_or(0);
    /// let apart = |one: &str, other: &str| first(one).abs_diff(first(other));
    /// assert_eq!(names.nearest_by("cat", Own::Counts, apart), Some(("bee".into(), 1)));
    /// ```
    pub fn nearest_by<D: Ord>(
        &self,
        key: K::Probe<'_>,
        own: Own,
        distance: impl Fn(K::Probe<'_>, K::Probe<'_>) -> D,
    ) -> Option<(K, V)> {
        self.engine.nearest_by(key, own, distance)
    }

    /// Finds the nearest entry to each key, in the keys' order; `None` if the index is empty. The cache
    /// misses overlap. See [`Index::nearest`].
    ///
    /// Each answer is linearizable, as that of [`Index::nearest`] is. The batch isn't: its answers may be of
    /// different moments.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] if `answers` isn't as long as `keys`; nothing is written then.
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// let mut answers = [None; 3];
    /// index.nearest_many(&[0, -2, -1], &mut answers)?;
    /// assert_eq!(answers, [Some((3, 30)), Some((-5, 50)), Some((-5, 50))]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn nearest_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()>
    where
        K: Distance,
    {
        check_side_by_side(keys.len(), answers.len())?;
        self.engine.nearest_each(keys, Own::Counts, apart::<K>, |at, found| answers[at] = found);
        Ok(())
    }

    /// Finds the nearest entry to each key, with the answers in columns as in [`Index::floor_columns`]. See
    /// [`Index::nearest_many`].
    ///
    /// # Errors
    /// Those of [`Index::floor_columns`].
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// let (mut keys, mut values, mut found) = ([0; 3], [0; 3], [false; 3]);
    /// assert_eq!(index.nearest_columns(&[0, -2, -1], &mut keys, &mut values, &mut found)?, 3);
    /// assert_eq!((keys, values, found), ([3, -5, -5], [30, 50, 50], [true; 3]));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn nearest_columns(
        &self,
        keys: &[K::Probe<'_>],
        found_keys: &mut [K],
        values: &mut [V],
        found: &mut [bool],
    ) -> Result<usize>
    where
        K: Distance,
    {
        self.nearest_columns_by(keys, (Own::Counts, apart::<K>), (found_keys, values, found))
    }

    /// Finds the nearest entry to each key by the caller's distance, with or without the keys' own entries,
    /// with the answers in columns. See [`Index::nearest_by`] and [`Index::nearest_columns`].
    ///
    /// # Errors
    /// Those of [`Index::floor_columns`].
    ///
    /// ```
    /// use latchless::index::Own;
    ///
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// let (mut keys, mut values, mut found) = ([0; 2], [0; 2], [false; 2]);
    /// let columns = (&mut keys[..], &mut values[..], &mut found[..]);
    /// assert_eq!(index.nearest_columns_by(&[3, -4], (Own::IsPassed, i32::abs_diff), columns)?, 2);
    /// assert_eq!((keys, values), ([-5, -5], [50, 50]));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn nearest_columns_by<D: Ord>(
        &self,
        keys: &[K::Probe<'_>],
        (own, distance): (Own, impl Fn(K::Probe<'_>, K::Probe<'_>) -> D),
        columns: (&mut [K], &mut [V], &mut [bool]),
    ) -> Result<usize> {
        check_columns(keys.len(), [columns.0.len(), columns.1.len(), columns.2.len()])?;
        let mut hits = 0;
        self.engine.nearest_each(keys, own, distance, to_columns(columns, &mut hits));
        Ok(hits)
    }
}

/// The nearest entries, for one thread alone.
impl<K: Key, V: Value> Exclusive<'_, K, V> {
    /// See [`Index::nearest`].
    pub fn nearest(&self, key: K) -> Option<(K, V)>
    where
        K: Distance,
    {
        self.access().nearest_by(key, Own::Counts, apart::<K>)
    }

    /// See [`Index::nearest_by`].
    pub fn nearest_by<D: Ord>(&self, key: K, own: Own, distance: impl Fn(K, K) -> D) -> Option<(K, V)> {
        self.access().nearest_by(key, own, distance)
    }

    /// See [`Index::nearest_many`].
    ///
    /// # Errors
    /// Those of [`Index::nearest_many`].
    pub fn nearest_many(&self, keys: &[K], answers: &mut [Option<(K, V)>]) -> Result<()>
    where
        K: Distance,
    {
        check_side_by_side(keys.len(), answers.len())?;
        self.access().nearest_each((keys, Own::Counts), apart::<K>, |at, found| answers[at] = found);
        Ok(())
    }

    /// See [`Index::nearest_columns`].
    ///
    /// # Errors
    /// Those of [`Index::nearest_columns`].
    pub fn nearest_columns(
        &self,
        keys: &[K],
        found_keys: &mut [K],
        values: &mut [V],
        found: &mut [bool],
    ) -> Result<usize>
    where
        K: Distance,
    {
        self.nearest_columns_by(keys, (Own::Counts, apart::<K>), (found_keys, values, found))
    }

    /// See [`Index::nearest_columns_by`].
    ///
    /// # Errors
    /// Those of [`Index::nearest_columns_by`].
    pub fn nearest_columns_by<D: Ord>(
        &self,
        keys: &[K],
        (own, distance): (Own, impl Fn(K, K) -> D),
        columns: (&mut [K], &mut [V], &mut [bool]),
    ) -> Result<usize> {
        check_columns(keys.len(), [columns.0.len(), columns.1.len(), columns.2.len()])?;
        let mut hits = 0;
        self.access().nearest_each((keys, own), distance, to_columns(columns, &mut hits));
        Ok(hits)
    }
}
