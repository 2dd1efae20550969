//! The properties of a machine that the gains of batches depend on: Figures 9 to 13 on machines that
//! differ in one property.

use super::ways::{MISSES, OVER_NONE, PAPER, THROUGHPUT, naive, panel};
use crate::experiment::{BatchedPanel, BatchedYardstick, Body, Experiment, Way};
use crate::model::{Branches, Change, Depends, Parameters};
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

/// All of a search's branches are predicted rightly.
const ALL: Change = predicted(Branches::Predicted);
/// One guess of four is wrong, twice as many as on the paper's machine.
const FEWER: Change = predicted(Branches::WrongOnceIn(4));
/// Half of them are wrong, and a search's first key is waited for.
const HALF: Change = predicted(Branches::HalfGuessed);
/// Each load waits for the last line, whether or not its address is from there.
const CHAINED: Change = Change::Reordered(Parameters::SPIDERMAN_BRANCHES, Depends::OnLastLine, 224);
/// More than twice the instructions in flight.
const LARGER: Change = Change::Reordered(Parameters::SPIDERMAN_BRANCHES, Depends::WithinOperation, 512);
/// Lines of a search and of a run come one after the other.
const WAITS: &[Change] =
    &[Change::Reordered(Branches::Waited, Depends::OnLastLine, 224), Change::RunsOverlap(false)];
const SIX_CHANNELS: &[Change] = &[Change::MemoryInterval(2)];
const TWO_CHANNELS: &[Change] = &[Change::MemoryInterval(6)];
const FEW: &[usize] = &[1, 4];
const MOST: &[usize] = &[16];

/// Branches of a search are predicted otherwise.
const fn predicted(branches: Branches) -> Change {
    Change::Reordered(branches, Depends::WithinOperation, 224)
}

use Workload::{SpidermanA as A, SpidermanB as B, SpidermanC as C, SpidermanD as D};

pub(super) const MACHINES: Experiment = Experiment {
    name: "machines",
    title: "Figures 9 to 13 on machines that differ from the paper's in one thing, or in two",
    remarks: &[
        "The paper's machine requests the lines of a binary search and of a run of entries side by side, except after a \
         branch of a search in seven, which it predicts wrongly. \"waits\": each comes after the last one, as if it \
         had the next one's address, and requests don't overlap. \"all predicted\": no branch of a search is predicted \
         wrongly; \"three of four predicted\": a quarter is; \"half predicted\": a half is, and a search's first key is \
         waited for, too. \"runs in order\": \
         what an insert moves comes line by line. \"chained\": neither requests nor walks that take turns overlap. Six \
         channels of memory are a full socket's, two as if the server had modules of 32 GB.",
    ],
    body: Body::Batched(&[
        on("A, waits", A, FEW, WAITS),
        on("A, all predicted", A, FEW, &[ALL]),
        on("A, half predicted", A, FEW, &[HALF]),
        on("A, runs in order", A, &[1], &[Change::RunsOverlap(false)]),
        on("A, chained", A, FEW, &[CHAINED]),
        on("A, six channels", A, MOST, SIX_CHANNELS),
        on("A, two channels", A, MOST, TWO_CHANNELS),
        on("B, waits", B, &[1], WAITS),
        on("B, all predicted", B, &[1], &[ALL]),
        on("B, half predicted", B, &[1], &[HALF]),
        on("C, waits", C, FEW, WAITS),
        on("C, all predicted", C, FEW, &[ALL]),
        on("C, three of four predicted", C, &[1], &[FEWER]),
        on("C, half predicted", C, FEW, &[HALF]),
        on("C, two miss handlers", C, &[1], &[Change::MissHandlers(2)]),
        on("C, six channels", C, MOST, SIX_CHANNELS),
        on("C, two channels", C, MOST, TWO_CHANNELS),
        on("D, waits", D, &[1], WAITS),
        on("D, all predicted", D, &[1], &[ALL]),
        on("D, half predicted", D, &[1], &[HALF]),
    ]),
};

pub(super) const SCANS: Experiment = Experiment {
    name: "scans",
    title: "Figure 12 on one thread, on machines that differ from the paper's in one thing",
    remarks: &[
        "In the paper batches of scans lose on one thread, too. Each panel asks whether one difference makes batches lose: \
         other bandwidth, two miss handlers instead of twelve, prefetches that wait for one, 512 instructions in flight \
         instead of 224, memory at half the distance.",
    ],
    body: Body::Batched(&[
        on("the paper's machine", D, &[1], &[]),
        on("six channels", D, &[1], SIX_CHANNELS),
        on("two channels", D, &[1], TWO_CHANNELS),
        on("two miss handlers", D, &[1], &[Change::MissHandlers(2)]),
        on("prefetches wait", D, &[1], &[Change::PrefetchesWait]),
        on("512 instructions", D, &[1], &[LARGER]),
        on("memory half as far", D, &[1], &[Change::MemoryLatency(135)]),
    ]),
};
