//! Running parallel cases on this machine.
//!
//! All the series of all points that can run on the same indexes take turns, round by round, so that other
//! work on the machine affects all of them alike: one thread and two as well, so that two are never more
//! than twice as fast because one was measured in a bad minute. The median round of each counts. Threads
//! start together, and a round lasts until the last is done.

use super::load::Loaded;
use super::work::{Shared, do_all};
use crate::error::Result;
use crate::experiment::{ParallelCase, ParallelOutcome, Scale};
use crate::on::On;
use crate::runner::{median, spread, together};
use crate::subject::Subject;
use std::time::Instant;

/// The minimum number of operations of a thread's round: enough that the system's time for starting
/// threads is negligible.
const OPERATIONS: usize = 250_000;

/// Runs the cases on every one of `series`; for each case an outcome each. Cases of equal nodes run on
/// the same indexes.
///
/// # Errors
/// When an index refuses, or answers wrongly.
pub fn run(
    series: &[Subject],
    cases: &[ParallelCase],
    scale: Scale,
    announce: &mut dyn FnMut(usize),
) -> Result<Vec<Vec<ParallelOutcome>>> {
    let rounds = match scale {
        Scale::Small => 3,
        Scale::Paper => 5,
    };
    let longer = |case: &ParallelCase| match scale {
        Scale::Small => *case,
        Scale::Paper => ParallelCase { operations: case.operations.max(OPERATIONS), ..*case },
    };
    let cases: Vec<ParallelCase> = cases.iter().map(longer).collect();
    let mut outcomes = Vec::with_capacity(cases.len());
    let alike = |one: &ParallelCase, next: &ParallelCase| Loaded::form(one) == Loaded::form(next);
    for together in cases.chunk_by(alike) {
        let load = |&subject: &Subject| Loaded::new(subject, &together[0], On::Native);
        let mut loaded = series.iter().map(load).collect::<Result<Vec<_>>>()?;
        let mut times = vec![vec![Vec::new(); series.len()]; together.len()];
        // One round more than counts: the first warms the caches.
        for round in 0..=rounds {
            for (nth, (case, times)) in together.iter().zip(&mut times).enumerate() {
                if round == 0 {
                    announce(outcomes.len() + nth);
                }
                for (one, times) in loaded.iter_mut().zip(times) {
                    let seconds = time(one, case)?;
                    if round > 0 {
                        times.push(seconds);
                    }
                }
            }
        }
        outcomes.extend(together.iter().zip(times).map(|(case, mut times)| {
            let outcome = |times: &mut Vec<f64>| ParallelOutcome {
                operations: case.processors * case.operations,
                processors: case.processors,
                seconds: median(times),
                spread: spread(times),
                counters: None,
            };
            times.iter_mut().map(outcome).collect()
        }));
    }
    Ok(outcomes)
}

/// Executes the next plan of this index; returns the seconds.
fn time(loaded: &mut Loaded, case: &ParallelCase) -> Result<f64> {
    let plans = loaded.population.plan(case);
    let subject = loaded.subject;
    let shared = Shared::new(subject, &loaded.index);
    if let ([plan], false) = (plans.as_slice(), shared.takes_updates()) {
        let start = Instant::now();
        do_all(&mut loaded.index, plan, subject)?;
        return Ok(start.elapsed().as_secs_f64());
    }
    together::seconds(&plans, |plan| do_all(shared, plan, subject))
}
