//! Memory is freed when everything is removed, by whichever thread.

use crate::broken::{Flaw, finds};
use crate::subject::{Subject, on_every_subject, scaled};
use latchless::Error;

/// Threads repeatedly fill the index and empty it, together.
fn fill_and_empty(subject: &dyn Subject, threads: u64, n: u64, cycles: u64) {
    let at_start = subject.live_bytes();
    for cycle in 0..cycles {
        // Keys of all threads are adjacent; each cycle mixes them in another way.
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

/// Threads reach the limit together, remove something, and reach it again: accepted entries are present,
/// refused ones aren't, and the limit is kept. A removal is never refused.
pub fn full_together(subject: &dyn Subject, limit_bytes: Option<usize>, is_limit: fn(&Error) -> bool) {
    let threads = 3;
    let index = subject.index().as_concurrent().expect("a subject takes updates from many threads");
    let kept: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let fill = |thread| {
            move || {
                let (mut rng, mut kept) = (latchless_core::testing::Rng(thread), Vec::new());
                for _ in 0..scaled(30, 2) {
                    loop {
                        let key = rng.next() / threads * threads + thread;
                        match index.insert_shared(key, !key) {
                            Ok(before) => assert_eq!(before, None),
                            Err(error) => {
                                assert!(is_limit(&error), "{error}");
                                assert_eq!(subject.look(key), None, "it was refused");
                                break;
                            }
                        }
                        kept.push(key);
                    }
                    assert!(kept.iter().all(|&key| subject.look(key) == Some(!key)), "it was taken in");
                    kept.drain(..kept.len() / 2).for_each(|key| assert_eq!(subject.take(key), Some(!key)));
                }
                kept
            }
        };
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(fill(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("nothing is lost")).collect()
    });
    let held = subject.index().memory_bytes().expect("it counts its memory");
    assert!(limit_bytes.is_none_or(|limit| held <= limit));
    let mut entries: Vec<(u64, u64)> = kept.into_iter().flatten().map(|key| (key, !key)).collect();
    entries.sort_unstable();
    subject.settle(&entries);
}

pub fn is_memory(error: &Error) -> bool {
    matches!(error, Error::MemoryLimit { .. })
}

pub fn is_references(error: &Error) -> bool {
    matches!(error, Error::ReferencesExhausted { .. })
}

#[test]
#[cfg_attr(miri, ignore = "says nothing about memory")]
fn a_leak_is_found() {
    assert!(!finds(Flaw::None, |subject| fill_and_empty(subject, 2, 20, 2)));
    assert!(finds(Flaw::Leak, |subject| fill_and_empty(subject, 2, 20, 2)));
}
