//! Running ways on this machine.
//!
//! All ways take turns on one tree, in many short rounds, so that other work on the machine and the growth
//! of the tree affect all of them alike; the median round of each counts. Threads start together, and a
//! round lasts until the last is done.

use super::traffic::{Loaded, serve};
use crate::error::{LabError, Result};
use crate::experiment::{BatchedOutcome, BatchedPanel, Scale, Way};
use crate::on::On;
use crate::runner::native::median;
use crate::runner::{Sizes, together};
use latchless_papers::spiderman::Options;
use latchless_papers::spiderman::page::Form;

/// The time for one way with one number of threads, in seconds, unless the caller gives it.
const SECONDS: f64 = 10.0;
/// Rounds that they are cut into.
const ROUNDS: usize = 20;

/// Requests in a thread's first round, which determines the number for later ones.
const FIRST: usize = 8192;

/// Runs the ways on a tree of that many records, which is `kept`; returns, for each number of threads, an
/// outcome per way.
///
/// # Errors
/// When the tree refuses, or answers wrongly.
pub fn run<T: Form>(
    kept: &mut Option<Loaded<T>>,
    (panel, ways): (&BatchedPanel, &[Way]),
    records: usize,
    (scale, sizes): (Scale, Sizes),
    announce: &mut dyn FnMut(usize),
) -> Result<Vec<Vec<BatchedOutcome>>> {
    let Loaded { map, traffic } = Loaded::of::<T>(kept, records, &Options::default())?;
    let (rounds, seconds) = match scale {
        Scale::Small => (3, 0.0),
        Scale::Paper => (ROUNDS, sizes.seconds.unwrap_or(SECONDS)),
    };
    let mut by_threads = Vec::new();
    for &threads in panel.threads(On::Native) {
        announce(threads);
        let mut each = FIRST;
        let mut throughputs = vec![Vec::new(); ways.len()];
        // One round more than counts: the first warms the caches, and determines the length of rounds.
        for round in 0..=rounds {
            let mut longest = 0.0f64;
            for (way, throughputs) in ways.iter().zip(&mut throughputs) {
                map.set_batching(way.batching()?)?;
                let plans = traffic.plan(panel.workload, threads, each);
                let took = together::seconds(&plans, |plan| serve(map, plan))?;
                longest = longest.max(took);
                if round > 0 {
                    throughputs.push((threads * each) as f64 / took.max(1e-9));
                }
            }
            if round == 0 && seconds > 0.0 {
                each = ((each as f64 * seconds / ROUNDS as f64 / longest) as usize).max(FIRST);
            }
        }
        let outcome = |throughputs: &mut Vec<f64>| BatchedOutcome {
            throughput: median(throughputs),
            transactions: threads * each * rounds,
            counters: None,
            sorted: None,
            slot_ns: 0.0,
        };
        by_threads.push(throughputs.iter_mut().map(outcome).collect());
    }
    map.check_invariants().map_err(|broken| LabError::Wrong { index: "spiderman", what: broken.what })?;
    Ok(by_threads)
}
