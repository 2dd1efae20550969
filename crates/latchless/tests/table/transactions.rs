//! Transactions of a table: their histories are serializable, and what conflicts with what.

use crate::checker::{self, Anomaly, Operation};
use crate::model::random;
use crate::people::{People, Person, people};
use latchless::Error;
use latchless::table::{Batch, Table, TableError, Transaction, Unique};
use latchless_core::testing::Rng;
use std::ops::Bound::{Excluded, Unbounded};
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
fn ranges_of_a_transaction_are_those_of_the_table_after_its_commit() {
    let people = people();
    let mut rng = Rng(7);
    let mut committed = 0;
    for _ in 0..400 {
        let mut transaction = people.table.begin();
        for _ in 0..rng.below(6) {
            let id = rng.below(12);
            let person = random(&mut rng, id);
            match rng.below(3) {
                0 => transaction.remove(person.id),
                _ => transaction.replace(person),
            };
        }
        let ids = rng.below(12)..rng.below(14);
        let ages = rng.below(8) as u32..=rng.below(8) as u32;
        let tags = ["", "t", "t1", "u"][rng.below(4) as usize]..;
        let badges = (Excluded(rng.below(5)), Unbounded);
        let found = [
            transaction.range(ids.clone()),
            transaction.find_range(&people.by_badge, badges),
            transaction.find_range(&people.by_email, "b"..),
            transaction.find_all_in(&people.by_age, ages.clone()),
            transaction.find_all(&people.by_age, *ages.start()),
            transaction.find_all_in(&people.by_tag, tags.clone()),
        ];
        if transaction.commit().is_err() {
            continue;
        }
        committed += 1;
        let now = people.table.snapshot();
        let rows = [
            now.range(ids).map(|(_, row)| row).collect::<Vec<_>>(),
            people.by_badge.at(&now).range(badges).map(|(_, row)| row).collect(),
            people.by_email.at(&now).range("b"..).map(|(_, row)| row).collect(),
            people.by_age.at(&now).range(ages.clone()).collect(),
            people.by_age.at(&now).get(*ages.start()).collect(),
            people.by_tag.at(&now).range(tags).collect(),
        ];
        assert_eq!(found, rows);
    }
    assert!(committed > 50, "{committed}");
}

#[test]
fn a_transaction_conflicts_with_a_row_that_comes_into_a_range_or_leaves_it() {
    type Read<'r> = &'r dyn for<'t> Fn(&mut Transaction<'t, u64, Person>, &'t People);
    let by_id: Read<'_> = &|transaction, _| _ = transaction.range(3..5);
    let by_email: Read<'_> = &|transaction, people| _ = transaction.find_range(&people.by_email, "3".."5");
    let by_age: Read<'_> = &|transaction, people| _ = transaction.find_all_in(&people.by_age, 23..25);
    let of_an_age: Read<'_> = &|transaction, people| _ = transaction.find_all(&people.by_age, 24);
    let conflicts = |read: Read<'_>, change: &dyn Fn(&People)| {
        let people = people();
        for id in [1, 4, 8] {
            people.table.insert(Person::new(id, &id.to_string(), 20 + id as u32)).unwrap();
        }
        let mut transaction = people.table.begin();
        read(&mut transaction, &people);
        change(&people);
        transaction.insert(Person::new(100, "new", 7));
        matches!(transaction.commit(), Err(TableError::Conflict))
    };
    for read in [by_id, by_email, by_age, of_an_age] {
        assert!(!conflicts(read, &|people| _ = people.table.remove(8).unwrap()));
        assert!(!conflicts(read, &|people| people.table.insert(Person::new(9, "9", 9)).unwrap()));
        assert!(conflicts(read, &|people| _ = people.table.remove(4).unwrap()));
    }
    let comes = |people: &People| people.table.insert(Person::new(3, "3", 24)).unwrap();
    assert!([by_id, by_email, by_age, of_an_age].iter().all(|read| conflicts(read, &comes)));
    let moves = |people: &People| _ = people.table.replace(Person::new(8, "40", 24)).unwrap();
    assert!(!conflicts(by_id, &moves));
    assert!([by_email, by_age, of_an_age].iter().all(|read| conflicts(read, &moves)));
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
