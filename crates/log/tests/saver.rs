//! Automatic snapshots: when they are due, their results, and their failures.

use latchless::FillFactor;
use latchless_log::{DurableBytesIndex, DurableIndex, DurableMultiIndex, DurableVersionedIndex};
use latchless_log::{Error, Options, SnapshotPolicy, SyncMode};
use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One test at a time: one of them counts the process's threads.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn options(snapshots: SnapshotPolicy) -> Options {
    Options { sync: SyncMode::Never, snapshots, ..Options::default() }
}

/// By size alone.
fn by_size(log_bytes: u64) -> SnapshotPolicy {
    SnapshotPolicy { log_bytes: Some(log_bytes), growth: 0.0, age: None }
}

/// The numbers of the snapshots that a folder has.
fn snapshots(folder: &Path) -> Vec<u64> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let number = |name: String| {
        let digits = name.strip_prefix("snapshot-")?.strip_suffix(".arrow")?;
        u64::from_str_radix(digits, 16).ok()
    };
    let mut numbers: Vec<_> = names.filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

/// Returns when that is so.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "never came: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_log_that_has_grown_is_shortened_for_every_kind() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (numbers, _) = DurableIndex::<u64, u64>::open(at("numbers"), options(by_size(4096))).unwrap();
    let (texts, _) = DurableBytesIndex::<String, u64>::open(at("texts"), options(by_size(4096))).unwrap();
    let (pairs, _) = DurableMultiIndex::<String>::open(at("pairs"), options(by_size(4096))).unwrap();
    for key in 0..200 {
        numbers.insert(key, key).unwrap();
        texts.insert(&key.to_string(), key).unwrap();
        pairs.insert(&key.to_string(), key).unwrap();
    }
    // New folders of strings have a first snapshot, of no entry.
    for name in ["numbers", "texts", "pairs"] {
        until(name, || snapshots(&at(name)).last().is_some_and(|&number| number > 1));
    }
    assert!(numbers.snapshot_failure().is_none());
    numbers.close().unwrap();
    drop((numbers, texts, pairs));
    for name in ["numbers", "texts", "pairs"] {
        assert_eq!(snapshots(&at(name)).len(), 1, "the older ones are removed");
    }
    let (numbers, recovery) =
        DurableIndex::<u64, u64>::open(at("numbers"), options(SnapshotPolicy::MANUAL)).unwrap();
    assert!(recovery.snapshot_entries > 0);
    assert!(numbers.index().iter().eq((0..200).map(|key| (key, key))));
}

#[test]
fn a_log_that_is_found_too_long_is_shortened_at_once() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let open = |policy| DurableIndex::<u64, u64>::open(folder.path(), options(policy)).unwrap().0;
    let index = open(SnapshotPolicy::MANUAL);
    (0..200).for_each(|key| assert!(index.insert(key, key).unwrap().is_none()));
    drop(index);
    assert_eq!(snapshots(folder.path()), []);
    let _index = open(by_size(4096));
    until("a snapshot", || snapshots(folder.path()) == [2]);
}

#[test]
fn an_old_log_is_shortened_and_one_without_records_is_not() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let policy = SnapshotPolicy { log_bytes: None, growth: 0.0, age: Some(Duration::from_millis(20)) };
    let (index, _) = DurableIndex::<u64, u64>::open(folder.path(), options(policy)).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(snapshots(folder.path()), []);
    index.insert(1, 10).unwrap();
    until("a snapshot", || snapshots(folder.path()) == [2]);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(snapshots(folder.path()), [2], "nothing was logged since");
}

#[test]
fn a_log_is_to_grow_in_proportion_to_the_snapshot() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let policy = SnapshotPolicy { log_bytes: Some(1), growth: 2.0, age: None };
    let entries: Vec<(u64, u64)> = (0..20_000).map(|key| (key, key)).collect();
    let (index, _) = DurableIndex::<u64, u64>::open(folder.path(), options(policy)).unwrap();
    index.insert_many(&entries).unwrap();
    until("the first snapshot", || snapshots(folder.path()) == [2]);
    // As many bytes again are half of the due size.
    index.insert_many(&entries).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(snapshots(folder.path()), [2]);
    index.insert_many(&entries).unwrap();
    index.insert_many(&entries[..1000]).unwrap();
    until("the second snapshot", || snapshots(folder.path()) == [3]);
}

/// How many threads of the process take snapshots.
#[cfg(target_os = "linux")]
fn threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    // The system cuts names off after fifteen bytes.
    let names = tasks.map(|task| fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default());
    names.filter(|name| name.starts_with("latchless-snaps")).count()
}

#[test]
#[cfg(target_os = "linux")]
fn there_is_a_thread_as_long_as_there_are_a_policy_and_an_index() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let open = |policy| DurableIndex::<u64, u64>::open(folder.path(), options(policy)).unwrap().0;
    let index = open(SnapshotPolicy::MANUAL);
    assert_eq!(threads(), 0);
    drop(index);
    let index = open(SnapshotPolicy::default());
    until("the thread has its name", || threads() == 1);
    index.close().unwrap();
    until("the thread has ended", || threads() == 0);
    drop(index);
    let index = open(by_size(1));
    (0..100).for_each(|key| assert!(index.insert(key, key).unwrap().is_none()));
    drop(index);
    until("the thread has ended with its snapshot", || threads() == 0);
    assert_eq!(open(SnapshotPolicy::MANUAL).len(), 100);
}

#[test]
fn a_snapshot_that_fails_is_told_and_tried_again() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = DurableIndex::<u64, u64>::open(folder.path(), options(by_size(2048))).unwrap();
    // Its name is taken by a folder.
    let taken = folder.path().join("snapshot-0000000000000002.arrow");
    fs::create_dir(&taken).unwrap();
    fs::write(taken.join("file"), "").unwrap();
    (0..50).for_each(|key| assert!(index.insert(key, key).unwrap().is_none()));
    until("a failure", || index.snapshot_failure().is_some());
    let failure = index.snapshot_failure().unwrap();
    assert!(matches!(&*failure, Error::Io { .. }), "{failure}");
    // Reads and changes go on, and the next one is tried when the log has grown by as much again.
    fs::remove_dir_all(&taken).unwrap();
    (50..100).for_each(|key| assert!(index.insert(key, key).unwrap().is_none()));
    until("the next snapshot", || snapshots(folder.path()) == [3]);
    until("the failure is over", || index.snapshot_failure().is_none());
    index.close().unwrap();
}

#[test]
fn closing_tells_of_a_snapshot_that_failed_and_that_everything_is_there() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = DurableIndex::<u64, u64>::open(folder.path(), options(by_size(2048))).unwrap();
    let taken = folder.path().join("snapshot-0000000000000002.arrow");
    fs::create_dir(&taken).unwrap();
    fs::write(taken.join("file"), "").unwrap();
    (0..50).for_each(|key| assert!(index.insert(key, key).unwrap().is_none()));
    until("a failure", || index.snapshot_failure().is_some());
    let refused = index.close().unwrap_err();
    assert!(matches!(&refused, Error::NotShortened { .. }), "{refused}");
    fs::remove_dir_all(&taken).unwrap();
    let (again, _) = DurableIndex::<u64, u64>::open(folder.path(), options(by_size(2048))).unwrap();
    assert_eq!(again.len(), 50);
}

#[test]
fn snapshots_of_the_program_and_of_the_policy_do_not_meet() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = DurableIndex::<u64, u64>::open(folder.path(), options(by_size(512))).unwrap();
    std::thread::scope(|threads| {
        for thread in 0..3 {
            let index = &index;
            threads.spawn(move || {
                for key in (thread..600).step_by(3) {
                    index.insert(key, key).unwrap();
                    if key % 100 == 0 {
                        index.snapshot().unwrap();
                    }
                }
            });
        }
    });
    index.close().unwrap();
    drop(index);
    let (again, _) = DurableIndex::<u64, u64>::open(folder.path(), options(by_size(512))).unwrap();
    assert!(again.index().iter().eq((0..600).map(|key| (key, key))));
}

#[test]
fn an_index_shrinks_beside_its_saver_and_is_back_as_it_was() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (mut numbers, _) = DurableIndex::<u64, u64>::open(at("numbers"), options(by_size(4096))).unwrap();
    let (mut pairs, _) = DurableMultiIndex::<String>::open(at("pairs"), options(by_size(4096))).unwrap();
    for round in 0..5 {
        let entries: Vec<(u64, u64)> = (0..20_000).map(|key| (key, round)).collect();
        numbers.insert_many(&entries).unwrap();
        let named: Vec<_> = entries.iter().map(|(key, _)| (key.to_string(), *key)).collect();
        pairs.insert_many(&named.iter().map(|(key, row)| (key.as_str(), *row)).collect::<Vec<_>>()).unwrap();
        let full = (numbers.index().memory_bytes(), pairs.index().memory_bytes());
        numbers.remove_range(50..).unwrap();
        pairs
            .remove_many(&named.iter().skip(60).map(|(key, row)| (key.as_str(), *row)).collect::<Vec<_>>())
            .unwrap();
        numbers.shrink(FillFactor::FULL).unwrap();
        pairs.shrink(FillFactor::FULL).unwrap();
        assert!(numbers.index().memory_bytes() < full.0 / 10 && pairs.index().memory_bytes() < full.1);
        numbers.insert(100, round).unwrap();
        assert!(numbers.index().iter().map(|(_, value)| value).eq([round; 51]));
    }
    until("a snapshot", || snapshots(&at("numbers")).last().is_some_and(|&number| number > 1));
    assert!(numbers.snapshot_failure().is_none());
    let before: Vec<_> = pairs.index().iter().collect();
    drop((numbers, pairs));
    let manual = || options(SnapshotPolicy::MANUAL);
    let (numbers, _) = DurableIndex::<u64, u64>::open(at("numbers"), manual()).unwrap();
    let (pairs, _) = DurableMultiIndex::<String>::open(at("pairs"), manual()).unwrap();
    assert!(numbers.index().values().eq([4; 51]) && pairs.index().iter().eq(before));
}

#[test]
fn an_index_with_an_owned_snapshot_is_not_shrunk() {
    let folder = tempfile::tempdir().unwrap();
    let (mut index, _) =
        DurableVersionedIndex::<u64, u64>::open(folder.path(), options(by_size(4096))).unwrap();
    index.insert(7, 70).unwrap();
    let snapshot = index.snapshot_owned();
    assert!(matches!(index.shrink(FillFactor::FULL), Err(Error::Shared)));
    assert_eq!((snapshot.get(7), index.index().get(7)), (Some(70), Some(70)));
    drop(snapshot);
    index.shrink(FillFactor::FULL).unwrap();
    index.insert(8, 80).unwrap();
    assert!(index.index().snapshot().iter().eq([(7, 70), (8, 80)]));
}
