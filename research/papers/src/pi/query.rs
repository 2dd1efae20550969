//! The queries of PI.

use latchless_core::base::key::Key;

/// A query of a batch (Definition 2 and §3.2.5).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Query<K, V> {
    /// The value under a key.
    Search(K),
    /// Insert a value under a key, replacing the previous one.
    Insert(K, V),
    /// Take a key out.
    Delete(K),
    /// The entries from `low` to `high`, both included, in ascending order, at most `limit` of them. Refused
    /// with [`Error::EmptyBuffer`](latchless_core::base::error::Error::EmptyBuffer) if that is none.
    Range {
        /// The start of the range.
        low: K,
        /// The end of the range.
        high: K,
        /// The most entries that it returns.
        limit: usize,
    },
    /// A range without an end, because not every type has a last key; see [`Query::Range`].
    From {
        /// The start of the range.
        low: K,
        /// The most entries that it returns.
        limit: usize,
    },
}

impl<K: Key, V> Query<K, V> {
    /// The key that it is for, or that its range begins with.
    pub(super) fn low(&self) -> K {
        match *self {
            Self::Search(key) | Self::Insert(key, _) | Self::Delete(key) => key,
            Self::Range { low, .. } | Self::From { low, .. } => low,
        }
    }

    /// The most entries that it returns, if it is for a range.
    pub(super) fn limit(&self) -> Option<usize> {
        match *self {
            Self::Search(_) | Self::Insert(..) | Self::Delete(_) => None,
            Self::Range { limit, .. } | Self::From { limit, .. } => Some(limit),
        }
    }
}
