//! The failures of calls. The message says what was wrong and where; the status gives the kind of failure.

use crate::status::latchless_status::{self, *};
use engine::{Broken, Error, snapshot};

/// Why a call was refused.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{argument} is NULL")]
    Null { argument: &'static str },
    #[error("{argument}_len is NULL")]
    NullLength { argument: &'static str },
    #[error("{argument} is NULL, but there are to be {count} elements")]
    NullColumn { argument: &'static str, count: usize },
    #[error("{argument} is NULL, but has a length of {len}")]
    NullKey { argument: &'static str, len: usize },
    #[error("{argument}[{at}] is NULL, but has a length of {len}")]
    NullKeyAt { argument: &'static str, at: usize, len: usize },
    #[error("{argument}[{at}] can't have {len} bytes: they would not fit into memory")]
    TooLongAt { argument: &'static str, at: usize, len: usize },
    #[error("{argument} has room for {room} bytes, but needs {needed}")]
    SmallRoom { argument: &'static str, room: usize, needed: usize },
    #[error("{argument} has {len} bytes, but must have 8: the values of this index are words")]
    NoWord { argument: &'static str, len: usize },
    #[error("{argument}[{at}] has {len} bytes, but must have 8: the values of this index are words")]
    NoWordAt { argument: &'static str, at: usize, len: usize },
    #[error(
        "values isn't NULL, but values of this index are byte strings: latchless_bytes_remove returns them"
    )]
    NotWords,
    #[error("{argument}[{at}] is {offset}, below the one before or zero")]
    Descends { argument: &'static str, at: usize, offset: i64 },
    #[error("{argument} can't have {count} elements: they would not fit into memory")]
    TooLong { argument: &'static str, count: usize },
    #[error("{0}")]
    Handle(#[from] Fault),
    #[error("{argument} is NaN, which can't be a key")]
    Nan { argument: &'static str },
    #[error("{argument}[{at}] is NaN, which can't be a key")]
    NanAt { argument: &'static str, at: usize },
    #[error("low is above high")]
    Inverted,
    #[error("begin is after end")]
    EndFirst,
    #[error("low[{at}] is above high[{at}]")]
    InvertedAt { at: usize },
    #[error("room is 0, so no entry could be copied, and the end of the range could not be recognized")]
    NoRoom,
    #[error("{field} is {given}, but must be {wanted}")]
    Field { field: &'static str, given: u64, wanted: &'static str },
    #[error(
        "struct_size is {given}, but the smallest is {smallest}: set it before the call (options: by latchless_options_init)"
    )]
    StructSize { given: usize, smallest: usize },
    #[error("struct_size is {given}, and bytes after the first {known} are set: made for a newer library?")]
    Newer { given: usize, known: usize },
    #[error("{refused} of {count} inserts were refused, the first at position {first}: {error}")]
    Refused { refused: usize, count: usize, first: usize, error: Error },
    #[error("{0}")]
    Index(#[from] Error),
    #[error("{0}")]
    Snapshot(#[from] snapshot::Error),
    #[error("the file has the {column} type {found}, which isn't one of an index of this kind")]
    OtherType { column: &'static str, found: String },
    #[error("the file has a key that is NaN, at row {at}")]
    NanInFile { at: usize },
    #[error("{0}")]
    Broken(#[from] Broken),
}

/// Why a handle can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("the handle is NULL")]
    Null,
    #[error("the handle {address:#x} was made by no function of this library")]
    Unknown { address: usize },
    #[error("the handle is one of {found}, but must be one of {wanted}")]
    OtherKind { found: &'static str, wanted: &'static str },
    #[error("the handle of {kind} was freed before")]
    Freed { kind: &'static str },
    #[error("another thread is using the handle of {kind}")]
    Busy { kind: &'static str },
    #[error("a cursor keeps the index of the handle of {kind}: free it first")]
    Kept { kind: &'static str },
    #[error("a call has failed before in the middle, so the handle of {kind} can only be freed")]
    Spoilt { kind: &'static str },
}

impl Failure {
    /// The status of this kind of failure.
    pub fn status(&self) -> latchless_status {
        match self {
            Self::Null { .. }
            | Self::NullLength { .. }
            | Self::NullColumn { .. }
            | Self::NullKey { .. }
            | Self::NullKeyAt { .. } => LATCHLESS_NULL,
            Self::TooLong { .. } | Self::TooLongAt { .. } => LATCHLESS_TOO_LONG,
            Self::SmallRoom { .. } => LATCHLESS_SMALL_ROOM,
            Self::Handle(Fault::Busy { .. } | Fault::Kept { .. }) => LATCHLESS_BUSY,
            Self::Handle(Fault::Spoilt { .. }) => LATCHLESS_PANIC,
            Self::Handle(_) => LATCHLESS_BAD_HANDLE,
            Self::Nan { .. } | Self::NanAt { .. } => LATCHLESS_NAN,
            Self::Inverted | Self::InvertedAt { .. } | Self::EndFirst => LATCHLESS_INVERTED_RANGE,
            Self::NoRoom
            | Self::Field { .. }
            | Self::StructSize { .. }
            | Self::Newer { .. }
            | Self::NoWord { .. }
            | Self::NoWordAt { .. }
            | Self::NotWords
            | Self::Descends { .. } => LATCHLESS_INVALID,
            Self::Index(error) | Self::Refused { error, .. } => status_of(error),
            Self::Snapshot(error) => match error {
                snapshot::Error::Io { .. } | snapshot::Error::NotAFile { .. } => LATCHLESS_IO,
                snapshot::Error::OutOfMemory { .. } => LATCHLESS_OUT_OF_MEMORY,
                snapshot::Error::Index(error) => status_of(error),
                _ => LATCHLESS_BAD_FILE,
            },
            Self::OtherType { .. } | Self::NanInFile { .. } => LATCHLESS_BAD_FILE,
            Self::Broken(_) => LATCHLESS_BROKEN,
        }
    }
}

fn status_of(error: &Error) -> latchless_status {
    match error {
        Error::OutOfMemory { .. } | Error::ReferencesExhausted { .. } => LATCHLESS_OUT_OF_MEMORY,
        Error::MemoryLimit { .. } => LATCHLESS_MEMORY_LIMIT,
        Error::Unsorted { .. } => LATCHLESS_UNSORTED,
        Error::DuplicateKey { .. } => LATCHLESS_DUPLICATE,
        Error::InvertedRange => LATCHLESS_INVERTED_RANGE,
        Error::KeyTooLong { .. } => LATCHLESS_KEY_TOO_LONG,
        Error::ValueTooLong { .. } => LATCHLESS_VALUE_TOO_LONG,
        _ => LATCHLESS_INVALID,
    }
}
