//! §4.3, range scan performance: Figures 10 and 11.

use super::subjects::{B_PLUS, FILLS, P8, P8_EXTERNAL, P8_INTERNAL, SCAN_TREES};
use crate::error::Result;
use crate::experiment::{
    Axis, Body, Built, Case, Claim, Experiment, Operation, Outcome, Panel, Published, Scale, Scaled, Task,
    Yardstick,
};
use crate::on::On;
use crate::row::Row;
use crate::runner::{Entrant, Keys, run_entrants};
use crate::subject::{Index, Subject};
use latchless_papers::pb_tree::{Member, Options, build};

const OVER_B_PLUS: Yardstick = Yardstick::Speedup(B_PLUS);
const OVER_P8: Yardstick = Yardstick::Speedup(P8);
const OVER_INTERNAL: Yardstick = Yardstick::Speedup(P8_INTERNAL);
const GROWTH: Yardstick = Yardstick::Growth(B_PLUS);
const PREFETCHING: &[Subject] = &[P8, P8_EXTERNAL, P8_INTERNAL];
const JUMPING: &[Subject] = &[P8_EXTERNAL, P8_INTERNAL];
const KEYS: Scaled<usize> = Scaled::new(3_000_000, 30_000);

const LENGTHS: &[usize] = &[10, 100, 1_000, 10_000, 100_000, 1_000_000];
const SMALL_LENGTHS: &[usize] = &[10, 100, 1_000];
const SMALL_FILLS: &[usize] = &[60, 100];

const fn scans(segments: Scaled<usize>, entries: Scaled<usize>) -> Operation {
    Operation::Scan { starts: Scaled::new(100, 10), segments, entries }
}

/// Scans of 1K to 1M entries in full trees, "Figure 10": 6.5 to 8.7 with jump pointers, 3.5 to 3.7 without.
const FULL: [Published; 2] = [Published::Within(6.5, 8.7), Published::Within(3.5, 3.7)];
/// Jump pointers' part of that is "roughly 2": the paper's own 6.5 to 8.7 over its 3.5 to 3.7.
const ROUGHLY_TWO: Published = Published::Within(1.8, 2.5);

/// The numbers are those of full trees; "as the bulkload factor decreases [...] our prefetching schemes
/// achieve even larger speedups".
const BY_FILL: &[Claim] = &[
    Claim::at(100, OVER_B_PLUS, JUMPING, FULL[0]),
    Claim::at(100, OVER_B_PLUS, &[P8], FULL[1]),
    Claim::at(100, OVER_P8, JUMPING, ROUGHLY_TWO),
    Claim::between(60, 90, GROWTH, PREFETCHING, Published::MoreThan(1.0)),
];

const fn by_fill(name: &'static str, operation: Operation) -> Panel {
    Panel {
        name,
        axis: Axis::FillPercent(Scaled::new(FILLS, SMALL_FILLS)),
        keys: KEYS,
        fill_percent: 100,
        built: Built::Scattered,
        operation,
        series: SCAN_TREES,
        yardsticks: &[OVER_B_PLUS, OVER_P8, OVER_INTERNAL, GROWTH],
        claims: BY_FILL,
    }
}

pub(super) const FIG_10: Experiment = Experiment {
    name: "fig-10",
    title: "Range scans from 100 random keys among 3M, by length and by fill factor, cold",
    remarks: &[
        "Every scan uses jump pointers, for the next three leaves and all their lines, as in the \
         paper. Natively leaves are in random places, because the paper's machine has no prefetcher \
         that follows neighbours; `neighbours` has loads whose leaves are beside each other.",
        "At 10 entries the paper calls p8 slightly faster and p8e and p8i slower. Most of such a scan \
         is the cold search before it, in which p8 is 1.6 times as fast (1.32 to 1.55 in the paper's \
         own Figure 7); useless prefetches keep memory busy while the next search begins, but not for \
         that long.",
        "At 1,000 entries (16 leaves) a cold search of 830 cycles and the start-up come first, and \
         then 2.8 cycles an entry, the price that makes the B+-Tree stall for 84 % of its scan. So \
         the model's p8e and p8i stay below the paper's 6.5 there. Longer scans lie inside the band.",
        "p8e pays for prefetching two chunks of its jump-pointer array at the start, p8i for one \
         node.",
    ],
    body: Body::Measured(&[
        Panel {
            name: "length",
            axis: Axis::Entries(Scaled::new(LENGTHS, SMALL_LENGTHS)),
            keys: KEYS,
            fill_percent: 100,
            built: Built::Scattered,
            operation: scans(Scaled::same(1), Scaled::same(0)),
            series: SCAN_TREES,
            yardsticks: &[OVER_B_PLUS, OVER_P8, OVER_INTERNAL],
            claims: &[
                Claim::between(1_000, 1_000_000, OVER_B_PLUS, JUMPING, FULL[0]),
                Claim::between(1_000, 1_000_000, OVER_B_PLUS, &[P8], FULL[1]),
                Claim::at(100, OVER_B_PLUS, PREFETCHING, Published::About(2.0)),
                Claim::at(10, OVER_B_PLUS, &[P8], Published::MoreThan(1.0)),
                Claim::at(10, OVER_B_PLUS, JUMPING, Published::LessThan(1.0)),
                Claim::between(1_000, 1_000_000, OVER_P8, JUMPING, ROUGHLY_TWO),
                // "Nearly identical performance", of the scans that are six to eight times as fast.
                Claim::between(1_000, 1_000_000, OVER_INTERNAL, &[P8_EXTERNAL], Published::About(1.0)),
            ],
        },
        by_fill("fill", scans(Scaled::same(1), Scaled::same(1_000))),
    ]),
};

pub(super) const FIG_11: Experiment = Experiment {
    name: "fig-11",
    title: "Scans of 1M entries in 1,000 segments of 1,000, by fill factor, cold at the start",
    remarks: &["The paper says that the gains are similar to Figure 10's and gives no number; the numbers \
         are that figure's."],
    body: Body::Measured(&[by_fill("", scans(Scaled::new(1_000, 10), Scaled::new(1_000, 100)))]),
};

pub(super) const NEIGHBOURS: Experiment = Experiment {
    name: "neighbours",
    title: "Figure 10's scans where the leaves of a load are neighbours in memory, natively",
    remarks: &[
        "A processor's own prefetcher follows neighbouring leaves, for the B+-Tree, too. \"needed\": \
         jump pointers leave such leaves alone, which is the default of the trees outside of these \
         experiments.",
    ],
    body: Body::Driven { x_label: "entries per scan", rows: of_neighbours },
};

fn of_neighbours(on: On, scale: Scale) -> Result<Vec<Row>> {
    const SERIES: [(&str, Member, bool); 6] = [
        ("b-plus", Member::BPlus, true),
        ("p8", Member::P8, true),
        ("p8e", Member::P8External, true),
        ("p8i", Member::P8Internal, true),
        ("p8e, needed", Member::P8External, false),
        ("p8i, needed", Member::P8Internal, false),
    ];
    if on != On::Native {
        return Ok(Vec::new());
    }
    let makes = SERIES.map(|(_, member, of_the_paper)| {
        let options = if of_the_paper { Options::of_the_paper() } else { Options::default() };
        move || -> latchless_papers::Result<Index> { build(member, &options) }
    });
    let entrants: Vec<_> =
        SERIES.iter().zip(&makes).map(|(&(name, ..), make)| Entrant { name, make }).collect();
    let mut rows = Vec::new();
    for &entries in Scaled::new(LENGTHS, SMALL_LENGTHS).at(scale) {
        let task = Task::Scan { starts: Scaled::new(100, 10).at(scale), segments: 1, entries };
        let case = Case { keys: KEYS.at(scale), fill: 1.0, built: Built::Loaded, task };
        let outcomes = run_entrants(&entrants, &case, &Keys::new(case.keys), scale)?;
        for (reference, unit) in outcomes.iter().zip(["speedup over b-plus", "speedup over p8"]) {
            let cost = |outcome: &Outcome| outcome.cost.unwrap_or(f64::NAN);
            rows.extend(SERIES.iter().zip(&outcomes).map(|((name, ..), outcome)| {
                let row = Row::new(*name, entries as f64, unit, cost(reference) / cost(outcome));
                let cost_unit = "ns/scan".to_string();
                Row { on, cost: outcome.cost, cost_unit, spread: outcome.spread, ..row }
            }));
        }
    }
    Ok(rows)
}
