//! §4.4, update performance: Figures 12 and 13, and the cold updates of the full paper.

use super::subjects::{B_PLUS, CSB, FILLS, P8, P8_CSB, P8_EXTERNAL, P8_INTERNAL, UPDATE_TREES};
use crate::experiment::{
    Axis, Body, Built, Claim, Experiment, Operation, Panel, Published, Scaled, Splits, Yardstick,
};
use crate::subject::Subject;

const OVER_B_PLUS: Yardstick = Yardstick::Speedup(B_PLUS);
const OVER_P8: Yardstick = Yardstick::Speedup(P8);
const PREFETCHING: &[Subject] = &[P8, P8_EXTERNAL, P8_INTERNAL];
/// Figure 12's trees, and those whose updates the paper speaks of but doesn't measure.
const AND_CSB: &[Subject] = &[B_PLUS, P8, P8_EXTERNAL, P8_INTERNAL, CSB, P8_CSB];
const COUNT: Scaled<usize> = Scaled::new(100_000, 1_000);
const SMALL_FILLS: &[usize] = &[60, 100];

const fn inserts(cold: bool) -> Operation {
    Operation::Insert { count: COUNT, cold }
}

const fn deletes(cold: bool) -> Operation {
    Operation::Remove { count: COUNT, cold }
}

const fn by_fill(
    name: &'static str,
    operation: Operation,
    series: &'static [Subject],
    yardsticks: &'static [Yardstick],
    claims: &'static [Claim],
) -> Panel {
    Panel {
        name,
        axis: Axis::FillPercent(Scaled::new(FILLS, SMALL_FILLS)),
        keys: Scaled::new(3_000_000, 30_000),
        fill_percent: 100,
        built: Built::Loaded,
        operation,
        series,
        yardsticks,
        claims,
    }
}

/// "All three perform roughly the same."
const ALIKE: Claim = Claim::everywhere(OVER_P8, &[P8_EXTERNAL, P8_INTERNAL], Published::About(1.0));

/// §6 gives 1.24 to 1.52 for all updates (§4.4 the lower end, at 100 %); §1 says that CSB+-Trees "perform
/// significantly worse on updates" than B+-Trees, citing their authors.
const FASTER: &[Claim] = &[
    Claim::everywhere(OVER_B_PLUS, PREFETCHING, Published::Within(1.24, 1.52)),
    ALIKE,
    Claim::everywhere(OVER_B_PLUS, &[CSB], Published::LessThan(1.0)),
];
const OVER_BOTH: &[Yardstick] = &[OVER_B_PLUS, OVER_P8];

pub(super) const FIG_12: Experiment = Experiment {
    name: "fig-12",
    title: "100K random inserts or deletes among 3M keys, by fill factor, warm",
    remarks: &[
        "A delete from a full p8 leaf moves 31 keys and 31 values on average, a delete from a B+ leaf 3 \
         and 3. The model moves one 4-byte lane a cycle (a load and a store on two memory units), which \
         takes 13 % of p8's delete at 100 % and is why it falls below 1.24.",
        "The paper measures no updates of CSB+-Trees; it cites their authors, whose simple variant allocates a \
         node group of just the nodes that are there, and a split copies the group. Ours are their full \
         CSB+-Trees, whose groups have room for all nodes: most updates touch one leaf, as in a B+-Tree, and gain \
         by the faster search. At 100 % of fill nearly every insert splits a node and moves its siblings: there \
         that order holds, and the more so the wider nodes are.",
    ],
    body: Body::Measured(&[
        by_fill("insert", inserts(false), AND_CSB, OVER_BOTH, FASTER),
        by_fill("delete", deletes(false), AND_CSB, OVER_BOTH, FASTER),
    ]),
};

const COLD: &[Claim] = &[Claim::everywhere(OVER_B_PLUS, PREFETCHING, Published::MoreThan(1.0)), ALIKE];

pub(super) const COLD_UPDATES: Experiment = Experiment {
    name: "cold-updates",
    title: "§4.4: Figure 12's inserts and deletes with the caches emptied before each",
    remarks: &[
        "The paper says that cold caches \"exhibit the same trends\" and shows it in its full version only: the \
         prefetching trees are alike, and faster than the B+-Tree.",
    ],
    body: Body::Measured(&[
        by_fill("insert", inserts(true), UPDATE_TREES, OVER_BOTH, COLD),
        by_fill("delete", deletes(true), UPDATE_TREES, OVER_BOTH, COLD),
    ]),
};

const ANY: Yardstick = Yardstick::SplitShare(Splits::Any);
const ONE: Yardstick = Yardstick::SplitShare(Splits::One);
const SEVERAL: Yardstick = Yardstick::SplitShare(Splits::Several);

pub(super) const FIG_13: Experiment = Experiment {
    name: "fig-13",
    title: "How many of 100K random inserts split nodes, by fill factor",
    remarks: &[],
    body: Body::Measured(&[by_fill(
        "",
        inserts(false),
        UPDATE_TREES,
        &[ANY, ONE, SEVERAL],
        &[
            Claim::between(60, 90, ANY, UPDATE_TREES, Published::AtMost(0.10)),
            Claim::at(100, SEVERAL, &[B_PLUS], Published::AtLeast(0.40)),
        ],
    )]),
};
