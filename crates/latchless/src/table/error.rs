//! The reasons why a table refuses a change.

use core::fmt;
use latchless_core::base::error::Error;
use std::sync::Arc;

/// The reason why a change of a [`Table`](super::Table) was refused. The table is then unchanged.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum TableError<R> {
    /// Another row has a key that only one row may have.
    #[error("another row has the same key of the index `{index}`")]
    Duplicate {
        /// The name of the index; of the primary keys, `primary key`.
        index: Arc<str>,
        /// The row that has the key.
        existing: Arc<R>,
        /// The row that was to have it, too.
        rejected: Arc<R>,
    },
    /// A later commit has changed what a transaction has read.
    #[error("another commit has changed what the transaction has read")]
    Conflict,
    /// A closure returned a row with another primary key than that of the row that it replaces.
    #[error("the closure changed the primary key of the row")]
    OtherKey {
        /// The row that it returned.
        row: Arc<R>,
    },
    /// An index refused the change.
    #[error(transparent)]
    Index(#[from] Error),
}

impl<R> fmt::Debug for TableError<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate { index, .. } => {
                f.debug_struct("Duplicate").field("index", index).finish_non_exhaustive()
            }
            Self::Conflict => f.write_str("Conflict"),
            Self::OtherKey { .. } => f.debug_struct("OtherKey").finish_non_exhaustive(),
            Self::Index(error) => f.debug_tuple("Index").field(error).finish(),
        }
    }
}
