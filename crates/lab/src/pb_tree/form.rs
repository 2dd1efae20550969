//! The trees' form: the analytical model's optimal width, and Table 3.

use super::{B_PLUS, CSB, P2, P4, P8, P8_CSB, P16, SEARCH_TREES, SIZES};
use crate::error::Result;
use crate::experiment::{
    Axis, Body, Built, Claim, Experiment, Operation, Panel, Published, Scale, Scaled, Yardstick,
};
use crate::row::Row;
use crate::subject::Subject;
use core::ops::RangeInclusive;
use latchless_papers::pb_tree::analysis::MemoryLatency;

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
