//! The reported quantities, and the measurements from which they are computed.

use crate::subject::Subject;

/// The parts of modelled time, as the paper's Figure 14 divides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Instructions graduate.
    Busy,
    /// Waiting for data.
    DataStall,
    /// Dependences and mispredicted branches.
    OtherStall,
}

/// The number of splits of one insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Splits {
    /// One or more.
    Any,
    /// Exactly one.
    One,
    /// Two or more: a node above the leaves split as well.
    Several,
}

/// Traced time of one operation by part, in cycles.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Parts {
    /// See [`Part::Busy`].
    pub busy: f64,
    /// See [`Part::DataStall`].
    pub data_stall: f64,
    /// See [`Part::OtherStall`].
    pub other_stall: f64,
}

impl Parts {
    /// Returns the total time.
    pub fn total(&self) -> f64 {
        self.busy + self.data_stall + self.other_stall
    }

    /// Returns one part of it.
    pub fn of(&self, part: Part) -> f64 {
        match part {
            Part::Busy => self.busy,
            Part::DataStall => self.data_stall,
            Part::OtherStall => self.other_stall,
        }
    }
}

/// The result of running one case on one index. Quantities that weren't measured are absent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Outcome {
    /// Levels after the load.
    pub levels: Option<usize>,
    /// Time of one operation: cycles on the model, nanoseconds natively.
    pub cost: Option<f64>,
    /// The least and the most of several rounds, of which `cost` is the median.
    pub spread: Option<[f64; 2]>,
    /// The parts of that time; only on the model.
    pub parts: Option<Parts>,
    /// Inserts with no split, with one, with several.
    pub splits: Option<[u64; 3]>,
}

/// A reported quantity of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yardstick {
    /// Levels of the tree after the load.
    Levels,
    /// The speedup over another index in the same run.
    Speedup(Subject),
    /// The speedup over another index, times the speedup at the last x of the axis.
    Growth(Subject),
    /// The share of the inserts with that many splits, 0.0 to 1.0.
    SplitShare(Splits),
    /// A part of the time as a share of another index's whole time: the bars of Figure 14.
    TimeShare(Part, Subject),
    /// The share of another index's data-stall time that this one doesn't have.
    StallRemoved(Subject),
}

impl Yardstick {
    /// The unit, for a table's column.
    pub fn unit(self) -> String {
        match self {
            Self::Levels => "levels".to_string(),
            Self::Speedup(over) => format!("speedup over {}", over.name()),
            Self::Growth(over) => format!("speedup over {}, times that at the last point", over.name()),
            Self::SplitShare(Splits::Any) => "share of inserts that split".to_string(),
            Self::SplitShare(Splits::One) => "share of inserts that split once".to_string(),
            Self::SplitShare(Splits::Several) => "share of inserts that split more than once".to_string(),
            Self::TimeShare(Part::Busy, of) => format!("busy, share of {}'s time", of.name()),
            Self::TimeShare(Part::DataStall, of) => format!("data stall, share of {}'s time", of.name()),
            Self::TimeShare(Part::OtherStall, of) => format!("other stall, share of {}'s time", of.name()),
            Self::StallRemoved(of) => format!("share of {}'s data stall removed", of.name()),
        }
    }

    /// Returns whether it counts rather than times.
    pub const fn is_counted(self) -> bool {
        matches!(self, Self::Levels | Self::SplitShare(_))
    }

    /// The index that it compares with.
    pub const fn compares_with(self) -> Option<Subject> {
        match self {
            Self::Speedup(subject)
            | Self::Growth(subject)
            | Self::TimeShare(_, subject)
            | Self::StallRemoved(subject) => Some(subject),
            Self::Levels | Self::SplitShare(_) => None,
        }
    }

    /// Returns the number for `outcome`, given the outcome of its reference in the same run, and the same two
    /// at the last x of the axis. `None` if the runs haven't measured the required quantities.
    pub fn measure_along(
        self,
        (outcome, reference): (&Outcome, Option<&Outcome>),
        (last, last_reference): (&Outcome, Option<&Outcome>),
    ) -> Option<f64> {
        match self {
            Self::Growth(over) => {
                let speedup = Self::Speedup(over);
                Some(speedup.measure(outcome, reference)? / speedup.measure(last, last_reference)?)
            }
            _ => self.measure(outcome, reference),
        }
    }

    /// Returns the number for `outcome`, given the outcome of its reference in the same run. `None` if the
    /// runs haven't measured the required quantities, or if one point isn't enough.
    pub fn measure(self, outcome: &Outcome, reference: Option<&Outcome>) -> Option<f64> {
        match self {
            Self::Growth(_) => None,
            Self::Levels => outcome.levels.map(|levels| levels as f64),
            Self::Speedup(_) => Some(reference?.cost? / outcome.cost?),
            Self::SplitShare(splits) => {
                let counts = outcome.splits?;
                let wanted = match splits {
                    Splits::Any => counts[1] + counts[2],
                    Splits::One => counts[1],
                    Splits::Several => counts[2],
                };
                Some(wanted as f64 / counts.iter().sum::<u64>().max(1) as f64)
            }
            Self::TimeShare(part, _) => Some(outcome.parts?.of(part) / reference?.parts?.total()),
            Self::StallRemoved(_) => Some(1.0 - outcome.parts?.data_stall / reference?.parts?.data_stall),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_papers::pb_tree::Member;

    const BASE: Subject = Subject::PbTree(Member::BPlus);

    fn timed(cost: f64, data_stall: f64) -> Outcome {
        let parts = Parts { busy: cost - data_stall, data_stall, other_stall: 0.0 };
        Outcome { cost: Some(cost), parts: Some(parts), ..Outcome::default() }
    }

    #[test]
    fn a_speedup_is_the_other_s_time_over_ours() {
        let (slow, fast) = (timed(300.0, 200.0), timed(150.0, 50.0));
        assert_eq!(Yardstick::Speedup(BASE).measure(&fast, Some(&slow)), Some(2.0));
        assert_eq!(Yardstick::StallRemoved(BASE).measure(&fast, Some(&slow)), Some(0.75));
        assert_eq!(Yardstick::TimeShare(Part::Busy, BASE).measure(&fast, Some(&slow)), Some(1.0 / 3.0));
        assert_eq!(Yardstick::Speedup(BASE).measure(&fast, None), None);
    }

    #[test]
    fn a_growth_compares_with_the_last_point() {
        let (slow, fast, faster) = (timed(300.0, 0.0), timed(150.0, 0.0), timed(100.0, 0.0));
        let growth = Yardstick::Growth(BASE);
        assert_eq!(growth.measure_along((&faster, Some(&slow)), (&fast, Some(&slow))), Some(1.5));
        assert_eq!(growth.measure_along((&fast, Some(&slow)), (&fast, Some(&slow))), Some(1.0));
        assert_eq!(growth.measure(&faster, Some(&slow)), None);
        let speedup = Yardstick::Speedup(BASE);
        assert_eq!(speedup.measure_along((&fast, Some(&slow)), (&faster, None)), Some(2.0));
    }

    #[test]
    fn what_was_not_measured_is_absent() {
        let counted = Outcome { levels: Some(4), splits: Some([90, 6, 4]), ..Outcome::default() };
        assert_eq!(Yardstick::Levels.measure(&counted, None), Some(4.0));
        assert_eq!(Yardstick::SplitShare(Splits::Any).measure(&counted, None), Some(0.1));
        assert_eq!(Yardstick::SplitShare(Splits::Several).measure(&counted, None), Some(0.04));
        assert_eq!(Yardstick::Speedup(BASE).measure(&counted, Some(&counted)), None);
        assert_eq!(Yardstick::SplitShare(Splits::One).measure(&timed(1.0, 0.0), None), None);
    }
}
