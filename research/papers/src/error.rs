//! Why a structure of the papers can't be made, or refuses an operation that the product doesn't have.
//!
//! Options are checked when a structure is made. From then on
//! [`OrderedIndex`](latchless_core::base::index::OrderedIndex)'s operations return the error that every index
//! has: [`Error::Index`] wraps it.

use core::ops::RangeInclusive;

/// The result of a constructor of the papers.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// The reason why a structure can't be built with its options, or can't execute an operation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What any index may refuse: memory, a search kernel, unequal buffers.
    #[error(transparent)]
    Index(#[from] latchless_core::Error),
    /// An option has a value that makes no sense.
    #[error("{name} has to be {}, not {value}", spoken(allowed))]
    Setting {
        /// The option's name.
        name: &'static str,
        /// The given value.
        value: usize,
        /// The allowed values.
        allowed: RangeInclusive<usize>,
    },
    /// A node size that isn't offered.
    #[error("nodes have 64, 128, 192 and so on up to 512 bytes, and room for four children; not {given}")]
    NodeSize {
        /// The given size, in bytes.
        given: usize,
    },
    /// A node that isn't made of whole words.
    #[error("a node is made of whole words of {word_bytes} bytes, at least one; not of {given} bytes")]
    NodeWords {
        /// The given size, in bytes.
        given: usize,
        /// The size of a word, in bytes.
        word_bytes: usize,
    },
    /// A page size that isn't offered.
    #[error("pages have 128, 192, 256 and so on up to 4096 bytes; not {given}")]
    PageSize {
        /// The given size, in bytes.
        given: usize,
    },
    /// A batch size that isn't offered.
    #[error("a batch has 1 to {most} requests, not {given}")]
    BatchSize {
        /// The given value.
        given: usize,
        /// The most that are taken.
        most: usize,
    },
    /// A prefetch option that there isn't.
    #[error("there is no prefetch option {given}: they are 1 to {last}")]
    PrefetchOption {
        /// The given option.
        given: u8,
        /// The last existing one.
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
    /// The map has duplicates, for which the operation isn't supported.
    #[error("a map with duplicates doesn't say which of its leaves cover a range")]
    Duplicates,
    /// The index was shut down before it accepted the request, or its dispatcher has died.
    #[error("the index takes no more requests: it was shut down")]
    Closed,
}

impl Error {
    /// Checks an option's value.
    ///
    /// ```
    /// # use latchless_papers::Error;
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
