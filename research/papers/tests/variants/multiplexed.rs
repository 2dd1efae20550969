//! Spiderman's batches, in all their forms, compared with one request after the other.

use crate::common::{Rng, scaled};
use latchless::FillFactor;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::request::{Reply, Request};
use latchless_core::testing::sample;
use latchless_papers::Error;
use latchless_papers::cssl::{self, CsslMap};
use latchless_papers::pb_tree::node::Shape;
use latchless_papers::pb_tree::{CsbTree, PInternalTree, PbTree};
use latchless_papers::pi::mem::topology::Topology;
use latchless_papers::pi::{self, Pi};
use latchless_papers::spiderman::{BatchSize, Batching, Options, Prefetch, Rounds, SpidermanMap};
use std::collections::BTreeMap;

type Map = SpidermanMap<u64, u64>;
type Model = BTreeMap<u64, u64>;

/// Every set of options that can be combined.
fn every_prefetch() -> Vec<Prefetch> {
    let options = |bits: u16| (1..=8).filter(|option| bits >> (option - 1) & 1 == 1).collect::<Vec<u8>>();
    (0..256).filter_map(|bits| Prefetch::of(&options(bits)).ok()).collect()
}

const ROUNDS: [Rounds; 2] = [Rounds::Unfinished, Rounds::Naive];

fn map(page_bytes: usize, batching: Option<Batching>) -> Map {
    let options = Options { batching, page_bytes, huge_pages: false, ..Options::default() };
    Map::with_options(&options).unwrap()
}

/// Loads both with the same keys, ten apart.
fn load(map: &mut Map, keys: u64) -> Model {
    map.clear().unwrap();
    let entries: Vec<(u64, u64)> = (0..keys).map(|key| (10 * key, key)).collect();
    map.bulk_load(&entries, FillFactor::FULL).unwrap();
    entries.into_iter().collect()
}

/// Returns the answers to one request after the other.
fn expected(model: &mut Model, requests: &[Request<u64, u64>]) -> Vec<Reply<u64, u64>> {
    let serve = |&request: &Request<u64, u64>| match request {
        Request::Get(key) => Reply::Got(model.get(&key).copied()),
        Request::Insert(key, value) => Reply::Inserted(model.insert(key, value)),
        Request::Remove(key) => Reply::Removed(model.remove(&key)),
        Request::Scan { limit: 0, .. } => Reply::Refused(latchless::Error::EmptyBuffer),
        Request::Scan { from, limit } => {
            Reply::Scanned(model.range(from..).take(limit).map(|(&key, &value)| (key, value)).collect())
        }
    };
    requests.iter().map(serve).collect()
}

fn same(what: &str, map: &Map, model: &mut Model, requests: &[Request<u64, u64>]) {
    let mut replies = Vec::new();
    map.execute(requests, &mut replies);
    assert_eq!(replies, expected(model, requests), "{what}");
    map.check_invariants().unwrap_or_else(|broken| panic!("{what}: {broken}"));
    assert_eq!(map.len(), model.len(), "{what}");
}

/// Returns requests with that percentage of each kind, and scans for the rest.
fn mixed(
    rng: &mut Rng,
    requests: usize,
    keys: u64,
    [gets, inserts, removals]: [u64; 3],
) -> Vec<Request<u64, u64>> {
    let draw = |_| {
        let (key, kind) = (rng.below(10 * keys), rng.below(100));
        // Half of the keys are present.
        let key = if rng.below(2) == 0 { key / 10 * 10 } else { key };
        match kind {
            kind if kind < gets => Request::Get(key),
            kind if kind < gets + inserts => Request::Insert(key, rng.next()),
            kind if kind < gets + inserts + removals => Request::Remove(key),
            _ => Request::Scan { from: key, limit: rng.below(40) as usize },
        }
    };
    (0..requests).map(draw).collect()
}

#[test]
fn every_option_answers_as_one_after_the_other() {
    let mut map = map(128, None);
    let mut rng = Rng(31);
    let sets = every_prefetch();
    assert!(sets.len() > 64);
    for prefetch in sets.into_iter().step_by(sample(40)) {
        for rounds in ROUNDS {
            let mut model = load(&mut map, 300);
            map.set_batching(Some(Batching { size: BatchSize::Of(16), prefetch, rounds })).unwrap();
            let requests = mixed(&mut rng, scaled(300), 300, [30, 40, 20]);
            same(&format!("{prefetch}, {rounds:?}"), &map, &mut model, &requests);
        }
    }
}

#[test]
fn every_batch_size_and_mix_answers_as_one_after_the_other() {
    let mixes = [[100, 0, 0], [0, 100, 0], [0, 0, 100], [50, 50, 0], [0, 5, 0], [25, 25, 25], [0, 60, 40]];
    let sizes = [1, 2, 3, 8, 16, 100, 1024].map(BatchSize::Of).into_iter().chain([BatchSize::Auto]);
    for size in sizes {
        for page_bytes in [128, 4096] {
            let mut map = map(page_bytes, None);
            let mut rng = Rng(37);
            for (mix, prefetch) in
                mixes.into_iter().zip([Prefetch::BEST, Prefetch::PAPER].into_iter().cycle())
            {
                for rounds in ROUNDS {
                    let mut model = load(&mut map, 700);
                    map.set_batching(Some(Batching { size, prefetch, rounds })).unwrap();
                    let requests = mixed(&mut rng, scaled(2500), 700, mix);
                    same(&format!("{size:?}, {mix:?}, {rounds:?}"), &map, &mut model, &requests);
                }
            }
        }
    }
}

/// Interactions of the requests within a batch, in every form of batches.
fn in_every_way(keys: u64, requests: &[Request<u64, u64>]) {
    for page_bytes in [128, 4096] {
        let mut map = map(page_bytes, None);
        for rounds in ROUNDS {
            for prefetch in [Prefetch::BEST, Prefetch::PAPER, Prefetch::NONE] {
                let mut model = load(&mut map, keys);
                map.set_batching(Some(Batching { size: BatchSize::Of(1024), prefetch, rounds })).unwrap();
                same(&format!("{page_bytes}, {prefetch}, {rounds:?}"), &map, &mut model, requests);
            }
        }
    }
}

#[test]
fn a_batch_may_split_the_leaf_that_its_later_requests_were_led_to() {
    // A full leaf of either size holds 255 keys or fewer; all requests belong there, and go all over it
    // once it has been split many times.
    let mut requests: Vec<_> = (0..400).map(|at| Request::Insert(at * 7 % 2500, at)).collect();
    requests.extend((0..300).map(|at| Request::Get(at * 11 % 2600)));
    requests.extend((0..100).map(|at| Request::Remove(at * 13 % 2600)));
    requests.extend((0..50).map(|at| Request::Scan { from: at * 50, limit: 9 }));
    in_every_way(255, &requests);
    in_every_way(7, &requests);
}

#[test]
fn a_batch_may_empty_the_leaves_that_its_later_requests_were_led_to() {
    let mut requests: Vec<_> = (0..255).map(|at| Request::Remove(10 * (at * 7 % 255))).collect();
    requests.extend((0..255).map(|at| Request::Get(10 * at)));
    requests.extend((0..200).map(|at| Request::Insert(at * 3, at)));
    requests.push(Request::Scan { from: 0, limit: 500 });
    in_every_way(255, &requests);
}

#[test]
fn entries_of_one_key_are_served_in_the_batch_s_order() {
    let requests: Vec<_> = (0..900)
        .map(|at| match at % 5 {
            0 | 1 => Request::Insert(77, at),
            2 => Request::Get(77),
            3 => Request::Scan { from: 77, limit: 1 },
            _ if at % 10 == 4 => Request::Remove(77),
            _ => Request::Insert(78, at),
        })
        .collect();
    in_every_way(20, &requests);
    in_every_way(0, &requests);
}

#[test]
fn typed_batches_answer_in_order_and_refuse_unequal_buffers() {
    let map = map(128, Some(Batching { size: BatchSize::Of(8), ..Batching::BEST }));
    let entries: Vec<(u64, u64)> = (0..500).map(|at| (at % 100, at)).collect();
    let mut replaced = vec![None; 500];
    map.insert_many(&entries, &mut replaced).unwrap();
    assert!(replaced.iter().enumerate().all(|(at, &before)| before == (at as u64).checked_sub(100)));
    let keys: Vec<u64> = (0..200).rev().collect();
    let mut answers = vec![Some(0); 200];
    map.get_many(&keys, &mut answers).unwrap();
    assert!(answers.iter().zip(&keys).all(|(&answer, &key)| answer == (key < 100).then_some(400 + key)));
    let mut removed = vec![None; 200];
    map.remove_many(&keys, &mut removed).unwrap();
    assert_eq!((removed, map.len()), (answers, 0));
    let unequal = Err(latchless::Error::UnequalBuffers { left: 1, right: 0 });
    assert_eq!(map.get_many(&[1], &mut []), unequal);
    assert_eq!(map.insert_many(&[(1, 1)], &mut []), unequal);
    assert_eq!(map.remove_many(&[1], &mut []), unequal);
}

#[test]
fn ways_that_there_are_not_are_refused() {
    let of = |size| Some(Batching { size: BatchSize::Of(size), ..Batching::BEST });
    for given in [0, 1025] {
        let refused = Err(Error::BatchSize { given, most: 1024 });
        let options = Options { batching: of(given), ..Options::default() };
        assert_eq!(Map::with_options(&options).map(|_| ()), refused);
        let mut map = map(128, None);
        assert_eq!(map.set_batching(of(given)), refused);
        assert_eq!(map.batching(), None, "it stays as it was");
    }
    let refused = Map::with_options(&Options { page_bytes: 5000, ..Options::default() }).map(|_| ());
    assert_eq!(refused, Err(Error::PageSize { given: 5000 }));
}

/// Lookups in batches of a size.
type Lookups<'a> = &'a dyn Fn(&[u64], &mut [Option<u64>], BatchSize) -> latchless_papers::Result<()>;

/// Lookups of every batch size through the shared executor, against one after the other.
fn same_lookups(name: &str, one: &dyn Fn(u64) -> Option<u64>, many: Lookups<'_>) {
    let keys: Vec<u64> =
        (0..scaled(4000) as u64).map(|at| at * 7919 % 16_000).chain([0, 1, u64::MAX]).collect();
    for size in [BatchSize::Of(1), BatchSize::Of(7), BatchSize::Of(1024), BatchSize::Auto] {
        let mut answers = vec![Some(7); keys.len()];
        many(&keys, &mut answers, size).unwrap();
        for (&key, &answer) in keys.iter().zip(&answers) {
            assert_eq!(answer, one(key), "{name}, {size:?}: {key}");
        }
    }
    let refused = many(&keys, &mut vec![None; keys.len()], BatchSize::Of(0));
    assert_eq!(refused, Err(Error::BatchSize { given: 0, most: 1024 }), "{name}");
    let refused = many(&keys, &mut [], BatchSize::Auto);
    let unequal = latchless::Error::UnequalBuffers { left: keys.len(), right: 0 };
    assert_eq!(refused, Err(unequal.into()), "{name}");
}

/// Returns every third key up to that number.
fn thirds(keys: usize) -> Vec<(u64, u64)> {
    (1..=scaled(keys) as u64).map(|key| (3 * key, key)).collect()
}

/// The same executor, over trees of other kinds.
#[test]
fn one_executor_serves_every_tree() {
    fn same<S: Shape<Bits = u64>>(name: &str, mut map: PbTree<u64, u64, S>) {
        map.bulk_load(&thirds(5000), FillFactor::new(0.7).unwrap()).unwrap();
        same_lookups(name, &|key| map.get(key), &|keys, answers, size| {
            map.get_many_interleaved(keys, answers, size)
        });
    }
    same("pB+-Tree", PInternalTree::<u64, u64, 8>::new().unwrap());
    same("CSB+-Tree", CsbTree::<u64, u64, 1>::new().unwrap());
}

/// Compares an empty map, a loaded one, and one that has changed since.
fn same_all_the_while<M: OrderedIndex<u64, u64>>(map: &mut M, changes: usize, same: impl Fn(&M)) {
    same(map);
    map.bulk_load(&thirds(5000), FillFactor::FULL).unwrap();
    same(map);
    for key in 0..scaled(changes) as u64 {
        map.insert(key * 5, key).unwrap();
        map.remove(key * 6);
    }
    same(map);
}

/// The same executor, over CSSL's lanes: in one array and in parts, freshly built and after a drift.
#[test]
fn one_executor_serves_the_lanes_of_cssl() {
    for part_keys in [None, Some(64)] {
        let options = cssl::Options { part_keys, rebuild_automatically: false, ..cssl::Options::default() };
        let mut map = CsslMap::<u64, u64>::with_options(&options).unwrap();
        let same = |map: &CsslMap<u64, u64>| {
            same_lookups(
                &format!("CSSL, parts of {part_keys:?}"),
                &|key| map.get(key),
                &|keys, answers, size| map.pin().get_many_interleaved(keys, answers, size),
            );
        };
        same_all_the_while(&mut map, 3000, same);
    }
}

/// The same executor, over PI's index layer: of every width, with its keys divided among nodes, and with
/// inserts since it was built.
#[test]
fn one_executor_serves_the_entries_of_pi() {
    for entry_keys in [pi::EntryKeys::Four, pi::EntryKeys::Eight, pi::EntryKeys::Sixteen] {
        for nodes in [1, 3] {
            let topology = Some(Topology::synthetic(nodes, 1));
            let options = pi::Options { entry_keys, topology, pin: false, ..pi::Options::default() };
            let mut map = Pi::<u64, u64>::with_options(&options).unwrap();
            let same = |map: &Pi<u64, u64>| {
                let name = format!("PI, {entry_keys:?} keys an entry, {nodes} nodes");
                same_lookups(&name, &|key| map.get(key), &|keys, answers, size| {
                    map.get_many_interleaved(keys, answers, size)
                });
            };
            same_all_the_while(&mut map, 300, same);
        }
    }
}

/// A refusal in the middle of a batch is reported, and loses nothing.
#[test]
fn batches_at_the_memory_limit_lose_nothing() {
    for rounds in ROUNDS {
        let batching = Some(Batching { rounds, ..Batching::BEST });
        let options = Options {
            batching,
            page_bytes: 128,
            limit_bytes: Some(8 << 10),
            huge_pages: false,
            page_references: None,
        };
        let map = Map::with_options(&options).unwrap();
        let entries: Vec<(u64, u64)> = (0..1000).map(|at| (at * 7919 % 1000, at)).collect();
        let requests: Vec<_> = entries.iter().map(|&(key, value)| Request::Insert(key, value)).collect();
        let mut replies = Vec::new();
        map.execute(&requests, &mut replies);
        let refused =
            |reply: &Reply<u64, u64>| matches!(reply, Reply::Refused(latchless::Error::MemoryLimit { .. }));
        assert!(replies.iter().any(refused));
        map.check_invariants().unwrap();
        for (&(key, value), reply) in entries.iter().zip(&replies) {
            assert_eq!(map.get(key), (!refused(reply)).then_some(value));
        }
        assert!(matches!(
            map.insert_many(&entries, &mut vec![None; 1000]),
            Err(latchless::Error::MemoryLimit { .. })
        ));
        map.check_invariants().unwrap();
    }
}
