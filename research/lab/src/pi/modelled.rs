//! Batches on the modelled machine: four nodes, each with as many processors as the paper's has cores, or
//! as the threads need.

use super::case::Case;
use super::contestant::{Contestant, Loaded, lists, options_of, serve_alone, serve_shared, serve_wide, wide};
use super::measured::{Measured, PerQuery};
use super::traffic::{Keys, NODES};
use crate::error::Result;
use crate::model::{Listener, Machine, Parameters, Placement, System, Worker};
use latchless::FillFactor;
use latchless_core::mem::touch::Traced;
use latchless_measure::apart::apart;
use latchless_papers::olfit;
use latchless_papers::pi::batch::pool::Hands;
use latchless_papers::pi::batch::tune::QuerySetSize;
use latchless_papers::pi::crew::ScopedTask;
use latchless_papers::pi::{Pi, Query};
use std::cell::RefCell;

/// Cores of a node (§6).
const CORES: usize = 6;

/// The machine's processors as PI's hands.
struct Processors<'a> {
    machine: &'a Listener,
    seats: Vec<usize>,
    failed: RefCell<Result<()>>,
}

impl Hands for Processors<'_> {
    fn seats(&self) -> &[usize] {
        &self.seats
    }

    fn run<'a>(&self, jobs: Vec<(usize, ScopedTask<'a>)>) {
        let last = jobs.iter().map(|job| job.0).max().unwrap_or(0);
        let mut workers: Vec<Worker<'a, ()>> =
            (0..=last).map(|_| Box::new(|| ()) as Worker<'a, ()>).collect();
        jobs.into_iter().for_each(|(seat, job)| workers[seat] = job);
        if let Err(error) = self.machine.together(workers) {
            *self.failed.borrow_mut() = Err(error);
        }
    }
}

/// Measures one contestant on cases that differ in their queries, on one index, which grows by their inserts:
/// searches to fill the caches, and before each further case some as skewed as its queries. Then the case's
/// batches, all of which count.
///
/// # Errors
/// When the contestant refuses, or gets stuck.
pub(super) fn measure_series(contestant: Contestant, cases: &[Case]) -> Result<Vec<Measured>> {
    // PI's segments and batches are on the heap. Results that outlive them are copied, so that nothing
    // stays there.
    let measured = apart(|| measure_apart(contestant, cases))?;
    Ok(measured.clone())
}

fn measure_apart(contestant: Contestant, cases: &[Case]) -> Result<Vec<Measured>> {
    let Some(&first) = cases.first() else { return Ok(Vec::new()) };
    let processors = NODES * CORES.max(first.threads.div_ceil(NODES));
    let numa = Parameters::numa(NODES, processors);
    // Pages that aren't placed alternate between the nodes.
    let placement = if contestant.is_placed() { Placement::FirstTouch } else { Placement::Interleaved };
    let parameters = Parameters { system: System { placement, ..numa.system }, ..numa }.changed(first.change);
    let machine = Listener::new(Machine::new(parameters)?);
    let keys = Keys::new(first.keys);
    let largest = cases.iter().map(|case| case.batch).max().unwrap_or(first.batch);
    let mut loaded = load(contestant, keys, &Case { batch: largest, ..first }, processors / NODES)?;
    if let (Loaded::Pi(index), true) = (&loaded, contestant.is_placed()) {
        for node in 0..NODES.min(first.threads) {
            for addresses in index.addresses_of_node(node) {
                machine.with(|machine| machine.place(addresses, node))?;
            }
        }
    }
    machine.with(Machine::start);
    let mut measured = Vec::with_capacity(cases.len());
    for (nth, case) in cases.iter().enumerate() {
        let warming = if nth == 0 { case.warming } else { case.warming / BETWEEN };
        for searches in case.searches(warming, nth) {
            serve(&machine, &mut loaded, &searches, case.threads)?;
        }
        measured.push(count(&machine, &mut loaded, (case, nth))?);
    }
    Ok(measured)
}

/// Before each further case of a series only as large a part of the searches fills the caches anew.
const BETWEEN: usize = 4;

/// Serves the batches that count.
fn count(machine: &Listener, loaded: &mut Loaded<Traced>, (case, nth): (&Case, usize)) -> Result<Measured> {
    let reading = || machine.with(|machine| (machine.counters(), machine.now_slots()));
    let ((before, start), mut queries) = (reading(), 0);
    for batch in case.batches(nth).take(case.rounds) {
        queries += batch.len();
        serve(machine, loaded, &batch, case.threads)?;
    }
    let (after, end) = reading();
    let threads_per_node = match loaded {
        Loaded::Pi(index) => index.threads_per_node().to_vec(),
        _ => Vec::new(),
    };
    let counted = after - before;
    let each = |count: u64| count as f64 / queries.max(1) as f64;
    Ok(Measured {
        seconds: machine.with(|machine| machine.seconds(end - start)),
        range: None,
        queries,
        per_query: Some(PerQuery {
            lines: each(counted.lines),
            misses: each(counted.memory_accesses),
            remote: each(counted.remote_accesses),
            entries: each(counted.visits),
            prefetches: each(counted.prefetches),
        }),
        threads_per_node,
    })
}

fn load(contestant: Contestant, keys: Keys, case: &Case, cores: usize) -> Result<Loaded<Traced>> {
    Ok(match contestant {
        Contestant::Pi(form) => {
            let options = options_of(form, case.threads, cores, QuerySetSize::Queries(case.batch));
            let mut index = Pi::with_options(&options)?;
            index.bulk_load(&keys.entries())?;
            Loaded::Pi(Box::new(index))
        }
        Contestant::SkipList { sorted } => lists(keys, case.threads, sorted)?,
        Contestant::BLinkWide => {
            let options = olfit::Options { huge_pages: false, ..olfit::Options::default() };
            let mut index = olfit::build_traced::<_, _, Traced>(olfit::Member::BPlusOl, &options)?;
            index.bulk_load(&wide(keys), FillFactor::new(0.7)?)?;
            Loaded::Wide(index)
        }
        Contestant::BLink | Contestant::Flagship | Contestant::Rival(_) => {
            let options = olfit::Options { huge_pages: false, ..olfit::Options::default() };
            let mut index = olfit::build_traced::<_, _, Traced>(olfit::Member::BPlusOl, &options)?;
            index.bulk_load(&keys.entries(), FillFactor::new(0.7)?)?;
            Loaded::Shared(index)
        }
    })
}

fn serve(
    machine: &Listener,
    loaded: &mut Loaded<Traced>,
    batch: &[Query<u32, u32>],
    threads: usize,
) -> Result<()> {
    let processors = machine.with(|machine| machine.parameters().system.processors);
    match loaded {
        Loaded::Pi(index) => {
            let seats = (0..processors).map(|processor| processor * NODES / processors).collect();
            let hands = Processors { machine, seats, failed: RefCell::new(Ok(())) };
            let mut replies = Vec::with_capacity(batch.len());
            index.execute_on(&hands, batch, &mut replies);
            hands.failed.into_inner()
        }
        Loaded::Lists(all) => {
            let parts = all.parts(batch);
            let mut workers: Vec<Worker<'_, Result<usize>>> = Vec::new();
            for (list, part) in all.lists.iter_mut().zip(&parts) {
                workers.push(Box::new(move || {
                    let mut served = 0;
                    for &query in part {
                        served += serve_alone(list, query)?;
                    }
                    Ok(served)
                }));
            }
            spread(machine, workers)
        }
        Loaded::Shared(index) | Loaded::Batched(index) => {
            let index = &**index;
            in_parts(machine, batch, threads, &|query| serve_shared(index, query))
        }
        Loaded::Wide(index) => {
            let index = &**index;
            in_parts(machine, batch, threads, &|query| serve_wide(index, query))
        }
    }
}

/// Each thread serves its part of a batch, one query after the other.
fn in_parts(
    machine: &Listener,
    batch: &[Query<u32, u32>],
    threads: usize,
    serve: &dyn Fn(Query<u32, u32>) -> Result<usize>,
) -> Result<()> {
    let mut workers: Vec<Worker<'_, Result<usize>>> = Vec::new();
    for thread in 0..threads {
        let part = &batch[batch.len() * thread / threads..batch.len() * (thread + 1) / threads];
        workers.push(Box::new(move || part.iter().map(|&query| serve(query)).sum()));
    }
    spread(machine, workers)
}

/// Runs workers on processors that are spread evenly over the nodes.
fn spread(machine: &Listener, workers: Vec<Worker<'_, Result<usize>>>) -> Result<()> {
    let (processors, threads) =
        (machine.with(|machine| machine.parameters().system.processors), workers.len().max(1));
    let mut rows: Vec<Worker<'_, Result<usize>>> = Vec::new();
    for (thread, worker) in workers.into_iter().enumerate() {
        while rows.len() < thread * processors / threads {
            rows.push(Box::new(|| Ok(0)));
        }
        rows.push(worker);
    }
    machine.together(rows)?.into_iter().try_for_each(|served| served.map(|_| ()))
}
