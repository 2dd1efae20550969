//! Threads that read while others replace, remove and pop the same entries.

use super::{Census, Counted, Kind, empty, over_every_kind};
use crate::common::{Rng, scaled};
use latchless::{Direction, Index};
use std::ops::ControlFlow;
use std::sync::Arc;

over_every_kind!(threads_read_whole_values_while_others_replace_them);

/// The number of keys: few, so that operations collide.
const KEYS: u64 = 64;

fn threads_read_whole_values_while_others_replace_them<K: Kind>() {
    let census = Census::new();
    let index = empty::<K, _>();
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
fn write<K: Kind>(index: &Index<K, Arc<Counted>>, census: &'static Census, mut rng: Rng) {
    for version in 0..scaled(20_000) as u64 {
        let key = rng.below(KEYS);
        let own = &K::key(key);
        let at = own.probe();
        let next = |old: Option<&Arc<Counted>>| census.value(key, old.map_or(0, |old| old.version + 1));
        match rng.below(12) {
            0 => drop(index.remove(at)),
            6 => drop(index.remove_if(at, |old| old.version % 2 == 0)),
            7 => drop(index.upsert(at, next).unwrap()),
            8 => drop(index.compute(at, |old| old.is_none().then(|| next(old))).unwrap()),
            9 => drop(index.retain(|at, value| at.number() != key || value.version % 3 == 0)),
            10 => drop(index.remove_range(K::key(key).probe()..K::key(key + 2).probe()).unwrap()),
            11 => {
                let keys = [key, key + 1].map(K::key);
                let entries = [0, 1, 0].map(|at| (keys[at].probe(), census.value(key + at as u64, version)));
                index.insert_many(&entries, &mut [const { None }; 3]).unwrap();
                assert!(index.pop_first().is_none_or(|(_, value)| value.is_whole()));
                index.remove_many(&[keys[0].probe(), keys[1].probe()], &mut [const { None }; 2]).unwrap();
            }
            1 => drop(index.update(at, |old| census.value(key, old.version + 1)).unwrap()),
            2 => {
                let make = || census.value(key, version);
                assert!(index.get_or_insert_with(at, make).unwrap().is_whole());
            }
            _ => drop(index.insert(at, census.value(key, version)).unwrap()),
        }
    }
}

/// Reads values by every operation.
fn read<K: Kind>(index: &Index<K, Arc<Counted>>, mut rng: Rng) {
    for _ in 0..scaled(10_000) {
        let key = rng.below(KEYS);
        let own = &K::key(key);
        let at = own.probe();
        assert!(index.get(at).is_none_or(|value| value.is_whole() && value.key == key));
        if let Some((found, value)) = index.higher(at) {
            assert!(value.is_whole() && value.key == found.number());
        }
        if let Some((found, value)) = index.floor(at) {
            assert!(value.is_whole() && value.key == found.number());
        }
        let pin = index.pin();
        assert!(index.get_ref(at, &pin).is_none_or(|value| value.is_whole() && value.key == key));
        let (mut last, end) = (None, K::key(key + 8));
        for (found, value) in index.range(at..end.probe()) {
            let found = found.number();
            assert!(value.is_whole() && value.key == found && last < Some(found));
            last = Some(found);
        }
        let mut last = None;
        let _ = index.scan_lent(at.., Direction::Forward, |_, value| {
            assert!(value.is_whole() && last < Some(value.key));
            last = Some(value.key);
            ControlFlow::Continue(())
        });
    }
}
