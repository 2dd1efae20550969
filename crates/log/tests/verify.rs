//! A check of a folder reports what an opening would meet, and a repair leaves a folder that opens.

use latchless::Index;
use latchless_log::{DurableIndex, Error, Opening, Options, SnapshotPolicy, Trouble};
use latchless_log::{Found, Plain, repair, repair_to, verify};
use std::fs;
use std::path::{Path, PathBuf};

fn options() -> Options {
    Options { snapshots: SnapshotPolicy::MANUAL, ..Options::default() }
}

/// Three logs of ten records each: a fenced opening begins a new one.
fn three_logs(folder: &Path) {
    for start in 0..3_u64 {
        let opening = Opening { fenced: true, snapshots: SnapshotPolicy::MANUAL, ..Opening::default() };
        let found = Found::open(folder).unwrap();
        let (index, _) = found.recover(Index::<u64, u64>::new().unwrap(), Plain, opening).unwrap();
        (0..10).for_each(|key| assert_eq!(index.insert(start * 10 + key, 0).unwrap(), None));
    }
}

fn log(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("log-{number:016x}.redo"))
}

/// Damages a byte of a file.
fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 8;
    fs::write(path, bytes).unwrap();
}

/// The files with something wrong, and whether an opening says so, too.
fn troubles(folder: &Path) -> Vec<PathBuf> {
    let files = verify(folder).unwrap();
    let refused = files.iter().any(|file| matches!(file.trouble, Some(Trouble::Refused(_))));
    let opened = DurableIndex::<u64, u64>::read(folder, latchless::index::Options::default());
    assert_eq!(refused, opened.is_err(), "{files:?}, {:?}", opened.err());
    files.into_iter().filter(|file| file.trouble.is_some()).map(|file| file.path).collect()
}

fn entries(folder: &Path) -> u64 {
    DurableIndex::<u64, u64>::open(folder, options()).unwrap().0.len() as u64
}

#[test]
fn whole_files_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    three_logs(folder.path());
    let files = verify(folder.path()).unwrap();
    let counts: Vec<_> = files.iter().map(|file| (file.entries, file.last)).collect();
    assert_eq!(counts, [(10, Some(10)), (10, Some(20)), (10, Some(30))]);
    assert!(troubles(folder.path()).is_empty());
    assert!(repair(folder.path()).unwrap().set_aside.is_empty());
    assert_eq!(entries(folder.path()), 30);
}

/// Records of 48 bytes: damage of the first byte of the nth of a log.
#[test]
fn what_precedes_damage_is_kept_in_place_and_in_a_copy() {
    for (number, record, kept) in [(1, 4, 4), (2, 0, 10), (2, 9, 19), (3, 5, 25)] {
        let folder = tempfile::tempdir().unwrap();
        let (source, to) = (folder.path().join("source"), folder.path().join("to"));
        three_logs(&source);
        flip(&log(&source, number), 64 + 48 * record);
        assert_eq!(troubles(&source), [log(&source, number)]);
        let before = fs::read(log(&source, number)).unwrap();
        assert_eq!(repair_to(&source, &to).unwrap().record, kept);
        assert_eq!(fs::read(log(&source, number)).unwrap(), before);
        let repaired = repair(&source).unwrap();
        assert_eq!((repaired.last, repaired.set_aside.len() as u64), (kept, 4 - number), "log {number}");
        let aside: u64 = repaired.set_aside.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
        assert!(aside > 48 * (30 - kept), "nothing is thrown away");
        for folder in [&source, &to] {
            assert_eq!((troubles(folder).len(), entries(folder)), (0, kept), "log {number}, record {record}");
        }
    }
}

#[test]
fn files_that_are_missing_or_begin_wrongly_are_named() {
    let folder = tempfile::tempdir().unwrap();
    three_logs(folder.path());
    fs::remove_file(log(folder.path(), 2)).unwrap();
    assert_eq!(troubles(folder.path()), [log(folder.path(), 1)], "it isn't followed by the next");
    assert_eq!(repair(folder.path()).unwrap().last, 10);
    assert_eq!(entries(folder.path()), 10);

    let folder = tempfile::tempdir().unwrap();
    three_logs(folder.path());
    flip(&log(folder.path(), 3), 20);
    assert_eq!(verify(folder.path()).unwrap()[2].path, log(folder.path(), 3));
    assert!(verify(folder.path()).unwrap()[2].trouble.is_some());
    assert_eq!(repair(folder.path()).unwrap().last, 20);
    assert_eq!(entries(folder.path()), 20);

    let folder = tempfile::tempdir().unwrap();
    let (index, _) = DurableIndex::<u64, u64>::open(folder.path(), options()).unwrap();
    index.insert(1, 1).unwrap();
    index.snapshot().unwrap();
    assert!(matches!(repair(folder.path()), Err(Error::Locked { .. })));
    drop(index);
    let snapshot = folder.path().join("snapshot-0000000000000002.arrow");
    flip(&snapshot, 300);
    assert_eq!(troubles(folder.path()), [snapshot]);
    assert!(matches!(repair(folder.path()), Err(Error::Snapshot { .. })));
    let missing = verify(folder.path().join("none"));
    assert!(missing.is_err());
}

/// Wherever a kill cuts the last log, it is no damage, and a repair keeps what an opening keeps.
#[test]
fn an_unfinished_end_is_no_damage() {
    let source = tempfile::tempdir().unwrap();
    let (index, _) = DurableIndex::<u64, u64>::open(source.path(), options()).unwrap();
    (0..4).for_each(|key| assert_eq!(index.insert(key, key).unwrap(), None));
    drop(index);
    let whole = fs::read(log(source.path(), 1)).unwrap();
    for cut in (0..whole.len()).step_by(5) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(log(folder.path(), 1), &whole[..cut]).unwrap();
        let files = verify(folder.path()).unwrap();
        let kept = files[0].entries;
        assert!(!matches!(files[0].trouble, Some(Trouble::Refused(_))), "cut at {cut}: {files:?}");
        if cut >= 64 {
            assert_eq!(repair(folder.path()).unwrap().last, kept);
            assert!(verify(folder.path()).unwrap()[0].trouble.is_none());
        }
        assert_eq!(entries(folder.path()), kept, "cut at {cut}");
    }
}
