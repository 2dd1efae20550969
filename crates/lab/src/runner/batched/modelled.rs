//! Running ways on the modelled machine.
//!
//! The tree is built before, which nobody listens to. Each way has a machine of its own, whose caches it
//! fills with as many requests as are then measured.

use super::traffic::{Traffic, serve};
use crate::error::{LabError, Result};
use crate::experiment::{BatchedOutcome, BatchedPanel, Scale, Way};
use crate::model::{Listener, Machine, Parameters, Worker};
use crate::row::On;
use latchless::mem::touch::Modelled;
use latchless::variants::spiderman::{Options, SpidermanMap};

type Map = SpidermanMap<u64, u64, Modelled>;

/// Runs the ways on a tree of so many records; for each number of threads an outcome a way.
///
/// # Errors
/// When the tree refuses, answers wrongly or gets stuck.
pub fn run(
    panel: &BatchedPanel,
    ways: &[Way],
    records: usize,
    scale: Scale,
    announce: &mut dyn FnMut(usize),
) -> Result<Vec<Vec<BatchedOutcome>>> {
    let mut traffic = Traffic::new(panel.workload, records)?;
    let mut map = Map::with_options(&Options { huge_pages: false, ..Options::default() })?;
    traffic.load(&map)?;
    let requests = match scale {
        Scale::Small => 256,
        Scale::Paper => 4 * 1024,
    };
    let mut by_threads = Vec::new();
    for &threads in panel.threads(On::Model) {
        announce(threads);
        let mut outcomes = Vec::with_capacity(ways.len());
        for way in ways {
            map.set_batching(way.batching()?)?;
            outcomes.push(run_one(&map, &mut traffic, threads, requests)?);
        }
        by_threads.push(outcomes);
    }
    map.check_invariants().map_err(|broken| LabError::Wrong { index: "spiderman", what: broken.what })?;
    Ok(by_threads)
}

fn run_one(map: &Map, traffic: &mut Traffic, threads: usize, requests: usize) -> Result<BatchedOutcome> {
    let machine = Listener::new(Machine::new(Parameters::spiderman(threads))?);
    machine.with(Machine::start);
    work_together(&machine, map, traffic, threads, requests)?;
    let reading = || machine.with(|machine| (machine.counters(), machine.now_slots()));
    let (before, start) = reading();
    work_together(&machine, map, traffic, threads, requests)?;
    let (after, end) = reading();
    let seconds = machine.with(|machine| machine.seconds(end - start));
    let transactions = threads * requests;
    Ok(BatchedOutcome {
        throughput: transactions as f64 / seconds,
        transactions,
        counters: Some(after - before),
    })
}

fn work_together(
    machine: &Listener,
    map: &Map,
    traffic: &mut Traffic,
    threads: usize,
    requests: usize,
) -> Result<()> {
    let plans = traffic.plan(threads, requests);
    let mut workers: Vec<Worker<'_, Result<()>>> = Vec::with_capacity(plans.len());
    for plan in &plans {
        workers.push(Box::new(move || serve(map, plan)));
    }
    machine.together(workers)?.into_iter().collect()
}
