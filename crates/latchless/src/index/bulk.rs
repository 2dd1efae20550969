//! What every engine does with many entries at once, whole indexes included. `batch.rs`, `load.rs` and
//! `traits.rs` declare the operations.

use super::refused::Incomplete;
use core::fmt;
use core::iter::FusedIterator;
use core::num::NonZeroUsize;
use latchless_core::base::error::Result;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index_key::IndexKey;
use latchless_core::base::index_value::IndexValue;

/// See the module documentation.
pub trait Bulk<K: IndexKey, V: IndexValue>: Sized {
    type IntoEntries: DoubleEndedIterator<Item = (K, V)> + FusedIterator + fmt::Debug;

    /// Inserts many entries; `replaced` gets the values that they replaced.
    ///
    /// # Errors
    /// The inserts that were refused.
    fn insert_many(
        &self,
        entries: &[(K::Probe<'_>, V)],
        replaced: &mut [Option<V>],
    ) -> Result<(), Incomplete>;
    /// Removes many keys; `removed` gets their values.
    ///
    /// # Errors
    /// [`Error::UnequalBuffers`](crate::Error::UnequalBuffers).
    fn remove_many(&self, keys: &[K::Probe<'_>], removed: &mut [Option<V>]) -> Result<()>;
    /// Fills the index, which is empty, from strictly ascending entries.
    ///
    /// # Errors
    /// The entries don't ascend, or memory was refused. The index is then unchanged.
    fn load(&mut self, entries: &[(K, V)], fill: FillFactor) -> Result<()>;
    /// Fills the index, which is empty, from `len` entries that `entry_at` computes by position.
    ///
    /// # Errors
    /// Those of [`Bulk::load`].
    fn load_by<'e>(
        &mut self,
        len: usize,
        entry_at: impl Fn(usize) -> (K::Probe<'e>, V::Given<'e>) + Sync,
        fill: FillFactor,
        _threads: NonZeroUsize,
    ) -> Result<()> {
        let owned = |at| {
            let (key, value) = entry_at(at);
            (K::own(key), V::given(value))
        };
        self.load(&(0..len).map(owned).collect::<Vec<_>>(), fill)
    }
    fn into_entries(self) -> Self::IntoEntries;
}
