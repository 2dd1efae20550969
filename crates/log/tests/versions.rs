//! A durable versioned index: each commit is one record, with its number, and is back as a whole or not at
//! all.

use latchless::versions::{Retention, VersionedIndex, WriteBatch};
use latchless_log::{CommitError, DamagedTail, DurableBytesIndex, DurableVersionedIndex, Error};
use latchless_log::{Found, Opening, Options, ReadOnly, SnapshotPolicy, SyncMode};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use tempfile::TempDir;

type Texts = DurableVersionedIndex<String, String>;
type State = BTreeMap<String, String>;

fn never() -> Options {
    Options { sync: SyncMode::Never, snapshots: SnapshotPolicy::MANUAL, ..Options::default() }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

const LOG: &str = "log-0000000000000001.redo";

/// A folder with the first snapshot of another one, and these bytes as its log.
fn folder_with(source: &Path, log: &[u8]) -> TempDir {
    let (folder, snapshot) = (folder(), "snapshot-0000000000000001.arrow");
    fs::copy(source.join(snapshot), folder.path().join(snapshot)).expect("the first snapshot");
    fs::write(folder.path().join(LOG), log).expect("a log");
    folder
}

fn open(folder: &Path) -> Texts {
    Texts::open(folder, never()).expect("a folder that can be opened").0
}

fn state(index: &Texts) -> State {
    index.index().snapshot().iter().collect()
}

/// Commits of every kind, and after each the log's bytes and the entries. The commit of number N is the Nth.
fn history(folder: &Path) -> Vec<(u64, State)> {
    let index = open(folder);
    let mut states = vec![(index.log_bytes(), state(&index))];
    for round in 0..2 {
        let key = |at: u64| format!("{round}/{at}");
        index.insert(&key(0), "single").unwrap();
        states.push((index.log_bytes(), state(&index)));
        let mut batch: WriteBatch<String, String> =
            (1..6).map(|at| (key(at), "x".repeat(10 * at as usize))).collect();
        batch.remove(&key(0)).insert(&key(9), "").remove_range(&*key(2)..&*key(4)).insert(&key(3), "again");
        assert_eq!(index.commit(batch).unwrap(), 5 * round + 2);
        states.push((index.log_bytes(), state(&index)));
        let moved = index.transact(|transaction| {
            let value = transaction.get(&key(5)).unwrap();
            transaction.remove(&key(5)).insert(&key(6), &value);
            Ok::<_, Error>(value.len())
        });
        assert_eq!(moved.unwrap(), 50);
        states.push((index.log_bytes(), state(&index)));
        assert_eq!(index.remove(&key(6)).unwrap().map(|value| value.len()), Some(50));
        assert_eq!(index.remove(&key(6)).unwrap(), None, "no commit");
        states.push((index.log_bytes(), state(&index)));
        assert_eq!(index.retain(|_, value| !value.is_empty()).unwrap(), 1);
        assert_eq!(index.retain(|_, value| !value.is_empty()).unwrap(), 0, "no commit");
        states.push((index.log_bytes(), state(&index)));
    }
    states
}

#[test]
fn wherever_a_kill_cuts_the_log_the_commits_before_are_back_with_their_numbers() {
    let source = folder();
    let states = history(source.path());
    let whole = fs::read(source.path().join(LOG)).unwrap();
    for cut in 0..=whole.len() {
        let folder = folder_with(source.path(), &whole[..cut]);
        let (index, _) = Texts::open(folder.path(), never()).unwrap();
        let newest = states.iter().rposition(|(bytes, _)| *bytes <= cut as u64).unwrap_or(0);
        assert_eq!(
            (index.index().newest(), &state(&index)),
            (newest as u64, &states[newest].1),
            "cut at {cut}"
        );
        if cut % 40 == 0 {
            assert_eq!(
                index.commit(WriteBatch::from_iter([("new".into(), "".into())])).unwrap(),
                newest as u64 + 1
            );
            drop(index);
            let index = open(folder.path());
            assert_eq!(
                (index.index().newest(), index.len()),
                (newest as u64 + 1, states[newest].1.len() + 1)
            );
        }
    }
}

#[test]
fn a_flipped_bit_never_gives_a_part_of_a_commit() {
    let source = folder();
    let states = history(source.path());
    let whole = fs::read(source.path().join(LOG)).unwrap();
    let options = Options { damaged_tail: DamagedTail::SetAside, ..never() };
    for byte in (64..whole.len()).step_by(3) {
        let mut flipped = whole.clone();
        flipped[byte] ^= 1 << (byte % 8);
        let folder = folder_with(source.path(), &flipped);
        let (index, recovery) = Texts::open(folder.path(), options.clone()).unwrap();
        let newest = states.iter().rposition(|(bytes, _)| *bytes <= byte as u64).unwrap();
        assert!(recovery.stopped.is_some(), "byte {byte}");
        assert_eq!(
            (index.index().newest(), &state(&index)),
            (newest as u64, &states[newest].1),
            "byte {byte}"
        );
    }
}

fn open_all(folder: &Path) -> DurableVersionedIndex<u64, u64> {
    let index = VersionedIndex::with_options(Default::default(), Retention::All).unwrap();
    let opening = Opening { sync: SyncMode::Never, snapshots: SnapshotPolicy::MANUAL, ..Opening::default() };
    Found::open(folder).unwrap().recover(index, (), opening).unwrap().0
}

#[test]
fn all_numbers_since_the_snapshot_file_can_be_read_after_an_opening() {
    let folder = folder();
    let index = open_all(folder.path());
    for value in 1..=10 {
        index.insert(7, value).unwrap();
    }
    drop(index);
    let index = open_all(folder.path());
    for number in 1..=10 {
        assert_eq!(index.index().snapshot_at(number).unwrap().get(7), Some(number));
    }
    assert_eq!(index.snapshot().unwrap(), 1);
    index.insert(7, 11).unwrap();
    index.insert(8, 12).unwrap();
    drop(index);
    let index = open_all(folder.path());
    let oldest = index.index().snapshot_at(9).unwrap_err();
    assert_eq!((oldest.oldest, oldest.newest), (10, 12));
    let at = |number| index.index().snapshot_at(number).unwrap().iter().collect::<Vec<_>>();
    assert_eq!([at(10), at(11), at(12)], [vec![(7, 10)], vec![(7, 11)], vec![(7, 11), (8, 12)]]);
    drop(index);
    let (copy, _) = DurableVersionedIndex::<u64, u64>::read(folder.path(), Default::default()).unwrap();
    assert_eq!((copy.newest(), copy.get(8), copy.snapshot_at(10).is_err()), (12, Some(12), true));
}

/// A snapshot file that is written beside commits is of one of them, and those before it aren't made again.
#[test]
fn a_snapshot_file_beside_writers_is_of_one_commit() {
    let folder = folder();
    let (index, _) = DurableVersionedIndex::<u64, u64>::open(folder.path(), never()).unwrap();
    let pair = |value: u64| WriteBatch::from_iter([(1, value), (u64::MAX, value)]);
    index.commit((2..30_000).map(|key| (key, 0)).chain([(1, 0), (u64::MAX, 0)]).collect()).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for value in 1.. {
                index.commit(pair(value)).unwrap();
                if is_done.load(SeqCst) {
                    return;
                }
            }
        });
        for _ in 0..5 {
            index.snapshot().unwrap();
            // Without the log: what the file alone has.
            let name = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
            let file = name.filter(|path| path.extension().is_some_and(|of| of == "arrow")).max().unwrap();
            let saved = latchless::snapshot::strings::Snapshot::open(&file).unwrap();
            let rows: Vec<u64> = saved.rows().map(|(_, value)| value).collect();
            assert_eq!(rows[0], rows[rows.len() - 1], "{file:?}");
            let number: u64 = saved.metadata()[0].1.parse().unwrap();
            assert_eq!(number, rows[0] + 1);
        }
        is_done.store(true, SeqCst);
    });
    let (newest, last) = (index.index().newest(), index.index().get(1));
    drop(index);
    let (index, _) = DurableVersionedIndex::<u64, u64>::open(folder.path(), never()).unwrap();
    assert_eq!(
        (index.index().newest(), index.index().get(1), index.index().get(u64::MAX)),
        (newest, last, last)
    );
}

#[test]
fn keys_that_a_closure_did_not_keep_stay_removed() {
    let folder = folder();
    let index = DurableVersionedIndex::<u64, u64>::open(folder.path(), never()).unwrap().0;
    index.commit((0..2000).map(|key| (key, key % 3)).collect()).unwrap();
    let before = index.index().snapshot();
    let mut refreshed = 0;
    let removed = index.retain(|key, rest| {
        // Another commit comes in between.
        if key == 1500 {
            refreshed = index.index().newest();
            index.insert(1500, 7).unwrap();
        }
        rest != 0
    });
    assert_eq!((removed.unwrap(), before.iter().count()), (666, 2000));
    assert!(refreshed > 1, "it removes keys in several commits");
    drop(before);
    let newest = index.index().newest();
    drop(index);
    let index = DurableVersionedIndex::<u64, u64>::open(folder.path(), never()).unwrap().0;
    assert_eq!((index.index().newest(), index.index().len()), (newest, 1334));
    let kept = (0..2000).filter(|key| key % 3 != 0 || *key == 1500);
    assert!(index.index().snapshot().keys().eq(kept));
    assert_eq!(index.index().get(1500), Some(7));
}

#[test]
fn what_is_refused_is_not_logged() {
    let folder = folder();
    let index = open(folder.path());
    index.insert("a", "1").unwrap();
    let logged = index.log_bytes();
    let too_long = "k".repeat((16 << 20) + 1);
    assert!(matches!(index.insert(&too_long, "1"), Err(Error::Index { .. })));
    let mut batch = WriteBatch::new();
    batch.insert("b", "2").insert(too_long.as_str(), "3");
    assert!(matches!(index.commit(batch), Err(Error::Index { .. })));
    let mut transaction = index.begin();
    let read = transaction.get("a").unwrap();
    transaction.insert("sum", &read);
    index.insert("a", "2").unwrap();
    assert!(matches!(transaction.commit(), Err(CommitError::Conflict { key }) if key == "a"));
    index.remove("none").unwrap();
    assert_eq!(index.begin().commit().unwrap(), 2);
    assert_eq!((index.index().newest(), state(&index).len()), (2, 1));
    assert!(index.log_bytes() < logged + 64);
    // Values may be longer than keys.
    index.insert("long", &"v".repeat(300_000)).unwrap();
    drop(index);
    let index = open(folder.path());
    assert_eq!(index.index().get("long").map(|value| value.len()), Some(300_000));
}

#[test]
fn other_kinds_of_index_refuse_the_folder_and_it_refuses_theirs() {
    let (versions, strings) = (folder(), folder());
    drop(open(versions.path()));
    drop(DurableBytesIndex::<String, String>::open(strings.path(), never()).unwrap());
    let refused = DurableBytesIndex::<String, String>::open(versions.path(), never()).unwrap_err();
    assert!(refused.to_string().contains("DurableVersionedIndex"), "{refused}");
    let refused = Texts::open(strings.path(), never()).unwrap_err();
    assert!(refused.to_string().contains("DurableBytesIndex"), "{refused}");
    let refused = DurableVersionedIndex::<String, u64>::open(versions.path(), never()).unwrap_err();
    assert!(matches!(refused, Error::Snapshot { .. }), "{refused}");
    // An index that has commits of its own has other numbers than the log would.
    let used = VersionedIndex::<String, String>::new().unwrap();
    used.insert("a", "1").unwrap();
    used.remove("a").unwrap();
    let found = Found::open(folder().path().join("new")).unwrap();
    assert!(found.recover(used, (), Opening::default()).is_err());
    assert_eq!(ReadOnly::open(versions.path()).unwrap().metadata()[0].0, "commit");
}

/// The memory of keys that were removed and pruned is there again at the start.
#[test]
fn an_index_that_pruned_at_its_limit_opens_under_it_again() {
    let folder = folder();
    let index = latchless::index::Options { limit_bytes: Some(2 << 20), ..Default::default() };
    let options = Options { index, ..never() };
    let (versions, _) = DurableVersionedIndex::<u64, u64>::open(folder.path(), options.clone()).unwrap();
    let mut commits = 0;
    for round in 0..6_u64 {
        let keys = || (0..8_000_u64).map(move |key| round << 32 | key);
        versions.commit(keys().map(|key| (key, round)).collect()).unwrap();
        let mut batch = WriteBatch::new();
        for key in keys() {
            batch.remove(key);
        }
        versions.commit(batch).unwrap();
        versions.prune().unwrap();
        commits += 2;
    }
    assert_eq!(versions.insert(1, 1).unwrap(), None);
    drop(versions);
    let (versions, _) = DurableVersionedIndex::<u64, u64>::open(folder.path(), options).unwrap();
    assert_eq!((versions.index().newest(), versions.len()), (commits + 1, 1));
}

#[test]
fn a_transaction_that_writes_past_itself_for_ever_is_refused() {
    let folder = folder();
    let (versions, _) = DurableVersionedIndex::<u64, u64>::open(folder.path(), never()).unwrap();
    let mut times = 0;
    let refused = versions.upsert(7, |_| {
        times += 1;
        assert!(times < 1000, "it goes on for ever");
        versions.insert(7, times).unwrap();
        0
    });
    let refused = refused.unwrap_err();
    assert!(
        matches!(refused, Error::Index { cause: latchless::Error::ClosureChangesItsKey { .. }, .. }),
        "{refused:?}"
    );
    assert_eq!(versions.index().get(7), Some(times));
}
