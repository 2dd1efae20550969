//! The experiments of Vu, *Spiderman: Software Prefetching and Request Multiplexing to Mask Memory Accesses
//! in B+trees* (École Polytechnique, 2023), §4.
//!
//! The figures are images. The comparable results are the gains and orders that the text states. The
//! paper's form of the technique (*naive*) and ours (*ours*) run on the same tree.

mod branching;
mod figures;
mod in_flight;
mod indexes;
mod machines;
mod profile;
mod trie;

use crate::experiment::{BatchedYardstick, Paper, Scaled, Way};
use latchless_papers::spiderman::Rounds;

/// The paper's 50M.
const RECORDS: Scaled<usize> = Scaled::new(50_000_000, 20_000);
const THREADS: &[usize] = &[1, 4, 16];
const NATIVE_THREADS: &[usize] = &[1, 2];

const THROUGHPUT: BatchedYardstick = BatchedYardstick::Throughput;
const OVER_NONE: BatchedYardstick = BatchedYardstick::Over(Way::NONE.name);
const MISSES: BatchedYardstick = BatchedYardstick::Misses;

/// A batch as the paper has it.
const fn naive(name: &'static str, size: usize, options: &'static [u8]) -> Way {
    Way { name, size: Some(size), options, rounds: Rounds::Naive }
}

/// Returns a batch with the proposals of the paper's author: served at the ends of walks, without idle
/// slots.
const fn ours(name: &'static str, size: usize, options: &'static [u8]) -> Way {
    Way { name, size: Some(size), options, rounds: Rounds::Unfinished }
}

/// Options 1, 2 and 3, which the paper's figures use.
const PAPER: &[u8] = &[1, 2, 3];
/// The fastest options here.
const BEST: &[u8] = &[1, 2, 5, 6, 7, 8];

/// Figures 9 to 12: no batching, the paper's sizes, and ours.
const WAYS: &[Way] = &[
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

/// The paper.
pub const PAPER_OF_SPIDERMAN: Paper = Paper {
    name: "spiderman",
    title: "Vu: Spiderman, Software Prefetching and Request Multiplexing (École Polytechnique, 2023)",
    experiments: &[
        profile::FIG_6,
        figures::FIG_9,
        figures::FIG_10,
        figures::FIG_11,
        figures::FIG_12,
        figures::FIG_13,
        machines::MACHINES,
        machines::SCANS,
        branching::BRANCHING,
        indexes::INDEXES,
        trie::TRIE,
        in_flight::IN_FLIGHT,
    ],
};
