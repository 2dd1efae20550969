//! Errors in a spec.

/// The reason why a workload can't be made. Every message names the valid input.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No distribution bears that name.
    #[error(
        "no distribution is called `{given}`; there are uniform, zipf:θ, zipf-ycsb:θ, sequential, dense, sparse"
    )]
    UnknownDistribution {
        /// The argument.
        given: String,
    },
    /// The skew of a Zipf distribution isn't a number.
    #[error("`{given}` is not a skew: write zipf:0.99 or zipf-ycsb:0.99")]
    UnreadableSkew {
        /// The argument.
        given: String,
    },
    /// The skew is outside of the sampler's range.
    #[error("the skew θ of {sampler} lies {range}, not at {given}")]
    SkewOutOfRange {
        /// The distribution's name.
        sampler: &'static str,
        /// The allowed range.
        range: &'static str,
        /// The argument.
        given: f64,
    },
    /// No workload bears that name.
    #[error("no workload is called `{given}`; there are {known}")]
    UnknownWorkload {
        /// The argument.
        given: String,
        /// Every name there is.
        known: String,
    },
    /// A number that has to be at least one is zero.
    #[error("{what} must be at least 1")]
    Zero {
        /// The number's name.
        what: &'static str,
    },
    /// A range that would take nothing or more than there is.
    #[error("a range takes a share of the key space above 0 and at most 1 (1 % is 0.01), not {given}")]
    RangeShare {
        /// The requested share.
        given: f64,
    },
    /// Fewer records than threads, so that some thread would have none.
    #[error("{threads} threads need at least as many records, but there are {records}")]
    TooFewRecords {
        /// Records to load.
        records: usize,
        /// Requested threads.
        threads: usize,
    },
    /// More distinct keys than the key width has.
    #[error("{wanted} distinct keys don't fit into {bits}-bit keys")]
    KeySpace {
        /// Keys that the plan would need: those loaded and those inserted.
        wanted: u64,
        /// The key's width.
        bits: u32,
    },
    /// More removals than there are keys to remove.
    #[error("{ops} removals need as many records, but there are {records}")]
    NothingLeft {
        /// Requested removals.
        ops: usize,
        /// Records loaded.
        records: usize,
    },
    /// No key set bears that name.
    #[error(
        "no key set is called `{given}`; there are uniform, dense, composite-N, composite-N-step-N, lognormal, \
         clusters, runs, tenants, timestamps, snowflake, outliers, prefix, chr22, ascending, descending, zigzag, \
         file:PATH; \
         and of byte strings url, email, word, path, uuid16, uuid36, rocks, series, int8, same16, long-ends, one-long, \
         nested, rocks-ascending"
    )]
    UnknownKeySet {
        /// The argument.
        given: String,
    },
    /// A key set's name has a number that it can't have.
    #[error("the number in the key set `{given}` lies in 1 to {most}")]
    KeySetNumber {
        /// The argument.
        given: String,
        /// The largest number.
        most: u32,
    },
    /// A key set has fewer keys than requested.
    #[error("the key set {set} has {there} distinct keys, but {wanted} are needed")]
    TooFewKeys {
        /// The set's name.
        set: String,
        /// Keys that the plan would need: those loaded and those inserted.
        wanted: u64,
        /// Keys that there are.
        there: u64,
    },
    /// A key of the set is wider than the lane.
    #[error("the key set {set} has keys of more than {bits} bits: {key}")]
    WideKey {
        /// The set's name.
        set: String,
        /// The lane's width.
        bits: u32,
        /// A key that doesn't fit.
        key: u64,
    },
    /// A distribution that determines the keys, together with a key set, which does so, too.
    #[error("{distribution} says which keys there are, and so does the key set {set}: leave one out")]
    KeysTwice {
        /// The distribution.
        distribution: String,
        /// The set's name.
        set: String,
    },
    /// A file of keys can't be opened or read.
    #[error("the keys in {path} can't be read: {reason}")]
    FileUnreadable {
        /// The file.
        path: String,
        /// The system's message.
        reason: String,
    },
    /// A line of a file of keys is no number of 64 bits.
    #[error("{path}, line {line}: `{found}` is not a number below 2^64")]
    FileLine {
        /// The file.
        path: String,
        /// The line, from 1.
        line: u64,
        /// The line's text.
        found: String,
    },
    /// A file of 8-byte numbers ends amid one.
    #[error("{path}, byte {position}: {left} bytes are left, but a number takes 8")]
    FileBytes {
        /// The file.
        path: String,
        /// Where the incomplete number begins.
        position: u64,
        /// Bytes from there to the end.
        left: u64,
    },
}
