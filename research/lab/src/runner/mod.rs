//! One runner for every experiment.

mod batched;
mod chained;
mod counted;
mod data;
mod modelled;
mod native;
mod parallel;
mod places;
mod progress;
mod sizes;
pub(crate) mod together;
mod work;

use crate::catalogue::Selected;
use crate::error::Result;
use crate::experiment::{Body, Experiment, Outcome, Panel, Scale, Yardstick};
use crate::model::Parameters;
use crate::on::On;
use crate::row::{NOT_COMPARABLE, Row};
use crate::subject::Subject;
pub(crate) use batched::{Loaded, serve};
pub(crate) use chained::{Chained, chained};
pub(crate) use data::Keys;
pub(crate) use modelled::{run_made as run_modelled, run_on as run_on_machine};
pub(crate) use native::{Entrant, median, run_entrants, spread};
pub(crate) use parallel::key_of;
pub use places::Places;
pub use progress::Progress;
use progress::Reporter;
pub use sizes::Sizes;
use std::sync::Arc;

/// Runs the selected experiments and compares the results with the published ones. `progress` is called
/// before every point.
///
/// # Errors
/// When an index refuses, or answers wrongly.
pub fn run(
    selected: &[Selected],
    places: Places,
    scale: Scale,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Row>> {
    run_sized(selected, places, (scale, Sizes::default()), progress)
}

/// Runs an experiment at other sizes if it supports any size; see [`run`].
///
/// # Errors
/// Those of [`run`].
pub fn run_sized(
    selected: &[Selected],
    places: Places,
    (scale, sizes): (Scale, Sizes),
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Row>> {
    let total = selected.iter().map(|one| points(one.experiment, places, scale)).sum();
    let mut report = Reporter { done: 0, total, progress };
    let mut rows = Vec::new();
    drop(crate::model::built());
    for one in selected {
        let experiment_rows = match one.experiment.body {
            Body::Computed { rows, .. } | Body::Timed { rows, .. } => {
                report.next(one.experiment.name.to_string(), 1);
                rows(scale)?
            }
            Body::Driven { rows, .. } => {
                let mut all = Vec::new();
                for &on in places.list() {
                    report.next(format!("{} {}", one.experiment.name, on.name()), 1);
                    all.extend(rows(on, scale)?.into_iter().map(|row| row.comparable(scale)));
                }
                all
            }
            Body::Measured(panels) => {
                let mut rows = Vec::new();
                for panel in panels {
                    rows.extend(run_panel(one.experiment, panel, places, scale, &mut report)?);
                }
                rows
            }
            Body::Parallel(panels) => {
                let mut rows = Vec::new();
                for panel in panels {
                    rows.extend(parallel::run_panel(one.experiment, panel, places, scale, &mut report)?);
                }
                rows
            }
            Body::Batched(panels) => {
                // A tree of its own: it grows, and an experiment gives the same whatever was run before.
                let (mut rows, mut kept) = (Vec::new(), batched::Kept::default());
                for panel in panels {
                    let (what, scale) = ((one.experiment, panel), (scale, sizes));
                    rows.extend(batched::run_panel(&mut kept, what, places, scale, &mut report)?);
                }
                rows
            }
        };
        let machines: Arc<[Parameters]> = crate::model::built().into();
        let (paper, experiment) = (one.paper.name, one.experiment.name);
        let sizes = if let Body::Batched(_) = one.experiment.body { sizes } else { Sizes::default() };
        rows.extend(experiment_rows.into_iter().map(|row| {
            let row = row.within(paper, experiment, scale);
            let command = row.command.clone() + &sizes.flags();
            Row { command, machines: machines.clone(), ..row }
        }));
    }
    Ok(rows)
}

fn places_of(panel: &Panel, places: Places) -> &'static [On] {
    if panel.is_counted() { &[On::Anywhere] } else { places.list() }
}

fn points(experiment: &Experiment, places: Places, scale: Scale) -> usize {
    match experiment.body {
        Body::Computed { .. } | Body::Timed { .. } => 1,
        Body::Driven { .. } => places.list().len(),
        Body::Measured(panels) => panels
            .iter()
            .map(|panel| places_of(panel, places).len() * panel.axis.values(scale).len() * panel.series.len())
            .sum(),
        Body::Parallel(panels) => panels.iter().map(|panel| parallel::points(panel, places, scale)).sum(),
        Body::Batched(panels) => panels.iter().map(|panel| batched::points(panel, places)).sum(),
    }
}

fn run_panel(
    experiment: &Experiment,
    panel: &Panel,
    places: Places,
    scale: Scale,
    report: &mut Reporter<'_>,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &on in places_of(panel, places) {
        let mut points = Vec::new();
        for &x in panel.axis.values(scale) {
            let case = panel.case(x, scale);
            let keys = Keys::new(case.keys);
            let mut announce = |what: &str, points: usize| {
                let parts = [experiment.name, panel.name, what, on.name()];
                let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                report.next(format!("{} at {x}", said.join(" ")), points);
            };
            let mut one_by_one = |run: &dyn Fn(Subject) -> Result<Outcome>| {
                let announced = |&subject: &Subject| {
                    announce(subject.name(), 1);
                    run(subject)
                };
                panel.series.iter().map(announced).collect::<Result<Vec<_>>>()
            };
            let outcomes = match on {
                On::Anywhere => one_by_one(&|subject| counted::run(subject, &case, &keys))?,
                On::Model => one_by_one(&|subject| modelled::run(subject, &case, &keys))?,
                On::Native => {
                    announce("", panel.series.len());
                    native::run(panel.series, &case, &keys, scale)?
                }
            };
            points.push((x, outcomes));
        }
        let last = points.last().map_or(&[][..], |(_, outcomes)| outcomes);
        for (x, outcomes) in &points {
            rows.extend(rows_of(panel, (on, scale), *x, outcomes, last));
        }
    }
    Ok(rows)
}

/// The rows of one point of a panel, given the outcomes of its series, and those of the panel's last point.
fn rows_of(
    panel: &Panel,
    (on, scale): (On, Scale),
    x: usize,
    outcomes: &[Outcome],
    last: &[Outcome],
) -> Vec<Row> {
    let position_of = |wanted: Subject| panel.series.iter().position(|&subject| subject == wanted);
    let mut rows = Vec::new();
    for &yardstick in panel.yardsticks {
        let reference = yardstick.compares_with().and_then(position_of);
        let with = |of: &'_ [Outcome]| reference.and_then(|position| of.get(position).copied());
        let (other, last_other) = (with(outcomes), with(last));
        for ((&subject, outcome), last) in panel.series.iter().zip(outcomes).zip(last) {
            let now = (outcome, other.as_ref());
            if let Some(ours) = yardstick.measure_along(now, (last, last_other.as_ref())) {
                rows.push(row_of(panel, (yardstick, subject, x), (on, scale), ours, outcome));
            }
        }
    }
    rows
}

fn row_of(
    panel: &Panel,
    (yardstick, subject, x): (Yardstick, Subject, usize),
    (on, scale): (On, Scale),
    ours: f64,
    outcome: &Outcome,
) -> Row {
    let row = Row::new(subject.name(), x as f64, yardstick.unit(), ours);
    let row = row.beside(panel.published(yardstick, subject, x));
    let comparable = scale == Scale::Paper || yardstick == Yardstick::Levels;
    let note = match (&row.published, comparable) {
        (Some(_), false) => NOT_COMPARABLE.to_string(),
        _ => row.note.clone(),
    };
    let per = panel.operation.noun();
    let cost_unit = match (outcome.cost, on) {
        (Some(_), On::Model) => format!("cycles/{per}"),
        (Some(_), _) => format!("ns/{per}"),
        (None, _) => String::new(),
    };
    Row { panel: panel.name, on, note, cost: outcome.cost, cost_unit, spread: outcome.spread, ..row }
}
