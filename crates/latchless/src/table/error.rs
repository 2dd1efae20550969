//! The reasons why a table refuses a change.

use core::fmt;
use latchless_core::base::error::Error;
use std::sync::Arc;

/// The name of the primary key in an error.
pub(super) const PRIMARY: &str = "primary key";

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
    /// A handle of an index, or an owned snapshot, has a share of the index, so it can't be moved to other
    /// nodes.
    #[error("the index `{index}` is shared: it is shrunk without handles and owned snapshots")]
    Shared {
        /// The name of the index; of the primary keys, `primary key`.
        index: Arc<str>,
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
            Self::Shared { index } => f.debug_struct("Shared").field("index", index).finish(),
            Self::OtherKey { .. } => f.debug_struct("OtherKey").finish_non_exhaustive(),
            Self::Index(error) => f.debug_tuple("Index").field(error).finish(),
        }
    }
}
