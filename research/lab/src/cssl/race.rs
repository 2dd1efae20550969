//! Contestants interleaved in one process, round by round: only such numbers are compared.

use super::contestant::{Contestant, Loaded, Query, Who};
use crate::error::{LabError, Result};
use crate::experiment::{Published, Scale};
use crate::row::{On, Row};
use crate::runner::median;
use std::time::{Duration, Instant};

/// Rounds; the median counts.
const ROUNDS: usize = 5;
/// Queries between two reads of the clock.
const TOGETHER: usize = 16;

/// The queries of a race.
#[derive(Debug, Clone, Copy)]
pub(super) enum Queries<'a> {
    Lookups(&'a [u32]),
    /// Lookups that wait for each other.
    Chained(&'a [u32]),
    Ranges(&'a [(u32, u32)]),
    /// Lookups and ranges in one stream.
    Mixed(&'a [Query]),
}

impl Queries<'_> {
    fn len(self) -> usize {
        match self {
            Self::Lookups(keys) | Self::Chained(keys) => keys.len(),
            Self::Ranges(ranges) => ranges.len(),
            Self::Mixed(queries) => queries.len(),
        }
    }

    /// Has some of them answered.
    pub(super) fn ask(self, who: &dyn Contestant, from: usize, to: usize) -> u64 {
        match self {
            Self::Lookups(keys) => who.lookups(&keys[from..to]),
            Self::Chained(keys) => who.chained(&keys[from..to]),
            Self::Ranges(ranges) => who.ranges(&ranges[from..to]),
            Self::Mixed(queries) => who.mixed(&queries[from..to]),
        }
    }
}

/// Contestants that are loaded, by name.
pub(super) type Field = Vec<(Who, Box<dyn Contestant>)>;

/// Loads those of them that this build has.
pub(super) fn field(whos: &[Who], keys: &[u32]) -> Result<Field> {
    let (mut field, mut shared) = (Vec::with_capacity(whos.len()), Loaded::default());
    for &who in whos {
        field.extend(who.load_beside(keys, &mut shared)?.map(|loaded| (who, loaded)));
    }
    Ok(field)
}

/// Returns the duration of one contestant's round.
fn budget(scale: Scale) -> Duration {
    match scale {
        Scale::Small => Duration::from_micros(200),
        Scale::Paper => Duration::from_millis(40),
    }
}

/// Nanoseconds a query of each contestant.
///
/// # Errors
/// When they don't give the same answers.
pub(super) fn race(field: &Field, queries: Queries<'_>, scale: Scale) -> Result<Vec<f64>> {
    let first = TOGETHER.min(queries.len());
    let mut expected = None;
    for (who, contestant) in field {
        let answer = queries.ask(&**contestant, 0, first);
        let expected = *expected.get_or_insert(answer);
        if answer != expected {
            let what = format!("{answer}, not {expected}, over the first {first} queries");
            return Err(LabError::Wrong { index: who.name(), what });
        }
    }
    let mut times = vec![Vec::with_capacity(ROUNDS); field.len()];
    for _ in 0..ROUNDS {
        for ((_, contestant), times) in field.iter().zip(&mut times) {
            times.push(time(&**contestant, queries, budget(scale)));
        }
    }
    Ok(times.iter_mut().map(|times| median(times)).collect())
}

fn time(who: &dyn Contestant, queries: Queries<'_>, budget: Duration) -> f64 {
    let (mut done, start) = (0, Instant::now());
    let mut answers = 0;
    while done < queries.len() && start.elapsed() < budget {
        let to = (done + TOGETHER).min(queries.len());
        answers += queries.ask(who, done, to);
        done = to;
    }
    std::hint::black_box(answers);
    start.elapsed().as_nanos() as f64 / done.max(1) as f64
}

/// The position of rows in an experiment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) panel: &'static str,
    pub(super) x: f64,
    pub(super) scale: Scale,
}

/// Returns the throughput of each, and its ratio to `reference`; `claim` returns the paper's numbers.
pub(super) fn rows(
    field: &Field,
    times: &[f64],
    at: Point,
    reference: Who,
    claim: impl Fn(Who) -> Option<Published>,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for ((who, _), &time) in field.iter().zip(times) {
        let row = Row::new(who.name(), at.x, "queries a second", 1e9 / time);
        rows.push(Row { cost: Some(time), cost_unit: "ns/query".to_string(), ..native(row, at) });
    }
    rows.extend(ratios(field, times, at, reference, claim));
    rows
}

/// Returns each one's ratio to `reference`; `claim` returns the paper's numbers.
pub(super) fn ratios(
    field: &Field,
    times: &[f64],
    at: Point,
    reference: Who,
    claim: impl Fn(Who) -> Option<Published>,
) -> Vec<Row> {
    let place = field.iter().position(|(who, _)| *who == reference);
    let Some(reference_time) = place.map(|place| times[place]) else { return Vec::new() };
    let ratio = |((who, _), &time): (&(Who, _), &f64)| {
        let unit = format!("times {}", reference.name());
        native(Row::new(who.name(), at.x, unit, reference_time / time).beside(claim(*who)), at)
    };
    field.iter().zip(times).map(ratio).collect()
}

/// Returns a row of this machine; small runs aren't compared.
pub(super) fn native(row: Row, at: Point) -> Row {
    Row { panel: at.panel, on: On::Native, ..row.comparable(at.scale) }
}
