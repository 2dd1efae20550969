//! The trees' form: the analytical model's example and optimal width, space (§2.2), and Table 3.

use super::subjects::{B_PLUS, CSB, P2, P4, P8, P8_CSB, P16, SEARCH_TREES, SIZES};
use crate::error::Result;
use crate::experiment::{
    Axis, Body, Built, Claim, Experiment, Operation, Panel, Published, Scale, Scaled, Yardstick,
};
use crate::row::Row;
use crate::runner::Keys;
use crate::subject::Subject;
use core::ops::RangeInclusive;
use latchless::FillFactor;
use latchless_core::mem::line::LINE_BYTES;
use latchless_papers::pb_tree::analysis::{MemoryLatency, levels as levels_of};

/// Child pointers in a one-line node: 64 bytes of 4-byte keys and pointers (the paper's m).
const CHILDREN_PER_LINE: u64 = 8;
/// The sizes of trees over which the equation is averaged.
const TREE_KEYS: RangeInclusive<u64> = 1_000..=1_000_000_000;
const WIDEST_LINES: u64 = 32;

pub(super) const EQ_1: Experiment = Experiment {
    name: "eq-1",
    title: "Eq. 1: stall of a search by node width, and the width that minimises it",
    remarks: &[
        "Averaged over every whole number of keys from 10^3 to 10^9. The paper names these ends, and not \
         how its sizes are spaced; over powers of ten, where small trees weigh as much as large ones, the \
         optimum at B = 50 is 13.",
    ],
    body: Body::Computed { x_label: "lines per node", rows: equation_1 },
};

fn equation_1(_: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (bandwidth, stated) in [(15, 8.0), (50, 22.0)] {
        let latency = MemoryLatency { full_cycles: 10 * bandwidth, next_cycles: 10 };
        for width in 1..=WIDEST_LINES {
            let mean_cycles = latency.mean_stall_cycles(TREE_KEYS, width, CHILDREN_PER_LINE);
            rows.push(Row::new(format!("B = {bandwidth}"), width as f64, "mean stall, cycles", mean_cycles));
        }
        let best = latency.optimal_width_lines(TREE_KEYS, CHILDREN_PER_LINE, 2 * WIDEST_LINES);
        let optimum = Row::new("optimal width", bandwidth as f64, "lines", best as f64);
        rows.push(optimum.beside(Some(Published::Exactly(stated))));
    }
    Ok(rows)
}

pub(super) const FIG_2: Experiment = Experiment {
    name: "fig-2",
    title: "Fig. 2: stall of a search among 1,000 keys, by the form of the nodes",
    remarks: &[
        "Eq. (1) gives (a) and (c). In (b) nothing is prefetched, so both lines of each node are waited for, one \
         after the other.",
    ],
    body: Body::Computed { x_label: "lines per node", rows: figure_2 },
};

fn figure_2(_: Scale) -> Result<Vec<Row>> {
    const KEYS: u64 = 1_000;
    let paper = MemoryLatency::PAPER;
    let stall = |width: u64| paper.search_stall_cycles(KEYS, width, CHILDREN_PER_LINE);
    let waits = levels_of(KEYS, 2 * CHILDREN_PER_LINE) * 2 * paper.full_cycles;
    let rows = [
        ("(a) one line", 1, stall(1), 600.0),
        ("(b) two lines", 2, waits, 900.0),
        ("(c) two, prefetched", 2, stall(2), 480.0),
    ];
    let row = |(series, width, cycles, published): (&'static str, u64, u64, f64)| {
        Row::new(series, width as f64, "stall, cycles", cycles as f64)
            .beside(Some(Published::Exactly(published)))
    };
    Ok(rows.into_iter().map(row).collect())
}

pub(super) const SPACE: Experiment = Experiment {
    name: "space",
    title: "§2.2: memory of full trees by the width of their nodes",
    remarks: &[
        "\"The space overhead of the index is strictly reduced with wider nodes\", and that of non-leaf nodes \
         decreases nearly linearly: twice the width, half the space. Counted are nodes in use.",
    ],
    body: Body::Computed { x_label: "lines per node", rows: space },
};

fn space(scale: Scale) -> Result<Vec<Row>> {
    let keys = Keys::new(if scale == Scale::Paper { 3_000_000 } else { 30_000 });
    let mut rows: Vec<Row> = Vec::new();
    let mut narrower: Option<[f64; 2]> = None;
    for (tree, width) in [(B_PLUS, 1), (P2, 2), (P4, 4), (P8, 8), (P16, 16)] {
        let mut index = tree.make_native()?;
        index.bulk_load(keys.entries(), FillFactor::FULL)?;
        let stats = index.stats().unwrap_or_default();
        let a_key = |nodes: usize| (nodes * width * LINE_BYTES) as f64 / keys.entries().len() as f64;
        let space = [a_key(stats.leaves + stats.inner_nodes), a_key(stats.inner_nodes)];
        let row = |unit: &str, ours: f64| Row::new(tree.name(), width as f64, unit, ours);
        rows.push(row("bytes/key", space[0]));
        rows.push(row("bytes of non-leaf nodes/key", space[1]));
        if let Some([all, inner]) = narrower {
            let (less, half) = (Published::LessThan(1.0), Published::About(0.5));
            rows.push(row("bytes, times those of half the width", space[0] / all).beside(Some(less)));
            let unit = "bytes of non-leaf nodes, times those of half the width";
            rows.push(row(unit, space[1] / inner).beside(Some(half)));
        }
        narrower = Some(space);
    }
    Ok(rows.into_iter().map(|row| row.comparable(scale)).collect())
}

const SMALL_SIZES: &[usize] = &[10_000, 30_000, 100_000];

pub(super) const TABLE_3: Experiment = Experiment {
    name: "table-3",
    title: "Levels of each tree after bulk-loading 10K to 10M keys at 100 %",
    remarks: &[],
    body: Body::Measured(&[Panel {
        name: "",
        axis: Axis::Keys(Scaled::new(SIZES, SMALL_SIZES)),
        keys: Scaled::same(0),
        fill_percent: 100,
        built: Built::Loaded,
        operation: Operation::Load,
        series: SEARCH_TREES,
        yardsticks: &[Yardstick::Levels],
        claims: &LEVELS,
    }]),
};

const fn levels(x: usize, series: &'static [Subject], levels: usize) -> Claim {
    Claim::at(x, Yardstick::Levels, series, Published::Exactly(levels as f64))
}

/// Table 3 as printed: a row a tree, a column a size.
const PRINTED: [(&[Subject], [usize; 7]); 7] = [
    (&[B_PLUS], [5, 6, 6, 7, 7, 8, 8]),
    (&[CSB], [4, 5, 5, 5, 6, 6, 7]),
    (&[P2], [4, 4, 5, 5, 6, 6, 6]),
    (&[P4], [3, 3, 4, 4, 4, 5, 5]),
    (&[P8], [3, 3, 3, 4, 4, 4, 4]),
    (&[P16], [2, 3, 3, 3, 3, 4, 4]),
    (&[P8_CSB], [3, 3, 3, 3, 3, 4, 4]),
];

static LEVELS: [Claim; 49] = claims();

const fn claims() -> [Claim; 49] {
    let mut claims = [levels(0, &[B_PLUS], 0); 49];
    let mut cell = 0;
    while cell < 49 {
        let (series, printed) = PRINTED[cell / 7];
        claims[cell] = levels(SIZES[cell % 7], series, printed[cell % 7]);
        cell += 1;
    }
    claims
}
