//! The content of a snapshot that is taken during concurrent writes.

use latchless::Index;
use latchless::snapshot::{self, Snapshot};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

/// Every `STEP`th key isn't changed; between each two of them two keys come and go, and one changes.
const STEP: u64 = 4;
const UNTOUCHED: u64 = 30_000;

#[test]
fn every_entry_that_nobody_touched_is_in_it_once_and_touched_ones_in_a_state_they_had() {
    let index = Index::<u64, u64>::new().unwrap();
    for place in 0..UNTOUCHED {
        index.insert(STEP * place, place).unwrap();
        index.insert(STEP * place + 3, 0).unwrap();
    }
    let over = AtomicBool::new(false);
    thread::scope(|threads| {
        for thread in 0..2 {
            let (index, over) = (&index, &over);
            threads.spawn(move || {
                let mut round = 0;
                while !over.load(Relaxed) {
                    round += 1;
                    for place in (0..UNTOUCHED).step_by(7) {
                        let key = STEP * ((place + round) % UNTOUCHED);
                        index.insert(key + 1 + thread, key).unwrap();
                        // Always twice the key: no snapshot may have another value.
                        index.update(key + 3, |_| 2 * (key + 3)).unwrap();
                        if round % 3 == 0 {
                            index.remove(key + 1 + thread);
                        }
                    }
                }
            });
        }
        for _ in 0..20 {
            let mut bytes = Vec::new();
            let len = snapshot::write(&index, &mut bytes).unwrap();
            let snapshot = Snapshot::from_bytes(bytes).unwrap();
            assert_eq!(snapshot.len() as u64, len);
            let mut untouched = 0;
            let mut changed = 0;
            for (key, value) in (0..snapshot.len()).map(|row| snapshot.row(row)) {
                match key % STEP {
                    0 => {
                        assert_eq!((key, value), (STEP * untouched, untouched));
                        untouched += 1;
                    }
                    3 => {
                        assert!(value == 0 || value == 2 * key, "{key}: {value}");
                        changed += 1;
                    }
                    within => assert_eq!(value, key - within),
                }
            }
            assert_eq!((untouched, changed), (UNTOUCHED, UNTOUCHED));
            // Sorted and without duplicates, or the load would fail.
            snapshot.index::<u64, u64>().unwrap().check_invariants().unwrap();
        }
        over.store(true, Relaxed);
    });
}

#[test]
fn a_snapshot_through_exclusive_is_of_one_moment() {
    // Each round adds one to two entries that are far apart, in one order.
    let mut index: Index<u64, u64> = (0..100_000).map(|key| (key, 0)).collect();
    for round in 1..=3 {
        thread::scope(|threads| {
            let index = &index;
            threads.spawn(move || {
                index.update(0, |_| round).unwrap();
                index.update(99_999, |_| round).unwrap();
            });
        });
        let mut bytes = Vec::new();
        snapshot::write(&index.exclusive(), &mut bytes).unwrap();
        let snapshot = Snapshot::from_bytes(bytes).unwrap();
        assert_eq!((snapshot.row(0).1, snapshot.row(99_999).1), (round, round));
    }
}
