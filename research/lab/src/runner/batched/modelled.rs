//! Running ways on the modelled machine.
//!
//! The tree is built before, untraced. Each way has a separate machine, whose shared cache it fills with
//! requests that don't count. At the paper's size that takes as many for one thread as for sixteen in all.

use super::kinds::kind_of;
use super::traffic::{Loaded, serve};
use crate::error::{LabError, Result};
use crate::experiment::{BatchedOutcome, BatchedPanel, Scale, Way};
use crate::model::{Listener, Machine, Parameters, Worker};
use crate::on::On;
use latchless_core::base::request::Request;
use latchless_papers::spiderman::page::Form;
use latchless_papers::spiderman::{Options, SpidermanMap};

type Map<T> = SpidermanMap<u64, u64, T>;
/// Requests of all threads before those that count: they miss some six lines each, which is more than the
/// shared cache has.
const FILLING: usize = 64 * 1024;

/// The requests of each thread.
type Plans = Vec<Vec<Request<u64, u64>>>;

/// Runs the ways on a tree of that many records, which is `kept`; returns, for each number of threads, an
/// outcome per way.
///
/// # Errors
/// When the tree refuses, answers wrongly or gets stuck.
pub fn run<N: Form, T: Form>(
    kept: &mut Option<Loaded<T>>,
    (panel, ways): (&BatchedPanel, &[Way]),
    records: usize,
    scale: Scale,
    announce: &mut dyn FnMut(usize),
) -> Result<Vec<Vec<BatchedOutcome>>> {
    let Loaded { map, traffic } = Loaded::of::<N>(kept, records, &Options::default())?;
    let mut by_threads = Vec::new();
    for &threads in panel.threads(On::Model) {
        announce(threads);
        let mut outcomes = Vec::with_capacity(ways.len());
        for way in ways {
            map.set_batching(way.batching()?)?;
            let requests = requests(scale, threads);
            let plans = requests.map(|each| traffic.plan(panel.workload, threads, each));
            outcomes.push(run_one(map, plans, panel)?);
        }
        by_threads.push(outcomes);
    }
    map.check_invariants().map_err(|broken| LabError::Wrong { index: "spiderman", what: broken.what })?;
    Ok(by_threads)
}

/// Returns the number of requests of each thread that fill the caches, and of those that count.
const fn requests(scale: Scale, threads: usize) -> [usize; 2] {
    match scale {
        Scale::Small => [256, 256],
        Scale::Paper => [FILLING / threads, 4 * 1024],
    }
}

/// Serves one plan so that caches are full, and then the one that counts.
fn run_one<T: Form>(
    map: &Map<T>,
    [first, second]: [Plans; 2],
    panel: &BatchedPanel,
) -> Result<BatchedOutcome> {
    let own = Parameters::spiderman(second.len());
    let parameters = panel.changes.iter().fold(own, |machine, &change| machine.changed(change));
    let machine = Listener::new(Machine::new(parameters)?);
    machine.with(Machine::start);
    work_together(&machine, map, &first)?;
    if panel.yardsticks.iter().any(|one| one.sorts()) {
        let kind_of = kind_of(map);
        machine.with(|machine| machine.sort_misses(kind_of));
    }
    let reading = || machine.with(|machine| (machine.counters(), machine.now_slots()));
    let (before, start) = reading();
    work_together(&machine, map, &second)?;
    let (after, end) = reading();
    let seconds = machine.with(|machine| machine.seconds(end - start));
    let transactions = second.iter().map(Vec::len).sum();
    Ok(BatchedOutcome {
        throughput: transactions as f64 / seconds,
        transactions,
        counters: Some(after - before),
        sorted: machine.with(|machine| machine.misses().map(|misses| *misses.counts())),
        slot_ns: machine.with(|machine| machine.seconds(1_000_000) * 1e3),
    })
}

fn work_together<T: Form>(machine: &Listener, map: &Map<T>, plans: &Plans) -> Result<()> {
    let mut workers: Vec<Worker<'_, Result<()>>> = Vec::with_capacity(plans.len());
    for plan in plans {
        workers.push(Box::new(move || serve(map, plan)));
    }
    machine.together(workers)?.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_threads_fills_the_shared_cache_before_requests_count() {
        let lines = Parameters::spiderman(1).l3.unwrap().shape.bytes / 64;
        for threads in [1, 4, 16] {
            let [filling, counted] = requests(Scale::Paper, threads);
            assert!(filling * threads * 6 >= lines && filling >= counted, "{threads} threads");
        }
    }
}
