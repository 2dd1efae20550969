//! §6.3, throughput by the share of updates: Figures 9 and 10; and by the size of nodes: Figure 6.

use super::subjects::{KEYS, NODE_BYTES, UPDATES, b_plus, csb_plus};
use crate::experiment::{
    Body, Claim, Experiment, ParallelAxis, ParallelPanel, ParallelYardstick, Processors, Published, Scaled,
    Setting,
};
use crate::model::{Branches, Change, Depends};
use crate::subject::Subject;

const THROUGHPUT: ParallelYardstick = ParallelYardstick::Throughput;
const MISSES: ParallelYardstick = ParallelYardstick::Misses;
const COHERENCE: ParallelYardstick = ParallelYardstick::CoherenceMisses;
const WAITS: ParallelYardstick = ParallelYardstick::WaitShare;

const SIMILAR: Published = Published::About(1.0);
const WORSE: Published = Published::LessThan(1.0);
const SLIGHTLY_BETTER: Published = Published::Within(1.0, 1.25);

const AXIS: ParallelAxis = ParallelAxis::UpdatesPercent(UPDATES);

/// Figure 9 of one of the two trees.
macro_rules! alone {
    ($name:literal, $tree:ident) => {
        ParallelPanel {
            name: $name,
            axis: AXIS,
            keys: KEYS,
            processors: Processors { model: 1, native: 1 },
            updates_percent: 0,
            node_bytes: NODE_BYTES,
            setting: Setting::PLAIN,
            operations: Scaled::new(100_000, 1_000),
            series: &[$tree::NO, $tree::TL, $tree::OL, $tree::LC, $tree::VN, $tree::VT],
            yardsticks: &[
                THROUGHPUT,
                MISSES,
                ParallelYardstick::Over($tree::NO),
                ParallelYardstick::Over($tree::OL),
                ParallelYardstick::Over($tree::TL),
            ],
            claims: &[
                Claim::everywhere(ParallelYardstick::Over($tree::NO), &[$tree::OL, $tree::TL], SIMILAR),
                Claim::at(0, ParallelYardstick::Over($tree::NO), &[$tree::VN, $tree::VT], SIMILAR),
                Claim::everywhere(ParallelYardstick::Over($tree::OL), &[$tree::LC], WORSE),
                Claim::everywhere(ParallelYardstick::Over($tree::TL), &[$tree::LC], WORSE),
            ],
        }
    };
}

pub(super) const FIG_9: Experiment = Experiment {
    name: "fig-9",
    title: "One processor, by the share of updates",
    remarks: &[
        "That VN and VT fall below TL beyond 20 % of updates ends the paragraph on eight threads and on the \
         splits of the CSB+-Tree, and stands beside Figure 10. Of one thread the paper says that they drop \
         sharply, without a number: Figure 9's last claims are those of no updates.",
    ],
    body: Body::Parallel(&[alone!("B+-Tree", b_plus), alone!("CSB+-Tree", csb_plus)]),
};

/// Figure 10 of one of the two trees.
macro_rules! eight {
    ($name:literal, $tree:ident, $($beside_tree_latch:expr),+) => {
        ParallelPanel {
            name: $name,
            axis: AXIS,
            keys: KEYS,
            processors: Processors { model: 8, native: 2 },
            updates_percent: 0,
            node_bytes: NODE_BYTES,
            setting: Setting::PLAIN,
            operations: Scaled::new(25_000, 300),
            series: &[$tree::OL, $tree::LC, $tree::TL, $tree::VN, $tree::VT],
            yardsticks: &[
                THROUGHPUT,
                MISSES,
                COHERENCE,
                WAITS,
                ParallelYardstick::Over($tree::OL),
                ParallelYardstick::Over($tree::TL),
            ],
            claims: &[
                Claim::at(0, ParallelYardstick::Over($tree::OL), &[$tree::VN, $tree::VT], SIMILAR),
                Claim::between(
                    10,
                    100,
                    ParallelYardstick::Over($tree::OL),
                    &[$tree::LC, $tree::TL, $tree::VN, $tree::VT],
                    WORSE,
                ),
                $($beside_tree_latch),+
            ],
        }
    };
}

pub(super) const FIG_10: Experiment = Experiment {
    name: "fig-10",
    title: "Eight processors, two natively, by the share of updates",
    remarks: &[
        "Of the B+-Tree the paper says that VT is slightly better than TL, approaches it with more updates \
         and crosses it at last; of the CSB+-Tree that VN and VT are worse than TL beyond 20 % of updates.",
        "On the model VN never falls below TL in the CSB+-Tree: there TL collapses further, since eight \
         processors wait for one latch, than VN's copies of whole groups slow it down. Those copies fill the \
         bus: `bus` has a slower one, on which VN falls below TL. Natively, with two processors, both cross at \
         20 %, as in the paper.",
    ],
    body: Body::Parallel(&[
        eight!(
            "B+-Tree",
            b_plus,
            // "Slightly better than TL", and crosses it "as the update ratio further increases" (§6.3).
            Claim::between(10, 20, ParallelYardstick::Over(b_plus::TL), &[b_plus::VT], SLIGHTLY_BETTER),
            Claim::at(100, ParallelYardstick::Over(b_plus::TL), &[b_plus::VT], WORSE)
        ),
        eight!(
            "CSB+-Tree",
            csb_plus,
            Claim::between(
                30,
                100,
                ParallelYardstick::Over(csb_plus::TL),
                &[csb_plus::VN, csb_plus::VT],
                WORSE
            )
        ),
    ]),
};

const BEST_BYTES: usize = NODE_BYTES;
const OVER_BEST: ParallelYardstick = ParallelYardstick::OverOwnAt(BEST_BYTES);

const BOTH: &[Subject] = &[b_plus::OL, csb_plus::OL];
const WITH_AND_WITHOUT: &[Subject] =
    &[b_plus::OL, b_plus::OL_PREFETCHED, csb_plus::OL, csb_plus::OL_PREFETCHED];
const BEST: &[Claim<ParallelYardstick>] = &[
    Claim::at(64, OVER_BEST, BOTH, WORSE),
    Claim::between(BEST_BYTES + 1, usize::MAX, OVER_BEST, BOTH, WORSE),
];

const fn by_node_bytes(name: &'static str, updates_percent: usize) -> ParallelPanel {
    ParallelPanel {
        name,
        axis: ParallelAxis::NodeBytes(&[64, 128, 256, 384, 512]),
        keys: KEYS,
        processors: Processors { model: 8, native: 2 },
        updates_percent,
        node_bytes: 0,
        setting: Setting { inserts_alone: true, ..Setting::PLAIN },
        operations: Scaled::new(25_000, 300),
        series: WITH_AND_WITHOUT,
        yardsticks: &[THROUGHPUT, OVER_BEST, MISSES, COHERENCE],
        claims: BEST,
    }
}

pub(super) const FIG_6: Experiment = Experiment {
    name: "fig-6",
    title: "OLFIT on eight processors, two natively, by the size of nodes",
    remarks: &[
        "The paper's reason for 128 bytes: in nodes that are 70 % full a search often needs only the first line. \
         `b-ol-prefetched` and `csb-ol-prefetched` aren't in the paper: their descents prefetch all lines of a \
         node before they read the first one, as a pB+-Tree's do, and larger nodes are then better.",
    ],
    body: Body::Parallel(&[by_node_bytes("search", 0), by_node_bytes("insert", 100)]),
};

/// Processors that reorder and predict request a node's lines in parallel.
const REORDERED: Change = Change::Reordered(Branches::HalfGuessed, Depends::OnLastLine, 256);

const fn changed(name: &'static str, updates_percent: usize, change: Change) -> ParallelPanel {
    ParallelPanel {
        axis: ParallelAxis::NodeBytes(&[64, 128, 256, 512]),
        keys: Scaled::new(1_000_000, 50_000),
        processors: Processors { model: 1, native: 1 },
        setting: Setting { change, inserts_alone: true, ..Setting::PLAIN },
        series: BOTH,
        yardsticks: &[THROUGHPUT, OVER_BEST, MISSES],
        claims: &[],
        ..by_node_bytes(name, updates_percent)
    }
}

/// Figure 6 on a machine on which every translation is at hand.
const FREE_TRANSLATIONS: ParallelPanel = ParallelPanel {
    axis: ParallelAxis::NodeBytes(&[64, 128, 256, 512]),
    setting: Setting { translation_cycles: Some(0), ..Setting::PLAIN },
    series: BOTH,
    yardsticks: &[THROUGHPUT, OVER_BEST, MISSES, ParallelYardstick::TranslationMisses],
    claims: &[],
    ..by_node_bytes("search, eight processors and 10M keys, translations free", 0)
};

pub(super) const NODE_SIZES: Experiment = Experiment {
    name: "node-sizes",
    title: "Figure 6 on the paper's machine and on one whose processor reorders and guesses branches; 1M keys, alone",
    remarks: &[
        "The paper's processors do everything in order: a search in a node waits for one line after the other. \
         A processor that guesses every other branch, and has 256 instructions in flight, requests several.",
        "A larger node saves a level, and with it a translation. What a missing one costs is the model's one \
         calibrated number: the last panel is Figure 6's search without it.",
    ],
    body: Body::Parallel(&[
        changed("search, in order", 0, Change::Nothing),
        changed("search, reordered", 0, REORDERED),
        changed("insert, in order", 100, Change::Nothing),
        changed("insert, reordered", 100, REORDERED),
        FREE_TRANSLATIONS,
    ]),
};

/// The cost of reading without a latch, one component after the other.
macro_rules! readers {
    ($name:literal, $tree:ident, $updates_percent:literal) => {
        ParallelPanel {
            name: $name,
            axis: ParallelAxis::NodeBytes(&[NODE_BYTES]),
            keys: Scaled::new(2_000_000, 50_000),
            processors: Processors { model: 1, native: 1 },
            updates_percent: $updates_percent,
            node_bytes: NODE_BYTES,
            setting: Setting::PLAIN,
            operations: Scaled::new(100_000, 1_000),
            series: &[$tree::NO, $tree::VT, $tree::VN, $tree::OL_AT_ONCE, $tree::OL],
            yardsticks: &[THROUGHPUT, ParallelYardstick::Over($tree::NO)],
            claims: &[],
        }
    };
}

pub(super) const READERS: Experiment = Experiment {
    name: "readers",
    title: "What OLFIT costs one thread among 2M keys: without versions, with an epoch, with versions, with both",
    remarks: &[
        "NO has neither. VT's and VN's searches enter an epoch and read no version. `ol-at-once` reads \
         versions and fences, and enters no epoch. OL does both.",
    ],
    body: Body::Parallel(&[
        readers!("B+-Tree, searches", b_plus, 0),
        readers!("B+-Tree, updates", b_plus, 100),
        readers!("CSB+-Tree, searches", csb_plus, 0),
    ]),
};
