//! The guarantees with many concurrent threads.

use crate::common::{Rng, scaled};
use core::ops::ControlFlow;
use latchless::{Direction, Index};
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns whether a key stays: multiples of ten do; all others come and go, always with the same value.
fn stays(key: u64) -> bool {
    key.is_multiple_of(10)
}

/// Runs `look` on this thread while others change the keys that don't stay.
fn under_changes(look: impl Fn(&Index<u64, u64>, u64)) {
    let end = scaled(10_000) as u64;
    let index: Index<u64, u64> = (0..end).filter(|&key| stays(key)).map(|key| (key, !key)).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (index, done) = (&index, &done);
            scope.spawn(move || {
                let mut rng = Rng(thread);
                while !done.load(Ordering::Relaxed) {
                    let key = rng.below(end);
                    // In clusters, so that leaves split and are merged again.
                    for key in (key..end.min(key + 200)).filter(|&key| !stays(key)) {
                        if thread == 0 {
                            index.insert(key, !key).unwrap();
                        } else {
                            index.remove(key);
                        }
                    }
                }
            });
        }
        look(&index, end);
        done.store(true, Ordering::Relaxed);
    });
    index.check_invariants().unwrap();
    assert!(index.iter().filter(|&(key, _)| stays(key)).count() as u64 == end.div_ceil(10));
}

/// Checks that keys ascend, without duplicates, each with its value, and that all that stay are among them.
fn is_a_fair_view(entries: impl IntoIterator<Item = (u64, u64)>, range: std::ops::Range<u64>) {
    let mut next = range.start;
    let mut staying = range.clone().filter(|&key| stays(key));
    for (key, value) in entries {
        assert!(key >= next && key < range.end, "{key} where {next} or more was due");
        assert_eq!(value, !key);
        next = key + 1;
        if stays(key) {
            assert_eq!(staying.next(), Some(key), "a key that stays was left out");
        }
    }
    assert_eq!(staying.next(), None, "a key that stays was left out at the end");
}

#[test]
fn iterators_are_weakly_consistent_from_both_ends() {
    under_changes(|index, end| {
        for round in 0..scaled(60) as u64 {
            let range = round * 7 % (end / 2)..end - round * 3 % (end / 2);
            is_a_fair_view(index.range(range.clone()), range.clone());
            let mut backwards: Vec<_> = index.range(range.clone()).rev().collect();
            backwards.reverse();
            is_a_fair_view(backwards, range.clone());
            let (mut entries, mut rng) = (index.range(range.clone()), Rng(round));
            let (mut front, mut back) = (Vec::new(), Vec::new());
            loop {
                let from_front = rng.below(3) == 0;
                let Some(entry) = (if from_front { entries.next() } else { entries.next_back() }) else {
                    break;
                };
                if from_front { front.push(entry) } else { back.push(entry) }
            }
            is_a_fair_view(front.into_iter().chain(back.into_iter().rev()), range);
        }
    });
}

#[test]
fn scans_are_weakly_consistent() {
    under_changes(|index, end| {
        for _ in 0..scaled(60) {
            let mut seen = Vec::new();
            index.for_each(.., |key, value| seen.push((key, value)));
            is_a_fair_view(seen.drain(..), 0..end);
            let all = |keys: &[u64], values: &[u64]| {
                seen.extend(keys.iter().copied().zip(values.iter().copied()));
                ControlFlow::Continue(())
            };
            assert!(index.scan_chunks(.., all).is_continue());
            is_a_fair_view(seen.drain(..), 0..end);
            let (mut keys, mut values) = ([0; 33], [0; 33]);
            let mut scan = index.scanner(.., Direction::Reverse);
            loop {
                let n = scan.fill(&mut keys, &mut values).unwrap();
                if n == 0 {
                    break;
                }
                seen.extend(keys.into_iter().zip(values).take(n));
            }
            is_a_fair_view(seen.into_iter().rev(), 0..end);
            let count = index.count(..) as u64;
            assert!((end.div_ceil(10)..=end).contains(&count));
        }
    });
}

#[test]
fn cursors_and_points_see_what_stays() {
    under_changes(|index, end| {
        let mut cursor = index.cursor();
        cursor.seek(0);
        let mut last = 0;
        while let Some((key, value)) = cursor.next() {
            assert!(key > last && key - last <= 10 && value == !key, "{key} after {last}");
            last = key;
        }
        let staying: Vec<u64> = (0..end).filter(|&key| stays(key)).collect();
        for _ in 0..scaled(100) {
            assert!(
                index.get_all(&staying).into_iter().zip(&staying).all(|(value, key)| value == Some(!key))
            );
            assert_eq!((index.first(), index.floor(15).unwrap().0 >= 10), (Some((0, !0)), true));
        }
    });
}

#[test]
fn every_entry_is_popped_by_one_thread() {
    let n = scaled(20_000) as u64;
    let index: Index<u64, u64> = (0..n).map(|key| (key, !key)).collect();
    let mut popped: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let index = &index;
                scope.spawn(move || {
                    let pop = || if thread % 2 == 0 { index.pop_first() } else { index.pop_last() };
                    std::iter::from_fn(pop).map(|(key, _)| key).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    popped.sort_unstable();
    assert!(popped.into_iter().eq(0..n));
    assert!(index.is_empty());
    index.check_invariants().unwrap();
}

#[test]
fn batches_of_many_threads_lose_nothing() {
    let index = Index::<u64, u64>::new().unwrap();
    let (threads, n) = (4, scaled(20_000) as u64);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let index = &index;
            scope.spawn(move || {
                let own: Vec<(u64, u64)> = (0..n).map(|at| (at * threads + thread, thread)).collect();
                for part in own.chunks(100) {
                    let mut replaced = vec![Some(0); part.len()];
                    index.insert_many(part, &mut replaced).unwrap();
                    assert!(replaced.iter().all(Option::is_none));
                }
                let odd: Vec<u64> =
                    own.iter().map(|&(key, _)| key).filter(|key| key / threads % 2 == 1).collect();
                for part in odd.chunks(100) {
                    let mut removed = vec![None; part.len()];
                    index.remove_many(part, &mut removed).unwrap();
                    assert!(removed.iter().all(|&value| value == Some(thread)));
                }
            });
        }
    });
    assert_eq!(index.len() as u64, threads * n.div_ceil(2));
    assert!(index.iter().all(|(key, value)| key / threads % 2 == 0 && value == key % threads));
    index.check_invariants().unwrap();
}

/// Once the root exported the trait `OrderedIndex`, whose `insert(&mut self)` the compiler prefers to the
/// index's `insert(&self)`: this didn't compile.
mod everything_of_the_root_in_scope {
    use latchless::*;

    #[test]
    fn an_index_that_is_borrowed_mutably_is_shared_all_the_same() {
        let mut own = Index::<u64, u64>::new().unwrap();
        let index = &mut own;
        std::thread::scope(|threads| {
            threads.spawn(|| index.insert(1, 10));
            threads.spawn(|| index.insert(2, 20));
        });
        assert_eq!(own.len(), 2);
    }
}
