//! Running parallel cases on the modelled machine.

use super::load::Loaded;
use super::work::{Shared, do_all};
use crate::error::Result;
use crate::experiment::{ParallelCase, ParallelOutcome};
use crate::model::{Listener, Machine, Parameters, Translation, Worker};
use crate::on::On;
use crate::subject::Subject;
use latchless_measure::apart::apart;

/// Runs the cases on an index of this kind, one after the other: those of equal nodes on the same
/// index. Each case has a separate machine: the OLFIT paper's, with as many processors as work. Before
/// the measurement, each processor does as many operations of the same kind to fill its caches. The index
/// is built before, without a listener.
///
/// # Errors
/// When the index refuses, answers wrongly or gets stuck.
pub fn run(
    subject: Subject,
    cases: &[ParallelCase],
    announce: &mut dyn FnMut(usize),
) -> Result<Vec<ParallelOutcome>> {
    // An index's latches and its collector's clock and places are on the heap. Results that outlive them
    // are copied, so that nothing stays there.
    let outcomes = apart(|| run_apart(subject, cases, announce))?;
    Ok(outcomes.clone())
}

fn run_apart(
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
    let machine = Listener::new(Machine::new(parameters(case))?);
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
        spread: None,
        counters: Some(after - before),
    })
}

/// The OLFIT paper's machine, as the case's setting changes it.
fn parameters(case: &ParallelCase) -> Parameters {
    let own = Parameters::olfit(case.processors);
    let own = if case.setting.nodes > 1 { own.on_nodes(case.setting.nodes) } else { own };
    let miss_cycles = case.setting.translation_cycles;
    let translation =
        own.translation.map(|own| Translation { miss_cycles: miss_cycles.unwrap_or(own.miss_cycles), ..own });
    let memory_interval_cycles = case.setting.bus_cycles.unwrap_or(own.memory_interval_cycles);
    Parameters { translation, memory_interval_cycles, ..own }.changed(case.setting.change)
}

fn work_together(machine: &Listener, loaded: &mut Loaded, case: &ParallelCase) -> Result<()> {
    let plans = loaded.population.plan(case);
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
