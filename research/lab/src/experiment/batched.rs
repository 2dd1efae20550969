//! Experiments in which threads serve a mix of requests batch by batch, as data: the mix, the number of
//! threads, the ways in which batches are led, and the paper's numbers.

use super::published::Published;
use super::scale::{Scale, Scaled};
use crate::model::{Change, Counters, KINDS_MAX, Missed, Phase};
use crate::on::On;
use latchless_papers::spiderman::{BatchSize, Batching, Prefetch, Rounds};
use latchless_workload::Workload;

/// One diagram: a mix of requests, by threads, in several ways.
#[derive(Debug, Clone, Copy)]
pub struct BatchedPanel {
    /// The name that distinguishes it from the figure's other diagrams; empty if it is the only one.
    pub name: &'static str,
    /// The mix.
    pub workload: Workload,
    /// Records that are inserted before, natively.
    pub records: Scaled<usize>,
    /// The same on the model, which takes longer.
    pub modelled_records: Scaled<usize>,
    /// Threads on the model.
    pub modelled_threads: &'static [usize],
    /// Threads natively.
    pub native_threads: &'static [usize],
    /// The differences from the paper's machine; only on the model.
    pub changes: &'static [Change],
    /// The form of the tree's pages.
    pub pages: Pages,
    /// The ways. All of them run on one tree.
    pub ways: &'static [Way],
    /// The reported quantities; a chart shows the first one.
    pub yardsticks: &'static [BatchedYardstick],
    /// The paper's numbers.
    pub claims: &'static [BatchedClaim],
}

/// The form of a tree's pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// Keys first, and searches that compute the next place.
    Ours,
    /// Those of the code base under the paper: children before keys, and searches that branch three ways.
    CodeBase,
}

/// A way to lead batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// The name in results.
    pub name: &'static str,
    /// The number of requests that walk together; 0: tuned. `None`: no batches.
    pub size: Option<usize>,
    /// The prefetch options, by number.
    pub options: &'static [u8],
    /// See [`Rounds`].
    pub rounds: Rounds,
}

impl Way {
    /// No batches.
    pub const NONE: Self = Self { name: "no batching", size: None, options: &[], rounds: Rounds::Unfinished };

    /// Returns the way as an option of the map.
    ///
    /// # Errors
    /// If options can't be combined, or there is no such size.
    pub fn batching(&self) -> latchless_papers::Result<Option<Batching>> {
        let Some(size) = self.size else { return Ok(None) };
        let size = if size == 0 { BatchSize::Auto } else { BatchSize::of(size)? };
        Ok(Some(Batching { size, prefetch: Prefetch::of(self.options)?, rounds: self.rounds }))
    }

    /// Returns whether it can be measured there: tuning the number of requests needs a clock, which a
    /// model doesn't have.
    pub const fn runs_on(&self, on: On) -> bool {
        !matches!((on, self.size), (On::Model, Some(0)))
    }
}

/// A reported quantity of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchedYardstick {
    /// Thousands of transactions a second.
    Throughput,
    /// The ratio of its transactions per second to those of another way, by name.
    Over(&'static str),
    /// Lines that come from memory or another core, a transaction; on the model only.
    Misses,
    /// Misses at a spot that were waited for, not prefetched, per transaction.
    MissesAt(Spot),
    /// Nanoseconds that a transaction waited for data somewhere.
    WaitsAt(Spot),
    /// The ratio of misses that were waited for at one place to those at another.
    MissesOver {
        /// The name of the comparison in claims.
        name: &'static str,
        /// The place.
        at: Spot,
        /// The other.
        over: Spot,
    },
}

/// The kind of data at an address of a tree of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Something else than a page.
    Elsewhere,
    /// An inner page's header: version, type, size.
    InnerHeader,
    /// An inner page's separators.
    InnerKeys,
    /// An inner page's children.
    Children,
    /// A leaf's header.
    LeafHeader,
    /// A leaf's keys.
    LeafKeys,
    /// A leaf's values.
    Payloads,
}

const _: () = assert!((Kind::Payloads as usize) < KINDS_MAX);

/// Somewhere to miss: in some phases, at some kinds of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// The name in results.
    pub name: &'static str,
    /// The phases.
    pub phases: &'static [Phase],
    /// The kinds.
    pub kinds: &'static [Kind],
}

/// Misses by phase and kind.
pub type Sorted = [[Missed; KINDS_MAX]; 2];

impl Spot {
    /// Returns the misses here.
    pub fn of(&self, sorted: &Sorted) -> Missed {
        let each = self
            .phases
            .iter()
            .flat_map(|&phase| self.kinds.iter().map(move |&kind| sorted[phase as usize][kind as usize]));
        each.fold(Missed::default(), |sum, one| Missed {
            demanded: sum.demanded + one.demanded,
            prefetched: sum.prefetched + one.prefetched,
            stall_slots: sum.stall_slots + one.stall_slots,
        })
    }
}

/// The result of running one way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchedOutcome {
    /// Transactions a second, of all threads.
    pub throughput: f64,
    /// Transactions that the counters count.
    pub transactions: usize,
    /// The counters of the modelled processors, in total; only on the model.
    pub counters: Option<Counters>,
    /// Their misses by phase and kind, if requested.
    pub sorted: Option<Sorted>,
    /// Nanoseconds of a slot of theirs.
    pub slot_ns: f64,
}

impl BatchedYardstick {
    /// Returns whether it needs misses by phase and kind.
    pub const fn sorts(self) -> bool {
        matches!(self, Self::MissesAt(_) | Self::WaitsAt(_) | Self::MissesOver { .. })
    }

    /// The unit, for a table's column.
    pub fn unit(self) -> String {
        match self {
            Self::Throughput => "thousand transactions/s".to_string(),
            Self::Over(way) => format!("throughput over {way}"),
            Self::Misses => "misses/transaction".to_string(),
            Self::MissesAt(spot) => format!("misses/transaction, {}", spot.name),
            Self::WaitsAt(spot) => format!("ns waited/transaction, {}", spot.name),
            Self::MissesOver { name, .. } => name.to_string(),
        }
    }

    /// The number for `outcome`, given the one that it is compared with.
    pub fn measure(self, outcome: &BatchedOutcome, other: Option<&BatchedOutcome>) -> Option<f64> {
        let each = |sum: f64| sum / outcome.transactions.max(1) as f64;
        match self {
            Self::MissesAt(spot) => Some(each(spot.of(outcome.sorted.as_ref()?).demanded as f64)),
            Self::WaitsAt(spot) => {
                Some(each(spot.of(outcome.sorted.as_ref()?).stall_slots as f64 * outcome.slot_ns))
            }
            Self::MissesOver { at, over, .. } => {
                let sorted = outcome.sorted.as_ref()?;
                Some(at.of(sorted).demanded as f64 / over.of(sorted).demanded.max(1) as f64)
            }
            Self::Throughput => Some(outcome.throughput / 1e3),
            Self::Over(_) => Some(outcome.throughput / other?.throughput),
            Self::Misses => {
                Some(outcome.counters?.memory_accesses as f64 / outcome.transactions.max(1) as f64)
            }
        }
    }
}

/// A published number: throughput over another way's, or misses at one place over those at another.
#[derive(Debug, Clone, Copy)]
pub struct BatchedClaim {
    /// The way that it is compared with, or the comparison's name.
    pub over: &'static str,
    /// The ways that it is about.
    pub ways: &'static [&'static str],
    /// The threads that it is about.
    pub threads: &'static [usize],
    /// The number.
    pub published: Published,
}

impl BatchedPanel {
    /// Returns the number of records that are inserted before, unless the caller gives it.
    pub const fn records(&self, on: On, scale: Scale) -> usize {
        match on {
            On::Native => self.records.at(scale),
            On::Model | On::Anywhere => self.modelled_records.at(scale),
        }
    }

    /// The values of the x axis: threads.
    pub const fn threads(&self, on: On) -> &'static [usize] {
        match on {
            On::Native => self.native_threads,
            On::Model | On::Anywhere => self.modelled_threads,
        }
    }

    /// The ways that can be measured there.
    pub fn ways_on(&self, on: On) -> Vec<Way> {
        self.ways.iter().copied().filter(|way| way.runs_on(on)).collect()
    }

    /// Returns the paper's number.
    pub fn published(&self, yardstick: BatchedYardstick, way: &str, threads: usize) -> Option<Published> {
        let over = match yardstick {
            BatchedYardstick::Over(over) | BatchedYardstick::MissesOver { name: over, .. } => over,
            _ => return None,
        };
        let about = |claim: &&BatchedClaim| {
            claim.over == over && claim.ways.contains(&way) && claim.threads.contains(&threads)
        };
        self.claims.iter().find(about).map(|claim| claim.published)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAIVE: Way = Way { name: "naive 8", size: Some(8), options: &[1, 2, 3], rounds: Rounds::Naive };

    #[test]
    fn ways_are_those_of_the_library() {
        assert_eq!(Way::NONE.batching(), Ok(None));
        let naive = Batching { size: BatchSize::Of(8), prefetch: Prefetch::PAPER, rounds: Rounds::Naive };
        assert_eq!(NAIVE.batching(), Ok(Some(naive)));
        let auto = Way { size: Some(0), ..NAIVE };
        assert_eq!(auto.batching().unwrap().unwrap().size, BatchSize::Auto);
        assert!(auto.runs_on(On::Native) && !auto.runs_on(On::Model) && NAIVE.runs_on(On::Model));
        assert!(Way { options: &[1, 4], ..NAIVE }.batching().is_err());
        assert!(Way { size: Some(5000), ..NAIVE }.batching().is_err());
    }

    #[test]
    fn throughput_is_compared_with_another_way_s() {
        let outcome = |throughput| BatchedOutcome {
            throughput,
            transactions: 10,
            counters: None,
            sorted: None,
            slot_ns: 0.0,
        };
        let (slow, fast) = (outcome(2e6), outcome(5e6));
        assert_eq!(BatchedYardstick::Throughput.measure(&fast, None), Some(5000.0));
        assert_eq!(BatchedYardstick::Over("x").measure(&fast, Some(&slow)), Some(2.5));
        assert_eq!(BatchedYardstick::Over("x").measure(&fast, None), None);
        assert_eq!(BatchedYardstick::Misses.measure(&fast, None), None);
        let counters = Some(Counters { memory_accesses: 35, ..Counters::default() });
        let modelled = BatchedOutcome { counters, ..fast };
        assert_eq!(BatchedYardstick::Misses.measure(&modelled, None), Some(3.5));
    }

    #[test]
    fn misses_are_added_up_over_phases_and_kinds() {
        let mut sorted = Sorted::default();
        let missed = |demanded| Missed { demanded, prefetched: 100, stall_slots: 8 * demanded };
        sorted[Phase::Walk as usize][Kind::LeafKeys as usize] = missed(30);
        sorted[Phase::Walk as usize][Kind::LeafHeader as usize] = missed(20);
        sorted[Phase::Serve as usize][Kind::LeafKeys as usize] = missed(10);
        let outcome = BatchedOutcome {
            throughput: 1.0,
            transactions: 10,
            counters: None,
            sorted: Some(sorted),
            slot_ns: 0.5,
        };
        let walk =
            Spot { name: "phase 1", phases: &[Phase::Walk], kinds: &[Kind::LeafKeys, Kind::LeafHeader] };
        let serve = Spot { name: "phase 2", phases: &[Phase::Serve], ..walk };
        let measure = |yardstick: BatchedYardstick| yardstick.measure(&outcome, None);
        assert_eq!(measure(BatchedYardstick::MissesAt(walk)), Some(5.0));
        assert_eq!(measure(BatchedYardstick::WaitsAt(serve)), Some(4.0));
        assert_eq!(measure(BatchedYardstick::MissesOver { name: "", at: walk, over: serve }), Some(5.0));
        let unsorted = BatchedOutcome { sorted: None, ..outcome };
        assert_eq!(BatchedYardstick::MissesAt(walk).measure(&unsorted, None), None);
    }
}
