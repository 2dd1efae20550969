//! Running a case on this machine.
//!
//! All the series of one point are loaded first and then run round by round, in turn, so that
//! whatever else the machine does hits all of them alike; of each series the median round counts. A
//! warm round is timed as a whole. Of a cold one each operation is timed alone, after reading a
//! buffer larger than the last-level cache; since that takes milliseconds, only some of the task's
//! operations are done, and the clock's own tens of nanoseconds are in the result. Updates start
//! every round with a fresh load.

use super::data::Keys;
use super::modelled::is_cold;
use super::work::{Requests, all_right};
use crate::error::Result;
use crate::experiment::{Case, Outcome, Scale, Task};
use crate::subject::{Index, Subject};
use latchless::FillFactor;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Rounds, and operations of a cold round, by scale.
#[derive(Debug, Clone, Copy)]
struct Effort {
    rounds: usize,
    cold_rounds: usize,
    cold_operations: usize,
}

impl Effort {
    const fn of(scale: Scale) -> Self {
        match scale {
            Scale::Small => Self { rounds: 3, cold_rounds: 1, cold_operations: 3 },
            Scale::Paper => Self { rounds: 5, cold_rounds: 3, cold_operations: 100 },
        }
    }
}

/// Runs the case on every one of `series`; one outcome each.
///
/// # Errors
/// When an index refuses, or answers wrongly.
pub fn run(series: &[Subject], case: &Case, keys: &Keys, scale: Scale) -> Result<Vec<Outcome>> {
    let cold = is_cold(case.task);
    let effort = Effort::of(scale);
    let rounds = if cold { effort.cold_rounds } else { effort.rounds };
    let mut requests = Requests::new(case.task, keys);
    let mut evictor = Evictor::new(cold);
    let mut indexes = series.iter().map(|&subject| load(subject, case, keys)).collect::<Result<Vec<_>>>()?;
    let mut times = vec![Vec::with_capacity(rounds); series.len()];
    for round in 0..rounds {
        for (position, &subject) in series.iter().enumerate() {
            if round > 0 && is_update(case.task) {
                indexes[position] = load(subject, case, keys)?;
            }
            let index = &mut indexes[position];
            times[position].push(if cold {
                let most = effort.cold_operations.min(requests.len());
                time_cold(&mut requests, most, index, keys, &mut evictor, (subject, case.task))?
            } else {
                time_warm(&mut requests, index, keys, (subject, case.task))?
            });
        }
    }
    Ok(times.iter_mut().map(|times| Outcome { cost: Some(median(times)), ..Outcome::default() }).collect())
}

fn load(subject: Subject, case: &Case, keys: &Keys) -> Result<Index> {
    let mut index = subject.make_native()?;
    index.bulk_load(keys.entries(), FillFactor::new(case.fill)?)?;
    Ok(index)
}

fn is_update(task: Task) -> bool {
    matches!(task, Task::Insert { .. } | Task::Remove { .. })
}

/// Nanoseconds per operation.
fn time_warm(
    requests: &mut Requests,
    index: &mut Index,
    keys: &Keys,
    (subject, task): (Subject, Task),
) -> Result<f64> {
    let mut right = 0;
    let start = Instant::now();
    for position in 0..requests.len() {
        right += usize::from(requests.perform(position, index, keys)?);
    }
    let taken = start.elapsed();
    all_right(right, requests.len(), subject.name(), task)?;
    Ok(per_operation(taken, requests.len()))
}

/// Nanoseconds per operation, of the first `most`.
fn time_cold(
    requests: &mut Requests,
    most: usize,
    index: &mut Index,
    keys: &Keys,
    evictor: &mut Evictor,
    (subject, task): (Subject, Task),
) -> Result<f64> {
    let (mut taken, mut right) = (Duration::ZERO, 0);
    for position in 0..most {
        evictor.evict();
        let start = Instant::now();
        right += usize::from(requests.perform(position, index, keys)?);
        taken += start.elapsed();
    }
    all_right(right, most, subject.name(), task)?;
    Ok(per_operation(taken, most))
}

fn per_operation(taken: Duration, operations: usize) -> f64 {
    taken.as_nanos() as f64 / operations.max(1) as f64
}

/// The median; of an even number of times the smaller of the middle two.
fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get((times.len().max(1) - 1) / 2).copied().unwrap_or(0.0)
}

/// Empties the caches by filling them with something else.
struct Evictor {
    lines: Vec<[u64; 8]>,
}

impl Evictor {
    fn new(cold: bool) -> Self {
        let bytes = if cold { 2 * crate::host::last_level_cache_bytes() } else { 0 };
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
    }
}
