//! Threads with disjoint keys in the same leaves: each knows exactly which answers it must get, while the
//! others make its leaves split and merge.

use crate::broken::{Flaw, finds};
use crate::history::Edit;
use crate::subject::{Subject, on_every_subject, scaled};
use std::sync::atomic::{AtomicU64, Ordering};

/// An order of the numbers below its argument.
type Order = fn(u64) -> Vec<u64>;

/// Orders that hammer one place: the right edge, the left edge, both, one leaf after the other.
const ORDERS: [(&str, Order); 4] = [
    ("ascending", |n| (0..n).collect()),
    ("descending", |n| (0..n).rev().collect()),
    ("alternating ends", |n| (0..n).map(|i| if i % 2 == 0 { i / 2 } else { n - 1 - i / 2 }).collect()),
    ("everywhere in turn", |n| {
        (0..20)
            .flat_map(|i| (0..n.div_ceil(20)).map(move |stretch| stretch * 20 + i))
            .filter(|&i| i < n)
            .collect()
    }),
];

/// Every thread inserts every `threads`th key, and reads it back at once.
fn fill(subject: &dyn Subject, threads: u64, order: &[u64]) {
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for &number in order {
                    let key = number * threads + thread;
                    assert_eq!(subject.put(key, number), None, "{key}");
                    assert_eq!(subject.look(key), Some(number), "{key} right after it was put in");
                }
            });
        }
    });
}

/// Every thread removes its keys.
fn empty(subject: &dyn Subject, threads: u64, order: &[u64]) {
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for &number in order {
                    let key = number * threads + thread;
                    assert_eq!(subject.take(key), Some(number), "{key}");
                    assert_eq!(subject.look(key), None, "{key} right after it was taken out");
                }
            });
        }
    });
}

#[test]
fn every_order_in_and_every_order_out() {
    on_every_subject(|subject| {
        let (threads, n) = (3, scaled(4000, 25).min(4000) as u64);
        let entries: Vec<(u64, u64)> = (0..n * threads).map(|key| (key, key / threads)).collect();
        for (arriving, keys) in ORDERS {
            for (leaving, gone) in ORDERS {
                println!("{arriving} in, {leaving} out");
                fill(subject, threads, &keys(n));
                subject.settle(&entries);
                empty(subject, threads, &gone(n));
                subject.settle(&[]);
                if cfg!(miri) {
                    return;
                }
            }
        }
    });
}

/// Threads in different phases: while one fills, another empties, so that leaves split and merge next to
/// each other all the time.
fn out_of_step(subject: &dyn Subject, threads: u64, n: u64, cycles: u64) {
    // Even with little effort there is something to fill and to empty.
    let n = n.max(2);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for cycle in 0..cycles {
                    let mut rng = latchless_core::testing::Rng(cycle << 8 | thread);
                    // A stretch of the key space, so that it is emptied completely.
                    let (from, len) = (rng.below(n), 1 + rng.below(n / 2));
                    let own = (from..n.min(from + len)).map(|number| number * threads + thread);
                    for key in own.clone() {
                        assert_eq!(subject.put(key, key + cycle), None, "{key}");
                    }
                    for key in own.clone() {
                        assert_eq!(subject.look(key), Some(key + cycle), "{key}");
                    }
                    for key in own {
                        assert_eq!(subject.take(key), Some(key + cycle), "{key}");
                    }
                }
            });
        }
    });
    subject.settle(&[]);
}

#[test]
fn splits_and_merges_side_by_side() {
    on_every_subject(|subject| {
        out_of_step(subject, 3, scaled(1500, 40).min(1500) as u64, scaled(200, 2) as u64);
    });
}

#[test]
fn splits_and_merges_in_a_handful_of_leaves() {
    on_every_subject(|subject| {
        out_of_step(subject, 4, scaled(80, 30).min(80) as u64, scaled(3000, 2) as u64)
    });
}

/// Several threads count in the same entries by compare-and-exchange.
fn count_by_exchange(subject: &dyn Subject, keys: u64, counts: u64) {
    if !subject.offers(Edit::Swap { expected: 0, value: 0 }) {
        return;
    }
    (0..keys).for_each(|key| assert_eq!(subject.put(key, 0), None));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for count in 0..counts {
                    let key = count % keys;
                    let mut expected = subject.look(key).expect("nobody takes it out");
                    loop {
                        let swap = Edit::Swap { expected, value: expected + 1 };
                        match subject.edit(key, swap).expect("nobody takes it out") {
                            found if found == expected => break,
                            found => expected = found,
                        }
                    }
                }
            });
        }
    });
    let sum: u64 = (0..keys).filter_map(|key| subject.look(key)).sum();
    assert_eq!(sum, 3 * counts, "counts were lost");
}

#[test]
fn no_exchange_is_lost() {
    on_every_subject(|subject| count_by_exchange(subject, 7, scaled(50_000, 20) as u64));
}

/// Threads race for the same keys: to add, and to remove the added ones.
fn one_winner(subject: &dyn Subject, keys: u64, rounds: u64) {
    if !subject.offers(Edit::Add(0)) {
        return;
    }
    let (added, removed) = (AtomicU64::new(0), AtomicU64::new(0));
    for round in 0..rounds {
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (added, removed) = (&added, &removed);
                scope.spawn(move || {
                    for key in 0..keys {
                        if subject.edit(key, Edit::Add(thread)).is_none() {
                            added.fetch_add(1, Ordering::Relaxed);
                        }
                        if round % 2 == 1 && subject.take(key).is_some() {
                            removed.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        let present = (0..keys).filter(|&key| subject.look(key).is_some()).count() as u64;
        let (added, removed) = (added.load(Ordering::Relaxed), removed.load(Ordering::Relaxed));
        assert_eq!(added, removed + present, "an entry was added or taken out twice");
    }
}

#[test]
fn one_of_many_adds_or_takes_out() {
    on_every_subject(|subject| one_winner(subject, scaled(300, 10).min(300) as u64, scaled(200, 2) as u64));
}

#[test]
#[cfg_attr(miri, ignore = "needs many schedules")]
fn lost_and_doubled_changes_are_found() {
    let counting = |subject: &dyn Subject| count_by_exchange(subject, 3, 500);
    let racing = |subject: &dyn Subject| one_winner(subject, 50, 20);
    assert!(!finds(Flaw::None, counting) && !finds(Flaw::None, racing));
    assert!(finds(Flaw::LateExchange, counting));
    assert!(finds(Flaw::LateAdd, racing));
    assert!(finds(Flaw::LateRemove, racing));
}
