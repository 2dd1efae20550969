//! The properties of a machine that the gains of batches depend on: Figures 9 to 13 on machines that
//! differ in one property.

use super::figures::panel;
use super::{MISSES, OVER_NONE, PAPER, THROUGHPUT, naive};
use crate::experiment::{BatchedPanel, BatchedYardstick, Body, Experiment, Way};
use crate::model::{Branches, Change, Depends};
use latchless_workload::Workload;

/// The paper's sizes, and Figure 13's options.
const COMPARED: &[Way] = &[
    Way::NONE,
    naive("naive 1", 1, PAPER),
    naive("naive 8", 8, PAPER),
    naive("naive 16", 16, PAPER),
    naive("4", 16, &[4]),
    naive("1", 16, &[1]),
];

const fn on(
    name: &'static str,
    workload: Workload,
    modelled_threads: &'static [usize],
    changes: &'static [Change],
) -> BatchedPanel {
    BatchedPanel {
        name,
        changes,
        modelled_threads,
        native_threads: &[],
        ways: COMPARED,
        yardsticks: &[OVER_NONE, BatchedYardstick::Over("1"), THROUGHPUT, MISSES],
        ..panel(workload, &[])
    }
}

/// A processor that guesses every other branch of a search, and reorders across requests.
const GUESSED: Change = Change::Reordered(Branches::HalfGuessed, Depends::WithinOperation, 224);
/// A machine that doesn't wait for the branches of a search.
const SEARCHES: Change = Change::Reordered(Branches::None, Depends::WithinOperation, 224);
/// Also, consecutive lines that are moved or copied are requested in parallel.
const BOTH: &[Change] = &[SEARCHES, Change::RunsOverlap];
/// And half and a quarter of the bandwidth.
const HALF: &[Change] = &[SEARCHES, Change::RunsOverlap, Change::MemoryInterval(4)];
const QUARTER: &[Change] = &[SEARCHES, Change::RunsOverlap, Change::MemoryInterval(8)];
const EIGHTH: &[Change] = &[SEARCHES, Change::RunsOverlap, Change::MemoryInterval(16)];
const TWO_HANDLERS: &[Change] = &[SEARCHES, Change::RunsOverlap, Change::MissHandlers(2)];
const WAITING: &[Change] = &[SEARCHES, Change::RunsOverlap, Change::PrefetchesWait];
/// [`BOTH`], with more than twice the instructions in flight.
const LARGER: &[Change] =
    &[Change::Reordered(Branches::None, Depends::WithinOperation, 512), Change::RunsOverlap];
/// [`BOTH`], with half of the memory latency.
const NEARER: &[Change] = &[SEARCHES, Change::RunsOverlap, Change::MemoryLatency(135)];
const FEW: &[usize] = &[1, 4];
const MOST: &[usize] = &[16];
use Workload::{SpidermanA as A, SpidermanB as B, SpidermanC as C, SpidermanD as D};

pub(super) const MACHINES: Experiment = Experiment {
    name: "machines",
    title: "Figures 9 to 13 on machines that differ from the model's in one thing, or in two",
    remarks: &[
        "The model waits for the lines of a binary search one after the other, since each branch may go either way, \
         and for the lines of a run of entries as well. A processor that reorders needn't: it guesses branches, and \
         knows the addresses of a run. \"branches guessed\": every other one rightly. \"searches overlap\": all of them, and \
         requests that aren't batched overlap as far as 224 instructions reach. \"runs overlap\": what an insert moves and \
         a scan copies is asked for side by side. \"both\" has searches and runs overlap.",
    ],
    body: Body::Batched(&[
        on("A, branches guessed", A, &[1], &[GUESSED]),
        on("A, searches overlap", A, &[1], &[SEARCHES]),
        on("A, runs overlap", A, &[1], &[Change::RunsOverlap]),
        on("A, two miss handlers", A, &[1], &[Change::MissHandlers(2)]),
        on("A, both", A, FEW, BOTH),
        on("A, both, half of the bandwidth", A, MOST, HALF),
        on("A, both, a quarter of the bandwidth", A, MOST, QUARTER),
        on("B, both", B, FEW, BOTH),
        on("B, both, half of the bandwidth", B, MOST, HALF),
        on("B, both, a quarter of the bandwidth", B, MOST, QUARTER),
        on("C, branches guessed", C, &[1], &[GUESSED]),
        on("C, searches overlap", C, &[1], &[SEARCHES]),
        on("C, two miss handlers", C, &[1], &[Change::MissHandlers(2)]),
        on("C, both", C, FEW, BOTH),
        on("C, both, half of the bandwidth", C, MOST, HALF),
        on("C, both, a quarter of the bandwidth", C, MOST, QUARTER),
        on("D, searches overlap", D, &[1], &[SEARCHES]),
        on("D, runs overlap", D, &[1], &[Change::RunsOverlap]),
        on("D, both", D, FEW, BOTH),
        on("D, both, half of the bandwidth", D, MOST, HALF),
    ]),
};

pub(super) const SCANS: Experiment = Experiment {
    name: "scans",
    title: "Figure 12 on one thread, on machines that differ from \"both\" of `machines` in one thing more",
    remarks: &[
        "In the paper batches of scans lose on one thread, too. Searches and runs overlap in all panels; each asks whether \
         one thing more makes batches lose: less bandwidth, two miss handlers instead of twelve, prefetches that wait for \
         one, 512 instructions in flight instead of 224, memory at half the distance.",
    ],
    body: Body::Batched(&[
        on("both", D, &[1], BOTH),
        on("half of the bandwidth", D, &[1], HALF),
        on("a quarter of the bandwidth", D, &[1], QUARTER),
        on("an eighth of the bandwidth", D, &[1], EIGHTH),
        on("two miss handlers", D, &[1], TWO_HANDLERS),
        on("prefetches wait", D, &[1], WAITING),
        on("512 instructions", D, &[1], LARGER),
        on("memory half as far", D, &[1], NEARER),
    ]),
};
