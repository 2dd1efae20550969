//! Errors of saving and of opening snapshots.

use super::data_type::DataType;
use std::io;
use std::path::{Path, PathBuf};

/// The result of saving or opening.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// The error of saving or opening a snapshot. A failed [`save`](super::save) leaves the old file in place;
/// a failed [`open`](super::open) returns no index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused to read or write.
    #[error("can't {doing}{}: {cause}", called(path.as_deref()))]
    Io {
        /// The operation that failed.
        doing: &'static str,
        /// To which file; `None` for a reader or writer of the caller's.
        path: Option<PathBuf>,
        /// The system's own error.
        #[source]
        cause: io::Error,
    },
    /// The path to replace is no file: a folder, a FIFO, a socket, a device.
    #[error("{} is {kind}, and no file that a save could replace", path.display())]
    NotAFile {
        /// Where it is, after all symbolic links.
        path: PathBuf,
        /// Its kind: `a folder`, `a FIFO`, `a socket`, `a character device`, `a block device`.
        kind: &'static str,
    },
    /// Not an Arrow file, by its first bytes.
    #[error("this isn't an Arrow file: it doesn't begin with ARROW1")]
    NotArrow,
    /// The file doesn't end as Arrow files do.
    #[error("the file was cut short, or something was appended: it doesn't end with ARROW1")]
    NoEnd,
    /// An Arrow file that another program made or rewrote.
    #[error("this is an Arrow file, but no snapshot of an index: {lacks}")]
    Foreign {
        /// The part of a snapshot that this file lacks.
        lacks: &'static str,
    },
    /// A snapshot of another version of the format.
    #[error("this is a snapshot of version {found:?}; version {} is known", super::VERSION)]
    Version {
        /// The file's version.
        found: String,
    },
    /// A byte of the file has changed since it was written.
    #[error("the file is damaged: its checksum is {found:08x}, but {stored:08x} was written")]
    Checksum {
        /// The stored checksum.
        stored: u32,
        /// The checksum of the file's bytes.
        found: u32,
    },
    /// Parts of the file contradict each other.
    #[error("the file is damaged at byte {at}: {what}")]
    Damaged {
        /// Where.
        at: u64,
        /// The contradiction.
        what: &'static str,
    },
    /// A snapshot has a column `key` and a column `value`, that of a
    /// [`MultiIndex`](crate::bytes::MultiIndex) `key` and `row`.
    #[error("a snapshot has the columns {} and {}, but this file has {found}", asked[0], asked[1])]
    Columns {
        /// The file's columns.
        found: String,
        /// The names of the columns of the requested kind of index.
        asked: [&'static str; 2],
    },
    /// A file whose keys can't be searched where they lie. Whether it was saved by a version before there
    /// were directories, or its rows aren't in the order of the column `key`: [`open`](super::open) and its
    /// kin load it.
    #[error("the file has no directory of its keys: load it and save it again to map it")]
    NoDirectory,
    /// A column of a type that no index has.
    #[error("the column {column} is of a type that a snapshot can't have: {found}")]
    UnknownType {
        /// `key` or `value`.
        column: &'static str,
        /// Arrow's name of its type.
        found: String,
    },
    /// A column of another type than the requested index has.
    #[error("the column {column} holds {found}, but the index that was asked for has {asked}")]
    OtherType {
        /// `key`, `value` or `row`.
        column: &'static str,
        /// The type in the file.
        found: DataType,
        /// The requested type.
        asked: DataType,
    },
    /// Keys that are strings where numbers are requested, or numbers where strings are.
    #[error("the column key holds {found}: {opener} opens such a file")]
    OtherKeys {
        /// The type in the file.
        found: DataType,
        /// The function that opens such a file.
        opener: &'static str,
    },
    /// Keys with rows where keys with values are requested, or keys with values where rows are.
    #[error("the file is one of another kind of index: {opener} opens such a file")]
    OtherRows {
        /// The function that opens such a file.
        opener: &'static str,
    },
    /// Strings that are keys of another type than the requested index has.
    #[error("the file has keys of type {found}, but the index that was asked for has keys of type {asked}")]
    OtherKeyType {
        /// The type in the file, by its [`BytesKey::type_name`](crate::BytesKey::type_name).
        found: String,
        /// The requested type.
        asked: String,
    },
    /// Values of another type than the requested index has, in a column of the same type.
    #[error(
        "the file has values of type {found}, but the index that was asked for has values of type {asked}"
    )]
    OtherValueType {
        /// The type in the file, by its [`SavedValue::type_name`](super::SavedValue::type_name).
        found: String,
        /// The requested type.
        asked: String,
    },
    /// Values that are strings or have more than eight bytes, where a number is requested.
    #[error("the column value holds {found}, of which a number of 64 bits is no cell")]
    NoCells {
        /// The column's type.
        found: DataType,
    },
    /// The bytes of a value are more or fewer than its column has for it.
    #[error("a value was made {bytes} bytes, but the column value holds {asked}")]
    NoCell {
        /// How many bytes they are.
        bytes: usize,
        /// The column's type.
        asked: DataType,
    },
    /// Bytes that no value has.
    #[error("row {row} has no value of type {value_type}")]
    NoValue {
        /// The row, counted from 0.
        row: usize,
        /// The values' type.
        value_type: String,
    },
    /// A string that no key has.
    #[error("row {row} has no key of type {key_type}")]
    NoKey {
        /// The row, counted from 0.
        row: usize,
        /// The keys' type.
        key_type: String,
    },
    /// A cell without a value.
    #[error("the column {column} has {count} nulls in record batch {batch}: an index has none")]
    Nulls {
        /// `key` or `value`.
        column: &'static str,
        /// The record batch, counted from 0.
        batch: usize,
        /// How many.
        count: i64,
    },
    /// Columns that are compressed, which those of a snapshot aren't.
    #[error("record batch {batch} is compressed; snapshots are not")]
    Compressed {
        /// The record batch, counted from 0.
        batch: usize,
    },
    /// All batches of a snapshot but the last are of one size.
    #[error("record batch {batch} has {found} rows where a snapshot has {expected}")]
    Rows {
        /// The record batch, counted from 0.
        batch: usize,
        /// How many rows it has.
        found: i64,
        /// How many it should have.
        expected: u64,
    },
    /// Another number of rows than the file's own count.
    #[error("the file has {found} rows, but its count is {stored:?}")]
    Len {
        /// The name in the file.
        stored: String,
        /// Rows in its batches.
        found: u64,
    },
    /// Metadata that would be taken for this library's own.
    #[error(
        "the metadata under {name:?} can't be saved: latchless. at a name's start and crc32= anywhere are reserved"
    )]
    Reserved {
        /// The name.
        name: String,
    },
    /// There is no memory for the columns.
    #[error("the system refused {requested_bytes} bytes of memory for the columns")]
    OutOfMemory {
        /// The requested size in bytes.
        requested_bytes: u64,
    },
    /// The rows are no entries of an index: not ascending, or a key comes twice. Or memory is refused.
    #[error(transparent)]
    Index(#[from] crate::Error),
}

/// A file's name within a message.
fn called(path: Option<&Path>) -> String {
    path.map_or(String::new(), |path| format!(" {}", path.display()))
}

impl Error {
    /// An error of the system, `doing` something to no file in particular.
    pub(super) fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { doing, path: None, cause }
    }

    /// The same about a file, which it names unless it names one already.
    pub(super) fn about(self, file: &Path) -> Self {
        match self {
            Self::Io { doing, path: None, cause } => Self::Io { doing, path: Some(file.into()), cause },
            other => other,
        }
    }
}
