//! Closures: they may panic, use the index themselves, and race.

use crate::common::{scaled, tens};
use latchless::Index;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

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
        ("fold", |index| assert_eq!(index.fold(.., true, |_, key, _| key < 500 || mine()), Ok(true))),
        ("visit", |index| assert_eq!(index.visit(.., |_, _| mine()), Ok(()))),
        ("range_many", |index| assert_eq!(index.range_many(&[3..900, 7..8], |_, _, _| mine()), Ok(()))),
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
    index.for_each(50..60, copy).unwrap();
    assert_eq!(index.count(1050..1060), Ok(10));
    let removed = index.retain(|key, _| key < 1000 || index.remove(key).is_none());
    assert_eq!((removed, index.count(1000..)), (0, Ok(0)), "already gone when it was to be taken out");
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
    // Taken out under it: nothing is left to update.
    let before = index.update(7, |_| index.remove(7).unwrap());
    assert_eq!((before, index.get(7)), (None, None));
    // Put in under it.
    let before = index.upsert(7, |value| {
        index.try_insert(7, 5).ok();
        value.map_or(0, |value| value + 1)
    });
    assert_eq!((before, index.get(7)), (Ok(Some(5)), Some(6)));
    let standing = index.get_or_insert_with(300, || index.insert(300, 1).map(|_| 2).unwrap());
    assert_eq!((standing, index.get(300)), (Ok(1), Some(1)), "who was faster wins");
    // A condition that holds no more.
    let removed = index.remove_if(300, |value| {
        index.insert(300, 2).unwrap();
        value == 1
    });
    assert_eq!((removed, index.get(300)), (None, Some(2)));
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
    assert_eq!(index.fold(.., 0, |sum, _, count| sum + count), Ok(threads * rounds));
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
