//! The table of these tests: people with a unique e-mail, an age, at most one badge, and any number of tags.

use latchless::table::{NonUnique, RowSnapshot, Table, Unique};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq)]
pub struct Person {
    pub id: u64,
    pub email: String,
    pub age: u32,
    pub badge: Option<u64>,
    pub tags: Vec<String>,
}

impl Person {
    pub fn new(id: u64, email: &str, age: u32) -> Self {
        Self { id, email: email.to_owned(), age, badge: None, tags: Vec::new() }
    }
}

pub struct People {
    pub table: Table<u64, Person>,
    pub by_email: Unique<String, Person>,
    pub by_badge: Unique<u64, Person>,
    pub by_age: NonUnique<(u32, u64), Person>,
    pub by_tag: NonUnique<(String, u64), Person>,
}

pub fn people() -> People {
    let mut builder = Table::builder(|person: &Person| person.id);
    let by_email = builder.unique("email", |person| person.email.clone()).unwrap();
    let by_badge = builder.unique_each("badge", |person| person.badge).unwrap();
    let by_age = builder.index("age", |person| person.age).unwrap();
    let by_tag = builder.index_each("tag", |person| person.tags.clone()).unwrap();
    People { table: builder.build().unwrap(), by_email, by_badge, by_age, by_tag }
}

/// The persons of a map, in the order of these keys.
fn sorted<S: Ord>(map: &BTreeMap<u64, Person>, keys: impl Fn(&Person) -> Vec<S>) -> Vec<Person> {
    let entries = map.values().flat_map(|person| keys(person).into_iter().map(move |key| (key, person.id)));
    let mut entries: Vec<_> = entries.collect();
    entries.sort();
    entries.dedup();
    entries.into_iter().map(|(_, id)| map[&id].clone()).collect()
}

fn same(found: impl Iterator<Item = Arc<Person>>, wanted: &[Person]) -> bool {
    found.map(|person| (*person).clone()).eq(wanted.iter().cloned())
}

impl People {
    /// Checks all indexes at a moment against the rows of a map.
    pub fn check(&self, snapshot: &RowSnapshot<'_, u64, Person>, map: &BTreeMap<u64, Person>) {
        let all: Vec<Person> = map.values().cloned().collect();
        assert!(same(snapshot.values(), &all));
        let emails = sorted(map, |person| vec![person.email.clone()]);
        assert!(same(self.by_email.at(snapshot).values(), &emails));
        let badges = sorted(map, |person| person.badge.into_iter().collect());
        assert!(same(
            self.by_badge.at(snapshot).values().rev(),
            &badges.into_iter().rev().collect::<Vec<_>>()
        ));
        let ages = sorted(map, |person| vec![person.age]);
        let by_age = self.by_age.at(snapshot);
        assert!(same(by_age.iter(), &ages));
        for low in 0..8 {
            for high in 0..8 {
                let within = |range: &dyn Fn(u32) -> bool| -> Vec<Person> {
                    ages.iter().filter(|person| range(person.age)).cloned().collect()
                };
                assert!(same(by_age.range(low..high), &within(&|age| low <= age && age < high)));
                assert!(same(by_age.range(low..=high), &within(&|age| low <= age && age <= high)));
                let bounds = (std::ops::Bound::Excluded(low), std::ops::Bound::Included(high));
                assert!(same(by_age.range(bounds), &within(&|age| low < age && age <= high)));
            }
            assert!(same(
                by_age.get(low),
                &ages.iter().filter(|p| p.age == low).cloned().collect::<Vec<_>>()
            ));
        }
        let by_tag = self.by_tag.at(snapshot);
        let tags = sorted(map, |person| person.tags.clone());
        assert!(same(by_tag.iter(), &tags));
        for tag in ["", "t", "t1", "u"] {
            let with = |is: &dyn Fn(&String) -> bool| {
                sorted(map, |person| person.tags.iter().filter(|tag| is(tag)).cloned().collect())
            };
            assert!(same(by_tag.get(tag), &with(&|own| own == tag)));
            assert!(same(by_tag.prefix(tag), &with(&|own| own.starts_with(tag))));
            assert!(same(by_tag.range(tag..), &with(&|own| own.as_str() >= tag)));
            assert_eq!(by_tag.count(tag), with(&|own| own == tag).len());
        }
    }
}
