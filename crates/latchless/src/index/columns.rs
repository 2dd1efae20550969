//! Batches as columns: a slice of keys and a slice of values instead of a slice of pairs, and a mask instead
//! of `Option`s. They do the same as the batches of the same name, without copying columns.

use super::Index;
use super::access::{
    Access, Words, decode_key, decode_value, encode_key, encode_range, encode_value, expect_infallible,
};
use super::engine::{Engine, KeyFor};
use super::exclusive::Exclusive;
use super::in_columns::{check_columns, reserve};
use super::operations::exclusive;
use super::refused::Incomplete;
use crate::tree::{Edit, Mode};
use core::ops::RangeBounds;
#[cfg(doc)]
use latchless_core::base::error::Error;
use latchless_core::base::error::Result;
use latchless_core::base::index::{Direction, check_side_by_side};
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

impl<K: Key, V: Value, M: Mode> Access<'_, K, V, M> {
    #[inline]
    pub(super) fn get_columns(self, keys: &[K], values: &mut [V], found: &mut [bool]) -> Result<usize> {
        check_columns(keys.len(), [values.len(), found.len()])?;
        let mut hits = 0;
        self.tree.get_each::<M>(
            keys.len(),
            self.group,
            |at| encode_key::<K, V>(keys[at]),
            |at, value| {
                found[at] = value.is_some();
                if let Some(value) = value {
                    values[at] = decode_value::<K, V>(value);
                    hits += 1;
                }
            },
        );
        Ok(hits)
    }

    #[inline]
    pub(super) fn insert_columns(self, keys: &[K], values: &[V]) -> Result<usize, Incomplete> {
        if let Err(error) = check_side_by_side(keys.len(), values.len()) {
            return Err(Incomplete { error, refused: (0..keys.len()).collect() });
        }
        let (mut new, mut incomplete) = (0, None);
        self.tree.edit_each::<M>(
            keys.len(),
            self.group,
            |at| (encode_key::<K, V>(keys[at]), Edit::Put(encode_value::<K, V>(values[at]))),
            |at, edited| match edited {
                Ok(edited) => new += usize::from(edited.before.is_none()),
                Err(error) => Incomplete::add(&mut incomplete, at, error),
            },
        );
        Incomplete::or(incomplete, new)
    }

    #[inline]
    pub(super) fn remove_columns(self, keys: &[K], values: &mut [V], found: &mut [bool]) -> Result<usize> {
        check_columns(keys.len(), [values.len(), found.len()])?;
        let mut hits = 0;
        self.tree.edit_each::<M>(
            keys.len(),
            self.group,
            |at| (encode_key::<K, V>(keys[at]), Edit::Remove),
            |at, edited| {
                let removed = expect_infallible(edited).before;
                found[at] = removed.is_some();
                if let Some(value) = removed {
                    values[at] = decode_value::<K, V>(value);
                    hits += 1;
                }
            },
        );
        Ok(hits)
    }

    pub(super) fn range_columns(
        self,
        range: &impl RangeBounds<K>,
        keys: &mut Vec<K>,
        values: &mut Vec<V>,
    ) -> Result<usize> {
        let Some((low, high)) = encode_range::<K, V>(range) else { return Ok(0) };
        let (keys_before, values_before, mut done) = (keys.len(), values.len(), Ok(()));
        self.tree.scan::<M>(low, high, Direction::Forward, usize::MAX, |their_keys, their_values| {
            done = append(keys, their_keys, decode_key::<K, V>);
            if done.is_ok() {
                done = append(values, their_values, decode_value::<K, V>);
            }
            done.is_ok()
        });
        if let Err(error) = done {
            keys.truncate(keys_before);
            values.truncate(values_before);
            return Err(error);
        }
        Ok(keys.len() - keys_before)
    }
}

/// Appends to a column, if there is memory.
#[inline(always)]
fn append<B: Copy, T>(column: &mut Vec<T>, lanes: &[B], decode: impl Fn(B) -> T) -> Result<()> {
    reserve(column, lanes.len())?;
    column.extend(lanes.iter().map(|&lane| decode(lane)));
    Ok(())
}

/// An engine that takes values in the form in which it lends them: of words or byte strings.
#[diagnostic::on_unimplemented(
    message = "a column of values of type `{V}` can't be inserted",
    label = "these values aren't words or strings",
    note = "`insert_many` takes pairs with values of every type"
)]
pub trait Columned<K: IndexKey, V: IndexValue> {
    /// Inserts many entries from columns, and returns the number of new keys.
    ///
    /// # Errors
    /// The inserts that were refused.
    fn insert_columns(&self, keys: &[K::Probe<'_>], values: &[V::Lent<'_>]) -> Result<usize, Incomplete>;
}

impl<K: Key, V: Value> Columned<K, V> for Words<K, V> {
    #[inline(always)]
    fn insert_columns(&self, keys: &[K], values: &[V]) -> Result<usize, Incomplete> {
        self.access().insert_columns(keys, values)
    }
}

/// Batches as columns.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Inserts many entries from columns; of equal keys the last one's value stays. Strings are taken as
    /// slices. Returns the number of keys that weren't present before. See [`Index::insert_many`]. For values
    /// that are words or strings, not for an `Arc`.
    ///
    /// # Errors
    /// [`Incomplete`] lists exactly the inserts that were refused, for want of memory or for a string's
    /// length; all others are done. If the columns have unequal lengths, all are refused. `?` converts it to
    /// an [`Error`].
    ///
    /// ```
    /// # use latchless::Index;
    /// let index = Index::<u64, u32>::new()?;
    /// assert_eq!(index.insert_columns(&[7, 5, 7], &[70, 50, 71])?, 2);
    /// assert_eq!(index.iter().collect::<Vec<_>>(), [(5, 50), (7, 71)]);
    /// let names = Index::<String, String>::new()?;
    /// assert_eq!(names.insert_columns(&["b", "a", "b"], &["one", "two", "three"])?, 2);
    /// assert_eq!(names.get("b").as_deref(), Some("three"));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn insert_columns(&self, keys: &[K::Probe<'_>], values: &[V::Lent<'_>]) -> Result<usize, Incomplete>
    where
        K::Engine: Columned<K, V>,
    {
        self.engine.insert_columns(keys, values)
    }

    /// Looks up many keys, with the answers in columns: `found` says for each key whether it is present, and
    /// `values` gets its value; for an absent key, the place in `values` is unchanged. Returns the number of
    /// keys that were found. See [`Index::get_many`].
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] if one of the columns isn't as long as `keys`; nothing is written then.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..100).map(|key| (key, 2 * key as u32)).collect();
    /// let (mut values, mut found) = ([7; 3], [false; 3]);
    /// assert_eq!(index.get_columns(&[50, 500, 5], &mut values, &mut found)?, 2);
    /// assert_eq!((values, found), ([100, 7, 10], [true, false, true]));
    /// let names: latchless::Index<String, u32> = [("a".to_owned(), 1)].into();
    /// assert_eq!(names.get_columns(&["b", "a"], &mut values[..2], &mut found[..2])?, 1);
    /// assert_eq!((values, found), ([100, 1, 10], [false, true, true]));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn get_columns(&self, keys: &[K::Probe<'_>], values: &mut [V], found: &mut [bool]) -> Result<usize> {
        self.engine.get_columns(keys, values, found)
    }

    /// Removes many keys, with their values in columns as in [`Index::get_columns`]. Returns the number of
    /// keys that were removed. See [`Index::remove_many`].
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] if one of the columns isn't as long as `keys`; the index is then unchanged.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..100).map(|key| (key, 2 * key as u32)).collect();
    /// let (mut values, mut found) = ([7; 3], [false; 3]);
    /// assert_eq!(index.remove_columns(&[50, 5, 50], &mut values, &mut found)?, 2);
    /// assert_eq!((values, found), ([100, 10, 7], [true, true, false]));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn remove_columns(
        &self,
        keys: &[K::Probe<'_>],
        values: &mut [V],
        found: &mut [bool],
    ) -> Result<usize> {
        self.engine.remove_columns(keys, values, found)
    }

    /// Appends the entries of a range, ascending, to two columns, and returns their number. Concurrent
    /// changes are visible as in [`Index::range`].
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the columns can't grow. They are then unchanged.
    ///
    /// ```
    /// # let index: latchless::Index<u64, u32> = (0..100).map(|key| (key, 2 * key as u32)).collect();
    /// let (mut keys, mut values) = (vec![1], vec![2]);
    /// assert_eq!(index.range_columns(97.., &mut keys, &mut values)?, 3);
    /// assert_eq!((keys, values), (vec![1, 97, 98, 99], vec![2, 194, 196, 198]));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn range_columns<'q>(
        &self,
        range: impl RangeBounds<K::Probe<'q>>,
        keys: &mut Vec<K>,
        values: &mut Vec<V>,
    ) -> Result<usize> {
        self.engine.range_columns(range, keys, values)
    }
}

exclusive! {
    /// See [`Index::insert_columns`].
    #[inline]
    pub fn insert_columns(&mut self, keys: &[K], values: &[V]) -> Result<usize, Incomplete> {
        self.access().insert_columns(keys, values)
    }

    /// See [`Index::get_columns`].
    #[inline]
    pub fn get_columns(&self, keys: &[K], values: &mut [V], found: &mut [bool]) -> Result<usize> {
        self.access().get_columns(keys, values, found)
    }

    /// See [`Index::remove_columns`].
    #[inline]
    pub fn remove_columns(&mut self, keys: &[K], values: &mut [V], found: &mut [bool]) -> Result<usize> {
        self.access().remove_columns(keys, values, found)
    }

    /// See [`Index::range_columns`].
    pub fn range_columns(
        &self,
        range: impl RangeBounds<K>,
        keys: &mut Vec<K>,
        values: &mut Vec<V>,
    ) -> Result<usize> {
        self.access().range_columns(&range, keys, values)
    }
}
