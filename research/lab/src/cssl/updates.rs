//! Lookups, ranges and updates in one stream, which the paper doesn't measure. CSSL's lanes are then out
//! of date for a while, and are rebuilt.

use super::data::{Spread, present, ranges};
use super::race::{Point, native};
use super::who::entries;
use crate::error::{LabError, Result};
use crate::experiment::{Body, Experiment, Scale, Scaled};
use crate::row::Row;
use crate::runner::median;
use latchless::FillFactor;
use latchless_core::base::index::OrderedIndex;
use latchless_papers::{cssl, pb_tree};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::ops::Bound::Included;
use std::time::Instant;

const KEYS: Scaled<usize> = Scaled::new(16_000_000, 20_000);
/// Entries, about, of a range.
const WIDTH: Scaled<usize> = Scaled::new(10_000, 100);
/// Queries of a round, which all contestants answer before the next.
const QUERIES: Scaled<usize> = Scaled::new(20_000, 200);
const ROUNDS: usize = 5;
/// The percentages of queries that are inserts or removals.
const PERCENT: [u32; 4] = [0, 1, 10, 50];

pub(super) const UPDATES: Experiment = Experiment {
    name: "updates",
    title: "Lookups, ranges of 10,000 entries and updates in one stream, 16M keys",
    remarks: &[
        "The paper measures no updates. Half of them insert keys that aren't there, the other half remove keys that \
         are; of the other queries half are lookups and half are ranges, whose entries are summed. All contestants \
         answer the same queries, in turn, and give the same answers; of five rounds the median counts. CSSL \
         rebuilds lanes by itself when it is time, in a caller's insert.",
    ],
    body: Body::Timed { x_label: "updates, percent", rows },
};

#[derive(Debug, Clone, Copy)]
enum Query {
    Lookup(u32),
    Range(u32, u32),
    Insert(u32),
    Remove(u32),
}

type Index = Box<dyn OrderedIndex<u32, u32>>;

fn contestants() -> Result<Vec<(&'static str, Index)>> {
    let list = |member| cssl::build(member, &cssl::Options::default());
    let tree = |member| pb_tree::build(member, &pb_tree::Options::default());
    let mut all: Vec<(&'static str, Index)> = vec![
        ("cssl5", list(cssl::Member::Cssl5)?),
        ("cssl2", list(cssl::Member::Cssl2)?),
        ("cssl in parts", list(cssl::Member::Cssl)?),
        ("b-plus", tree(pb_tree::Member::BPlus)?),
        ("csb", tree(pb_tree::Member::Csb)?),
        ("index", Box::new(latchless::Index::<u32, u32>::new()?)),
    ];
    all.extend(
        ["btreemap", "blart"]
            .into_iter()
            .filter_map(|name| Some((name, latchless_rivals::build(name).ok()?))),
    );
    Ok(all)
}

fn rows(scale: Scale) -> Result<Vec<Row>> {
    // Every other number is a key, so that there are absent ones to insert.
    let keys: Vec<u32> = Spread::Dense.keys(KEYS.at(scale)).into_iter().map(|key| 2 * key).collect();
    let mut all = Vec::new();
    for percent in PERCENT {
        let mut field = contestants()?;
        for (_, index) in &mut field {
            index.bulk_load(&entries(&keys), FillFactor::new(0.8)?)?;
        }
        let mut times = vec![Vec::new(); field.len()];
        for round in 0..=ROUNDS {
            let queries = stream(&keys, percent, round, scale);
            let mut expected = None;
            for ((name, index), times) in field.iter_mut().zip(&mut times) {
                let start = Instant::now();
                let answer = answer(&mut **index, &queries)?;
                // The first round warms the caches.
                if round > 0 {
                    times.push(start.elapsed().as_nanos() as f64 / queries.len() as f64);
                }
                if *expected.get_or_insert(answer) != answer {
                    let what = format!("round {round} of {percent} % updates: {answer}, not {expected:?}");
                    return Err(LabError::Wrong { index: name, what });
                }
            }
        }
        let at = Point { panel: "", x: f64::from(percent), scale };
        let times: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
        for ((name, _), &time) in field.iter().zip(&times) {
            let row = Row::new(*name, at.x, "queries a second", 1e9 / time);
            all.push(Row { cost: Some(time), cost_unit: "ns/query".to_string(), ..native(row, at) });
            all.push(native(Row::new(*name, at.x, "times cssl5", times[0] / time), at));
        }
    }
    Ok(all)
}

/// The queries of a round. No key is inserted or removed twice, so that all that is known beforehand is true.
fn stream(keys: &[u32], percent: u32, round: usize, scale: Scale) -> Vec<Query> {
    let count = QUERIES.at(scale);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1990 + round as u64);
    let wanted = present(keys, count);
    let ranges = ranges(keys, 2 * WIDTH.at(scale) as u32, count);
    // Each round has separate places, which an odd step distributes over all keys.
    let place = |nth: usize| ((round * count + nth) * 0x9E37_79B1) % keys.len();
    (0..count)
        .map(|nth| match (random.random_range(0..100) < percent, random.random()) {
            (true, true) => Query::Insert(keys[place(nth)] + 1),
            (true, false) => Query::Remove(keys[place(nth)]),
            (false, true) => Query::Lookup(wanted[nth]),
            (false, false) => Query::Range(ranges[nth].0, ranges[nth].1),
        })
        .collect()
}

/// Returns the sum of all answers.
fn answer(index: &mut dyn OrderedIndex<u32, u32>, queries: &[Query]) -> Result<u64> {
    let mut all = 0u64;
    for &query in queries {
        all = all.wrapping_add(match query {
            Query::Lookup(key) => index.get(key).map_or(1, u64::from),
            Query::Range(low, high) => {
                let sum = index.sum((Included(low), Included(high)), usize::MAX)?;
                sum.total.wrapping_add(sum.entries as u64)
            }
            Query::Insert(key) => index.insert(key, key)?.map_or(2, u64::from),
            Query::Remove(key) => index.remove(key).map_or(3, u64::from),
        });
    }
    Ok(all)
}
