//! One key at a time: look, put, remove, compare and exchange. Each is one atomic step.

use super::{BytesIndex, decode, encode};
use crate::TryInsertError;
use crate::tree::{Edit, Edited};
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::value::Value;

impl<K: BytesKey<Owned = K>, V: Value> BytesIndex<K, V> {
    #[inline]
    fn edit<Q: BytesKey<Owned = K> + ?Sized>(&self, key: &Q, edit: Edit<u64>) -> Result<Edited<V>> {
        let edited = key.with_bytes(|key| self.tree.edit(key, edit))?;
        Ok(Edited { before: edited.before.map(decode), applied: edited.applied })
    }

    /// As `edit`, of an edit that adds no key: a key that is too long isn't there.
    #[inline]
    fn edit_present<Q: BytesKey<Owned = K> + ?Sized>(&self, key: &Q, edit: Edit<u64>) -> Edited<V> {
        match self.edit(key, edit) {
            Err(Error::KeyTooLong { .. }) => Edited { before: None, applied: false },
            outcome => outcome.unwrap_or_else(|error| unreachable!("no key is added, but: {error}")),
        }
    }

    /// The value under a key. O(log n); takes no latch.
    ///
    /// ```
    /// # let index = latchless::bytes::BytesIndex::<String, u32>::new()?;
    /// index.insert("seven", 7)?;
    /// assert_eq!((index.get("seven"), index.get("eight")), (Some(7), None));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn get<Q: BytesKey<Owned = K> + ?Sized>(&self, key: &Q) -> Option<V> {
        key.with_bytes(|key| self.tree.get(key)).map(decode)
    }

    /// Whether a key is there. O(log n).
    #[inline]
    pub fn contains_key<Q: BytesKey<Owned = K> + ?Sized>(&self, key: &Q) -> bool {
        key.with_bytes(|key| self.tree.get(key)).is_some()
    }

    /// Puts a value under a key and returns the value that it replaces. O(log n). At no moment is a key
    /// missing whose value is replaced.
    ///
    /// # Errors
    /// [`Error::KeyTooLong`], or memory for a new key is refused: [`Error::OutOfMemory`],
    /// [`Error::MemoryLimit`], [`Error::ReferencesExhausted`]. The index is then as before.
    ///
    /// ```
    /// # let index = latchless::bytes::BytesIndex::<String, u32>::new()?;
    /// assert_eq!(index.insert("seven", 70)?, None);
    /// assert_eq!(index.insert("seven", 7)?, Some(70));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn insert<Q: BytesKey<Owned = K> + ?Sized>(&self, key: &Q, value: V) -> Result<Option<V>> {
        Ok(self.edit(key, Edit::Put(encode(value)))?.before)
    }

    /// Puts a value under a key that isn't there. O(log n). Of several threads that try the same absent key
    /// at once, one succeeds.
    ///
    /// # Errors
    /// [`TryInsertError::Present`] with the value that is stored, or [`TryInsertError::Refused`].
    ///
    /// ```
    /// use latchless::TryInsertError;
    /// # let index = latchless::bytes::BytesIndex::<String, u32>::new()?;
    /// assert_eq!(index.try_insert("seven", 70), Ok(()));
    /// assert_eq!(index.try_insert("seven", 7), Err(TryInsertError::Present { present: 70, value: 7 }));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn try_insert<Q: BytesKey<Owned = K> + ?Sized>(
        &self,
        key: &Q,
        value: V,
    ) -> Result<(), TryInsertError<V>> {
        match self.edit(key, Edit::Add(encode(value))) {
            Ok(Edited { before: Some(present), .. }) => Err(TryInsertError::Present { present, value }),
            Ok(_) => Ok(()),
            Err(error) => Err(TryInsertError::Refused { error, value }),
        }
    }

    /// Removes a key and returns its value. O(log n). Needs no memory.
    ///
    /// ```
    /// # let index = latchless::bytes::BytesIndex::<String, u32>::new()?;
    /// index.insert("seven", 7)?;
    /// assert_eq!((index.remove("seven"), index.remove("seven")), (Some(7), None));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn remove<Q: BytesKey<Owned = K> + ?Sized>(&self, key: &Q) -> Option<V> {
        self.edit_present(key, Edit::Remove).before
    }

    /// Gives another value to a key that is there, and returns the one before. O(log n). Needs no memory.
    #[inline]
    pub fn replace<Q: BytesKey<Owned = K> + ?Sized>(&self, key: &Q, value: V) -> Option<V> {
        self.edit_present(key, Edit::Replace(encode(value))).before
    }

    /// Gives `value` to a key whose value is `expected`; values are compared by their bits. O(log n).
    ///
    /// # Errors
    /// What is stored instead: another value, or nothing.
    ///
    /// ```
    /// # let index = latchless::bytes::BytesIndex::<String, u32>::new()?;
    /// index.insert("seven", 70)?;
    /// assert_eq!(index.compare_exchange("seven", 70, 7), Ok(70));
    /// assert_eq!(index.compare_exchange("seven", 70, 8), Err(Some(7)));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn compare_exchange<Q>(&self, key: &Q, expected: V, value: V) -> Result<V, Option<V>>
    where
        Q: BytesKey<Owned = K> + ?Sized,
    {
        let (expected, value) = (encode(expected), encode(value));
        exchanged(self.edit_present(key, Edit::Swap { expected, value }))
    }

    /// Removes a key whose value is `expected`, compared by its bits. O(log n).
    ///
    /// # Errors
    /// What is stored instead: another value, or nothing.
    pub fn compare_remove<Q: BytesKey<Owned = K> + ?Sized>(
        &self,
        key: &Q,
        expected: V,
    ) -> Result<V, Option<V>> {
        exchanged(self.edit_present(key, Edit::RemoveIf(encode(expected))))
    }
}

/// The value that was stored as expected, or else what was stored.
fn exchanged<V>(edited: Edited<V>) -> Result<V, Option<V>> {
    match edited {
        Edited { before: Some(before), applied: true } => Ok(before),
        Edited { before, .. } => Err(before),
    }
}
