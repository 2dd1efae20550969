//! What the figures have in common: the ways to serve requests, the sizes, the panel.

use crate::experiment::{BatchedClaim, BatchedPanel, BatchedYardstick, Pages, Scaled, Way};
use latchless_papers::spiderman::Rounds;
use latchless_workload::Workload;

/// The paper's 50M.
pub const RECORDS: Scaled<usize> = Scaled::new(50_000_000, 20_000);
pub const THREADS: &[usize] = &[1, 4, 16];
pub const NATIVE_THREADS: &[usize] = &[1, 2];

pub const THROUGHPUT: BatchedYardstick = BatchedYardstick::Throughput;
pub const OVER_NONE: BatchedYardstick = BatchedYardstick::Over(Way::NONE.name);
pub const MISSES: BatchedYardstick = BatchedYardstick::Misses;

/// A batch as the paper has it.
pub const fn naive(name: &'static str, size: usize, options: &'static [u8]) -> Way {
    Way { name, size: Some(size), options, rounds: Rounds::Naive }
}

/// Returns a batch with the proposals of the paper's author: served at the ends of walks, without idle
/// slots.
pub const fn ours(name: &'static str, size: usize, options: &'static [u8]) -> Way {
    Way { name, size: Some(size), options, rounds: Rounds::Unfinished }
}

/// Options 1, 2 and 3, which the paper's figures use.
pub const PAPER: &[u8] = &[1, 2, 3];
/// The fastest options here.
pub const BEST: &[u8] = &[1, 2, 5, 6, 7, 8];

/// Figures 9 to 12: no batching, the paper's sizes, and ours.
pub const WAYS: &[Way] = &[
    Way::NONE,
    naive("naive 1", 1, PAPER),
    naive("naive 8", 8, PAPER),
    naive("naive 16", 16, PAPER),
    ours("ours 1", 1, BEST),
    ours("ours 8", 8, BEST),
    ours("ours 16", 16, BEST),
    ours("ours 64", 64, BEST),
    ours("ours auto", 0, BEST),
];

/// Returns the panel of a workload, as Figures 9 to 12 have it.
pub const fn panel(workload: Workload, claims: &'static [BatchedClaim]) -> BatchedPanel {
    BatchedPanel {
        name: "",
        changes: &[],
        pages: Pages::Ours,
        workload,
        records: RECORDS,
        modelled_records: RECORDS,
        modelled_threads: THREADS,
        native_threads: NATIVE_THREADS,
        ways: WAYS,
        yardsticks: &[THROUGHPUT, OVER_NONE, MISSES],
        claims,
    }
}
