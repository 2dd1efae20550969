//! An experiment as data: the indexes, their sizes, the operations, the yardsticks, and the paper's
//! numbers.

mod batched;
mod claim;
mod parallel;
mod published;
mod scale;
mod yardstick;

pub use batched::{
    BatchedClaim, BatchedOutcome, BatchedPanel, BatchedYardstick, Kind, Pages, Sorted, Spot, Way,
};
pub use claim::Claim;
pub use parallel::{
    Hot, ParallelAxis, ParallelCase, ParallelOutcome, ParallelPanel, ParallelYardstick, Processors, Setting,
};
pub use published::{ABOUT, Published};
pub use scale::{Scale, Scaled};
pub use yardstick::{Outcome, Part, Parts, Splits, Yardstick};

use crate::error::Result;
use crate::on::On;
use crate::row::Row;
use crate::subject::Subject;

/// A paper whose experiments can be rerun.
#[derive(Debug, Clone, Copy)]
pub struct Paper {
    /// The name on the command line.
    pub name: &'static str,
    /// Authors, title, venue.
    pub title: &'static str,
    /// Its experiments, in its own order.
    pub experiments: &'static [Experiment],
}

/// A table or figure of a paper.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// The paper's own name for it, such as `fig-7`.
    pub name: &'static str,
    /// The operation, in one line.
    pub title: &'static str,
    /// Remarks on the numbers: differences from the paper, with reasons.
    pub remarks: &'static [&'static str],
    /// The content.
    pub body: Body,
}

/// The source of an experiment's rows.
#[derive(Debug, Clone, Copy)]
pub enum Body {
    /// Indexes are built and timed or counted.
    Measured(&'static [Panel]),
    /// Indexes are built, and several processors share them.
    Parallel(&'static [ParallelPanel]),
    /// Timed on this machine, whatever `--on` is: there is no model of the paper's machine. Unlike driven
    /// experiments it decides itself which rows are comparable, and its charts are drawn from the timed
    /// quantities.
    Timed {
        /// The label of the rows' x.
        x_label: &'static str,
        /// Rows without a paper's and an experiment's name.
        rows: fn(Scale) -> Result<Vec<Row>>,
    },
    /// A tree is built, and threads serve requests on it batch by batch.
    Batched(&'static [BatchedPanel]),
    /// Builds and times its own subject, on the model or natively.
    Driven {
        /// The label of the rows' x.
        x_label: &'static str,
        /// Rows without a paper's and an experiment's name.
        rows: fn(On, Scale) -> Result<Vec<Row>>,
    },
    /// A formula is evaluated, or something counted that is the same everywhere.
    Computed {
        /// The label of the rows' x.
        x_label: &'static str,
        /// Rows without a paper's and an experiment's name.
        rows: fn(Scale) -> Result<Vec<Row>>,
    },
}

/// One diagram of a figure: several indexes along one axis.
#[derive(Debug, Clone, Copy)]
pub struct Panel {
    /// The name that distinguishes it from the figure's other diagrams, such as `warm`; empty if it is the
    /// only one.
    pub name: &'static str,
    /// The x axis.
    pub axis: Axis,
    /// Keys in the index, unless they are the x axis.
    pub keys: Scaled<usize>,
    /// Percent of the nodes' places that the bulk load fills, unless that is the x axis.
    pub fill_percent: usize,
    /// How the index is built.
    pub built: Built,
    /// The operation on the loaded index.
    pub operation: Operation,
    /// The indexes, the baseline first.
    pub series: &'static [Subject],
    /// The reported quantities; a chart shows the first one.
    pub yardsticks: &'static [Yardstick],
    /// The paper's numbers.
    pub claims: &'static [Claim],
}

/// The quantity on a panel's x axis, and its values.
#[derive(Debug, Clone, Copy)]
pub enum Axis {
    /// Keys in the index.
    Keys(Scaled<&'static [usize]>),
    /// Percent of the nodes' places that the bulk load fills.
    FillPercent(Scaled<&'static [usize]>),
    /// Entries that one scan returns.
    Entries(Scaled<&'static [usize]>),
}

impl Axis {
    /// The values at `scale`.
    pub const fn values(self, scale: Scale) -> &'static [usize] {
        match self {
            Self::Keys(values) | Self::FillPercent(values) | Self::Entries(values) => values.at(scale),
        }
    }

    /// Returns the label of the axis.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Keys(_) => "keys in the index",
            Self::FillPercent(_) => "bulk-load fill, percent",
            Self::Entries(_) => "entries per scan",
        }
    }
}

/// How an index is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Built {
    /// All keys are loaded in bulk: leaves are neighbours in memory.
    Loaded,
    /// The same, but natively nodes are in random places. No machine of a paper has a prefetcher that follows
    /// neighbours by itself, as today's processors do, so this is such a machine's load. The model has
    /// no such prefetcher either, and loads in order.
    Scattered,
    /// Every tenth key is loaded in bulk and the others are inserted in random order: a *mature* tree (§4.2
    /// of the pB+-Tree paper).
    Mature,
}

/// An operation on a loaded index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// None: the load itself is measured.
    Load,
    /// Searches for random present keys.
    Search {
        /// The number of operations.
        count: Scaled<usize>,
        /// Whether the caches are emptied before each.
        cold: bool,
    },
    /// Range scans from random keys, the caches emptied before each.
    Scan {
        /// The number of scans.
        starts: Scaled<usize>,
        /// The number of segments of a scan, including the first.
        segments: Scaled<usize>,
        /// Entries per segment, unless they are the x axis.
        entries: Scaled<usize>,
    },
    /// Inserts of random keys that aren't there.
    Insert {
        /// The number of operations.
        count: Scaled<usize>,
        /// Whether the caches are emptied before each.
        cold: bool,
    },
    /// Removals of random present keys.
    Remove {
        /// The number of operations.
        count: Scaled<usize>,
        /// Whether the caches are emptied before each.
        cold: bool,
    },
}

impl Operation {
    /// Returns the noun for one of them.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Search { .. } => "search",
            Self::Scan { .. } => "scan",
            Self::Insert { .. } => "insert",
            Self::Remove { .. } => "delete",
        }
    }
}

/// One point of a panel, ready to run: with everything that its x determines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// Keys in the index.
    pub keys: usize,
    /// Share of the nodes' places that the bulk load fills.
    pub fill: f64,
    /// How the index is built.
    pub built: Built,
    /// The operations.
    pub task: Task,
}

/// An [`Operation`] at one scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// See [`Operation::Load`].
    Load,
    /// See [`Operation::Search`].
    Search {
        /// The number of operations.
        count: usize,
        /// Whether the caches are emptied before each.
        cold: bool,
    },
    /// See [`Operation::Scan`].
    Scan {
        /// The number of scans.
        starts: usize,
        /// The number of segments of a scan, including the first.
        segments: usize,
        /// Entries a segment.
        entries: usize,
    },
    /// See [`Operation::Insert`].
    Insert {
        /// The number of operations.
        count: usize,
        /// Whether the caches are emptied before each.
        cold: bool,
    },
    /// See [`Operation::Remove`].
    Remove {
        /// The number of operations.
        count: usize,
        /// Whether the caches are emptied before each.
        cold: bool,
    },
}

impl Panel {
    /// The point at `x`.
    pub fn case(&self, x: usize, scale: Scale) -> Case {
        let keys = if let Axis::Keys(_) = self.axis { x } else { self.keys.at(scale) };
        let percent = if let Axis::FillPercent(_) = self.axis { x } else { self.fill_percent };
        let task = match self.operation {
            Operation::Load => Task::Load,
            Operation::Search { count, cold } => Task::Search { count: count.at(scale), cold },
            Operation::Scan { starts, segments, entries } => Task::Scan {
                starts: starts.at(scale),
                segments: segments.at(scale),
                entries: if let Axis::Entries(_) = self.axis { x } else { entries.at(scale) },
            },
            Operation::Insert { count, cold } => Task::Insert { count: count.at(scale), cold },
            Operation::Remove { count, cold } => Task::Remove { count: count.at(scale), cold },
        };
        Case { keys, fill: percent as f64 / 100.0, built: self.built, task }
    }

    /// Returns the paper's number for `subject` at `x`, by `yardstick`.
    pub fn published(&self, yardstick: Yardstick, subject: Subject, x: usize) -> Option<Published> {
        self.claims.iter().find(|claim| claim.is_about(yardstick, subject, x)).map(|claim| claim.published)
    }

    /// Returns whether the numbers are counts, which are the same on every machine and in every run.
    pub fn is_counted(&self) -> bool {
        self.yardsticks.iter().all(|yardstick| yardstick.is_counted())
    }
}
