//! The statements of §6 on other settings than its figures': inserts alone, non-unique indexes; the effect
//! of the one calibrated number; and OLFIT beyond the paper, under skew and on several NUMA nodes.

use super::subjects::{KEYS, NODE_BYTES, b_plus, csb_plus};
use crate::experiment::{
    Body, Claim, Experiment, ParallelAxis, ParallelPanel, ParallelYardstick, Processors, Published, Scaled,
    Setting,
};
use crate::subject::Subject;

const THROUGHPUT: ParallelYardstick = ParallelYardstick::Throughput;
const MISSES: ParallelYardstick = ParallelYardstick::Misses;
const COHERENCE: ParallelYardstick = ParallelYardstick::CoherenceMisses;
const WAITS: ParallelYardstick = ParallelYardstick::WaitShare;

const B_PLUS: &[Subject] = &[b_plus::OL, b_plus::LC, b_plus::TL, b_plus::VN, b_plus::VT];
const CSB_PLUS: &[Subject] = &[csb_plus::OL, csb_plus::LC, csb_plus::TL, csb_plus::VN, csb_plus::VT];
/// For experiments without a number of the paper: a tree that still is larger than the caches.
const FEWER_KEYS: Scaled<usize> = Scaled::new(1_000_000, 50_000);
/// The paper's processors, and as many threads as this machine has.
const EIGHT: Processors = Processors { model: 8, native: 2 };

const fn panel(
    name: &'static str,
    axis: ParallelAxis,
    updates_percent: usize,
    series: &'static [Subject],
    yardsticks: &'static [ParallelYardstick],
) -> ParallelPanel {
    ParallelPanel {
        name,
        axis,
        keys: KEYS,
        processors: EIGHT,
        updates_percent,
        node_bytes: NODE_BYTES,
        setting: Setting::PLAIN,
        operations: Scaled::new(25_000, 300),
        series,
        yardsticks,
        claims: &[],
    }
}

const fn fewer(panel: ParallelPanel) -> ParallelPanel {
    ParallelPanel { keys: FEWER_KEYS, ..panel }
}

const INSERTS_AXIS: ParallelAxis = ParallelAxis::InsertsPercent(&[50, 100]);
const OVER_HALF: ParallelYardstick = ParallelYardstick::OverOwnAt(50);
const HALF: &[ParallelYardstick] = &[THROUGHPUT, OVER_HALF, MISSES, WAITS];

pub(super) const INSERTS: Experiment = Experiment {
    name: "inserts",
    title: "Inserts alone beside half inserts, half deletes, among 10M keys, on eight processors",
    remarks: &[
        "The paper ran both and shows one: the graph of inserts alone is \"very similar\". So each scheme is \
         compared with itself.",
    ],
    body: Body::Parallel(&[
        ParallelPanel {
            claims: &[Claim::at(100, OVER_HALF, B_PLUS, Published::About(1.0))],
            ..panel("B+-Tree", INSERTS_AXIS, 100, B_PLUS, HALF)
        },
        ParallelPanel {
            claims: &[Claim::at(100, OVER_HALF, CSB_PLUS, Published::About(1.0))],
            ..panel("CSB+-Tree", INSERTS_AXIS, 100, CSB_PLUS, HALF)
        },
    ]),
};

const DUPLICATES_AXIS: ParallelAxis = ParallelAxis::Duplicates(&[0, 1]);
const OVER_UNIQUE: &[ParallelYardstick] = &[THROUGHPUT, ParallelYardstick::OverOwnAt(0), MISSES, WAITS];

pub(super) const DUPLICATES: Experiment = Experiment {
    name: "duplicates",
    title: "Unique and non-unique indexes of 1M keys, half of the operations updates, on eight processors",
    remarks: &[
        "The paper's indexes are non-unique ones. The figures here are of unique ones, which know every answer \
         beforehand; this says what that changes. No key is there twice in either.",
    ],
    body: Body::Parallel(&[
        fewer(panel("B+-Tree", DUPLICATES_AXIS, 50, B_PLUS, OVER_UNIQUE)),
        fewer(panel("CSB+-Tree", DUPLICATES_AXIS, 50, CSB_PLUS, OVER_UNIQUE)),
    ]),
};

const TRANSLATION_AXIS: ParallelAxis = ParallelAxis::TranslationCycles(&[0, 36, 72]);
const SEARCHED: &[Subject] = &[b_plus::NO, b_plus::OL, b_plus::TL, b_plus::LC];
const OVER_KEPT: &[ParallelYardstick] = &[
    THROUGHPUT,
    ParallelYardstick::OverOwnAt(72),
    ParallelYardstick::Over(b_plus::NO),
    ParallelYardstick::TranslationMisses,
];

pub(super) const TRANSLATION: Experiment = Experiment {
    name: "translation",
    title: "Searches by what a translation costs that isn't at hand: the model's one calibrated number",
    remarks: &[
        "The number is chosen, not published: 72 clocks let NO's curve of one processor end where Figure 9's \
         axis does, at 500 thousand operations a second. What it decides is how fast everything is; the \
         orders and the scaling to eight processors don't depend on it.",
    ],
    body: Body::Parallel(&[
        ParallelPanel {
            processors: Processors { model: 1, native: 1 },
            operations: Scaled::new(100_000, 1_000),
            ..panel("one processor", TRANSLATION_AXIS, 0, SEARCHED, OVER_KEPT)
        },
        panel("eight processors", TRANSLATION_AXIS, 0, SEARCHED, OVER_KEPT),
    ]),
};

const BUS_AXIS: ParallelAxis = ParallelAxis::BusCycles(&[8, 12, 16, 24]);
const COPIED: &[Subject] = &[csb_plus::TL, csb_plus::VN];
const BESIDE_TL: &[ParallelYardstick] = &[THROUGHPUT, ParallelYardstick::Over(csb_plus::TL), MISSES, WAITS];

pub(super) const BUS: Experiment = Experiment {
    name: "bus",
    title: "VN beside TL in the CSB+-Tree on eight processors, by what a line takes on the bus",
    remarks: &[
        "Why VN doesn't fall below TL in Figure 10 (b) on the model: it copies a node group an update, some fifty \
         lines that cross the bus, and that is all that bounds it; TL has one update at a time. So what \
         decides which is ahead is the bus. The model's carries a line in 8 clocks, the peak of the paper's \
         machine; no machine sustains its peak.",
    ],
    body: Body::Parallel(&[
        panel("half updates", BUS_AXIS, 50, COPIED, BESIDE_TL),
        panel("updates alone", BUS_AXIS, 100, COPIED, BESIDE_TL),
    ]),
};

const HOT_AXIS: ParallelAxis = ParallelAxis::HotPercent(&[0, 50, 80, 95]);
const OVER_UNIFORM: &[ParallelYardstick] =
    &[THROUGHPUT, ParallelYardstick::OverOwnAt(0), MISSES, COHERENCE, WAITS];
const MANY: Processors = Processors { model: 64, native: 2 };

pub(super) const SKEW: Experiment = Experiment {
    name: "skew",
    title: "Half of the operations updates, by how many of them go to 1 % of 1M keys",
    remarks: &[
        "Not in the paper. The hot keys are neighbours, so they share leaves: skew brings their leaves into \
         every cache, and lets processors meet there.",
    ],
    body: Body::Parallel(&[
        fewer(panel("B+-Tree, eight processors", HOT_AXIS, 50, B_PLUS, OVER_UNIFORM)),
        fewer(panel("CSB+-Tree, eight processors", HOT_AXIS, 50, CSB_PLUS, OVER_UNIFORM)),
        ParallelPanel {
            processors: MANY,
            operations: Scaled::new(3_000, 100),
            ..fewer(panel(
                "B+-Tree, 64 processors",
                HOT_AXIS,
                50,
                &[b_plus::OL, b_plus::LC, b_plus::VN],
                OVER_UNIFORM,
            ))
        },
    ]),
};

const NODES_AXIS: ParallelAxis = ParallelAxis::Nodes(&[1, 2, 4, 8]);
const OVER_ONE_NODE: &[ParallelYardstick] =
    &[THROUGHPUT, ParallelYardstick::OverOwnAt(1), COHERENCE, ParallelYardstick::RemoteMisses, WAITS];
const ON_NODES: &[Subject] = &[b_plus::OL, b_plus::LC, b_plus::TL, b_plus::VN];

const fn on_nodes(name: &'static str, updates_percent: usize) -> ParallelPanel {
    ParallelPanel {
        processors: Processors { model: 32, native: 2 },
        operations: Scaled::new(6_000, 100),
        ..fewer(panel(name, NODES_AXIS, updates_percent, ON_NODES, OVER_ONE_NODE))
    }
}

pub(super) const NODES: Experiment = Experiment {
    name: "nodes",
    title: "32 processors and 1M keys on one to eight NUMA nodes",
    remarks: &[
        "Not in the paper. Each node has a memory and a bus of its own, and what another node has comes 100 \
         clocks later. Lines lie on the node that touched them first. On one node 32 processors have an \
         Enterprise 10000's four buses, on two nodes as well; from four nodes on each has a single one.",
    ],
    body: Body::Parallel(&[on_nodes("search", 0), on_nodes("update", 100)]),
};
