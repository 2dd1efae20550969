//! Running parallel cases on the modelled machine.

use super::load::Loaded;
use super::work::{Shared, do_all};
use crate::error::Result;
use crate::experiment::{ParallelCase, ParallelOutcome};
use crate::model::{Listener, Machine, Parameters, Worker};
use crate::row::On;
use crate::subject::Subject;

/// Runs the cases on an index of this kind, one after the other: those of equal nodes on the same
/// index.
///
/// Each case has a machine of its own: the OLFIT paper's, with as many processors as work. Before it is
/// measured, each processor does as many operations of the same kind to fill its caches. The index is
/// built before, which nobody listens to.
///
/// # Errors
/// When the index refuses, answers wrongly or gets stuck.
pub fn run(
    subject: Subject,
    cases: &[ParallelCase],
    announce: &mut dyn FnMut(usize),
) -> Result<Vec<ParallelOutcome>> {
    let mut loaded: Option<Loaded> = None;
    let mut outcomes = Vec::with_capacity(cases.len());
    for (position, case) in cases.iter().enumerate() {
        announce(position);
        let ready = match loaded.take().filter(|loaded| loaded.is_for(case)) {
            Some(loaded) => loaded,
            None => Loaded::new(subject, case, On::Model)?,
        };
        outcomes.push(run_one(loaded.insert(ready), case)?);
    }
    Ok(outcomes)
}

fn run_one(loaded: &mut Loaded, case: &ParallelCase) -> Result<ParallelOutcome> {
    let machine = Listener::new(Machine::new(Parameters::olfit(case.processors))?);
    machine.with(Machine::start);
    work_together(&machine, loaded, case)?;
    let reading = || machine.with(|machine| (machine.counters(), machine.now_slots()));
    let (before, start) = reading();
    work_together(&machine, loaded, case)?;
    let (after, end) = reading();
    Ok(ParallelOutcome {
        operations: case.processors * case.operations,
        processors: case.processors,
        seconds: machine.with(|machine| machine.seconds(end - start)),
        counters: Some(after - before),
    })
}

fn work_together(machine: &Listener, loaded: &mut Loaded, case: &ParallelCase) -> Result<()> {
    let plans = loaded.population.plan(case.processors, case.operations, case.updates_percent);
    let subject = loaded.subject;
    let shared = Shared::new(subject, &loaded.index);
    let done = match plans.as_slice() {
        [plan] if !shared.takes_updates() => {
            let index = &mut loaded.index;
            machine.together(vec![Box::new(move || do_all(index, plan, subject))])?
        }
        plans => {
            let mut workers: Vec<Worker<'_, Result<()>>> = Vec::with_capacity(plans.len());
            for plan in plans {
                workers.push(Box::new(move || do_all(shared, plan, subject)));
            }
            machine.together(workers)?
        }
    };
    done.into_iter().collect()
}
