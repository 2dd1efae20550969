//! What every way to join does: takes LEFT's rows, looks for their partners, and gives those of each.

use crate::rows::error::QueryError;
use crate::rows::kind::Kind;
use crate::rows::table::Walk;

/// Finds the rows of RIGHT that belong to rows of LEFT, for many of these at once.
pub trait Matcher {
    /// Takes a row of LEFT: the current one of a walk.
    ///
    /// # Errors
    /// [`QueryError::Key`] for a cell of another type.
    fn take(&mut self, row: &Walk) -> Result<(), QueryError>;

    /// Looks for the partners of the rows that were taken.
    ///
    /// # Errors
    /// Those of the index.
    fn look(&mut self) -> Result<(), QueryError>;

    /// Appends the numbers of the rows of RIGHT that belong to one of the rows that were taken, counted from
    /// 0, in their order.
    ///
    /// # Errors
    /// [`QueryError::Malformed`].
    fn partners(&mut self, taken: usize, into: &mut Vec<u32>) -> Result<(), QueryError>;

    /// Forgets the rows that were taken.
    fn clear(&mut self);

    /// The columns of keys of LEFT and of RIGHT, with their kinds.
    fn kinds(&self) -> [Vec<(usize, Kind)>; 2];

    /// The byte that each row of RIGHT starts at.
    fn starts(&self) -> &[u64];

    /// How many rows of LEFT and of RIGHT have no key.
    fn without_key(&self) -> [usize; 2];

    /// Bytes that the index takes.
    fn index_bytes(&self) -> usize;
}
