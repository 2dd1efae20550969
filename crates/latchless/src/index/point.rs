//! Operations on one key: lookup, insert, remove, compare and exchange. Each is one atomic step.

#[cfg(doc)]
use super::Index;
use super::access::{Access, Encoded, decode_value, encode_key, encode_value, expect_infallible};
use super::changes::exchanged;
use super::exclusive::Exclusive;
use super::operations::exclusive;
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

    /// Replaces the value `expected` by `value`, or removes the key if that is `None`.
    #[inline(always)]
    pub(super) fn exchange(self, key: K, expected: V, value: Option<V>) -> Result<V, Option<V>> {
        let expected = encode_value::<K, V>(expected);
        let edit = match value.map(encode_value::<K, V>) {
            Some(value) => Edit::Swap { expected, value },
            None => Edit::RemoveIf(expected),
        };
        exchanged(expect_infallible(self.edit(key, edit)))
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

    /// See [`Index::replace`].
    #[inline]
    pub fn replace(&mut self, key: K, value: V) -> Option<V> {
        self.access().replace(key, value)
    }

    /// See [`Index::compare_exchange`].
    pub fn compare_exchange(&mut self, key: K, expected: V, value: V) -> Result<V, Option<V>> {
        self.access().exchange(key, expected, Some(value))
    }

    /// See [`Index::compare_remove`].
    pub fn compare_remove(&mut self, key: K, expected: V) -> Result<V, Option<V>> {
        self.access().exchange(key, expected, None)
    }
}
