//! Cases that the common tests don't reach: batches of all shapes on many threads and nodes, concurrent
//! rebuilds, the queue's end.

use super::*;
use crate::pi::batch::tune::QuerySetSize;
use crate::pi::mem::slabs::REFUSED;
use crate::pi::mem::topology::Topology;
use latchless_core::base::error::Error;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::request::Reply;
use latchless_core::testing::Rng;
use std::collections::BTreeMap;

/// Small segments, early rebuilds: everything happens often.
fn harsh(threads: usize, nodes: usize) -> Options {
    Options {
        threads,
        topology: Some(Topology::synthetic(nodes, 2)),
        segment_nodes: 4,
        rebuild_from: 40,
        group: 5,
        ..Options::default()
    }
}

fn forms() -> Vec<Options> {
    let mut forms = vec![harsh(1, 1), harsh(2, 1), harsh(3, 4)];
    forms.push(Options { part_segments: Some(2), entry_keys: EntryKeys::Four, ..harsh(2, 1) });
    if !cfg!(miri) {
        forms.push(Options {
            background: false,
            prefetch: Prefetch::Nothing,
            entry_keys: EntryKeys::Four,
            ..harsh(8, 3)
        });
        forms.push(Options { entry_keys: EntryKeys::Sixteen, self_adjusted: false, ..harsh(5, 2) });
        forms.push(Options { part_segments: Some(1), ..harsh(1, 1) });
        forms.push(Options {
            part_segments: Some(5),
            entry_keys: EntryKeys::Sixteen,
            background: false,
            prefetch: Prefetch::Entries,
            ..harsh(3, 2)
        });
        forms.push(Options { batch: QuerySetSize::Queries(3), ..harsh(2, 2) });
        forms.push(Options { batch: QuerySetSize::Auto, ..harsh(2, 1) });
    }
    forms
}

/// Does the queries to the model as a batch promises to do them.
pub(super) fn model_replies(
    model: &mut BTreeMap<u64, u64>,
    queries: &[Query<u64, u64>],
) -> Vec<Reply<u64, u64>> {
    let low = |query: &Query<u64, u64>| match *query {
        Query::Search(key) | Query::Insert(key, _) | Query::Delete(key) => key,
        Query::Range { low, .. } | Query::From { low, .. } => low,
    };
    let mut order: Vec<usize> = (0..queries.len()).collect();
    order.sort_by_key(|&at| low(&queries[at]));
    let mut replies = vec![Reply::Got(None); queries.len()];
    for at in order {
        replies[at] = match queries[at] {
            Query::Search(key) => Reply::Got(model.get(&key).copied()),
            Query::Insert(key, value) => Reply::Inserted(model.insert(key, value)),
            Query::Delete(key) => Reply::Removed(model.remove(&key)),
            Query::Range { low, high, limit } => {
                let entries = model.range(low..).take_while(|(key, _)| **key <= high).take(limit);
                Reply::Scanned(entries.map(|(&key, &value)| (key, value)).collect())
            }
            Query::From { low, limit } => {
                Reply::Scanned(model.range(low..).take(limit).map(|(&key, &value)| (key, value)).collect())
            }
        };
    }
    replies
}

fn same(index: &Pi<u64, u64>, model: &BTreeMap<u64, u64>) {
    index.check_invariants().unwrap();
    assert!(index.range(..).unwrap().eq(model.iter().map(|(&key, &value)| (key, value))));
    assert_eq!(index.len(), model.len());
}

/// Keys of a batch: anywhere, all one key, all in one segment, ascending, in two clusters, the ends.
fn key(rng: &mut Rng, shape: u64, at: u64) -> u64 {
    match shape {
        0 => rng.below(u64::MAX),
        1 => 777,
        2 => 1_000 + rng.below(6),
        3 => at * 3,
        4 => rng.below(40) + (at % 2) * (u64::MAX - 40),
        _ => [0, u64::MAX, u64::MAX - 1, 1][rng.below(4) as usize],
    }
}

fn query(rng: &mut Rng, shape: u64, at: u64) -> Query<u64, u64> {
    let key = key(rng, shape, at);
    match rng.below(20) {
        0..5 => Query::Search(key),
        5..13 => Query::Insert(key, rng.below(1000)),
        13..18 => Query::Delete(key),
        kind => {
            let limit = [1, 7, usize::MAX][rng.below(3) as usize];
            match kind {
                18 => Query::From { low: key, limit },
                _ => Query::Range { low: key, high: key.saturating_add(rng.below(60)), limit },
            }
        }
    }
}

#[test]
fn batches_of_every_shape_answer_as_promised() {
    for options in forms() {
        // Batches that are served in pieces keep their promise piece by piece.
        let piece = match options.batch {
            QuerySetSize::Queries(queries) => queries * options.threads,
            QuerySetSize::Auto => usize::MAX,
        };
        let mut index = Pi::with_options(&options).unwrap();
        let (mut model, mut rng) = (BTreeMap::new(), Rng(3));
        for round in 0..if cfg!(miri) { 8 } else { 150 } {
            let len = [0, 1, 2, 5, 60, 300][rng.below(if cfg!(miri) { 5 } else { 6 }) as usize];
            let queries: Vec<_> = (0..len).map(|at| query(&mut rng, round % 6, at)).collect();
            let replies = index.execute(&queries);
            let expected: Vec<_> = queries
                .chunks(piece.min(1 << 20))
                .flat_map(|piece| model_replies(&mut model, piece))
                .collect();
            assert_eq!(replies, expected, "round {round} with {options:?}");
            if round % 10 == 7 {
                same(&index, &model);
            }
        }
        index.settle().unwrap();
        same(&index, &model);
        assert!(index.rebuilds() > 0 || cfg!(miri), "rebuilds were due");
    }
}

#[test]
fn queries_of_one_key_take_effect_in_their_order() {
    for threads in if cfg!(miri) { [1, 2, 2] } else { [1, 2, 7] } {
        let mut index = Pi::<u64, u64>::with_options(&harsh(threads, 1)).unwrap();
        index.insert(5, 50).unwrap();
        let queries = [
            Query::Delete(5),
            Query::Insert(5, 51),
            Query::Search(5),
            Query::Insert(5, 52),
            Query::Delete(5),
            Query::Search(5),
            Query::Delete(5),
            Query::Insert(5, 53),
        ];
        let expected = [
            Reply::Removed(Some(50)),
            Reply::Inserted(None),
            Reply::Got(Some(51)),
            Reply::Inserted(Some(51)),
            Reply::Removed(Some(52)),
            Reply::Got(None),
            Reply::Removed(None),
            Reply::Inserted(None),
        ];
        assert_eq!(index.execute(&queries), expected);
        assert_eq!(index.get(5), Some(53));
    }
}

#[test]
#[cfg_attr(miri, ignore = "eight threads")]
fn more_threads_than_queries_and_more_queries_than_keys() {
    let mut index = Pi::<u64, u64>::with_options(&harsh(8, 4)).unwrap();
    assert_eq!(index.execute(&[]), []);
    assert_eq!(index.execute(&[Query::Insert(u64::MAX, 1)]), [Reply::Inserted(None)]);
    let entries: Vec<(u64, u64)> = (0..500).map(|nth| (nth % 3, nth)).collect();
    let mut replaced = vec![None; 500];
    index.insert_many(&entries, &mut replaced).unwrap();
    assert!((3..500).all(|nth| replaced[nth] == Some(nth as u64 - 3)));
    assert_eq!(index.len(), 4);
    let mut removed = vec![None; 3];
    index.remove_many(&[2, 2, 9], &mut removed).unwrap();
    assert_eq!(removed, [Some(497), None, None]);
    let mut found = [None; 2];
    index.get_many(&[u64::MAX, 2], &mut found).unwrap();
    assert_eq!(found, [Some(1), None]);
    assert_eq!(index.get_many(&[1], &mut []), Err(Error::UnequalBuffers { left: 1, right: 0 }));
}

#[test]
#[cfg_attr(miri, ignore = "many loads of many keys; the others load as well")]
fn loads_are_divided_evenly_among_nodes() {
    for (len, nodes) in [(1000u64, 4), (3, 4), (0, 4), (1, 1), (257, 3)] {
        let mut index = Pi::<u64, u64>::with_options(&harsh(4, nodes)).unwrap();
        let entries: Vec<(u64, u64)> = (0..len).map(|nth| (nth * nth, nth)).collect();
        index.bulk_load(&entries).unwrap();
        same(&index, &entries.iter().copied().collect());
        if len >= nodes as u64 {
            let of = |node: usize| index.engine.domains[node].built.list.len() as u64;
            assert!((0..nodes).all(|node| of(node).abs_diff(len / nodes as u64) <= 1));
        }
        let spread: Vec<Query<u64, u64>> = entries.iter().map(|&(key, _)| Query::Delete(key)).collect();
        index.execute(&spread);
        assert!(index.is_empty());
        if len == 1000 {
            assert_eq!(index.threads_per_node(), [1, 1, 1, 1]);
        }
        if len > 0 {
            let mut full = Pi::<u64, u64>::with_options(&harsh(1, 1)).unwrap();
            full.insert(1, 1).unwrap();
            assert_eq!(full.bulk_load(&entries), Err(Error::NotEmpty { len: 1 }));
        }
    }
    let mut index = Pi::<u64, u64>::new().unwrap();
    assert_eq!(index.bulk_load(&[(1, 0), (3, 0), (2, 0)]), Err(Error::Unsorted { position: 2 }));
    assert_eq!(index.bulk_load(&[(1, 0), (1, 0)]), Err(Error::DuplicateKey { position: 1 }));
}

#[test]
#[cfg_attr(miri, ignore = "large batches; what is shared between threads is the same in small ones")]
fn threads_follow_the_load_or_do_not() {
    let entries: Vec<(u64, u64)> = (0..4000).map(|nth| (nth, nth)).collect();
    for (self_adjusted, expected) in [(true, [4, 2, 1, 1]), (false, [2, 2, 2, 2])] {
        let options = Options { self_adjusted, ..harsh(8, 4) };
        let mut index = Pi::<u64, u64>::with_options(&options).unwrap();
        index.bulk_load(&entries).unwrap();
        let of_node = |node: u64, len: u64| (0..len).map(move |nth| (node * 1000 + nth, 0));
        let batch: Vec<(u64, u64)> =
            [456, 244, 169, 131].into_iter().zip(0..).flat_map(|(len, node)| of_node(node, len)).collect();
        index.insert_many(&batch, &mut vec![None; batch.len()]).unwrap();
        assert_eq!(index.threads_per_node(), expected);
    }
}

#[test]
fn rebuilds_race_with_batches() {
    race_with_batches(&Options { rebuild_from: 10, ..harsh(2, 2) });
}

#[test]
fn rebuilds_in_parts_race_with_batches() {
    race_with_batches(&Options { rebuild_from: 10, part_segments: Some(3), ..harsh(2, 2) });
}

fn race_with_batches(options: &Options) {
    let mut index = Pi::<u64, u64>::with_options(options).unwrap();
    let (mut model, mut rng) = (BTreeMap::new(), Rng(9));
    let (mut beside, rounds) = (0, if cfg!(miri) { 6 } else { 400 });
    for round in 0..rounds {
        // Growing, then shrinking to nothing.
        let queries: Vec<Query<u64, u64>> = (0..80)
            .map(|_| match (rng.below(4), round < rounds / 2) {
                (0, true) | (1..4, false) => Query::Delete(rng.below(5000)),
                _ => Query::Insert(rng.below(5000), round),
            })
            .collect();
        assert_eq!(index.execute(&queries), model_replies(&mut model, &queries), "round {round}");
        beside += usize::from(index.engine.domains.iter().any(|domain| domain.rebuilds.running()));
    }
    assert!(beside > 0, "no batch met a rebuild");
    index.settle().unwrap();
    same(&index, &model);
    let keys: Vec<u64> = model.keys().copied().collect();
    index.remove_many(&keys, &mut vec![None; keys.len()]).unwrap();
    index.rebuild().unwrap();
    same(&index, &BTreeMap::new());
    assert_eq!(
        (index.stats().leaves, index.stats().levels),
        (1, 1),
        "a head for each node is all that is left"
    );
}

#[test]
fn memory_comes_back_over_cycles() {
    for part_segments in [None, Some(2)] {
        memory_comes_back(&Options { part_segments, ..harsh(2, 1) });
    }
}

fn memory_comes_back(options: &Options) {
    let mut index = Pi::<u64, u64>::with_options(options).unwrap();
    let empty = index.memory_bytes();
    for _ in 0..if cfg!(miri) { 2 } else { 200 } {
        let entries: Vec<(u64, u64)> = (0..300).map(|nth| (nth * 7, nth)).collect();
        index.insert_many(&entries, &mut vec![None; 300]).unwrap();
        let keys: Vec<u64> = entries.iter().map(|entry| entry.0).collect();
        index.remove_many(&keys, &mut vec![None; 300]).unwrap();
        index.rebuild().unwrap();
        assert_eq!(index.memory_bytes(), empty);
    }
}

#[test]
#[cfg_attr(miri, ignore = "a segment has to become long")]
fn keys_that_all_come_behind_each_other_do_not_make_one_long_segment() {
    let mut index = Pi::<u64, u64>::with_options(&Options { rebuild_from: 1 << 20, ..harsh(1, 1) }).unwrap();
    let most = 20_000;
    for start in (0..most).step_by(100) {
        let entries: Vec<(u64, u64)> = (start..start + 100).map(|nth| (nth, nth)).collect();
        index.insert_many(&entries, &mut [None; 100]).unwrap();
    }
    index.settle().unwrap();
    assert!(index.rebuilds() > 0, "too few keys to be due, but all in one segment");
    assert_eq!(index.len() as u64, most);
    index.check_invariants().unwrap();
}

#[test]
#[cfg_attr(miri, ignore = "many batches until memory runs out")]
fn a_memory_limit_is_kept_and_nothing_is_lost() {
    for threads in [1, 2] {
        let options = Options { limit_bytes: Some(20_000), background: false, ..harsh(threads, 1) };
        let mut index = Pi::<u64, u64>::with_options(&options).unwrap();
        let mut model = BTreeMap::new();
        for round in 0..60u64 {
            let queries: Vec<_> = (0..40).map(|nth| Query::Insert(round + nth * 1000, round)).collect();
            for (reply, query) in index.execute(&queries).into_iter().zip(queries) {
                let Query::Insert(key, value) = query else { unreachable!() };
                match reply {
                    Reply::Inserted(before) => assert_eq!(before, model.insert(key, value)),
                    Reply::Refused(error) => {
                        assert!(matches!(error, Error::MemoryLimit { limit_bytes: 20_000, .. }))
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        assert!(model.len() > 100 && model.len() < 2400, "{} found room", model.len());
        same(&index, &model);
        let entries: Vec<(u64, u64)> = (0..10_000).map(|nth| (nth, nth)).collect();
        let mut other = Pi::<u64, u64>::with_options(&options).unwrap();
        assert!(matches!(other.bulk_load(&entries), Err(Error::MemoryLimit { .. })));
        same(&other, &BTreeMap::new());
    }
}

#[test]
fn memory_that_is_refused_to_the_list_is_a_typed_error_and_changes_nothing() {
    let mut options = Options { background: false, rebuild_from: 1 << 20, ..harsh(1, 2) };
    for part_segments in [None, Some(3)] {
        options.part_segments = part_segments;
        memory_is_refused(&options);
    }
}

/// Does this while memory for the list, and for parts of the index layer, is refused.
fn refused(what: &mut dyn FnMut() -> Result<(), Error>) {
    REFUSED.set(true);
    let outcome = what();
    REFUSED.set(false);
    assert!(matches!(outcome, Err(Error::OutOfMemory { .. })), "{outcome:?}");
}

fn memory_is_refused(options: &Options) {
    REFUSED.set(true);
    let made = Pi::<u64, u64>::with_options(options);
    REFUSED.set(false);
    assert!(matches!(made, Err(crate::Error::Index(Error::OutOfMemory { .. }))));
    let mut index = Pi::<u64, u64>::with_options(options).unwrap();
    let entries: Vec<(u64, u64)> = (0..300).map(|nth| (nth << 55, nth)).collect();
    refused(&mut || index.bulk_load(&entries));
    same(&index, &BTreeMap::new());
    index.bulk_load(&entries).unwrap();
    let mut model: BTreeMap<u64, u64> = entries.into_iter().collect();
    for key in 0..30 {
        index.insert(key, key).unwrap();
        model.insert(key, key);
    }
    refused(&mut || index.rebuild());
    same(&index, &model);
    // A change of a lent segment goes to a copy.
    let lent: Vec<_> = index.engine.domains.iter_mut().map(|domain| domain.built.list.lend()).collect();
    refused(&mut || index.insert(7, 0).map(|_| ()));
    refused(&mut || index.insert(u64::MAX, 0).map(|_| ()));
    same(&index, &model);
    drop(lent);
    index.insert(7, 0).unwrap();
    model.insert(7, 0);
    index.rebuild().unwrap();
    same(&index, &model);
}

#[test]
fn narrow_lanes_work_as_wide_ones_do() {
    let mut index = Pi::<i32, f32>::with_options(&harsh(2, 2)).unwrap();
    let entries: Vec<(i32, f32)> = (-200..200).map(|nth| (nth, nth as f32 / 2.0)).collect();
    index.insert_many(&entries, &mut [None; 400]).unwrap();
    assert_eq!((index.get(-7), index.count(-3..=3)), (Some(-3.5), Ok(7)));
    let back = index.range_reverse(..-195).unwrap().map(|entry| entry.0).collect::<Vec<_>>();
    assert_eq!(back, [-196, -197, -198, -199, -200]);
    index.check_invariants().unwrap();
}

mod submissions {
    use super::*;
    use core::time::Duration;
    use latchless_core::sync::Tally;

    fn front(options: SubmissionOptions) -> Submissions<u64, u64> {
        Submissions::new(Pi::with_options(&harsh(2, 1)).unwrap(), options).unwrap()
    }

    #[test]
    fn many_callers_get_their_own_replies() {
        // Little room: callers wait for it.
        let options =
            SubmissionOptions { capacity: 3, batch_queries_max: 2, wait: Duration::from_micros(50) };
        for options in [SubmissionOptions::default(), options] {
            let (front, each) = (front(options), if cfg!(miri) { 8 } else { 300 });
            std::thread::scope(|threads| {
                for thread in 0..4 {
                    let front = &front;
                    threads.spawn(move || {
                        for nth in 0..each {
                            let key = nth * 4 + thread;
                            assert_eq!(front.insert(key, nth), Ok(None));
                            assert_eq!(front.get(key), Ok(Some(nth)));
                            if nth % 3 == 0 {
                                assert_eq!(front.remove(key), Ok(Some(nth)));
                            }
                        }
                    });
                }
            });
            assert_eq!(front.len() as u64, 4 * (each - each.div_ceil(3)));
            let all = front.range(0, u64::MAX, 5).unwrap();
            assert_eq!(all, [(4, 1), (5, 1), (6, 1), (7, 1), (8, 2)]);
            let replies = front.submit_all(&[Query::Delete(4), Query::Search(4)]).unwrap();
            assert_eq!(replies, [Ok(Reply::Removed(Some(1))), Ok(Reply::Got(None))]);
            assert_eq!(front.with(|index| index.check_invariants()), Ok(Ok(())));
        }
    }

    #[test]
    fn shutting_down_answers_what_was_taken_and_refuses_the_rest() {
        for round in 0..if cfg!(miri) { 2 } else { 20 } {
            let front = front(SubmissionOptions { capacity: 4, ..SubmissionOptions::default() });
            let (done, refused) = (Tally::new(0), Tally::new(0));
            std::thread::scope(|threads| {
                for thread in 0..4u64 {
                    let (front, done, refused) = (&front, &done, &refused);
                    threads.spawn(move || {
                        for nth in 0.. {
                            match front.insert(nth * 4 + thread, nth) {
                                Ok(before) => {
                                    assert_eq!(before, None);
                                    done.add(1);
                                }
                                Err(error) => {
                                    assert_eq!(error, crate::Error::Closed);
                                    refused.add(1);
                                    return;
                                }
                            }
                        }
                    });
                }
                std::thread::sleep(Duration::from_micros(100 * round));
                front.shut_down();
            });
            assert_eq!(refused.get(), 4, "each caller is told");
            assert_eq!(front.with(|_| ()), Err(crate::Error::Closed));
            let index = front.into_inner().unwrap();
            assert_eq!(index.len(), done.get(), "what was answered was done, and nothing else");
            index.check_invariants().unwrap();
        }
    }

    #[test]
    fn when_the_index_s_thread_dies_nobody_waits_forever() {
        let front = front(SubmissionOptions::default());
        assert_eq!(front.insert(1, 1), Ok(None));
        assert_eq!(front.with(|_| panic!("on purpose")), Err::<(), _>(crate::Error::Closed));
        assert_eq!(front.insert(2, 2), Err(crate::Error::Closed));
        assert!(front.into_inner().is_err());
    }
}

/// The trait's batches of requests are as one after the other, scans included.
#[test]
fn requests_are_served_in_their_order() {
    use latchless_core::base::request::Request;
    let mut index: Box<dyn OrderedIndex<u64, u64>> = build(Member::Pi4, &harsh(2, 1)).unwrap();
    let requests = [
        Request::Insert(5, 1),
        Request::Scan { from: 0, limit: 9 },
        Request::Insert(7, 2),
        Request::Remove(5),
        Request::Scan { from: 0, limit: 9 },
        Request::Get(7),
    ];
    let mut replies = Vec::new();
    index.execute(&requests, &mut replies);
    assert_eq!(replies[1], Reply::Scanned(vec![(5, 1)]));
    assert_eq!(replies[4..], [Reply::Scanned(vec![(7, 2)]), Reply::Got(Some(2))]);
}
