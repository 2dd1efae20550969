//! What can be wrong with a spec.

/// Why a workload can't be made. Every message says what would be right.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No distribution bears that name.
    #[error(
        "no distribution is called `{given}`; there are uniform, zipf:θ, zipf-ycsb:θ, sequential, dense, sparse"
    )]
    UnknownDistribution {
        /// What was given.
        given: String,
    },
    /// The skew of a Zipf distribution isn't a number.
    #[error("`{given}` is not a skew: write zipf:0.99 or zipf-ycsb:0.99")]
    UnreadableSkew {
        /// What was given.
        given: String,
    },
    /// The skew lies outside of what the sampler can do.
    #[error("the skew θ of {sampler} lies {range}, not at {given}")]
    SkewOutOfRange {
        /// The distribution's name.
        sampler: &'static str,
        /// Where it may lie.
        range: &'static str,
        /// What was given.
        given: f64,
    },
    /// No workload bears that name.
    #[error("no workload is called `{given}`; there are {known}")]
    UnknownWorkload {
        /// What was given.
        given: String,
        /// Every name there is.
        known: String,
    },
    /// A number that has to be at least one is zero.
    #[error("{what} must be at least 1")]
    Zero {
        /// Which number.
        what: &'static str,
    },
    /// A range that would take nothing or more than there is.
    #[error("a range takes a share of the key space above 0 and at most 1 (1 % is 0.01), not {given}")]
    RangeShare {
        /// The share asked for.
        given: f64,
    },
    /// Fewer records than threads, so that a thread would have none of its own.
    #[error("{threads} threads need at least as many records, but there are {records}")]
    TooFewRecords {
        /// Records to load.
        records: usize,
        /// Threads asked for.
        threads: usize,
    },
    /// More distinct keys than the key width can tell apart.
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
        /// Removals asked for.
        ops: usize,
        /// Records loaded.
        records: usize,
    },
}
