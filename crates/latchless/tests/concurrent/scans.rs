//! Scans with concurrent writers: keys that are present throughout are seen once and in order, and nothing
//! is seen that never existed. Writers make the leaves under the scan split, empty and merge.

use crate::broken::{Flaw, finds};
use crate::subject::{Subject, on_every_subject, scaled, walk};
use latchless::Direction;
use latchless_core::testing::Rng;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::sync::atomic::{AtomicBool, Ordering};

/// Every eighth key stays throughout; the others come and go.
const STAYING: u64 = 8;

fn stays(key: u64) -> bool {
    key.is_multiple_of(STAYING)
}

/// Returns the value of a key whenever it is present.
fn value(key: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B1) & 0xFFFF_FFFF
}

/// Inserts the keys that stay, runs writers and scanners, and has each scanner do `scans` scans.
fn under_writers(subject: &dyn Subject, keys: u64, scan: impl Fn(&mut Rng) + Sync, scans: usize) {
    (0..keys).filter(|&key| stays(key)).for_each(|key| assert_eq!(subject.put(key, value(key)), None));
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..2u64 {
            let over = &over;
            scope.spawn(move || come_and_go(subject, keys, writer, over));
        }
        let scanners: Vec<_> = (0..2)
            .map(|scanner| {
                let scan = &scan;
                scope.spawn(move || {
                    let mut rng = Rng(scanner);
                    (0..scans).for_each(|_| scan(&mut rng));
                })
            })
            .collect();
        let ended: Vec<_> = scanners.into_iter().map(|scanner| scanner.join()).collect();
        over.store(true, Ordering::Release);
        ended.into_iter().for_each(|scanner| scanner.expect("no scanner sees anything wrong"));
    });
    let left: Vec<(u64, u64)> = (0..keys).filter(|&key| stays(key)).map(|key| (key, value(key))).collect();
    subject.settle(&left);
}

/// Repeatedly inserts a stretch of keys and removes it again, until `over` is set. Every key that comes and
/// goes has one writer.
fn come_and_go(subject: &dyn Subject, keys: u64, writer: u64, over: &AtomicBool) {
    let mut rng = Rng(77 + writer);
    while !over.load(Ordering::Acquire) {
        let (from, len) = (rng.below(keys), 1 + rng.below(400));
        let own = |key: &u64| !stays(*key) && key % 2 == writer;
        let stretch: Vec<u64> = (from..keys.min(from + len)).filter(own).collect();
        stretch.iter().for_each(|&key| assert_eq!(subject.put(key, value(key)), None));
        stretch.iter().rev().for_each(|&key| assert_eq!(subject.take(key), Some(value(key))));
    }
}

/// Checks that the entries that were seen of `low..=high` are in order and right, and include all that stay.
fn assert_whole(seen: &mut [(u64, u64)], low: u64, high: u64, direction: Direction) {
    if direction == Direction::Reverse {
        seen.reverse();
    }
    let ordered = seen.windows(2).find(|pair| pair[0].0 >= pair[1].0);
    assert_eq!(ordered, None, "not in order, {direction:?}");
    let wrong = seen.iter().find(|(key, seen)| !(low..=high).contains(key) || *seen != value(*key));
    assert_eq!(wrong, None, "never was in {low}..={high}");
    let staying = seen.iter().map(|entry| entry.0).filter(|&key| stays(key));
    let first = low.next_multiple_of(STAYING);
    assert!(staying.eq((first..=high).step_by(STAYING as usize)), "{low}..={high} {direction:?}: {seen:?}");
}

fn random_direction(rng: &mut Rng) -> Direction {
    if rng.below(2) == 0 { Direction::Forward } else { Direction::Reverse }
}

fn random_walks(subject: &dyn Subject, keys: u64, scans: usize) {
    let walk_somewhere = |rng: &mut Rng| {
        let (a, b, direction) = (rng.below(keys), rng.below(keys), random_direction(rng));
        let (low, high, page) = (a.min(b), a.max(b), 1 + rng.below(90) as usize);
        let mut seen = Vec::new();
        walk(subject.index(), low, high, direction, page, |key, value| seen.push((key, value)));
        assert_whole(&mut seen, low, high, direction);
    };
    under_writers(subject, keys, walk_somewhere, scans);
}

#[test]
fn paused_scans_miss_nothing_that_stays() {
    on_every_subject(|subject| random_walks(subject, scaled(4000, 130).min(4000) as u64, scaled(1500, 2)));
}

#[test]
#[cfg_attr(miri, ignore = "needs many schedules")]
fn a_scan_that_goes_on_by_position_is_found() {
    assert!(!finds(Flaw::None, |subject| random_walks(subject, 500, 5)));
    assert!(finds(Flaw::ScanByPosition, |subject| random_walks(subject, 500, 50)));
}

#[test]
fn scans_into_buffers_miss_nothing_that_stays() {
    on_every_subject(|subject| {
        let keys = scaled(4000, 130).min(4000) as u64;
        let scan_somewhere = |rng: &mut Rng| {
            let (from, direction, room) =
                (rng.below(keys), random_direction(rng), 1 + rng.below(700) as usize);
            let (mut found, mut values) = (vec![0; room], vec![0; room]);
            let span = match direction {
                Direction::Forward => (Included(from), Unbounded),
                Direction::Reverse => (Unbounded, Included(from)),
            };
            let len = subject.index().page(span, direction, &mut found, &mut values).expect("room");
            let mut seen: Vec<(u64, u64)> = found[..len].iter().copied().zip(values).collect();
            // A full buffer ends the range at its last entry.
            let end = seen.last().filter(|_| len == room).map(|entry| entry.0);
            let (low, high) = match direction {
                Direction::Forward => (from, end.unwrap_or(keys - 1)),
                Direction::Reverse => (end.unwrap_or(0), from),
            };
            assert_whole(&mut seen, low, high, direction);
        };
        under_writers(subject, keys, scan_somewhere, scaled(3000, 2));
    });
}

#[test]
fn lookups_miss_nothing_that_stays() {
    on_every_subject(|subject| {
        let keys = scaled(4000, 130).min(4000) as u64;
        let look_somewhere = |rng: &mut Rng| {
            let key = rng.below(keys) / STAYING * STAYING;
            assert_eq!(subject.look(key), Some(value(key)), "{key}");
            let beside = subject.nearest(key, random_direction(rng));
            assert!(beside.is_none_or(|found| found == (key, value(key))), "{key}: {beside:?}");
        };
        under_writers(subject, keys, look_somewhere, scaled(100_000, 10));
    });
}

#[test]
fn counts_lie_between_what_stays_and_what_may_be() {
    on_every_subject(|subject| {
        let keys = scaled(4000, 130).min(4000) as u64;
        let count_somewhere = |rng: &mut Rng| {
            let (a, b) = (rng.below(keys), rng.below(keys));
            let (low, high) = (a.min(b), a.max(b));
            let count = subject.index().count((Included(low), Included(high))).expect("in order") as u64;
            let staying = (low..=high).filter(|&key| stays(key)).count() as u64;
            assert!((staying..=high - low + 1).contains(&count), "{count} in {low}..={high}");
        };
        under_writers(subject, keys, count_somewhere, scaled(3000, 2));
    });
}

/// A paused scan while its own thread removes the entry at which it paused and those around it, and fills
/// all gaps elsewhere: the next entries must follow the position of the pause.
#[test]
fn a_paused_scan_goes_on_whatever_happens_around_it() {
    on_every_subject(|subject| {
        let n = scaled(300, 35).min(300) as u64 * 4;
        for direction in [Direction::Forward, Direction::Reverse] {
            for stop in (1..n as usize / 4).step_by(if cfg!(miri) { 31 } else { 7 }) {
                change_around_a_pause(subject, n, direction, stop);
            }
        }
    });
}

fn change_around_a_pause(subject: &dyn Subject, n: u64, direction: Direction, stop: usize) {
    let at_start = |key: &u64| key.is_multiple_of(4);
    (0..n).filter(at_start).for_each(|key| _ = subject.put(key, value(key)));
    let mut scanner = subject.index().scanner((Unbounded, Excluded(n)), direction).expect("in order");
    let (mut keys, mut values) = (vec![0; n as usize], vec![0; n as usize]);
    assert_eq!(scanner.fill(&mut keys[..stop], &mut values[..stop]), Ok(stop));
    let at = keys[stop - 1];
    let gone = at.saturating_sub(8)..at + 9;
    gone.clone().for_each(|key| _ = subject.take(key));
    let added = |key: &u64| key % 4 == 2 && !gone.contains(key);
    (0..n).filter(added).for_each(|key| _ = subject.put(key, value(key)));
    let found = scanner.fill(&mut keys, &mut values).expect("room");
    let mut seen: Vec<u64> = keys[..found].to_vec();
    if direction == Direction::Reverse {
        seen.reverse();
    }
    let ahead = |key: &u64| if direction == Direction::Forward { *key > at } else { *key < at };
    assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "behind {at}, {direction:?}: {seen:?}");
    let wrong = seen.iter().find(|key| !ahead(key) || !(at_start(key) || added(key)));
    assert_eq!(wrong, None, "behind {at}, {direction:?}");
    // Keys that came or went meanwhile may be seen or not; those that stay must be.
    let stays = |key: &u64| at_start(key) && !gone.contains(key) && ahead(key);
    let staying: Vec<u64> = seen.into_iter().filter(stays).collect();
    assert_eq!(staying, (0..n).filter(stays).collect::<Vec<u64>>(), "behind {at}, {direction:?}");
    (0..n).for_each(|key| _ = subject.take(key));
}
