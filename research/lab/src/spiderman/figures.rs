//! §4.2, Figures 9 to 12: four mixes, by threads and batch size. §4.3, Figure 13: the gain of each
//! prefetch option, and of each proposal of §5.2.

use super::profile;
use super::ways::{BEST, MISSES, OVER_NONE, PAPER, THROUGHPUT, naive, ours, panel};
use crate::experiment::{
    BatchedClaim, BatchedPanel, BatchedYardstick, Body, Experiment, Pages, Published, Way,
};
use latchless_workload::Workload;

const BETTER: Published = Published::MoreThan(1.0);
const WORSE: Published = Published::LessThan(1.0);
const SIMILAR: Published = Published::About(1.0);

/// "A slight decrease."
const SLIGHTLY_WORSE: Published = Published::Within(0.8, 1.0);

const ANY_SIZE: &[&str] = &["naive 1", "naive 8", "naive 16"];

const REMARK: &str = "Throughput is compared within one run, on one tree, which grows by what is inserted. \
    Natively searches in pages branch, as in the paper's code base (experiment `branching` has those that don't), and \
    transactions are counted for a time, on two threads at most; the model has the paper's 4 and 16, \
    and its 50M records. The paper's text gives numbers for its best sizes; at other sizes it says at most which is \
    better: a batch of one always loses (§4.2.2). \"ours\" is the form with the author's wishes (§5.2) and options 7 \
    and 8.";

/// Returns the paper's numbers for some ways at some numbers of threads, relative to no batching.
pub(super) const fn says(
    ways: &'static [&'static str],
    threads: &'static [usize],
    published: Published,
) -> BatchedClaim {
    BatchedClaim { over: Way::NONE.name, ways, threads, published }
}

pub(super) const FIG_9: Experiment = Experiment {
    name: "fig-9",
    title: "Workload A: gets and inserts in halves, by threads",
    remarks: &[REMARK],
    body: Body::Batched(&[panel(
        Workload::SpidermanA,
        &[
            says(&["naive 8", "naive 16"], &[1], Published::About(1.18)),
            says(&["naive 16"], &[4], Published::About(1.15)),
            says(ANY_SIZE, &[16], WORSE),
            says(&["naive 1"], &[1, 2, 4], WORSE),
        ],
    )]),
};

pub(super) const FIG_10: Experiment = Experiment {
    name: "fig-10",
    title: "Workload B: inserts, by threads",
    remarks: &[REMARK],
    body: Body::Batched(&[panel(
        Workload::SpidermanB,
        &[
            says(&["naive 8", "naive 16"], &[1], Published::About(1.30)),
            says(&["naive 16"], &[4], Published::About(1.15)),
            says(&["naive 8"], &[16], SIMILAR),
            says(&["naive 1"], &[1, 2, 4, 16], WORSE),
        ],
    )]),
};

pub(super) const FIG_11: Experiment = Experiment {
    name: "fig-11",
    title: "Workload C: gets, by threads",
    remarks: &[REMARK],
    body: Body::Batched(&[panel(
        Workload::SpidermanC,
        &[
            says(&["naive 8", "naive 16"], &[1], Published::About(1.06)),
            says(&["naive 8"], &[4], SIMILAR),
            // "There is a slight decrease in throughput … with any batch sizes."
            says(ANY_SIZE, &[16], SLIGHTLY_WORSE),
            says(&["naive 1"], &[1, 2, 4], WORSE),
        ],
    )]),
};

pub(super) const FIG_12: Experiment = Experiment {
    name: "fig-12",
    title: "Workload D: 95 % scans of 48 entries on average, 5 % inserts, by threads",
    remarks: &[REMARK],
    body: Body::Batched(&[panel(Workload::SpidermanD, &[says(ANY_SIZE, &[1, 4, 16], WORSE)])]),
};

/// Against option 1 alone, and against the paper's three.
const OVER_ONE: BatchedYardstick = BatchedYardstick::Over("1");
const OVER_THREE: BatchedYardstick = BatchedYardstick::Over(THREE);
const THREE: &str = "1+2+3";

/// Figure 13's sets of options, in the paper's form; 5 and 6 too.
const OPTIONS: &[Way] = &[
    Way::NONE,
    naive("none", 16, &[]),
    naive("4", 16, &[4]),
    naive("2+4", 16, &[2, 4]),
    naive("1", 16, &[1]),
    naive("1+2", 16, &[1, 2]),
    naive(THREE, 16, PAPER),
    naive("1+2+3 in one turn", 16, &[1, 2, 3, 9]),
    naive("1+2+3+5", 16, &[1, 2, 3, 5]),
    naive("1+2+3+5+6", 16, &[1, 2, 3, 5, 6]),
    naive("1+5+6", 16, &[1, 5, 6]),
];

const SAYS_OF_OPTIONS: &[BatchedClaim] = &[
    // "Option 4 … is worse than every other strategies, including no batching."
    says(&["4"], &[2, 4], WORSE),
    BatchedClaim { over: "1", ways: &["4"], threads: &[2, 4], published: WORSE },
    BatchedClaim { over: THREE, ways: &["4"], threads: &[2, 4], published: WORSE },
    // "Option 1 + 2 + 3 performs worse than option 1."
    BatchedClaim { over: "1", ways: &[THREE], threads: &[2, 4], published: WORSE },
    // Figure 9 has the same setting: 1+2+3 gains there.
    says(&["1", THREE], &[2, 4], BETTER),
];

/// The gain of a set of options, and where its transactions wait.
const WAITS: &[BatchedYardstick] = &[
    OVER_NONE,
    OVER_ONE,
    OVER_THREE,
    THROUGHPUT,
    MISSES,
    BatchedYardstick::WaitsAt(profile::PHASE_1),
    BatchedYardstick::WaitsAt(profile::PHASE_2),
    BatchedYardstick::MissesAt(profile::PHASE_1_LEAF_KEYS),
    BatchedYardstick::MissesAt(profile::PHASE_1_HEADERS),
    BatchedYardstick::MissesAt(profile::PHASE_2_LEAF_KEYS),
    BatchedYardstick::MissesAt(profile::PHASE_2_PAYLOADS),
];

pub(super) const FIG_13: Experiment = Experiment {
    name: "fig-13",
    title: "What prefetch options and wishes are worth: workload A, sixteen requests, four threads (natively two)",
    remarks: &[
        "The first panel has the paper's form with one set of options each, 5 and 6 too, which its author hadn't \
         measured, and \"none\": walks that prefetch nothing. The last panel adds to the paper's form what its author \
         wished for, one after the other: requests that are served at the ends of their walks and rounds without idle \
         slots, and then our options 7 and 8.",
        "The paper describes option 3 twice. In §4.3 a round passes between the prefetches of the header, of the middle \
         key and of half of the keys: that is 1+2+3. In Algorithm 4 the three conditions follow each other, so a walk \
         waits for the first two of them: that is \"1+2+3 in one turn\".",
        "\"code base\" has pages as the code base under the paper (the BTreeOLC of index-microbench): an inner page's \
         children are before its keys, so its header's line has no key, and searches branch three ways.",
    ],
    body: Body::Batched(&[
        BatchedPanel {
            name: "options",
            modelled_threads: &[4],
            native_threads: &[2],
            ways: OPTIONS,
            yardsticks: WAITS,
            claims: SAYS_OF_OPTIONS,
            ..panel(Workload::SpidermanA, &[])
        },
        BatchedPanel {
            name: "options, code base",
            pages: Pages::CodeBase,
            modelled_threads: &[4],
            native_threads: &[2],
            ways: OPTIONS,
            yardsticks: WAITS,
            ..panel(Workload::SpidermanA, &[])
        },
        BatchedPanel {
            name: "wishes",
            modelled_threads: &[4],
            native_threads: &[2],
            ways: &[
                Way::NONE,
                naive("naive 1+2+3", 16, PAPER),
                ours("resumed 1+2+3", 16, PAPER),
                ours("resumed 1+2+3+5+6", 16, &[1, 2, 3, 5, 6]),
                ours("resumed 1+2+5+6+7", 16, &[1, 2, 5, 6, 7]),
                naive("naive 1+2+5+6+7+8", 16, BEST),
                ours("resumed 1+2+5+6+7+8", 16, BEST),
            ],
            yardsticks: &[OVER_NONE, THROUGHPUT, MISSES],
            claims: &[],
            ..panel(Workload::SpidermanA, &[])
        },
    ]),
};
