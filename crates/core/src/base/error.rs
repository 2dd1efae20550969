//! What can go wrong, said so that a caller can act on it.

use core::ops::RangeInclusive;

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
    /// A fill factor outside of what a node can be filled to.
    #[error("a fill factor lies in 0.01..=1.0, not {given}")]
    FillFactor {
        /// What was given.
        given: f64,
    },
    /// A node size that isn't offered.
    #[error("nodes have 64, 128, 192 and so on up to 512 bytes, and room for four children; not {given}")]
    NodeSize {
        /// What was given, in bytes.
        given: usize,
    },
    /// A node that isn't made of whole words.
    #[error("a node is made of whole words of {word_bytes} bytes, at least one; not of {given} bytes")]
    NodeWords {
        /// What was given, in bytes.
        given: usize,
        /// The size of a word, in bytes.
        word_bytes: usize,
    },
    /// An option has a value that makes no sense.
    #[error("{name} has to be {}, not {value}", spoken(allowed))]
    Setting {
        /// The option's name.
        name: &'static str,
        /// What was given.
        value: usize,
        /// What is taken.
        allowed: RangeInclusive<usize>,
    },
    /// A page size that isn't offered.
    #[error("pages have 128, 192, 256 and so on up to 4096 bytes; not {given}")]
    PageSize {
        /// What was given, in bytes.
        given: usize,
    },
    /// A batch size that isn't offered.
    #[error("a batch has 1 to {most} requests, not {given}")]
    BatchSize {
        /// What was given.
        given: usize,
        /// The most that are taken.
        most: usize,
    },
    /// A prefetch option that there isn't.
    #[error("there is no prefetch option {given}: they are 1 to {last}")]
    PrefetchOption {
        /// What was given.
        given: u8,
        /// The last one that there is.
        last: u8,
    },
    /// Two prefetch options that can't be used together.
    #[error("prefetch options {one} and {other} can't be combined")]
    PrefetchOptions {
        /// One of them.
        one: u8,
        /// The other.
        other: u8,
    },
    /// A range whose start lies behind its end.
    #[error("the range starts behind its end")]
    InvertedRange,
    /// A duration of more nanoseconds than 64 bits can count.
    #[error("{given:?} has more nanoseconds than 64 bits can count, which is up to 584 years")]
    DurationTooLong {
        /// What was given.
        given: core::time::Duration,
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
    /// The index was shut down before it took the request, or its own thread has died.
    #[error("the index takes no more requests: it was shut down")]
    Closed,
    /// The index doesn't know this operation.
    #[error("{index} does not offer {operation}")]
    Unsupported {
        /// The index's name.
        index: &'static str,
        /// What was asked for.
        operation: &'static str,
    },
}

impl Error {
    /// Checks an option's value.
    ///
    /// ```
    /// # use latchless_core::base::error::Error;
    /// assert_eq!(Error::check_setting("threads", 2, 1..=8), Ok(()));
    /// let refused = Error::check_setting("threads", 0, 1..=8).unwrap_err();
    /// assert_eq!(refused.to_string(), "threads has to be 1 to 8, not 0");
    /// let refused = Error::check_setting("group", 0, 1..=usize::MAX).unwrap_err();
    /// assert_eq!(refused.to_string(), "group has to be at least 1, not 0");
    /// ```
    ///
    /// # Errors
    /// [`Error::Setting`] when it isn't one of those that are allowed.
    pub fn check_setting(name: &'static str, value: usize, allowed: RangeInclusive<usize>) -> Result<()> {
        if allowed.contains(&value) { Ok(()) } else { Err(Self::Setting { name, value, allowed }) }
    }
}

/// A range of values in words.
fn spoken(allowed: &RangeInclusive<usize>) -> String {
    match (allowed.start(), allowed.end()) {
        (least, &usize::MAX) => format!("at least {least}"),
        (least, most) => format!("{least} to {most}"),
    }
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
