//! Changes that the caller computes. A closure never runs while a latch is held, and its answer is stored
//! only if the entry still has the handle that the closure was shown.

use super::BoxedBytesIndex;
use crate::index::settled;
use crate::slot_map::Pinned;
use crate::tree::Tries;
use latchless_core::base::bytes_key::BytesKey;
use latchless_core::base::error::Result;

impl<K: BytesKey, T: Send + Sync + 'static> BoxedBytesIndex<K, T> {
    /// Replaces the value of a present key by the result of `change` on it, and returns the previous value,
    /// which is retired. O(log n + l). The [race rule](crate::index#races) holds for `change`.
    ///
    /// # Errors
    /// When memory for the value is refused; the index is then as before. And
    /// [`Error::ClosureChangesItsKey`](crate::Error::ClosureChangesItsKey), see the race rule.
    pub fn update<'p, Q>(
        &'p self,
        key: &Q,
        mut change: impl FnMut(&T) -> T,
        pin: &'p Pinned,
    ) -> Result<Option<&'p T>>
    where
        Q: BytesKey<K> + ?Sized,
    {
        let mut tries = None;
        while let Some((handle, before)) = self.present(key, pin) {
            let own = self.put(change(before))?;
            if self.index.compare_exchange(key, handle, own).is_ok() {
                return Ok(self.retire(handle, pin));
            }
            self.discard(own, pin);
            tries.get_or_insert_with(|| self.tries(key)).failed()?;
        }
        Ok(None)
    }

    /// Removes a key if `is_due` holds for its value, and returns the value, which is retired. The removed
    /// entry is exactly the one that `is_due` judged. O(log n + l). The [race rule](crate::index#races)
    /// holds for `is_due`.
    ///
    /// # Panics
    /// If `is_due` changes its own key through the index each time that it is called.
    pub fn remove_if<'p, Q>(
        &'p self,
        key: &Q,
        mut is_due: impl FnMut(&T) -> bool,
        pin: &'p Pinned,
    ) -> Option<&'p T>
    where
        Q: BytesKey<K> + ?Sized,
    {
        let mut tries = None;
        loop {
            let (handle, value) = self.present(key, pin)?;
            if !is_due(value) {
                return None;
            }
            if self.index.compare_remove(key, handle).is_ok() {
                return self.retire(handle, pin);
            }
            settled(tries.get_or_insert_with(|| self.tries(key)).failed());
        }
    }

    /// The tries of an operation with a closure about a key.
    fn tries<Q: BytesKey<K> + ?Sized>(&self, key: &Q) -> Tries<'_> {
        key.with_bytes(|key| self.index.tree.tries(key))
    }
}
