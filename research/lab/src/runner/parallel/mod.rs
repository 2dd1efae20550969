//! Experiments in which several processors share an index.

mod load;
mod modelled;
mod native;
mod population;
mod work;

pub(crate) use population::key_of;

use super::places::Places;
use super::progress::Reporter;
use crate::error::Result;
use crate::experiment::{Experiment, ParallelCase, ParallelOutcome, ParallelPanel, ParallelYardstick, Scale};
use crate::on::On;
use crate::row::{NOT_COMPARABLE, Row};
use crate::subject::Subject;

/// Returns the number of points of a panel.
pub fn points(panel: &ParallelPanel, places: Places, scale: Scale) -> usize {
    places.list().iter().map(|&on| panel.values(on, scale).len() * panel.series.len()).sum()
}

/// Runs a panel, and compares the results with the published ones.
///
/// # Errors
/// When an index refuses, answers wrongly or gets stuck.
pub fn run_panel(
    experiment: &Experiment,
    panel: &ParallelPanel,
    places: Places,
    scale: Scale,
    report: &mut Reporter<'_>,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &on in places.list() {
        let values = panel.values(on, scale);
        let cases: Vec<ParallelCase> = values.iter().map(|&x| panel.case(x, on, scale)).collect();
        let mut announce = |what: &str, x: usize, points: usize| {
            let parts = [experiment.name, panel.name, what, on.name()];
            let said: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            report.next(format!("{} at {x}", said.join(" ")), points);
        };
        // By series, then by x.
        let outcomes: Vec<Vec<ParallelOutcome>> = if on == On::Native {
            let by_x = native::run(panel.series, &cases, scale, &mut |nth| {
                announce("", values[nth], panel.series.len());
            })?;
            (0..panel.series.len()).map(|nth| by_x.iter().map(|outcomes| outcomes[nth]).collect()).collect()
        } else {
            let one = |&subject: &Subject| {
                modelled::run(subject, &cases, &mut |nth| announce(subject.name(), values[nth], 1))
            };
            panel.series.iter().map(one).collect::<Result<_>>()?
        };
        for (nth, &x) in values.iter().enumerate() {
            rows.extend(rows_of(panel, (on, scale), (nth, x), &outcomes));
        }
    }
    Ok(rows)
}

/// The rows of one point of a panel, given the outcomes of its series along the axis.
fn rows_of(
    panel: &ParallelPanel,
    (on, scale): (On, Scale),
    (nth, x): (usize, usize),
    outcomes: &[Vec<ParallelOutcome>],
) -> Vec<Row> {
    let of_series = |wanted: Subject| {
        let position = panel.series.iter().position(|&subject| subject == wanted)?;
        outcomes.get(position)?.get(nth)
    };
    let position_of = |wanted: usize| panel.values(on, scale).iter().position(|&x| x == wanted);
    let mut rows = Vec::new();
    for &yardstick in panel.yardsticks {
        for (&subject, along) in panel.series.iter().zip(outcomes) {
            let reference = match yardstick {
                ParallelYardstick::OverOwnAt(x) => position_of(x).and_then(|position| along.get(position)),
                ParallelYardstick::OverOwnAtHalf => {
                    position_of(x / 2).and_then(|position| along.get(position))
                }
                _ => yardstick.compares_with().and_then(of_series),
            };
            if let Some(ours) = yardstick.measure(&along[nth], reference) {
                rows.push(row_of(panel, (yardstick, subject, x), (on, scale), ours, &along[nth]));
            }
        }
    }
    rows
}

fn row_of(
    panel: &ParallelPanel,
    (yardstick, subject, x): (ParallelYardstick, Subject, usize),
    (on, scale): (On, Scale),
    ours: f64,
    outcome: &ParallelOutcome,
) -> Row {
    let row = Row::new(subject.name(), x as f64, yardstick.unit(), ours);
    let published = panel.published(yardstick, subject, x);
    let row = row.beside(published);
    let note = match (scale, published) {
        (Scale::Small, Some(_)) => NOT_COMPARABLE.to_string(),
        _ => row.note.clone(),
    };
    let cost = Some(outcome.nanoseconds(outcome.seconds));
    let spread = outcome.spread.map(|seconds| seconds.map(|seconds| outcome.nanoseconds(seconds)));
    Row { panel: panel.name, on, note, cost, cost_unit: "ns/operation".to_string(), spread, ..row }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Body, Claim, ParallelAxis, Processors, Published, Scaled, Setting};
    use latchless_papers::pb_tree::Member;

    const BASE: Subject = Subject::PbTree(Member::BPlus);
    const SEARCHES: ParallelPanel = ParallelPanel {
        name: "search",
        axis: ParallelAxis::Processors { model: Scaled::same(&[1, 8]), native: &[1, 2] },
        keys: Scaled::same(20_000),
        processors: Processors { model: 8, native: 2 },
        updates_percent: 0,
        node_bytes: 64,
        setting: Setting::PLAIN,
        operations: Scaled::same(500),
        series: &[BASE],
        yardsticks: &[ParallelYardstick::OverOwnAt(1), ParallelYardstick::CoherenceMisses],
        claims: &[Claim::at(8, ParallelYardstick::OverOwnAt(1), &[BASE], Published::AtLeast(7.0))],
    };

    #[test]
    fn a_point_without_one_of_half_its_x_isn_t_compared_with_it() {
        static STEPS: ParallelPanel = ParallelPanel {
            axis: ParallelAxis::Processors { model: Scaled::same(&[1, 2, 8]), native: &[1, 2] },
            yardsticks: &[ParallelYardstick::OverOwnAtHalf],
            claims: &[],
            ..SEARCHES
        };
        let rows = rows(&STEPS, Places::Model).unwrap();
        assert_eq!(rows.iter().map(|row| row.x).collect::<Vec<_>>(), [2.0]);
        assert!((1.9..=2.0).contains(&rows[0].ours), "{} times", rows[0].ours);
    }

    fn rows(panel: &'static ParallelPanel, places: Places) -> Result<Vec<Row>> {
        let experiment = Experiment { name: "fig-7", title: "", remarks: &[], body: Body::Parallel(&[]) };
        let mut said = 0;
        let mut count = |_| said += 1;
        let mut report = Reporter { done: 0, total: 0, progress: &mut count };
        let rows = run_panel(&experiment, panel, places, Scale::Paper, &mut report)?;
        assert_eq!(report.done, points(panel, places, Scale::Paper));
        Ok(rows)
    }

    #[test]
    fn searches_without_latches_scale_on_the_model() {
        let rows = rows(&SEARCHES, Places::Model).unwrap();
        let ours: Vec<(f64, &str)> = rows.iter().map(|row| (row.x, row.unit.as_str())).collect();
        let (scaling, misses) = ("times its own at 1", "coherence misses/operation");
        assert_eq!(ours, [(1.0, scaling), (1.0, misses), (8.0, scaling), (8.0, misses)]);
        assert!((7.0..=8.01).contains(&rows[2].ours), "{} times", rows[2].ours);
        assert_eq!((rows[3].ours, rows[2].note.as_str()), (0.0, ""));
        assert_eq!(rows[2].published, Some(Published::AtLeast(7.0)));
    }

    #[test]
    fn runs_natively_without_counting_misses() {
        let rows = rows(&SEARCHES, Places::Native).unwrap();
        assert_eq!(rows.len(), 2);
        assert!(rows.iter().all(|row| row.ours > 0.0 && row.on == On::Native && row.cost.is_some()));
    }

    #[test]
    fn an_index_for_one_processor_takes_updates_from_one_alone() {
        static ALONE: ParallelPanel = ParallelPanel {
            axis: ParallelAxis::UpdatesPercent(Scaled::same(&[0, 100])),
            processors: Processors { model: 1, native: 1 },
            yardsticks: &[ParallelYardstick::Throughput],
            claims: &[],
            ..SEARCHES
        };
        assert_eq!(rows(&ALONE, Places::Both).unwrap().len(), 4);
        static TWO: ParallelPanel = ParallelPanel { processors: Processors { model: 2, native: 2 }, ..ALONE };
        for places in [Places::Model, Places::Native] {
            assert!(matches!(rows(&TWO, places), Err(crate::LabError::NotConcurrent { .. })));
        }
    }
}
