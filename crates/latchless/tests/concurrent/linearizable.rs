//! Histories of every subject, a million operations each.

use crate::driver::{Broken, Plan, run};
use crate::subject::{Subject, on_every_subject, scaled};

fn passes(subject: &dyn Subject, plan: &Plan) {
    match run(subject, plan) {
        Ok(checked) => assert!(checked >= plan.threads * plan.windows * plan.operations, "{checked}"),
        Err(Broken { key, violation }) => panic!("key {key} with {plan:?}: {violation}"),
    }
}

/// Returns a plan of `operations` in windows of at most 100,000 per thread.
fn plan(threads: usize, keys: u64, hot_keys: u64, operations: usize) -> Plan {
    let in_window = (operations / threads / 10).clamp(1, 100_000);
    let windows = operations.div_ceil(threads * in_window);
    Plan { threads, keys, hot_keys, windows, operations: in_window, seed: operations as u64 }
}

#[test]
fn few_hot_keys_in_one_leaf() {
    on_every_subject(|subject| passes(subject, &plan(3, 12, 3, scaled(300_000, 45))));
}

#[test]
fn hot_keys_in_leaves_that_split_and_merge() {
    on_every_subject(|subject| {
        passes(subject, &plan(2, scaled(600, 90).min(600) as u64, 8, scaled(300_000, 80)))
    });
}

#[test]
#[cfg_attr(miri, ignore = "would never fill the tree")]
fn hot_keys_under_a_deeper_tree() {
    on_every_subject(|subject| passes(subject, &plan(3, 12_000, 6, scaled(300_000, 0))));
}

#[test]
#[cfg_attr(miri, ignore = "has the same schedules with fewer threads")]
fn more_threads_than_processors() {
    on_every_subject(|subject| passes(subject, &plan(8, 200, 5, scaled(200_000, 0))));
}
