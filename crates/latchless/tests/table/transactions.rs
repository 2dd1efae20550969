//! Transactions of a table: their histories are serializable, and what conflicts with what.

use crate::checker::{self, Anomaly, Operation};
use crate::people::{Person, people};
use latchless::Error;
use latchless::table::{Batch, Table, TableError, Unique};
use std::thread::yield_now;

const EACH: usize = if cfg!(miri) { 5 } else { 1000 };

/// A list of numbers, by its key and by a name.
type Row = (u64, String, Vec<u64>);

struct Lists {
    table: Table<u64, Row>,
    by_name: Unique<String, Row>,
}

fn lists() -> Lists {
    let mut builder = Table::<u64, Row>::builder(|row| row.0);
    let by_name = builder.unique("name", |row| row.1.clone()).unwrap();
    Lists { table: builder.build().unwrap(), by_name }
}

fn name(key: u64) -> String {
    format!("list {key}")
}

/// Performs a transaction's operations, fills in what they read, and returns whether it was committed.
type Perform = fn(&Lists, &mut [Operation]) -> bool;

/// See [`checker::anomaly_of`].
fn anomaly_of(perform: Perform) -> Option<Anomaly> {
    let lists = lists();
    let read = |key| lists.table.get(key).map(|row| row.2.clone()).unwrap_or_default();
    let anomaly = checker::anomaly_of(EACH, |operations| perform(&lists, operations), read);
    lists.table.check_invariants().unwrap();
    anomaly
}

/// By transactions, which find a list by its key or by its name.
fn serializable(lists: &Lists, operations: &mut [Operation]) -> bool {
    let mut transaction = lists.table.begin();
    for operation in operations {
        yield_now();
        let (Operation::Append(key, _) | Operation::Read(key, _)) = *operation;
        let row = match key % 2 {
            0 => transaction.get(key),
            _ => transaction.find(&lists.by_name, &name(key)),
        };
        let mut list = row.map(|row| row.2.clone()).unwrap_or_default();
        match operation {
            Operation::Append(_, number) => {
                list.push(*number);
                transaction.replace((key, name(key), list));
            }
            Operation::Read(_, read) => *read = list,
        }
    }
    transaction.commit().is_ok()
}

/// By a snapshot and a batch, without looking whether what was read is still so.
fn unvalidated(lists: &Lists, operations: &mut [Operation]) -> bool {
    let (snapshot, mut batch) = (lists.table.snapshot(), Batch::new());
    let mut written = std::collections::BTreeMap::<u64, Vec<u64>>::new();
    for operation in operations {
        yield_now();
        let (Operation::Append(key, _) | Operation::Read(key, _)) = *operation;
        let list = written.entry(key);
        let list = list.or_insert_with(|| snapshot.get(key).map(|row| row.2.clone()).unwrap_or_default());
        match operation {
            Operation::Append(_, number) => {
                list.push(*number);
                batch.replace((key, name(key), list.clone()));
            }
            Operation::Read(_, read) => read.clone_from(list),
        }
    }
    lists.table.commit(batch).is_ok()
}

#[test]
fn transactions_of_a_table_are_serializable() {
    assert_eq!(anomaly_of(serializable), None);
}

#[test]
#[cfg_attr(miri, ignore = "needs many transactions")]
fn batches_that_validate_nothing_lose_appends() {
    assert!(matches!(anomaly_of(unvalidated), Some(Anomaly::Incompatible { .. })));
}

#[test]
fn a_transaction_conflicts_with_changes_of_what_it_read_and_of_nothing_else() {
    let people = people();
    for id in 0..10 {
        people.table.insert(Person::new(id, &format!("{id}"), 20)).unwrap();
    }
    let mut age = 20;
    let mut conflicts = |id: Option<u64>, email: Option<&str>, change: u64| {
        let mut transaction = people.table.begin();
        id.map(|id| transaction.get(id));
        email.map(|email| transaction.find(&people.by_email, email));
        age += 1;
        people.table.replace(Person::new(change, &format!("{change}"), age)).unwrap();
        transaction.remove(1000).insert(Person::new(100, "new", age)).remove(100);
        match transaction.commit() {
            Ok(_) => false,
            Err(TableError::Conflict) => true,
            Err(error) => panic!("{error}"),
        }
    };
    assert!(!conflicts(Some(3), None, 4) && conflicts(Some(3), None, 3));
    assert!(!conflicts(None, Some("3"), 4) && conflicts(None, Some("3"), 3));
    assert!(conflicts(Some(50), None, 50) && conflicts(None, Some("51"), 51), "rows that weren't there");
    assert!(!conflicts(None, None, 3), "changes that have read nothing");
}

#[test]
fn a_transaction_sees_its_own_changes() {
    let people = people();
    people.table.insert(Person::new(1, "a", 20)).unwrap();
    people.table.insert(Person::new(2, "b", 20)).unwrap();
    let mut transaction = people.table.begin();
    transaction.replace(Person::new(1, "c", 21)).remove(2).insert(Person::new(3, "a", 22));
    let ids = ["a", "b", "c"].map(|email| transaction.find(&people.by_email, email).map(|row| row.id));
    assert_eq!(ids, [Some(3), None, Some(1)]);
    assert_eq!([1, 2, 3].map(|id| transaction.get(id).map(|row| row.age)), [Some(21), None, Some(22)]);
    assert_eq!(people.by_email.get("b").unwrap().id, 2);
    assert_eq!(transaction.commit().unwrap(), 3);
    assert_eq!((people.by_email.get("a").unwrap().id, people.table.len()), (3, 2));
    let mut taken = people.table.begin();
    taken.insert(Person::new(3, "z", 1));
    assert!(matches!(taken.commit(), Err(TableError::Duplicate { .. })));
    people.table.check_invariants().unwrap();
}

#[test]
fn a_transaction_that_changes_what_it_read_past_itself_for_ever_is_refused() {
    let people = people();
    let mut times = 0;
    let refused = people.table.transact(|transaction| {
        times += 1;
        assert!(times < 1000, "it goes on for ever");
        let found = transaction.find(&people.by_email, "a").map_or(0, |row| row.age);
        people.table.replace(Person::new(1, "a", found + 1))?;
        transaction.insert(Person::new(2, "b", 1));
        Ok::<_, TableError<Person>>(())
    });
    assert!(matches!(refused, Err(TableError::Index(Error::ClosureChangesItsKey { .. }))), "{refused:?}");
    assert_eq!((times >= 128, people.table.len()), (true, 1));
}
