//! A durable index of strings recovers its entries: after a close, after every truncation and flip of its
//! log, after snapshots, under many writers. Untrustworthy logs are refused.

mod common;
#[path = "common/forged.rs"]
mod forged;

use common::{
    every_cut_gives_the_records_before, every_flipped_bit_is_found, folder, folder_with, log_of, never,
};
use forged::{record, set_aside};
use latchless::{Index, IndexKey};
use latchless::{Key, index};
use latchless_log::{DurableBytesIndex, DurableIndex, Error, Found, Opening, Options, SyncMode};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

type Durable = DurableBytesIndex<String, u32>;
type Entries = Vec<(String, u32)>;

fn open(folder: &Path) -> Durable {
    Durable::open(folder, never()).expect("a folder that can be opened").0
}

fn entries(durable: &Durable) -> Entries {
    durable.index().iter().collect()
}

/// Entries as an index takes them.
fn lent<K: IndexKey, V: Clone>(entries: &[(K, V)]) -> Vec<(K::Probe<'_>, V)> {
    entries.iter().map(|(key, value)| (key.probe(), value.clone())).collect()
}

/// A log of every kind of record, and the entries after each of them.
fn history(folder: &Path) -> Vec<(u64, Entries)> {
    let durable = open(folder);
    let mut states = vec![(durable.log_bytes(), entries(&durable))];
    let mut note = |durable: &Durable| states.push((durable.log_bytes(), entries(durable)));
    assert_eq!(durable.insert("", 7).expect("a put"), None);
    note(&durable);
    for round in 0..3 {
        let batch: Vec<(String, u32)> =
            (0..5).map(|at| ("ké".repeat(at * 3) + &at.to_string(), round)).collect();
        assert_eq!(durable.insert_many(&lent(&batch)).expect("a batch"), if round == 0 { 5 } else { 0 });
        note(&durable);
    }
    assert_eq!(durable.insert_many(&[("b", 1), ("c", 2), ("b", 3)]).expect("a key twice"), 2);
    note(&durable);
    assert_eq!(durable.remove("c").expect("a removal"), Some(2));
    note(&durable);
    assert_eq!(durable.remove_many(&["0", "", "none"]).expect("removals"), 2);
    note(&durable);
    let kept = durable.insert_many(&[("x1", 1), ("x2", 2), ("x3", 3)]).expect("a batch");
    note(&durable);
    assert_eq!((kept, durable.remove_range("x1".."x3").expect("a removed range")), (3, 2));
    note(&durable);
    states
}

#[test]
fn everything_is_back_after_a_close() {
    let folder = folder();
    let states = history(folder.path());
    let (durable, recovery) = Durable::open(folder.path(), never()).expect("it opens");
    assert_eq!(entries(&durable), states.last().expect("states").1);
    assert_eq!((recovery.records, recovery.stopped, recovery.snapshot_entries), (9, None, 0));
    assert_eq!(durable.get("b"), Some(3));
    durable.index().check_invariants().expect("a whole tree");
}

/// Opens a folder with the first snapshot of another one and these bytes as its log.
fn opened(source: &Path, log: &[u8]) -> (TempDir, Result<(Durable, latchless_log::Recovery), Error>) {
    let folder = folder_with(source, log);
    let opened = Durable::open(folder.path(), set_aside());
    (folder, opened)
}

#[test]
fn a_log_cut_anywhere_gives_the_records_before() {
    every_cut_gives_the_records_before::<Index<String, u32>, _>(history, |durable| {
        durable.index().check_invariants().expect("a whole tree");
        durable.insert("zz", 1).expect("a put");
    });
}

#[test]
fn a_flipped_bit_is_found() {
    every_flipped_bit_is_found::<Index<String, u32>, _>(history);
}

#[test]
fn records_that_no_index_writes_are_told() {
    let source = folder();
    drop(open(source.path()));
    let head = fs::read(log_of(source.path(), 1)).expect("the log");
    let end = head.len() as u64;
    let longer = "its strings are longer than the record";
    let no_range = "no range of strings is written so";
    let no_key = "one of a record's keys is none";
    for (kind, payload, what) in [
        (4, &b"\x02\0ab\x01\0\0"[..], longer),
        (4, b"\x09\0ab\x01\0\0\0", longer),
        (4, b"\x01", longer),
        (5, b"\x02\0a", longer),
        (4, b"\x01\0\xff\x01\0\0\0", no_key),
        (5, b"\x01\0\xff", no_key),
        (6, b"\x01", no_range),
        (6, b"\x01\x01\x01\0a", no_range),
        (6, b"\x01\x03\x01\0a\x01\0b", no_range),
        (6, b"\x01\x01\x01\0a\x01\0b\0\0", no_range),
        (6, b"\x01\x02\x01\0\xff\x01\0b", no_key),
        (7, b"\x01\0a\x01\0\0\0", "it is a record of rows among those of values"),
        (9, b"", "it is a commit among changes"),
        (10, b"", "no kind of record has this number"),
    ] {
        let log = [&head, &record(1, kind, payload.len() as u32, payload)[..]].concat();
        let (_folder, opened) = opened(source.path(), &log);
        let stopped = opened.expect("it opens").1.stopped.expect("the record is none");
        assert_eq!((stopped.what, stopped.at), (what, end), "{payload:?}");
    }
    let numbers = record(1, 2, 9, &[]);
    let (_folder, opened) = opened(source.path(), &[&head, &numbers[..]].concat());
    let stopped = opened.expect("it opens").1.stopped.expect("the record is none");
    assert_eq!(stopped.what, "it is a record of numbers among those of strings");

    // And the other way round.
    let folder = folder();
    drop(DurableIndex::<u64, u32>::open(folder.path(), never()).expect("it opens"));
    let log = log_of(folder.path(), 1);
    let strings = [fs::read(&log).expect("the log"), record(1, 5, 3, b"\x01\0a")].concat();
    fs::write(&log, strings).expect("a log");
    let (_, recovery) = DurableIndex::<u64, u32>::open(folder.path(), set_aside()).expect("it opens");
    let stopped = recovery.stopped.expect("the record is none");
    assert_eq!(stopped.what, "it is a record of strings among those of numbers");
}

#[test]
fn snapshots_shorten_the_log_and_keep_what_keys_are() {
    let folder = folder();
    let durable = open(folder.path());
    let keys: Vec<(String, u32)> =
        (0..2_000).map(|at| (format!("{}{at}", "k".repeat(at % 400)), at as u32)).collect();
    assert_eq!(durable.insert_many(&lent(&keys)).expect("a batch"), keys.len());
    let before = durable.log_bytes();
    assert_eq!(durable.snapshot().expect("a snapshot"), 2_000);
    assert!(durable.log_bytes() < 100 && before > 400_000);
    durable.remove("0").expect("a removal");
    let all = entries(&durable);
    durable.close().expect("all is on the disk");
    assert!(matches!(durable.insert("a", 1), Err(Error::Ended { .. })));
    let (durable, recovery) = Durable::open(folder.path(), never()).expect("it opens");
    assert_eq!((recovery.snapshot_entries, recovery.records), (2_000, 1));
    assert!(entries(&durable) == all);
    drop(durable);
    let said = |error: Error| error.to_string();
    assert!(said(DurableBytesIndex::<Vec<u8>, u32>::open(folder.path(), never()).unwrap_err()).ends_with(
        "the file has keys of type text, but the index that was asked for has keys of type bytes"
    ));
    assert!(
        said(DurableBytesIndex::<String, u64>::open(folder.path(), never()).unwrap_err())
            .ends_with("the column value holds uint32, but the index that was asked for has uint64")
    );
    assert!(
        said(DurableIndex::<u64, u32>::open(folder.path(), never()).unwrap_err())
            .ends_with("the column key holds string: DurableBytesIndex opens such a file")
    );
    assert_eq!(open(folder.path()).len(), 1_999, "all that left it as it was");
}

#[test]
fn folders_of_numbers_are_refused() {
    let folder = folder();
    let (numbers, _) = DurableIndex::<u64, u32>::open(folder.path(), never()).expect("it opens");
    numbers.insert(1, 2).expect("a put");
    let refused = || Durable::open(folder.path(), never()).unwrap_err().to_string();
    numbers.snapshot().expect("a snapshot");
    drop(numbers);
    assert!(
        refused().ends_with("the column key holds uint64: DurableIndex opens such a file"),
        "{}",
        refused()
    );
    fs::remove_file(folder.path().join("snapshot-0000000000000002.arrow")).expect("it was there");
    fs::rename(log_of(folder.path(), 2), log_of(folder.path(), 1)).expect("it was there");
    assert!(
        refused().contains("has the key type uint64, but the index that was asked for has string"),
        "{}",
        refused()
    );
}

#[test]
fn a_folder_begins_with_entries_and_knows_its_tuples() {
    let folder = folder();
    let first: Index<(u64, String), i8> = [((7, "a".into()), -1), ((7, "b".into()), -2)].into();
    let opening = Opening { sync: SyncMode::Never, ..Opening::default() };
    let found = Found::open(folder.path()).expect("it opens");
    let (durable, _) = found.recover(first, (), opening).expect("a new one");
    durable.insert((6, "c"), -3).expect("a put");
    drop(durable);
    let refused = DurableBytesIndex::<(i64, String), i8>::open(folder.path(), never()).unwrap_err();
    assert!(refused.to_string().contains("keys of type (u64, text)"), "{refused}");
    let (durable, recovery) =
        DurableBytesIndex::<(u64, String), i8>::open(folder.path(), never()).expect("it opens");
    assert_eq!((recovery.snapshot_entries, recovery.records), (2, 1));
    assert_eq!(durable.index().first(), Some(((6, "c".into()), -3)));
    drop(durable);

    // One that begins without any entry, too.
    let empty = self::folder();
    drop(DurableBytesIndex::<(u64, String), i8>::open(empty.path(), never()).expect("it opens"));
    let refused = DurableBytesIndex::<(i64, String), i8>::open(empty.path(), never()).unwrap_err();
    assert!(refused.to_string().contains("keys of type (u64, text)"), "{refused}");

    let more: Index<(u64, String), i8> = [((7, "a".into()), -1)].into();
    let refused = Found::open(folder.path()).expect("it opens").recover(more, (), opening).unwrap_err();
    assert!(matches!(refused, Error::Index { cause: latchless::Error::NotEmpty { len: 1 }, .. }));
}

#[test]
fn what_the_index_refuses_is_not_back() {
    let folder = folder();
    let durable = open(folder.path());
    durable.insert("a", 1).expect("a put");
    let logged = durable.log_bytes();
    let long = "x".repeat(1 << 24);
    let too_long = |refused: Error, at: &[usize]| {
        let Error::Index { cause: latchless::Error::KeyTooLong { len: 0x100_0000, .. }, refused } = refused
        else {
            panic!("{refused}")
        };
        assert_eq!(refused, at);
    };
    too_long(durable.insert(&long, 1).unwrap_err(), &[]);
    too_long(durable.compute(&long, |_| Some(1)).unwrap_err(), &[]);
    too_long(durable.insert_many(&[("b", 1), (&long, 2)]).unwrap_err(), &[0, 1]);
    too_long(durable.remove_range(..&long[..]).unwrap_err(), &[]);
    assert_eq!(durable.remove(&long).expect("it isn't there"), None);
    assert_eq!(durable.remove_many(&[&long[..], "b"]).expect("they aren't there"), 0);
    let inverted = durable.remove_range("b".."a").unwrap_err();
    assert!(matches!(inverted, Error::Index { cause: latchless::Error::InvertedRange, .. }));
    assert!(durable.log_bytes() - logged < 40, "one record, of the removal of b");
    drop(durable);

    // Memory for a few nodes: the log takes back the entries without room.
    let limited = index::Options { limit_bytes: Some(1 << 20), ..index::Options::default() };
    let options = Options { index: limited, ..never() };
    let (durable, _) = Durable::open(folder.path(), options).expect("it opens");
    let batch: Vec<(String, u32)> = (0..40_000).map(|at| (format!("{:}{at}", "k".repeat(90)), at)).collect();
    let Error::Index { refused, .. } = durable.insert_many(&lent(&batch)).unwrap_err() else {
        panic!("another error")
    };
    assert!(!refused.is_empty() && refused.len() < batch.len());
    let single = batch.iter().find(|(key, _)| durable.get(key).is_none()).expect("one was refused");
    let _ = durable.insert(&single.0, 5);
    let there = entries(&durable);
    assert_eq!(there.len(), 1 + batch.len() - refused.len() + usize::from(durable.get(&single.0).is_some()));
    drop(durable);
    assert!(entries(&open(folder.path())) == there);
}

/// Four threads change the same nine keys, `steps` times each.
fn change_at_once(durable: &Durable, steps: u64) {
    let write = |thread: u64| {
        for step in 0..steps {
            let key = |at: u64| format!("{}", (step * 7 + thread + at).wrapping_mul(0x9E37_79B9) % 9);
            let value = (thread * 1_000 + step) as u32;
            match (step + thread) % 5 {
                0 => drop(durable.remove(&key(0)).expect("a removal")),
                1 => drop(durable.compute(&key(3), |at| at.map(|at| at + 1)).expect("a change")),
                2 => drop(durable.remove_many(&[&key(4), &key(5)]).expect("removals")),
                3 => drop(durable.insert(&key(6), value).expect("a put")),
                _ => {
                    let batch: Vec<(String, u32)> = (0..6).map(|at| (key(at), value)).collect();
                    durable.insert_many(&lent(&batch)).expect("a batch");
                }
            }
        }
    };
    std::thread::scope(|threads| (0..4).for_each(|thread| drop(threads.spawn(move || write(thread)))));
}

#[test]
fn many_writers_leave_what_the_index_has() {
    let folder = folder();
    // Short bursts: later changes of a key hide in which order earlier ones were logged.
    for burst in 0..150 {
        let durable = open(folder.path());
        std::thread::scope(|threads| {
            threads.spawn(|| change_at_once(&durable, 5 + burst % 20));
            threads.spawn(|| durable.snapshot().expect("a snapshot among writers"));
        });
        let all: BTreeMap<String, u32> = durable.index().iter().collect();
        drop(durable);
        assert_eq!(open(folder.path()).index().iter().collect::<BTreeMap<_, _>>(), all, "burst {burst}");
    }
}

#[test]
fn a_batch_of_several_records() {
    let folder = folder();
    let (durable, _) = DurableBytesIndex::<Vec<u8>, u64>::open(folder.path(), never()).expect("it opens");
    // 80 MB of keys are two records.
    let key = |at: u64| [&at.encode().to_be_bytes()[..], &[7; 39_992]].concat();
    let batch: Vec<(Vec<u8>, u64)> = (0..2_000).map(|at| (key(at), at)).collect();
    assert_eq!(durable.insert_many(&lent(&batch)).expect("a batch"), 2_000);
    let keys: Vec<&[u8]> = batch.iter().skip(1).map(|(key, _)| &key[..]).collect();
    assert_eq!(durable.remove_many(&keys).expect("removals"), 1_999);
    drop(durable);
    let (durable, recovery) =
        DurableBytesIndex::<Vec<u8>, u64>::open(folder.path(), never()).expect("it opens");
    assert_eq!((recovery.records, recovery.entries), (4, 3_999));
    assert_eq!(durable.index().iter().collect::<Vec<_>>(), batch[..1]);
}
