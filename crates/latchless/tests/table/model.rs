//! One thread: random changes, many of them refused, against a map of rows whose indexes are computed again.

use crate::people::{People, Person, people};
use latchless::Error;
use latchless::index::Options;
use latchless::table::{Batch, Table, TableError};
use latchless_core::testing::Rng;
use std::collections::{BTreeMap, HashSet};
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

type Map = BTreeMap<u64, Person>;

pub fn random(rng: &mut Rng, id: u64) -> Person {
    let count = rng.next() % 3;
    let mut tag = || format!("{}{}", ["t", "u"][rng.next() as usize % 2], rng.next() % 3);
    let tags = (0..count).map(|_| tag()).collect();
    Person {
        id,
        email: format!("{}@x", rng.next() % 40),
        age: (rng.next() % 8) as u32,
        badge: Some(rng.next() % 60).filter(|badge| badge % 2 == 0),
        tags,
    }
}

/// Whether no two rows have the same key of a unique index.
fn is_unique(map: &Map) -> bool {
    let (mut emails, mut badges) = (HashSet::new(), HashSet::new());
    map.values()
        .all(|person| emails.insert(&person.email) && person.badge.is_none_or(|badge| badges.insert(badge)))
}

/// Checks a refusal: the row in the way has the same key of the named index as the one that was rejected.
fn is_reason(error: &TableError<Person>) {
    let TableError::Duplicate { index, existing, rejected } = error else { panic!("{error:?}") };
    let (one, other) = (existing, rejected);
    let is_same = match &**index {
        "primary key" => one.id == other.id,
        "email" => one.email == other.email && one.id != other.id,
        "badge" => one.badge.is_some() && one.badge == other.badge && one.id != other.id,
        index => panic!("{index}"),
    };
    assert!(is_same && error.to_string().contains(&**index), "{error}: {one:?}, {other:?}");
}

/// A random batch, and the rows after it, unless a row was there that it inserts.
fn batch(rng: &mut Rng, map: &Map) -> (Batch<u64, Person>, Option<Map>) {
    let (mut batch, mut after, mut is_allowed) = (Batch::new(), map.clone(), true);
    for _ in 0..rng.next() % 5 {
        let id = rng.next() % 24;
        let person = random(rng, id);
        match rng.next() % 4 {
            0 => {
                batch.remove(id);
                after.remove(&id);
            }
            1 => {
                is_allowed &= !after.contains_key(&id);
                batch.insert(person.clone());
                after.insert(id, person);
            }
            2 if after.len() >= 2 => {
                // Two rows exchange what is unique.
                let mut two: Vec<Person> = after.values().take(2).cloned().collect();
                let (one, other) = two.split_at_mut(1);
                std::mem::swap(&mut one[0].email, &mut other[0].email);
                std::mem::swap(&mut one[0].badge, &mut other[0].badge);
                for person in two {
                    batch.replace(person.clone());
                    after.insert(person.id, person);
                }
            }
            _ => {
                batch.replace(person.clone());
                after.insert(id, person);
            }
        }
    }
    (batch, Some(after).filter(|after| is_allowed && is_unique(after)))
}

/// A change's result, and the rows after it if it is to be made.
type Done = (Result<(), TableError<Person>>, Option<Map>);

/// Makes a random change.
fn change(people: &People, map: &Map, rng: &mut Rng, step: usize) -> Done {
    let id = rng.next() % 24;
    let person = random(rng, id);
    let mut after = map.clone();
    let before = after.insert(id, person.clone());
    match rng.next() % 8 {
        0 | 1 => {
            let is_allowed = before.is_none() && is_unique(&after);
            (people.table.insert(person), Some(after).filter(|_| is_allowed))
        }
        2 | 3 => {
            let replaced = people.table.replace(person);
            if let Ok(row) = &replaced {
                assert_eq!(row.as_deref(), before.as_ref());
            }
            (replaced.map(drop), Some(after).filter(is_unique))
        }
        4 => {
            let upserted = people.table.upsert(id, |row| {
                assert_eq!(row, before.as_ref());
                person.clone()
            });
            (upserted.map(drop), Some(after).filter(is_unique))
        }
        5 => {
            after.remove(&id);
            assert_eq!(people.table.remove(id).unwrap().as_deref(), before.as_ref());
            (Ok(()), Some(after))
        }
        6 if step.is_multiple_of(16) => {
            let before = map.len();
            after = map.clone();
            after.retain(|_, person| person.age > 2);
            assert_eq!(people.table.retain(|person| person.age > 2).unwrap(), before - after.len());
            people.table.prune().unwrap();
            (Ok(()), Some(after))
        }
        _ => {
            let (batch, after) = batch(rng, map);
            (people.table.commit(batch).map(drop), after)
        }
    }
}

#[test]
fn indexes_are_those_of_the_rows_after_every_change_and_refusal() {
    let people = people();
    let (mut map, mut rng, mut refused) = (Map::new(), Rng(5), 0);
    let mut moments = Vec::new();
    for step in 0..if cfg!(miri) { 40 } else { 2000 } {
        let newest = people.table.newest();
        let result = change(&people, &map, &mut rng, step);
        match result {
            (Ok(()), Some(after)) => map = after,
            (Err(error), None) => {
                is_reason(&error);
                assert_eq!(people.table.newest(), newest);
                refused += 1;
            }
            (result, after) => panic!("step {step}: {result:?}, but in the model {after:?}"),
        }
        assert_eq!(
            (people.table.len(), people.by_email.len(), people.by_age.len()),
            (map.len(), map.len(), map.len())
        );
        people.table.check_invariants().unwrap();
        for person in map.values() {
            assert_eq!(people.by_email.get(&person.email).as_deref(), Some(person));
            assert_eq!(people.table.get(person.id).as_deref(), Some(person));
        }
        if step % 100 == 0 {
            moments.push((people.table.snapshot(), map.clone()));
            moments.iter().for_each(|(snapshot, map)| people.check(snapshot, map));
        }
        if moments.len() > 4 {
            drop(moments.swap_remove(rng.next() as usize % 4));
        }
    }
    assert!(cfg!(miri) || refused > 300, "{refused} refusals");
}

#[test]
fn rows_of_a_batch_that_have_one_key_are_refused_together() {
    let people = people();
    let mut both = Batch::new();
    both.insert(Person::new(1, "a", 1)).insert(Person::new(2, "a", 2));
    let refused = people.table.commit(both).unwrap_err();
    is_reason(&refused);
    assert_eq!((people.table.len(), people.by_email.len(), people.table.newest()), (0, 0, 0));
    let mut twice = Batch::new();
    twice.insert(Person::new(1, "a", 1)).remove(1).insert(Person::new(1, "b", 1));
    people.table.commit(twice).unwrap();
    assert_eq!((people.by_email.get("a"), people.by_email.get("b").unwrap().id), (None, 1));
}

#[test]
fn a_closure_that_changes_the_primary_key_or_its_own_row_is_refused() {
    let people = people();
    people.table.insert(Person::new(1, "a", 1)).unwrap();
    let other = people.table.update(1, |person| Person { id: 2, ..person.clone() });
    assert!(matches!(other, Err(TableError::OtherKey { row }) if row.id == 2));
    let mut times = 0;
    let own = people.table.update(1, |person| {
        times += 1;
        assert!(times < 1000, "it goes on for ever");
        people.table.replace(Person { age: times, ..person.clone() }).unwrap();
        person.clone()
    });
    assert!(matches!(own, Err(TableError::Index(Error::ClosureChangesItsKey { .. }))));
    assert_eq!(people.table.update(7, Clone::clone).unwrap(), None);
    assert_eq!((people.table.get(1).unwrap().age, people.table.len()), (times, 1));
}

#[test]
fn a_table_without_memory_for_an_entry_is_as_before() {
    let options = Options { limit_bytes: Some(256 << 10), huge_pages: false, ..Options::default() };
    let mut builder = Table::<u64, (u64, String)>::builder(|row| row.0);
    builder.options(options);
    let by_text = builder.unique("text", |row| row.1.clone()).unwrap();
    let table = builder.build().unwrap();
    table.insert((1, "one".to_owned())).unwrap();
    let mut large = Batch::new();
    for number in 0..100_000 {
        large.replace((number, format!("{number:100}")));
    }
    assert!(matches!(table.commit(large), Err(TableError::Index(Error::MemoryLimit { .. }))));
    assert_eq!((table.len(), by_text.len(), table.newest()), (1, 1, 1));
    assert!(Arc::ptr_eq(&by_text.get("one").unwrap(), &table.get(1).unwrap()));
    table.prune().unwrap();
    table.check_invariants().unwrap();
    table.insert((2, "two".to_owned())).unwrap();
}

#[test]
fn a_key_function_that_panics_leaves_no_commit_behind() {
    let mut builder = Table::<u64, (u64, u64)>::builder(|row| row.0);
    let first = builder.index("first", |row| row.1).unwrap();
    let _second = builder.index("second", |row| 100 / row.1).unwrap();
    let table = builder.build().unwrap();
    table.insert((1, 1)).unwrap();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| table.insert((2, 0))));
    assert!(panicked.is_err());
    assert_eq!((table.len(), first.len(), first.snapshot().get(0).next()), (1, 1, None));
    table.check_invariants().unwrap();
    table.insert((2, 2)).unwrap();
    assert_eq!(first.snapshot().range(..).map(|row| row.0).collect::<Vec<_>>(), [1, 2]);
}

#[test]
#[should_panic(expected = "another table")]
fn an_index_at_a_snapshot_of_another_table_panics() {
    let (one, other) = (people(), people());
    let _ = one.by_email.at(&other.table.snapshot());
}

#[test]
fn ranges_of_an_index_whose_entries_fit_words_reach_both_ends() {
    let mut builder = Table::<u32, (u32, u32)>::builder(|row| row.0);
    let index = builder.index("second", |row| row.1).unwrap();
    let table = builder.build().unwrap();
    let rows = [(u32::MAX, 0), (0, 0), (7, 5), (u32::MAX - 1, u32::MAX), (9, u32::MAX)];
    rows.into_iter().for_each(|row| table.insert(row).unwrap());
    let snapshot = index.snapshot();
    let ends = [0, 1, 5, 6, u32::MAX - 1, u32::MAX];
    let bounds = || {
        let both = ends.into_iter().flat_map(|end| [Bound::Included(end), Bound::Excluded(end)]);
        both.chain([Bound::Unbounded])
    };
    for low in bounds() {
        for high in bounds() {
            let mut wanted: Vec<_> = rows.into_iter().filter(|row| (low, high).contains(&row.1)).collect();
            wanted.sort_by_key(|row| (row.1, row.0));
            let found = snapshot.range((low, high));
            assert!(found.map(|row| *row).eq(wanted.iter().copied()), "{low:?}, {high:?}");
            assert!(snapshot.range((low, high)).rev().map(|row| *row).eq(wanted.into_iter().rev()));
        }
    }
}
