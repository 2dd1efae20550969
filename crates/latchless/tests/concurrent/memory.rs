//! Memory comes back when everything is taken out, whoever takes it out.

use crate::broken::{Flaw, finds};
use crate::subject::{Subject, on_every_subject, scaled};
use latchless::index::Options;
use latchless::{Error, Index};

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

/// Threads run into the limit together, take something out, and run into it again: what was taken
/// in is there, what was refused isn't, and the limit holds.
fn full_together(options: Options, is_limit: fn(&Error) -> bool) {
    let index = Index::<u64, u64>::with_options(options).expect("one leaf finds room");
    let threads = 3;
    let kept: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let fill = |thread| {
            let index = &index;
            move || {
                let (mut rng, mut kept) = (crate::rng::Rng(thread), Vec::new());
                for _ in 0..scaled(30, 2) {
                    loop {
                        let key = rng.next() / threads * threads + thread;
                        match index.insert(key, !key) {
                            Ok(before) => assert_eq!(before, None),
                            Err(error) => {
                                assert!(is_limit(&error), "{error}");
                                assert_eq!(index.get(key), None, "it was refused");
                                break;
                            }
                        }
                        kept.push(key);
                    }
                    assert!(kept.iter().all(|&key| index.get(key) == Some(!key)), "it was taken in");
                    kept.drain(..kept.len() / 2).for_each(|key| assert_eq!(index.remove(key), Some(!key)));
                }
                kept
            }
        };
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(fill(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("nothing is lost")).collect()
    });
    assert!(options.limit_bytes.is_none_or(|limit| index.memory_bytes() <= limit));
    let mut entries: Vec<(u64, u64)> = kept.into_iter().flatten().map(|key| (key, !key)).collect();
    entries.sort_unstable();
    index.settle(&entries);
}

#[test]
fn threads_that_run_into_a_memory_limit_lose_nothing() {
    let options =
        Options { limit_bytes: Some(scaled(64, 8).min(64) << 10), huge_pages: false, ..Options::default() };
    full_together(options, |error| matches!(error, Error::MemoryLimit { .. }));
}

#[test]
fn threads_that_run_out_of_references_lose_nothing() {
    let options =
        Options { node_references: scaled(50, 6).min(50) as u32, huge_pages: false, ..Options::default() };
    full_together(options, |error| matches!(error, Error::ReferencesExhausted { .. }));
}

#[test]
#[cfg_attr(miri, ignore = "says nothing about memory")]
fn a_leak_is_found() {
    assert!(!finds(Flaw::None, |subject| fill_and_empty(subject, 2, 20, 2)));
    assert!(finds(Flaw::Leak, |subject| fill_and_empty(subject, 2, 20, 2)));
}
