//! Operations on one key: get, insert, remove, compare and exchange. Each is one atomic step.

use super::stored::{lend, own};
use super::{ByteStrings, Lent};
use crate::TryInsertError;
use crate::index::changes::exchanged;
use crate::tree::{Edit, Edited};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::bytes_value::{BytesValue, FixedForm};
use latchless_core::base::error::{Error, Result};

impl<K: BytesKey, V: BytesValue> ByteStrings<K, V> {
    #[inline]
    fn edit<Q>(&self, key: &Q, edit: Edit<Lent<'_, V>>) -> Result<Edited<V>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        key.with_bytes(|key| self.edit_bytes(key, edit))
    }

    /// Applies an edit that adds no key: a key that is too long isn't there.
    ///
    /// # Errors
    /// If memory for a new byte string is refused.
    #[inline]
    fn edit_present<Q>(&self, key: &Q, edit: Edit<Lent<'_, V>>) -> Result<Edited<V>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        match self.edit(key, edit) {
            Err(Error::KeyTooLong { .. }) => Ok(Edited { before: None, applied: false }),
            outcome => outcome,
        }
    }

    /// Applies an edit that needs no memory and adds no key.
    #[inline]
    fn edit_in_place<Q>(&self, key: &Q, edit: Edit<Lent<'_, V>>) -> Edited<V>
    where
        Q: BytesKey<K> + ?Sized,
    {
        let outcome = self.edit_present(key, edit);
        outcome.unwrap_or_else(|error| unreachable!("nothing is added, but: {error}"))
    }

    /// The value under a key. O(log n); takes no latch.
    #[inline]
    pub fn get<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Option<V> {
        key.with_bytes(|key| self.look_up(key, |lent| own::<V>(lent)))
    }

    /// Calls `see` with the value under a key, and returns the result: no allocation for byte strings. The
    /// borrowed value is a copy, as of one moment. O(log n); takes no latch.
    #[inline]
    pub fn get_with<Q, R>(&self, key: &Q, see: impl FnOnce(Lent<'_, V>) -> R) -> Option<R>
    where
        Q: BytesKey<K> + ?Sized,
    {
        key.with_bytes(|key| self.look_up(key, see))
    }

    /// Whether a key is there. O(log n).
    #[inline]
    pub fn contains_key<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> bool {
        key.with_bytes(|key| self.tree.get(key)).is_some()
    }

    /// Inserts a value under a key and returns the value that it replaces. O(log n). A replaced key is
    /// never missing in between.
    ///
    /// # Errors
    /// [`Error::KeyTooLong`], [`Error::ValueTooLong`], or memory for a new key or a byte string is refused:
    /// [`Error::OutOfMemory`], [`Error::MemoryLimit`], [`Error::ReferencesExhausted`]. The index is then as
    /// before.
    #[inline]
    pub fn insert<Q>(&self, key: &Q, value: Lent<'_, V>) -> Result<Option<V>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        Ok(self.edit(key, Edit::Put(value))?.before)
    }

    /// Inserts a value under a key that isn't there. O(log n). Of several threads that try the same absent
    /// key
    /// at once, one succeeds.
    ///
    /// # Errors
    /// [`TryInsertError::Present`] with the value that is stored, or [`TryInsertError::Refused`].
    pub fn try_insert<Q: BytesKey<K> + ?Sized>(&self, key: &Q, value: V) -> Result<(), TryInsertError<V>> {
        match self.edit(key, Edit::Add(lend(&value))) {
            Ok(Edited { before: Some(present), .. }) => Err(TryInsertError::Present { present, value }),
            Ok(_) => Ok(()),
            Err(error) => Err(TryInsertError::Refused { error, value }),
        }
    }

    /// Removes a key and returns its value. O(log n). Needs no memory.
    #[inline]
    pub fn remove<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Option<V> {
        self.edit_in_place(key, Edit::Remove).before
    }

    /// Removes a key whose value is `expected`, compared by its bits. O(log n).
    ///
    /// # Errors
    /// The value that is stored instead; `None` if there is none.
    pub fn compare_remove<Q>(&self, key: &Q, expected: Lent<'_, V>) -> Result<V, Option<V>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        exchanged(self.edit_in_place(key, Edit::RemoveIf(expected)))
    }

    /// Replaces the value of a present key, and returns the previous one. O(log n).
    ///
    /// # Errors
    /// Those of [`ByteStrings::insert`], for a byte string. Other values cause none: they have
    /// [`replace`](ByteStrings::replace).
    pub fn try_replace<Q>(&self, key: &Q, value: Lent<'_, V>) -> Result<Option<V>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        Ok(self.edit_present(key, Edit::Replace(value))?.before)
    }

    /// Replaces the value of a key by `value` if it is `expected`. O(log n). The inner result is the
    /// previous value, or as its error the different value that is stored, if any.
    ///
    /// # Errors
    /// Those of [`ByteStrings::insert`], for a byte string. Other values cause none: they have
    /// [`compare_exchange`](ByteStrings::compare_exchange).
    pub fn try_compare_exchange<'v, Q>(
        &self,
        key: &Q,
        expected: Lent<'v, V>,
        value: Lent<'v, V>,
    ) -> Result<Result<V, Option<V>>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        Ok(exchanged(self.edit_present(key, Edit::Swap { expected, value })?))
    }
}

/// Values that all have as many words: an entry's value changes in place.
impl<K: BytesKey, V: BytesValue<Form: FixedForm>> ByteStrings<K, V> {
    /// Replaces the value of a present key, and returns the previous one. O(log n). Needs no memory.
    #[inline]
    pub fn replace<Q>(&self, key: &Q, value: Lent<'_, V>) -> Option<V>
    where
        Q: BytesKey<K> + ?Sized,
    {
        self.edit_in_place(key, Edit::Replace(value)).before
    }

    /// Replaces the value of a key by `value` if it is `expected`; values are compared by their bits. O(log
    /// n).
    ///
    /// # Errors
    /// The value that is stored instead; `None` if there is none.
    pub fn compare_exchange<'v, Q>(
        &self,
        key: &Q,
        expected: Lent<'v, V>,
        value: Lent<'v, V>,
    ) -> Result<V, Option<V>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        exchanged(self.edit_in_place(key, Edit::Swap { expected, value }))
    }
}
