//! Threads that read while others replace, remove and pop the same entries.

use super::{Census, Counted};
use crate::common::{Rng, scaled};
use latchless::BoxedIndex;

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
                    let next =
                        |old: Option<&Counted>| census.value(key, old.map_or(0, |old| old.version + 1));
                    match rng.below(12) {
                        0 => drop(index.remove(key, &pin)),
                        6 => drop(index.remove_if(key, |old| old.version % 2 == 0, &pin)),
                        7 => drop(index.upsert(key, next, &pin).unwrap()),
                        8 => drop(index.compute(key, |old| old.is_none().then(|| next(old)), &pin).unwrap()),
                        9 => drop(index.retain(|at, value| at != key || value.version % 3 == 0)),
                        10 => drop(index.remove_range(key..key + 2).unwrap()),
                        11 => {
                            let entries = [key, key + 1, key].map(|key| (key, census.value(key, version)));
                            index.insert_many(entries, &mut [None; 3], &pin).unwrap();
                            assert!(index.pop_first(&pin).is_none_or(|(_, value)| value.is_whole()));
                            index.remove_many(&[key, key + 1], &mut [None; 2], &pin).unwrap();
                        }
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
                    for (at, value) in [index.higher(key, &pin), index.floor(key, &pin)].into_iter().flatten()
                    {
                        assert!(value.is_whole() && value.key == at);
                    }
                    let mut last = None;
                    for (key, value) in index.range(key..key + 8, &pin) {
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
