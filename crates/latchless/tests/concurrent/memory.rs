//! Memory comes back when everything is taken out, whoever takes it out.

use crate::broken::{Flaw, finds};
use crate::subject::{Subject, on_every_subject, scaled};

/// Threads fill the index and empty it, together, again and again.
fn fill_and_empty(subject: &dyn Subject, threads: u64, n: u64, cycles: u64) {
    let at_start = subject.live_bytes();
    for cycle in 0..cycles {
        // Keys of all threads lie side by side; each cycle mixes them in another way.
        let key = |thread, i| (i * (2 * cycle + 7919) % n) * threads + thread;
        let on_all_threads = |work: &(dyn Fn(u64) + Sync)| {
            std::thread::scope(|scope| (0..threads).for_each(|thread| _ = scope.spawn(move || work(thread))));
        };
        on_all_threads(&|thread| (0..n).for_each(|i| _ = subject.put(key(thread, i), i)));
        on_all_threads(&|thread| (0..n).for_each(|i| _ = subject.take(key(thread, i))));
        subject.settle(&[]);
        assert_eq!(subject.live_bytes(), at_start, "bytes in use after cycle {cycle}");
    }
}

#[test]
fn what_is_emptied_comes_back() {
    on_every_subject(|subject| {
        fill_and_empty(subject, 3, scaled(997, 29).min(997) as u64, scaled(60, 1) as u64);
    });
}

#[test]
#[cfg_attr(miri, ignore = "says nothing about memory")]
fn a_leak_is_found() {
    assert!(!finds(Flaw::None, |subject| fill_and_empty(subject, 2, 20, 2)));
    assert!(finds(Flaw::Leak, |subject| fill_and_empty(subject, 2, 20, 2)));
}
