//! Many threads: all indexes of a table are of one moment, and one of several rows gets a unique key.

use crate::people::{People, Person, people};
use latchless::table::{Batch, TableError};
use latchless_core::testing::Rng;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const ROWS: u64 = 32;
const CHANGES: u64 = if cfg!(miri) { 10 } else { 2000 };

/// Runs readers until the writers have ended.
fn beside(write: &(dyn Fn(u64) + Sync), read: &(dyn Fn() + Sync)) {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    read();
                }
            });
        }
        let writers: Vec<_> = (0..2).map(|seed| scope.spawn(move || write(seed))).collect();
        let ended: Vec<_> = writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        ended.into_iter().for_each(|ended| ended.unwrap());
    });
}

/// Every row is in every index under its keys, and nothing else is.
fn is_one_moment(people: &People) {
    let snapshot = people.table.snapshot_owned();
    // Others commit before the next index is read.
    std::thread::yield_now();
    let (emails, badges) = (people.by_email.at(&snapshot), people.by_badge.at(&snapshot));
    std::thread::yield_now();
    let (ages, tags) = (people.by_age.at(&snapshot), people.by_tag.at(&snapshot));
    let (mut rows, mut with_badge, mut with_tag) = (0, 0, 0);
    for row in snapshot.values() {
        rows += 1;
        assert!(emails.get(&row.email).is_some_and(|found| Arc::ptr_eq(&found, &row)));
        assert!(ages.get(row.age).any(|found| Arc::ptr_eq(&found, &row)));
        if let Some(badge) = row.badge {
            with_badge += 1;
            assert!(badges.get(badge).is_some_and(|found| Arc::ptr_eq(&found, &row)));
        }
        for tag in &row.tags {
            with_tag += 1;
            assert!(tags.get(tag).any(|found| Arc::ptr_eq(&found, &row)));
        }
    }
    assert_eq!((emails.count(..), ages.iter().count()), (rows, rows));
    assert_eq!((badges.count(..), tags.iter().count()), (with_badge, with_tag));
}

#[test]
fn every_entry_leads_to_a_row_that_has_its_key() {
    let people = people();
    for id in 0..ROWS {
        people.table.insert(Person { badge: Some(id), ..Person::new(id, &format!("{id}"), 20) }).unwrap();
    }
    let write = |seed| {
        let mut rng = Rng(seed + 1);
        for step in 0..CHANGES {
            let mut two =
                [rng.next() % ROWS, rng.next() % ROWS].map(|id| (*people.table.get(id).unwrap()).clone());
            if two[0].id == two[1].id {
                continue;
            }
            // They exchange what is unique, unless another thread's exchange came first.
            let [one, other] = &mut two;
            std::mem::swap(&mut one.email, &mut other.email);
            std::mem::swap(&mut one.badge, &mut other.badge);
            (one.age, other.age) = (other.age + 1, one.age);
            one.tags = (0..step % 3).map(|tag| format!("{tag}")).collect();
            let mut batch = Batch::new();
            for person in two {
                batch.replace(person);
            }
            let changed = people.table.commit(batch);
            assert!(matches!(changed, Ok(_) | Err(TableError::Duplicate { .. })), "{changed:?}");
            if step % 64 == 0 {
                people.table.prune().unwrap();
            }
        }
    };
    beside(&write, &|| is_one_moment(&people));
    people.table.check_invariants().unwrap();
}

#[test]
fn one_of_several_rows_gets_a_primary_key() {
    let (people, inserted) = (people(), AtomicU64::new(0));
    let write = |seed: u64| {
        for step in 0..CHANGES {
            match people.table.insert(Person::new(step, &format!("{step} {seed}"), 20)) {
                Ok(()) => drop(inserted.fetch_add(1, Ordering::Relaxed)),
                Err(TableError::Duplicate { index, existing, .. }) => {
                    assert_eq!((&*index, existing.id), ("primary key", step));
                }
                Err(error) => panic!("{error}"),
            }
        }
    };
    beside(&write, &|| assert!(people.table.len() as u64 <= CHANGES));
    people.table.check_invariants().unwrap();
    assert_eq!((inserted.into_inner(), people.by_email.len() as u64), (CHANGES, CHANGES));
}

#[test]
fn one_of_several_rows_gets_a_unique_key() {
    let people = people();
    let write = |seed: u64| {
        for step in 0..CHANGES {
            let person = Person::new(2 * step + seed, &format!("{step}"), 20);
            match people.table.insert(person) {
                Ok(()) => {}
                Err(TableError::Duplicate { index, existing, rejected }) => {
                    assert_eq!((&*index, &existing.email), ("email", &rejected.email));
                    assert_ne!(existing.id % 2, seed);
                }
                Err(error) => panic!("{error}"),
            }
            if step >= 20 {
                let gone = people.by_email.get(&format!("{}", step - 20)).map(|row| row.id);
                assert!(gone.is_none_or(|id| people.table.remove(id).is_ok()));
            }
        }
    };
    beside(&write, &|| is_one_moment(&people));
    people.table.check_invariants().unwrap();
}

#[test]
fn changes_by_closures_lose_nothing() {
    let people = people();
    people.table.insert(Person::new(1, "a", 0)).unwrap();
    let write = |_| {
        for _ in 0..CHANGES {
            people.table.update(1, |person| Person { age: person.age + 1, ..person.clone() }).unwrap();
        }
    };
    beside(&write, &|| assert_eq!(people.by_age.snapshot().iter().count(), 1));
    assert_eq!(u64::from(people.table.get(1).unwrap().age), 2 * CHANGES);
}

#[test]
fn a_row_that_is_refreshed_while_expired_ones_are_removed_stays() {
    let people = people();
    for id in 0..1000 {
        people.table.insert(Person::new(id, &format!("{id}"), 0)).unwrap();
    }
    let removed = people.table.retain(|person| {
        if person.id.is_multiple_of(10) {
            people.table.update(person.id, |person| Person { age: 7, ..person.clone() }).unwrap();
        }
        person.age > 0
    });
    assert_eq!((removed.unwrap(), people.table.len()), (900, 100));
    assert!(people.table.snapshot().values().all(|person| person.id % 10 == 0 && person.age == 7));
    people.table.check_invariants().unwrap();
}

#[test]
fn tables_handles_and_snapshots_go_to_other_threads() {
    fn both<T: Send + Sync>(_: &T) {}
    let people = people();
    let snapshot = people.table.snapshot();
    both(&(&people.table, &people.by_email, &people.by_age, people.by_age.at(&snapshot)));
    both(&(&snapshot, Batch::<u64, Person>::new()));
    let owned = people.table.snapshot_owned();
    people.table.insert(Person::new(1, "a", 0)).unwrap();
    let (by_email, clone) = (people.by_email.clone(), owned.clone());
    let sent = std::thread::spawn(move || (clone.into_range(..).count(), by_email.at(&owned).count(..)));
    assert_eq!(sent.join().unwrap(), (0, 0));
}
