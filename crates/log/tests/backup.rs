//! A backup is of one moment, opens by itself, and is there as a whole or not at all.

use latchless::versions::WriteBatch;
use latchless_log::{DurableBytesIndex, DurableIndex, DurableMultiIndex, DurableVersionedIndex};
use latchless_log::{Error, Options, ReadOnly, SnapshotPolicy, SyncMode};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

fn never() -> Options {
    Options { sync: SyncMode::Never, snapshots: SnapshotPolicy::MANUAL, ..Options::default() }
}

/// Names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn every_kind_opens_from_its_backup_with_or_without_a_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (numbers, _) = DurableIndex::<u64, u64>::open(at("numbers"), never()).unwrap();
    let (texts, _) = DurableBytesIndex::<String, String>::open(at("texts"), never()).unwrap();
    let (rows, _) = DurableMultiIndex::<String>::open(at("rows"), never()).unwrap();
    let (versions, _) = DurableVersionedIndex::<String, u64>::open(at("versions"), never()).unwrap();
    for round in 0..4_u64 {
        let name = |kind: &str| at(&format!("{kind}-{round}"));
        numbers.insert_many(&[(round, 1), (round + 100, 2)]).unwrap();
        texts.insert_many(&[(&round.to_string(), "x".repeat(200)), ("last", round.to_string())]).unwrap();
        rows.insert("row", round).unwrap();
        versions.commit(WriteBatch::from_iter([(round.to_string(), 1), ("last".into(), round)])).unwrap();
        if round == 1 || round == 2 {
            numbers.snapshot().unwrap();
            texts.snapshot().unwrap();
            rows.snapshot().unwrap();
            versions.snapshot().unwrap();
        }
        assert_eq!(numbers.backup(name("numbers")).unwrap().record, round + 1);
        texts.backup(name("texts")).unwrap();
        rows.backup(name("rows")).unwrap();
        let backup = versions.backup(name("versions")).unwrap();
        assert_eq!(backup.record, versions.index().newest());
        let bytes =
            fs::read_dir(name("versions")).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
        assert_eq!(backup.bytes, bytes.sum::<u64>());

        let (copy, recovery) = DurableIndex::<u64, u64>::open(name("numbers"), never()).unwrap();
        assert!(copy.index().iter().eq(numbers.index().iter()) && recovery.stopped.is_none());
        let (copy, _) = DurableBytesIndex::<String, String>::open(name("texts"), never()).unwrap();
        assert!(copy.index().iter().eq(texts.index().iter()));
        let (copy, _) = DurableMultiIndex::<String>::open(name("rows"), never()).unwrap();
        assert!(copy.index().iter().eq(rows.index().iter()));
        let (copy, _) = DurableVersionedIndex::<String, u64>::open(name("versions"), never()).unwrap();
        assert!(copy.index().snapshot().iter().eq(versions.index().snapshot().iter()));
        assert_eq!((copy.index().newest(), copy.insert("new", 0).unwrap()), (round + 1, None));
    }
}

/// Two keys that are always changed in one batch, a writer, and a thread that takes snapshots.
fn beside(write: impl Fn(u64) + Sync, save: impl Fn() + Sync, back_up: impl Fn(u64)) {
    let (is_done, written) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for value in 1.. {
                write(value);
                written.store(value, SeqCst);
                if is_done.load(SeqCst) {
                    return;
                }
            }
        });
        scope.spawn(|| {
            while !is_done.load(SeqCst) {
                save();
            }
        });
        for _ in 0..12 {
            std::thread::sleep(std::time::Duration::from_millis(3));
            back_up(written.load(SeqCst));
        }
        is_done.store(true, SeqCst);
    });
}

#[test]
fn a_backup_beside_writers_is_of_one_moment() {
    for reads_only in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (source, to) = (folder.path().join("source"), folder.path().join("copy"));
        let (index, _) = DurableIndex::<u64, u64>::open(&source, never()).unwrap();
        index.insert_many(&(1..5_000).map(|key| (key, key)).collect::<Vec<_>>()).unwrap();
        let write = |value| {
            index.insert_columns(&[0, u64::MAX], &[value, value]).unwrap();
        };
        beside(
            write,
            || {
                index.snapshot().unwrap();
            },
            |written| {
                let backup =
                    if reads_only { ReadOnly::open(&source).unwrap().backup(&to) } else { index.backup(&to) };
                backup.unwrap();
                let (copy, recovery) = DurableIndex::<u64, u64>::open(&to, never()).unwrap();
                let pair = (copy.get(0).unwrap_or(0), copy.get(u64::MAX).unwrap_or(0));
                assert!(pair.0 == pair.1 && pair.0 >= written && copy.len() >= 4_999, "{pair:?}, {written}");
                assert_eq!(recovery.stopped, None);
                drop(copy);
                fs::remove_dir_all(&to).unwrap();
            },
        );
        assert_eq!(names(folder.path()), ["source"]);
    }
}

#[test]
fn a_backup_that_fails_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (source, to) = (folder.path().join("source"), folder.path().join("copy"));
    let (index, _) = DurableIndex::<u64, u64>::open(&source, Options::default()).unwrap();
    for key in 0..20 {
        index.insert(key, key).unwrap();
    }
    index.backup(&to).unwrap();
    let before = names(&to);
    assert!(matches!(index.backup(&to), Err(Error::Io { .. })), "it is there");
    assert_eq!((names(&to), names(folder.path())), (before, vec!["copy".to_owned(), "source".to_owned()]));
    drop(index);
    let log = source.join("log-0000000000000001.redo");
    let whole = fs::read(&log).unwrap();
    // An unfinished record isn't copied.
    fs::write(&log, &whole[..whole.len() - 40]).unwrap();
    let torn = folder.path().join("torn");
    let backup = ReadOnly::open(&source).unwrap().backup(&torn).unwrap();
    assert_eq!(backup.record, 19);
    let (copy, recovery) = DurableIndex::<u64, u64>::open(&torn, never()).unwrap();
    assert_eq!((copy.len(), recovery.stopped), (19, None));
    // Damage is an error, and what precedes it no backup.
    let mut damaged = whole;
    damaged[200] ^= 4;
    fs::write(&log, damaged).unwrap();
    let refused = ReadOnly::open(&source).unwrap().backup(folder.path().join("damaged"));
    assert!(matches!(refused, Err(Error::Damaged { at: ..200, .. })), "{refused:?}");
    assert_eq!(names(folder.path()), ["copy", "source", "torn"]);
}
