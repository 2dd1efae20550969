//! Folders that report their types, begin with entries, and hold columns that are known only at run time.

use latchless::Index;
use latchless::snapshot::{DataType, TimeUnit};
use latchless_log::{
    Columns, DamagedTail, DurableIndex, Error, Found, Opening, Options, Plain, SnapshotPolicy, SyncMode,
};
use std::fs;

/// Seconds of a day as times, of which the last second is invalid; values of 16 bits as numbers of 32.
#[derive(Debug, Clone, Copy)]
struct Times;

const SECONDS: u32 = 86_400;
const NEVER: Opening = Opening {
    sync: SyncMode::Never,
    fenced: false,
    damaged_tail: DamagedTail::Refuse,
    snapshots: SnapshotPolicy::MANUAL,
};

impl Columns<u32, u32> for Times {
    fn types(&self) -> [DataType; 2] {
        [DataType::Timestamp(TimeUnit::Second), DataType::Int16]
    }

    fn metadata(&self) -> Vec<(String, String)> {
        vec![("zone".to_owned(), "UTC".to_owned())]
    }

    fn key_to_cell(&self, key: u32) -> u64 {
        key.into()
    }

    fn value_to_cell(&self, value: u32) -> u64 {
        value.into()
    }

    fn key_of_cell(&self, cell: u64) -> Option<u32> {
        u32::try_from(cell).ok().filter(|&key| key < SECONDS)
    }

    fn value_of_cell(&self, cell: u64) -> u32 {
        cell as u32
    }
}

type Days = DurableIndex<u32, u32, Times>;

fn recover(folder: &std::path::Path) -> Days {
    let found = Found::open(folder).expect("it opens");
    found.recover(Index::new().expect("an index"), Times, NEVER).expect("it is recovered").0
}

#[test]
fn columns_of_ones_own_are_back_from_log_and_snapshot() {
    let folder = tempfile::tempdir().expect("a folder");
    let days = recover(folder.path());
    days.insert_columns(&[3, 1, 2], &[30, 10, 20]).expect("a batch");
    days.remove(2).expect("a removal");
    drop(days);
    let found = Found::open(folder.path()).expect("it opens");
    assert_eq!(found.types(), Some(Times.types()));
    assert_eq!(found.metadata(), Times.metadata());
    drop(found);
    let days = recover(folder.path());
    assert!(days.index().iter().eq([(1, 10), (3, 30)]));
    days.snapshot().expect("a snapshot");
    days.remove_range(2..).expect("a range");
    drop(days);
    assert!(recover(folder.path()).index().iter().eq([(1, 10)]));
    let other = DurableIndex::<u64, u64>::open(folder.path(), Options::default()).expect_err("other types");
    assert!(matches!(&other, Error::Snapshot { .. }), "{other}");
}

/// A record with an invalid key counts as damaged, and so does a snapshot that has one.
#[test]
fn what_is_no_key_is_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    let days = recover(folder.path());
    days.insert(5, 50).expect("a put");
    let whole = days.log_bytes();
    days.insert(SECONDS, 0).expect("what isn't checked here");
    drop(days);
    let recovered = |opening| {
        let found = Found::open(folder.path()).expect("it opens");
        found.recover(Index::<u32, u32>::new().expect("an index"), Times, opening)
    };
    let refused = recovered(NEVER).expect_err("its sums are right, so no kill left it");
    assert!(matches!(&refused, Error::Damaged { at, .. } if *at == whole), "{refused}");
    let set_aside = Opening { damaged_tail: DamagedTail::SetAside, ..NEVER };
    let (days, recovery) = recovered(set_aside).expect("what comes before it");
    assert!(days.index().iter().eq([(5, 50)]));
    let stopped = recovery.stopped.expect("the record is told");
    assert_eq!((stopped.at, stopped.what), (whole, "one of a record's keys is none"));
    days.insert(SECONDS, 0).expect("what isn't checked here");
    days.snapshot().expect("a snapshot");
    drop(days);
    let damaged = recovered(NEVER).expect_err("a key is none");
    assert!(damaged.to_string().contains("one of its keys is none"), "{damaged}");
}

#[test]
fn a_new_folder_may_begin_with_entries() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = || (0..1_000u64).map(|key| (key, key * 2)).collect::<Index<u64, u64>>();
    let found = Found::open(folder.path()).expect("it opens");
    assert_eq!((found.types(), found.metadata().len()), (None, 0));
    let (durable, recovery) = found.recover(first(), Plain, NEVER).expect("a new one");
    assert_eq!((recovery.snapshot_entries, recovery.records), (0, 0));
    durable.insert(1_000, 1).expect("a put");
    drop(durable);
    // A kill between the first snapshot and the first log.
    let log = folder.path().join("log-0000000000000001.redo");
    let whole = fs::read(&log).expect("the log");
    fs::remove_file(&log).expect("it was there");
    let (durable, recovery) =
        DurableIndex::<u64, u64>::open(folder.path(), Options::default()).expect("it opens");
    assert_eq!((durable.len(), recovery.snapshot_entries), (1_000, 1_000));
    drop(durable);
    fs::write(&log, whole).expect("the log of before");
    let found = Found::open(folder.path()).expect("it opens");
    let refused = found.recover(first(), Plain, NEVER).expect_err("it has entries");
    assert!(matches!(&refused, Error::Index { .. }), "{refused}");
    let (durable, _) = DurableIndex::<u64, u64>::open(folder.path(), Options::default()).expect("it opens");
    assert_eq!((durable.len(), durable.get(1_000)), (1_001, Some(1)));
}

#[test]
fn types_are_known_from_a_log_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(DurableIndex::<i32, f64>::open(folder.path(), Options::default()).expect("it opens"));
    let found = Found::open(folder.path()).expect("it opens");
    assert_eq!(found.types(), Some([DataType::Int32, DataType::Float64]));
}

/// Keys that are said to be strings.
#[derive(Debug, Clone, Copy)]
struct Strings;

impl Columns<u32, u32> for Strings {
    fn types(&self) -> [DataType; 2] {
        [DataType::Utf8, DataType::UInt32]
    }

    fn key_to_cell(&self, key: u32) -> u64 {
        key.into()
    }

    fn value_to_cell(&self, value: u32) -> u64 {
        value.into()
    }

    fn key_of_cell(&self, cell: u64) -> Option<u32> {
        u32::try_from(cell).ok()
    }

    fn value_of_cell(&self, cell: u64) -> u32 {
        cell as u32
    }
}

#[test]
fn columns_that_are_strings_are_refused_before_there_is_a_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let found = Found::open(folder.path()).expect("it opens");
    let index = Index::<u32, u32>::new().expect("an index");
    let refused = found.recover(index, Strings, NEVER).expect_err("a log has numbers");
    assert!(refused.to_string().ends_with("the column key is of a type that a snapshot can't have: string"));
    assert_eq!(Found::open(folder.path()).expect("it opens").types(), None);
}

/// Values that no cell of zeros is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NonZeros;

impl Columns<u64, std::num::NonZeroU64> for NonZeros {
    fn types(&self) -> [DataType; 2] {
        [DataType::UInt64; 2]
    }

    fn key_to_cell(&self, key: u64) -> u64 {
        key
    }

    fn value_to_cell(&self, value: std::num::NonZeroU64) -> u64 {
        value.get()
    }

    fn key_of_cell(&self, cell: u64) -> Option<u64> {
        Some(cell)
    }

    fn value_of_cell(&self, cell: u64) -> std::num::NonZeroU64 {
        std::num::NonZeroU64::new(cell).expect("a cell that was stored")
    }
}

#[test]
fn columns_are_asked_for_the_values_of_cells_that_were_stored_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let seven = std::num::NonZeroU64::new(7).expect("not zero");
    for round in 0..2 {
        let index = Index::<u64, std::num::NonZeroU64>::new().expect("memory");
        let found = Found::open(folder.path()).expect("it opens");
        let (durable, _) = found.recover(index, NonZeros, Opening::default()).expect("it is recovered");
        assert_eq!(durable.len(), round);
        durable.insert_many(&[(1, seven), (2, seven), (3, seven)]).expect("a batch");
        assert_eq!(durable.remove_many(&[1, 3, 5]).expect("a removal"), 2);
        assert_eq!(durable.get(2), Some(seven));
    }
}
