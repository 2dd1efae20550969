//! Finds the batch size from which sorting and distributing updates among threads is faster: nanoseconds per
//! request for a batch served by one thread, and in parallel. Both ways run alternately; each figure is the
//! median of its rounds.
//!
//! ```text
//! cargo run --release -p latchless --features rayon --example large_batches -- 10000000
//! ```

use latchless::index::edit_side_by_side;
use latchless::tree::{BlinkOptions, BlinkTree, Edit, Edited, Group, Shared};
use std::time::Instant;

/// The default number of entries in the tree.
const RECORDS: u64 = 1_000_000;
/// Requests per measurement, in as many batches as that takes.
const REQUESTS: usize = 1 << 18;
const ROUNDS: usize = 7;

type Tree = BlinkTree<u64>;

/// A way to serve a batch of edits.
type Way = fn(&Tree, &[u64], Edit<u64>);

/// The result of an edit.
type Outcome = latchless::Result<Edited<u64>>;

fn count(outcome: Outcome) {
    outcome.expect("memory for a batch");
}

fn as_it_comes(tree: &Tree, keys: &[u64], edit: Edit<u64>) {
    tree.edit_each::<Shared>(keys.len(), Group::Auto, |at| (keys[at], edit), |_, outcome| count(outcome));
}

fn side_by_side(tree: &Tree, keys: &[u64], edit: Edit<u64>) {
    edit_side_by_side(tree, keys.len(), Group::Auto, |at| keys[at], |_| edit, |_, outcome| count(outcome));
}

/// Returns the `at`th of as many different keys as there are, in no order.
fn key(at: u64) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = at.wrapping_mul(ODD);
    (mixed ^ mixed >> 32).wrapping_mul(ODD)
}

/// Returns the time in nanoseconds per request for all keys, batch by batch.
fn time(tree: &Tree, keys: &[u64], batch: usize, way: Way, edit: Edit<u64>) -> f64 {
    let start = Instant::now();
    keys.chunks(batch).for_each(|batch| way(tree, batch, edit));
    start.elapsed().as_nanos() as f64 / keys.len() as f64
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let records = std::env::args().nth(1).map_or(Ok(RECORDS), |records| records.parse())?;
    let tree = Tree::new(BlinkOptions::default())?;
    as_it_comes(&tree, &(0..records).map(key).collect::<Vec<_>>(), Edit::Put(1));
    println!("{records} entries, {} threads", rayon::current_num_threads());
    println!(
        "| requests a batch | put, as it comes | put, side by side | remove, as it comes | remove, side by side |"
    );
    println!("|---:|---:|---:|---:|---:|");
    for batch in (10..=18).map(|bits| 1 << bits) {
        let mut figures = [const { Vec::new() }; 4];
        for round in 0..ROUNDS as u64 {
            // New keys each time, removed afterwards: the tree keeps its size.
            let first = records + round * REQUESTS as u64;
            let keys: Vec<u64> = (first..first + REQUESTS as u64).map(key).collect();
            let mut ways = [(0, as_it_comes as Way), (1, side_by_side)];
            ways.rotate_left(round as usize % 2);
            for (at, way) in ways {
                figures[at].push(time(&tree, &keys, batch, way, Edit::Put(2)));
                figures[at + 2].push(time(&tree, &keys, batch, way, Edit::Remove));
            }
        }
        let [put, put_aside, remove, remove_aside] = figures.map(median);
        println!("| {batch} | {put:.0} | {put_aside:.0} | {remove:.0} | {remove_aside:.0} |");
    }
    Ok(())
}
