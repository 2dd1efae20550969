//! When a commit of a table is seen by others. A log writes its record between the last moment at which a
//! commit may be refused and the first one at which it is seen.

use super::TableKey;
use super::error::TableError;
use super::prepared::Prepared;

/// How the commits of a [`Table`](super::Table) become visible, and how its operations answer: [`AtOnce`], or
/// by the log of a durable table. No other type implements it.
pub trait Publish<K: TableKey<R>, R: Send + Sync + 'static>: Copy {
    /// The reason why a change isn't made.
    type Error: From<TableError<R>>;

    /// Refuses a change, before others have to wait for it.
    #[doc(hidden)]
    fn begin(self) -> Result<(), Self::Error>;

    /// Publishes a commit, and returns its number.
    #[doc(hidden)]
    fn publish(self, commit: Prepared<'_, K, R>) -> Result<u64, Self::Error>;

    /// Returns when the answer of an operation that changes nothing may be given. No commit is under way.
    #[doc(hidden)]
    fn unchanged(self) -> Result<(), Self::Error>;
}

/// Commits of a [`Table`](super::Table) in memory: they are visible when they are made.
#[derive(Debug, Clone, Copy)]
pub struct AtOnce;

impl<K: TableKey<R>, R: Send + Sync + 'static> Publish<K, R> for AtOnce {
    type Error = TableError<R>;

    fn begin(self) -> Result<(), TableError<R>> {
        Ok(())
    }

    fn publish(self, commit: Prepared<'_, K, R>) -> Result<u64, TableError<R>> {
        Ok(commit.publish())
    }

    fn unchanged(self) -> Result<(), TableError<R>> {
        Ok(())
    }
}
