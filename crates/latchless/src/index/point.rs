//! Operations on one key: lookup, insert, remove, compare and exchange. Each is one atomic step.

use super::Index;
use super::access::{Access, Encoded, decode_value, encode_key, encode_value, expect_infallible};
use super::operations::{exclusive, operations};
use super::refused::TryInsertError;
use crate::tree::{Edit, Edited, Mode};
use latchless_core::base::error::Result;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

impl<K: Key, V: Value, M: Mode> Access<'_, K, V, M> {
    #[inline]
    pub(super) fn get(self, key: K) -> Option<V> {
        self.tree.get::<M>(encode_key::<K, V>(key)).map(decode_value::<K, V>)
    }

    #[inline]
    pub(super) fn edit(self, key: K, edit: Edit<Encoded<K, V>>) -> Result<Edited<V>> {
        let edited = self.tree.edit::<M>(encode_key::<K, V>(key), edit)?;
        Ok(Edited { before: edited.before.map(decode_value::<K, V>), applied: edited.applied })
    }

    #[inline]
    pub(super) fn insert(self, key: K, value: V) -> Result<Option<V>> {
        let before = self.tree.put::<M>(encode_key::<K, V>(key), encode_value::<K, V>(value))?;
        Ok(before.map(decode_value::<K, V>))
    }

    pub(super) fn try_insert(self, key: K, value: V) -> Result<(), TryInsertError<V>> {
        match self.edit(key, Edit::Add(encode_value::<K, V>(value))) {
            Ok(Edited { before: Some(present), .. }) => Err(TryInsertError::Present { present, value }),
            Ok(_) => Ok(()),
            Err(error) => Err(TryInsertError::Refused { error, value }),
        }
    }

    #[inline]
    pub(super) fn remove(self, key: K) -> Option<V> {
        self.tree.remove::<M>(encode_key::<K, V>(key)).map(decode_value::<K, V>)
    }

    #[inline]
    pub(super) fn replace(self, key: K, value: V) -> Option<V> {
        expect_infallible(self.edit(key, Edit::Replace(encode_value::<K, V>(value)))).before
    }

    pub(super) fn compare_exchange(self, key: K, expected: V, value: V) -> Result<V, Option<V>> {
        let (expected, value) = (encode_value::<K, V>(expected), encode_value::<K, V>(value));
        exchanged(expect_infallible(self.edit(key, Edit::Swap { expected, value })))
    }

    pub(super) fn compare_remove(self, key: K, expected: V) -> Result<V, Option<V>> {
        exchanged(expect_infallible(self.edit(key, Edit::RemoveIf(encode_value::<K, V>(expected)))))
    }
}

/// Returns the value that was stored as expected, or else the stored one as an error.
fn exchanged<V>(edited: Edited<V>) -> Result<V, Option<V>> {
    match edited {
        Edited { before: Some(before), applied: true } => Ok(before),
        Edited { before, .. } => Err(before),
    }
}

operations! {
    /// Replaces the value of a key that is present, and returns the old one; does nothing if the key isn't
    /// present. O(log n). Needs no memory.
    ///
    /// ```
    /// # let index = latchless::Index::<u64, u32>::new()?;
    /// index.insert(7, 70)?;
    /// assert_eq!((index.replace(7, 71), index.replace(8, 80)), (Some(70), None));
    /// assert_eq!((index.get(7), index.get(8)), (Some(71), None));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn replace(&mut self, key: K, value: V) -> Option<V> {
        self.access().replace(key, value)
    }

    /// Replaces the value of a key if it is `expected`. O(log n). Needs no memory.
    ///
    /// Values are compared by their bits ([`Value::encode`]): a float's −0 is not its +0, and a NaN
    /// equals itself.
    ///
    /// # Errors
    /// The current value, if any. The index is then unchanged.
    ///
    /// ```
    /// # let index = latchless::Index::<u64, u32>::new()?;
    /// index.insert(7, 70)?;
    /// assert_eq!(index.compare_exchange(7, 70, 71), Ok(70));
    /// assert_eq!(index.compare_exchange(7, 70, 72), Err(Some(71)));
    /// assert_eq!(index.compare_exchange(8, 70, 72), Err(None));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn compare_exchange(&mut self, key: K, expected: V, value: V) -> Result<V, Option<V>> {
        self.access().compare_exchange(key, expected, value)
    }

    /// Removes a key if its value is `expected`, compared as in [`Index::compare_exchange`]. O(log n).
    ///
    /// # Errors
    /// The current value, if any. The index is then unchanged.
    ///
    /// ```
    /// # let index = latchless::Index::<u64, u32>::new()?;
    /// index.insert(7, 70)?;
    /// assert_eq!(index.compare_remove(7, 71), Err(Some(70)));
    /// assert_eq!(index.compare_remove(7, 70), Ok(70));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn compare_remove(&mut self, key: K, expected: V) -> Result<V, Option<V>> {
        self.access().compare_remove(key, expected)
    }
}

exclusive! {
    /// See [`Index::get`].
    #[inline]
    pub fn get(&self, key: K) -> Option<V> {
        self.access().get(key)
    }

    /// See [`Index::contains_key`].
    #[inline]
    pub fn contains_key(&self, key: K) -> bool {
        self.access().get(key).is_some()
    }

    /// See [`Index::insert`].
    #[inline]
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>> {
        self.access().insert(key, value)
    }

    /// See [`Index::try_insert`].
    pub fn try_insert(&mut self, key: K, value: V) -> Result<(), TryInsertError<V>> {
        self.access().try_insert(key, value)
    }

    /// See [`Index::remove`].
    #[inline]
    pub fn remove(&mut self, key: K) -> Option<V> {
        self.access().remove(key)
    }
}
