//! What a measurement is to be, and what can't be measured.

use crate::distribution::Distribution;
use crate::error::Error;
use crate::mix::{Kind, Workload};

/// The description of a measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// The mix of operations.
    pub workload: Workload,
    /// The keys.
    pub distribution: Distribution,
    /// Keys that are there at the start.
    pub records: usize,
    /// Requests, over all threads. A bulk load has none.
    pub ops: usize,
    /// Streams to make, one for each thread.
    pub threads: usize,
    /// Entries that a scan requests, exactly or at most.
    pub scan_length: usize,
    /// The share of the key space that ranges take, above 0 and at most 1.
    pub range_share: f64,
    /// Same seed, same plan.
    pub seed: u64,
}

impl Spec {
    /// A spec of a million records and requests on one thread. YCSB's workloads are popular by
    /// Zipf's law with θ = 0.99, the others evenly.
    pub fn new(workload: Workload) -> Self {
        Self {
            workload,
            distribution: Self::default_distribution(workload),
            records: 1_000_000,
            ops: 1_000_000,
            threads: 1,
            scan_length: 100,
            range_share: 0.01,
            seed: 1,
        }
    }

    /// The distribution in a workload's definition.
    pub fn default_distribution(workload: Workload) -> Distribution {
        if workload.is_ycsb() { Distribution::Zipf { theta: 0.99 } } else { Distribution::Uniform }
    }

    /// Refuses numbers that can't be served.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.distribution.check()?;
        let at_least_one = [
            ("the number of records", self.records),
            ("the number of operations", self.ops),
            ("the number of threads", self.threads),
            ("the scan length", self.scan_length),
        ];
        for (what, number) in at_least_one {
            if number == 0 {
                return Err(Error::Zero { what });
            }
        }
        if !(self.range_share > 0.0 && self.range_share <= 1.0) {
            return Err(Error::RangeShare { given: self.range_share });
        }
        if self.records < self.threads {
            return Err(Error::TooFewRecords { records: self.records, threads: self.threads });
        }
        // Each thread takes from its own share of the records.
        let removable = self.records / self.threads * self.threads;
        if self.workload.is_only(Kind::Remove) && self.ops > removable {
            return Err(Error::NothingLeft { ops: self.ops, records: removable });
        }
        Ok(())
    }

    /// A key set determines the keys, so the distribution must not.
    pub(crate) fn check_distribution_for(&self, set: &impl ToString) -> Result<(), Error> {
        if let Distribution::Sequential | Distribution::Dense | Distribution::Sparse = self.distribution {
            let (distribution, set) = (self.distribution.to_string(), set.to_string());
            return Err(Error::KeysTwice { distribution, set });
        }
        Ok(())
    }

    /// How many requests a thread's stream holds.
    pub(crate) fn ops_of(&self, thread: usize) -> usize {
        self.ops / self.threads + usize::from(thread < self.ops % self.threads)
    }
}
