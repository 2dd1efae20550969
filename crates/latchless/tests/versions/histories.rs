//! Histories of concurrent transactions are serializable; those of three broken forms of them aren't.

use crate::checker::{self, Anomaly, Operation};
use latchless::versions::{VersionedIndex, WriteBatch};
use std::sync::Arc;
use std::thread::yield_now;

type List = Arc<[u64]>;
type Lists = VersionedIndex<u64, List>;

const EACH: usize = if cfg!(miri) { 5 } else { 1500 };

/// Performs a transaction's operations, fills in what they read, and returns whether it was committed.
type Perform = fn(&Lists, &mut [Operation]) -> bool;

fn appended(list: Option<List>, number: u64) -> List {
    list.iter().flat_map(|list| list.iter().copied()).chain([number]).collect()
}

fn read(list: Option<List>) -> Vec<u64> {
    list.map(|list| list.to_vec()).unwrap_or_default()
}

/// See [`checker::anomaly_of`].
fn anomaly_of(perform: Perform) -> Option<Anomaly> {
    let lists = Lists::new().unwrap();
    checker::anomaly_of(EACH, |operations| perform(&lists, operations), |key| read(lists.get(key)))
}

/// By a transaction, or by a snapshot if it reads only.
fn serializable(lists: &Lists, operations: &mut [Operation]) -> bool {
    if operations.iter().all(|operation| matches!(operation, Operation::Read(..))) {
        let snapshot = lists.snapshot();
        for operation in operations {
            if let Operation::Read(key, list) = operation {
                yield_now();
                *list = read(snapshot.get(*key));
            }
        }
        return true;
    }
    let mut transaction = lists.begin();
    for operation in operations {
        yield_now();
        match operation {
            Operation::Append(key, number) => {
                let list = appended(transaction.get(*key), *number);
                transaction.insert(*key, list);
            }
            Operation::Read(key, list) if *key % 2 == 0 => *list = read(transaction.get(*key)),
            Operation::Read(key, list) => {
                let entries = transaction.range(*key..=*key);
                *list = read(entries.into_iter().next().map(|(_, list)| list));
            }
        }
    }
    transaction.commit().is_ok()
}

/// Reads a snapshot and commits a batch, without looking whether what it has read is still so.
fn unvalidated(lists: &Lists, operations: &mut [Operation]) -> bool {
    let (snapshot, mut batch) = (lists.snapshot(), WriteBatch::new());
    let mut written: std::collections::BTreeMap<u64, List> = Default::default();
    for operation in operations {
        yield_now();
        let value = |key: &u64| written.get(key).cloned().or_else(|| snapshot.get(*key));
        match operation {
            Operation::Append(key, number) => {
                let list = appended(value(key), *number);
                written.insert(*key, Arc::clone(&list));
                batch.insert(*key, list);
            }
            Operation::Read(key, list) => *list = read(value(key)),
        }
    }
    lists.commit(batch).is_ok()
}

/// Validates what is appended to, but not what is only read: two transactions can each read what the other
/// one writes.
fn half_validated(lists: &Lists, operations: &mut [Operation]) -> bool {
    let (mut transaction, snapshot) = (lists.begin(), lists.snapshot());
    if transaction.number() != snapshot.number() {
        return false;
    }
    let mut written = std::collections::BTreeSet::new();
    for operation in operations {
        yield_now();
        match operation {
            Operation::Append(key, number) => {
                let list = appended(transaction.get(*key), *number);
                transaction.insert(*key, list);
                written.insert(*key);
            }
            Operation::Read(key, list) if written.contains(key) => *list = read(transaction.get(*key)),
            Operation::Read(key, list) => *list = read(snapshot.get(*key)),
        }
    }
    transaction.commit().is_ok()
}

/// Reads the newest value of each key, so the moments differ; its writes are serializable.
fn without_a_snapshot(lists: &Lists, operations: &mut [Operation]) -> bool {
    if operations.iter().any(|operation| matches!(operation, Operation::Append(..))) {
        return serializable(lists, operations);
    }
    for operation in operations {
        if let Operation::Read(key, list) = operation {
            yield_now();
            *list = read(lists.get(*key));
        }
    }
    true
}

#[test]
fn transactions_and_snapshots_are_serializable() {
    assert_eq!(anomaly_of(serializable), None);
}

#[test]
#[cfg_attr(miri, ignore = "needs many transactions")]
fn transactions_that_validate_nothing_lose_appends() {
    assert!(matches!(anomaly_of(unvalidated), Some(Anomaly::Incompatible { .. })));
}

#[test]
#[cfg_attr(miri, ignore = "needs many transactions")]
fn transactions_that_validate_only_what_they_write_can_form_a_cycle() {
    assert!(matches!(anomaly_of(half_validated), Some(Anomaly::Cycle { .. })));
}

#[test]
#[cfg_attr(miri, ignore = "needs many transactions")]
fn reads_without_a_snapshot_can_form_a_cycle() {
    assert!(matches!(anomaly_of(without_a_snapshot), Some(Anomaly::Cycle { .. })));
}
