//! The errors of the lab.

/// The result of something the lab does.
pub type Result<T, E = LabError> = core::result::Result<T, E>;

/// The reason why the lab can't do what was requested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A cache whose sets aren't a power of two, or whose size isn't whole.
    #[error("a {name} cache of {bytes} bytes in {ways} ways doesn't have a power of two of sets")]
    CacheShape {
        /// `primary`, `secondary` or `translation`.
        name: &'static str,
        /// Its capacity, in bytes.
        bytes: usize,
        /// Its ways.
        ways: usize,
    },
    /// A machine that can't be modelled.
    #[error("the machine can't be modelled: {what}")]
    Machine {
        /// What is invalid about it.
        what: &'static str,
    },
    /// A modelled processor waits for a latch that no thread releases: a bug of the structure.
    #[error("modelled processor {processor} waits for a latch that no thread releases")]
    Stuck {
        /// Its number.
        processor: usize,
    },
    /// The system refused a modelled processor's stack.
    #[error("no stack for a modelled processor: {0}")]
    Stack(#[source] std::io::Error),
    /// No paper has this name.
    #[error("no paper is called '{given}'; the papers are: {known}")]
    UnknownPaper {
        /// The given name.
        given: String,
        /// Every name there is.
        known: String,
    },
    /// No experiment of the chosen papers has this name.
    #[error("no experiment is called '{given}'; the experiments are: {known}")]
    UnknownExperiment {
        /// The given name.
        given: String,
        /// Every name there is.
        known: String,
    },
    /// An index refused to do its part.
    #[error(transparent)]
    Index(#[from] latchless::Error),
    /// A structure of a paper can't be built, or refused one of its own operations.
    #[error(transparent)]
    Paper(#[from] latchless_papers::Error),
    /// Several processors can't update this index.
    #[error("{index} takes no updates from several processors at once")]
    NotConcurrent {
        /// The index's name.
        index: &'static str,
    },
    /// An index answered wrongly: a bug.
    #[error("{index} answered wrongly: {what}")]
    Wrong {
        /// The index's name.
        index: &'static str,
        /// The expected and the actual answer.
        what: String,
    },
    /// A run under valgrind failed.
    #[error("counting {what}: {source}")]
    Probe {
        /// The quantity to be counted.
        what: String,
        /// Why it couldn't be.
        source: std::io::Error,
    },
    /// Results couldn't be written.
    #[error("{path}: {source}")]
    Write {
        /// The file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// A file couldn't be read, or isn't understood.
    #[error("{path}: {why}")]
    Read {
        /// The file.
        path: String,
        /// Why not.
        why: String,
    },
    /// The papers' files lack something, or have too much.
    #[error("research/claims needs a reason, or the figure:\n  {}", missing.join("\n  "))]
    Claims {
        /// What.
        missing: Vec<String>,
    },
    /// A file that is made from kept results isn't what they make.
    #[error("{path} isn't made from the kept results: run {command}")]
    Stale {
        /// The file.
        path: String,
        /// What makes it.
        command: &'static str,
    },
}
