//! Experiments in which several processors share an index, as data: the number of processors, the mixture,
//! and the paper's numbers.

use super::claim::Claim;
use super::published::Published;
use super::scale::{Scale, Scaled};
use crate::model::{Change, Counters};
use crate::on::On;
use crate::subject::Subject;

/// One diagram of a figure about processors that share an index. The index is built by random inserts
/// of distinct keys.
#[derive(Debug, Clone, Copy)]
pub struct ParallelPanel {
    /// The name that distinguishes it from the figure's other diagrams; empty if it is the only one.
    pub name: &'static str,
    /// The x axis.
    pub axis: ParallelAxis,
    /// Keys that are inserted before.
    pub keys: Scaled<usize>,
    /// Processors, unless they are the x axis.
    pub processors: Processors,
    /// Percent of the operations that are updates, half of them inserts and half deletes, unless that is
    /// the x axis. The rest are searches for keys that are present.
    pub updates_percent: usize,
    /// Bytes per node, unless they are the x axis.
    pub node_bytes: usize,
    /// Settings that most panels share, unless they are the x axis.
    pub setting: Setting,
    /// Operations that each processor does. More than eight together do as many as eight: the paper has
    /// eight, and a case with 64 would take as long as all others together.
    pub operations: Scaled<usize>,
    /// The indexes.
    pub series: &'static [Subject],
    /// The reported quantities; a chart shows the first one.
    pub yardsticks: &'static [ParallelYardstick],
    /// The paper's numbers.
    pub claims: &'static [Claim<ParallelYardstick>],
}

/// Settings that most parallel panels share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Whether all updates are inserts; otherwise half of them are deletes.
    pub inserts_alone: bool,
    /// Whether a key may be in the index more than once. None is, but the index must support it.
    pub duplicates: bool,
    /// The keys with more operations than others.
    pub hot: Option<Hot>,
    /// NUMA nodes of the modelled machine.
    pub nodes: usize,
    /// The cost of a missing translation on the model; `None`: the machine's.
    pub translation_cycles: Option<u64>,
    /// The time of a line on the bus of the modelled machine; `None`: the machine's.
    pub bus_cycles: Option<u64>,
    /// The difference from the paper's machine; only on the model.
    pub change: Change,
}

impl Setting {
    /// Half inserts and half deletes in a unique index, all keys alike, on a machine of one node.
    pub const PLAIN: Self = Self {
        inserts_alone: false,
        duplicates: false,
        hot: None,
        nodes: 1,
        translation_cycles: None,
        bus_cycles: None,
        change: Change::Nothing,
    };

    /// Whether only a model has this machine.
    fn is_modelled(self) -> bool {
        let machine = (self.nodes, self.translation_cycles, self.bus_cycles, self.change);
        machine != (1, None, None, Change::Nothing)
    }
}

/// Skew: some keys, which are neighbours, are requested more often than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hot {
    /// One key in this many is hot.
    pub one_of: u32,
    /// The percentage of operations on hot keys.
    pub operations_percent: usize,
}

/// The number of processors that work at a time. The model has any number, this machine doesn't.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processors {
    /// On the model.
    pub model: usize,
    /// Natively: threads.
    pub native: usize,
}

/// The quantity on a parallel panel's x axis, and its values.
#[derive(Debug, Clone, Copy)]
pub enum ParallelAxis {
    /// Processors.
    Processors {
        /// On the model.
        model: Scaled<&'static [usize]>,
        /// Natively: threads.
        native: &'static [usize],
    },
    /// Percent of the operations that are updates.
    UpdatesPercent(Scaled<&'static [usize]>),
    /// Bytes of a node.
    NodeBytes(&'static [usize]),
    /// 50: half of the updates are inserts; 100: all of them.
    InsertsPercent(&'static [usize]),
    /// 0: a unique index; 1: one with duplicates.
    Duplicates(&'static [usize]),
    /// Percent of the operations that go to hot keys, one key in a hundred.
    HotPercent(&'static [usize]),
    /// NUMA nodes; on the model alone.
    Nodes(&'static [usize]),
    /// The cost of a missing translation; only on the model.
    TranslationCycles(&'static [usize]),
    /// The time of a line on the bus; only on the model.
    BusCycles(&'static [usize]),
}

/// One key in this many is hot if the share of the operations on hot keys is varied.
const HOT_ONE_OF: u32 = 100;

impl ParallelAxis {
    /// The values at `scale`.
    pub const fn values(self, on: On, scale: Scale) -> &'static [usize] {
        match (self, on) {
            (Self::Processors { native, .. }, On::Native) => native,
            (Self::Processors { model: values, .. } | Self::UpdatesPercent(values), _) => values.at(scale),
            (Self::Nodes(_) | Self::TranslationCycles(_) | Self::BusCycles(_), On::Native) => &[],
            (
                Self::NodeBytes(values)
                | Self::InsertsPercent(values)
                | Self::Duplicates(values)
                | Self::HotPercent(values)
                | Self::Nodes(values)
                | Self::TranslationCycles(values)
                | Self::BusCycles(values),
                _,
            ) => values,
        }
    }

    /// Returns the label of the axis.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Processors { .. } => "processors",
            Self::UpdatesPercent(_) => "updates, percent",
            Self::NodeBytes(_) => "bytes of a node",
            Self::InsertsPercent(_) => "inserts among updates, percent",
            Self::Duplicates(_) => "0: unique keys, 1: duplicates",
            Self::HotPercent(_) => "operations on 1 % of the keys, percent",
            Self::Nodes(_) => "NUMA nodes",
            Self::TranslationCycles(_) => "clocks of a translation",
            Self::BusCycles(_) => "clocks of a line on the bus",
        }
    }
}

/// One point of a parallel panel, ready to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParallelCase {
    /// Keys that are inserted before.
    pub keys: usize,
    /// Processors.
    pub processors: usize,
    /// Percent of the operations that are updates.
    pub updates_percent: usize,
    /// Bytes of a node.
    pub node_bytes: usize,
    /// The settings that most panels share.
    pub setting: Setting,
    /// Operations that each processor does.
    pub operations: usize,
}

/// From this number of processors on, operations are divided among them: see
/// [`ParallelPanel::operations`].
const MANY: usize = 8;

impl ParallelPanel {
    /// Returns the points along the axis; natively there are none of a machine that only a model has.
    pub fn values(&self, on: On, scale: Scale) -> &'static [usize] {
        if on == On::Native && self.setting.is_modelled() { &[] } else { self.axis.values(on, scale) }
    }

    /// The point at `x`.
    pub fn case(&self, x: usize, on: On, scale: Scale) -> ParallelCase {
        let processors = match on {
            On::Native => self.processors.native,
            On::Model | On::Anywhere => self.processors.model,
        };
        let case = ParallelCase {
            keys: self.keys.at(scale),
            processors,
            updates_percent: self.updates_percent,
            node_bytes: self.node_bytes,
            setting: self.setting,
            operations: self.operations.at(scale),
        };
        let with = |setting| ParallelCase { setting, ..case };
        match self.axis {
            ParallelAxis::Processors { .. } => {
                let operations = if x > MANY { case.operations * MANY / x } else { case.operations };
                ParallelCase { processors: x, operations, ..case }
            }
            ParallelAxis::UpdatesPercent(_) => ParallelCase { updates_percent: x, ..case },
            ParallelAxis::NodeBytes(_) => ParallelCase { node_bytes: x, ..case },
            ParallelAxis::InsertsPercent(_) => with(Setting { inserts_alone: x == 100, ..self.setting }),
            ParallelAxis::Duplicates(_) => with(Setting { duplicates: x == 1, ..self.setting }),
            ParallelAxis::HotPercent(_) => {
                let hot = Hot { one_of: HOT_ONE_OF, operations_percent: x };
                with(Setting { hot: if x > 0 { Some(hot) } else { None }, ..self.setting })
            }
            ParallelAxis::Nodes(_) => with(Setting { nodes: x, ..self.setting }),
            ParallelAxis::TranslationCycles(_) => {
                with(Setting { translation_cycles: Some(x as u64), ..self.setting })
            }
            ParallelAxis::BusCycles(_) => with(Setting { bus_cycles: Some(x as u64), ..self.setting }),
        }
    }

    /// Returns the paper's number for `subject` at `x`, by `yardstick`.
    pub fn published(&self, yardstick: ParallelYardstick, subject: Subject, x: usize) -> Option<Published> {
        self.claims.iter().find(|claim| claim.is_about(yardstick, subject, x)).map(|claim| claim.published)
    }
}

/// The result of running one case on one index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParallelOutcome {
    /// Operations of all processors together.
    pub operations: usize,
    /// Processors.
    pub processors: usize,
    /// Seconds, of the modelled machine or of this one; of several rounds the median.
    pub seconds: f64,
    /// The least and the most of several rounds.
    pub spread: Option<[f64; 2]>,
    /// The counters of the modelled processors, in total; only on the model.
    pub counters: Option<Counters>,
}

impl ParallelOutcome {
    /// Operations a second.
    pub fn throughput(&self) -> f64 {
        self.operations as f64 / self.seconds
    }

    /// Returns the nanoseconds of one operation on one processor if all of them take that many seconds.
    pub fn nanoseconds(&self, seconds: f64) -> f64 {
        seconds * 1e9 * self.processors as f64 / self.operations as f64
    }
}

/// A reported quantity of a parallel outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParallelYardstick {
    /// Thousands of operations a second.
    Throughput,
    /// The ratio of its operations per second to those of the same index at this x.
    OverOwnAt(usize),
    /// The ratio of its operations per second to those of the same index at half this x.
    OverOwnAtHalf,
    /// The ratio of its operations per second to those of another index in the same run.
    Over(Subject),
    /// Lines that secondary caches miss, an operation.
    Misses,
    /// Misses that another processor's write caused, per operation.
    CoherenceMisses,
    /// The same, per visited node: Eq. (1) of the OLFIT paper gives a bound for it.
    CoherenceMissesPerVisit,
    /// Lines that come from another NUMA node, an operation.
    RemoteMisses,
    /// Translations that aren't at hand, an operation.
    TranslationMisses,
    /// Share of the time that processors wait for latches, 0.0 to 1.0.
    WaitShare,
}

impl ParallelYardstick {
    /// The unit, for a table's column.
    pub fn unit(self) -> String {
        match self {
            Self::Throughput => "thousand operations/s".to_string(),
            Self::OverOwnAt(x) => format!("times its own at {x}"),
            Self::OverOwnAtHalf => "times its own at half as many".to_string(),
            Self::Over(other) => format!("throughput over {}'s", other.name()),
            Self::Misses => "misses/operation".to_string(),
            Self::CoherenceMisses => "coherence misses/operation".to_string(),
            Self::CoherenceMissesPerVisit => "coherence misses/node visit".to_string(),
            Self::RemoteMisses => "misses from other nodes/operation".to_string(),
            Self::TranslationMisses => "translations missed/operation".to_string(),
            Self::WaitShare => "share of time waiting for latches".to_string(),
        }
    }

    /// The index that it compares with.
    pub const fn compares_with(self) -> Option<Subject> {
        if let Self::Over(other) = self { Some(other) } else { None }
    }

    /// Returns the number for `outcome`, given its reference in the same run: another index's outcome at
    /// the same x, or its own at another. `None` if the runs haven't measured the required quantities.
    pub fn measure(self, outcome: &ParallelOutcome, reference: Option<&ParallelOutcome>) -> Option<f64> {
        let per_operation = |count: u64| count as f64 / outcome.operations as f64;
        let counters = outcome.counters;
        match self {
            Self::Throughput => Some(outcome.throughput() / 1e3),
            Self::OverOwnAt(_) | Self::OverOwnAtHalf | Self::Over(_) => {
                Some(outcome.throughput() / reference?.throughput())
            }
            Self::Misses => Some(per_operation(counters?.memory_accesses)),
            Self::CoherenceMisses => Some(per_operation(counters?.coherence_misses)),
            Self::RemoteMisses => Some(per_operation(counters?.remote_accesses)),
            Self::TranslationMisses => Some(per_operation(counters?.translation_misses)),
            Self::CoherenceMissesPerVisit => {
                let counters = counters?;
                Some(counters.coherence_misses as f64 / counters.visits.max(1) as f64)
            }
            Self::WaitShare => {
                let counters = counters?;
                Some(counters.wait_slots as f64 / counters.slots().max(1) as f64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_papers::pb_tree::Member;

    const BASE: Subject = Subject::PbTree(Member::BPlus);
    const PANEL: ParallelPanel = ParallelPanel {
        name: "",
        axis: ParallelAxis::Processors { model: Scaled::new(&[1, 64], &[1, 2]), native: &[1] },
        keys: Scaled::new(1000, 10),
        processors: Processors { model: 8, native: 2 },
        updates_percent: 50,
        node_bytes: 128,
        setting: Setting::PLAIN,
        operations: Scaled::same(5),
        series: &[BASE],
        yardsticks: &[ParallelYardstick::Throughput],
        claims: &[Claim::at(64, ParallelYardstick::OverOwnAt(1), &[BASE], Published::AtLeast(50.0))],
    };

    fn outcome(seconds: f64, counters: Option<Counters>) -> ParallelOutcome {
        ParallelOutcome { operations: 1000, processors: 2, seconds, spread: None, counters }
    }

    #[test]
    fn a_point_settles_what_its_x_stands_for() {
        assert_eq!(PANEL.axis.values(On::Model, Scale::Paper), [1, 64]);
        assert_eq!(PANEL.axis.values(On::Native, Scale::Paper), [1]);
        let case = PANEL.case(64, On::Model, Scale::Small);
        assert_eq!((case.keys, case.processors, case.updates_percent), (10, 64, 50));
        let axis = ParallelAxis::UpdatesPercent(Scaled::same(&[0, 100]));
        let by_updates = ParallelPanel { axis, ..PANEL };
        assert_eq!(by_updates.case(100, On::Model, Scale::Paper).processors, 8);
        let native = by_updates.case(100, On::Native, Scale::Paper);
        assert_eq!((native.processors, native.updates_percent), (2, 100));
        let by_node = ParallelPanel { axis: ParallelAxis::NodeBytes(&[64, 512]), ..PANEL };
        assert_eq!(by_node.case(512, On::Native, Scale::Paper).node_bytes, 512);
        let setting = |axis, x| ParallelPanel { axis, ..PANEL }.case(x, On::Model, Scale::Paper).setting;
        let hot = setting(ParallelAxis::HotPercent(&[]), 80).hot;
        assert_eq!(hot, Some(Hot { one_of: 100, operations_percent: 80 }));
        assert_eq!(setting(ParallelAxis::HotPercent(&[]), 0), Setting::PLAIN);
        assert!(setting(ParallelAxis::InsertsPercent(&[]), 100).inserts_alone);
        assert!(setting(ParallelAxis::Duplicates(&[]), 1).duplicates);
        assert_eq!(setting(ParallelAxis::Nodes(&[]), 4).nodes, 4);
        let nodes = ParallelAxis::Nodes(&[1, 4]);
        assert_eq!(
            (nodes.values(On::Native, Scale::Paper).len(), nodes.values(On::Model, Scale::Paper).len()),
            (0, 2)
        );
        assert!(PANEL.published(ParallelYardstick::OverOwnAt(1), BASE, 64).is_some());
        assert!(PANEL.published(ParallelYardstick::OverOwnAt(1), BASE, 1).is_none());
        assert!(PANEL.published(ParallelYardstick::OverOwnAt(2), BASE, 64).is_none());
    }

    #[test]
    fn throughput_is_compared_with_another_s_or_its_own() {
        let (slow, fast) = (outcome(1e-3, None), outcome(0.25e-3, None));
        assert_eq!(ParallelYardstick::Throughput.measure(&slow, None), Some(1000.0));
        assert_eq!(ParallelYardstick::Over(BASE).measure(&fast, Some(&slow)), Some(4.0));
        assert_eq!(ParallelYardstick::OverOwnAt(1).measure(&fast, Some(&slow)), Some(4.0));
        assert_eq!(ParallelYardstick::OverOwnAtHalf.measure(&fast, Some(&slow)), Some(4.0));
        assert_eq!(ParallelYardstick::OverOwnAt(1).measure(&fast, None), None);
        assert!((slow.nanoseconds(slow.seconds) - 2000.0).abs() < 1e-9);
    }

    #[test]
    fn misses_are_counted_on_the_model_alone() {
        let counters = Counters {
            memory_accesses: 4000,
            coherence_misses: 3500,
            visits: 7000,
            busy_slots: 60,
            wait_slots: 20,
            ..Counters::default()
        };
        let modelled = outcome(1.0, Some(counters));
        let expected = [
            (ParallelYardstick::Misses, 4.0),
            (ParallelYardstick::CoherenceMisses, 3.5),
            (ParallelYardstick::CoherenceMissesPerVisit, 0.5),
            (ParallelYardstick::WaitShare, 0.25),
        ];
        for (yardstick, number) in expected {
            assert_eq!(yardstick.measure(&modelled, None), Some(number));
            assert_eq!(yardstick.measure(&outcome(1.0, None), None), None);
        }
    }
}
