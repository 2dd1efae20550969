//! Values of any type: each is dropped once, none while it is read.

use crate::common::{Rng, scaled};
use latchless::index::{Options, Pinned};
use latchless::{BoxedIndex, Error};
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts what is made and what is dropped, and knows itself whole.
#[derive(Debug, Default)]
struct Census {
    made: AtomicU64,
    dropped: AtomicU64,
}

impl Census {
    fn new() -> &'static Self {
        Box::leak(Box::default())
    }

    fn value(&'static self, key: u64, version: u64) -> Counted {
        self.made.fetch_add(1, Ordering::Relaxed);
        Counted { census: self, key, version, check: Box::new(key ^ version) }
    }

    fn counts(&self) -> (u64, u64) {
        (self.made.load(Ordering::Relaxed), self.dropped.load(Ordering::Relaxed))
    }

    /// Waits until so many are dropped: drops that were put off happen on whatever thread comes to
    /// them, those of other tests included.
    fn wait_for_drops(&self, at_least: u64) {
        for _ in 0..20_000 {
            if self.counts().1 >= at_least {
                return;
            }
            Pinned::new().flush();
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        panic!("{} of {at_least} drops", self.counts().1);
    }

    fn all_dropped_once(&self) {
        let (made, _) = self.counts();
        self.wait_for_drops(made);
        assert_eq!(self.counts(), (made, made));
    }
}

#[derive(Debug)]
struct Counted {
    census: &'static Census,
    key: u64,
    version: u64,
    check: Box<u64>,
}

impl Counted {
    fn is_whole(&self) -> bool {
        *self.check == self.key ^ self.version
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert!(self.is_whole());
        *self.check = !0;
        self.census.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn every_operation_against_the_model() {
    let census = Census::new();
    let index = BoxedIndex::<u32, Counted>::new().unwrap();
    let (mut model, mut rng) = (BTreeMap::new(), Rng(1));
    for version in 0..scaled(20_000) as u64 {
        let (pin, key) = (index.pin(), rng.below(500));
        let at = key as u32;
        let value = |value: &Counted| {
            assert!(value.is_whole());
            value.version
        };
        let entry = |entry: Option<(u32, &Counted)>| entry.map(|(key, found)| (u64::from(key), value(found)));
        match rng.below(12) {
            0..4 => {
                let before = index.insert(at, census.value(key, version), &pin).unwrap();
                assert_eq!(before.map(value), model.insert(key, version));
            }
            4 => assert_eq!(index.remove(at, &pin).map(value), model.remove(&key)),
            5 => {
                let before = index.update(at, |_| census.value(key, version), &pin).unwrap().map(value);
                assert_eq!(before, model.get_mut(&key).map(|old| std::mem::replace(old, version)));
            }
            6 => {
                let standing = index.get_or_insert_with(at, || census.value(key, version), &pin).unwrap();
                assert_eq!(value(standing), *model.entry(key).or_insert(version));
            }
            7 => {
                let below = model.range(..=key).next_back().map(|(&key, &version)| (key, version));
                let above = model.range(key..).next().map(|(&key, &version)| (key, version));
                assert_eq!(entry(index.floor(at, &pin)), below);
                assert_eq!(entry(index.ceiling(at, &pin)), above);
            }
            8 => {
                assert_eq!(entry(index.first(&pin)), model.first_key_value().map(|(&k, &v)| (k, v)));
                assert_eq!(entry(index.last(&pin)), model.last_key_value().map(|(&k, &v)| (k, v)));
                assert_eq!(entry(index.pop_first(&pin)), model.pop_first());
                assert_eq!(entry(index.pop_last(&pin)), model.pop_last());
            }
            9 => {
                let range = index.range(at.., &pin).unwrap().map(|(_, found)| value(found));
                assert!(range.eq(model.range(key..).map(|(_, &version)| version)));
                assert_eq!(index.count(at..).unwrap(), model.range(key..).count());
            }
            10 => {
                let keys: Vec<u32> = (0..150).map(|_| rng.below(500) as u32).collect();
                let mut answers = vec![None; keys.len()];
                index.get_many(&keys, &mut answers, &pin).unwrap();
                let expected = keys.iter().map(|&key| model.get(&u64::from(key)).copied());
                assert!(answers.into_iter().map(|found| found.map(value)).eq(expected));
            }
            _ => {
                assert_eq!(index.get(at, &pin).map(value), model.get(&key).copied());
                assert_eq!(index.read(at, value), model.get(&key).copied());
                assert_eq!(index.contains_key(at), model.contains_key(&key));
            }
        }
        assert_eq!(index.len(), model.len());
    }
    index.check_invariants().unwrap();
    let (made, dropped) = census.counts();
    assert!(made >= dropped + index.len() as u64, "nothing that is in is dropped");
    drop(index);
    census.all_dropped_once();
}

#[test]
fn threads_read_whole_values_while_others_replace_them() {
    let census = Census::new();
    let index = BoxedIndex::<u64, Counted>::new().unwrap();
    let keys = 64;
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let index = &index;
            scope.spawn(move || {
                let mut rng = Rng(thread);
                for version in 0..scaled(20_000) as u64 {
                    let (pin, key) = (index.pin(), rng.below(keys));
                    match rng.below(6) {
                        0 => drop(index.remove(key, &pin)),
                        1 => drop(index.update(key, |old| census.value(key, old.version + 1), &pin).unwrap()),
                        2 => {
                            let make = || census.value(key, version);
                            assert!(index.get_or_insert_with(key, make, &pin).unwrap().is_whole());
                        }
                        _ => drop(index.insert(key, census.value(key, version), &pin).unwrap()),
                    }
                }
            });
        }
        for reader in 0..2 {
            let index = &index;
            scope.spawn(move || {
                let mut rng = Rng(100 + reader);
                for _ in 0..scaled(10_000) {
                    let (pin, key) = (index.pin(), rng.below(keys));
                    assert!(index.get(key, &pin).is_none_or(|value| value.is_whole() && value.key == key));
                    let mut last = None;
                    for (key, value) in index.range(key..key + 8, &pin).unwrap() {
                        assert!(value.is_whole() && value.key == key && last < Some(key));
                        last = Some(key);
                    }
                }
            });
        }
    });
    index.check_invariants().unwrap();
    drop(index);
    census.all_dropped_once();
}

#[test]
fn memory_of_retired_values_comes_back() {
    let census = Census::new();
    let index = BoxedIndex::<u64, Counted>::new().unwrap();
    let together = BoxedIndex::<u64, Counted>::new().unwrap();
    for key in 0..scaled(1000) as u64 {
        together.insert(key, census.value(key, key), &together.pin()).unwrap();
    }
    let in_one_round = together.memory_bytes();
    drop(together);
    let before = scaled(1000) as u64;
    for round in 0..10 {
        for version in 0..scaled(1000) as u64 {
            index.insert(version % 10, census.value(version % 10, version), &index.pin()).unwrap();
        }
        census.wait_for_drops(before + (round + 1) * scaled(1000) as u64 - 10);
    }
    // Pins of other threads, other tests' as well, may keep all values of a round, and no more.
    let held = index.memory_bytes();
    assert!(held <= 2 * in_one_round, "{held} bytes, and {in_one_round} for the values of one round");
    drop(index);
    census.all_dropped_once();
}

/// Panics when it is dropped, if it is told to.
struct Grenade(bool, &'static Census);

impl Drop for Grenade {
    fn drop(&mut self) {
        self.1.dropped.fetch_add(1, Ordering::Relaxed);
        assert!(!self.0 || std::thread::panicking(), "boom");
    }
}

#[test]
fn a_panicking_drop_leaves_the_index_whole() {
    let census = Census::new();
    let mut index = BoxedIndex::<u64, Grenade>::new().unwrap();
    {
        let pin = index.pin();
        for key in 0..100 {
            index.insert(key, Grenade(key % 10 == 3, census), &pin).unwrap();
        }
        for key in 0..50 {
            assert!(index.remove(key, &pin).is_some());
        }
        assert_eq!((index.len(), index.get(53, &pin).is_some()), (50, true));
    }
    // Some of the drops that were put off panic, on whatever thread; none of it comes out.
    for _ in 0..1000 {
        index.pin().flush();
    }
    index.check_invariants().unwrap();
    catch_unwind(AssertUnwindSafe(|| index.clear())).unwrap_err();
    assert!(index.is_empty());
    census.wait_for_drops(100);
    assert_eq!(census.counts().1, 100, "each once, the panicking ones included");
    let pin = index.pin();
    assert!(index.insert(1, Grenade(false, census), &pin).unwrap().is_none());
    index.check_invariants().unwrap();
}

#[test]
fn a_closure_that_panics_changes_nothing() {
    let census = Census::new();
    let index = BoxedIndex::<u64, Counted>::new().unwrap();
    let pin = index.pin();
    index.insert(1, census.value(1, 1), &pin).unwrap();
    catch_unwind(AssertUnwindSafe(|| drop(index.update(1, |_| panic!("mine"), &pin)))).unwrap_err();
    catch_unwind(AssertUnwindSafe(|| drop(index.get_or_insert_with(2, || panic!("mine"), &pin))))
        .unwrap_err();
    assert_eq!((index.len(), index.read(1, |value| value.version)), (1, Some(1)));
    // Taken out and put in again under the closure.
    let old = index.update(
        1,
        |value| {
            if value.version == 1 {
                index.insert(1, census.value(1, 2), &pin).unwrap();
            }
            census.value(1, value.version + 10)
        },
        &pin,
    );
    assert_eq!((old.unwrap().unwrap().version, index.read(1, |value| value.version)), (2, Some(12)));
    drop(pin);
    drop(index);
    census.all_dropped_once();
}

#[test]
fn a_refused_value_is_dropped_and_the_index_is_as_before() {
    let census = Census::new();
    let options = Options { limit_bytes: Some(16 << 10), huge_pages: false, ..Options::default() };
    let index = BoxedIndex::<u64, Counted>::with_options(options).unwrap();
    let pin = index.pin();
    let refused = (0..).find(|&key| index.insert(key, census.value(key, 0), &pin).is_err()).unwrap();
    let error = index.insert(refused, census.value(refused, 0), &pin).unwrap_err();
    assert!(matches!(error, Error::MemoryLimit { .. }));
    assert!(index.get_or_insert_with(refused, || census.value(refused, 0), &pin).is_err());
    assert_eq!(index.len() as u64, refused);
    assert!(index.iter(&pin).map(|(key, value)| (key, value.version)).eq((0..refused).map(|key| (key, 0))));
    drop(pin);
    drop(index);
    census.all_dropped_once();
}

#[test]
fn ranges_from_both_ends_and_debug() {
    let index = BoxedIndex::<i64, String>::new().unwrap();
    let pin = index.pin();
    for key in -50..50 {
        index.insert(key, key.to_string(), &pin).unwrap();
    }
    let mut entries = index.range(-3..3, &pin).unwrap();
    assert_eq!(entries.next().unwrap().1, "-3");
    assert_eq!(entries.next_back().unwrap().1, "2");
    index.insert(0, "zero".to_owned(), &pin).unwrap();
    index.remove(1, &pin);
    assert_eq!(entries.map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["-2", "-1", "zero"]);
    assert_eq!(index.range((Included(3), Excluded(-3)), &pin).err(), Some(Error::InvertedRange));
    index.update(0, |value| value.clone() + "!", &pin).unwrap();
    assert_eq!(index.get_cloned(0), Some("zero!".to_owned()));
    let few = BoxedIndex::<u8, &str>::new().unwrap();
    few.insert(7, "seven", &pin).unwrap();
    assert_eq!(format!("{few:?}"), r#"{7: "seven"}"#);
}
