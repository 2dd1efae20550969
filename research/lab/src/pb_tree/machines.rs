//! The reasons for p8's native gains: dependent and independent searches, on this machine and on the
//! model, and the model's updates with today's distance of memory.

use super::subjects::{B_PLUS, CSB, P4, P8, P8_CSB, P8_INTERNAL, P16};
use crate::error::Result;
use crate::experiment::{Body, Built, Case, Experiment, Outcome, Scale, Task};
use crate::model::{Branches, Change, Depends, Parameters};
use crate::on::On;
use crate::row::Row;
use crate::runner::{Chained, Keys, chained, run_on_machine};
use crate::subject::Subject;

const SERIES: &[Subject] = &[B_PLUS, CSB, P4, P8, P16, P8_CSB];
const FAR_SERIES: &[Subject] = &[B_PLUS, P8, P8_INTERNAL, CSB];

pub(super) const CHAINED: Experiment = Experiment {
    name: "chained",
    title: "Figure 7's warm searches, each for a key that is known, and each for one that the last answer tells",
    remarks: &[
        "Searches are without branches that could be mispredicted, so a processor that reorders far enough begins \
         one while it waits for another: \"independent\". \"chained\" keeps it from that: each key comes from \
         the last answer. On the model, \"model\", the paper's processor has 64 instructions in flight and waits for \
         the branches of a search; \"model, searches overlap\" has 320, and no such branches.",
    ],
    body: Body::Driven { x_label: "keys in the index", rows: by_size },
};

fn sizes(scale: Scale) -> &'static [usize] {
    if scale == Scale::Paper { &[10_000, 100_000, 1_000_000, 10_000_000] } else { &[10_000] }
}

fn count(scale: Scale) -> usize {
    if scale == Scale::Paper { 100_000 } else { 1_000 }
}

fn by_size(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &keys in sizes(scale) {
        let case = Case {
            keys,
            fill: 1.0,
            built: Built::Loaded,
            task: Task::Search { count: count(scale), cold: false },
        };
        match on {
            On::Native => {
                let Chained { independent, chained } = chained(SERIES, &case, &Keys::new(keys), scale)?;
                rows.extend(speedups("independent", on, keys, SERIES, &independent));
                rows.extend(speedups("chained", on, keys, SERIES, &chained));
            }
            _ => {
                let overlap = Change::Reordered(Branches::None, Depends::WithinOperation, 320);
                for (panel, change) in [("model", Change::Nothing), ("model, searches overlap", overlap)] {
                    let machine = Parameters::PB_TREE.changed(change);
                    rows.extend(on_model(panel, keys, SERIES, &machine, &case)?);
                }
            }
        }
    }
    Ok(rows)
}

/// A panel on the changed machine.
fn on_model(
    panel: &'static str,
    x: usize,
    series: &[Subject],
    machine: &Parameters,
    case: &Case,
) -> Result<Vec<Row>> {
    let keys = Keys::new(case.keys);
    let run = |tree: &Subject| run_on_machine(machine, tree.name(), || tree.make_modelled(), case, &keys);
    let outcomes = series.iter().map(run).collect::<Result<Vec<_>>>()?;
    Ok(speedups(panel, On::Model, x, series, &outcomes))
}

/// Returns the speedup of each over the first.
fn speedups(panel: &'static str, on: On, x: usize, series: &[Subject], outcomes: &[Outcome]) -> Vec<Row> {
    let cost = |outcome: &Outcome| outcome.cost.unwrap_or(f64::NAN);
    let base = outcomes.first().map_or(f64::NAN, cost);
    let unit = if on == On::Native { "ns" } else { "cycles" };
    let row = |(tree, outcome): (&Subject, &Outcome)| {
        let row = Row::new(tree.name(), x as f64, "speedup over b-plus", base / cost(outcome));
        let cost_unit = format!("{unit}/operation");
        Row { panel, on, cost: outcome.cost, cost_unit, spread: outcome.spread, ..row }
    };
    series.iter().zip(outcomes).map(row).collect()
}

pub(super) const FAR: Experiment = Experiment {
    name: "far",
    title: "Searches, updates and scans of Figures 7, 12 and `mature`, by how far memory is",
    remarks: &[
        "The paper's memory is 150 cycles away, today's two or three times that. 3M keys; of the grown trees 300K. \
         \"moves are free\": moving entries costs no instruction.",
    ],
    body: Body::Driven { x_label: "cycles to memory", rows: by_latency },
};

fn by_latency(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let (keys, mature) = if scale == Scale::Paper { (3_000_000, 300_000) } else { (30_000, 30_000) };
    for cycles in [150, 300, 450].into_iter().filter(|_| on == On::Model) {
        let count = count(scale);
        let search = Task::Search { count, cold: false };
        let insert = Task::Insert { count, cold: false };
        let remove = Task::Remove { count, cold: false };
        let scan = Task::Scan { starts: count / 1_000, segments: 1, entries: 1_000 };
        let loaded = |fill, task| Case { keys, fill, built: Built::Loaded, task };
        let tasks = [
            ("search", loaded(1.0, search), Change::Nothing),
            ("insert, 80 % full", loaded(0.8, insert), Change::Nothing),
            ("insert, full", loaded(1.0, insert), Change::Nothing),
            ("delete, full", loaded(1.0, remove), Change::Nothing),
            ("insert, 80 % full, moves are free", loaded(0.8, insert), Change::FreeShifts),
            ("delete, full, moves are free", loaded(1.0, remove), Change::FreeShifts),
            (
                "scan of 1,000, grown",
                Case { keys: mature, fill: 1.0, built: Built::Mature, task: scan },
                Change::Nothing,
            ),
        ];
        for (panel, case, change) in tasks {
            let machine = Parameters::PB_TREE.changed(Change::MemoryLatency(cycles)).changed(change);
            rows.extend(on_model(panel, cycles as usize, FAR_SERIES, &machine, &case)?);
        }
    }
    Ok(rows)
}
