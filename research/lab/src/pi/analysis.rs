//! §5: the model's numbers for the paper's example, and the lines that the library's own layer and list
//! really read.

use super::case::Case;
use super::contestant::{Contestant, Form};
use super::measure::measure;
use super::rows::{driven, row};
use super::traffic::Traffic;
use crate::error::Result;
use crate::experiment::{Body, Experiment, Published, Scale, Scaled};
use crate::on::On;
use crate::row::Row;
use latchless_papers::pi::analysis::Model;
use latchless_papers::pi::{EntryKeys, Prefetch};

pub(super) const SECTION_5: Experiment = Experiment {
    name: "section-5",
    title: "The performance model: an index of 512K keys, and the paper's data sets",
    remarks: &[
        "The paper counts an entry for each key of the index layer; an entry holds M of them, so a full layer \
         is M times smaller (\"bytes, full entries\").",
    ],
    body: Body::Computed { x_label: "keys", rows },
};

fn rows(_: Scale) -> Result<Vec<Row>> {
    const MEGABYTE: f64 = (1 << 20) as f64;
    let example = Model { keys: 512 << 10, ..Model::PAPER };
    let keys = example.keys as f64;
    let exactly = |number| Some(Published::Exactly(number));
    let row = |series: &str, unit: &str, ours: f64| Row::new(series, keys, unit, ours);
    let mut rows = vec![
        row("model", "keys/level", example.keys_per_level()),
        row("model", "entries/level", example.entries_per_level() as f64).beside(exactly(1.0)),
        row("model", "lines of the index layer", example.lines_of_index_layer() as f64).beside(exactly(9.0)),
        row("model", "lines/search", example.lines_of_search().ceil()).beside(exactly(12.0)),
        row("model", "MB", example.bytes() / MEGABYTE).beside(exactly(18.0)),
        row("model", "MB, full entries", example.bytes_of_full_entries() / MEGABYTE),
    ];
    for keys in [2u64 << 20, 16 << 20, 128 << 20] {
        let model = Model { keys, ..Model::PAPER };
        let x = keys as f64;
        rows.push(Row::new("model", x, "levels", model.height() as f64));
        rows.push(Row::new("model", x, "lines/search", model.lines_of_search().ceil()));
        rows.push(Row::new("model", x, "seconds/rebuild at 10 ns an access", model.rebuild_seconds(1e-8, 1)));
    }
    Ok(rows)
}

pub(super) const LINES: Experiment = driven(
    "lines",
    "Lines that a search reads, beside §5's formula for them; one thread, one search after the other",
    &[
        "Counted by the memory model: each line that a search touches, whatever cache has it. The formula counts \
         the entries that are compared with and the data nodes that are passed, and none of what an \
         implementation adds: here the place of a segment in its table, the batch's keys and its answers. \
         \"form\" is the formula with this library's entries and nodes, \"paper\" with the paper's. Reads of \
         one line right after each other are one.",
        "\"misses\" are lines that came from memory. The paper says that an index of 512K keys fits its 18 MB of \
         shared cache, so that no search misses there.",
    ],
    "keys",
    lines,
);

fn lines(on: On, scale: Scale) -> Result<Vec<Row>> {
    if on != On::Model {
        return Ok(Vec::new());
    }
    const EXAMPLE: usize = 512 << 10;
    const SIZES: Scaled<&[usize]> = Scaled::new(&[EXAMPLE, 2 << 20, 16 << 20], &[2_000, 20_000]);
    let mut rows = Vec::new();
    for &keys in SIZES.at(scale) {
        for (panel, entry_keys, m) in [("M = 4", EntryKeys::Four, 4), ("M = 8", EntryKeys::Eight, 8)] {
            let form = Form { numa: false, group: 1, prefetch: Prefetch::Nothing, entry_keys, ..Form::PAPER };
            let usual = Case::usual(on, scale);
            let case = Case { keys, threads: 1, traffic: Traffic::SEARCHES, ..usual };
            let measured = measure(on, &[Contestant::Pi(form)], &case)?.remove(0);
            let Some(each) = measured.per_query else { continue };
            let x = keys as f64;
            let formula = Model::of(keys as u64, m, 4).lines_of_search();
            let paper = Model { keys: keys as u64, ..Model::PAPER }.lines_of_search();
            let one =
                |series: &str, unit: &str, ours: f64| row(panel, on, series, x, (unit, ours), &measured);
            // "About 12" is said of 512K keys and four an entry; the rest is the paper's formula, not its
            // text.
            let stated = (keys == EXAMPLE && m == 4).then_some(Published::About(12.0));
            rows.push(one("measured", "lines/search", each.lines).beside(stated));
            if stated.is_none() {
                let times = one("measured", "times the formula", each.lines / paper.ceil());
                rows.push(times.beside(Some(Published::About(1.0))));
            }
            rows.push(one("formula, form", "lines/search", formula));
            rows.push(one("formula, paper", "lines/search", paper));
            rows.push(one("measured", "misses/search", each.misses));
            rows.push(one("measured", "entries looked at/search", each.entries));
        }
    }
    Ok(rows)
}
