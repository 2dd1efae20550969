//! §5: the model's numbers for the paper's example, and what the library's own layer and list really read.

use crate::error::Result;
use crate::experiment::{Body, Experiment, Published, Scale};
use crate::row::Row;
use latchless_papers::pi::analysis::Model;

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
