//! §4.1, §4.3 and the full paper: the sensitivity of scans to the prefetch distance k, to the chunk size
//! c, to jump pointers in short ranges and to the memory's bandwidth B. On the model, because k and c are
//! chosen for the paper's machine.

use super::subjects::{B_PLUS, P8, P8_INTERNAL, P16};
use crate::error::Result;
use crate::experiment::{Body, Built, Case, Experiment, Outcome, Published, Scale, Task};
use crate::model::Parameters;
use crate::on::On;
use crate::row::Row;
use crate::runner::{Keys, run_modelled, run_on_machine};
use crate::subject::{Index, Subject};
use latchless_core::mem::touch::Traced;
use latchless_core::search::Kernel;
use latchless_papers::pb_tree::node::{External, Form, Internal, Plain, Shaped};
use latchless_papers::pb_tree::{Options, PbTree};

pub(super) const K: Experiment = Experiment {
    name: "k",
    title: "§4.1: scans with the leaf k ahead prefetched, by k",
    remarks: &[
        "Eq. (2) gives k = 2 for the paper's machine. Its experiments use 3, and it calls 2, 3 and 4 alike.",
    ],
    body: Body::Driven { x_label: "leaves ahead", rows: by_distance },
};

pub(super) const C: Experiment = Experiment {
    name: "c",
    title: "§4.1: scans of a p8e with chunks of c lines, by c",
    remarks: &[
        "Eq. (3) gives c ≥ 1 for the paper's machine. Its experiments use 8, and it calls 1 to 32 alike.",
    ],
    body: Body::Driven { x_label: "lines per chunk", rows: by_chunk },
};

pub(super) const SHORT: Experiment = Experiment {
    name: "short",
    title: "§4.3: short scans that use jump pointers, and that leave them alone, over a B+-Tree's",
    remarks: &[
        "The paper measures scans that always use them (Figure 10), and then suggests that scans leave them alone \
         where fewer than 100 entries are expected. \"by length\" does so, and is the default of the trees \
         outside of these experiments.",
    ],
    body: Body::Driven { x_label: "entries per scan", rows: by_length },
};

/// Keys in the tree.
fn keys_at(scale: Scale) -> usize {
    if scale == Scale::Paper { 3_000_000 } else { 30_000 }
}

/// 100 cold scans in a tree of this form and these options.
fn scan<F: Form>(name: &'static str, options: &Options, entries: usize, scale: Scale) -> Result<Outcome> {
    let starts = if scale == Scale::Paper { 100 } else { 10 };
    let task = Task::Scan { starts, segments: 1, entries };
    let case = Case { keys: keys_at(scale), fill: 1.0, built: Built::Loaded, task };
    let options = Options { huge_pages: false, kernel: Some(Kernel::Scalar), ..options.clone() };
    let make = || -> latchless_papers::Result<Index> {
        Ok(Box::new(PbTree::<u32, u32, Shaped<u32, F, Traced>>::with_options(&options)?))
    };
    run_modelled(name, make, &case, &Keys::new(case.keys))
}

/// A row on the model: how many times as fast `outcome` is as `reference`.
fn speedup(
    panel: &'static str,
    (series, x): (String, usize),
    over: &str,
    (outcome, reference): (&Outcome, &Outcome),
    published: Option<Published>,
) -> Row {
    let (cost, other) = (outcome.cost.unwrap_or(f64::NAN), reference.cost.unwrap_or(f64::NAN));
    let row = Row::new(series, x as f64, format!("speedup over {over}"), other / cost).beside(published);
    Row { panel, on: On::Model, cost: Some(cost), cost_unit: "cycles/scan".to_string(), ..row }
}

fn lengths(scale: Scale) -> &'static [(&'static str, usize)] {
    const PAPER: [(&str, usize); 2] = [("1K entries", 1_000), ("100K entries", 100_000)];
    if scale == Scale::Paper { &PAPER } else { &PAPER[..1] }
}

fn by_distance(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &(panel, entries) in lengths(scale).iter().filter(|_| on == On::Model) {
        type Scan = fn(&'static str, &Options, usize, Scale) -> Result<Outcome>;
        let members: [(&str, Scan); 2] = [("p8e", scan::<External<8>>), ("p8i", scan::<Internal<8>>)];
        for (name, scan) in members {
            let at = |leaves| {
                let options = Options { scan_ahead_leaves: leaves, ..Options::of_the_paper() };
                scan(name, &options, entries, scale)
            };
            let three = at(3)?;
            for leaves in [1, 2, 3, 4, 8] {
                let published = matches!(leaves, 2 | 4).then_some(Published::About(1.0));
                let series = (name.to_string(), leaves);
                rows.push(speedup(panel, series, "k = 3", (&at(leaves)?, &three), published));
            }
        }
    }
    Ok(rows)
}

fn by_chunk(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &(panel, entries) in lengths(scale).iter().filter(|_| on == On::Model) {
        let options = Options::of_the_paper();
        let eight = scan::<External<8, 8>>("p8e", &options, entries, scale)?;
        let all = [
            (1, scan::<External<8, 1>>("p8e", &options, entries, scale)?),
            (2, scan::<External<8, 2>>("p8e", &options, entries, scale)?),
            (4, scan::<External<8, 4>>("p8e", &options, entries, scale)?),
            (16, scan::<External<8, 16>>("p8e", &options, entries, scale)?),
            (32, scan::<External<8, 32>>("p8e", &options, entries, scale)?),
        ];
        for (lines, outcome) in &all {
            let (series, alike) = (("p8e".to_string(), *lines), Some(Published::About(1.0)));
            rows.push(speedup(panel, series, "c = 8", (outcome, &eight), alike));
        }
    }
    Ok(rows)
}

fn by_length(on: On, scale: Scale) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for entries in [10, 30, 100].into_iter().filter(|_| on == On::Model) {
        let base = scan::<Plain<1>>("b-plus", &Options::default(), entries, scale)?;
        // A rule for scans that are expected to be shorter than 100 entries.
        let faster = (entries < 100).then_some(Published::MoreThan(1.0));
        let both = |short_scan_entries| -> Result<[(&str, Outcome); 2]> {
            let options = Options { short_scan_entries, ..Options::of_the_paper() };
            Ok([
                ("p8e", scan::<External<8>>("p8e", &options, entries, scale)?),
                ("p8i", scan::<Internal<8>>("p8i", &options, entries, scale)?),
            ])
        };
        let (always, by_length) = (both(0)?, both(100)?);
        for (panel, all) in [("always", &always), ("by length", &by_length)] {
            rows.extend(all.iter().map(|(name, outcome)| {
                speedup(panel, (name.to_string(), entries), "b-plus", (outcome, &base), None)
            }));
        }
        for ((name, outcome), (_, always)) in by_length.iter().zip(&always) {
            let series = (name.to_string(), entries);
            rows.push(speedup("by length", series, "always", (outcome, always), faster));
        }
    }
    Ok(rows)
}

pub(super) const B: Experiment = Experiment {
    name: "b",
    title: "§4.1: what prefetching gains by the memory's normalized bandwidth B = T1/Tnext",
    remarks: &[
        "\"Small variations in B do not substantively alter the results\": what p8 and p8i gain at 12.5 to 18.75 is \
         set beside what they gain at 15. Larger ones do: at B = 50, for which Eq. (1) says 22 lines, p16 \
         should be ahead of p8.",
    ],
    body: Body::Driven { x_label: "B", rows: by_bandwidth },
};

/// The comparisons: name, the tree and its reference, and whether they scan.
const GAINS: [(&str, Subject, Subject, bool); 4] = [
    ("search, p8 over b-plus", P8, B_PLUS, false),
    ("search, p16 over p8", P16, P8, false),
    ("scan of 1K, p8 over b-plus", P8, B_PLUS, true),
    ("scan of 1K, p8i over b-plus", P8_INTERNAL, B_PLUS, true),
];

fn by_bandwidth(on: On, scale: Scale) -> Result<Vec<Row>> {
    /// The paper's T1 is 150 cycles.
    const INTERVALS: [u64; 8] = [10, 20, 15, 12, 9, 8, 5, 3];
    if on != On::Model {
        return Ok(Vec::new());
    }
    let mut rows = Vec::new();
    let mut at_paper_s = [0.0; GAINS.len()];
    for interval in INTERVALS {
        let machine = Parameters { memory_interval_cycles: interval, ..Parameters::PB_TREE };
        let b = machine.memory_latency_cycles as f64 / interval as f64;
        for (nth, (series, tree, other, scans)) in GAINS.into_iter().enumerate() {
            let (cost, of_other) =
                (cold(&machine, tree, scans, scale)?, cold(&machine, other, scans, scale)?);
            let gain = of_other / cost;
            let row = |unit: &str, ours: f64| {
                let row = Row::new(series, b, unit, ours);
                Row { on: On::Model, cost: Some(cost), cost_unit: "cycles".to_string(), ..row }
            };
            rows.push(row("speedup", gain));
            if interval == 10 {
                at_paper_s[nth] = gain;
            } else {
                let small = (12.0..=19.0).contains(&b).then_some(Published::About(1.0));
                rows.push(row("times its speedup at B = 15", gain / at_paper_s[nth]).beside(small));
            }
        }
    }
    Ok(rows)
}

/// Cycles of a cold operation in a tree of this kind.
fn cold(machine: &Parameters, tree: Subject, scans: bool, scale: Scale) -> Result<f64> {
    let count = if scale == Scale::Paper { 10_000 } else { 1_000 };
    let task = match scans {
        true => Task::Scan { starts: count / 100, segments: 1, entries: 1_000 },
        false => Task::Search { count, cold: true },
    };
    let case = Case { keys: keys_at(scale), fill: 1.0, built: Built::Loaded, task };
    let outcome =
        run_on_machine(machine, tree.name(), || tree.make_modelled(), &case, &Keys::new(case.keys))?;
    Ok(outcome.cost.unwrap_or(f64::NAN))
}
