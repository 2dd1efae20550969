//! The errors of all indexes, as values that a caller can act on.

/// The result of an index operation that can fail.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// The reason why an index refused an operation. The index stays consistent and usable after every error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to hand out memory.
    #[error("the operating system refused {requested_bytes} bytes of memory for nodes")]
    OutOfMemory {
        /// The size of the refused allocation, in bytes.
        requested_bytes: usize,
    },
    /// The index would exceed its memory limit, or one that it shares with others.
    #[error(
        "the index would need {requested_bytes} bytes for its nodes, over its limit of {limit_bytes} bytes"
    )]
    MemoryLimit {
        /// The size that the index, or all that share the limit, would have grown to, in bytes.
        requested_bytes: usize,
        /// The limit, in bytes.
        limit_bytes: usize,
    },
    /// All 4-byte node references are in use.
    #[error("all {limit} node references are in use: use wider nodes or split the index")]
    ReferencesExhausted {
        /// The number of nodes that references can distinguish.
        limit: u64,
    },
    /// The input of a bulk load is not sorted.
    #[error(
        "bulk load needs ascending keys, but the key at position {position} is smaller than the one before it"
    )]
    Unsorted {
        /// Zero-based position of the first key that is smaller than its predecessor.
        position: usize,
    },
    /// The input of a bulk load contains a key twice.
    #[error("bulk load needs distinct keys, but the key at position {position} equals the one before it")]
    DuplicateKey {
        /// Zero-based position of the first key that equals its predecessor.
        position: usize,
    },
    /// A bulk load into an index that isn't empty.
    #[error("bulk load needs an empty index, but this one holds {len} keys")]
    NotEmpty {
        /// The number of keys in the index.
        len: usize,
    },
    /// A fill factor out of range, from [`FillFactor::new`](super::fill::FillFactor::new).
    #[error("a fill factor lies in 0.01..=1.0, not {given}")]
    FillFactor {
        /// The value that was given.
        given: f64,
    },
    /// A range whose start is greater than its end.
    #[error("the range starts behind its end")]
    InvertedRange,
    /// An interval that has no position: its end isn't after its start.
    #[error("the interval at position {position} is empty: its end isn't after its start")]
    EmptyInterval {
        /// Zero-based position of the interval in the batch; 0 if it is the only one.
        position: usize,
    },
    /// A duration of more nanoseconds than 64 bits can represent, from a conversion to
    /// [`Nanos`](super::nanos::Nanos).
    #[error("{given:?} has more nanoseconds than 64 bits can count, which is up to 584 years")]
    DurationTooLong {
        /// The duration that was given.
        given: core::time::Duration,
    },
    /// A key that is longer than the maximum.
    #[error("the key has {len} bytes, more than the {limit} that a key may have")]
    KeyTooLong {
        /// Its length in bytes.
        len: usize,
        /// The maximum length of a key, in bytes.
        limit: usize,
    },
    /// A value that is longer than the maximum.
    #[error("the value has {len} bytes, more than the {limit} that a value may have")]
    ValueTooLong {
        /// Its length in bytes.
        len: usize,
        /// The maximum length of a value, in bytes.
        limit: usize,
    },
    /// The key is present already, and the operation doesn't replace values.
    #[error("the key is there already")]
    KeyPresent,
    /// A closure changed the key that it was called for, so its result was out of date every time.
    #[error(
        "the closure itself changed its key in {tries} tries: it may change other keys, but not that one"
    )]
    ClosureChangesItsKey {
        /// The number of tries in which the closure changed the key.
        tries: u32,
    },
    /// A buffer without room for a single entry, with which a scan could never make progress.
    #[error("the buffer has no room for a single entry")]
    EmptyBuffer,
    /// Two buffers that are filled in parallel have different lengths.
    #[error("the buffers that are filled side by side have {left} and {right} places")]
    UnequalBuffers {
        /// Length of the first buffer.
        left: usize,
        /// Length of the second buffer.
        right: usize,
    },
    /// The search kernel isn't available on this processor.
    #[error("the search kernel {kernel} is not available on this processor")]
    KernelUnavailable {
        /// The kernel's name.
        kernel: &'static str,
    },
    /// The index doesn't support this operation. `Index` and its siblings support all of theirs: the error
    /// comes from adapters of other maps to [`OrderedIndex`](super::index::OrderedIndex).
    #[error("{index} does not offer {operation}")]
    Unsupported {
        /// The index's name.
        index: &'static str,
        /// The operation that was called.
        operation: &'static str,
    },
}

/// A structure found one of its invariants violated: a bug in this library, never the caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invariant broken: {what}")]
pub struct Broken {
    /// The violated invariant, and the place of the violation.
    pub what: String,
}

impl Broken {
    /// Creates the error with a description of the violation.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}
