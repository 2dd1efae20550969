//! The newest versions of keys.

use super::Index;
use super::engine::KeyFor;
use latchless_core::base::bytes_key::BytesKey;
#[cfg(doc)]
use latchless_core::base::error::Error;
use latchless_core::base::error::Result;
use latchless_core::base::index::check_side_by_side;
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;
use latchless_core::base::versioned::VersionedKey;

/// An engine whose keys are versions of others. Versions are up to the number of a key.
pub trait Versions<K: IndexKey, V: IndexValue> {
    /// Returns the number and the value of a key's newest version.
    fn newest(&self, key: VersionedKey<K::Probe<'_>>) -> Option<(u64, V)>;
    /// Calls `see` with them.
    fn see_newest<R>(
        &self,
        key: VersionedKey<K::Probe<'_>>,
        see: impl FnOnce(u64, V::Lent<'_>) -> R,
    ) -> Option<R>;
    /// Finds the newest version of each key; `answers` has room for as many.
    fn newest_many(&self, keys: &[VersionedKey<K::Probe<'_>>], answers: &mut [Option<(u64, V)>]);
}

/// The newest versions of keys.
impl<K, V: IndexValue> Index<VersionedKey<K>, V>
where
    K: IndexKey + BytesKey,
    VersionedKey<K>: KeyFor<V, Engine: Versions<K, V>>,
{
    /// Returns the newest version of a key up to a number: the version's own number, and its value. It costs
    /// what a [`get`](Index::get) of that version costs, O(log n); takes no latch.
    ///
    /// Linearizable: it was the newest of the versions that were present at one moment during the call.
    ///
    /// ```
    /// use latchless::{Index, VersionedKey};
    ///
    /// let table = Index::<VersionedKey<String>, u32>::new()?;
    /// table.insert(VersionedKey("apple", 3), 30)?;
    /// table.insert(VersionedKey("apple", 7), 70)?;
    /// table.insert(VersionedKey("apples", 5), 50)?;
    /// assert_eq!(table.newest("apple", u64::MAX), Some((7, 70)));
    /// assert_eq!(table.newest("apple", 6), Some((3, 30)));
    /// assert_eq!(table.newest("apple", 2), None);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn newest(&self, key: K::Probe<'_>, number: u64) -> Option<(u64, V)> {
        self.engine.newest(VersionedKey(key, number))
    }

    /// Calls `see` with the number and the value of the newest version of a key up to a number, and returns
    /// the result. The value is lent: nothing is allocated for a string, unless it has more than 192 bytes,
    /// and the references of an `Arc` aren't counted. See [`Index::newest`].
    ///
    /// ```
    /// use latchless::{Index, VersionedKey};
    ///
    /// // A removal is a version without a value.
    /// let table = Index::<VersionedKey, Vec<u8>>::new()?;
    /// table.insert(VersionedKey(b"apple", 3), b"+green")?;
    /// table.insert(VersionedKey(b"apple", 7), b"")?;
    /// let has_value = |number| table.newest_with(b"apple", number, |_, value| !value.is_empty());
    /// assert_eq!((has_value(2), has_value(6), has_value(7)), (None, Some(true), Some(false)));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn newest_with<R>(
        &self,
        key: K::Probe<'_>,
        number: u64,
        see: impl FnOnce(u64, V::Lent<'_>) -> R,
    ) -> Option<R> {
        self.engine.see_newest(VersionedKey(key, number), see)
    }

    /// Finds the newest versions of many keys, each up to its number, in the keys' order, in a fraction of
    /// the time of as many [`Index::newest`]s. Each answer is linearizable; the batch isn't.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`] if `answers` isn't as long as `keys`; nothing is written then.
    ///
    /// ```
    /// use latchless::{Index, VersionedKey};
    ///
    /// let table: Index<VersionedKey<u64>, u32> =
    ///     [(VersionedKey(5, 1), 50), (VersionedKey(7, 2), 70)].into();
    /// let mut answers = [None; 3];
    /// table.newest_many(&[5, 6, 7].map(|key| VersionedKey(key, 9)), &mut answers)?;
    /// assert_eq!(answers, [Some((1, 50)), None, Some((2, 70))]);
    /// # Ok::<(), latchless::Error>(())
    /// ```
    pub fn newest_many(
        &self,
        keys: &[VersionedKey<K::Probe<'_>>],
        answers: &mut [Option<(u64, V)>],
    ) -> Result<()> {
        check_side_by_side(keys.len(), answers.len())?;
        self.engine.newest_many(keys, answers);
        Ok(())
    }
}
