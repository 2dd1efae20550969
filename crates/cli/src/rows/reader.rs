//! What every format of rows does: it turns a file, piece by piece, into text with separated fields.

use super::dialect::Dialect;
use super::error::QueryError;
use super::kind::Kind;
use super::lines::Lines;
use super::ragged::Ragged;

/// Reads the rows of a file as text with separated fields.
pub trait RowReader {
    /// Appends the text of the next bytes, so many unless the file ends before. Returns `false` once it has
    /// ended. `lines`: how many lines precede what is in `into`.
    ///
    /// # Errors
    /// [`QueryError::Unreadable`], [`QueryError::Undecodable`]; those of the format.
    fn read_on(&mut self, into: &mut String, bytes: usize, lines: u64) -> Result<bool, QueryError>;

    /// The properties of the text, which begins so.
    fn about(&self, begins: &str) -> About;

    /// Where the text's lines are in the file.
    fn lines(&self) -> Lines {
        Lines::default()
    }

    /// Rows that were cut already, in lines of the text.
    fn ragged(&self) -> Ragged {
        Ragged::default()
    }
}

/// The properties of a file's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Its notation.
    pub dialect: Dialect,
    /// The types of the columns, if the file has them.
    pub kinds: Option<Vec<Option<Kind>>>,
    /// Whether it is the file's own, and not made here.
    pub is_own: bool,
}

impl About {
    /// Of text that is made here: CSV.
    pub fn made(is_named: bool, kinds: Option<Vec<Option<Kind>>>) -> Self {
        Self { dialect: Dialect::csv(b',', is_named), kinds, is_own: false }
    }
}
