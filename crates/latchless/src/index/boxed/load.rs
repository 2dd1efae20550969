//! Filling an empty index from sorted entries.

use super::{Boxed, Handles, KeyForm};
use latchless_core::base::error::{Error, Result};
use latchless_core::base::fill::FillFactor;

impl<I: Handles, T: Send + Sync + 'static> Boxed<I, T> {
    /// Fills an empty index from strictly ascending entries. O(n).
    ///
    /// # Errors
    /// [`Error::NotEmpty`]; the first position that isn't ascending; memory was refused, or a byte string
    /// is too long. The index is then unchanged, and the entries are dropped.
    pub(super) fn fill<Q>(
        &mut self,
        entries: impl IntoIterator<Item = (Q, T)>,
        fill: FillFactor,
    ) -> Result<()>
    where
        I: KeyForm<Q>,
    {
        let len = self.index.key_count();
        if len > 0 {
            return Err(Error::NotEmpty { len });
        }
        // The caller's iterator runs before anything is inserted.
        let entries: Vec<(Q, T)> = entries.into_iter().collect();
        let mut handles = Vec::with_capacity(entries.len());
        let mut loaded = Ok(());
        for (key, value) in entries {
            match self.put(value) {
                Ok(handle) => handles.push((key, handle)),
                Err(error) => {
                    loaded = Err(error);
                    break;
                }
            }
        }
        loaded = loaded.and_then(|()| self.index.load(&handles, fill));
        if loaded.is_err() {
            handles.into_iter().for_each(|(_, handle)| drop(self.slots.take(handle)));
            // Their slots' memory is available for nodes, too.
            self.slots.flush();
        }
        loaded
    }
}
