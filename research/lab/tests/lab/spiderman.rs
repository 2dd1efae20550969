//! The gains of batches, on the model: every run is the same there, so tests can require them.

use latchless_lab::experiment::Scale;
use latchless_lab::row::Row;
use latchless_lab::runner::{Places, Sizes, run_sized};

/// Returns the rows of experiments on a tree of 16 MB, many times the size of a modelled core's caches.
fn rows(experiments: &[&str]) -> Vec<Row> {
    let names: Vec<String> = ["spiderman"].iter().chain(experiments).map(ToString::to_string).collect();
    let selected = latchless_lab::select(&names).unwrap();
    let sizes = Sizes { records: Some(500_000), seconds: None };
    run_sized(&selected, Places::Model, (Scale::Small, sizes), &mut |_| ()).unwrap()
}

fn ours(rows: &[Row], panel: &str, series: &str, unit: &str, threads: usize) -> f64 {
    let wanted = |row: &&Row| {
        row.panel == panel && row.series == series && row.unit == unit && row.x == threads as f64
    };
    rows.iter().find(wanted).unwrap_or_else(|| panic!("no {unit} of {series} with {threads}")).ours
}

const OVER_NONE: &str = "throughput over no batching";

#[test]
fn gets_gain_most_where_walks_are_resumed() {
    let rows = rows(&["fig-11"]);
    let gain = |way: &str, threads: usize| ours(&rows, "", way, OVER_NONE, threads);
    for threads in [1, 4, 16] {
        assert_eq!(gain("no batching", threads), 1.0);
        assert!((0.95..=1.05).contains(&gain("ours 1", threads)), "{}", gain("ours 1", threads));
        assert!(gain("ours 16", threads) > 1.05 * gain("naive 16", threads), "{}", gain("ours 16", threads));
    }
    assert!(rows.iter().all(|row| row.series != "ours auto"), "a model has no clock of its own");
}

#[test]
fn every_mix_gains() {
    // Together, so that they share trees.
    let all = rows(&["fig-9", "fig-10", "fig-12"]);
    for experiment in ["fig-9", "fig-10", "fig-12"] {
        let rows: Vec<Row> = all.iter().filter(|row| row.experiment == experiment).cloned().collect();
        for threads in [1, 4] {
            let gain = ours(&rows, "", "ours 64", OVER_NONE, threads);
            assert!(gain > 1.0, "{experiment} with {threads}: {gain}");
        }
    }
}

#[test]
fn whole_pages_are_lines_that_nobody_reads() {
    let rows = rows(&["fig-13"]);
    let misses = |panel: &str, way: &str| ours(&rows, panel, way, "misses/transaction", 4);
    assert!(misses("options", "4") > 2.0 * misses("options", "no batching"));
    assert!(misses("wishes", "resumed 1+2+5+6+7+8") < 1.1 * misses("wishes", "no batching"));
    let wish = |way: &str| ours(&rows, "wishes", way, OVER_NONE, 4);
    assert!(wish("resumed 1+2+5+6+7+8") > wish("resumed 1+2+3"));
    let gain = |way: &str| ours(&rows, "options", way, OVER_NONE, 4);
    assert!(gain("4") < gain("no batching") && gain("4") < gain("1+2+3") && gain("4") < gain("1"));
}

#[test]
fn a_batch_of_one_loses_in_every_mix() {
    let all = rows(&["fig-9", "fig-10", "fig-11", "fig-12"]);
    for experiment in ["fig-9", "fig-11", "fig-12"] {
        let rows: Vec<Row> = all.iter().filter(|row| row.experiment == experiment).cloned().collect();
        let one = ours(&rows, "", "naive 1", OVER_NONE, 1);
        assert!(one < 1.0, "{experiment}: {one}");
    }
}

#[test]
fn most_misses_are_where_the_author_saw_them() {
    let rows = rows(&["fig-6"]);
    for threads in [1, 4] {
        let of = |way: &str, unit: &str| ours(&rows, "", way, unit, threads);
        for claim in [
            "phase 1's misses over phase 2's",
            "leaf keys' misses over headers' in phase 1",
            "headers' misses over inner keys' in phase 1",
            "payloads' misses over all others in phase 2",
        ] {
            assert!(of("walked", claim) > 1.0, "{claim}, {threads} threads: {}", of("walked", claim));
        }
        let (before, after) = ("ns waited/transaction, phase 2", "ns waited/transaction, phase 1");
        assert_eq!(of("no batching", after), 0.0, "nothing walks");
        assert!(of("ours 16", before) + of("ours 16", after) < of("no batching", before));
    }
}
