//! A row of a suite, as data.

use crate::races::bytes;
use crate::races::catalogue::{self, Entry, FLAGSHIP, Origin, SINGLE_THREADED};
use latchless_terminal::failure::Failure;

/// One index of each kind; for a paper's family the fastest one, and the paper's own form if that differs.
#[cfg(feature = "papers")]
pub const KINDS: [&str; 9] =
    [FLAGSHIP, SINGLE_THREADED, "p16i", "p8e", "b-ol-prefetched", "cssl", "cssl5", "pi", "spiderman"];

/// One index of each kind; the feature `papers` adds the papers' structures.
#[cfg(not(feature = "papers"))]
pub const KINDS: [&str; 2] = [FLAGSHIP, SINGLE_THREADED];

/// A row of a suite's table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The name in the table; other rows refer to the row by it.
    pub name: &'static str,
    /// The source of its numbers.
    pub of: Of,
    /// The index of this library in the row.
    pub ours: &'static str,
    /// The quantity that the row compares.
    pub what: What,
    /// A remark that a reader needs for the comparison; usually empty.
    pub note: &'static str,
}

/// The source of a row's numbers.
#[derive(Debug, Clone, Copy)]
pub enum Of {
    /// The row's own race.
    Run(Run),
    /// The race of another row.
    Same(&'static str),
}

/// A race.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// The flags of `latchless-bench`, apart from those that all rows of the suite share.
    pub flags: &'static str,
    /// The divisor of the suite's number of requests, for requests that take much longer.
    pub one_in: usize,
    /// The indexes that race, besides the baseline and the recommended one.
    pub field: Field,
    /// Whether the single-threaded form races as well if there is one thread.
    pub exclusive: bool,
}

/// A selection of the published rivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// None of them: the baseline is enough.
    Baseline,
    /// The rivals that accept updates from many threads.
    Concurrent,
    /// All of them.
    All,
    /// None of them, but one index of each of this library's [`KINDS`].
    Kinds,
    /// All ordered maps over byte strings, the baseline among them.
    Bytes,
}

/// The quantity that a row compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Medians.
    Time,
    /// Bytes per key.
    Bytes,
    /// Bytes per key without the key and its value.
    Beside,
    /// The processor time within which 99.9 % of single operations are done.
    Within999,
    /// The same for 99.999 %.
    Within99999,
    /// The processor time of the longest operation.
    Longest,
}

impl What {
    /// Returns the unit of the row's numbers; `None` if the race determines it.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Self::Time => None,
            Self::Bytes | Self::Beside => Some("B"),
            Self::Within999 | Self::Within99999 | Self::Longest => Some("µs"),
        }
    }
}

impl Field {
    /// Returns every index that rows of this field can name.
    fn known(self) -> Vec<Entry> {
        if self == Self::Bytes { bytes::catalogue::entries() } else { catalogue::entries() }
    }

    /// Returns its indexes.
    pub fn entries(self) -> Vec<Entry> {
        let has = |entry: &Entry| match self {
            Self::Baseline | Self::Kinds => false,
            Self::Concurrent => entry.origin == Origin::Rival && entry.concurrent,
            Self::All => entry.origin == Origin::Rival,
            Self::Bytes => entry.origin != Origin::Latchless,
        };
        self.known().into_iter().filter(has).collect()
    }

    /// Refuses a name that no row of this field can name, or that this build doesn't have.
    ///
    /// # Errors
    /// Those of [`catalogue::check`].
    pub fn check(self, name: &str) -> Result<(), Failure> {
        if self == Self::Bytes { bytes::catalogue::check(name) } else { catalogue::check(name) }
    }
}

impl Row {
    /// Returns the name of the row whose race has its numbers.
    pub fn source(&self) -> &'static str {
        match self.of {
            Of::Run(_) => self.name,
            Of::Same(other) => other,
        }
    }
}

impl Run {
    /// Returns the indexes that race, the baseline first. The single-threaded form is for one thread.
    pub fn names(&self) -> Vec<&'static str> {
        let entries = self.field.known();
        if self.field == Field::Bytes {
            return entries.iter().map(|entry| entry.name).collect();
        }
        let fixed = ["btreemap", FLAGSHIP, SINGLE_THREADED];
        let one_thread = !self.flags.contains("--threads");
        if self.field == Field::Kinds {
            let takes = |name: &&str| {
                entries.iter().any(|entry| entry.name == *name && (one_thread || entry.concurrent))
            };
            let baseline = std::iter::once("btreemap");
            return baseline.chain(KINDS.into_iter().filter(takes)).collect();
        }
        let fixed = fixed.into_iter().filter(|&name| {
            (name != SINGLE_THREADED || self.exclusive && one_thread)
                && entries.iter().any(|entry| entry.name == name)
        });
        fixed.chain(self.field.entries().into_iter().map(|entry| entry.name)).collect()
    }
}
