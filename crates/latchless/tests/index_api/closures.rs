//! Closures: they may panic, use the index themselves, and race.

use crate::common::{scaled, tens};
use latchless::{Error, Index, Request};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::sync_channel;

#[test]
fn a_closure_that_panics_changes_nothing() {
    let index = tens(1000, 1);
    type Try = fn(&Index<u64, u64>);
    fn mine<T>() -> T {
        panic!("mine")
    }
    let tries: [(&str, Try); 10] = [
        ("update", |index| assert_eq!(index.update(500, |_| mine()), None)),
        ("upsert", |index| assert_eq!(index.upsert(500, |_| mine()), Ok(None))),
        ("upsert of an absent key", |index| assert_eq!(index.upsert(5000, |_| mine()), Ok(None))),
        ("compute", |index| assert_eq!(index.compute(500, |_| mine()), Ok(None))),
        ("remove_if", |index| assert_eq!(index.remove_if(500, |_| mine()), None)),
        ("get_or_insert_with", |index| assert_eq!(index.get_or_insert_with(5000, mine), Ok(0))),
        ("retain", |index| assert_eq!(index.retain(|key, _| key < 500 || mine()), 0)),
        ("fold", |index| assert!(index.fold(.., true, |_, key, _| key < 500 || mine()))),
        ("scan_chunks", |index| _ = index.scan_chunks(.., |_, _| mine())),
        ("range_many", |index| index.range_many(&[3..900, 7..8], |_, _, _| mine())),
    ];
    for (name, attempt) in tries {
        let payload = catch_unwind(AssertUnwindSafe(|| attempt(&index))).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"mine"), "{name}");
        index.check_invariants().unwrap();
        assert!(index.iter().eq((0..1000).map(|key| (key, 10 * key))), "{name}");
        // No leaf is left latched.
        index.insert(500, 5000).unwrap();
        assert_eq!((index.remove(5000), index.len()), (None, 1000), "{name}");
    }
}

#[test]
fn an_iterator_that_panics_leaves_what_was_put_in() {
    let index = Index::<u64, u64>::new().unwrap();
    let entries = (0..1000).map(|key| if key < 700 { (key, key) } else { panic!("mine") });
    catch_unwind(AssertUnwindSafe(|| index.try_extend(entries))).unwrap_err();
    index.check_invariants().unwrap();
    assert!(index.keys().eq(0..index.len() as u64) && index.len() <= 700, "whole batches, in order");
}

#[test]
fn closures_may_use_the_index() {
    let index = tens(100, 1);
    assert_eq!(index.update(7, |value| value + index.get(8).unwrap()), Some(70));
    assert_eq!(index.get(7), Some(150));
    index.upsert(200, |_| index.remove(9).unwrap()).unwrap();
    assert_eq!((index.get(200), index.get(9)), (Some(90), None));
    let copy = |key, value| assert_eq!(index.insert(key + 1000, value), Ok(None));
    index.for_each(50..60, copy);
    assert_eq!(index.count(1050..1060), 10);
    let removed = index.retain(|key, _| key < 1000 || index.remove(key).is_none());
    assert_eq!((removed, index.count(1000..)), (0, 0), "already gone when it was to be taken out");
}

#[test]
fn a_closure_is_asked_again_when_the_value_changes_under_it() {
    let index = tens(100, 1);
    let asked = Cell::new(0);
    let before = index.update(7, |value| {
        asked.set(asked.get() + 1);
        if asked.get() == 1 {
            index.insert(7, 1000).unwrap();
        }
        value + 1
    });
    assert_eq!((asked.get(), before, index.get(7)), (2, Some(1000), Some(1001)));
    // Removed inside the closure: nothing is left to update.
    let before = index.update(7, |_| index.remove(7).unwrap());
    assert_eq!((before, index.get(7)), (None, None));
    // Inserted inside the closure.
    let before = index.upsert(7, |value| {
        index.try_insert(7, 5).ok();
        value.map_or(0, |value| value + 1)
    });
    assert_eq!((before, index.get(7)), (Ok(Some(5)), Some(6)));
    let standing = index.get_or_insert_with(300, || index.insert(300, 1).map(|_| 2).unwrap());
    assert_eq!((standing, index.get(300)), (Ok(1), Some(1)), "who was faster wins");
    // A condition that no longer holds.
    let removed = index.remove_if(300, |value| {
        index.insert(300, 2).unwrap();
        value == 1
    });
    assert_eq!((removed, index.get(300)), (None, Some(2)));
}

/// Counts the calls of a closure, and fails a test that would never end.
fn asked(times: &Cell<u32>) {
    times.set(times.get() + 1);
    assert!(times.get() < 10_000, "asked for ever");
}

/// A way of changing a key's value or removing it, with another result each time.
type Change = fn(&Index<u64, u64>, u64);

const CHANGES: [(&str, Change); 10] = [
    ("insert", |index, key| {
        let _ = index.insert(key, index.get(key).unwrap_or(0) + 1);
    }),
    ("update", |index, key| {
        let _ = index.update(key, |value| value + 1);
    }),
    ("upsert", |index, key| {
        let _ = index.upsert(key, |value| value.unwrap_or(0) + 1);
    }),
    ("compare_exchange", |index, key| {
        let value = index.get(key).unwrap_or(0);
        let _ = index.compare_exchange(key, value, value + 1);
    }),
    ("insert_many", |index, key| {
        let value = index.get(key).unwrap_or(0) + 1;
        index.insert_many(&[(key, value), (key + 1, value)], &mut [None; 2]).unwrap();
    }),
    ("execute", |index, key| {
        index.execute(&[Request::Insert(key, index.get(key).unwrap_or(0) + 1)], &mut Vec::new());
    }),
    ("remove and insert", |index, key| match index.remove(key) {
        Some(_) => {}
        None => drop(index.insert(key, 1)),
    }),
    ("remove_range and insert", |index, key| {
        if index.remove_range(key - 1..=key + 1) == Ok(0) {
            index.insert(key, 1).unwrap();
        }
    }),
    ("pop_last and insert", |index, key| {
        if index.last().is_none_or(|last| last.0 != key) {
            index.insert(key, 1).unwrap();
        } else {
            index.pop_last();
        }
    }),
    ("retain and insert", |index, key| {
        if index.retain(|other, _| other != key) == 0 {
            index.insert(key, 1).unwrap();
        }
    }),
];

#[test]
fn a_closure_that_changes_its_own_key_for_ever_is_told() {
    for (name, change) in CHANGES {
        let index = tens(1, 1);
        let times = Cell::new(0);
        let ask = |key| {
            assert!(times.get() < 1000, "{name} goes on for ever");
            asked(&times);
            change(&index, key);
        };
        // `7` is present every other time, or always.
        index.insert(7, 0).unwrap();
        let upserted = index.upsert(7, |_| {
            ask(7);
            1 << 60
        });
        assert!(
            matches!(upserted, Err(Error::ClosureChangesItsKey { .. })),
            "upsert with {name}: {upserted:?}"
        );
        assert!(times.get() >= 128, "{name}: {} times", times.get());
        let computed = index.compute(7, |_| {
            ask(7);
            Some(1 << 60)
        });
        assert_eq!(computed, upserted, "compute with {name}");
        index.check_invariants().unwrap();
        // It leaves no trace: the next closure is called once.
        index.insert(7, 0).unwrap();
        assert_eq!((index.upsert(7, |_| 5), index.get(7)), (Ok(Some(0)), Some(5)), "{name}");
    }
}

#[test]
fn a_closure_of_what_returns_no_error_panics_with_the_message() {
    let index = tens(10, 1);
    let times = Cell::new(0);
    let change = |value: u64| {
        asked(&times);
        index.insert(7, value + 1).unwrap();
    };
    let tries: [(&str, &dyn Fn()); 3] = [
        ("update", &|| {
            index.update(7, |value| {
                change(value);
                0
            });
        }),
        ("remove_if", &|| {
            index.remove_if(7, |value| {
                change(value);
                true
            });
        }),
        ("retain", &|| {
            index.retain(|key, value| {
                if key == 7 {
                    change(value);
                }
                key != 7
            });
        }),
    ];
    for (name, attempt) in tries {
        times.set(0);
        let payload = catch_unwind(AssertUnwindSafe(attempt)).unwrap_err();
        let message = payload.downcast_ref::<String>().expect("a message");
        assert!(message.contains("the closure itself changed its key"), "{name}: {message}");
        assert_eq!((index.len(), times.get()), (10, 128), "{name}");
    }
}

#[test]
fn a_closure_within_a_closure_is_told_too() {
    let index = tens(10, 1);
    let times = Cell::new(0);
    // The outer closure's key is changed by the inner one; the inner one's key is not changed.
    let outer = index.upsert(7, |_| {
        let inner = index.upsert(8, |_| {
            asked(&times);
            index.insert(7, u64::from(times.get())).unwrap();
            5
        });
        assert!(inner.is_ok());
        1 << 60
    });
    assert!(matches!(outer, Err(Error::ClosureChangesItsKey { .. })), "{outer:?}");
}

#[test]
fn other_threads_may_change_a_key_as_often_as_they_like() {
    let (index, other) = (tens(10, 1), tens(10, 1));
    let rounds = if cfg!(miri) { 300 } else { 3000 };
    let ((ask, asks), (answer, answers)) = (sync_channel(0), sync_channel(0));
    std::thread::scope(|scope| {
        let changing = &index;
        scope.spawn(move || {
            for () in asks {
                changing.update(7, |value| value + 1);
                answer.send(()).unwrap();
            }
        });
        let mut times = 0;
        let before = index.upsert(7, |value| {
            times += 1;
            // Its own thread changes others, the same key of another index, and this one a few times.
            index.insert(8, times).unwrap();
            other.insert(7, times).unwrap();
            if times % 200 == 0 && times < rounds {
                index.insert(7, 0).unwrap();
            }
            if times < rounds {
                ask.send(()).unwrap();
                answers.recv().unwrap();
            }
            value.unwrap() + 1
        });
        drop(ask);
        assert_eq!((before.unwrap().map(|value| value + 1), times), (index.get(7), rounds));
    });
}

#[test]
fn compute_does_all_four_things() {
    let index = tens(10, 1);
    assert_eq!(index.compute(7, |value| value.map(|value| value + 1)), Ok(Some(70)));
    assert_eq!(index.compute(70, |_| Some(1)), Ok(None));
    assert_eq!(index.compute(7, |_| None), Ok(Some(71)));
    assert_eq!(index.compute(7, |value| value), Ok(None));
    assert_eq!((index.get(7), index.get(70), index.len()), (None, Some(1), 10));
}

#[test]
fn updates_from_many_threads_all_count() {
    let index = Index::<u64, u64>::new().unwrap();
    let (threads, rounds, keys) = (4, scaled(4000) as u64, 8);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for round in 0..rounds {
                    index.upsert(round % keys, |count| count.unwrap_or(0) + 1).unwrap();
                }
            });
        }
    });
    assert_eq!(index.fold(.., 0, |sum, _, count| sum + count), threads * rounds);
}

#[test]
fn one_of_many_threads_inserts() {
    let index = Index::<u64, u64>::new().unwrap();
    let won: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4u64)
            .map(|thread| {
                let index = &index;
                scope.spawn(move || {
                    (0..scaled(2000) as u64).filter(|&key| index.try_insert(key, thread).is_ok()).count()
                        as u64
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((won, index.len() as u64), (scaled(2000) as u64, won));
}
