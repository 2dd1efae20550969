//! Every member of OLFIT's family with duplicates, compared with a model that has a bag of values per key.

use crate::common::{Rng, scaled};
use latchless::{Direction, Error, FillFactor};
use latchless_papers::olfit::*;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

type Map<F> = OlfitMap<u64, u64, Quiet<u64, F>>;
/// Each key's values, in no order.
type Bags = BTreeMap<u64, Vec<u64>>;

/// Runs a generic test on every member.
macro_rules! on_every_member {
    ($test:ident) => {
        on_every_member!($test, BPlus, Without, Olfit, OlfitAtOnce, LockCoupling);
        on_every_member!($test, BPlus, OneLatch, VersionedNodes, VersionedTree);
        on_every_member!($test, CsbPlus, Without, Olfit, OlfitAtOnce, LockCoupling);
        on_every_member!($test, CsbPlus, OneLatch, VersionedNodes, VersionedTree);
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
    Map::with_options(&options(64)).or_else(|_| Map::with_options(&options(128))).unwrap()
}

/// Entries in a scan's order, values of one key sorted.
fn in_order(mut found: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    assert!(found.is_sorted_by_key(|entry| entry.0), "{found:?}");
    found.sort_unstable();
    found
}

fn expected(bags: &Bags, low: u64, high: u64) -> Vec<(u64, u64)> {
    let entries = bags.range(low..=high).flat_map(|(&key, bag)| bag.iter().map(move |&value| (key, value)));
    in_order(entries.collect())
}

/// The entries of a range by a scan that pauses after each page.
fn scanned<F: Family>(
    map: &Map<F>,
    low: u64,
    high: u64,
    direction: Direction,
    page: usize,
) -> Vec<(u64, u64)> {
    let mut scan = map.scanner((Included(low), Included(high)), direction).unwrap();
    let (mut keys, mut values, mut found) = (vec![0; page], vec![0; page], Vec::new());
    loop {
        let n = scan.fill(&mut keys, &mut values).unwrap();
        found.extend(keys[..n].iter().copied().zip(values[..n].iter().copied()));
        if n == 0 {
            break;
        }
    }
    if direction == Direction::Reverse {
        found.reverse();
    }
    in_order(found)
}

fn same<F: Family>(map: &Map<F>, bags: &Bags) {
    map.check_invariants().unwrap_or_else(|broken| {
        let mut drawing = String::new();
        map.dump(&mut drawing).unwrap();
        panic!("{broken}\n{drawing}")
    });
    let all = expected(bags, 0, u64::MAX);
    assert_eq!((map.len(), map.count(..).unwrap()), (all.len(), all.len()));
    for (direction, page) in [(Direction::Forward, 5), (Direction::Reverse, 900), (Direction::Reverse, 3)] {
        assert_eq!(scanned(map, 0, u64::MAX, direction, page), all, "{direction:?} by {page}");
    }
}

fn same_at<F: Family>(map: &Map<F>, bags: &Bags, key: u64) {
    let bag = bags.get(&key).map_or(&[][..], |bag| bag);
    assert_eq!(map.count(key..=key).unwrap(), bag.len(), "{key}");
    match map.get(key) {
        Some(value) => assert!(bag.contains(&value), "{key} never had {value}"),
        None => assert!(bag.is_empty(), "{key} has {} values", bag.len()),
    }
}

fn take_one(bags: &mut Bags, key: u64, value: u64) {
    let bag = bags.get_mut(&key).expect("it was there");
    let at = bag.iter().position(|&other| other == value).expect("it was there");
    bag.swap_remove(at);
    if bag.is_empty() {
        bags.remove(&key);
    }
}

fn random_history<F: Family>() {
    let (mut map, mut bags, mut rng) = (map::<F>(), Bags::new(), Rng(31));
    // Few keys: runs over many leaves, and over several inner nodes.
    for (keys, steps) in [(4, 500), (40, 900), (5000, 500)] {
        for step in 0..scaled(steps) {
            let (key, value) = (rng.below(keys) * 7, rng.below(12));
            if rng.below(10) < if step / 250 % 2 == 0 { 8 } else { 3 } {
                assert_eq!(map.insert_alone(key, value), Ok(None), "nothing is replaced");
                bags.entry(key).or_default().push(value);
            } else if rng.below(2) == 0 {
                let there = bags.get(&key).is_some_and(|bag| bag.contains(&value));
                assert_eq!(map.remove_entry_alone(key, value), there, "{key}: {value}");
                if there {
                    take_one(&mut bags, key, value);
                }
            } else {
                match map.remove_alone(key) {
                    Some(value) => take_one(&mut bags, key, value),
                    None => assert!(!bags.contains_key(&key)),
                }
            }
            same_at(&map, &bags, key);
            same_at(&map, &bags, rng.below(keys * 7));
            if step % 16 == 0 {
                same(&map, &bags);
                let (a, b) = (rng.below(keys * 7), rng.below(keys * 7));
                let (low, high) = (a.min(b), a.max(b));
                let page = 1 + rng.below(40) as usize;
                for direction in [Direction::Forward, Direction::Reverse] {
                    assert_eq!(scanned(&map, low, high, direction, page), expected(&bags, low, high));
                }
            }
        }
        same(&map, &bags);
    }
    let entries = expected(&bags, 0, u64::MAX);
    for (at, (key, value)) in entries.into_iter().enumerate() {
        assert!(map.remove_entry_alone(key, value));
        take_one(&mut bags, key, value);
        if at % 8 == 0 {
            same(&map, &bags);
        }
    }
    assert_eq!((map.stats().levels, map.stats().leaves), (1, 1));
}

#[test]
#[cfg_attr(miri, ignore = "too long for an interpreter, which runs one_key_alone")]
fn random_histories() {
    on_every_member!(random_history);
}

/// All entries have one key, which is the smallest, the largest, or between others.
fn one_key<F: Family>() {
    let n = if cfg!(miri) { 12 } else { 200 };
    for key in [0, 77, u64::MAX] {
        let (mut map, mut bags) = (map::<F>(), Bags::from([(5, vec![1]), (u64::MAX - 5, vec![2])]));
        map.insert_alone(5, 1).unwrap();
        map.insert_alone(u64::MAX - 5, 2).unwrap();
        for value in 0..n {
            map.insert_alone(key, value).unwrap();
            bags.entry(key).or_default().push(value);
            same_at(&map, &bags, key);
        }
        same(&map, &bags);
        assert_eq!(
            map.count((Excluded(key), Unbounded)).unwrap(),
            expected(&bags, 0, u64::MAX).iter().filter(|entry| entry.0 > key).count()
        );
        // From the middle outwards, so that leaves within the run are removed.
        for i in 0..n {
            let value = if i % 2 == 0 { n / 2 + i / 2 } else { n / 2 - 1 - i / 2 };
            assert!(map.remove_entry_alone(key, value), "{value}");
            take_one(&mut bags, key, value);
            if i % 4 == 0 || n - i < 5 {
                same(&map, &bags);
            }
        }
        assert!(!map.remove_entry_alone(key, 1) && map.remove_alone(key).is_none());
        same(&map, &bags);
    }
}

#[test]
fn one_key_alone() {
    on_every_member!(one_key);
}

fn loads<F: Family>() {
    for n in [0, 1, 7, 100, 1000] {
        let n = scaled(n).min(n);
        let (mut map, mut bags) = (map::<F>(), Bags::new());
        let entries: Vec<(u64, u64)> = (0..n as u64).map(|i| (i * i / 900, i)).collect();
        map.bulk_load(&entries, FillFactor::new(0.7).unwrap()).unwrap();
        entries.iter().for_each(|&(key, value)| bags.entry(key).or_default().push(value));
        same(&map, &bags);
        for &(key, value) in entries.iter().step_by(3) {
            map.insert_alone(key, value + 1).unwrap();
            bags.get_mut(&key).unwrap().push(value + 1);
        }
        same(&map, &bags);
    }
    let refused = map::<F>().bulk_load(&[(1, 1), (3, 3), (2, 2)], FillFactor::FULL);
    assert_eq!(refused, Err(Error::Unsorted { position: 2 }));
}

#[test]
fn bulk_loads_keep_every_entry() {
    on_every_member!(loads);
}
