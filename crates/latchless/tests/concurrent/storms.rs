//! Readers finish although writers never rest: every read takes a bounded number of tries.

use crate::subject::{Subject, on_every_subject, scaled};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Two writers change the same leaf all the time while a reader reads. `storm` makes some changes, and
/// returns their number.
fn storm(subject: &dyn Subject, reads: u64, storm: fn(&dyn Subject, u64) -> u64) {
    const STAYING: u64 = 20;
    assert_eq!(subject.put(STAYING, 1), None);
    let (over, changes) = (AtomicBool::new(false), AtomicU64::new(0));
    let before = subject.restarts();
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (over, changes) = (&over, &changes);
            scope.spawn(move || {
                while !over.load(Ordering::Acquire) {
                    changes.fetch_add(storm(subject, writer), Ordering::Relaxed);
                }
            });
        }
        let reader = scope.spawn(|| (0..reads).for_each(|_| assert_eq!(subject.look(STAYING), Some(1))));
        let ended = reader.join();
        over.store(true, Ordering::Release);
        ended.expect("the reader always finds what stays");
    });
    if let (Some((before, _)), Some((after, most))) = (before, subject.restarts()) {
        let (restarts, changes) = (after - before, changes.into_inner());
        assert!(
            restarts <= (reads + changes) * most,
            "{restarts} restarts of {reads} reads and {changes} changes"
        );
    }
}

#[test]
fn a_reader_finishes_while_values_change() {
    on_every_subject(|subject| {
        storm(subject, scaled(300_000, 15) as u64, |subject, writer| {
            subject.put(writer, 7);
            1
        });
    });
}

#[test]
fn a_reader_finishes_while_its_leaf_splits_and_merges() {
    on_every_subject(|subject| {
        storm(subject, scaled(300_000, 4) as u64, |subject, writer| {
            let keys = || (100..if cfg!(miri) { 120 } else { 250 }).map(|i| i * 2 + writer);
            keys().for_each(|key| _ = subject.put(key, 7));
            keys().for_each(|key| _ = subject.take(key));
            2 * keys().count() as u64
        });
    });
}
