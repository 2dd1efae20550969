//! Runs each experiment once on the model, at the small scale, for several tests.

use latchless_lab::experiment::Scale;
use latchless_lab::on::On;
use latchless_lab::row::Row;
use latchless_lab::runner::{Places, run};
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

/// Runs an experiment.
pub fn run_again(paper: &str, experiment: &str) -> Vec<Row> {
    let selected = latchless_lab::select(&[paper, experiment].map(str::to_string)).unwrap();
    assert_eq!(selected.len(), 1, "{paper} {experiment}");
    run(&selected, Places::Model, Scale::Small, &mut |_| ()).unwrap()
}

/// Returns the rows of an experiment; the first test that needs them runs it.
pub fn rows(paper: &'static str, experiment: &str) -> &'static [Row] {
    type Run = &'static OnceLock<Vec<Row>>;
    static RUNS: Mutex<BTreeMap<(&str, String), Run>> = Mutex::new(BTreeMap::new());
    let once: Run = {
        let mut runs = RUNS.lock().unwrap();
        *runs.entry((paper, experiment.to_string())).or_insert_with(|| Box::leak(Box::default()))
    };
    once.get_or_init(|| run_again(paper, experiment))
}

fn all_run(paper: &'static str, experiments: &str) {
    for experiment in experiments.split(' ') {
        let rows = rows(paper, experiment);
        assert!(rows.iter().any(|row| row.paper == paper && row.experiment == experiment), "{experiment}");
        let mut modelled = rows.iter().filter(|row| row.on == On::Model);
        assert!(modelled.all(|row| !row.machines.is_empty()), "{experiment}: a number of an unknown machine");
    }
}

#[test]
fn every_experiment_of_the_pb_tree_runs() {
    all_run("pb-tree", "eq-1 table-3 fig-1 fig-2 fig-7 fig-8 fig-9 fig-10 fig-11 fig-12 fig-13 fig-14");
    all_run("pb-tree", "space mature baselines fractal prefixes b k c short cold-updates");
}

#[test]
fn every_experiment_of_olfit_runs() {
    all_run("olfit", "eq-1 table-1 fig-2 fig-6 fig-7 fig-8 fig-9 fig-10");
    all_run("olfit", "sizes inserts duplicates translation bus skew nodes");
}

#[test]
fn every_experiment_of_cssl_runs() {
    // `valgrind` runs the program again: see `paper.rs`.
    all_run("cssl", "fig-4 fig-5 fig-6 fig-7 fig-8 fig-9 fig-10 fig-11 simd updates threads rebuild");
}

#[test]
fn figures_of_cssl_that_run_on_the_model_run_natively_as_well() {
    for figure in ["fig-4", "fig-7", "fig-9"] {
        let selected = latchless_lab::select(&["cssl", figure].map(str::to_string)).unwrap();
        let rows = run(&selected, Places::Native, Scale::Small, &mut |_| ()).unwrap();
        let timed =
            |series: &str| rows.iter().any(|row| row.series == series && row.unit == "queries a second");
        assert!(rows.iter().all(|row| row.on == On::Native), "{figure}");
        assert!(timed("cssl5, without a guess") && timed("b-plus"), "{figure}");
    }
}

#[test]
fn every_experiment_of_spiderman_runs() {
    all_run("spiderman", "fig-6 fig-9 fig-10 fig-11 fig-12 fig-13 indexes trie in-flight");
}

#[test]
fn every_experiment_of_pi_runs() {
    all_run("pi", "section-5 lines fig-6 fig-7 fig-8 fig-9 fig-10 fig-11 fig-13 fig-14 fig-15 entry-keys");
    all_run("pi", "rebuild-in-parts");
}
