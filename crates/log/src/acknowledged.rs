//! Every operation of every kind of index, including those that change nothing: it returns when everything
//! that it has read is on the disk, and reports an index that was taken over or closed.

use crate::commits::draft;
use crate::journal::Journal;
use crate::record::{Draft, Kind};
use crate::{CommitError, Error, Options, Result, SyncMode};
use crate::{DurableBytesIndex, DurableIndex, DurableMultiIndex, DurableVersionedIndex};
use latchless::versions::WriteBatch;
use std::path::Path;

/// The operation's name, and the call.
type Operation<D> = (&'static str, fn(&D) -> Result<()>);

/// A kind of durable index, with two entries or without any, and its operations.
struct Subject<D: 'static> {
    open: fn(&Path, Options) -> Result<D>,
    fill: fn(&D) -> Result<()>,
    journal: fn(&D) -> &Journal,
    /// Logs a change that isn't on the disk.
    log: fn(&D),
    operations: &'static [Operation<D>],
}

const NUMBERS: Subject<DurableIndex<u64, u64>> = Subject {
    open: |folder, options| Ok(DurableIndex::open(folder, options)?.0),
    fill: |index| index.insert_many(&[(1, 10), (2, 20)]).map(drop),
    journal: |index| &index.journal,
    log: |index| log_any(&index.journal),
    operations: &[
        ("get_or_insert of a key that is there", |index| index.get_or_insert(1, 9).map(drop)),
        ("replace of a key that isn't there", |index| index.replace(9, 1).map(drop)),
        ("compare_exchange with another value", |index| index.compare_exchange(1, 5, 6).map(drop)),
        ("compare_exchange with the same value", |index| index.compare_exchange(1, 10, 10).map(drop)),
        ("compare_remove with another value", |index| index.compare_remove(1, 5).map(drop)),
        ("insert", |index| index.insert(1, 10).map(drop)),
        ("insert_columns of none", |index| index.insert_columns(&[], &[]).map(drop)),
        ("insert_many of none", |index| index.insert_many(&[]).map(drop)),
        ("remove of a key that isn't there", |index| index.remove(9).map(drop)),
        ("remove_many of none", |index| index.remove_many(&[]).map(drop)),
        ("remove_many of keys that aren't there", |index| index.remove_many(&[7, 8]).map(drop)),
        ("remove_range of none", |index| index.remove_range(50..60).map(drop)),
        ("pop_first", |index| index.pop_first().map(drop)),
        ("pop_last", |index| index.pop_last().map(drop)),
        ("get_or_insert", |index| index.get_or_insert(1, 10).map(drop)),
        ("sync", DurableIndex::sync),
    ],
};

/// Appends a record of no keys.
fn log_any(journal: &Journal) {
    journal.log().append(&mut Draft::of_strings(Kind::RemoveStrings).seal()).expect("a record");
}

const VERSIONS: Subject<DurableVersionedIndex<String, u64>> = Subject {
    open: |folder, options| Ok(DurableVersionedIndex::open(folder, options)?.0),
    fill: |index| index.commit([("a".to_owned(), 10), ("b".to_owned(), 20)].into_iter().collect()).map(drop),
    journal: |index| &index.journal,
    log: |index| {
        let mut commit = index.index.begin_commit();
        commit.insert("a", 11).expect("room");
        let mut draft = draft::<String, u64>([], &index.journal).expect("a record");
        index.journal.log().append(&mut draft).expect("a record");
        commit.publish();
    },
    operations: &[
        ("insert", |index| index.insert("a", 10).map(drop)),
        ("remove of a key that isn't there", |index| index.remove("z").map(drop)),
        ("remove of a key that is too long", |index| index.remove(&too_long()).map(drop)),
        ("remove", |index| index.remove("b").map(drop)),
        ("commit of no change", |index| index.commit(WriteBatch::new()).map(drop)),
        ("upsert", |index| index.upsert("a", |before| before.unwrap_or(0) + 1).map(drop)),
        ("a transaction that only reads", |index| {
            index.transact(|transaction| Ok(transaction.get("a"))).map(drop)
        }),
        ("sync", DurableVersionedIndex::sync),
    ],
};

/// A transaction that fails has seen another's commit.
#[test]
fn a_conflict_is_reported_when_the_other_commit_is_on_the_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let index = opened(&VERSIONS, folder.path(), true, Options::default());
    let mut transaction = index.begin();
    let read = transaction.get("a");
    transaction.insert("c", read.unwrap_or(0));
    (VERSIONS.log)(&index);
    let log = index.journal.log();
    assert!(log.commit.synced() < log.tail().record_number);
    let conflict = transaction.commit().expect_err("a conflict");
    assert!(matches!(&conflict, CommitError::Conflict { key } if key == "a"), "{conflict}");
    assert_eq!(log.commit.synced(), log.tail().record_number);
}

/// A key that no index takes.
fn too_long() -> String {
    "x".repeat(1 << 17)
}

const TEXTS: Subject<DurableBytesIndex<String, u64>> = Subject {
    open: |folder, options| Ok(DurableBytesIndex::open(folder, options)?.0),
    fill: |index| index.insert_many(&[("a", 10), ("b", 20)]).map(drop),
    journal: |index| &index.journal,
    log: |index| log_any(&index.journal),
    operations: &[
        ("get_or_insert of a key that is there", |index| index.get_or_insert("a", 9).map(drop)),
        ("replace of a key that isn't there", |index| index.replace("z", 1).map(drop)),
        ("replace by the same value", |index| index.replace("a", 10).map(drop)),
        ("compare_exchange with another value", |index| index.compare_exchange("a", 5, 6).map(drop)),
        ("compare_exchange with the same value", |index| index.compare_exchange("a", 10, 10).map(drop)),
        ("compare_remove with another value", |index| index.compare_remove("a", 5).map(drop)),
        ("compute that leaves a key away", |index| index.compute("z", |_| None).map(drop)),
        ("compute that leaves a key as it is", |index| index.compute("a", |value| value).map(drop)),
        ("insert", |index| index.insert("a", 10).map(drop)),
        ("insert_many of none", |index| index.insert_many(&[]).map(drop)),
        ("remove of a key that isn't there", |index| index.remove("z").map(drop)),
        ("remove of a key that is too long", |index| index.remove(&too_long()).map(drop)),
        ("remove_many of none", |index| index.remove_many(&[]).map(drop)),
        ("remove_many of keys that are too long", |index| index.remove_many(&[&too_long()]).map(drop)),
        ("remove_range of none", |index| index.remove_range("m".."n").map(drop)),
        ("pop_first", |index| index.pop_first().map(drop)),
        ("pop_last", |index| index.pop_last().map(drop)),
        ("get_or_insert", |index| index.get_or_insert("a", 10).map(drop)),
        ("sync", DurableBytesIndex::sync),
    ],
};

const PAIRS: Subject<DurableMultiIndex<String>> = Subject {
    open: |folder, options| Ok(DurableMultiIndex::open(folder, options)?.0),
    fill: |index| index.insert_many(&[("a", 1), ("b", 2)]).map(drop),
    journal: |index| &index.journal,
    log: |index| log_any(&index.journal),
    operations: &[
        ("insert of a row that is there", |index| index.insert("a", 1).map(drop)),
        ("insert_many of none", |index| index.insert_many::<&str>(&[]).map(drop)),
        ("remove of a row that isn't there", |index| index.remove("a", 9).map(drop)),
        ("remove of a key that is too long", |index| index.remove(&too_long(), 1).map(drop)),
        ("remove_all of a key that isn't there", |index| index.remove_all("z").map(drop)),
        ("remove_all of a key that is too long", |index| index.remove_all(&too_long()).map(drop)),
        ("sync", DurableMultiIndex::sync),
    ],
};

fn opened<D>(subject: &Subject<D>, folder: &Path, is_filled: bool, options: Options) -> D {
    let index = (subject.open)(folder, options).expect("it opens");
    if is_filled {
        (subject.fill)(&index).expect("entries");
    }
    index
}

impl<D> Subject<D> {
    /// Other threads' changes may be in the index and in the file, and not on the disk: that is how it is
    /// after an append.
    fn returns_when_what_it_saw_is_on_the_disk(&self) {
        for is_filled in [true, false] {
            let folder = tempfile::tempdir().expect("a folder");
            let index = opened(self, folder.path(), is_filled, Options::default());
            let log = (self.journal)(&index).log();
            for (name, operation) in self.operations {
                (self.log)(&index);
                assert!(log.commit.synced() < log.tail().record_number);
                operation(&index).expect(name);
                assert_eq!(log.commit.synced(), log.tail().record_number, "{name}");
            }
        }
    }

    fn is_fenced_whatever_it_is_asked(&self) {
        for sync in [SyncMode::Each, SyncMode::Never] {
            for is_filled in [true, false] {
                for (name, operation) in self.operations {
                    let folder = tempfile::tempdir().expect("a folder");
                    let options = Options { sync, fenced: true, ..Options::default() };
                    let before = opened(self, folder.path(), is_filled, options.clone());
                    // As if the lock had been lost, as on a network's file system.
                    let lock = folder.path().join("lock");
                    std::fs::rename(&lock, lock.with_extension("lost")).expect("the lock");
                    let _after = opened(self, folder.path(), false, options);
                    for time in ["at once", "and ever after"] {
                        let refused = operation(&before).expect_err(name);
                        assert!(matches!(refused, Error::Fenced { .. }), "{name}, {time}: {refused}");
                    }
                }
            }
        }
    }

    fn is_closed_whatever_it_is_asked(&self) {
        let folder = tempfile::tempdir().expect("a folder");
        let index = opened(self, folder.path(), true, Options::default());
        (self.journal)(&index).close().expect("the disk has everything");
        for (name, operation) in self.operations.iter().filter(|(name, _)| *name != "sync") {
            let refused = operation(&index).expect_err(name);
            assert!(matches!(refused, Error::Ended { .. }), "{name}: {refused}");
        }
    }

    /// The entries that weren't refused count as acknowledged, and so does the refusal of the others.
    fn says_what_was_refused_when_the_rest_is_on_the_disk(&self, many: impl Fn(&D) -> Result<usize>) {
        let folder = tempfile::tempdir().expect("a folder");
        let limits = latchless::index::Options { limit_bytes: Some(64 << 10), ..Default::default() };
        let index = opened(self, folder.path(), false, Options { index: limits, ..Options::default() });
        let Err(Error::Index { refused, .. }) = many(&index) else { panic!("they can't all have room") };
        assert!(!refused.is_empty());
        let log = (self.journal)(&index).log();
        assert_eq!(log.commit.synced(), log.tail().record_number);
    }
}

#[test]
fn an_operation_returns_when_what_it_saw_is_on_the_disk() {
    NUMBERS.returns_when_what_it_saw_is_on_the_disk();
    TEXTS.returns_when_what_it_saw_is_on_the_disk();
    PAIRS.returns_when_what_it_saw_is_on_the_disk();
    VERSIONS.returns_when_what_it_saw_is_on_the_disk();
}

#[test]
fn every_operation_of_an_index_that_was_taken_over_is_fenced() {
    NUMBERS.is_fenced_whatever_it_is_asked();
    TEXTS.is_fenced_whatever_it_is_asked();
    PAIRS.is_fenced_whatever_it_is_asked();
    VERSIONS.is_fenced_whatever_it_is_asked();
}

#[test]
fn every_operation_of_an_index_that_was_closed_is_refused() {
    NUMBERS.is_closed_whatever_it_is_asked();
    TEXTS.is_closed_whatever_it_is_asked();
    PAIRS.is_closed_whatever_it_is_asked();
    VERSIONS.is_closed_whatever_it_is_asked();
}

#[test]
fn a_batch_that_is_refused_in_part_is_on_the_disk_when_it_returns() {
    let keys = || (0..20_000_u64).map(|key| key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20);
    NUMBERS.says_what_was_refused_when_the_rest_is_on_the_disk(|index| {
        index.insert_many(&keys().map(|key| (key, key)).collect::<Vec<_>>())
    });
    TEXTS.says_what_was_refused_when_the_rest_is_on_the_disk(|index| {
        let texts: Vec<_> = keys().map(|key| (key.to_string(), key)).collect();
        index.insert_many(&texts.iter().map(|(text, key)| (&**text, *key)).collect::<Vec<_>>())
    });
    PAIRS.says_what_was_refused_when_the_rest_is_on_the_disk(|index| {
        index.insert_many(&keys().map(|key| (key.to_string(), key)).collect::<Vec<_>>())
    });
}
