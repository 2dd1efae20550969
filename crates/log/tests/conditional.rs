//! Changes that depend on a key's value are logged as their effects, and a closed index is closed.

use latchless_log::{DurableIndex, Error, Options, SyncMode};
use std::path::Path;

type Durable = DurableIndex<u64, u64>;

fn open(folder: &Path) -> Durable {
    let options = Options { sync: SyncMode::Never, ..Options::default() };
    Durable::open(folder, options).expect("a folder that can be opened").0
}

fn entries(durable: &Durable) -> Vec<(u64, u64)> {
    durable.index().iter().collect()
}

#[test]
fn what_they_did_is_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let durable = open(folder.path());
    durable.insert_columns(&[1, 2, 3, 4, 5, 6], &[10, 20, 30, 40, 50, 60]).expect("a batch");
    let logged = durable.log_bytes();
    assert_eq!(durable.get_or_insert(1, 99).expect("it is there"), 10);
    assert_eq!(durable.replace(9, 99).expect("it isn't there"), None);
    assert!(!durable.compare_exchange(2, 21, 99).expect("another value"));
    assert!(!durable.compare_exchange(9, 0, 99).expect("it isn't there"));
    assert!(!durable.compare_remove(2, 21).expect("another value"));
    assert_eq!(durable.compute(2, |was| was).expect("the same value"), Some(20));
    assert_eq!(durable.compute(9, |was| was).expect("it isn't there"), None);
    assert_eq!(durable.log_bytes(), logged, "what changes nothing isn't logged");
    assert_eq!(durable.get_or_insert(7, 70).expect("it is new"), 70);
    assert_eq!(durable.replace(2, 22).expect("it is there"), Some(20));
    assert!(durable.compare_exchange(3, 30, 33).expect("the expected value"));
    assert!(durable.compare_remove(4, 40).expect("the expected value"));
    assert_eq!(durable.pop_first().expect("an entry"), Some((1, 10)));
    assert_eq!(durable.pop_last().expect("an entry"), Some((7, 70)));
    assert_eq!(durable.compute(5, |was| was.map(|was| was + 1)).expect("a sum"), Some(50));
    assert_eq!(durable.compute(8, |was| Some(was.unwrap_or(80))).expect("a new key"), None);
    assert_eq!(durable.compute(6, |_| None).expect("a removal"), Some(60));
    let expected = vec![(2, 22), (3, 33), (5, 51), (8, 80)];
    assert_eq!(entries(&durable), expected);
    drop(durable);
    let durable = open(folder.path());
    assert_eq!(entries(&durable), expected);
    assert_eq!(durable.remove_range(..).expect("all"), 4);
    assert_eq!((durable.pop_first().expect("none"), durable.pop_last().expect("none")), (None, None));
}

/// One after the other: each thread's additions count once, and each entry is popped once.
#[test]
fn they_are_atomic_and_in_the_log_s_order() {
    const THREADS: u64 = 4;
    const STEPS: u64 = 300;
    let folder = tempfile::tempdir().expect("a folder");
    let durable = open(folder.path());
    durable.insert(0, 0).expect("a counter");
    let work = |thread: u64| {
        let mut popped = 0;
        for step in 0..STEPS {
            // Half of the threads count in one way, half in the other.
            let count = |was: Option<u64>| was.map(|was| was + 1);
            let mut counted = thread % 2 == 1 && durable.compute(0, count).expect("a change").is_some();
            while !counted {
                let before = durable.get(0).expect("the counter");
                counted = durable.compare_exchange(0, before, before + 1).expect("a change");
            }
            durable.get_or_insert(1 + step * THREADS + thread, 1).expect("a new key");
            if step % 3 == 0 {
                popped += u64::from(durable.pop_last().expect("a change").is_some_and(|(key, _)| key > 0));
            }
        }
        popped
    };
    let popped: u64 = std::thread::scope(|threads| {
        let working: Vec<_> = (0..THREADS).map(|thread| threads.spawn(move || work(thread))).collect();
        working.into_iter().map(|thread| thread.join().expect("a thread")).sum()
    });
    assert_eq!(durable.get(0), Some(THREADS * STEPS));
    assert_eq!(durable.len() as u64, 1 + THREADS * STEPS - popped);
    let expected = entries(&durable);
    drop(durable);
    assert_eq!(entries(&open(folder.path())), expected);
}

#[test]
fn a_closed_index_can_be_read_and_opened_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    for sync in [SyncMode::Never, SyncMode::Each, SyncMode::Every(std::time::Duration::from_millis(1))] {
        let options = Options { sync, ..Options::default() };
        let (durable, _) = Durable::open(folder.path(), options).expect("it opens");
        durable.insert(1, 10).expect("a put");
        durable.close().expect("a synced log");
        durable.close().expect("nothing more to do");
        for refused in [
            durable.insert(2, 20).map(|_| ()),
            durable.remove(1).map(|_| ()),
            durable.replace(1, 11).map(|_| ()),
            durable.pop_last().map(|_| ()),
            durable.remove_range(..).map(|_| ()),
            durable.snapshot().map(|_| ()),
        ] {
            let refused = refused.expect_err("it is closed");
            assert!(matches!(&refused, Error::Ended { folder: its } if its == folder.path()), "{refused}");
        }
        assert_eq!(entries(&durable), [(1, 10)]);
        let other = open(folder.path());
        other.insert(1, 10).expect("a put");
        assert_eq!(entries(&other), [(1, 10)]);
    }
}
