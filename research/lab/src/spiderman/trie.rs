//! §5.2, "other trees", on several threads: an adaptive radix tree under optimistic lock coupling compared
//! with Spiderman's pages, OLFIT's B+-Tree and `Index`, one by one and in batches. Only natively.

use crate::error::{LabError, Result};
use crate::experiment::{Body, Experiment, Scale, Scaled};
use crate::on::On;
use crate::row::Row;
use crate::runner::{median, spread, together};
use latchless::{Direction, Index};
use latchless_core::base::index::{ConcurrentIndex, OrderedIndex};
use latchless_core::base::request::{Reply, Request};
use latchless_measure::huge_pages;
use latchless_papers::{olfit, spiderman};
use latchless_workload::{Distribution, KeySpace, value_of};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::collections::HashSet;
use std::ops::Bound::{Included, Unbounded};

const KEYS: Scaled<usize> = Scaled::new(10_000_000, 10_000);
/// Requests that a thread has at once.
const TOGETHER: usize = 1024;
/// Entries of a scan.
const SCANNED: usize = 48;
/// The maximum start of scans, so that enough entries follow.
const LAST_START: u64 = u64::MAX / 16 * 15;
const ROUNDS: Scaled<usize> = Scaled::new(11, 3);
const THREADS: [usize; 2] = [1, 2];
/// The seed of the random numbers.
const SEED: u64 = 2016;

pub(super) const TRIE: Experiment = Experiment {
    name: "trie",
    title: "An adaptive radix tree under optimistic lock coupling beside other indexes, by threads (§5.2)",
    remarks: &[
        "ART is the trie, under the protocol of Leis, Scheibner, Kemper and Neumann. Fairness: all four \
         indexes lie in this library's arenas, on huge pages as far as the system gives them (\"share on \
         huge pages\"), hold the same 10M random 64-bit keys, inserted in random order, and are called \
         through one table of functions. In each round all serve the same requests, in turn: one by one \
         and in batches, with one thread and with two. Of 11 rounds the median counts, and cost has the \
         least and the most beside it; one more before them warms the caches.",
        "A thread has 1,024 requests at once and serves lookups first, then inserts and replacements, then \
         removals, then scans; updates are a third each. \"batches\" hands over all of a kind together. \
         ART's batches are of lookups alone, so its updates go one by one there as well; scans are batches \
         in Spiderman's tree alone. A thread looks up and changes keys of its own, which lie among the \
         other thread's in all nodes, so that each answer is known; all are checked. \"times one thread\" \
         is throughput. The author expects other trees to gain from batches as well.",
    ],
    body: Body::Timed { x_label: "threads", rows },
};

/// A mix of requests.
struct Mix {
    name: &'static str,
    updates_percent: usize,
    /// The others are scans, not lookups.
    scans: bool,
    /// The number of calls per round and thread.
    chunks: Scaled<usize>,
}

const MIXES: [Mix; 3] = [
    Mix { name: "lookups", updates_percent: 0, scans: false, chunks: Scaled::new(768, 2) },
    Mix {
        name: "lookups and updates in halves",
        updates_percent: 50,
        scans: false,
        chunks: Scaled::new(512, 2),
    },
    Mix {
        name: "95 % scans of 48 entries, 5 % updates",
        updates_percent: 5,
        scans: true,
        chunks: Scaled::new(64, 2),
    },
];

/// How requests are passed to the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    OneByOne,
    Batches,
}

impl Way {
    const ALL: [Self; 2] = [Self::OneByOne, Self::Batches];

    const fn name(self) -> &'static str {
        match self {
            Self::OneByOne => "one by one",
            Self::Batches => "batches",
        }
    }
}

struct Contestant {
    name: &'static str,
    index: Box<dyn OrderedIndex<u64, u64>>,
}

/// The paper's own tree, whose gains other figures have.
const OWN: &str = "Spiderman";

fn contestants() -> Result<[Contestant; 4]> {
    let paged = |member| spiderman::build(member, &spiderman::Options::default());
    let olfit = olfit::build(olfit::Member::BPlusOlPrefetched, &olfit::Options::default())?;
    Ok([
        Contestant { name: "ART", index: paged(spiderman::Member::Art)? },
        Contestant { name: OWN, index: paged(spiderman::Member::Spiderman)? },
        Contestant { name: "OLFIT's B+-Tree", index: olfit },
        Contestant { name: "Index", index: Box::new(Index::<u64, u64>::new()?) },
    ])
}

impl Contestant {
    fn wrong(&self, what: String) -> LabError {
        LabError::Wrong { index: self.name, what }
    }

    /// Returns whether a way is distinct: batches that are served one after the other aren't.
    fn has(&self, way: Way, mix: &Mix) -> bool {
        way == Way::OneByOne || !mix.scans || self.name == OWN
    }

    /// Inserts the initial entries.
    fn load(&mut self, hands: &[Hand]) -> Result<()> {
        let mut replaced = [None; TOGETHER];
        for hand in hands {
            for entries in hand.present.chunks(TOGETHER) {
                self.index.insert_many(entries, &mut replaced[..entries.len()])?;
            }
        }
        Ok(())
    }

    /// Seconds that threads take to have their requests served.
    fn time(&self, plans: &[Vec<Chunk>], way: Way) -> Result<f64> {
        let index = self.index.as_concurrent().ok_or(LabError::NotConcurrent { index: self.name })?;
        together::seconds(plans, |plan| {
            let wrong = plan.iter().map(|chunk| chunk.serve(index, way)).sum::<Result<usize>>()?;
            if wrong == 0 {
                return Ok(());
            }
            Err(self.wrong(format!("{wrong} of {} answers, {}", plan.len() * TOGETHER, way.name())))
        })
    }

    /// Checks the contents of the index, at rest.
    fn check(&self, hands: &[Hand]) -> Result<()> {
        self.index.check_invariants().map_err(|broken| self.wrong(broken.what))?;
        let (found, expected) =
            (self.index.len(), hands.iter().map(|hand| hand.present.len()).sum::<usize>());
        if found == expected { Ok(()) } else { Err(self.wrong(format!("{found} keys, not {expected}"))) }
    }
}

/// Questions of a kind, and their answers.
#[derive(Debug, Default)]
struct Asked<Q> {
    questions: Vec<Q>,
    answers: Vec<Option<u64>>,
}

impl<Q: Copy> Asked<Q> {
    fn push(&mut self, question: Q, answer: Option<u64>) {
        self.questions.push(question);
        self.answers.push(answer);
    }

    /// Returns the number of wrong answers if each is requested alone.
    fn wrong_one_by_one(&self, ask: impl Fn(Q) -> latchless::Result<Option<u64>>) -> Result<usize> {
        let mut wrong = 0;
        for (&question, &answer) in self.questions.iter().zip(&self.answers) {
            wrong += usize::from(ask(question)? != answer);
        }
        Ok(wrong)
    }

    /// Returns the same number if all are requested together.
    fn wrong_together(
        &self,
        ask: impl Fn(&[Q], &mut [Option<u64>]) -> latchless::Result<()>,
    ) -> Result<usize> {
        let mut found = [None; TOGETHER];
        let found = &mut found[..self.questions.len()];
        ask(&self.questions, found)?;
        Ok(found.iter().zip(&self.answers).filter(|(found, answer)| found != answer).count())
    }
}

/// Requests that a thread has at once. None of their keys is in two of them.
#[derive(Debug, Default)]
struct Chunk {
    gets: Asked<u64>,
    puts: Asked<(u64, u64)>,
    takes: Asked<u64>,
    scans: Vec<u64>,
}

impl Chunk {
    /// Has an index serve them; how many answers are wrong.
    fn serve(&self, index: &dyn ConcurrentIndex<u64, u64>, way: Way) -> Result<usize> {
        match way {
            Way::OneByOne => Ok(self.gets.wrong_one_by_one(|key| Ok(index.get(key)))?
                + self.puts.wrong_one_by_one(|(key, value)| index.insert_shared(key, value))?
                + self.takes.wrong_one_by_one(|key| Ok(index.remove_shared(key)))?
                + self.scan_one_by_one(index)?),
            Way::Batches => Ok(self.gets.wrong_together(|keys, found| index.get_many(keys, found))?
                + self.puts.wrong_together(|entries, found| index.insert_many_shared(entries, found))?
                + self.takes.wrong_together(|keys, found| index.remove_many_shared(keys, found))?
                + self.scan_together(index)),
        }
    }

    fn scan_one_by_one(&self, index: &dyn ConcurrentIndex<u64, u64>) -> Result<usize> {
        let (mut keys, mut values) = ([0; SCANNED], [0; SCANNED]);
        let mut wrong = 0;
        for &from in &self.scans {
            let span = (Included(from), Unbounded);
            let found = index.page(span, Direction::Forward, &mut keys, &mut values)?;
            wrong += usize::from(!is_scan(from, keys[..found].iter().copied()));
        }
        Ok(wrong)
    }

    fn scan_together(&self, index: &dyn ConcurrentIndex<u64, u64>) -> usize {
        let request = |&from: &u64| Request::Scan { from, limit: SCANNED };
        let requests: Vec<_> = self.scans.iter().map(request).collect();
        let mut replies = Vec::new();
        index.execute_shared(&requests, &mut replies);
        let right = |(&from, reply): (&u64, &Reply<u64, u64>)| match reply {
            Reply::Scanned(entries) => is_scan(from, entries.iter().map(|entry| entry.0)),
            _ => false,
        };
        self.scans.len() - self.scans.iter().zip(&replies).filter(|&pair| right(pair)).count()
    }
}

/// Returns whether these are the keys of a scan, starting with the first one, which is present.
fn is_scan(from: u64, keys: impl Iterator<Item = u64> + Clone) -> bool {
    keys.clone().next() == Some(from)
        && keys.clone().is_sorted_by(|one, next| one < next)
        && keys.count() == SCANNED
}

/// Keys that one thread at a time uses, in their state in each index, with their values.
struct Hand {
    space: KeySpace<'static>,
    present: Vec<(u64, u64)>,
    /// The next key that isn't there yet, by number.
    next: u64,
    updates: u64,
    random: Xoshiro256PlusPlus,
}

/// Numbers of keys of one hand are so far apart.
const HANDS: usize = THREADS[THREADS.len() - 1];

impl Hand {
    /// Creates all hands, with that many keys in total.
    fn all(keys: usize) -> Result<Vec<Self>> {
        let space = KeySpace::new::<u64>(Distribution::Uniform, keys as u64, 0, SEED)
            .map_err(|error| LabError::Wrong { index: "the key space", what: error.to_string() })?;
        let hand = |nth: usize| {
            let numbers = (nth..keys).step_by(HANDS).map(|number| space.key::<u64>(number as u64));
            let present: Vec<_> = numbers.map(|key| (key, value_of(key, 0))).collect();
            let next = (nth + HANDS * present.len()) as u64;
            let random = Xoshiro256PlusPlus::seed_from_u64(SEED + nth as u64);
            Self { space, present, next, updates: 0, random }
        };
        Ok((0..HANDS).map(hand).collect())
    }

    /// Returns a thread's next requests. The keys are then in the state after all of them.
    fn chunk(&mut self, mix: &Mix) -> Chunk {
        let (mut chunk, mut used, mut new) = (Chunk::default(), HashSet::new(), Vec::new());
        let updates = TOGETHER * mix.updates_percent / 100;
        for _ in updates..TOGETHER {
            if mix.scans {
                chunk.scans.push(self.start());
            } else {
                let at = self.unused(&mut used);
                let (key, value) = self.present[at];
                chunk.gets.push(key, Some(value));
            }
        }
        used.extend(&chunk.scans);
        for nth in 0..updates {
            self.updates += 1;
            if nth % 3 == 0 {
                let key = self.space.key::<u64>(self.next);
                self.next += HANDS as u64;
                new.push((key, value_of(key, 0)));
                chunk.puts.push((key, value_of(key, 0)), None);
                continue;
            }
            let at = self.unused(&mut used);
            if nth % 3 == 1 {
                let (key, value) = self.present.swap_remove(at);
                chunk.takes.push(key, Some(value));
            } else {
                let (key, value) = self.present[at];
                self.present[at].1 = value_of(key, self.updates);
                chunk.puts.push(self.present[at], Some(value));
            }
        }
        self.present.extend(new);
        chunk
    }

    /// Returns the place of a key that the chunk hasn't used.
    fn unused(&mut self, used: &mut HashSet<u64>) -> usize {
        loop {
            let at = self.random.random_range(0..self.present.len());
            if used.insert(self.present[at].0) {
                return at;
            }
        }
    }

    /// A key that a scan starts from.
    fn start(&mut self) -> u64 {
        loop {
            let (key, _) = self.present[self.random.random_range(0..self.present.len())];
            if key <= LAST_START {
                return key;
            }
        }
    }
}

/// Plans the requests of each of that many threads. Hands are distributed evenly, so that fewer threads
/// use all keys as well.
fn plan(hands: &mut [Hand], mix: &Mix, threads: usize, scale: Scale) -> Vec<Vec<Chunk>> {
    let of_thread = |thread: usize| {
        let own = (thread..HANDS).step_by(threads).cycle();
        own.take(mix.chunks.at(scale)).map(|nth| hands[nth].chunk(mix)).collect()
    };
    (0..threads).map(of_thread).collect()
}

fn rows(scale: Scale) -> Result<Vec<Row>> {
    let (mut field, mut hands) = (contestants()?, Hand::all(KEYS.at(scale))?);
    field.iter_mut().try_for_each(|one| one.load(&hands))?;
    let share = if scale == Scale::Small { huge_pages::share() } else { huge_pages::for_all() };
    let mut all = Vec::new();
    for mix in &MIXES {
        let times = race(&field, &mut hands, mix, scale)?;
        all.extend(rows_of(&field, mix, &times));
    }
    field.iter().try_for_each(|one| one.check(&hands))?;
    all.push(Row { on: On::Native, ..Row::new("all", 1.0, "share on huge pages", share) });
    Ok(all)
}

/// Nanoseconds that a request takes its thread in each round, of each contestant.
type Times = Vec<Vec<f64>>;

/// The times of each number of threads, and of each way.
fn race(
    field: &[Contestant],
    hands: &mut [Hand],
    mix: &Mix,
    scale: Scale,
) -> Result<Vec<(usize, Way, Times)>> {
    let cases = THREADS.iter().flat_map(|&threads| Way::ALL.map(|way| (threads, way)));
    let mut cases: Vec<_> =
        cases.map(|(threads, way)| (threads, way, vec![Vec::new(); field.len()])).collect();
    // One round more than counts: the first warms the caches.
    for round in 0..=ROUNDS.at(scale) {
        for (threads, way, times) in &mut cases {
            let plans = plan(hands, mix, *threads, scale);
            for (one, times) in field.iter().zip(times) {
                let seconds = one.time(&plans, *way)?;
                if round > 0 {
                    times.push(1e9 * seconds / (mix.chunks.at(scale) * TOGETHER) as f64);
                }
            }
        }
    }
    Ok(cases)
}

fn rows_of(field: &[Contestant], mix: &Mix, cases: &[(usize, Way, Times)]) -> Vec<Row> {
    let mut rows = Vec::new();
    let taken = |wanted: (usize, Way), nth: usize| {
        let case = cases.iter().find(|(threads, way, _)| (*threads, *way) == wanted)?;
        Some(median(&mut case.2[nth].clone()))
    };
    for &(threads, way, ref times) in cases {
        for (nth, one) in field.iter().enumerate().filter(|(_, one)| one.has(way, mix)) {
            let (time, series) = (median(&mut times[nth].clone()), format!("{}, {}", one.name, way.name()));
            let row = |unit, ours| {
                let row = Row::new(series.clone(), threads as f64, unit, ours);
                let (cost, spread) = (Some(time), spread(&times[nth]));
                Row {
                    panel: mix.name,
                    on: On::Native,
                    cost,
                    cost_unit: "ns/request".to_string(),
                    spread,
                    ..row
                }
            };
            rows.push(row("million requests/s", 1e3 * threads as f64 / time));
            if let Some(alone) = taken((1, way), nth).filter(|_| threads > 1) {
                rows.push(row("times one thread", threads as f64 * alone / time));
            }
            if let Some(single) = taken((threads, Way::OneByOne), nth).filter(|_| way == Way::Batches) {
                rows.push(row("times one by one", single / time));
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_and_number_of_threads_has_its_rows() {
        let rows = rows(Scale::Small).unwrap();
        for mix in &MIXES {
            let count =
                |unit: &str| rows.iter().filter(|row| row.panel == mix.name && row.unit == unit).count();
            let in_batches = if mix.scans { 1 } else { 4 };
            assert_eq!(count("million requests/s"), 2 * (4 + in_batches), "{}", mix.name);
            assert_eq!(count("times one thread"), 4 + in_batches, "{}", mix.name);
            assert_eq!(count("times one by one"), 2 * in_batches, "{}", mix.name);
        }
        for row in rows.iter().filter(|row| row.unit != "share on huge pages") {
            let (cost, [least, most]) = (row.cost.unwrap(), row.spread.unwrap());
            assert!(0.0 < least && least <= cost && cost <= most, "{row:?}");
        }
    }

    #[test]
    fn chunks_have_a_mix_s_shares_and_no_key_twice() {
        let mut hands = Hand::all(4_000).unwrap();
        for mix in &MIXES {
            for chunk in plan(&mut hands, mix, 1, Scale::Small).into_iter().flatten() {
                let updates = TOGETHER * mix.updates_percent / 100;
                let (puts, takes) = (chunk.puts.questions.len(), chunk.takes.questions.len());
                assert!(puts + takes == updates && takes.abs_diff(updates / 3) <= 1);
                assert_eq!(chunk.gets.questions.len() + chunk.scans.len(), TOGETHER - updates);
                let put = chunk.puts.questions.iter().map(|entry| entry.0);
                let points = put.chain(chunk.gets.questions.iter().chain(&chunk.takes.questions).copied());
                let points: Vec<u64> = points.collect();
                let different: HashSet<u64> = points.iter().copied().collect();
                assert_eq!(points.len(), different.len());
                assert!(chunk.scans.iter().all(|from| !different.contains(from)));
            }
        }
        let keys: Vec<u64> = hands.iter().flat_map(|hand| &hand.present).map(|entry| entry.0).collect();
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
    }

    #[test]
    fn wrong_answers_end_the_run() {
        let mut hands = Hand::all(4_000).unwrap();
        for mut one in contestants().unwrap() {
            one.load(&hands).unwrap();
            one.check(&hands).unwrap();
            for way in Way::ALL {
                for mix in &MIXES {
                    let plans = plan(&mut hands, mix, 2, Scale::Small);
                    one.time(&plans, way).unwrap();
                    let right = match one.time(&plans, way) {
                        Ok(_) => mix.updates_percent == 0,
                        Err(error) => matches!(error, LabError::Wrong { .. }) && mix.updates_percent > 0,
                    };
                    assert!(right, "{} {way:?}: updates can't be served twice", one.name);
                }
            }
            hands = Hand::all(4_000).unwrap();
            assert!(matches!(one.check(&hands[1..]), Err(LabError::Wrong { .. })));
        }
        assert!(!is_scan(1, [1, 2].into_iter()) && !is_scan(0, 1..49) && is_scan(1, 1..49));
    }
}
