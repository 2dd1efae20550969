//! What can go wrong, said so that a caller can act on it.

/// The result of an index operation that can be refused.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// Why an index refused an operation. The index is unharmed and complete after every one of them.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to hand out memory.
    #[error("the operating system refused {requested_bytes} bytes of memory for nodes")]
    OutOfMemory {
        /// How much was asked for, in bytes.
        requested_bytes: usize,
    },
    /// The index would outgrow the memory limit that its owner gave it.
    #[error(
        "the index would need {requested_bytes} bytes for its nodes, over its limit of {limit_bytes} bytes"
    )]
    MemoryLimit {
        /// The size that the nodes would have grown to, in bytes.
        requested_bytes: usize,
        /// The limit, in bytes.
        limit_bytes: usize,
    },
    /// Every 4-byte node reference is in use.
    #[error("all {limit} node references are in use: use wider nodes or split the index")]
    ReferencesExhausted {
        /// How many nodes the arena can tell apart.
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
    /// The input of a bulk load holds a key twice.
    #[error("bulk load needs distinct keys, but the key at position {position} equals the one before it")]
    DuplicateKey {
        /// Zero-based position of the first key that equals its predecessor.
        position: usize,
    },
    /// Bulk load was asked of an index that already holds something.
    #[error("bulk load needs an empty index, but this one holds {len} keys")]
    NotEmpty {
        /// How many keys the index holds.
        len: usize,
    },
    /// A fill factor outside of what a node can be filled to: from
    /// [`FillFactor::new`](super::fill::FillFactor::new).
    #[error("a fill factor lies in 0.01..=1.0, not {given}")]
    FillFactor {
        /// What was given.
        given: f64,
    },
    /// A range whose start lies after its end.
    #[error("the range starts behind its end")]
    InvertedRange,
    /// A duration of more nanoseconds than 64 bits can count: it can't be a key. From making a
    /// [`Nanos`](super::nanos::Nanos).
    #[error("{given:?} has more nanoseconds than 64 bits can count, which is up to 584 years")]
    DurationTooLong {
        /// What was given.
        given: core::time::Duration,
    },
    /// A key of more bytes than any may have.
    #[error("the key has {len} bytes, more than the {limit} that a key may have")]
    KeyTooLong {
        /// Its length in bytes.
        len: usize,
        /// The most bytes that a key may have.
        limit: usize,
    },
    /// A value of more bytes than any may have.
    #[error("the value has {len} bytes, more than the {limit} that a value may have")]
    ValueTooLong {
        /// Its length in bytes.
        len: usize,
        /// The most bytes that a value may have.
        limit: usize,
    },
    /// The key is there already, and its value isn't to be replaced.
    #[error("the key is there already")]
    KeyPresent,
    /// A closure changes the key that it is asked about, so that its answer is out of date each time.
    #[error(
        "the closure itself changed its key in {tries} tries: it may change other keys, but not that one"
    )]
    ClosureChangesItsKey {
        /// How often its own thread was seen to change the key while it ran.
        tries: u32,
    },
    /// A buffer without room for a single entry, which could never make progress.
    #[error("the buffer has no room for a single entry")]
    EmptyBuffer,
    /// Two buffers that are filled side by side have different lengths.
    #[error("the buffers that are filled side by side have {left} and {right} places")]
    UnequalBuffers {
        /// Places in the first buffer.
        left: usize,
        /// Places in the second buffer.
        right: usize,
    },
    /// The search kernel isn't available on this processor.
    #[error("the search kernel {kernel} is not available on this processor")]
    KernelUnavailable {
        /// The kernel's name.
        kernel: &'static str,
    },
    /// The index doesn't know this operation. `Index` and its siblings know all of theirs: this comes from
    /// adapters that drive other maps through [`OrderedIndex`](super::index::OrderedIndex).
    #[error("{index} does not offer {operation}")]
    Unsupported {
        /// The index's name.
        index: &'static str,
        /// What was asked for.
        operation: &'static str,
    },
}

/// A structure found itself broken: a bug in this library, never the caller's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invariant broken: {what}")]
pub struct Broken {
    /// Which invariant, and where.
    pub what: String,
}

impl Broken {
    /// A broken invariant, described.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}
