//! A row of a suite, as data.

use super::goal::Goal;
use super::which;
use crate::bytes;
use crate::catalogue::{self, Entry, FLAGSHIP, Origin, SINGLE_THREADED};
use latchless_terminal::failure::Failure;

/// A row of a suite's table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The name in the table, and what other rows call it.
    pub name: &'static str,
    /// Where its numbers come from.
    pub of: Of,
    /// Whose row it is.
    pub ours: &'static str,
    /// What is compared.
    pub what: What,
    /// What is to be reached; a row without goals is reported.
    pub goals: &'static [Goal],
    /// What has to be known to compare; nothing as a rule.
    pub note: &'static str,
}

/// Where a row's numbers come from.
#[derive(Debug, Clone, Copy)]
pub enum Of {
    /// A race of its own.
    Run(Run),
    /// The race of another row.
    Same(&'static str),
}

/// A race.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// What `latchless-bench` is told, besides what all rows of the suite share.
    pub flags: &'static str,
    /// One in so many of the suite's requests is made, since each takes so much longer.
    pub one_in: usize,
    /// The indexes that race, besides the baseline and the recommended one.
    pub field: Field,
    /// Whether the single-threaded form races, too, where one thread does.
    pub exclusive: bool,
}

/// Some of the published rivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// None of them: the baseline is enough.
    Baseline,
    /// Those that take updates from many threads.
    Concurrent,
    /// All of them.
    All,
    /// None of them, but one index of each kind of this library's.
    Kinds,
    /// All ordered maps over byte strings, the baseline among them.
    Bytes,
}

/// What a row compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Medians.
    Time,
    /// Bytes per key.
    Bytes,
    /// Bytes per key beside the key and its value.
    Beside,
    /// The processor time within which 99.9 % of single operations are done.
    Within999,
    /// The same for 99.999 %.
    Within99999,
    /// The processor time of the longest operation.
    Longest,
}

impl What {
    /// The unit of the row's numbers; nothing where the race says it.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Self::Time => None,
            Self::Bytes | Self::Beside => Some("B"),
            Self::Within999 | Self::Within99999 | Self::Longest => Some("µs"),
        }
    }
}

impl Field {
    /// Every index that rows of this field can name.
    fn known(self) -> Vec<Entry> {
        if self == Self::Bytes { bytes::catalogue::entries() } else { catalogue::entries() }
    }

    /// The indexes that it has.
    pub fn entries(self) -> Vec<Entry> {
        let has = |entry: &Entry| match self {
            Self::Baseline | Self::Kinds => false,
            Self::Concurrent => entry.origin == Origin::Rival && entry.concurrent,
            Self::All => entry.origin == Origin::Rival,
            Self::Bytes => entry.origin != Origin::Latchless,
        };
        self.known().into_iter().filter(has).collect()
    }

    /// Refuses a name that no row of this field can name, or that this build is without.
    ///
    /// # Errors
    /// As [`catalogue::check`].
    pub fn check(self, name: &str) -> Result<(), Failure> {
        if self == Self::Bytes { bytes::catalogue::check(name) } else { catalogue::check(name) }
    }
}

impl Row {
    /// The name of the row in whose race its numbers are found.
    pub fn source(&self) -> &'static str {
        match self.of {
            Of::Run(_) => self.name,
            Of::Same(other) => other,
        }
    }

    /// The rows whose races it needs: its own, and those that its goals compare with.
    pub fn needed(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.source()).chain(self.goals.iter().filter_map(Goal::other_row))
    }
}

impl Run {
    /// The indexes that race, the baseline first. The single-threaded form is for one thread.
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
            return baseline.chain(which::INDEXES.into_iter().filter(takes)).collect();
        }
        let fixed = fixed.into_iter().filter(|&name| {
            (name != SINGLE_THREADED || self.exclusive && one_thread)
                && entries.iter().any(|entry| entry.name == name)
        });
        fixed.chain(self.field.entries().into_iter().map(|entry| entry.name)).collect()
    }
}
