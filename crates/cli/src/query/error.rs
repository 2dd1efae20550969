//! What can be wrong with a query's file, its arguments or its index.

use super::key::Complaint;
use super::kind::{Kind, Named};
use latchless::snapshot::{self, DataType};
use latchless_terminal::failure::Failure;
use latchless_terminal::nearest::did_you_mean;
use latchless_terminal::output::visible;
use std::io;

/// Why a query wasn't answered.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The file isn't there, may not be read, or broke off.
    #[error("can't read {file}: {cause}")]
    Unreadable { file: String, cause: io::Error },
    /// Not a byte in the file.
    #[error("{file} is empty; its first line should name the columns")]
    Empty { file: String },
    /// Bytes that aren't UTF-8.
    #[error("line {line} of {file} is not UTF-8")]
    NotUtf8 { file: String, line: u64 },
    /// A Parquet file, for a program that doesn't read them.
    #[cfg(not(feature = "parquet"))]
    #[error("{file} is a Parquet file, which this build doesn't read: build with --features parquet")]
    NeedsParquet { file: String },
    /// A Parquet file that is damaged, or written in a way that isn't known.
    #[cfg(feature = "parquet")]
    #[error("can't read {file} as Parquet: {cause}")]
    Parquet { file: String, cause: parquet::errors::ParquetError },
    /// More rows than a posting can name.
    #[error("the file has more than {limit} rows, the most that one query can tell apart")]
    TooManyRows { limit: u32 },
    /// A column that isn't in the header.
    #[error(
        "there is no column {name:?} for {option}{}; the columns are {}",
        like(name, there),
        listed(there)
    )]
    MissingColumn { option: &'static str, name: String, there: Vec<String> },
    /// A column that is in the header more than once and so can't be named.
    #[error("{option}: more than one column is called {name:?}")]
    AmbiguousColumn { option: &'static str, name: String },
    /// A row with more or fewer fields than the header.
    #[error("line {line} has {found} fields where the header has {expected}")]
    Ragged { line: u64, found: usize, expected: usize },
    /// A quoted field that never ends.
    #[error("a quoted field in the row that starts on line {line} is never closed")]
    UnclosedQuote { line: u64 },
    /// A key that can't be read.
    #[error("line {line}, column {column:?}: {complaint}{}", if complaint.is_no_number() { NO_NUMBER } else { "" })]
    Key { line: u64, column: String, complaint: Complaint },
    /// Something else than a number on the command line.
    #[error(
        "{option}: {given} is not a number, as the keys in {column} are; with --key-type text they are texts"
    )]
    NotANumber { option: &'static str, given: String, column: String },
    /// A beginning that numbers don't have.
    #[error(
        "--prefix asks about texts, and the keys in {column} are numbers; with --key-type text they are texts"
    )]
    PrefixOfNumbers { column: String },
    /// More parts than a key has.
    #[error(
        "{option}: {given} has {found} parts where the key has {columns}; quote a part with a comma in it: '\"a,b\",c'"
    )]
    Parts { option: &'static str, given: String, found: usize, columns: usize },
    /// Types for some of the columns only.
    #[error(
        "--key-type has {found} types where --key has {columns} columns; give one for all or one for each"
    )]
    KeyTypes { found: usize, columns: usize },
    /// A number that is neither below nor above any other.
    #[error("{option}: NaN is neither smaller nor larger than any number; --get NaN finds it")]
    NanBound { option: &'static str },
    /// A range the wrong way round.
    #[error("{option} {low} {high}: the range starts after its end")]
    InvertedRange { option: &'static str, low: String, high: String },
    /// An option that another question doesn't know.
    #[error("{option} goes with --between and --prefix only")]
    OnlyRows { option: &'static str },
    /// A limit that allows no answer.
    #[error("--limit 0 would print nothing; the smallest limit is 1")]
    ZeroLimit,
    /// A field separator that can't separate fields.
    #[error("--delimiter takes one ASCII character that is neither a quote nor a line end, not {given:?}")]
    Delimiter { given: String },
    /// No column to index, of a file that isn't an index already.
    #[error("{file} isn't a saved index, so --key has to name the column to build one over")]
    NoKey { file: String },
    /// A question about another column than the saved index is over.
    #[error("{file} is an index over {column}; to ask about another column, ask {origin} itself")]
    OtherKey { file: String, column: String, origin: String },
    /// A question about other keys than the saved index has.
    #[error("{file} is an index over keys of type {found}, not {asked}")]
    OtherKeyType { file: String, found: Kind, asked: Named },
    /// Keys of a type that isn't known here.
    #[error("{file} has keys of type {found}, which can't be asked about here")]
    UnknownKeys { file: String, found: DataType },
    /// An Arrow file that isn't a good snapshot.
    #[error("can't open {file}: {cause}")]
    Snapshot { file: String, cause: snapshot::Error },
    /// A good snapshot with metadata of this program that is wrong.
    #[error("{file} says in its metadata that this program saved it, but what else it says there is wrong")]
    BadMetadata { file: String },
    /// A file that isn't what it was when its index was saved.
    #[error(
        "{file} has changed since {index} was saved; ask {file} itself, with --save to save its index again"
    )]
    Changed { file: String, index: String },
    /// An index whose rows couldn't be found again.
    #[error("the index over {file} can't be saved: {why}")]
    CannotSave { file: String, why: &'static str },
    /// The system refused to write the index.
    #[error("can't save the index in {file}: {cause}")]
    Save { file: String, cause: snapshot::Error },
    /// The index refused.
    #[error(transparent)]
    Index(#[from] latchless::Error),
    /// The CSV reader gave up on a text that is in memory already.
    #[error("can't read the rows: {0}")]
    Malformed(#[from] csv::Error),
    /// The answer couldn't be written.
    #[error("can't write the answer: {0}")]
    Output(#[from] io::Error),
}

/// What can be done about a key that is no number.
const NO_NUMBER: &str = "; --skip-bad leaves such rows out, with --key-type text all keys are texts";

/// The most columns that a message names.
const COLUMNS_NAMED_MAX: usize = 20;

/// The columns, or the first of them. Names come from the file, so they are made harmless.
fn listed(columns: &[String]) -> String {
    let named: Vec<_> = columns.iter().take(COLUMNS_NAMED_MAX).map(|name| visible(name)).collect();
    match columns.len().saturating_sub(COLUMNS_NAMED_MAX) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// Which columns may have been meant.
fn like(name: &str, columns: &[String]) -> String {
    visible(&did_you_mean(name, columns.iter().map(String::as_str))).into_owned()
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Index(_) | QueryError::Output(_) | QueryError::Save { .. } => Self::run(error),
            _ => Self::usage(error),
        }
    }
}
