//! The neighbours of many keys: grouped descents with overlapping cache misses.

use super::Index;
use super::access::{Access, EncodedRange, Words, decode_entry, decode_key, decode_value, encode_key};
use super::engine::{Engine, KeyFor};
use super::exclusive::Exclusive;
use super::in_columns::check_columns;
use super::operations::exclusive;
use super::order::{Neighbours, Side};
use crate::tree::{Mode, Own};
#[cfg(doc)]
use latchless_core::base::error::Error;
use latchless_core::base::error::Result;
use latchless_core::base::index::Direction::Forward;
use latchless_core::base::index::check_side_by_side;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::key::Key;
use latchless_core::base::span::{next, previous};
use latchless_core::base::value::Value;

impl<K: Key, V: Value, M: Mode> Access<'_, K, V, M> {
    /// Calls `answer` with the encoded neighbours of the keys.
    #[inline(always)]
    fn neighbours(self, side: Side, keys: &[K], mut answer: impl FnMut(usize, Option<EncodedRange<K, V>>)) {
        let Side { direction, strict } = side;
        let from = |at: usize| {
            let key = encode_key::<K, V>(keys[at]);
            if !strict {
                return key;
            }
            let beside = if direction == Forward { next(key) } else { previous(key) };
            // Nothing is beyond the last key of all; its own entry is dropped below.
            beside.unwrap_or(key)
        };
        self.tree.nearest_each::<M>(keys.len(), self.group, direction, from, |at, found| {
            let own = |&(key, _): &EncodedRange<K, V>| strict && key == encode_key::<K, V>(keys[at]);
            answer(at, found.filter(|found| !own(found)));
        });
    }

    #[inline]
    fn neighbours_many(self, side: Side, keys: &[K], answers: &mut [Option<(K, V)>]) {
        self.neighbours(side, keys, |at, found| answers[at] = found.map(decode_entry::<K, V>));
    }

    #[inline]
    pub(super) fn neighbour_columns(
        self,
        side: Side,
        keys: &[K],
        (found_keys, values, found): (&mut [K], &mut [V], &mut [bool]),
    ) -> Result<usize> {
        check_columns(keys.len(), [found_keys.len(), values.len(), found.len()])?;
        let mut hits = 0;
        self.neighbours(side, keys, |at, entry| {
            found[at] = entry.is_some();
            if let Some((key, value)) = entry {
                (found_keys[at], values[at]) = (decode_key::<K, V>(key), decode_value::<K, V>(value));
                hits += 1;
            }
        });
        Ok(hits)
    }
}

impl<K: Key, V: Value> Neighbours<K, V> for Words<K, V> {
    #[inline]
    fn near_many(&self, side: Side, keys: &[K], answers: &mut [Option<(K, V)>]) {
        self.access().neighbours_many(side, keys, answers);
    }

    #[inline(always)]
    fn nearest_by<D: Ord>(&self, key: K, own: Own, distance: impl Fn(K, K) -> D) -> Option<(K, V)> {
        self.access().nearest_by(key, own, distance)
    }

    #[inline(always)]
    fn nearest_each<D: Ord>(
        &self,
        keys: &[K],
        own: Own,
        distance: impl Fn(K, K) -> D,
        answer: impl FnMut(usize, Option<(K, V)>),
    ) {
        self.access().nearest_each((keys, own), distance, answer);
    }
}

/// The neighbours of many keys.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    #[inline]
    fn near_many(&self, side: Side, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        self.engine.near_many(side, keys, answers);
        Ok(())
    }

    /// Finds the entry with the largest key that is at most the given one, for each key in the keys' order;
    /// `None` if there is none. It takes little more time than [`Index::get_many`], and with words less if
    /// the keys ascend. See [`Index::floor`].
    ///
    /// Each answer is linearizable: it was the nearest entry at one moment during the call. The batch isn't:
    /// its answers may be of different moments.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] if `answers` isn't as long as `keys`; nothing is written then.
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// let mut answers = [None; 3];
    /// index.floor_many(&[2, -6, 3], &mut answers)?;
    /// assert_eq!(answers, [Some((-5, 50)), None, Some((3, 30))]);
    /// # use latchless::Index;
    /// let names: Index<String, u32> = [("five".to_owned(), 5), ("six".to_owned(), 6)].into();
    /// let mut answers = [None, None];
    /// names.floor_many(&["four", "seven"], &mut answers)?;
    /// assert_eq!(answers, [Some(("five".to_owned(), 5)), Some(("five".to_owned(), 5))]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn floor_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()> {
        self.near_many(Side::FLOOR, keys, answers)
    }

    /// Finds the entry with the smallest key that is at least the given one, for each key. See
    /// [`Index::ceiling`] and [`Index::floor_many`].
    ///
    /// # Errors
    /// Those of [`Index::floor_many`].
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// let mut answers = [None; 3];
    /// index.ceiling_many(&[2, -6, 3], &mut answers)?;
    /// assert_eq!(answers, [Some((3, 30)), Some((-5, 50)), Some((3, 30))]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn ceiling_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()> {
        self.near_many(Side::CEILING, keys, answers)
    }

    /// Finds the entry with the largest key below the given one, for each key. See [`Index::lower`] and
    /// [`Index::floor_many`].
    ///
    /// # Errors
    /// Those of [`Index::floor_many`].
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// let mut answers = [None; 3];
    /// index.lower_many(&[2, -6, 3], &mut answers)?;
    /// assert_eq!(answers, [Some((-5, 50)), None, Some((-5, 50))]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn lower_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()> {
        self.near_many(Side::LOWER, keys, answers)
    }

    /// Finds the entry with the smallest key above the given one, for each key. See [`Index::higher`] and
    /// [`Index::floor_many`].
    ///
    /// # Errors
    /// Those of [`Index::floor_many`].
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// let mut answers = [None; 3];
    /// index.higher_many(&[2, -6, 3], &mut answers)?;
    /// assert_eq!(answers, [Some((3, 30)), Some((-5, 50)), None]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn higher_many(&self, keys: &[K::Probe<'_>], answers: &mut [Option<(K, V)>]) -> Result<()> {
        self.near_many(Side::HIGHER, keys, answers)
    }

    /// Finds the floor of each key, with the answers in columns: `found` says whether a key has one; if it
    /// hasn't, the places in `found_keys` and `values` are unchanged. Returns the number of keys that have
    /// one. See [`Index::floor_many`].
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] if one of the columns isn't as long as `keys`; nothing is written then.
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// let (mut keys, mut values, mut found) = ([0; 3], [0; 3], [false; 3]);
    /// assert_eq!(index.floor_columns(&[2, -6, 3], &mut keys, &mut values, &mut found)?, 2);
    /// assert_eq!((keys, values, found), ([-5, 0, 3], [50, 0, 30], [true, false, true]));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn floor_columns(
        &self,
        keys: &[K::Probe<'_>],
        found_keys: &mut [K],
        values: &mut [V],
        found: &mut [bool],
    ) -> Result<usize> {
        self.engine.near_columns(Side::FLOOR, keys, (found_keys, values, found))
    }

    /// Finds the ceiling of each key, with the answers in columns as in [`Index::floor_columns`]. See
    /// [`Index::ceiling_many`].
    ///
    /// # Errors
    /// Those of [`Index::floor_columns`].
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// let (mut keys, mut values, mut found) = ([0; 3], [0; 3], [false; 3]);
    /// assert_eq!(index.ceiling_columns(&[2, -6, 3], &mut keys, &mut values, &mut found)?, 3);
    /// assert_eq!((keys, values, found), ([3, -5, 3], [30, 50, 30], [true; 3]));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn ceiling_columns(
        &self,
        keys: &[K::Probe<'_>],
        found_keys: &mut [K],
        values: &mut [V],
        found: &mut [bool],
    ) -> Result<usize> {
        self.engine.near_columns(Side::CEILING, keys, (found_keys, values, found))
    }

    /// Finds the next lower entry of each key, with the answers in columns as in [`Index::floor_columns`].
    /// See [`Index::lower_many`].
    ///
    /// # Errors
    /// Those of [`Index::floor_columns`].
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// let (mut keys, mut values, mut found) = ([0; 3], [0; 3], [false; 3]);
    /// assert_eq!(index.lower_columns(&[2, -6, 3], &mut keys, &mut values, &mut found)?, 2);
    /// assert_eq!((keys, values, found), ([-5, 0, -5], [50, 0, 50], [true, false, true]));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn lower_columns(
        &self,
        keys: &[K::Probe<'_>],
        found_keys: &mut [K],
        values: &mut [V],
        found: &mut [bool],
    ) -> Result<usize> {
        self.engine.near_columns(Side::LOWER, keys, (found_keys, values, found))
    }

    /// Finds the next higher entry of each key, with the answers in columns as in [`Index::floor_columns`].
    /// See [`Index::higher_many`].
    ///
    /// # Errors
    /// Those of [`Index::floor_columns`].
    ///
    /// ```
    /// # let index: latchless::Index<i32, u32> = [(3, 30), (-5, 50)].into_iter().collect();
    /// let (mut keys, mut values, mut found) = ([0; 3], [0; 3], [false; 3]);
    /// assert_eq!(index.higher_columns(&[2, -6, 3], &mut keys, &mut values, &mut found)?, 2);
    /// assert_eq!((keys, values, found), ([3, -5, 0], [30, 50, 0], [true, true, false]));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn higher_columns(
        &self,
        keys: &[K::Probe<'_>],
        found_keys: &mut [K],
        values: &mut [V],
        found: &mut [bool],
    ) -> Result<usize> {
        self.engine.near_columns(Side::HIGHER, keys, (found_keys, values, found))
    }
}

exclusive! {
    /// See [`Index::floor_many`].
    #[inline]
    pub fn floor_many(&self, keys: &[K], answers: &mut [Option<(K, V)>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        self.access().neighbours_many(Side::FLOOR, keys, answers);
        Ok(())
    }

    /// See [`Index::ceiling_many`].
    #[inline]
    pub fn ceiling_many(&self, keys: &[K], answers: &mut [Option<(K, V)>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        self.access().neighbours_many(Side::CEILING, keys, answers);
        Ok(())
    }

    /// See [`Index::lower_many`].
    #[inline]
    pub fn lower_many(&self, keys: &[K], answers: &mut [Option<(K, V)>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        self.access().neighbours_many(Side::LOWER, keys, answers);
        Ok(())
    }

    /// See [`Index::higher_many`].
    #[inline]
    pub fn higher_many(&self, keys: &[K], answers: &mut [Option<(K, V)>]) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        self.access().neighbours_many(Side::HIGHER, keys, answers);
        Ok(())
    }

    /// See [`Index::floor_columns`].
    #[inline]
    pub fn floor_columns(
        &self,
        keys: &[K],
        found_keys: &mut [K],
        values: &mut [V],
        found: &mut [bool],
    ) -> Result<usize> {
        self.access().neighbour_columns(Side::FLOOR, keys, (found_keys, values, found))
    }

    /// See [`Index::ceiling_columns`].
    #[inline]
    pub fn ceiling_columns(
        &self,
        keys: &[K],
        found_keys: &mut [K],
        values: &mut [V],
        found: &mut [bool],
    ) -> Result<usize> {
        self.access().neighbour_columns(Side::CEILING, keys, (found_keys, values, found))
    }

    /// See [`Index::lower_columns`].
    #[inline]
    pub fn lower_columns(
        &self,
        keys: &[K],
        found_keys: &mut [K],
        values: &mut [V],
        found: &mut [bool],
    ) -> Result<usize> {
        self.access().neighbour_columns(Side::LOWER, keys, (found_keys, values, found))
    }

    /// See [`Index::higher_columns`].
    #[inline]
    pub fn higher_columns(
        &self,
        keys: &[K],
        found_keys: &mut [K],
        values: &mut [V],
        found: &mut [bool],
    ) -> Result<usize> {
        self.access().neighbour_columns(Side::HIGHER, keys, (found_keys, values, found))
    }
}
