//! §3.2, §6.1 and §6.2, by processors: Eq. (1), Figures 7 and 8.

use super::analysis::coherence_miss_probability;
use super::subjects::{KEYS, NODE_BYTES, PROCESSORS, b_plus, csb_plus};
use crate::experiment::{
    Body, Claim, Experiment, ParallelAxis, ParallelPanel, ParallelYardstick, Processors, Published, Scaled,
    Setting,
};
use crate::subject::Subject;

const THROUGHPUT: ParallelYardstick = ParallelYardstick::Throughput;
const OVER_ALONE: ParallelYardstick = ParallelYardstick::OverOwnAt(1);
const OVER_HALF: ParallelYardstick = ParallelYardstick::OverOwnAtHalf;
const MISSES: ParallelYardstick = ParallelYardstick::Misses;
const COHERENCE: ParallelYardstick = ParallelYardstick::CoherenceMisses;
const WAITS: ParallelYardstick = ParallelYardstick::WaitShare;
const PER_VISIT: ParallelYardstick = ParallelYardstick::CoherenceMissesPerVisit;

/// Processors that the paper has: its claims end there.
const MOST: usize = 8;
const SIMILAR: Published = Published::About(1.0);
const BETTER: Published = Published::MoreThan(1.0);
const WORSE: Published = Published::LessThan(1.0);

const AXIS: ParallelAxis = ParallelAxis::Processors { model: PROCESSORS, native: &[1, 2] };
/// For each processor, after as many to fill its caches.
const OPERATIONS: Scaled<usize> = Scaled::new(25_000, 300);
const UNUSED: Processors = Processors { model: 0, native: 0 };

/// The equation's number is the least: see the remark.
const fn latched(processors: usize) -> Claim<ParallelYardstick> {
    let probability = coherence_miss_probability(processors);
    Claim::at(processors, PER_VISIT, &[b_plus::LC], Published::AtLeast(probability))
}

pub(super) const EQ_1: Experiment = Experiment {
    name: "eq-1",
    title: "Eq. 1: coherence misses when every node is latched, in a tree that all caches hold",
    remarks: &[
        "Lock coupling latches every node that a search visits, which is what the equation assumes; OLFIT \
         latches none. The tree is small, so that no cache is short of room, as the equation assumes too. \
         It counts one write a visit, and no waiting. Here a visit writes to the node twice, to latch and to \
         unlatch it, and misses again if another processor came in between or was waited for, as happens \
         near the root: so the equation's number is the least.",
    ],
    body: Body::Parallel(&[ParallelPanel {
        name: "",
        axis: AXIS,
        keys: Scaled::same(10_000),
        processors: UNUSED,
        updates_percent: 0,
        node_bytes: NODE_BYTES,
        setting: Setting::PLAIN,
        operations: Scaled::new(20_000, 500),
        series: &[b_plus::LC, b_plus::OL],
        yardsticks: &[PER_VISIT, COHERENCE, MISSES],
        claims: &[latched(2), latched(4), latched(MOST)],
    }]),
};

/// Figure 7 for one of the two trees: the schemes that are similar to no concurrency control, and the
/// speed of the fastest one on eight processors.
macro_rules! searches {
    ($name:literal, $tree:ident, $claims:expr) => {
        ParallelPanel {
            name: $name,
            axis: AXIS,
            keys: KEYS,
            processors: UNUSED,
            updates_percent: 0,
            node_bytes: NODE_BYTES,
            setting: Setting::PLAIN,
            operations: OPERATIONS,
            series: &[$tree::NO, $tree::OL, $tree::VN, $tree::VT, $tree::TL, $tree::LC],
            yardsticks: &[
                THROUGHPUT,
                OVER_ALONE,
                MISSES,
                COHERENCE,
                WAITS,
                ParallelYardstick::Over($tree::NO),
                ParallelYardstick::Over($tree::LC),
            ],
            claims: $claims,
        }
    };
}

/// The paper's statements on both trees in Figure 7.
macro_rules! claims_of_searches {
    ($tree:ident) => {
        &[
            Claim::between(
                1,
                MOST,
                ParallelYardstick::Over($tree::NO),
                &[$tree::OL, $tree::VN, $tree::VT],
                SIMILAR,
            ),
            Claim::between(2, MOST, ParallelYardstick::Over($tree::NO), &[$tree::TL, $tree::LC], WORSE),
            Claim::between(
                2,
                MOST,
                ParallelYardstick::Over($tree::LC),
                &[$tree::NO, $tree::OL, $tree::VN, $tree::VT, $tree::TL],
                BETTER,
            ),
        ]
    };
}

pub(super) const FIG_7: Experiment = Experiment {
    name: "fig-7",
    title: "Searches among 10M keys, by processors",
    remarks: &[
        "The paper's eight processors are the first four rows. Those beyond are on a machine with as many \
         of the same processors and a memory system that keeps up with them.",
    ],
    body: Body::Parallel(&[
        searches!("B+-Tree", b_plus, claims_of_searches!(b_plus)),
        searches!("CSB+-Tree", csb_plus, claims_of_searches!(csb_plus)),
    ]),
};

/// "Almost linear scalability" (§1): nine tenths of as many times the throughput as there are processors.
const fn almost_linear(processors: usize) -> f64 {
    0.9 * processors as f64
}

/// OLFIT scales almost linearly.
const fn scales(processors: usize, olfit: &'static [Subject]) -> Claim<ParallelYardstick> {
    Claim::at(processors, OVER_ALONE, olfit, Published::AtLeast(almost_linear(processors)))
}

/// Figure 8 of one of the two trees.
macro_rules! updates {
    ($name:literal, $tree:ident) => {
        ParallelPanel {
            name: $name,
            axis: AXIS,
            keys: KEYS,
            processors: UNUSED,
            updates_percent: 100,
            node_bytes: NODE_BYTES,
            setting: Setting::PLAIN,
            operations: OPERATIONS,
            series: &[$tree::OL, $tree::OL_AT_ONCE, $tree::LC, $tree::TL, $tree::VN, $tree::VT],
            yardsticks: &[
                THROUGHPUT,
                OVER_ALONE,
                MISSES,
                COHERENCE,
                WAITS,
                OVER_HALF,
                ParallelYardstick::Over($tree::OL),
                ParallelYardstick::Over($tree::VT),
            ],
            claims: &[
                Claim::between(
                    2,
                    MOST,
                    ParallelYardstick::Over($tree::OL),
                    &[$tree::LC, $tree::TL, $tree::VN, $tree::VT],
                    WORSE,
                ),
                Claim::between(2, MOST, ParallelYardstick::Over($tree::VT), &[$tree::VN], BETTER),
                // "The only scheme that shows almost linear scalability" (§1) on the paper's processors.
                scales(2, &[$tree::OL]),
                scales(4, &[$tree::OL]),
                scales(MOST, &[$tree::OL]),
                Claim::at(
                    MOST,
                    OVER_ALONE,
                    &[$tree::LC, $tree::TL, $tree::VN, $tree::VT],
                    Published::LessThan(almost_linear(MOST)),
                ),
                // "Increases slowly as the number of threads increases", and "degrades" (§6.2): at each step.
                Claim::between(2, MOST, OVER_HALF, &[$tree::LC, $tree::VN], BETTER),
                Claim::between(2, MOST, OVER_HALF, &[$tree::TL, $tree::VT], WORSE),
            ],
        }
    };
}

pub(super) const FIG_8: Experiment = Experiment {
    name: "fig-8",
    title: "Half inserts, half deletes among 10M keys, by processors",
    remarks: &[
        "`ol-at-once` isn't in the paper: OLFIT whose emptied nodes are used again at once instead of \
         waiting in the collector of §5.3.",
    ],
    body: Body::Parallel(&[updates!("B+-Tree", b_plus), updates!("CSB+-Tree", csb_plus)]),
};
