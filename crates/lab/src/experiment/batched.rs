//! Experiments in which threads serve a mix of requests batch by batch, as data: which mix, how many
//! threads, in which ways batches are led, and what the paper says about it.

use super::claim::Published;
use super::{Scale, Scaled};
use crate::model::Counters;
use crate::row::On;
use latchless_papers::spiderman::{BatchSize, Batching, Prefetch, Rounds};
use latchless_workload::Workload;

/// One diagram: a mix of requests, by threads, in several ways.
#[derive(Debug, Clone, Copy)]
pub struct BatchedPanel {
    /// What sets it apart from the figure's other diagrams; empty if it is alone.
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
    /// The ways. All of them run on one tree.
    pub ways: &'static [Way],
    /// What is reported; the first is what a chart shows.
    pub yardsticks: &'static [BatchedYardstick],
    /// What the paper says.
    pub claims: &'static [BatchedClaim],
}

/// A way to lead batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// What it is called in results.
    pub name: &'static str,
    /// How many requests go together; 0: that is found out. `None`: no batches.
    pub size: Option<usize>,
    /// The prefetch options, by number.
    pub options: &'static [u8],
    /// See [`Rounds`].
    pub rounds: Rounds,
}

impl Way {
    /// No batches.
    pub const NONE: Self = Self { name: "no batching", size: None, options: &[], rounds: Rounds::Unfinished };

    /// The way as a map is told of it.
    ///
    /// # Errors
    /// When options can't be combined, or there is no such size.
    pub fn batching(&self) -> latchless_papers::Result<Option<Batching>> {
        let Some(size) = self.size else { return Ok(None) };
        let size = if size == 0 { BatchSize::Auto } else { BatchSize::of(size)? };
        Ok(Some(Batching { size, prefetch: Prefetch::of(self.options)?, rounds: self.rounds }))
    }

    /// Whether it can be measured there: how many requests do best is found out by the clock, which a model
    /// hasn't.
    pub const fn runs_on(&self, on: On) -> bool {
        !matches!((on, self.size), (On::Model, Some(0)))
    }
}

/// What is reported of a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchedYardstick {
    /// Thousands of transactions a second.
    Throughput,
    /// How many times as many transactions a second as another way, by name.
    Over(&'static str),
    /// Lines that secondary caches miss, a transaction; on the model only.
    Misses,
}

/// What running one way gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatchedOutcome {
    /// Transactions a second, of all threads.
    pub throughput: f64,
    /// Transactions that the counters count.
    pub transactions: usize,
    /// What the modelled processors did, all together; on the model only.
    pub counters: Option<Counters>,
}

impl BatchedYardstick {
    /// The unit, for a table's column.
    pub fn unit(self) -> String {
        match self {
            Self::Throughput => "thousand transactions/s".to_string(),
            Self::Over(way) => format!("throughput over {way}"),
            Self::Misses => "misses/transaction".to_string(),
        }
    }

    /// The number for `outcome`, given the one that it is compared with.
    pub fn measure(self, outcome: &BatchedOutcome, other: Option<&BatchedOutcome>) -> Option<f64> {
        match self {
            Self::Throughput => Some(outcome.throughput / 1e3),
            Self::Over(_) => Some(outcome.throughput / other?.throughput),
            Self::Misses => {
                Some(outcome.counters?.memory_accesses as f64 / outcome.transactions.max(1) as f64)
            }
        }
    }
}

/// A published number: throughput over another way's.
#[derive(Debug, Clone, Copy)]
pub struct BatchedClaim {
    /// The way that it is compared with.
    pub over: &'static str,
    /// The ways that it is about.
    pub ways: &'static [&'static str],
    /// The threads that it is about.
    pub threads: &'static [usize],
    /// The number.
    pub published: Published,
}

impl BatchedPanel {
    /// Records that are inserted before, unless the caller says how many.
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

    /// What the paper says.
    pub fn published(&self, yardstick: BatchedYardstick, way: &str, threads: usize) -> Option<Published> {
        let BatchedYardstick::Over(over) = yardstick else { return None };
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
        let outcome = |throughput| BatchedOutcome { throughput, transactions: 10, counters: None };
        let (slow, fast) = (outcome(2e6), outcome(5e6));
        assert_eq!(BatchedYardstick::Throughput.measure(&fast, None), Some(5000.0));
        assert_eq!(BatchedYardstick::Over("x").measure(&fast, Some(&slow)), Some(2.5));
        assert_eq!(BatchedYardstick::Over("x").measure(&fast, None), None);
        assert_eq!(BatchedYardstick::Misses.measure(&fast, None), None);
        let counters = Some(Counters { memory_accesses: 35, ..Counters::default() });
        let modelled = BatchedOutcome { counters, ..fast };
        assert_eq!(BatchedYardstick::Misses.measure(&modelled, None), Some(3.5));
    }
}
