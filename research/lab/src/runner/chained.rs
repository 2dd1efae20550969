//! Warm searches on this machine, independent ones and dependent ones: the effect of a processor that
//! overlaps independent searches.

use super::data::Keys;
use super::native::{median, spread};
use super::work::{all_right, build};
use crate::error::Result;
use crate::experiment::{Case, Outcome, Scale, Task};
use crate::subject::{Index, Subject};
use std::hint::black_box;
use std::time::Instant;

/// Both, an outcome for each index.
pub struct Chained {
    /// Keys are known.
    pub independent: Vec<Outcome>,
    /// Each key depends on the last answer.
    pub chained: Vec<Outcome>,
}

/// Runs a case of searches on every one of `series`; they take turns, round by round, and the median round
/// counts.
///
/// # Errors
/// When an index refuses, or answers wrongly.
pub fn chained(series: &[Subject], case: &Case, keys: &Keys, scale: Scale) -> Result<Chained> {
    let Task::Search { count, .. } = case.task else {
        return Ok(Chained { independent: Vec::new(), chained: Vec::new() });
    };
    let rounds = if scale == Scale::Paper { 9 } else { 3 };
    let wanted = keys.present(count);
    let load = |subject: &Subject| -> Result<Index> {
        let mut index = subject.make_native()?;
        build(&mut index, case, keys)?;
        Ok(index)
    };
    let indexes = series.iter().map(load).collect::<Result<Vec<_>>>()?;
    let mut times = [vec![Vec::new(); series.len()], vec![Vec::new(); series.len()]];
    for _ in 0..rounds {
        for (nth, (subject, index)) in series.iter().zip(&indexes).enumerate() {
            let ways = [search::<false>, search::<true>];
            for (search, times) in ways.into_iter().zip(&mut times) {
                let start = Instant::now();
                let right = search(index, &wanted);
                times[nth].push(start.elapsed().as_nanos() as f64 / count.max(1) as f64);
                all_right(right, count, subject.name(), case.task)?;
            }
        }
    }
    let [independent, chained] = times.map(|times| times.into_iter().map(outcome).collect());
    Ok(Chained { independent, chained })
}

fn outcome(mut times: Vec<f64>) -> Outcome {
    Outcome { cost: Some(median(&mut times)), spread: spread(&times), ..Outcome::default() }
}

/// Returns how many of these keys are present. `CHAINED`: a key depends on the last answer.
fn search<const CHAINED: bool>(index: &Index, wanted: &[u32]) -> usize {
    // Zero is added to a key; the compiler doesn't know that, nor does the processor before it has the
    // answer.
    let nothing = black_box(0);
    let (mut found, mut last) = (0, 0);
    for &key in wanted {
        let answer = index.get(key ^ last);
        last = if CHAINED { answer.unwrap_or(0) & nothing } else { 0 };
        found += usize::from(answer.is_some());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Built;
    use latchless_papers::pb_tree::Member;

    #[test]
    fn both_ways_are_timed_and_find_all_keys() {
        let case = Case {
            keys: 1_000,
            fill: 1.0,
            built: Built::Loaded,
            task: Task::Search { count: 100, cold: false },
        };
        let series = [Subject::PbTree(Member::BPlus), Subject::PbTree(Member::P8)];
        let both = chained(&series, &case, &Keys::new(case.keys), Scale::Small).unwrap();
        for outcomes in [both.independent, both.chained] {
            assert_eq!(outcomes.len(), 2);
            assert!(outcomes.iter().all(|outcome| outcome.cost.is_some_and(|cost| cost > 0.0)));
        }
    }
}
