//! Tests of this family: edges of ranges, lanes while keys leave and return, concurrent rebuilds. The
//! requirements on every index are tested in `tests/index` and `tests/concurrent`.

use super::*;
use core::fmt::Debug;
use core::ops::Bound::{self, Excluded, Included, Unbounded};
use latchless_core::base::error::Error;
use latchless_core::base::index::Sum;
use latchless_core::base::key::Key;
use latchless_core::base::value::Fits;
use latchless_core::mem::touch::Branching;
use latchless_core::search::Kernel;
use latchless_core::testing::Rng;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Small parts, few lanes, plain pages, so that rare cases happen all the time.
fn forms() -> Vec<Options> {
    let plain = Options { huge_pages: false, ..Options::default() };
    let mut forms = vec![
        Options { part_keys: Some(16), ..plain.clone() },
        Options { part_keys: Some(40), skip: 3, lanes: Some(2), ..plain.clone() },
        Options { part_keys: None, skip: 2, ..plain.clone() },
        Options { part_keys: None, skip: 7, lanes: Some(1), rebuild_automatically: false, ..plain.clone() },
    ];
    if !cfg!(miri) {
        let kernels = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available());
        forms.extend(kernels.map(|kernel| Options { kernel: Some(kernel), ..plain.clone() }));
        forms.push(Options { part_keys: Some(1000), skip: 31, ..plain });
    }
    forms
}

fn loaded<K: Key, V: Fits<<K as Key>::Bits>>(options: &Options, entries: &[(K, V)]) -> CsslMap<K, V> {
    let mut map = CsslMap::with_options(options).unwrap();
    map.bulk_load(entries).unwrap();
    map.check_invariants().unwrap();
    map
}

/// Compares one range by every available way.
fn same_range<K: Key + Ord + Debug + Fits<<K as Key>::Bits>>(
    map: &CsslMap<K, K>,
    model: &BTreeMap<K, K>,
    span: (Bound<K>, Bound<K>),
) {
    let expected: Vec<(K, K)> = match span {
        // BTreeMap panics on a range that excludes one key twice; it is empty.
        (Excluded(low), Excluded(high)) if low == high => Vec::new(),
        span => model.range(span).map(|(&key, &value)| (key, value)).collect(),
    };
    let total = expected.iter().fold(0u64, |sum, &(_, value)| {
        sum.wrapping_add(latchless_core::base::key::Bits::to_u64(Fits::<<K as Key>::Bits>::encode_as(value)))
    });
    let sum = Sum { entries: expected.len(), total };
    let pinned = map.pin();
    for run in [pinned.range(span).unwrap(), pinned.range_along_lane(span).unwrap()] {
        assert_eq!(run.first(), expected.first().copied(), "{span:?}");
        assert_eq!(run.last(), expected.last().copied(), "{span:?}");
        assert_eq!((run.count(), run.is_empty()), (expected.len(), expected.is_empty()), "{span:?}");
        assert_eq!(run.sum(), sum, "{span:?}");
        assert!(run.iter().eq(expected.iter().copied()), "{span:?}");
    }
    if let (Included(low), Included(high)) = span {
        pinned.range_many(&[(low, high); 9], |_, run| {
            assert_eq!((run.first(), run.count()), (expected.first().copied(), expected.len()), "{span:?}");
        });
    }
    assert_eq!(map.count(span), Ok(expected.len()), "{span:?}");
    let threads = if cfg!(miri) { 1 } else { 3 };
    assert_eq!(map.sum_on_threads(span, threads), Ok(sum), "{span:?}");
    assert_eq!(map.copy_on_threads(span, threads).as_ref(), Ok(&expected), "{span:?}");
    let join = |mut one: Vec<(K, K)>, mut other: Vec<(K, K)>| {
        one.append(&mut other);
        one
    };
    let push = |mut so_far: Vec<(K, K)>, key, value| {
        so_far.push((key, value));
        so_far
    };
    let folded = map.fold_on_threads(span, threads, Vec::new, push, join);
    assert_eq!(folded.as_ref(), Ok(&expected), "pieces are joined in their order, {span:?}");
    assert!(map.range(span).unwrap().eq(expected.iter().copied()), "{span:?}");
    assert!(map.range_reverse(span).unwrap().eq(expected.into_iter().rev()), "{span:?}");
}

/// Ranges at both ends, empty, beyond the last key, of one key, over everything.
fn same_ranges<K: Key + Ord + Debug + Fits<<K as Key>::Bits>>(
    map: &CsslMap<K, K>,
    model: &BTreeMap<K, K>,
    edges: &[K],
) {
    map.check_invariants().unwrap();
    same_range(map, model, (Unbounded, Unbounded));
    for &low in edges {
        for span in [(Included(low), Unbounded), (Excluded(low), Unbounded), (Unbounded, Excluded(low))] {
            same_range(map, model, span);
        }
        for &high in edges {
            if low > high {
                assert_eq!(map.pin().range(low..high).map(|_| ()), Err(Error::InvertedRange));
                assert_eq!(map.count(low..=high), Err(Error::InvertedRange));
                assert_eq!(map.cut(low..=high, 2), Err(Error::InvertedRange));
                continue;
            }
            same_range(map, model, (Included(low), Included(high)));
            same_range(map, model, (Excluded(low), Excluded(high)));
            let pieces = map.cut((Excluded(low), Included(high)), 3).unwrap();
            let counts = pieces.iter().map(|&piece| map.count(piece).unwrap());
            assert_eq!(counts.sum::<usize>(), map.count((Excluded(low), Included(high))).unwrap());
        }
    }
}

#[test]
fn ranges_have_their_edges() {
    let keys = [0u32, 1, 2, 5, 9, 1000, 1001, 4_000_000_000, u32::MAX - 1, u32::MAX];
    let edges = [0, 1, 3, 9, 10, 1001, 2_000_000_000, u32::MAX - 1, u32::MAX];
    let edges = &edges[..if cfg!(miri) { 2 } else { edges.len() }];
    for options in forms() {
        let entries: Vec<(u32, u32)> = keys.iter().map(|&key| (key, !key)).collect();
        let model: BTreeMap<u32, u32> = entries.iter().copied().collect();
        same_ranges(&loaded(&options, &entries), &model, edges);
        let inserted = CsslMap::with_options(&options).unwrap();
        entries.iter().rev().for_each(|&(key, value)| assert_eq!(inserted.insert(key, value), Ok(None)));
        same_ranges(&inserted, &model, edges);
        same_ranges(&CsslMap::with_options(&options).unwrap(), &BTreeMap::new(), &edges[..2]);
    }
}

#[test]
fn wide_keys_with_one_prefix_and_floats_keep_their_order() {
    let step = if cfg!(miri) { 20 } else { 1 };
    for options in forms() {
        let prefixed = |low: u64| 0xABCD_EF01_0000_0000 | low;
        let entries: Vec<(u64, u64)> = (0..200).map(|i| (prefixed(i * 3), i)).collect();
        let model: BTreeMap<u64, u64> = entries.iter().copied().collect();
        let edges = [0, prefixed(0), prefixed(3), prefixed(300), prefixed(301), u64::MAX];
        let map = loaded(&options, &entries);
        same_ranges(&map, &model, &edges[..if cfg!(miri) { 2 } else { 6 }]);
        for &(key, value) in entries.iter().step_by(step) {
            assert_eq!((map.get(key), map.get(key + 1), map.get(key << 32)), (Some(value), None, None));
        }
        let floats: Vec<(f64, f64)> = (-50..50).map(|i| (f64::from(i) / 8.0, f64::from(i))).collect();
        let map = loaded(&options, &floats);
        let found: Vec<f64> = map.range(-1.0..=0.0).unwrap().map(|entry| entry.0).collect();
        assert_eq!(found, [-1.0, -0.875, -0.75, -0.625, -0.5, -0.375, -0.25, -0.125, 0.0]);
        assert_eq!((map.get(f64::NAN), map.get(-6.25)), (None, Some(-50.0)));
    }
}

/// Removes keys from the lanes one by one and in stretches, reinserts some, and checks everything in
/// between.
#[test]
fn keys_of_lanes_leave_and_come_back() {
    let n = if cfg!(miri) { 40 } else { 300 };
    let edges = |key: u32| [0, key, key + 1, n * 2];
    for options in forms() {
        let entries: Vec<(u32, u32)> = (0..n).map(|key| (key * 2, key)).collect();
        let map = loaded(&options, &entries);
        let mut model: BTreeMap<u32, u32> = entries.into_iter().collect();
        // Every 35th key is in lane 1 of p = 1/5 and of p = 1/7, with its neighbours on either side.
        for key in (0..n).step_by(35).flat_map(|at| [at, at + 1]).map(|at| at * 2) {
            assert_eq!(map.remove(key), model.remove(&key));
            assert_eq!((map.get(key), map.remove(key)), (None, None));
            same_ranges(&map, &model, &edges(key)[..if cfg!(miri) { 1 } else { 4 }]);
            assert_eq!(map.insert(key, 7), Ok(model.insert(key, 7)), "comes back");
            assert_eq!((map.get(key), map.insert(key, 8)), (Some(7), Ok(model.insert(key, 8))));
        }
        let stretch = n / 3..n / 3 * 2;
        let upwards: Vec<u32> = stretch.clone().map(|key| key * 2).collect();
        for order in [upwards.clone(), upwards.iter().rev().copied().collect()] {
            for &key in &order {
                assert_eq!(map.remove(key), model.remove(&key));
            }
            same_ranges(&map, &model, &edges(order[order.len() / 2])[..if cfg!(miri) { 1 } else { 4 }]);
            for &key in &order {
                assert_eq!(map.insert(key, key), Ok(model.insert(key, key)));
            }
        }
        map.rebuild().unwrap();
        same_ranges(&map, &model, &edges(stretch.start));
        model.keys().for_each(|&key| assert!(map.remove(key).is_some()));
        same_ranges(&map, &BTreeMap::new(), &[0, n]);
        map.rebuild().unwrap();
        same_ranges(&map, &BTreeMap::new(), &[0, n]);
    }
}

#[test]
fn random_changes_and_rebuilds_answer_like_the_standard_map() {
    let steps = if cfg!(miri) { 60 } else { 6_000 };
    for options in forms() {
        let entries: Vec<(u64, u64)> =
            (0..if cfg!(miri) { 20 } else { 500 }).map(|key| (key * 4, key)).collect();
        let map = loaded(&options, &entries);
        let mut model: BTreeMap<u64, u64> = entries.into_iter().collect();
        let mut rng = Rng(3);
        for step in 0..steps {
            let key = rng.below(2_500);
            match rng.below(8) {
                0..=2 => assert_eq!(map.insert(key, step), Ok(model.insert(key, step))),
                3 | 4 => assert_eq!(map.remove(key), model.remove(&key)),
                5 => {
                    let keys: Vec<u64> = (key..key + 40).collect();
                    let mut answers = vec![Some(1); 40];
                    map.get_many(&keys, &mut answers).unwrap();
                    assert!(keys.iter().zip(answers).all(|(key, answer)| answer == model.get(key).copied()));
                }
                6 => {
                    let (low, high) = (key, key + rng.below(300));
                    same_range(&map, &model, (Included(low), Excluded(high)));
                }
                _ if rng.below(20) == 0 => _ = map.rebuild_changed().unwrap(),
                _ => {
                    let (key_by_key, expected) = (map.pin_as::<Branching>(), model.get(&key).copied());
                    assert_eq!((map.get(key), key_by_key.get(key)), (expected, expected));
                    assert_eq!(key_by_key.contains(key), expected.is_some());
                }
            }
        }
        same_ranges(&map, &model, &[0, 777]);
        map.rebuild().unwrap();
        same_ranges(&map, &model, &[0, 777]);
        assert_eq!(map.rebuild_changed(), Ok(0), "nothing has changed since");
    }
}

#[test]
fn only_parts_that_changed_are_rebuilt() {
    let options = Options { part_keys: Some(100), huge_pages: false, ..Options::default() };
    let entries: Vec<(u32, u32)> = (0..1000).map(|key| (key * 10, key)).collect();
    let map = loaded(&options, &entries);
    assert_eq!((map.space().parts, map.rebuild_changed()), (10, Ok(0)));
    map.insert(5, 0).unwrap();
    map.insert(5555, 0).unwrap();
    map.remove(9000);
    assert_eq!((map.rebuild_changed(), map.rebuilt_parts()), (Ok(3), 3));
    map.check_invariants().unwrap();
    // A part that grew is split, and one without keys is removed.
    for key in 1..400 {
        map.insert(2001 + key * 2, 0).unwrap();
    }
    (700..800).for_each(|key| assert!(map.remove(key * 10).is_some()));
    map.rebuild_changed().unwrap();
    map.check_invariants().unwrap();
    let space = map.space();
    assert!(space.parts > 10 && space.parts < 16, "{space:?}");
    (0..10_000).for_each(|key| _ = map.remove(key));
    map.rebuild().unwrap();
    assert_eq!((map.space().parts, map.len()), (1, 0));
    map.check_invariants().unwrap();
}

#[test]
fn a_settled_count_comes_from_the_lanes_and_a_change_is_seen() {
    for options in forms() {
        let entries: Vec<(u32, u32)> = (0..100).map(|key| (key * 2, key)).collect();
        let map = loaded(&options, &entries);
        let pinned = map.pin();
        let run = pinned.range(20..40).unwrap();
        assert_eq!((run.count(), map.count(..)), (10, Ok(100)));
        map.insert(21, 0).unwrap();
        assert_eq!((map.count(20..40), map.count(..)), (Ok(11), Ok(101)));
        map.remove(20);
        assert_eq!((map.count(20..40), map.count(..)), (Ok(10), Ok(100)));
        assert_eq!(pinned.range(20..40).unwrap().first(), Some((21, 0)));
        // The owner is inside: the rebuild doesn't wait for it for ever, and stays right.
        map.rebuild().unwrap();
        assert_eq!((map.count(20..40), pinned.count(20..40)), (Ok(10), Ok(10)));
        map.insert(23, 0).unwrap();
        assert_eq!((map.count(20..40), pinned.count(20..40)), (Ok(11), Ok(11)), "a pin hides nothing");
        drop(pinned);
        map.rebuild().unwrap();
        assert_eq!(map.count(20..40), Ok(11));
    }
}

#[test]
fn keys_are_updated_by_an_insert_and_a_removal() {
    let map = CsslMap::<u32, u32>::new().unwrap();
    map.insert(1, 10).unwrap();
    assert_eq!(map.update_key(1, 5), Ok(true));
    assert_eq!((map.get(1), map.get(5), map.len()), (None, Some(10), 1));
    assert_eq!((map.update_key(1, 7), map.update_key(5, 5)), (Ok(false), Ok(true)));
    map.insert(6, 60).unwrap();
    assert_eq!((map.update_key(5, 6), map.get(6), map.len()), (Ok(true), Some(10), 1));
}

#[test]
fn bad_loads_and_options_are_refused() {
    let mut map = CsslMap::<u32, u32>::new().unwrap();
    assert_eq!(map.bulk_load(&[(1, 1), (3, 1), (2, 1)]), Err(Error::Unsorted { position: 2 }));
    assert_eq!(map.bulk_load(&[(1, 1), (1, 1)]), Err(Error::DuplicateKey { position: 1 }));
    map.bulk_load(&[(1, 1), (2, 1)]).unwrap();
    assert_eq!(map.bulk_load(&[(1, 1)]), Err(Error::NotEmpty { len: 2 }));
    map.clear().unwrap();
    map.bulk_load(&[]).unwrap();
    assert_eq!((map.len(), map.range(..).unwrap().next()), (0, None));
    let options = Options { skip: 1, ..Options::default() };
    assert_eq!(
        CsslMap::<u32, u32>::with_options(&options).map(|_| ()),
        Err(crate::Error::Setting { name: "skip", value: 1, allowed: 2..=1 << 20 })
    );
}

#[test]
fn a_refusal_of_memory_loses_nothing() {
    for (limit_bytes, references) in [(Some(20_000), None), (None, Some(500))] {
        let options = Options {
            limit_bytes,
            node_references: references,
            part_keys: Some(50),
            huge_pages: false,
            ..Options::default()
        };
        let map = CsslMap::<u64, u64>::with_options(&options).unwrap();
        let mut model = BTreeMap::new();
        let mut rng = Rng(9);
        for _ in 0..2 {
            let refused = loop {
                let key = rng.below(1 << 40);
                match map.insert(key, !key) {
                    Ok(_) => model.insert(key, !key),
                    Err(refused) => break refused,
                };
            };
            let expected = matches!(refused, Error::MemoryLimit { .. } | Error::ReferencesExhausted { .. });
            assert!(expected && model.len() > 200, "{refused} at {}", model.len());
            assert!(limit_bytes.is_none_or(|limit| map.memory_bytes() <= limit));
            assert!(map.range(..).unwrap().eq(model.iter().map(|(&key, &value)| (key, value))));
            let first = *model.keys().next().unwrap();
            assert_eq!(map.insert(first, 1), Ok(model.insert(first, 1)), "replacing needs no memory");
            let gone: Vec<u64> = model.keys().copied().step_by(2).collect();
            gone.iter().for_each(|key| assert_eq!(map.remove(*key), model.remove(key)));
            // Lanes may find no room next to the old ones: then the old ones stay.
            let rebuilt = map.rebuild_changed();
            assert!(matches!(rebuilt, Ok(_) | Err(Error::MemoryLimit { .. })), "{rebuilt:?}");
            map.collect();
            map.check_invariants().unwrap();
        }
    }
}

/// Writers put keys in and remove keys while another thread rebuilds all the time, and readers look.
#[test]
fn a_rebuild_beside_readers_and_writers_loses_nothing() {
    let rounds = if cfg!(miri) { 1 } else { 40 };
    let n: u64 = if cfg!(miri) { 12 } else { 400 };
    for options in forms() {
        let staying: Vec<(u64, u64)> = (0..n).map(|key| (key * 8, key)).collect();
        let map = loaded(&options, &staying);
        let over = OnceLock::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while over.get().is_none() {
                    map.rebuild().unwrap();
                    map.rebuild_changed().unwrap();
                }
            });
            let reader = scope.spawn(|| {
                let mut rng = Rng(1);
                for _ in 0..rounds * n {
                    let key = rng.below(n);
                    assert_eq!(map.get(key * 8), Some(key), "stays throughout");
                    let low = rng.below(n) * 8;
                    let seen = map.range(low..low + 80).unwrap().filter(|entry| entry.0 % 8 == 0);
                    assert!(seen.eq((low / 8..n.min(low / 8 + 10)).map(|key| (key * 8, key))));
                    assert!(map.count(low..).unwrap() as u64 >= n - low / 8);
                }
            });
            let writers: Vec<_> = (1..3)
                .map(|writer| {
                    let map = &map;
                    scope.spawn(move || {
                        for _ in 0..rounds {
                            (0..n).for_each(|key| assert_eq!(map.insert(key * 8 + writer, key), Ok(None)));
                            (0..n).for_each(|key| assert_eq!(map.get(key * 8 + writer), Some(key)));
                            for key in (0..n).filter(|key| key % 5 != 0) {
                                assert_eq!(map.remove(key * 8 + writer), Some(key));
                            }
                            for key in (0..n).filter(|key| key % 5 == 0) {
                                assert_eq!(map.remove(key * 8 + writer), Some(key));
                            }
                        }
                        (0..n).for_each(|key| assert_eq!(map.insert(key * 8 + writer, key), Ok(None)));
                    })
                })
                .collect();
            let ended: Vec<_> = writers.into_iter().chain([reader]).map(|thread| thread.join()).collect();
            over.get_or_init(|| ());
            ended.into_iter().for_each(|thread| thread.expect("it sees nothing wrong"));
        });
        map.check_invariants().unwrap();
        map.rebuild().unwrap();
        map.check_invariants().unwrap();
        let left = (0..n).flat_map(|key| (0..3).map(move |writer| (key * 8 + writer, key)));
        assert!(map.range(..).unwrap().eq(left));
        assert_eq!(map.count(..), Ok(3 * n as usize));
    }
}

/// Keys are inserted and removed between those over which lanes are being built: a rebuild meets nodes
/// that were inserted since it began, and nodes that died.
#[test]
fn a_rebuild_beside_keys_that_come_and_go_keeps_its_order() {
    let (rounds, changes) = if cfg!(miri) { (1, 20) } else { (150, 600) };
    let options = Options { part_keys: Some(8), huge_pages: false, ..Options::default() };
    for round in 0..rounds {
        let map = loaded(&options, &(0..60).map(|key| (key * 4, key)).collect::<Vec<(u64, u64)>>());
        std::thread::scope(|scope| {
            let writers = [0, 1].map(|writer| {
                let map = &map;
                scope.spawn(move || {
                    let mut random = Rng(round * 2 + writer + 1);
                    for _ in 0..changes {
                        let key = random.below(120) * 2 + writer;
                        if random.below(2) == 0 {
                            map.insert(key, key).unwrap();
                        } else {
                            map.remove(key);
                        }
                    }
                })
            });
            while writers.iter().any(|writer| !writer.is_finished()) {
                map.rebuild().unwrap();
            }
        });
        map.check_invariants().unwrap_or_else(|broken| panic!("round {round}: {broken}"));
    }
}

/// Many anchors are dead, so readers have the lanes pass over stretches that overlap, while more keys leave.
#[test]
fn lanes_that_readers_pass_over_together_ascend() {
    let (rounds, n) = if cfg!(miri) { (1, 30) } else { (150, 300) };
    let options = Options { part_keys: Some(64), huge_pages: false, ..Options::default() };
    for round in 0..rounds {
        let map = loaded(&options, &(0..n).map(|key| (key, key)).collect::<Vec<(u64, u64)>>());
        let over = OnceLock::new();
        std::thread::scope(|scope| {
            for reader in 0..2 {
                let (map, over) = (&map, &over);
                scope.spawn(move || {
                    let mut random = Rng(round * 2 + reader + 1);
                    while over.get().is_none() {
                        map.get(random.below(n));
                    }
                });
            }
            let removing = scope.spawn(|| {
                for key in 0..n {
                    map.remove(if round % 2 == 0 { key } else { n - 1 - key });
                    // Positions are used up and reassigned, so that readers meet dead anchors again.
                    if key % 20 == 0 {
                        map.rebuild().unwrap();
                    }
                }
            });
            let ended = removing.join();
            over.get_or_init(|| ());
            ended.expect("it sees nothing wrong");
        });
        map.check_invariants().unwrap_or_else(|broken| panic!("round {round}: {broken}"));
    }
}

#[test]
fn memory_comes_back_from_what_was_removed() {
    let options = Options { part_keys: Some(64), huge_pages: false, ..Options::default() };
    let map = CsslMap::<u32, u32>::with_options(&options).unwrap();
    let mut most = 0;
    for cycle in 0..if cfg!(miri) { 2 } else { 30 } {
        let n = if cfg!(miri) { 40 } else { 3_000 };
        (0..n).for_each(|key| assert_eq!(map.insert(key, key), Ok(None)));
        (0..n).for_each(|key| assert_eq!(map.remove(key), Some(key)));
        map.rebuild().unwrap();
        map.collect();
        if cycle < 3 {
            most = most.max(map.memory_bytes());
        }
        assert!(map.memory_bytes() <= most * 3 / 2, "{} after {most}", map.memory_bytes());
    }
    map.check_invariants().unwrap();
}

#[test]
fn it_draws_itself() {
    let options = Options { part_keys: Some(4), skip: 2, huge_pages: false, ..Options::default() };
    let map = loaded(&options, &[(1u32, 1u32), (2, 2), (3, 3), (4, 4), (9, 9), (10, 10)]);
    map.insert(5, 5).unwrap();
    let mut drawing = String::new();
    map.dump(&mut drawing).unwrap();
    assert!(drawing.starts_with("7 keys in 2 parts") && drawing.contains(" 4 +5"), "{drawing}");
    assert_eq!(format!("{map:?}"), "{1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 9: 9, 10: 10}");
}
