//! OLFIT's family with duplicates, under many threads: every entry is present as often as it was inserted,
//! and scans see permanent entries once each, while others of the same keys are inserted and removed.

use crate::subject::scaled;
use latchless::Direction;
use latchless_core::testing::Rng;
use latchless_papers::olfit::{
    BPlus, Concurrent, CsbPlus, Family, LockCoupling, Olfit, OlfitAtOnce, OlfitMap, OneLatch, Options, Quiet,
    VersionedNodes, VersionedTree,
};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

type Map<F> = OlfitMap<u64, u64, Quiet<u64, F>>;

/// Runs a generic test on every concurrent member.
macro_rules! on_every_member {
    ($test:ident) => {
        on_every_member!($test, BPlus, Olfit, OlfitAtOnce, LockCoupling, OneLatch);
        on_every_member!($test, BPlus, VersionedNodes, VersionedTree);
        on_every_member!($test, CsbPlus, Olfit, OlfitAtOnce, LockCoupling, OneLatch);
        on_every_member!($test, CsbPlus, VersionedNodes, VersionedTree);
    };
    ($test:ident, $family:ident, $($scheme:ty),*) => {$(
        println!("{} {}", stringify!($family), stringify!($scheme));
        $test::<$family<$scheme>>();
    )*};
}

/// Creates a map of the smallest possible nodes.
fn map<F: Family>() -> Map<F> {
    let options =
        |node_bytes| Options { node_bytes, duplicates: true, huge_pages: false, ..Options::default() };
    Map::with_options(&options(64)).or_else(|_| Map::with_options(&options(128))).expect("a leaf finds room")
}

/// Few keys, so that each has entries in several leaves.
const KEYS: u64 = 7;
const THREADS: u64 = 3;

/// Each thread has distinct values under shared keys.
fn put_in_and_take_out<F: Family<Scheme: Concurrent>>() {
    let (map, rounds, at_start) = (map::<F>(), scaled(4, 1), map::<F>().live_bytes());
    for round in 0..rounds as u64 {
        let steps = scaled(600, 25) as u64;
        let left: Vec<Vec<(u64, u64)>> = std::thread::scope(|scope| {
            let work = |thread: u64| {
                let map = &map;
                move || {
                    let (mut rng, mut own) = (Rng(round << 8 | thread), Vec::new());
                    for step in 0..steps {
                        if own.is_empty() || rng.below(10) < 6 {
                            let entry = (rng.below(KEYS), step * THREADS + thread);
                            assert_eq!(map.insert(entry.0, entry.1), Ok(None));
                            own.push(entry);
                        } else {
                            let (key, value) = own.swap_remove(rng.below(own.len() as u64) as usize);
                            assert!(map.remove_entry(key, value), "{key}: {value} is mine");
                            assert!(!map.remove_entry(key, value), "{key}: {value} was there once");
                        }
                        assert!(own.is_empty() || map.contains_key(own[0].0), "{:?} is there", own[0]);
                    }
                    own
                }
            };
            let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(work(thread))).collect();
            threads.into_iter().map(|thread| thread.join().expect("nothing is lost")).collect()
        });
        let mut expected: Vec<(u64, u64)> = left.into_iter().flatten().collect();
        expected.sort_unstable();
        let mut found: Vec<(u64, u64)> = map.range(..).expect("in order").collect();
        found.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!((map.len(), map.count(..)), (expected.len(), Ok(expected.len())));
        map.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
        std::thread::scope(|scope| {
            for part in expected.chunks(expected.len() / THREADS as usize + 1) {
                let map = &map;
                scope.spawn(move || {
                    part.iter().for_each(|&(key, value)| assert!(map.remove_entry(key, value)))
                });
            }
        });
        map.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
        assert_eq!((map.len(), map.live_bytes()), (0, at_start));
    }
}

#[test]
fn every_entry_is_there_as_often_as_it_was_put_in() {
    on_every_member!(put_in_and_take_out);
}

/// A value that stays, of those under a key.
fn stays(value: u64) -> bool {
    value.is_multiple_of(5)
}

/// Values under a key; those that don't stay come and go.
const VALUES: u64 = 40;

fn scans_beside_writers<F: Family<Scheme: Concurrent>>() {
    let (map, over) = (map::<F>(), AtomicBool::new(false));
    let entries = || (0..KEYS).flat_map(|key| (0..VALUES).map(move |value| (key, value)));
    entries().filter(|entry| stays(entry.1)).for_each(|(key, value)| _ = map.insert(key, value));
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (map, over) = (&map, &over);
            scope.spawn(move || {
                let mut rng = Rng(writer);
                while !over.load(Ordering::Acquire) {
                    let key = rng.below(KEYS);
                    let own = (0..VALUES).filter(|value| !stays(*value) && value % 2 == writer);
                    let part: Vec<u64> = own.take(1 + rng.below(VALUES / 2) as usize).collect();
                    part.iter().for_each(|&value| _ = map.insert(key, value));
                    part.iter().rev().for_each(|&value| assert!(map.remove_entry(key, value)));
                }
            });
        }
        let scanner = scope.spawn(|| {
            let mut rng = Rng(9);
            for scan in 0..scaled(600, 4) {
                let (a, b) = (rng.below(KEYS), rng.below(KEYS));
                let direction = if scan % 2 == 0 { Direction::Forward } else { Direction::Reverse };
                see_what_stays(&map, a.min(b), a.max(b), direction, 1 + rng.below(60) as usize);
            }
        });
        let ended = scanner.join();
        over.store(true, Ordering::Release);
        ended.expect("the scanner sees nothing wrong");
    });
    map.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
    assert_eq!(map.len(), entries().filter(|entry| stays(entry.1)).count());
}

/// A scan of keys `low..=high` sees each entry that stays once, in the order of keys.
fn see_what_stays<F: Family>(map: &Map<F>, low: u64, high: u64, direction: Direction, page: usize) {
    let mut scan = map.scanner(low..=high, direction).expect("in order");
    let (mut keys, mut values, mut seen) = (vec![0; page], vec![0; page], Vec::new());
    loop {
        let found = scan.fill(&mut keys, &mut values).expect("room");
        if found == 0 {
            break;
        }
        seen.extend(keys[..found].iter().copied().zip(values[..found].iter().copied()));
    }
    if direction == Direction::Reverse {
        seen.reverse();
    }
    assert!(seen.is_sorted_by_key(|entry| entry.0), "{direction:?}: {seen:?}");
    let mut times = BTreeMap::new();
    seen.iter().filter(|entry| stays(entry.1)).for_each(|&entry| *times.entry(entry).or_insert(0) += 1);
    for key in low..=high {
        for value in (0..VALUES).filter(|&value| stays(value)) {
            assert_eq!(times.remove(&(key, value)), Some(1), "{key}: {value}, {direction:?}, {low}..={high}");
        }
    }
    assert!(times.is_empty(), "{times:?} lie outside of {low}..={high}");
}

#[test]
fn scans_see_each_entry_that_stays_once() {
    on_every_member!(scans_beside_writers);
}
