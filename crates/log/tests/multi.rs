//! A durable index of keys in many rows recovers its pairs: after a close, after every truncation and flip
//! of its log, after snapshots, under many writers. Untrustworthy logs are refused.

mod common;
#[path = "common/forged.rs"]
mod forged;

use common::{
    every_cut_gives_the_records_before, every_flipped_bit_is_found, folder, folder_with, log_of, never,
};
use forged::{record, set_aside};
use latchless::bytes::MultiIndex;
use latchless::index;
use latchless_log::{
    DurableBytesIndex, DurableIndex, DurableMultiIndex, Error, Found, Opening, Options, Recovery, SyncMode,
};
use std::fs;
use std::path::Path;

type Durable = DurableMultiIndex<String>;
type Pairs = Vec<(String, u64)>;

fn open(folder: &Path) -> Durable {
    Durable::open(folder, never()).expect("a folder that can be opened").0
}

fn pairs(durable: &Durable) -> Pairs {
    durable.index().iter().collect()
}

/// A log of every kind of record, and the pairs after each of them.
fn history(folder: &Path) -> Vec<(u64, Pairs)> {
    let durable = open(folder);
    let mut states = vec![(durable.log_bytes(), pairs(&durable))];
    let mut note = |durable: &Durable| states.push((durable.log_bytes(), pairs(durable)));
    assert!(durable.insert("", 7).expect("a put"));
    note(&durable);
    assert!(!durable.insert("", 7).expect("the same again"));
    note(&durable);
    let batch = [("Ulm", 1), ("Ulm", u64::MAX), ("a\0b", 1), ("Ulm", 1), ("", 0)];
    assert_eq!(durable.insert_many(&batch).expect("a batch"), 4);
    note(&durable);
    assert!(durable.remove("Ulm", 1).expect("a removal"));
    note(&durable);
    assert!(!durable.remove("Ulm", 2).expect("it isn't there"));
    note(&durable);
    assert_eq!(durable.remove_all("").expect("removals"), 2);
    note(&durable);
    assert_eq!(durable.insert_many(&[("x", 2), ("x", 1), ("y", 3)]).expect("a batch"), 3);
    note(&durable);
    assert_eq!(durable.remove_many(&[("x", 2), ("none", 1), ("y", 3)]).expect("removals"), 2);
    note(&durable);
    assert_eq!(durable.pop_last().expect("the last"), Some(("x".into(), 1)));
    note(&durable);
    assert_eq!(durable.pop_first().expect("the first"), Some(("Ulm".into(), u64::MAX)));
    note(&durable);
    assert_eq!(pairs(&durable), [("a\0b".into(), 1)]);
    states
}

/// Opens a folder with the first snapshot of another one and these bytes as its log.
fn opened(source: &Path, log: &[u8]) -> Result<(Durable, Recovery), Error> {
    Durable::open(folder_with(source, log).path(), set_aside())
}

#[test]
fn a_log_cut_anywhere_gives_the_records_before() {
    every_cut_gives_the_records_before::<MultiIndex<String>, _>(history, |durable| {
        durable.index().check_invariants().expect("a whole tree");
        durable.insert("zz", 1).expect("a put");
    });
}

#[test]
fn a_flipped_bit_is_found() {
    every_flipped_bit_is_found::<MultiIndex<String>, _>(history);
}

#[test]
fn records_that_no_index_writes_are_told() {
    let source = folder();
    drop(open(source.path()));
    let head = fs::read(log_of(source.path(), 1)).expect("the log");
    let longer = "its strings are longer than the record";
    let no_key = "one of a record's keys is none";
    let no_kind = "no record of rows is of this kind";
    for (kind, payload, what) in [
        (4, &b"\x01\0a\x01\0\0\0\0\0\0"[..], longer),
        (7, b"\x01\0a", longer),
        (5, b"\x02\0a", longer),
        (4, b"\x01\0\xff\x01\0\0\0\0\0\0\0", no_key),
        (7, b"\x01\0\xff\x01\0\0\0\0\0\0\0", no_key),
        (5, b"\x01\0\xff", no_key),
        (6, b"\x00\x00\0\0\0\0", no_kind),
        (1, b"", no_kind),
    ] {
        let log = [&head, &record(1, kind, payload.len() as u32, payload)[..]].concat();
        let (durable, recovery) = opened(source.path(), &log).expect("it opens");
        let stopped = recovery.stopped.expect("the record is none");
        assert_eq!((stopped.what, stopped.at), (what, head.len() as u64), "{payload:?}");
        assert!(durable.is_empty());
    }
}

#[test]
fn snapshots_shorten_the_log_and_keep_what_keys_are() {
    let folder = folder();
    let durable = open(folder.path());
    let batch: Pairs = (0..2_000).map(|row| (format!("{}", row % 7), row)).collect();
    assert_eq!(durable.insert_many(&batch).expect("a batch"), 2_000);
    let before = durable.log_bytes();
    assert_eq!(durable.snapshot().expect("a snapshot"), 2_000);
    assert!(durable.log_bytes() < 100 && before > 20_000);
    durable.remove_all("3").expect("removals");
    let all = pairs(&durable);
    durable.close().expect("all is on the disk");
    assert!(matches!(durable.insert("a", 1), Err(Error::Ended { .. })));
    let (durable, recovery) = Durable::open(folder.path(), never()).expect("it opens");
    assert_eq!((recovery.snapshot_entries, recovery.records, recovery.entries), (2_000, 1, 286));
    assert_eq!(pairs(&durable), all);
    drop(durable);
    let said = |error: Error| error.to_string();
    let bytes = DurableMultiIndex::<Vec<u8>>::open(folder.path(), never()).unwrap_err();
    assert!(said(bytes).ends_with(
        "the file has keys of type text, but the index that was asked for has keys of type bytes"
    ));
    let values = DurableBytesIndex::<String, u64>::open(folder.path(), never()).unwrap_err();
    assert!(said(values).ends_with("another kind of index: DurableMultiIndex opens such a file"));
    let numbers = DurableIndex::<u64, u64>::open(folder.path(), never()).unwrap_err();
    assert!(said(numbers).ends_with("the column key holds string: DurableMultiIndex opens such a file"));
    assert_eq!(pairs(&open(folder.path())), all, "all that left it as it was");

    for (opener, other) in [("DurableBytesIndex", self::folder()), ("DurableIndex", self::folder())] {
        if opener == "DurableIndex" {
            let (numbers, _) = DurableIndex::<u64, u64>::open(other.path(), never()).expect("it opens");
            numbers.snapshot().expect("a snapshot");
        } else {
            drop(DurableBytesIndex::<String, u64>::open(other.path(), never()).expect("it opens"));
        }
        let refused = said(Durable::open(other.path(), never()).unwrap_err());
        assert!(
            refused.ends_with(&format!("another kind of index: {opener} opens such a file")),
            "{refused}"
        );
    }
}

#[test]
fn a_folder_begins_with_pairs() {
    let folder = folder();
    let first = MultiIndex::<(u64, String)>::new().expect("memory");
    first.insert(&(7u64, "a"), 1).expect("memory");
    let opening = Opening { sync: SyncMode::Never, ..Opening::default() };
    let found = Found::open(folder.path()).expect("it opens");
    let (durable, _) = found.recover(first, (), opening).expect("a new one");
    durable.insert(&(7u64, "a"), 0).expect("a put");
    drop(durable);
    let (durable, recovery) =
        DurableMultiIndex::<(u64, String)>::open(folder.path(), never()).expect("it opens");
    assert_eq!((recovery.snapshot_entries, recovery.records), (1, 1));
    assert!(durable.index().rows(&(7u64, "a")).eq([0, 1]));
    drop(durable);
    let more = MultiIndex::<(u64, String)>::new().expect("memory");
    more.insert(&(7u64, "a"), 1).expect("memory");
    let refused = Found::open(folder.path()).expect("it opens").recover(more, (), opening).unwrap_err();
    assert!(matches!(refused, Error::Index { cause: latchless::Error::NotEmpty { len: 1 }, .. }));
}

#[test]
fn what_the_index_refuses_is_not_back() {
    let folder = folder();
    let durable = open(folder.path());
    let logged = durable.log_bytes();
    // With its row it is too long.
    let long = "x".repeat((1 << 24) - 6);
    let too_long = |refused: Error, at: &[usize]| {
        let Error::Index { cause: latchless::Error::KeyTooLong { .. }, refused } = refused else {
            panic!("{refused}")
        };
        assert_eq!(refused, at);
    };
    too_long(durable.insert(&long, 1).unwrap_err(), &[]);
    too_long(durable.insert_many(&[("b", 1), (&long, 2)]).unwrap_err(), &[0, 1]);
    assert!(!durable.remove(&long, 1).expect("it isn't there"));
    assert_eq!(durable.remove_many(&[(&long, 1)]).expect("it isn't there"), 0);
    assert_eq!(durable.remove_all(&long).expect("it isn't there"), 0);
    assert_eq!((durable.log_bytes(), durable.len()), (logged, 0));
    drop(durable);

    // Memory for a few nodes: the log takes back the entries without room.
    let limited = index::Options { limit_bytes: Some(1 << 20), ..index::Options::default() };
    let options = Options { index: limited, ..never() };
    let (durable, _) = Durable::open(folder.path(), options).expect("it opens");
    let batch: Pairs = (0..40_000).map(|row| (format!("{}{row}", "k".repeat(90)), row)).collect();
    let Error::Index { refused, .. } = durable.insert_many(&batch).unwrap_err() else {
        panic!("it has room for all")
    };
    assert!(!refused.is_empty() && refused.len() < batch.len());
    let single = (40_000..).find(|&row| durable.insert(&"z".repeat(300), row * row).is_err());
    assert!(single.is_some());
    let all = pairs(&durable);
    assert!(all.len() >= batch.len() - refused.len());
    drop(durable);
    assert!(pairs(&open(folder.path())) == all);
}

#[test]
fn many_writers_leave_what_the_index_has() {
    let folder = folder();
    for burst in 0..20 {
        let durable = open(folder.path());
        std::thread::scope(|threads| {
            for thread in 0..3 {
                let durable = &durable;
                threads.spawn(move || {
                    for step in 0..60 {
                        let (key, row) = ((step % 4).to_string(), step % 3);
                        match (step + thread) % 5 {
                            0 => assert!(durable.remove_all(&key).is_ok()),
                            1 => assert!(durable.remove(&key, row).is_ok()),
                            2 => assert!(durable.insert_many(&[(&key, row), (&key, row + 1)]).is_ok()),
                            _ => assert!(durable.insert(&key, row).is_ok()),
                        }
                    }
                });
            }
            threads.spawn(|| burst % 5 == 0 && durable.snapshot().expect("a snapshot") > 0);
        });
        let all = pairs(&durable);
        drop(durable);
        assert_eq!(pairs(&open(folder.path())), all, "burst {burst}");
    }
}

#[test]
fn a_batch_of_several_records() {
    let folder = folder();
    let durable = DurableMultiIndex::<Vec<u8>>::open(folder.path(), never()).expect("it opens").0;
    // 80 MB of keys are two records.
    let batch: Vec<(Vec<u8>, u64)> = (0..2_000).map(|row| (vec![7; 40_000], row)).collect();
    assert_eq!(durable.insert_many(&batch).expect("a batch"), 2_000);
    drop(durable);
    let (durable, recovery) = DurableMultiIndex::<Vec<u8>>::open(folder.path(), never()).expect("it opens");
    assert_eq!((recovery.records, recovery.entries), (2, 2_000));
    assert!(durable.index().rows(&batch[0].0).eq(0..2_000));
}
