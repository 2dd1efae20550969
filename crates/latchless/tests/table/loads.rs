//! A table that is filled with a saved state, emptied again, and shrunk, while there are handles of its
//! indexes.

use crate::model::random;
use crate::people::{Person, people};
use latchless::table::TableError;
use latchless_core::testing::Rng;
use std::collections::BTreeMap;

#[test]
fn a_loaded_table_goes_on_from_its_number_and_a_refused_load_leaves_nothing() {
    let mut people = people();
    let mut rng = Rng(3);
    let map: BTreeMap<u64, Person> = (0..100)
        .map(|id| (id, Person { email: format!("{id}"), badge: Some(id), ..random(&mut rng, id) }))
        .collect();
    let twice = map.values().cloned().chain([Person::new(100, "7", 1)]);
    let refused = people.table.load(twice, 41);
    assert!(matches!(refused, Err(TableError::Duplicate { index, .. }) if &*index == "email"));
    assert_eq!((people.table.len(), people.by_email.len(), people.table.newest()), (0, 0, 0));
    people.check(&people.table.snapshot(), &BTreeMap::new());

    people.table.load(map.values().cloned(), 41).unwrap();
    assert_eq!(people.table.newest(), 41);
    people.table.check_invariants().unwrap();
    people.check(&people.table.snapshot(), &map);
    people.table.insert(Person::new(200, "new", 1)).unwrap();
    assert_eq!((people.table.newest(), people.by_email.len()), (42, 101));

    let before = people.by_email.snapshot();
    assert!(!people.table.reset());
    assert_eq!((people.table.len(), before.count(..)), (101, 101));
    drop(before);
    assert!(people.table.reset());
    assert_eq!((people.table.len(), people.by_age.len(), people.table.newest()), (0, 0, 0));
    people.check(&people.table.snapshot(), &BTreeMap::new());
    people.table.load(map.values().cloned(), 7).unwrap();
    people.table.insert(Person::new(200, "new", 1)).unwrap();
    people.table.check_invariants().unwrap();
    assert_eq!((people.table.newest(), people.by_age.len()), (8, 101));
}

#[test]
fn handles_are_found_by_name_and_type() {
    let people = people();
    people.table.insert(Person { tags: vec!["t".to_owned()], ..Person::new(1, "a", 30) }).unwrap();
    let table = &people.table;
    assert_eq!(table.unique::<String>("email").unwrap().get("a").unwrap().id, 1);
    assert_eq!(table.index::<(String, u64)>("tag").unwrap().snapshot().count("t"), 1);
    assert!(table.unique::<String>("badge").is_none() && table.unique::<String>("age").is_none());
    assert!(table.index::<(u64, u64)>("age").is_none() && table.index::<(u32, u64)>("none").is_none());
}
