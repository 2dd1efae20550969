//! Changes that depend on the present value, for every engine: each is one call of it.

use super::engine::{Engine, KeyFor};
use super::{Index, TryInsertError};
use latchless_core::base::index_value::IndexValue;

/// Changes that depend on what is present.
impl<K: KeyFor<V>, V: IndexValue> Index<K, V> {
    /// Inserts an entry if the key isn't present. O(log n). Of several threads that insert the same absent
    /// key at once, one succeeds.
    ///
    /// # Errors
    /// [`TryInsertError::Present`] with the current value, or [`TryInsertError::Refused`]; both return
    /// `value`. The index is then unchanged.
    ///
    /// ```
    /// use latchless::{Index, TryInsertError};
    /// # let index = Index::<u64, u32>::new()?;
    /// assert_eq!(index.try_insert(7, 70), Ok(()));
    /// assert_eq!(index.try_insert(7, 71), Err(TryInsertError::Present { present: 70, value: 71 }));
    /// let names = Index::<String, String>::new()?;
    /// assert_eq!(names.try_insert("seven", "VII".to_owned()), Ok(()));
    /// # Ok::<(), latchless::Error>(())
    /// ```
    #[inline]
    pub fn try_insert(&self, key: K::Probe<'_>, value: V) -> Result<(), TryInsertError<V>> {
        self.engine.try_insert(key, value)
    }
}
