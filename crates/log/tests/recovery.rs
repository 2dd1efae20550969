//! A durable index recovers its entries: after a close, after every truncation and flip of its log, after
//! snapshots, under many writers. Untrustworthy logs are refused.

mod common;

use common::{every_cut_gives_the_records_before, every_flipped_bit_is_found, folder, log_of, never};
use latchless::Index;
use latchless_log::{DurableIndex, Error, Options, SyncMode};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

type Durable = DurableIndex<u64, u64>;

fn open(folder: &Path) -> Durable {
    Durable::open(folder, never()).expect("a folder that can be opened").0
}

fn entries(durable: &Durable) -> Vec<(u64, u64)> {
    durable.index().iter().collect()
}

/// A log of puts, batches, removals and a removed range, and the entries after each of its records.
fn history(folder: &Path) -> Vec<(u64, Vec<(u64, u64)>)> {
    let durable = open(folder);
    let mut states = vec![(durable.log_bytes(), entries(&durable))];
    let mut note = |durable: &Durable| states.push((durable.log_bytes(), entries(durable)));
    for round in 0..4 {
        assert_eq!(durable.insert(round, round * 10).expect("a put"), None);
        note(&durable);
        let keys: Vec<u64> = (0..5).map(|at| 100 * (round + 1) + at).collect();
        let values: Vec<u64> = keys.iter().map(|key| key + round).collect();
        durable.insert_columns(&keys, &values).expect("a batch");
        note(&durable);
    }
    assert_eq!(durable.remove(3).expect("a removal"), Some(30));
    note(&durable);
    assert_eq!(durable.remove_many(&[100, 101, 7]).expect("removals"), 2);
    note(&durable);
    assert_eq!(durable.remove_range(200..=302).expect("a removed range"), 8);
    note(&durable);
    durable.insert_many(&[(1, 5), (1, 6)]).expect("a key twice");
    note(&durable);
    states
}

#[test]
fn everything_is_back_after_a_close() {
    let folder = folder();
    let states = history(folder.path());
    let (durable, recovery) = Durable::open(folder.path(), never()).expect("it opens");
    assert_eq!(entries(&durable), states.last().expect("states").1);
    assert_eq!((recovery.records, recovery.stopped, recovery.snapshot_entries), (12, None, 0));
    assert_eq!(durable.get(1), Some(6));
}

#[test]
fn a_log_cut_anywhere_gives_the_records_before() {
    every_cut_gives_the_records_before::<Index<u64, u64>, _>(history, |durable| {
        durable.index().check_invariants().expect("a whole tree");
        durable.insert(u64::MAX, 1).expect("a put");
    });
}

#[test]
fn a_flipped_bit_is_found() {
    every_flipped_bit_is_found::<Index<u64, u64>, _>(history);
}

/// Each record is whole, but one between them isn't there.
#[test]
fn a_record_that_is_missing_is_found() {
    let source = folder();
    let states = history(source.path());
    let whole = fs::read(log_of(source.path(), 1)).expect("the log");
    for (before, after) in states.iter().zip(&states[1..states.len() - 1]) {
        let folder = folder();
        let [start, end] = [before.0, after.0].map(|bytes| bytes as usize);
        fs::write(log_of(folder.path(), 1), [&whole[..start], &whole[end..]].concat()).expect("a log");
        let (durable, recovery) = Durable::open(folder.path(), never()).expect("it opens");
        let stopped = recovery.stopped.expect("the numbers tell");
        assert_eq!((stopped.at, &entries(&durable)), (before.0, &before.1));
    }
}

#[test]
fn a_snapshot_replaces_the_logs_before_it() {
    let folder = folder();
    let states = history(folder.path());
    let durable = open(folder.path());
    let last = &states.last().expect("states").1;
    assert_eq!(durable.snapshot().expect("a snapshot"), last.len() as u64);
    assert!(!log_of(folder.path(), 1).exists(), "its records are in the snapshot");
    durable.insert(5_000, 1).expect("a put");
    durable.remove(0).expect("a removal");
    let expected = entries(&durable);
    drop(durable);
    let (durable, recovery) = Durable::open(folder.path(), never()).expect("it opens");
    assert_eq!((recovery.snapshot_entries, recovery.records), (last.len() as u64, 2));
    assert_eq!(entries(&durable), expected);
}

/// A kill between any two steps of a snapshot loses nothing: the files of before and after coexist.
#[test]
fn a_snapshot_that_was_killed_loses_nothing() {
    let folder = folder();
    let last = history(folder.path()).pop().expect("states").1;
    let durable = open(folder.path());
    durable.snapshot().expect("a snapshot");
    durable.insert(9_999, 1).expect("a put");
    let expected = entries(&durable);
    drop(durable);
    // As if it had been killed before the new snapshot had its name, and before the old log was removed.
    fs::remove_file(folder.path().join("snapshot-0000000000000002.arrow")).expect("there was one");
    fs::write(folder.path().join("snapshot-0000000000000002.arrow.tmp-1-0"), b"half")
        .expect("half a snapshot");
    let again = tempfile::tempdir().expect("a folder");
    assert_eq!(history(again.path()).pop().expect("states").1, last);
    fs::copy(log_of(again.path(), 1), log_of(folder.path(), 1)).expect("the log of before");
    // Its records begin at 1 in both, so only the numbers of the second log show that they belong together.
    let durable = open(folder.path());
    assert_eq!(entries(&durable), expected);
    // Killed before the new log had its first bytes.
    drop(durable);
    fs::write(folder.path().join("log-0000000000000003.redo"), b"latch").expect("a torn log");
    assert_eq!(entries(&open(folder.path())), expected);
}

#[test]
fn what_cannot_be_trusted_is_refused_by_name() {
    let folder = folder();
    history(folder.path());
    let durable = open(folder.path());
    let locked = Durable::open(folder.path(), never()).expect_err("it is open");
    assert!(matches!(&locked, Error::Locked { .. }), "{locked}");
    durable.snapshot().expect("a snapshot");
    durable.insert(1, 1).expect("a put");
    drop(durable);
    let other = DurableIndex::<u64, f64>::open(folder.path(), never()).expect_err("other values");
    assert!(matches!(&other, Error::Snapshot { .. }), "{other}");
    let log = folder.path().join("log-0000000000000002.redo");
    fs::rename(&log, folder.path().join("log-0000000000000003.redo")).expect("another name");
    let missing = Durable::open(folder.path(), never()).expect_err("a log is missing");
    assert!(matches!(&missing, Error::Missing { path } if *path == log), "{missing}");
    fs::copy(folder.path().join("log-0000000000000003.redo"), &log).expect("a log twice");
    let renamed = Durable::open(folder.path(), never()).expect_err("a log under another number");
    assert!(matches!(&renamed, Error::Damaged { at: 16, .. }), "{renamed}");
}

#[test]
fn a_log_of_other_types_is_refused() {
    let folder = folder();
    history(folder.path());
    let other = DurableIndex::<i64, u64>::open(folder.path(), never()).expect_err("other keys");
    assert!(matches!(&other, Error::OtherType { part: "key", found, .. } if found == "uint64"), "{other}");
}

/// The log that another one follows was on the disk, whole, before that one began.
#[test]
fn damage_before_the_last_log_is_an_error() {
    let folder = folder();
    let bytes = history(folder.path()).last().expect("states").0;
    let first = fs::read(log_of(folder.path(), 1)).expect("the log");
    let durable = open(folder.path());
    durable.snapshot().expect("a snapshot");
    drop(durable);
    fs::remove_file(folder.path().join("snapshot-0000000000000002.arrow")).expect("there was one");
    for cut in [1, first.len() - bytes as usize + 30] {
        fs::write(log_of(folder.path(), 1), &first[..first.len() - cut]).expect("a cut log");
        let damaged = Durable::open(folder.path(), never()).expect_err("records are missing");
        assert!(
            matches!(&damaged, Error::Damaged { path, .. } if *path == log_of(folder.path(), 1)),
            "{damaged}"
        );
    }
    fs::write(log_of(folder.path(), 1), &first).expect("the log of before");
    assert!(Durable::open(folder.path(), never()).is_ok());
}

/// A rotation that was killed leaves a log without a byte, and perhaps half a record before it.
#[test]
fn a_log_that_was_only_begun_hides_nothing() {
    let folder = folder();
    let states = history(folder.path());
    let whole = fs::read(log_of(folder.path(), 1)).expect("the log");
    let next = folder.path().join("log-0000000000000002.redo");
    for cut in [0, 1, 30] {
        fs::write(&next, b"").expect("the next log, just made");
        fs::write(log_of(folder.path(), 1), &whole[..whole.len() - cut]).expect("a cut log");
        let (durable, recovery) = Durable::open(folder.path(), never()).expect("it opens");
        let expected =
            states.iter().rev().find(|(bytes, _)| *bytes <= (whole.len() - cut) as u64).expect("a state");
        assert_eq!(entries(&durable), expected.1);
        assert_eq!(recovery.stopped.is_some(), cut > 0);
        durable.insert(5_000, 1).expect("a put");
        let expected = entries(&durable);
        drop(durable);
        assert_eq!(entries(&open(folder.path())), expected, "cut by {cut}");
        fs::remove_file(&next).expect("it was there");
    }
}

/// Inserts that the index refuses for lack of memory aren't recovered by a recovery that has more of it.
#[test]
fn what_was_refused_is_not_back() {
    let folder = folder();
    let tight = latchless::index::Options { limit_bytes: Some(1 << 20), ..never().index };
    let (durable, _) = Durable::open(folder.path(), Options { index: tight, ..never() }).expect("it opens");
    let mut refused = 0;
    for batch in 0..400u64 {
        let keys: Vec<u64> =
            (0..500).map(|at| (batch * 500 + at).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        match durable.insert_columns(&keys, &keys) {
            Ok(_) => {}
            Err(Error::Index { refused: positions, .. }) => {
                refused += positions.len();
                assert!(positions.iter().all(|&at| durable.get(keys[at]).is_none()));
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(refused > 1_000, "the limit is too wide for this test: {refused}");
    assert!(durable.insert(1, 1).is_ok() || durable.get(1).is_none());
    let expected = entries(&durable);
    drop(durable);
    assert_eq!(entries(&open(folder.path())), expected);
}

#[test]
fn refused_entries_of_a_later_record_have_their_positions_in_the_whole_batch() {
    let folder = folder();
    let tight = latchless::index::Options { limit_bytes: Some(40 << 20), ..never().index };
    let (durable, _) = Durable::open(folder.path(), Options { index: tight, ..never() }).expect("it opens");
    let keys: Vec<u64> = (0..3 << 20).collect();
    let Error::Index { refused, .. } = durable.insert_columns(&keys, &keys).unwrap_err() else {
        panic!("another error")
    };
    assert!(refused.iter().all(|&at| durable.get(keys[at]).is_none()));
    assert!(refused.len() < 2 << 20 && refused.len() + durable.len() >= keys.len() - 1);
}

#[test]
fn columns_of_unequal_length_and_wrong_ranges_are_refused_and_not_logged() {
    let folder = folder();
    let durable = open(folder.path());
    let bytes = durable.log_bytes();
    let unequal = durable.insert_columns(&[1, 2], &[1]).expect_err("unequal columns");
    assert!(matches!(&unequal, Error::Index { .. }), "{unequal}");
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    let reversed = durable.remove_range(9..3).expect_err("a reversed range");
    assert!(matches!(&reversed, Error::Index { .. }), "{reversed}");
    assert_eq!((durable.log_bytes(), durable.len()), (bytes, 0));
    assert_eq!(durable.insert_columns(&[], &[]).expect("nothing"), 0);
}

/// A change of one of a few keys, of several or of a range.
fn any_change(durable: &Durable, thread: u64, at: u64) {
    let value = at << 8 | thread;
    let done = match (at + thread) % 5 {
        0 => durable.insert(at % 7, value).map(|_| ()),
        1 => durable.remove(at % 7).map(|_| ()),
        2 => durable.insert_columns(&[1, 3, 5], &[value; 3]).map(|_| ()),
        3 => durable.remove_range(2..4).map(|_| ()),
        _ => durable.remove_many(&[0, 6]).map(|_| ()),
    };
    done.expect("a change");
}

/// Many writers of the same few keys: a recovery gives the same entries, so the log's order is the index's.
#[test]
fn a_key_s_changes_are_back_in_their_order() {
    for round in 0..20 {
        let folder = folder();
        let durable = open(folder.path());
        std::thread::scope(|threads| {
            for thread in 0..4u64 {
                let durable = &durable;
                threads.spawn(move || (0..200).for_each(|at| any_change(durable, thread, at)));
            }
        });
        let expected = entries(&durable);
        drop(durable);
        assert_eq!(entries(&open(folder.path())), expected, "round {round}");
    }
}

/// A snapshot has every change whose record is in a log that it replaces.
#[test]
fn snapshots_among_writers_lose_no_change() {
    let folder = folder();
    let durable = open(folder.path());
    for round in 0..60u64 {
        // Each key is changed once, so no later record makes up for one that was lost.
        let keys = |thread: u64| (0..40).map(move |at| (round * 4 + thread) * 40 + at);
        std::thread::scope(|threads| {
            for thread in 0..4u64 {
                let durable = &durable;
                threads.spawn(move || {
                    keys(thread).for_each(|key| assert_eq!(durable.insert(key, key).expect("a put"), None));
                });
            }
            durable.snapshot().expect("a snapshot among writers");
        });
        let (logged, all) = (durable.log_bytes(), durable.len());
        assert!(all == (round as usize + 1) * 160 && logged >= 64);
        // The files that a kill would leave at this moment.
        let copy = tempfile::tempdir().expect("a folder");
        for file in fs::read_dir(folder.path()).expect("the folder") {
            let file = file.expect("a file");
            fs::copy(file.path(), copy.path().join(file.file_name())).expect("a copy");
        }
        assert_eq!(entries(&open(copy.path())), entries(&durable), "round {round}");
    }
}

/// Batches that wait for the disk share their waits, and all are there.
#[test]
fn synced_batches_of_many_threads_are_back() {
    let folder = folder();
    let (durable, _) = Durable::open(folder.path(), Options::default()).expect("it opens");
    std::thread::scope(|threads| {
        for thread in 0..4u64 {
            let durable = &durable;
            threads.spawn(move || {
                (0..25)
                    .for_each(|at| assert_eq!(durable.insert(thread * 1_000 + at, at).expect("a put"), None));
            });
        }
    });
    durable.close().expect("a synced log");
    let expected: BTreeMap<u64, u64> =
        (0..4).flat_map(|thread| (0..25).map(move |at| (thread * 1_000 + at, at))).collect();
    assert!(open(folder.path()).index().iter().eq(expected));
}

#[test]
fn a_thread_syncs_every_so_often_and_ends_with_the_index() {
    let folder = folder();
    let options = Options { sync: SyncMode::Every(Duration::from_millis(1)), ..never() };
    let (durable, _) = Durable::open(folder.path(), options).expect("it opens");
    durable.insert(1, 1).expect("a put");
    std::thread::sleep(Duration::from_millis(20));
    durable.insert(2, 2).expect("a put");
    drop(durable);
    assert_eq!(open(folder.path()).len(), 2);
}

#[test]
fn keys_and_values_of_every_width_are_back() {
    fn round<K: latchless::snapshot::Native, V: latchless::snapshot::Native + PartialEq>(entries: &[(K, V)]) {
        let folder = folder();
        let (durable, _) = DurableIndex::<K, V>::open(folder.path(), never()).expect("it opens");
        durable.insert_many(entries).expect("a batch");
        drop(durable);
        let (durable, _) = DurableIndex::<K, V>::open(folder.path(), never()).expect("it opens");
        assert!(entries.iter().all(|&(key, value)| durable.get(key) == Some(value)));
        assert_eq!(durable.len(), entries.len());
    }
    round(&[(-5i32, 1u8), (7, 255), (i32::MIN, 0)]);
    round(&[(-0.5f64, i16::MIN), (f64::INFINITY, -1), (1e300, 7)]);
    round(&[(u16::MAX, f32::MAX), (0, -0.0)]);
}
