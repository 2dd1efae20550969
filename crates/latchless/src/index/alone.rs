//! An index with at most one writer, enforced by `&mut`. It is for callers that need the form without
//! latches as a trait object; [`Exclusive`](super::Exclusive) has all operations.

use super::access::Access;
use super::shared::Index;
use crate::tree;
use latchless_core::base::key::Key;
use latchless_core::base::value::Value;

/// An [`Index`] that is changed through `&mut self` only, so that neither reads nor updates overlap with a
/// writer: nothing is latched and nothing validated.
///
/// ```
/// use latchless::Index;
/// use latchless::index::ExclusiveIndex;
/// use latchless_core::base::index::OrderedIndex;
///
/// let mut index: Box<dyn OrderedIndex<u64, u32>> = Box::new(ExclusiveIndex::from(Index::new()?));
/// index.insert(7, 70)?;
/// assert_eq!(index.get(7), Some(70));
/// assert!(index.as_concurrent().is_none());
/// # Ok::<(), latchless::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct ExclusiveIndex<K: Key, V: Value>(pub(super) Index<K, V>);

impl<K: Key, V: Value> From<Index<K, V>> for ExclusiveIndex<K, V> {
    fn from(index: Index<K, V>) -> Self {
        Self(index)
    }
}

impl<K: Key, V: Value> From<ExclusiveIndex<K, V>> for Index<K, V> {
    fn from(alone: ExclusiveIndex<K, V>) -> Self {
        alone.0
    }
}

impl<K: Key, V: Value> ExclusiveIndex<K, V> {
    /// Every change goes through `&mut self`, so `&self` is shared with readers only.
    #[inline(always)]
    pub(super) fn access(&self) -> Access<'_, K, V, tree::Exclusive> {
        Access::new(&self.0.engine)
    }
}
