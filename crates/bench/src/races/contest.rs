//! The race: rounds in which every index takes its turn, in one process.

use super::access::{Alone, Way};
use super::check::Expected;
use super::drive::Streams;
use super::load::{Filled, Filling, refused};
use super::outcome::{Outcome, Unit};
use super::raced::Raced;
use super::requests::Handing;
use super::timed::{Run, get_in_batches};
use super::word::Word;
use super::{Args, Batch};
use crate::races::catalogue::{self, Origin};
use crate::races::progress::Progress;
use latchless::FillFactor;
use latchless_measure::{counting, huge_pages, machine};
use latchless_terminal::failure::Failure;
use latchless_terminal::say;
use latchless_workload::{Kind, Spec, Workload};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Batch sizes that `auto` tries.
const BATCH_SIZES: [usize; 7] = [8, 16, 32, 64, 128, 256, 1024];
/// Number of keys in the tries of `auto`, and tries per size.
const BATCH_SAMPLE: usize = 1 << 16;
const BATCH_TRIES: usize = 3;
/// Gets before each timed phase: they bring an index's upper nodes back into the caches, from which the
/// other indexes have evicted them.
const WARM_UP_GETS: usize = 1 << 14;
/// Memory for indexes that are held at the same time, in bytes, if the system doesn't report the free
/// memory.
const HELD_BYTES: u64 = 6 << 30;
/// The maximum number of parts of a history of updates; the requests of all parts are in memory.
const PARTS_MAX: usize = 16;

/// The state that all rounds share.
struct Contest<'a, L> {
    args: &'a Args,
    spec: Spec,
    filling: Filling<L>,
    streams: Streams<L>,
    expected: Expected,
    progress: Progress,
    options: catalogue::Options,
    /// Whether all indexes are held at the same time.
    held: bool,
}

/// An index in the race.
struct Entrant<L: Word> {
    name: String,
    outcome: Outcome,
    index: Option<Filled<L>>,
    /// Whether it is still in the race.
    runs: bool,
}

/// Races the indexes; returns each one's outcome, in the order of `names`. A rival that refuses a request
/// or answers wrongly is left out, with a note on standard error.
///
/// # Errors
/// A spec or a name that isn't supported, and a refusal or a wrong answer of one of our indexes.
pub fn race<L: Word>(args: &Args, spec: Spec, names: &[String]) -> Result<Vec<Outcome>, Failure> {
    let updates = spec.workload.updates();
    let held = fit_side_by_side::<L>(&spec, names);
    let parts = if updates && held { parts_of_history(&spec, args.rounds) } else { 1 };
    let history = Spec { ops: spec.ops.saturating_mul(parts), ..spec };
    let plan = match args.key_set()? {
        Some(set) => history.plan_over::<L>(&set),
        None => history.plan::<L>(),
    };
    let plan = plan.map_err(Failure::usage)?;
    let together = if let Batch::Size(size) = args.batch { size.get() } else { usize::MAX };
    let handing = Handing { batched: args.batch != Batch::None, order: args.order, together };
    let streams = Streams::new(&plan.streams, parts, handing, updates).timing(args.pauses);
    drop(plan.streams);
    let rounds = args.rounds as usize;
    let fills = if updates || !held { rounds.div_ceil(parts) } else { 1 };
    let progress = Progress::new((names.len() * fills * spec.records) as u64);
    progress.say("working out the right answers");
    let filling = Filling::new(plan.loaded, args.load);
    let expected = Expected::new(&filling, &streams, (rounds - 1) % parts)?;
    let unit = match spec.workload {
        Workload::Load => Unit::Key,
        range
            if [Kind::Scan, Kind::Range, Kind::Visit, Kind::Sum, Kind::SumRange, Kind::Count]
                .iter()
                .any(|&kind| range.is_only(kind)) =>
        {
            Unit::Entry
        }
        _ => Unit::Operation,
    };
    let entrant = |name: &String| Entrant {
        name: name.clone(),
        outcome: Outcome::new(name, unit),
        index: None,
        runs: true,
    };
    let mut entrants: Vec<_> = names.iter().map(entrant).collect();
    let mut contest =
        Contest { args, spec, filling, streams, expected, progress, options: args.index_options(), held };
    for round in 0..args.rounds {
        contest.round(round as usize, &mut entrants)?;
    }
    let outcomes: Vec<_> =
        entrants.into_iter().filter(|entrant| entrant.runs).map(|entrant| entrant.outcome).collect();
    if outcomes.is_empty() { Err(Failure::run("no index came through")) } else { Ok(outcomes) }
}

/// Returns whether all indexes fit in memory at once.
fn fit_side_by_side<L: Word>(spec: &Spec, names: &[String]) -> bool {
    // The size of an entry, in pairs; the catalogue has it for other crates' maps.
    let of_others = |name: &String| latchless_rivals::entries().iter().find(|entry| entry.name == name);
    let pairs = |name: &String| of_others(name).map_or(4, |entry| entry.pairs);
    let pair_bytes = u64::from(L::BITS) / 4;
    let wanted = names.iter().map(pairs).sum::<u64>().saturating_mul(spec.records as u64 * pair_bytes);
    wanted <= machine::available_bytes().map_or(HELD_BYTES, |free| free / 4 * 3)
}

/// Returns the number of rounds that share one filling: until the number of inserted and removed keys is
/// half of the records.
pub fn parts_of_history(spec: &Spec, rounds: u32) -> usize {
    let resized = (spec.ops as u64 * u64::from(spec.workload.resizing_percent())).div_ceil(100);
    let half = spec.records as u64 / 2;
    let parts = half.checked_div(resized).map_or(PARTS_MAX, |parts| parts as usize);
    parts.clamp(1, PARTS_MAX.min(rounds as usize))
}

impl<L: Word> Contest<'_, L> {
    /// Measures every index once. The first index differs from round to round.
    fn round(&mut self, round: usize, entrants: &mut [Entrant<L>]) -> Result<(), Failure> {
        let part = round % self.streams.parts();
        let last = round + 1 == self.args.rounds as usize;
        let first = round % entrants.len();
        let order = (first..entrants.len()).chain(0..first);
        if self.spec.workload == Workload::Load {
            for at in order {
                entrants[at].attempt(|entrant| self.bulk_load(entrant, last))?;
            }
            return Ok(());
        }
        let anew = !self.held || round == 0 || (part == 0 && self.spec.workload.updates());
        if anew {
            entrants.iter_mut().for_each(|entrant| entrant.index = None);
        }
        if anew && self.held {
            for at in order.clone() {
                entrants[at].attempt(|entrant| self.fill(entrant))?;
            }
        }
        for at in order {
            entrants[at].attempt(|entrant| {
                if !self.held {
                    self.fill(entrant)?;
                }
                self.measure(entrant, part, last)
            })?;
            if !self.held {
                entrants[at].index = None;
            }
        }
        Ok(())
    }

    fn fill(&mut self, entrant: &mut Entrant<L>) -> Result<(), Failure> {
        let filled = self.filling.fill(&entrant.name, &self.options, &mut self.progress)?;
        entrant.outcome.holds(filled.bytes, self.spec.records);
        entrant.index = Some(filled);
        Ok(())
    }

    /// Measures one round; after the last one, all entries are checked.
    fn measure(&self, entrant: &mut Entrant<L>, part: usize, last: bool) -> Result<(), Failure> {
        let Entrant { name, outcome, index: Some(filled), .. } = entrant else { return Ok(()) };
        self.progress.say(format!("measuring {name}"));
        let batch = match (self.args.batch, outcome.batch()) {
            (Batch::None, _) => None,
            (Batch::Size(size), _) => Some(size.get()),
            (Batch::Auto, Some(size)) => Some(size),
            (Batch::Auto, None) => Some(self.best_batch(name, filled)?),
        };
        if self.spec.workload.updates() {
            huge_pages::make_ready(self.streams.ops(part) as usize);
        }
        let (before, warm_up) = (filled.index.form(), self.filling.sample(WARM_UP_GETS));
        for &key in warm_up {
            black_box(filled.index.get(key));
        }
        let run = self.streams.race(part, &mut filled.index, batch).map_err(|error| refused(name, &error))?;
        self.expected.check_answers(name, part, run.digest)?;
        let Run { elapsed, entries, digest, pauses } = run;
        if let Some(pauses) = pauses {
            outcome.paused(&pauses);
        }
        let requests = self.streams.ops(part);
        outcome.ran(elapsed, requests, entries, batch, digest);
        // With several threads, an operation also restarts when another one interferes.
        if let (Some(before), Some(after), 1) = (before, filled.index.form(), self.spec.threads) {
            outcome.formed(before, after, requests + warm_up.len() as u64);
        }
        if last {
            self.expected.check_contents(name, &*filled.index)?;
        }
        Ok(())
    }

    /// Returns the fastest batch size for gets of some keys, by the best of a few tries each.
    fn best_batch(&self, name: &str, filled: &mut Filled<L>) -> Result<usize, Failure> {
        let keys = self.filling.sample(BATCH_SAMPLE);
        let mut best = (Duration::MAX, BATCH_SIZES[0]);
        for size in BATCH_SIZES {
            for _ in 0..BATCH_TRIES {
                let run = get_in_batches(keys, &mut Way(Alone(&mut *filled.index)), size);
                best = best.min((run.map_err(|error| refused(name, &error))?.elapsed, size));
            }
        }
        Ok(best.1)
    }

    /// Times a bulk load of sorted pairs into an empty index. After the last one all entries are checked,
    /// and another, untimed load is weighed.
    fn bulk_load(&mut self, entrant: &mut Entrant<L>, last: bool) -> Result<(), Failure> {
        let Entrant { name, outcome, .. } = entrant;
        self.progress.say(format!("loading {name}"));
        let sorted = self.filling.sorted();
        let mut index = Raced::<L>::build(name, &self.options)?;
        huge_pages::make_ready(sorted.len());
        let clock = Instant::now();
        let loaded = index.bulk_load(sorted, FillFactor::FULL);
        let elapsed = clock.elapsed();
        loaded.map_err(|error| refused(name, &error))?;
        outcome.ran(elapsed, self.spec.records as u64, 0, None, self.expected.contents());
        if last {
            self.expected.check_contents(name, &*index)?;
            let counted = index.memory_bytes();
            drop(index);
            let bytes = counted.map_or_else(|| self.weigh(name), Ok)?;
            outcome.holds(bytes, self.spec.records);
        }
        self.progress.advance(self.spec.records as u64);
        Ok(())
    }

    /// Returns the heap bytes of a bulk-loaded index.
    fn weigh(&self, name: &str) -> Result<usize, Failure> {
        let (index, bytes) = counting::held_by(|| {
            let mut index = Raced::<L>::build(name, &self.options)?;
            index
                .bulk_load(self.filling.sorted(), FillFactor::FULL)
                .map_err(|error| refused(name, &error))?;
            Ok::<_, Failure>(index)
        });
        index.map(|_| bytes)
    }
}

impl<L: Word> Entrant<L> {
    /// Calls `work` if the index is still in the race. A rival that fails drops out.
    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Failure>) -> Result<(), Failure> {
        if !self.runs {
            return Ok(());
        }
        let Err(failure) = work(self) else { return Ok(()) };
        let entries = catalogue::entries();
        if !entries.iter().any(|entry| entry.name == self.name && entry.origin == Origin::Rival) {
            return Err(failure);
        }
        say::warn(format_args!("note: left out: {failure}"));
        (self.runs, self.index) = (false, None);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_end_before_half_of_the_keys_are_others() {
        let parts = |workload, records, ops, rounds| {
            parts_of_history(&Spec { records, ops, ..Spec::new(workload) }, rounds)
        };
        assert_eq!(parts(Workload::Insert, 10_000_000, 1_000_000, 5), 5);
        assert_eq!(parts(Workload::Insert, 10_000_000, 1_000_000, 9), 5);
        assert_eq!(parts(Workload::Remove, 1_000_000, 1_000_000, 5), 1);
        assert_eq!(parts(Workload::Mixed, 10_000_000, 1_000_000, 99), 12);
        assert_eq!(parts(Workload::YcsbA, 1000, 1_000_000, 5), 5);
        assert_eq!(parts(Workload::Update, 1000, 1_000_000, 500), PARTS_MAX);
    }

    #[test]
    fn a_rival_that_fails_is_left_out_and_an_index_of_ours_ends_the_race() {
        let fails = |name: &str| {
            let outcome = Outcome::new(name, Unit::Operation);
            let mut entrant = Entrant::<u64> { name: name.to_owned(), outcome, index: None, runs: true };
            let ended = entrant.attempt(|_| Err(Failure::wrong("it fails"))).is_err();
            (ended, entrant.runs)
        };
        assert_eq!(fails("scc"), (false, false));
        assert!(fails("index-exclusive").0 && fails("btreemap").0);
    }
}
