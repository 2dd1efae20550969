//! Panics and refusals: every value is still dropped once, and the index stays intact.

use super::{Census, Counted, Kind, empty, limited, over_every_kind};
use latchless::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

over_every_kind!(
    a_panicking_drop_leaves_the_index_whole,
    a_closure_that_panics_changes_nothing,
    a_refused_value_is_dropped_and_the_index_is_as_before,
);

/// Panics when it is dropped, if its flag is set.
pub struct Grenade(bool, &'static Census);

impl Drop for Grenade {
    fn drop(&mut self) {
        self.1.dropped.fetch_add(1, Ordering::Relaxed);
        assert!(!self.0 || std::thread::panicking(), "boom");
    }
}

fn a_panicking_drop_leaves_the_index_whole<K: Kind>() {
    let census = Census::new();
    let mut index = empty::<K, Arc<Grenade>>();
    {
        for number in 0..100 {
            index.insert(K::key(number).probe(), Arc::new(Grenade(number % 10 == 3, census))).unwrap();
        }
        for number in 0..50 {
            assert!(index.remove(K::key(number).probe()).is_some());
        }
        assert_eq!((index.len(), index.get(K::key(53).probe()).is_some()), (50, true));
    }
    // Some of the deferred drops panic, on whatever thread; none of the panics propagates.
    for _ in 0..1000 {
        index.flush();
    }
    index.check_invariants().unwrap();
    catch_unwind(AssertUnwindSafe(|| index.reset())).unwrap_err();
    assert!(index.is_empty());
    census.wait_for_drops(100, || index.flush());
    assert_eq!(census.counts().1, 100, "each once, the panicking ones included");
    assert!(index.insert(K::key(1).probe(), Arc::new(Grenade(false, census))).unwrap().is_none());
    index.check_invariants().unwrap();
}

fn a_closure_that_panics_changes_nothing<K: Kind>() {
    let census = Census::new();
    let index = empty::<K, Arc<Counted>>();
    let (one, two) = (&K::key(1), &K::key(2));
    index.insert(one.probe(), census.value(1, 1)).unwrap();
    let update = || drop(index.update(one.probe(), |_| panic!("mine")));
    catch_unwind(AssertUnwindSafe(update)).unwrap_err();
    let insert = || drop(index.get_or_insert_with(two.probe(), || panic!("mine")));
    catch_unwind(AssertUnwindSafe(insert)).unwrap_err();
    let retain = || _ = index.retain(|_, _| panic!("mine"));
    catch_unwind(AssertUnwindSafe(retain)).unwrap_err();
    assert_eq!((index.len(), index.get_with(one.probe(), |value| value.version)), (1, Some(1)));
    // Removed and inserted again inside the closure.
    let old = index.update(one.probe(), |value| {
        if value.version == 1 {
            index.remove(one.probe());
            index.insert(one.probe(), census.value(1, 2)).unwrap();
        }
        census.value(1, value.version + 10)
    });
    let now = index.get_with(one.probe(), |value| value.version);
    assert_eq!((old.unwrap().unwrap().version, now), (2, Some(12)));
    drop(index);
    census.all_dropped_once();
}

fn a_refused_value_is_dropped_and_the_index_is_as_before<K: Kind>() {
    let census = Census::new();
    let index = limited::<K, _>(16 << 10);
    let insert = |number| index.insert(K::key(number).probe(), census.value(number, 0)).map(|_| ());
    // Slots of refused values make room for a key or two.
    let refused = (0..).find(|&number| (0..4).all(|_| insert(number).is_err())).unwrap();
    assert!(matches!(insert(refused), Err(Error::MemoryLimit { .. })));
    let key = &K::key(refused);
    assert!(index.get_or_insert_with(key.probe(), || census.value(refused, 0)).is_err());
    assert!(index.upsert(key.probe(), |_| census.value(refused, 0)).is_err());
    assert!(index.try_insert(key.probe(), census.value(refused, 0)).is_err());
    assert_eq!(index.len() as u64, refused);
    let there = index.iter().map(|(key, value)| (key.number(), value.version));
    assert!(there.eq((0..refused).map(|number| (number, 0))));
    drop(index);
    census.all_dropped_once();
}
