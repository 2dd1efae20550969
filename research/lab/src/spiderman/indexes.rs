//! §5.2, "other trees": the one executor over this library's other indexes, compared with lookups one by
//! one and with the batches of each index. Only natively.

use crate::error::{LabError, Result};
use crate::experiment::{Body, Experiment, Scale, Scaled};
use crate::on::On;
use crate::row::Row;
use crate::runner::median;
use latchless::index::{Driver, Steps};
use latchless::{FillFactor, Index};
use latchless_core::base::index::OrderedIndex;
use latchless_papers::common::interleave::{Interleaving, SizeTuner, interleave};
use latchless_papers::common::walk::{Aim, Rounds, Step, Walk, WalksOf};
use latchless_papers::cssl::CsslMap;
use latchless_papers::olfit;
use latchless_papers::pb_tree::node::Shape;
use latchless_papers::pb_tree::{CsbTree, PInternalTree, PbTree};
use latchless_papers::pi::{self, Pi};
use latchless_papers::spiderman::BatchSize;
use latchless_papers::spiderman::trie::TrieMap;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::time::Instant;

const KEYS: Scaled<usize> = Scaled::new(10_000_000, 10_000);
/// Lookups of one way in one round.
const LOOKUPS: Scaled<usize> = Scaled::new(1 << 16, 1 << 9);
const ROUNDS: Scaled<usize> = Scaled::new(21, 3);

pub(super) const INDEXES: Experiment = Experiment {
    name: "indexes",
    title: "One executor over the other indexes: lookups among 10M random 64-bit keys, one thread (§5.2)",
    remarks: &[
        "\"one by one\" is a call of get for each key, \"own batches\" what the index's get_many does: the same \
         executor under OLFIT, groups that go down level by level in the pB+-Tree family, groups of a size \
         known when compiled in CSSL, in PI sorted batches that threads share, and in Index groups whose \
         requests are on one level. \"times one by one\" compares within an index. The author expects other trees \
         to gain as well.",
    ],
    body: Body::Timed { x_label: "keys", rows },
};

type Entries = [(u64, u64)];
/// Looks up keys; the answers are written to the second argument.
type Ask<'a> = &'a dyn Fn(&[u64], &mut [Option<u64>]) -> Result<()>;

/// The reference of the others.
const ONE_BY_ONE: &str = "one by one";

fn rows(scale: Scale) -> Result<Vec<Row>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2023);
    let mut keys: Vec<u64> = (0..KEYS.at(scale)).map(|_| random.random()).collect();
    keys.sort_unstable();
    keys.dedup();
    let entries: Vec<(u64, u64)> = keys.iter().map(|&key| (key, !key)).collect();
    let mut all = Vec::new();
    for rows_of in [pb_tree, csb_tree, olfit, cssl, pi, trie, flagship] {
        all.extend(rows_of(&entries, scale)?);
    }
    Ok(all)
}

fn pb_tree(entries: &Entries, scale: Scale) -> Result<Vec<Row>> {
    of_the_family("pB+-Tree", PInternalTree::<u64, u64, 8>::new()?, entries, scale)
}

fn csb_tree(entries: &Entries, scale: Scale) -> Result<Vec<Row>> {
    of_the_family("CSB+-Tree", CsbTree::<u64, u64, 1>::new()?, entries, scale)
}

fn of_the_family<S: Shape<Bits = u64>>(
    panel: &'static str,
    mut map: PbTree<u64, u64, S>,
    entries: &Entries,
    scale: Scale,
) -> Result<Vec<Row>> {
    map.bulk_load(entries, FillFactor::FULL)?;
    race_beside_own_batches(
        panel,
        (entries, scale),
        |key| map.get(key),
        &|keys, answers| Ok(map.get_many(keys, answers)?),
        |keys, answers, size| map.get_many_interleaved(keys, answers, size),
    )
}

fn olfit(entries: &Entries, scale: Scale) -> Result<Vec<Row>> {
    let mut map: Box<dyn OrderedIndex<u64, u64>> =
        olfit::build(olfit::Member::BPlusOlPrefetched, &olfit::Options::default())?;
    map.bulk_load(entries, FillFactor::FULL)?;
    race(
        "OLFIT's B+-Tree",
        (entries, scale),
        &[
            (ONE_BY_ONE, &one_by_one(|key| map.get(key))),
            ("executor, auto", &|keys, answers| Ok(map.get_many(keys, answers)?)),
        ],
    )
}

fn cssl(entries: &Entries, scale: Scale) -> Result<Vec<Row>> {
    let mut map = CsslMap::new()?;
    map.bulk_load(entries)?;
    let map = map.pin();
    race_beside_own_batches(
        "CSSL",
        (entries, scale),
        |key| map.get(key),
        &|keys, answers| Ok(map.get_many(keys, answers)?),
        |keys, answers, size| map.get_many_interleaved(keys, answers, size),
    )
}

fn pi(entries: &Entries, scale: Scale) -> Result<Vec<Row>> {
    let mut map = Pi::<u64, u64>::with_options(&pi::Options { threads: 1, ..pi::Options::default() })?;
    map.bulk_load(entries)?;
    race_beside_own_batches(
        "PI",
        (entries, scale),
        |key| map.get(key),
        &|keys, answers| Ok(map.get_many(keys, answers)?),
        |keys, answers, size| map.get_many_interleaved(keys, answers, size),
    )
}

/// An adaptive radix tree under optimistic lock coupling, which has no batches but the executor's.
fn trie(entries: &Entries, scale: Scale) -> Result<Vec<Row>> {
    let mut map = TrieMap::<u64, u64>::new()?;
    map.bulk_load(entries, FillFactor::FULL)?;
    race(
        "ART",
        (entries, scale),
        &[
            (ONE_BY_ONE, &one_by_one(|key| map.get(key))),
            ("executor, 16", &|keys, answers| Ok(map.get_many_in(keys, answers, BatchSize::Of(16))?)),
            ("executor, auto", &|keys, answers| Ok(map.get_many_in(keys, answers, BatchSize::Auto)?)),
        ],
    )
}

/// The flagship, whose steps the executor leads as it leads any other walk.
fn flagship(entries: &Entries, scale: Scale) -> Result<Vec<Row>> {
    let mut map = Index::<u64, u64>::new()?;
    map.bulk_load(entries, FillFactor::FULL)?;
    let tuner = SizeTuner::new(BatchSize::CANDIDATES);
    race_beside_own_batches(
        "Index",
        (entries, scale),
        |key| map.get(key),
        &|keys, answers| Ok(map.get_many(keys, answers)?),
        |keys, answers, size| {
            map.drive(Interleaved { keys, answers, size, tuner: &tuner });
            Ok(())
        },
    )
}

/// A batch of lookups that the executor leads.
struct Interleaved<'a> {
    keys: &'a [u64],
    answers: &'a mut [Option<u64>],
    size: BatchSize,
    tuner: &'a SizeTuner,
}

impl Driver<u64, u64> for Interleaved<'_> {
    type Output = ();

    #[inline(always)]
    fn drive<S: Steps<u64, u64> + Sync>(self, steps: S) {
        let Self { keys, answers, size, tuner } = self;
        // The same number of levels: tuned sizes remain valid.
        let how = Interleaving { size, rounds: Rounds::Unfinished, tuner, levels: 1 };
        interleave(
            &Stepped(steps),
            how,
            keys.len(),
            #[inline(always)]
            |at| (keys[at], Aim::Look),
            #[inline(always)]
            |at, place| {
                let place = match place {
                    Some(place) => place,
                    None => arrived(steps, keys[at]),
                };
                answers[at] = steps.answer(place, keys[at]);
            },
        );
    }
}

#[inline(always)]
fn arrived<S: Steps<u64, u64>>(steps: S, key: u64) -> S::Place {
    let mut place = steps.enter(key);
    while !steps.step(&mut place, key) {}
    place
}

/// The flagship's steps as a walk.
struct Stepped<S>(S);

impl<S: Steps<u64, u64> + Sync> Walk for Stepped<S> {
    type Key = u64;
    type Place = S::Place;
    type Anchor = S::Place;

    #[inline(always)]
    fn enter(&self, key: u64, _: Aim) -> S::Place {
        self.0.enter(key)
    }

    #[inline(always)]
    fn step(&self, place: &mut S::Place, key: u64) -> Step<S::Place> {
        if self.0.step(place, key) { Step::Landed(Some(*place)) } else { Step::On }
    }

    /// Inlined, so that steps are made of the instructions that the index has chosen.
    #[inline(always)]
    fn lead(&self, walks: &mut WalksOf<Self>, rounds: Rounds) {
        walks.go(self, rounds);
    }
}

fn one_by_one(get: impl Fn(u64) -> Option<u64>) -> impl Fn(&[u64], &mut [Option<u64>]) -> Result<()> {
    move |keys, answers| {
        answers.iter_mut().zip(keys).for_each(|(answer, &key)| *answer = get(key));
        Ok(())
    }
}

/// The ways of an index whose own batches are something else than the executor.
fn race_beside_own_batches(
    panel: &'static str,
    keys: (&Entries, Scale),
    get: impl Fn(u64) -> Option<u64>,
    get_many: Ask<'_>,
    interleaved: impl Fn(&[u64], &mut [Option<u64>], BatchSize) -> latchless_papers::Result<()>,
) -> Result<Vec<Row>> {
    race(
        panel,
        keys,
        &[
            (ONE_BY_ONE, &one_by_one(get)),
            ("own batches", get_many),
            ("executor, 16", &|keys, answers| Ok(interleaved(keys, answers, BatchSize::Of(16))?)),
            ("executor, auto", &|keys, answers| Ok(interleaved(keys, answers, BatchSize::Auto)?)),
        ],
    )
}

/// Times an index's ways to look up the same keys, in turn; the median round of each counts.
///
/// # Errors
/// When an answer is wrong.
fn race(
    panel: &'static str,
    (entries, scale): (&Entries, Scale),
    ways: &[(&'static str, Ask<'_>)],
) -> Result<Vec<Row>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut times = vec![Vec::new(); ways.len()];
    let mut answers = vec![None; LOOKUPS.at(scale)];
    for _ in 0..ROUNDS.at(scale) {
        for ((name, ask), times) in ways.iter().zip(&mut times) {
            let keys: Vec<u64> =
                answers.iter().map(|_| entries[random.random_range(0..entries.len())].0).collect();
            let start = Instant::now();
            ask(&keys, &mut answers)?;
            times.push(start.elapsed().as_nanos() as f64 / keys.len() as f64);
            if let Some(at) = (0..keys.len()).find(|&at| answers[at] != Some(!keys[at])) {
                let what = format!("{name}: {:?} under {}", answers[at], keys[at]);
                return Err(LabError::Wrong { index: panel, what });
            }
        }
    }
    let times: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
    let x = entries.len() as f64;
    let row = |(&(name, _), &time): (&(&'static str, Ask<'_>), &f64)| {
        let row = Row::new(name, x, "times one by one", times[0] / time);
        Row { panel, on: On::Native, cost: Some(time), cost_unit: "ns/lookup".to_string(), ..row }
    };
    Ok(ways.iter().zip(&times).map(row).collect())
}
