//! Contestants interleaved in one process, round by round: only such numbers are compared.

use super::contestant::{Contestant, Query};
use super::who::{Loaded, Who};
use crate::error::{LabError, Result};
use crate::experiment::{Published, Scale};
use crate::on::On;
use crate::row::Row;
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
    let Some(reference_time) = time_of(field, times, reference) else { return Vec::new() };
    let ratio = |((who, _), &time): (&(Who, _), &f64)| {
        let unit = format!("times {}", reference.name());
        native(Row::new(who.name(), at.x, unit, reference_time / time).beside(claim(*who)), at)
    };
    field.iter().zip(times).map(ratio).collect()
}

/// Returns the ratio of each of these to the next one in the field: the paper's order, of which each must be
/// ahead.
pub(super) fn in_order(field: &Field, times: &[f64], at: Point, order: &[Who]) -> Vec<Row> {
    let there: Vec<Who> = order.iter().copied().filter(|who| time_of(field, times, *who).is_some()).collect();
    let ahead = |pair: &[Who]| over(field, times, at, pair[0], pair[1], Some(Published::MoreThan(1.0)));
    there.windows(2).filter_map(ahead).collect()
}

/// Returns the ratio of each of these to the fastest of their rivals, which they must outperform.
pub(super) fn over_all(field: &Field, times: &[f64], at: Point, ours: &[Who], rivals: &[Who]) -> Vec<Row> {
    let time = |who: &Who| time_of(field, times, *who);
    let Some(fastest) = rivals.iter().filter_map(time).min_by(f64::total_cmp) else { return Vec::new() };
    let row = |who: &Who| {
        let row = Row::new(who.name(), at.x, "times the fastest rival of the paper", fastest / time(who)?);
        Some(native(row.beside(Some(Published::MoreThan(1.0))), at))
    };
    ours.iter().filter_map(row).collect()
}

/// Returns the ratio of one to another; nothing if the field is without them.
pub(super) fn over(
    field: &Field,
    times: &[f64],
    at: Point,
    who: Who,
    other: Who,
    said: Option<Published>,
) -> Option<Row> {
    let ratio = time_of(field, times, other)? / time_of(field, times, who)?;
    let row = Row::new(who.name(), at.x, format!("times {}", other.name()), ratio);
    Some(native(row.beside(said), at))
}

/// Returns the time of one.
pub(super) fn time_of(field: &Field, times: &[f64], who: Who) -> Option<f64> {
    field.iter().position(|(one, _)| *one == who).map(|place| times[place])
}

/// Returns a row of this machine; small runs aren't compared.
pub(super) fn native(row: Row, at: Point) -> Row {
    Row { panel: at.panel, on: On::Native, ..row.comparable(at.scale) }
}

#[cfg(test)]
mod tests {
    use super::super::bpt::Walk;
    use super::super::who::Ask;
    use super::*;
    use latchless_papers::cssl::Member;

    const CSSL5: Who = Who::Cssl(Member::Cssl5, Ask::Unguessed, None);
    const BPT: Who = Who::Bpt(Walk::ToTheLastLeaf);
    /// Not loaded here, as in a build without it.
    const ABSENT: Who = Who::AdaptiveRadixTree;
    const ORDER: [Who; 4] = [Who::BinarySearch, Who::Csb, ABSENT, BPT];
    const AT: Point = Point { panel: "dense", x: 10.0, scale: Scale::Paper };

    /// A field, and the times of a race in which each took twice as long as the one before.
    fn raced() -> (Field, Vec<f64>) {
        (field(&[CSSL5, Who::BinarySearch, Who::Csb, BPT], &[1, 2, 3]).unwrap(), vec![1.0, 2.0, 4.0, 8.0])
    }

    #[test]
    fn each_is_compared_with_its_neighbour_in_the_paper_s_order_and_has_to_be_ahead() {
        let (field, times) = raced();
        let rows = in_order(&field, &times, AT, &ORDER);
        let compared: Vec<_> = rows.iter().map(|row| (row.series.as_str(), row.unit.as_str())).collect();
        assert_eq!(compared, [("binary search", "times csb"), ("csb", "times bpt")]);
        assert!(rows.iter().all(|row| row.ours == 2.0 && row.published == Some(Published::MoreThan(1.0))));
        let reversed = in_order(&field, &times, AT, &[BPT, Who::Csb]);
        assert_eq!((reversed[0].ours, reversed[0].note.is_empty()), (0.5, false));
    }

    #[test]
    fn outperforming_all_is_outperforming_the_fastest() {
        let (field, times) = raced();
        let rows = over_all(&field, &times, AT, &[CSSL5, BPT], &ORDER);
        assert_eq!(rows.iter().map(|row| row.ours).collect::<Vec<_>>(), [2.0, 0.25]);
        assert!(rows[0].note.is_empty() && rows[1].note.starts_with("below"));
    }

    #[test]
    fn all_forms_of_trees_and_searches_give_the_same_answers() {
        let keys: Vec<u32> = (1..2_000).map(|key| 3 * key).chain([u32::MAX]).collect();
        let forms = [
            Who::BinarySearch,
            Who::BinarySearchBranching,
            Who::BPlus,
            Who::BPlusBranching,
            Who::Csb,
            Who::CsbBranching,
            Who::CsbScalar,
            BPT,
            Who::Bpt(Walk::ToItsEnd),
        ];
        let field = field(&forms, &keys).unwrap();
        let wanted: Vec<u32> = (0..7_000).chain([u32::MAX - 1, u32::MAX]).collect();
        let ranges: Vec<(u32, u32)> = (0..700).map(|key| (10 * key, 11 * key + 2)).collect();
        for (queries, expected) in [
            (Queries::Lookups(&wanted), keys.len() as u64),
            (Queries::Chained(&wanted), keys.len() as u64),
            (Queries::Ranges(&ranges), ranges.iter().map(|range| within(&keys, *range)).sum()),
        ] {
            for (who, contestant) in &field {
                assert_eq!(queries.ask(&**contestant, 0, queries.len()), expected, "{}", who.name());
            }
        }
    }

    fn within(keys: &[u32], (low, high): (u32, u32)) -> u64 {
        keys.iter().filter(|key| (low..=high).contains(key)).count() as u64
    }
}
