//! A follower has what a writer in another process has logged, in whole records, whatever happens to the
//! writer, and takes the folder over when that is gone.

use latchless::index::Options as IndexOptions;
use latchless::versions::WriteBatch;
use latchless_log::{DurableBytesIndex, DurableIndex, DurableVersionedIndex, Error, Follower, Found};
use latchless_log::{Opening, Options, SnapshotPolicy, SyncMode};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

const CHILD: &str = "LATCHLESS_LOG_FOLLOWED";

fn never() -> Options {
    Options { sync: SyncMode::Never, snapshots: SnapshotPolicy::MANUAL, ..Options::default() }
}

/// Commits of two keys and one more, and the number of each when it is acknowledged; and snapshots, as fast
/// as they go.
fn write(folder: &Path) {
    let options = Options { sync: SyncMode::Never, snapshots: SnapshotPolicy::MANUAL, ..Options::default() };
    let (index, _) = DurableVersionedIndex::<u64, u64>::open(folder, options).expect("it opens");
    let saves = std::env::var_os("LATCHLESS_LOG_SAVES").is_some();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            loop {
                let number = index.index().newest() + 1;
                let batch = [(0, number), (1_000 + number % 500, number), (u64::MAX, number)];
                assert_eq!(index.commit(WriteBatch::from_iter(batch)).expect("a commit"), number);
                let line = format!("commit {number}\n");
                std::io::stdout().write_all(line.as_bytes()).expect("the parent listens");
            }
        });
        loop {
            if saves {
                index.snapshot().expect("a snapshot among commits");
            }
            std::thread::sleep(Duration::from_micros(300));
        }
    });
}

fn start(test: &str, folder: &Path, saves: bool) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", test, "--nocapture"]).env(CHILD, folder).stdout(Stdio::piped());
    if saves {
        command.env("LATCHLESS_LOG_SAVES", "1");
    }
    command.spawn().expect("a child")
}

type Standby = Follower<latchless::versions::VersionedIndex<u64, u64>>;

/// Both keys of each commit have its number.
fn is_whole(standby: &Standby) -> u64 {
    standby.read(|index| {
        let (newest, view) = (index.newest(), index.snapshot());
        assert_eq!((view.get(0).unwrap_or(0), view.get(u64::MAX).unwrap_or(0)), (newest, newest));
        newest
    })
}

#[test]
fn a_follower_has_what_a_killed_writer_acknowledged_and_takes_over() {
    const TEST: &str = "a_follower_has_what_a_killed_writer_acknowledged_and_takes_over";
    if let Some(folder) = std::env::var_os(CHILD) {
        return write(Path::new(&folder));
    }
    for saves in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut acknowledged = 0;
        for life in 0..4_u64 {
            let mut child = start(TEST, folder.path(), saves);
            let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
            let mut hear = |line: String| {
                if let Some(number) = line.strip_prefix("commit ") {
                    acknowledged = acknowledged.max(number.parse().unwrap());
                }
            };
            while !lines.next().expect("it writes on").map(|line| line.starts_with("commit ")).unwrap() {}
            let standby = Standby::open(folder.path(), IndexOptions::default()).expect("it is followed");
            for _ in 0..300 * (life + 1) {
                hear(lines.next().expect("it writes on").unwrap());
                standby.catch_up().expect("it follows");
                is_whole(&standby);
            }
            assert!(matches!(Found::open(folder.path()), Err(Error::Locked { .. })), "the writer has it");
            child.kill().expect("SIGKILL");
            child.wait().expect("its end");
            lines.map_while(Result::ok).for_each(&mut hear);
            standby.catch_up().expect("what is left");
            let newest = is_whole(&standby);
            assert!(newest >= acknowledged && newest == standby.last(), "{newest}, {acknowledged}");

            let found = Found::open(folder.path()).expect("the lock is free");
            let (index, _) = standby.promote(found, Opening::from(never())).expect("it takes over");
            assert_eq!(index.index().newest(), newest);
            let pair = WriteBatch::from_iter([(0, newest + 1), (u64::MAX, newest + 1)]);
            assert_eq!(index.commit(pair).unwrap(), newest + 1);
            let (there, _) =
                DurableVersionedIndex::<u64, u64>::read(folder.path(), IndexOptions::default()).unwrap();
            assert!(there.snapshot().iter().eq(index.index().snapshot().iter()));
            acknowledged = newest + 1;
        }
    }
}

/// Of an index whose batches others may see in part, a follower sees whole ones alone.
#[test]
fn batches_are_whole_across_snapshots_of_a_writer_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (numbers, _) = DurableIndex::<u64, u64>::open(folder.path(), never()).unwrap();
    numbers.insert_columns(&[1, u64::MAX], &[0, 0]).unwrap();
    let standby =
        Follower::<latchless::Index<u64, u64>, _>::open(folder.path(), IndexOptions::default()).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let followed = threads.spawn(|| standby.follow(Duration::ZERO, || !is_done.load(SeqCst)));
        threads.spawn(|| {
            while !is_done.load(SeqCst) {
                let pair = standby.read(|index| (index.get(1), index.get(u64::MAX)));
                assert_eq!(pair.0, pair.1);
            }
        });
        for value in 1..3_000 {
            let keys: Vec<u64> = [1, 2 + value % 700, u64::MAX].into();
            numbers.insert_columns(&keys, &[value; 3]).unwrap();
            if value % 100 == 0 {
                numbers.snapshot().unwrap();
            }
            if value % 500 == 0 {
                numbers.remove_range(2..400).unwrap();
            }
        }
        is_done.store(true, SeqCst);
        followed.join().unwrap().unwrap();
    });
    standby.catch_up().unwrap();
    assert_eq!(standby.lag_bytes().unwrap(), 0);
    standby.read(|index| assert!(index.iter().eq(numbers.index().iter())));
}

#[test]
fn a_follower_that_slept_while_its_files_were_removed_begins_with_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Follower::<latchless::Index<u64, u64>, _>::open(folder.path(), IndexOptions::default()).is_err());
    let (texts, _) = DurableBytesIndex::<String, u64>::open(folder.path(), never()).unwrap();
    texts.insert("a", 1).unwrap();
    type Texts = Follower<latchless::Index<String, u64>>;
    let standby = Texts::open(folder.path(), IndexOptions::default()).unwrap();
    assert_eq!((standby.last(), standby.lag_bytes().unwrap(), standby.catch_up().unwrap()), (1, 0, 0));
    // Once its log is gone, but it has that open; then one more is between.
    for round in 0..4_u64 {
        for _ in 0..round {
            texts.insert("b", round).unwrap();
            texts.insert(&format!("{round}"), round).unwrap();
            texts.remove("a").unwrap();
            assert!(standby.lag_bytes().unwrap() > 0);
            texts.snapshot().unwrap();
        }
        texts.insert("c", round).unwrap();
        assert!(standby.wait_for(standby.last() + 1, Duration::from_secs(60)).unwrap());
        standby.catch_up().unwrap();
        standby.read(|index| assert!(index.iter().eq(texts.index().iter()), "round {round}"));
    }
    assert!(!standby.wait_for(standby.last() + 1, Duration::from_millis(5)).unwrap());
    texts.close().unwrap();
    let (texts, _) = standby.promote(Found::open(folder.path()).unwrap(), Opening::default()).unwrap();
    texts.insert("d", 5).unwrap();
    drop(texts);
    let (texts, _) = DurableBytesIndex::<String, u64>::open(folder.path(), never()).unwrap();
    assert_eq!((texts.get("c"), texts.get("d"), texts.get("a")), (Some(3), Some(5), None));
}

/// A record that is being written isn't applied; one that was damaged is an error.
#[test]
fn what_is_not_whole_is_not_applied() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log-0000000000000001.redo");
    let (numbers, _) = DurableIndex::<u64, u64>::open(folder.path(), Options::default()).unwrap();
    numbers.insert(1, 1).unwrap();
    let before = std::fs::metadata(&log).unwrap().len() as usize;
    let standby =
        Follower::<latchless::Index<u64, u64>, _>::open(folder.path(), IndexOptions::default()).unwrap();
    numbers.insert_columns(&[2, 3], &[2, 3]).unwrap();
    let end = std::fs::metadata(&log).unwrap().len() as usize;
    numbers.insert(4, 4).unwrap();
    drop(numbers);
    let whole = std::fs::read(&log).unwrap();
    for cut in before..end {
        std::fs::write(&log, &whole[..cut]).unwrap();
        assert_eq!((standby.catch_up().unwrap(), standby.last()), (0, 1), "cut at {cut}");
    }
    // The machine went down, and what was applied was not on the disk.
    std::fs::write(&log, &whole[..before - 1]).unwrap();
    assert_eq!((standby.catch_up().unwrap(), standby.last()), (0, 0));
    standby.read(|index| assert!(index.is_empty()));
    std::fs::write(&log, &whole[..before]).unwrap();
    assert_eq!(standby.catch_up().unwrap(), 1);
    let mut damaged = whole.clone();
    damaged[before + 40] ^= 1;
    std::fs::write(&log, damaged).unwrap();
    let refused = standby.catch_up().unwrap_err();
    assert!(matches!(refused, Error::Damaged { at, .. } if at == before as u64), "{refused}");
    std::fs::write(&log, &whole).unwrap();
    assert_eq!((standby.catch_up().unwrap(), standby.lag_bytes().unwrap()), (2, 0));
    standby.read(|index| assert_eq!((index.get(3), index.get(4)), (Some(3), Some(4))));
}
