//! A measurement as data, and the sizes that the paper's have.

use super::traffic::{Keys, NODES, Source, Traffic};
use crate::experiment::{Scale, Scaled};
use crate::model::Change;
use crate::on::On;
use latchless_papers::pi::Query;

/// The paper's default threads.
pub const THREADS: usize = 8;
/// The paper's default queries of a batch, for each thread.
pub const BATCH: Scaled<usize> = Scaled::new(8192, 1024);
/// Batches of searches before those of a case on the model: each node's 18 MB of shared cache are then full.
pub const WARMING: Scaled<usize> = Scaled::new(8, 4);
/// A set that fits the caches of all nodes needs twice as many, until it is in them but for a fiftieth.
pub const FITS_CACHES: usize = 4 << 20;
/// The small, the medium and the large data set (§6).
pub const KEYS: Scaled<&[usize]> = Scaled::new(&[2 << 20, 16 << 20, 128 << 20], &[2_000, 20_000]);
/// The names of series by these sizes.
pub const SIZES: [&str; 3] = ["2M keys", "16M keys", "128M keys"];
/// The medium one.
pub const MEDIUM: Scaled<usize> = Scaled::new(16 << 20, 100_000);

/// A measurement.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    pub keys: usize,
    pub threads: usize,
    /// Queries of a batch, for each thread.
    pub batch: usize,
    pub traffic: Traffic,
    /// Rounds that count: on the model of a batch each.
    pub rounds: usize,
    /// Searches for each node that fill its caches on the model before the case's own queries; twice as many
    /// in sets that fit them.
    pub warming: usize,
    /// The difference from the paper's machine; only on the model.
    pub change: Change,
}

impl Case {
    /// Evenly spread searches of the medium data set: as many threads as the paper has, or as this machine.
    pub fn usual(on: On, scale: Scale) -> Self {
        let threads = if on == On::Native { 2 } else { THREADS };
        let rounds = if on == On::Native { 7 } else { 1 };
        let (keys, batch) = (MEDIUM.at(scale), BATCH.at(scale));
        let warming = WARMING.at(scale) * batch * THREADS / NODES;
        Self { keys, threads, batch, traffic: Traffic::SEARCHES, rounds, warming, change: Change::Nothing }
    }

    /// Returns the batches, for all threads together, of the case of this number: no two draw the same.
    pub fn batches(&self, nth: usize) -> impl Iterator<Item = Vec<Query<u32, u32>>> + use<> {
        self.batches_of(self.traffic, 2016 + nth as u64)
    }

    /// Returns batches of about so many searches for each node, as skewed as the case's queries, or twice as
    /// many.
    pub fn searches(&self, count: usize, nth: usize) -> impl Iterator<Item = Vec<Query<u32, u32>>> + use<> {
        let searches = Traffic { inserts_percent: 0, range: None, ..self.traffic };
        let count = if self.keys <= FITS_CACHES { 2 * count } else { count };
        let batches = (count * NODES.min(self.threads)).div_ceil(self.batch * self.threads);
        self.batches_of(searches, 1600 + nth as u64).take(batches)
    }

    fn batches_of(&self, traffic: Traffic, seed: u64) -> impl Iterator<Item = Vec<Query<u32, u32>>> + use<> {
        let (keys, mut source) = (Keys::new(self.keys), Source::new(seed));
        let len = self.batch * self.threads;
        core::iter::repeat_with(move || source.batch(keys, traffic, len))
    }
}
