//! Running a case on the memory-hierarchy model.

use super::data::Keys;
use super::work::{Requests, all_right, build};
use crate::error::Result;
use crate::experiment::{Case, Outcome, Parts, Task};
use crate::model::{Counters, Listener, Machine, Parameters};
use crate::subject::{Index, Subject};
use latchless_core::mem::touch::listen;

/// Loads `subject` and does the case's task on the paper's machine.
///
/// The machine's caches are empty at first (a *warm* run warms them itself: 100,000 searches leave
/// no trace of their first few) and emptied before every operation of a cold task. The load is heard, so
/// that pages are numbered
/// in the order in which it made them, but takes no time.
///
/// # Errors
/// When the index refuses, or answers wrongly.
pub fn run(subject: Subject, case: &Case, keys: &Keys) -> Result<Outcome> {
    run_made(subject.name(), || subject.make_modelled(), case, keys)
}

/// Runs a case on an index that `make` creates, called `name`; see [`run`].
///
/// # Errors
/// Those of [`run`].
pub fn run_made(
    name: &'static str,
    make: impl FnOnce() -> latchless_papers::Result<Index>,
    case: &Case,
    keys: &Keys,
) -> Result<Outcome> {
    run_on(&Parameters::PB_TREE, name, make, case, keys)
}

/// Runs a case on another machine; see [`run_made`].
///
/// # Errors
/// Those of [`run`].
pub fn run_on(
    machine: &Parameters,
    name: &'static str,
    make: impl FnOnce() -> latchless_papers::Result<Index>,
    case: &Case,
    keys: &Keys,
) -> Result<Outcome> {
    let machine = Listener::new(Machine::new(*machine)?);
    listen(Box::new(machine.clone()), || {
        let mut index = make()?;
        build(&mut index, case, keys)?;
        let mut requests = Requests::new(case.task, keys);
        let counters = perform_all(&machine, &mut requests, &mut index, keys, (name, case.task))?;
        let parts = parts(&machine, counters, requests.len());
        Ok(Outcome { cost: Some(parts.total()), parts: Some(parts), ..Outcome::default() })
    })
}

fn perform_all(
    machine: &Listener,
    requests: &mut Requests,
    index: &mut Index,
    keys: &Keys,
    (name, task): (&'static str, Task),
) -> Result<Counters> {
    let cold = is_cold(task);
    machine.with(|machine| {
        machine.clear_caches();
        machine.start();
    });
    let before = machine.with(|machine| machine.counters());
    let mut right = 0;
    for position in 0..requests.len() {
        if cold {
            machine.with(Machine::clear_caches);
        }
        right += usize::from(requests.perform(position, index, keys)?);
    }
    machine.with(Machine::stop);
    all_right(right, requests.len(), name, task)?;
    Ok(machine.with(|machine| machine.counters()) - before)
}

/// Returns whether the caches are emptied before every operation of `task`.
pub fn is_cold(task: Task) -> bool {
    match task {
        Task::Search { cold, .. } | Task::Insert { cold, .. } | Task::Remove { cold, .. } => cold,
        Task::Scan { .. } => true,
        Task::Load => false,
    }
}

fn parts(machine: &Listener, counters: Counters, operations: usize) -> Parts {
    let per_operation = |slots: u64| machine.with(|machine| machine.cycles(slots)) / operations.max(1) as f64;
    Parts {
        busy: per_operation(counters.busy_slots),
        data_stall: per_operation(counters.data_stall_slots),
        other_stall: per_operation(counters.other_stall_slots),
    }
}
