//! Running parallel cases on this machine.
//!
//! All the series of one point run round by round, in turn, so that whatever else the machine does hits
//! all of them alike; of each the median round counts. Threads start together, and a round lasts until
//! the last is done.

use super::load::Loaded;
use super::population::Request;
use super::work::{Shared, do_all};
use crate::error::{LabError, Result};
use crate::experiment::{ParallelCase, ParallelOutcome, Scale};
use crate::row::On;
use crate::runner::median;
use crate::subject::Subject;
use std::sync::Barrier;
use std::time::Instant;

/// The least operations of a thread's round: enough that what the system takes to give each thread a
/// processor doesn't count.
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
    let mut loaded: Vec<Loaded> = Vec::new();
    let mut outcomes = Vec::with_capacity(cases.len());
    for (position, case) in cases.iter().map(longer).enumerate() {
        announce(position);
        let case = &case;
        if !loaded.iter().all(|one| one.is_for(case)) || loaded.is_empty() {
            loaded.clear();
            for &subject in series {
                loaded.push(Loaded::new(subject, case, On::Native)?);
            }
        }
        let mut times = vec![Vec::new(); series.len()];
        // One round more than counts: the first warms the caches.
        for round in 0..=rounds {
            for (one, times) in loaded.iter_mut().zip(&mut times) {
                let seconds = time(one, case)?;
                if round > 0 {
                    times.push(seconds);
                }
            }
        }
        let outcome = |times: &mut Vec<f64>| ParallelOutcome {
            operations: case.processors * case.operations,
            processors: case.processors,
            seconds: median(times),
            counters: None,
        };
        outcomes.push(times.iter_mut().map(outcome).collect());
    }
    Ok(outcomes)
}

/// Does the next plan of this index; the seconds that it took.
fn time(loaded: &mut Loaded, case: &ParallelCase) -> Result<f64> {
    let plans = loaded.population.plan(case.processors, case.operations, case.updates_percent);
    let subject = loaded.subject;
    let shared = Shared::new(subject, &loaded.index);
    if let ([plan], false) = (plans.as_slice(), shared.takes_updates()) {
        let start = Instant::now();
        do_all(&mut loaded.index, plan, subject)?;
        return Ok(start.elapsed().as_secs_f64());
    }
    let line = Barrier::new(plans.len());
    let work = |plan: &[Request]| -> Result<(Instant, Instant)> {
        line.wait();
        let start = Instant::now();
        do_all(shared, plan, subject)?;
        Ok((start, Instant::now()))
    };
    let spans = std::thread::scope(|threads| {
        let running: Vec<_> = plans.iter().map(|plan| threads.spawn(|| work(plan))).collect();
        let done = running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        done.collect::<Result<Vec<_>, LabError>>()
    })?;
    let start = spans.iter().map(|span| span.0).min();
    let end = spans.iter().map(|span| span.1).max();
    Ok(start.zip(end).map_or(0.0, |(start, end)| (end - start).as_secs_f64()))
}
