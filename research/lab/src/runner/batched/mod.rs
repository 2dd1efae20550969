//! Experiments in which threads serve requests batch by batch.

mod kinds;
mod modelled;
mod native;
mod traffic;

use super::places::Places;
use super::progress::Reporter;
use super::sizes::Sizes;
use crate::error::Result;
use crate::experiment::{BatchedOutcome, BatchedPanel, BatchedYardstick, Experiment, Pages, Scale, Way};
use crate::on::On;
use crate::row::{NOT_COMPARABLE, Row};
use latchless_core::mem::touch::{Branching, NoTrace, Traced};
use latchless_papers::spiderman::page::CodeBase;
pub(crate) use traffic::{Loaded, serve};

/// The trees of an experiment's last panels, which the next ones use as well if they want as many records on
/// pages of the same form. Natively searches in pages branch at each key, as those of the paper's code base
/// do: a processor that predicts a branch requests the next line before the key is there.
#[derive(Default)]
pub struct Kept {
    native: Option<Loaded<Branching>>,
    modelled: Option<Loaded<Traced>>,
    native_theirs: Option<Loaded<CodeBase<Branching>>>,
    modelled_theirs: Option<Loaded<CodeBase<Traced>>>,
}

/// Returns the number of points of a panel.
pub fn points(panel: &BatchedPanel, places: Places) -> usize {
    places.list().iter().map(|&on| panel.threads(on).len() * panel.ways_on(on).len()).sum()
}

/// Runs a panel, and compares the results with the published ones.
///
/// # Errors
/// When the tree refuses, answers wrongly or gets stuck.
pub fn run_panel(
    kept: &mut Kept,
    (experiment, panel): (&Experiment, &BatchedPanel),
    places: Places,
    (scale, sizes): (Scale, Sizes),
    report: &mut Reporter<'_>,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &on in places.list() {
        let ways = panel.ways_on(on);
        if panel.threads(on).is_empty() {
            continue;
        }
        let mut announce = |threads: usize| {
            let parts = [experiment.name, panel.name, on.name()];
            let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            report.next(format!("{} with {threads} threads", said.join(" ")), ways.len());
        };
        let records = sizes.records.unwrap_or(panel.records(on, scale));
        let (what, sizes_of) = ((panel, &ways[..]), (scale, sizes));
        let by_threads = match (on, panel.pages) {
            (On::Native, Pages::Ours) => {
                native::run(&mut kept.native, what, records, sizes_of, &mut announce)?
            }
            (On::Native, Pages::CodeBase) => {
                native::run(&mut kept.native_theirs, what, records, sizes_of, &mut announce)?
            }
            (_, Pages::Ours) => {
                modelled::run::<NoTrace, _>(&mut kept.modelled, what, records, scale, &mut announce)?
            }
            (_, Pages::CodeBase) => {
                let theirs = &mut kept.modelled_theirs;
                modelled::run::<CodeBase<NoTrace>, _>(theirs, what, records, scale, &mut announce)?
            }
        };
        for (&threads, outcomes) in panel.threads(on).iter().zip(&by_threads) {
            rows.extend(rows_of(panel, &ways, (on, scale, sizes), threads, outcomes));
        }
    }
    Ok(rows)
}

/// The rows for one number of threads, given the outcomes of all ways.
fn rows_of(
    panel: &BatchedPanel,
    ways: &[Way],
    (on, scale, sizes): (On, Scale, Sizes),
    threads: usize,
    outcomes: &[BatchedOutcome],
) -> Vec<Row> {
    let of_way = |name: &str| outcomes.get(ways.iter().position(|way| way.name == name)?);
    let mut rows = Vec::new();
    for &yardstick in panel.yardsticks {
        let other = if let BatchedYardstick::Over(name) = yardstick { of_way(name) } else { None };
        for (way, outcome) in ways.iter().zip(outcomes) {
            let Some(ours) = yardstick.measure(outcome, other) else { continue };
            let published = panel.published(yardstick, way.name, threads);
            let row = Row::new(way.name, threads as f64, yardstick.unit(), ours).beside(published);
            let smaller = scale == Scale::Small || sizes.records.is_some();
            let note = if published.is_some() && smaller { NOT_COMPARABLE.into() } else { row.note.clone() };
            let cost = Some(1e9 * threads as f64 / outcome.throughput);
            rows.push(Row {
                panel: panel.name,
                on,
                note,
                cost,
                cost_unit: "ns/transaction".to_string(),
                ..row
            });
        }
    }
    rows
}
