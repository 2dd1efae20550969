//! Running ways on the modelled machine.
//!
//! The tree is built before, untraced. Each way has a separate machine, whose caches it fills with as many
//! requests as are then measured.

use super::kinds::kind_of;
use super::traffic::{Loaded, serve};
use crate::error::{LabError, Result};
use crate::experiment::{BatchedOutcome, BatchedPanel, Scale, Way};
use crate::model::{Listener, Machine, Parameters, Worker};
use crate::row::On;
use latchless_core::base::request::Request;
use latchless_core::mem::touch::Traced;
use latchless_papers::spiderman::{Options, SpidermanMap};

type Map = SpidermanMap<u64, u64, Traced>;
/// The requests of each thread.
type Plans = Vec<Vec<Request<u64, u64>>>;

/// Runs the ways on a tree of that many records, which is `kept`; returns, for each number of threads, an
/// outcome per way.
///
/// # Errors
/// When the tree refuses, answers wrongly or gets stuck.
pub fn run(
    kept: &mut Option<Loaded<Traced>>,
    (panel, ways): (&BatchedPanel, &[Way]),
    records: usize,
    scale: Scale,
    announce: &mut dyn FnMut(usize),
) -> Result<Vec<Vec<BatchedOutcome>>> {
    let options = Options { huge_pages: false, ..Options::default() };
    let Loaded { map, traffic } = Loaded::of(kept, records, &options)?;
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
            let mut plan = || traffic.plan(panel.workload, threads, requests);
            outcomes.push(run_one(map, [plan(), plan()], panel)?);
        }
        by_threads.push(outcomes);
    }
    map.check_invariants().map_err(|broken| LabError::Wrong { index: "spiderman", what: broken.what })?;
    Ok(by_threads)
}

/// Serves one plan so that caches are full, and then the one that counts.
fn run_one(map: &Map, [first, second]: [Plans; 2], panel: &BatchedPanel) -> Result<BatchedOutcome> {
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

fn work_together(machine: &Listener, map: &Map, plans: &Plans) -> Result<()> {
    let mut workers: Vec<Worker<'_, Result<()>>> = Vec::with_capacity(plans.len());
    for plan in plans {
        workers.push(Box::new(move || serve(map, plan)));
    }
    machine.together(workers)?.into_iter().collect()
}
