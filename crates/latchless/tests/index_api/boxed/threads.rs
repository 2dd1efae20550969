//! Threads that read while others replace, remove and pop the same entries.

use super::kinds::{Kind, Of, empty, key, over_every_kind};
use super::{Census, Counted};
use crate::common::{Rng, scaled};

over_every_kind!(threads_read_whole_values_while_others_replace_them);

/// The number of keys: few, so that operations collide.
const KEYS: u64 = 64;

fn threads_read_whole_values_while_others_replace_them<K: Kind>() {
    let census = Census::new();
    let index = empty::<K, Counted>();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let index = &index;
            scope.spawn(move || write::<K>(index, census, Rng(thread)));
            scope.spawn(move || read::<K>(index, Rng(100 + thread)));
        }
    });
    index.check_invariants().unwrap();
    drop(index);
    census.all_dropped_once();
}

/// Replaces and removes values by every operation.
fn write<K: Kind>(index: &Of<K, Counted>, census: &'static Census, mut rng: Rng) {
    for version in 0..scaled(20_000) as u64 {
        let (pin, key) = (index.pin(), rng.below(KEYS));
        let own = &K::key(key);
        let at = K::arg(own);
        let next = |old: Option<&Counted>| census.value(key, old.map_or(0, |old| old.version + 1));
        match rng.below(12) {
            0 => drop(index.remove(at, &pin)),
            6 => drop(index.remove_if(at, |old| old.version % 2 == 0, &pin)),
            7 => drop(index.upsert(at, next, &pin).unwrap()),
            8 => drop(index.compute(at, |old| old.is_none().then(|| next(old)), &pin).unwrap()),
            9 => drop(index.retain(|at, value| K::shown(at) != key || value.version % 3 == 0)),
            10 => drop(index.remove_range(K::key(key)..K::key(key + 2)).unwrap()),
            11 => {
                let entries = [key, key + 1, key].map(|key| (K::key(key), census.value(key, version)));
                index.insert_many(entries, &mut [None; 3], &pin).unwrap();
                assert!(index.pop_first(&pin).is_none_or(|(_, value)| value.is_whole()));
                index.remove_many(&[key, key + 1].map(K::key), &mut [None; 2], &pin).unwrap();
            }
            1 => drop(index.update(at, |old| census.value(key, old.version + 1), &pin).unwrap()),
            2 => {
                let make = || census.value(key, version);
                assert!(index.get_or_insert_with(at, make, &pin).unwrap().is_whole());
            }
            _ => drop(index.insert(at, census.value(key, version), &pin).unwrap()),
        }
    }
}

/// Reads values by every operation.
fn read<K: Kind>(index: &Of<K, Counted>, mut rng: Rng) {
    for _ in 0..scaled(10_000) {
        let (pin, key) = (index.pin(), rng.below(KEYS));
        let own = &K::key(key);
        let at = K::arg(own);
        assert!(index.get(at, &pin).is_none_or(|value| value.is_whole() && value.key == key));
        let neighbours = [index.higher(at, &pin), index.floor(at, &pin)];
        for (found, value) in neighbours.into_iter().flatten() {
            assert!(value.is_whole() && value.key == K::number(&found));
        }
        let (mut last, mut cursor) = (None, index.cursor(&pin));
        cursor.seek(key!(K, key / 2));
        while let Some((found, value)) = cursor.current() {
            let found = K::shown(found);
            assert!(value.is_whole() && value.key == found && last < Some(found));
            last = Some(found);
            if last >= Some(key) {
                break;
            }
            cursor.next();
        }
        let mut last = None;
        for (found, value) in index.range(own.clone()..K::key(key + 8), &pin) {
            let found = K::number(&found);
            assert!(value.is_whole() && value.key == found && last < Some(found));
            last = Some(found);
        }
        index.for_each(own.clone().., |found, value| {
            assert!(value.is_whole() && value.key == K::shown(found));
        });
    }
}
