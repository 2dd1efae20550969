//! The race: every index, round by round in turn, in one process.

use super::check::Expected;
use super::drive::{Run, Streams, get_in_batches};
use super::load::{Filled, Filling, refused};
use super::outcome::{Outcome, Unit};
use super::word::Word;
use super::{Args, Batch};
use crate::catalogue;
use crate::failure::Failure;
use crate::machine;
use crate::progress::Progress;
use latchless::FillFactor;
use latchless_workload::{Kind, Spec, Workload};
use std::time::{Duration, Instant};

/// Batch sizes that `auto` tries.
const BATCH_SIZES: [usize; 7] = [8, 16, 32, 64, 128, 256, 1024];
/// Keys of the stream that `auto` tries them on, and how often.
const BATCH_SAMPLE: usize = 1 << 16;
const BATCH_TRIES: usize = 3;
/// The most memory that indexes held side by side may take, in bytes.
const HELD_BYTES_MAX: u64 = 6 << 30;
/// What an entry may cost in the hungriest of the indexes, in multiples of its key and value.
const OVERHEAD: u64 = 6;

/// Everything that stays the same from round to round.
struct Contest<'a, L> {
    args: &'a Args,
    spec: Spec,
    names: &'a [String],
    filling: Filling<L>,
    streams: Streams<L>,
    expected: Expected,
    progress: Progress,
    outcomes: Vec<Outcome>,
}

/// Races the indexes and says how each did, in the order of `names`.
///
/// # Errors
/// A spec or a name that can't be served, what an index refuses, and wrong answers.
pub fn race<L: Word>(args: &Args, spec: Spec, names: &[String]) -> Result<Vec<Outcome>, Failure> {
    let plan = spec.plan::<L>().map_err(Failure::usage)?;
    let batched = args.batch != Batch::None;
    let updates = spec.workload.updates();
    let streams = Streams::new(plan.streams, batched, updates);
    let fills = names.len() as u64 * if updates { u64::from(args.rounds) } else { 1 };
    let progress = Progress::new(fills * spec.records as u64);
    progress.say("working out the right answers");
    let filling = Filling::new(plan.loaded, args.load);
    let expected = Expected::new(&filling, &streams)?;
    let unit = match spec.workload {
        Workload::Load => Unit::Key,
        scan if scan.is_only(Kind::Scan) => Unit::Entry,
        _ => Unit::Operation,
    };
    let outcomes = names.iter().map(|name| Outcome::new(name, unit)).collect();
    let mut contest = Contest { args, spec, names, filling, streams, expected, progress, outcomes };
    if spec.workload == Workload::Load {
        contest.bulk_loads()?;
    } else if updates || !contest.fits() {
        contest.filled_anew()?;
    } else {
        contest.side_by_side()?;
    }
    Ok(contest.outcomes)
}

impl<L: Word> Contest<'_, L> {
    /// Whether all indexes can be held at once.
    fn fits(&self) -> bool {
        let pair_bytes = u64::from(L::BITS) / 4;
        let each = self.spec.records as u64 * pair_bytes * OVERHEAD;
        let budget = machine::available_bytes().map_or(HELD_BYTES_MAX, |free| (free / 2).min(HELD_BYTES_MAX));
        each.saturating_mul(self.names.len() as u64) <= budget
    }

    /// The order of a round: each index comes first in its turn.
    fn order(&self, round: u32) -> impl Iterator<Item = usize> + use<L> {
        let (count, first) = (self.names.len(), round as usize);
        (0..count).map(move |at| (at + first) % count)
    }

    /// Requests that leave the indexes alone: each is filled once, and all stand side by side.
    fn side_by_side(&mut self) -> Result<(), Failure> {
        let mut filled = Vec::with_capacity(self.names.len());
        for at in 0..self.names.len() {
            filled.push(self.fill(at)?);
        }
        for round in 0..self.args.rounds {
            for at in self.order(round) {
                self.measure(at, &mut filled[at])?;
            }
        }
        for (name, filled) in self.names.iter().zip(&filled) {
            self.expected.check_contents(name, &*filled.index)?;
        }
        Ok(())
    }

    /// Requests that change the indexes (or indexes too large to stand side by side): each is
    /// filled anew, untimed, before each of its rounds.
    fn filled_anew(&mut self) -> Result<(), Failure> {
        for round in 0..self.args.rounds {
            for at in self.order(round) {
                let mut filled = self.fill(at)?;
                self.measure(at, &mut filled)?;
                if round + 1 == self.args.rounds {
                    self.expected.check_contents(&self.names[at], &*filled.index)?;
                }
            }
        }
        Ok(())
    }

    fn fill(&mut self, at: usize) -> Result<Filled<L>, Failure> {
        let filled = self.filling.fill(&self.names[at], &self.args.options, &mut self.progress)?;
        self.outcomes[at].holds(filled.bytes, self.spec.records);
        Ok(filled)
    }

    fn measure(&mut self, at: usize, filled: &mut Filled<L>) -> Result<(), Failure> {
        let name = &self.names[at];
        self.progress.say(format!("measuring {name}"));
        let batch = match (self.args.batch, self.outcomes[at].batch()) {
            (Batch::None, _) => None,
            (Batch::Size(size), _) => Some(size.get()),
            (Batch::Auto, Some(size)) => Some(size),
            (Batch::Auto, None) => Some(self.best_batch(name, filled)?),
        };
        let run = self.streams.race(&mut *filled.index, batch).map_err(|error| refused(name, &error))?;
        self.expected.check_answers(name, run.digest)?;
        let Run { elapsed, entries, digest } = run;
        self.outcomes[at].ran(elapsed, self.spec.ops as u64, entries, batch, digest);
        Ok(())
    }

    /// The size that takes the least time over the first keys of the stream, in the best of a few
    /// tries each.
    fn best_batch(&self, name: &str, filled: &mut Filled<L>) -> Result<usize, Failure> {
        let keys = self.streams.sample(BATCH_SAMPLE);
        let mut best = (Duration::MAX, BATCH_SIZES[0]);
        for size in BATCH_SIZES {
            for _ in 0..BATCH_TRIES {
                let alone = &mut super::access::Alone(&mut *filled.index);
                let run = get_in_batches(&keys, alone, size).map_err(|error| refused(name, &error))?;
                best = best.min((run.elapsed, size));
            }
        }
        Ok(best.1)
    }

    /// Bulk loads of sorted pairs into empty indexes.
    fn bulk_loads(&mut self) -> Result<(), Failure> {
        for round in 0..self.args.rounds {
            for at in self.order(round) {
                let name = &self.names[at];
                self.progress.say(format!("loading {name}"));
                let (elapsed, bytes) = self.bulk_load(name, round + 1 == self.args.rounds)?;
                let digest = self.expected.contents();
                self.outcomes[at].ran(elapsed, self.spec.records as u64, 0, None, digest);
                if let Some(bytes) = bytes {
                    self.outcomes[at].holds(bytes, self.spec.records);
                }
                self.progress.advance(self.spec.records as u64);
            }
        }
        Ok(())
    }

    /// One timed bulk load; the last one is looked at whole, and a further, untimed one weighed.
    fn bulk_load(&self, name: &str, last: bool) -> Result<(Duration, Option<usize>), Failure> {
        let sorted = self.filling.sorted();
        let mut index = catalogue::build::<L, L>(name, &self.args.options)?;
        let clock = Instant::now();
        let loaded = index.bulk_load(sorted, FillFactor::FULL);
        let elapsed = clock.elapsed();
        loaded.map_err(|error| refused(name, &error))?;
        if !last {
            return Ok((elapsed, None));
        }
        self.expected.check_contents(name, &*index)?;
        let bytes = match index.memory_bytes() {
            Some(bytes) => bytes,
            None => {
                drop(index);
                let (again, bytes) = crate::counting::held_by(|| {
                    let mut index = catalogue::build::<L, L>(name, &self.args.options)?;
                    index.bulk_load(sorted, FillFactor::FULL).map_err(|error| refused(name, &error))?;
                    Ok::<_, Failure>(index)
                });
                again?;
                bytes
            }
        };
        Ok((elapsed, Some(bytes)))
    }
}
