//! The race over byte strings: rounds in which every index takes its turn, in one process.

use super::asked::Race;
use super::catalogue;
use super::contestant::Contestant;
use super::stream::Stream;
use crate::races::args::{Args, Load};
use crate::races::catalogue::{Entry, Options, Origin};
use crate::races::contest::parts_of_history;
use crate::races::digest::Digest;
use crate::races::load::refused;
use crate::races::outcome::{Outcome, Unit};
use crate::races::progress::Progress;
use crate::races::timed::Run;
use latchless_measure::{counting, huge_pages, machine};
use latchless_terminal::failure::Failure;
use latchless_terminal::say;
use latchless_workload::{BytesKeys, Lane, Spec, Workload, value_of};
use std::time::Instant;

/// Gets before each timed phase: they bring an index's upper nodes back into the caches, from which the
/// other indexes have evicted them.
const WARM_UP_GETS: usize = 1 << 14;
/// Memory for indexes that are held at the same time, in bytes, if the system doesn't report the free
/// memory.
const HELD_BYTES: u64 = 6 << 30;
/// The approximate size of one of our entries without its key, in pairs of two words.
const OUR_PAIRS: u64 = 4;
/// The index whose answers serve as the reference.
const REFERENCE: &str = "btreemap";

/// The state that all rounds share.
struct Contest<'a> {
    race: &'a Race,
    filling: Filling<'a>,
    /// The requests: for each part of the history, a stream for each thread.
    parts: Vec<Vec<Stream>>,
    expected: Expected,
    progress: Progress,
    /// Whether all indexes are held at the same time.
    held: bool,
}

/// The entries with which indexes are filled.
struct Filling<'a> {
    options: Options,
    /// Every entry, in the order of insertion.
    entries: Vec<(&'a [u8], u64)>,
    /// Every entry, ascending.
    sorted: Vec<(&'a [u8], u64)>,
    /// Keys that are present, drawn at random.
    sample: Vec<&'a [u8]>,
    /// Whether indexes are filled by one bulk load.
    bulk: bool,
}

/// The right answers, computed independently of the indexes in the race.
struct Expected {
    /// The answers of each part of the history.
    answers: Vec<Digest>,
    /// A checksum over all entries at the end, and their number.
    contents: (Digest, usize),
}

/// An index in the race.
struct Entrant {
    outcome: Outcome,
    index: Option<Box<dyn Contestant>>,
    /// Whether it is still in the race.
    runs: bool,
}

/// Races the indexes; returns each one's outcome, in the order of their names, and the mean length of the
/// keys. A rival that refuses a request or answers wrongly is left out, with a note on standard error.
///
/// # Errors
/// Too few keys in the set, and a refusal or a wrong answer of one of our indexes.
pub fn race(args: &Args, race: &Race) -> Result<(Vec<Outcome>, f64), Failure> {
    let (spec, rounds) = (race.spec, args.rounds as usize);
    let is_history = spec.workload.updates() && spec.workload != Workload::Load;
    let parts = if is_history { parts_of_history(&spec, args.rounds) } else { 1 };
    let history = Spec { ops: spec.ops.saturating_mul(parts), ..spec };
    let plan = history.plan_bytes(&race.set).map_err(Failure::usage)?;
    // A bulk load has no requests.
    let streams = if plan.streams.is_empty() { &[Vec::new()][..] } else { &plan.streams };
    let piece = |part: usize, requests: &Vec<_>| {
        let cut = |part: usize| requests.len() * part / parts;
        Stream::new(&requests[cut(part)..cut(part + 1)], &plan.keys)
    };
    let parts: Vec<Vec<_>> =
        (0..parts).map(|part| streams.iter().map(|own| piece(part, own)).collect()).collect();
    let held = fit_side_by_side(race, plan.keys.mean_bytes());
    let fills = if is_history || !held { rounds } else { 1 };
    let progress = Progress::new((race.names.len() * fills * spec.records) as u64);
    progress.say("working out the right answers");
    let filling = Filling::new(&plan.keys, args);
    let expected = Expected::new(&filling, &parts, race.batch, (rounds - 1) % parts.len())?;
    let unit = match spec.workload {
        Workload::Load => Unit::Key,
        Workload::Scan => Unit::Entry,
        _ => Unit::Operation,
    };
    let mut contest = Contest { race, filling, parts, expected, progress, held };
    let entrant = |name: &String| Entrant { outcome: Outcome::new(name, unit), index: None, runs: true };
    let mut entrants: Vec<_> = race.names.iter().map(entrant).collect();
    for round in 0..rounds {
        contest.round(round, round + 1 == rounds, &mut entrants)?;
    }
    let outcomes: Vec<_> =
        entrants.into_iter().filter(|entrant| entrant.runs).map(|entrant| entrant.outcome).collect();
    if outcomes.is_empty() {
        return Err(Failure::run("no index came through"));
    }
    Ok((outcomes, plan.keys.mean_bytes()))
}

/// Returns whether all indexes fit in memory at once.
fn fit_side_by_side(race: &Race, key_bytes: f64) -> bool {
    let of_others =
        |name: &String| latchless_rivals::bytes::entries().iter().find(|entry| entry.name == name);
    let pairs = |name: &String| of_others(name).map_or(OUR_PAIRS, |entry| entry.pairs);
    let entry_bytes = |name| 16 * pairs(name) + key_bytes as u64;
    let wanted = race.names.iter().map(entry_bytes).sum::<u64>().saturating_mul(race.spec.records as u64);
    wanted <= machine::available_bytes().map_or(HELD_BYTES, |free| free / 4 * 3)
}

impl<'a> Filling<'a> {
    fn new(keys: &'a BytesKeys, args: &Args) -> Self {
        let loaded = keys.loaded();
        let entry = |number| (keys.key(number), value_of(number as u64, 0));
        let mut entries: Vec<_> = (0..loaded).map(entry).collect();
        let mut sorted = entries.clone();
        sorted.sort_unstable();
        if args.load == Load::Sorted {
            entries.clone_from(&sorted);
        }
        let draw = |number: u64| keys.key((number.scatter() % loaded as u64) as usize);
        let sample = (0..loaded.min(WARM_UP_GETS) as u64).map(draw).collect();
        Self { options: args.index_options(), entries, sorted, sample, bulk: args.load == Load::Bulk }
    }

    /// Returns a filled index and its size in bytes.
    fn fill(&self, name: &str) -> Result<(Box<dyn Contestant>, usize), Failure> {
        self.weighed(
            name,
            |index| {
                if self.bulk { index.load(&self.sorted) } else { index.fill(&self.entries) }
            },
        )
    }

    /// Returns a bulk-loaded index and its size in bytes.
    fn load(&self, name: &str) -> Result<(Box<dyn Contestant>, usize), Failure> {
        self.weighed(name, |index| index.load(&self.sorted))
    }

    /// Returns an index filled by `fill`, and its size in bytes: its own count, or else the heap's.
    fn weighed(
        &self,
        name: &str,
        fill: impl FnOnce(&mut dyn Contestant) -> latchless::Result<()>,
    ) -> Result<(Box<dyn Contestant>, usize), Failure> {
        let (index, heap_bytes) = counting::held_by(|| {
            let mut index = catalogue::build(name, &self.options)?;
            fill(&mut *index).map_err(|error| refused(name, &error))?;
            Ok::<_, Failure>(index)
        });
        let index = index?;
        let bytes = index.memory_bytes().unwrap_or(heap_bytes);
        Ok((index, bytes))
    }
}

impl Expected {
    /// Serves all parts, and takes the checksum of the contents after `last_part`.
    fn new(
        filling: &Filling<'_>,
        parts: &[Vec<Stream>],
        batch: Option<usize>,
        last_part: usize,
    ) -> Result<Self, Failure> {
        let (mut model, _) = filling.fill(REFERENCE)?;
        let (mut answers, mut contents) = (Vec::new(), (Digest::default(), 0));
        for (at, part) in parts.iter().enumerate() {
            answers.push(model.serve_in_turn(part, batch)?);
            if at == last_part {
                contents = model.contents()?;
            }
        }
        Ok(Self { answers, contents })
    }

    fn check_answers(&self, name: &str, part: usize, answers: Digest) -> Result<(), Failure> {
        let right = self.answers[part];
        if answers == right {
            return Ok(());
        }
        Err(Failure::wrong(format!(
            "{name} answered wrongly: its answers' checksum is {answers}, not {right}"
        )))
    }

    fn check_contents(&self, name: &str, index: &mut dyn Contestant) -> Result<(), Failure> {
        let (found, len) = index.contents().map_err(|error| refused(name, &error))?;
        let (right, right_len) = self.contents;
        if (found, len, index.len()) == (right, right_len, right_len) {
            return Ok(());
        }
        Err(Failure::wrong(format!(
            "{name} holds the wrong entries after the requests: checksum {found} over {len} keys, not {right} over \
             {right_len}"
        )))
    }
}

impl Contest<'_> {
    /// Measures every index once. The first index differs from round to round.
    fn round(&mut self, round: usize, last: bool, entrants: &mut [Entrant]) -> Result<(), Failure> {
        let part = round % self.parts.len();
        let first = round % entrants.len();
        let order = (first..entrants.len()).chain(0..first);
        if self.race.spec.workload == Workload::Load {
            for at in order {
                entrants[at].attempt(|entrant| self.load(entrant, last))?;
            }
            return Ok(());
        }
        let anew = !self.held || round == 0 || (part == 0 && self.race.spec.workload.updates());
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

    fn fill(&mut self, entrant: &mut Entrant) -> Result<(), Failure> {
        let name = entrant.outcome.name();
        self.progress.say(format!("filling {name}"));
        let (index, bytes) = self.filling.fill(name)?;
        self.progress.advance(self.race.spec.records as u64);
        entrant.outcome.holds(bytes, self.race.spec.records);
        entrant.index = Some(index);
        Ok(())
    }

    /// Measures one round; after the last one, all entries are checked.
    fn measure(&self, entrant: &mut Entrant, part: usize, last: bool) -> Result<(), Failure> {
        let Entrant { outcome, index: Some(index), .. } = entrant else { return Ok(()) };
        let name = outcome.name().to_owned();
        self.progress.say(format!("measuring {name}"));
        if self.race.spec.workload.updates() {
            huge_pages::make_ready(self.parts[part].iter().map(Stream::len).sum());
        }
        index.warm_up(&self.filling.sample);
        let (streams, batch) = (&self.parts[part], self.race.batch);
        let run = index.serve(streams, batch).map_err(|error| refused(&name, &error))?;
        self.expected.check_answers(&name, part, run.digest)?;
        let Run { elapsed, entries, digest, .. } = run;
        outcome.ran(elapsed, streams.iter().map(|stream| stream.len() as u64).sum(), entries, batch, digest);
        if last { self.expected.check_contents(&name, &mut **index) } else { Ok(()) }
    }

    /// Times a bulk load into an empty index. After the last one all entries are checked, and another,
    /// untimed load is weighed.
    fn load(&mut self, entrant: &mut Entrant, last: bool) -> Result<(), Failure> {
        let name = entrant.outcome.name().to_owned();
        self.progress.say(format!("loading {name}"));
        let mut index = catalogue::build(&name, &self.filling.options)?;
        huge_pages::make_ready(self.filling.sorted.len());
        let clock = Instant::now();
        let loaded = index.load(&self.filling.sorted);
        let elapsed = clock.elapsed();
        loaded.map_err(|error| refused(&name, &error))?;
        let records = self.race.spec.records;
        entrant.outcome.ran(elapsed, records as u64, 0, None, self.expected.contents.0);
        if last {
            self.expected.check_contents(&name, &mut *index)?;
            drop(index);
            entrant.outcome.holds(self.filling.load(&name)?.1, records);
        }
        self.progress.advance(records as u64);
        Ok(())
    }
}

impl Entrant {
    /// Calls `work` if the index is still in the race. A rival that fails drops out.
    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Failure>) -> Result<(), Failure> {
        if !self.runs {
            return Ok(());
        }
        let Err(failure) = work(self) else { return Ok(()) };
        let is_rival = |entry: &Entry| entry.name == self.outcome.name() && entry.origin == Origin::Rival;
        if !catalogue::entries().iter().any(is_rival) {
            return Err(failure);
        }
        say::warn(format_args!("note: left out: {failure}"));
        (self.runs, self.index) = (false, None);
        Ok(())
    }
}
