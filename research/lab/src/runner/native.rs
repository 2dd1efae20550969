//! Running a case on this machine.
//!
//! All the series of one point are loaded first and then take turns, round by round, so that other work on
//! the machine affects all of them alike. A warm round is timed as a whole, and the median round of each
//! series counts. Updates start every round with a fresh load.
//!
//! In a cold round every operation is timed separately, and the median operation counts. Before each:
//! 1. A buffer larger than the last-level cache is read. It is on huge pages, and so are nodes: few address
//!    translations are lost, as on the papers' machines, whose translations take no time.
//! 2. One operation on a *twin*, a small tree of the same kind, brings back the code, the stack and the
//!    clock, and the fields of the tree itself are read: the papers' caches hold data only. No node of the
//!    tree is touched.
//!
//! Emptying the caches takes milliseconds, so only some of a task's operations are done, and the clock's own
//! tens of nanoseconds are in the result.

use super::data::Keys;
use super::modelled::is_cold;
use super::work::{Request, Requests, all_right, build};
use crate::error::Result;
use crate::experiment::{Built, Case, Outcome, Scale, Task};
use crate::subject::{Index, Subject};
use latchless_core::mem::line::LINE_BYTES;
use latchless_core::mem::node_ref::NodeRef;
use latchless_papers::pb_tree::Placement;
use latchless_papers::pb_tree::arena::{Arena, ArenaOptions, Block, Lines};
use std::hint::black_box;
use std::time::Instant;

/// The order of nodes that lie scattered: the same in every run.
const SEED: u64 = 2001;

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
            Scale::Paper if is_cold(task) => (3, 128),
            Scale::Paper if is_update(task) => (5, 0),
            Scale::Paper => (9, 0),
        };
        Self { rounds, operations: cold_operations }
    }
}

/// An index that takes part: its name, and its construction.
pub struct Entrant<'a> {
    /// The name in messages.
    pub name: &'static str,
    /// Creates an empty one.
    pub make: &'a dyn Fn() -> latchless_papers::Result<Index>,
}

/// Runs the case on every one of `series`; one outcome each.
///
/// # Errors
/// When an index refuses, or answers wrongly.
pub fn run(series: &[Subject], case: &Case, keys: &Keys, scale: Scale) -> Result<Vec<Outcome>> {
    let placement = match case.built {
        Built::Scattered => Placement::Scattered(SEED),
        Built::Loaded | Built::Mature => Placement::InOrder,
    };
    let makes: Vec<_> = series.iter().map(|&subject| move || subject.make_placed(placement)).collect();
    let entrant = |(subject, make): (&Subject, _)| Entrant { name: subject.name(), make };
    let entrants: Vec<_> =
        series.iter().zip(makes.iter().map(|make| make as &dyn Fn() -> _)).map(entrant).collect();
    run_entrants(&entrants, case, keys, scale)
}

/// Runs the case on every one of `entrants`; one outcome each.
///
/// # Errors
/// When an index refuses, or answers wrongly.
pub fn run_entrants(
    entrants: &[Entrant<'_>],
    case: &Case,
    keys: &Keys,
    scale: Scale,
) -> Result<Vec<Outcome>> {
    let task = case.task;
    let effort = Effort::of(task, scale);
    let mut requests = Requests::new(task, keys);
    let mut evictor = Evictor::new(is_cold(task))?;
    let mut twins = Twins::new(case);
    let load = |entrant: &Entrant<'_>| loaded(entrant, case, keys);
    let mut indexes = entrants.iter().map(load).collect::<Result<Vec<_>>>()?;
    let mut times = vec![Vec::new(); entrants.len()];
    for round in 0..effort.rounds {
        for (position, entrant) in entrants.iter().enumerate() {
            if round > 0 && is_update(task) {
                indexes[position] = load(entrant)?;
            }
            let (index, times) = (&mut indexes[position], &mut times[position]);
            let (right, of) = if is_cold(task) {
                let most = effort.operations.min(requests.len());
                let mut twin = loaded(entrant, &twins.case, &twins.keys)?;
                let cold = Cold { evictor: &mut evictor, twins: &mut twins, twin: &mut twin };
                (time_cold(&mut requests, most, (index, keys), cold, times)?, most)
            } else {
                (time_warm(&mut requests, index, keys, times)?, requests.len())
            };
            all_right(right, of, entrant.name, task)?;
        }
    }
    let outcome = |times: &mut Vec<f64>| Outcome {
        cost: Some(median(times)),
        spread: spread(times),
        ..Outcome::default()
    };
    Ok(times.iter_mut().map(outcome).collect())
}

fn loaded(entrant: &Entrant<'_>, case: &Case, keys: &Keys) -> Result<Index> {
    let mut index = (entrant.make)()?;
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

/// What makes an operation cold.
struct Cold<'a> {
    evictor: &'a mut Evictor,
    twins: &'a mut Twins,
    twin: &'a mut Index,
}

/// Adds the nanoseconds of each of the first `most` operations; returns the number of right answers.
fn time_cold(
    requests: &mut Requests,
    most: usize,
    (index, keys): (&mut Index, &Keys),
    Cold { evictor, twins, twin }: Cold<'_>,
    times: &mut Vec<f64>,
) -> Result<usize> {
    let mut right = 0;
    for position in 0..most {
        let request = requests.at(position, keys);
        let rehearsal = twins.requests.at(position, &twins.keys);
        evictor.evict();
        // Whether the twin's answer is right doesn't matter: it may have been asked to insert a key twice.
        timed(rehearsal, twin)?;
        black_box((index.len(), index.stats(), index.memory_bytes()));
        let (nanoseconds, is_right) = timed(request, index)?;
        times.push(nanoseconds);
        right += usize::from(is_right);
    }
    Ok(right)
}

/// Executes an operation; returns its nanoseconds and whether the answer was right. Never inlined, so that a
/// twin's operation has the same code.
#[inline(never)]
fn timed(request: Request<'_>, index: &mut Index) -> Result<(f64, bool)> {
    let start = Instant::now();
    let right = request.perform(index)?;
    Ok((start.elapsed().as_nanos() as f64, right))
}

/// The case on a tree so small that it fits the caches, but has inner nodes.
struct Twins {
    case: Case,
    keys: Keys,
    requests: Requests,
}

impl Twins {
    /// Keys in a twin: two levels with nodes of sixteen lines.
    const KEYS: usize = 10_000;
    /// Entries of a twin's scan: it leads over the starting leaf, and over those that are prefetched first.
    const ENTRIES: usize = 1_000;

    fn new(case: &Case) -> Self {
        let task = match case.task {
            Task::Scan { starts, segments, entries } => {
                Task::Scan { starts, segments: segments.min(2), entries: entries.min(Self::ENTRIES) }
            }
            other => other,
        };
        let case = Case { keys: case.keys.min(Self::KEYS), task, ..*case };
        let keys = Keys::new(case.keys);
        let requests = Requests::new(task, &keys);
        Self { case, keys, requests }
    }
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

/// Sixteen pages of the evictor's buffer.
type Piece = Lines<1024>;

/// Empties the caches by filling them with something else, which is on huge pages.
struct Evictor {
    buffer: Arena<Piece>,
    pieces: Vec<NodeRef>,
}

impl Evictor {
    fn new(cold: bool) -> Result<Self> {
        let bytes = if cold { latchless_measure::host::last_level_cache_bytes() / 2 * 3 } else { 0 };
        let mut buffer = Arena::new(ArenaOptions { huge_pages: true, ..ArenaOptions::default() })?;
        let mut pieces = Vec::new();
        buffer.reserve(bytes / Piece::BYTES)?;
        for _ in 0..bytes / Piece::BYTES {
            let piece = buffer.allocate()?;
            buffer.lanes_mut::<u64>(piece, 0, Piece::BYTES / 8).fill(1);
            pieces.push(piece);
        }
        Ok(Self { buffer, pieces })
    }

    fn evict(&mut self) {
        let words = LINE_BYTES / size_of::<u64>();
        let of_piece = |&piece: &NodeRef| -> u64 {
            self.buffer.lanes::<u64>(piece, 0, Piece::BYTES / 8).iter().step_by(words).sum()
        };
        black_box(self.pieces.iter().map(of_piece).fold(0, u64::wrapping_add));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latchless_papers::pb_tree::Member;

    #[test]
    fn the_median_ignores_a_disturbed_round() {
        assert_eq!(median(&mut [9e9, 2.0, 1.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0]), 1.0);
        assert_eq!(median(&mut []), 0.0);
        assert_eq!((spread(&[2.0, 1.0, 3.0]), spread(&[])), (Some([1.0, 3.0]), None));
    }

    #[test]
    fn a_twin_is_small_and_does_the_same_work() {
        let scan = Task::Scan { starts: 100, segments: 1_000, entries: 1_000_000 };
        let case = Case { keys: 3_000_000, fill: 0.6, built: Built::Scattered, task: scan };
        let mut twins = Twins::new(&case);
        assert_eq!((twins.case.keys, twins.case.fill, twins.case.built), (10_000, 0.6, Built::Scattered));
        for member in Member::ALL {
            let make = || Subject::PbTree(member).make_placed(Placement::Scattered(SEED));
            let mut twin =
                loaded(&Entrant { name: member.name(), make: &make }, &twins.case, &twins.keys).unwrap();
            assert!(twin.stats().is_some_and(|stats| stats.levels > 1), "{}", member.name());
            for position in [0, 99, 100] {
                let (took, right) = timed(twins.requests.at(position, &twins.keys), &mut twin).unwrap();
                assert!(took > 0.0 && right, "{}", member.name());
            }
        }
    }

    #[test]
    fn an_evictor_reads_more_than_the_last_level_cache() {
        let evictor = Evictor::new(true).unwrap();
        let bytes = evictor.pieces.len() * Piece::BYTES;
        assert!(bytes + Piece::BYTES > latchless_measure::host::last_level_cache_bytes() / 2 * 3);
        assert!(evictor.pieces.is_sorted(), "from front to back");
        assert!(Evictor::new(false).unwrap().pieces.is_empty());
    }
}
