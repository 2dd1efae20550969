//! An index that was taken over acknowledges nothing, and its late records don't count.
//!
//! A folder whose file `lock` gets another name simulates a file system that has lost its locks.

use latchless_log::{DurableIndex, Error, Options, SyncMode};
use std::fs;
use std::path::Path;

type Durable = DurableIndex<u64, u64>;

fn open(folder: &Path, sync: SyncMode) -> Durable {
    // As if the lock had been lost: the file that others hold isn't the one that is locked here.
    let mut names = (0..).map(|number| folder.join(format!("lost-{number}")));
    let lost = names.find(|name| !name.exists()).expect("a name that is free");
    let _ = fs::rename(folder.join("lock"), lost);
    let options = Options { sync, fenced: true, ..Options::default() };
    Durable::open(folder, options).expect("a folder that can be opened").0
}

fn entries(durable: &Durable) -> Vec<(u64, u64)> {
    durable.index().iter().collect()
}

#[test]
fn it_is_told_at_its_next_change_or_sync_or_snapshot() {
    for sync in [SyncMode::Each, SyncMode::Never] {
        let folder = tempfile::tempdir().expect("a folder");
        for act in 0..3 {
            let before = open(folder.path(), sync);
            before.insert(act, 1).expect("a put");
            let after = open(folder.path(), sync);
            assert_eq!(after.get(act), Some(1));
            let refused = match act {
                0 => before.insert(100, 1).map(|_| ()),
                1 => before.sync(),
                _ => before.snapshot().map(|_| ()),
            };
            let refused = refused.expect_err("it was taken over");
            assert!(matches!(&refused, Error::Fenced { .. }), "{refused}");
            let refused = before.remove(act).expect_err("it stays so");
            assert!(matches!(&refused, Error::Fenced { .. }), "{refused}");
            after.insert(50 + act, 1).expect("a put of the other");
        }
    }
}

/// Each of a chain of indexes is taken over by the next and goes on writing. At last all acknowledged
/// changes are there, and none of those that were refused before any index had seen them.
#[test]
fn what_it_writes_late_does_not_count() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut taken_over: Vec<Durable> = Vec::new();
    for life in 0..6 {
        let durable = open(folder.path(), SyncMode::Never);
        let expected: Vec<_> = (0..life).map(|key| (key, key)).collect();
        assert_eq!(entries(&durable), expected);
        for before in &taken_over {
            before.insert(1_000 + life, 1).expect_err("it was taken over");
            before.snapshot().expect_err("it was taken over");
        }
        // Every second one writes nothing before it is taken over, and then late.
        if life % 2 == 0 {
            durable.insert(life, life).expect("a put");
            taken_over.push(durable);
        } else {
            drop(durable);
            let durable = open(folder.path(), SyncMode::Never);
            durable.insert(life, life).expect("a put");
        }
    }
    let last = open(folder.path(), SyncMode::Never);
    last.snapshot().expect("nobody has taken it over");
    last.insert(6, 6).expect("a put");
    drop((last, taken_over));
    assert_eq!(
        entries(&open(folder.path(), SyncMode::Never)),
        (0..7).map(|key| (key, key)).collect::<Vec<_>>()
    );
}

/// A kill at any moment of an opening leaves a folder that opens.
#[test]
fn an_opening_that_was_killed_leaves_what_was_there() {
    let folder = tempfile::tempdir().expect("a folder");
    open(folder.path(), SyncMode::Each).insert(1, 10).expect("a put");
    let torn = |number: u64, bytes: &[u8]| {
        fs::write(folder.path().join(format!("log-{number:016x}.redo")), bytes).expect("a file");
    };
    torn(2, b"");
    torn(3, b"latchlog half of it");
    assert_eq!(entries(&open(folder.path(), SyncMode::Each)), [(1, 10)]);
    torn(5, b"");
    let durable = open(folder.path(), SyncMode::Each);
    durable.insert(2, 20).expect("a put");
    drop(durable);
    assert_eq!(entries(&open(folder.path(), SyncMode::Each)), [(1, 10), (2, 20)]);
}
