//! Running a case on this machine.
//!
//! All the series of one point are loaded first and then take turns, round by round, so that other work on
//! the machine affects all of them alike. A warm round is timed as a whole, and the median round of each
//! series counts. In a cold one every operation is timed separately, after reading a buffer larger than
//! the last-level cache, and the median operation counts; since emptying the caches takes milliseconds,
//! only some of the task's operations are done, and the clock's own tens of nanoseconds are in the result.
//! Updates start every round with a fresh load.

use super::data::Keys;
use super::modelled::is_cold;
use super::work::{Requests, all_right, build};
use crate::error::Result;
use crate::experiment::{Case, Outcome, Scale, Task};
use crate::subject::{Index, Subject};
use std::hint::black_box;
use std::time::Instant;

/// Rounds, and operations of a cold round, by scale.
#[derive(Debug, Clone, Copy)]
struct Effort {
    rounds: usize,
    operations: usize,
}

impl Effort {
    fn of(task: Task, scale: Scale) -> Self {
        let (rounds, cold_operations) = match scale {
            Scale::Small => (3, 3),
            Scale::Paper if is_cold(task) => (3, 33),
            Scale::Paper if is_update(task) => (5, 0),
            Scale::Paper => (9, 0),
        };
        Self { rounds, operations: cold_operations }
    }
}

/// Runs the case on every one of `series`; one outcome each.
///
/// # Errors
/// When an index refuses, or answers wrongly.
pub fn run(series: &[Subject], case: &Case, keys: &Keys, scale: Scale) -> Result<Vec<Outcome>> {
    let task = case.task;
    let effort = Effort::of(task, scale);
    let mut requests = Requests::new(task, keys);
    let mut evictor = Evictor::new(is_cold(task));
    let mut indexes = series.iter().map(|&subject| load(subject, case, keys)).collect::<Result<Vec<_>>>()?;
    let mut times = vec![Vec::new(); series.len()];
    for round in 0..effort.rounds {
        for (position, &subject) in series.iter().enumerate() {
            if round > 0 && is_update(task) {
                indexes[position] = load(subject, case, keys)?;
            }
            let (index, times) = (&mut indexes[position], &mut times[position]);
            let (right, of) = if is_cold(task) {
                let most = effort.operations.min(requests.len());
                (time_cold(&mut requests, most, index, keys, (&mut evictor, times))?, most)
            } else {
                (time_warm(&mut requests, index, keys, times)?, requests.len())
            };
            all_right(right, of, subject.name(), task)?;
        }
    }
    let outcome = |times: &mut Vec<f64>| Outcome {
        cost: Some(median(times)),
        spread: spread(times),
        ..Outcome::default()
    };
    Ok(times.iter_mut().map(outcome).collect())
}

fn load(subject: Subject, case: &Case, keys: &Keys) -> Result<Index> {
    let mut index = subject.make_native()?;
    build(&mut index, case, keys)?;
    Ok(index)
}

fn is_update(task: Task) -> bool {
    matches!(task, Task::Insert { .. } | Task::Remove { .. })
}

/// Adds the nanoseconds per operation of one round; returns the number of right answers.
fn time_warm(requests: &mut Requests, index: &mut Index, keys: &Keys, times: &mut Vec<f64>) -> Result<usize> {
    let mut right = 0;
    let start = Instant::now();
    for position in 0..requests.len() {
        right += usize::from(requests.perform(position, index, keys)?);
    }
    times.push(start.elapsed().as_nanos() as f64 / requests.len().max(1) as f64);
    Ok(right)
}

/// Adds the nanoseconds of each of the first `most` operations; returns the number of right answers.
fn time_cold(
    requests: &mut Requests,
    most: usize,
    index: &mut Index,
    keys: &Keys,
    (evictor, times): (&mut Evictor, &mut Vec<f64>),
) -> Result<usize> {
    let mut right = 0;
    for position in 0..most {
        evictor.evict();
        let start = Instant::now();
        right += usize::from(requests.perform(position, index, keys)?);
        times.push(start.elapsed().as_nanos() as f64);
    }
    Ok(right)
}

/// The median; of an even number of times the smaller of the middle two.
pub fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get((times.len().max(1) - 1) / 2).copied().unwrap_or(0.0)
}

/// The least and the most, if there are any.
pub fn spread(times: &[f64]) -> Option<[f64; 2]> {
    let least = times.iter().copied().reduce(f64::min)?;
    Some([least, times.iter().copied().fold(least, f64::max)])
}

/// Empties the caches by filling them with something else.
struct Evictor {
    lines: Vec<[u64; 8]>,
}

impl Evictor {
    fn new(cold: bool) -> Self {
        let bytes = if cold { latchless_measure::host::last_level_cache_bytes() / 2 * 3 } else { 0 };
        Self { lines: vec![[1; 8]; bytes / 64] }
    }

    fn evict(&mut self) {
        let sum = self.lines.iter().fold(0u64, |sum, line| sum.wrapping_add(line[0]));
        black_box(sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_a_disturbed_round() {
        assert_eq!(median(&mut [9e9, 2.0, 1.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0]), 1.0);
        assert_eq!(median(&mut []), 0.0);
        assert_eq!((spread(&[2.0, 1.0, 3.0]), spread(&[])), (Some([1.0, 3.0]), None));
    }
}
