//! Readers finish while writers never rest: every read takes a bounded number of tries.

use crate::subject::{Subject, on_every_subject, scaled};
use std::sync::atomic::{AtomicBool, Ordering};

/// Two writers change the same leaf all the time, in value or in content, while a reader reads.
fn storm(subject: &dyn Subject, reads: u64, storm: fn(&dyn Subject, u64)) {
    const STAYING: u64 = 20;
    assert_eq!(subject.put(STAYING, 1), None);
    let (over, before) = (AtomicBool::new(false), subject.restarts());
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let over = &over;
            scope.spawn(move || {
                while !over.load(Ordering::Acquire) {
                    storm(subject, writer);
                }
            });
        }
        let reader = scope.spawn(|| (0..reads).for_each(|_| assert_eq!(subject.look(STAYING), Some(1))));
        let ended = reader.join();
        over.store(true, Ordering::Release);
        ended.expect("the reader always finds what stays");
    });
    if let (Some((before, _)), Some((after, most))) = (before, subject.restarts()) {
        assert!(after - before <= reads * most, "{} restarts of {reads} reads", after - before);
    }
}

#[test]
fn a_reader_finishes_while_values_change() {
    on_every_subject(|subject| {
        storm(subject, scaled(300_000, 30) as u64, |subject, writer| _ = subject.put(writer, 7));
    });
}

#[test]
fn a_reader_finishes_while_its_leaf_splits_and_merges() {
    on_every_subject(|subject| {
        storm(subject, scaled(300_000, 10) as u64, |subject, writer| {
            let keys = || (100..if cfg!(miri) { 150 } else { 250 }).map(|i| i * 2 + writer);
            keys().for_each(|key| _ = subject.put(key, 7));
            keys().for_each(|key| _ = subject.take(key));
        });
    });
}
