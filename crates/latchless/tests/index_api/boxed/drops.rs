//! Panics and refusals: every value is still dropped once, and the index stays intact.

use super::kinds::{Kind, Of, empty, key, over_every_kind};
use super::{Census, Counted};
use latchless::Error;
use latchless::index::Options;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

over_every_kind!(
    a_panicking_drop_leaves_the_index_whole,
    a_closure_that_panics_changes_nothing,
    a_refused_value_is_dropped_and_the_index_is_as_before,
);

/// Panics when it is dropped, if its flag is set.
struct Grenade(bool, &'static Census);

impl Drop for Grenade {
    fn drop(&mut self) {
        self.1.dropped.fetch_add(1, Ordering::Relaxed);
        assert!(!self.0 || std::thread::panicking(), "boom");
    }
}

fn a_panicking_drop_leaves_the_index_whole<K: Kind>() {
    let census = Census::new();
    let mut index = empty::<K, Grenade>();
    {
        let pin = index.pin();
        for number in 0..100 {
            index.insert(key!(K, number), Grenade(number % 10 == 3, census), &pin).unwrap();
        }
        for number in 0..50 {
            assert!(index.remove(key!(K, number), &pin).is_some());
        }
        assert_eq!((index.len(), index.get(key!(K, 53), &pin).is_some()), (50, true));
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
    let pin = index.pin();
    assert!(index.insert(key!(K, 1), Grenade(false, census), &pin).unwrap().is_none());
    index.check_invariants().unwrap();
}

fn a_closure_that_panics_changes_nothing<K: Kind>() {
    let census = Census::new();
    let index = empty::<K, Counted>();
    let pin = index.pin();
    let (one, two) = (&K::key(1), &K::key(2));
    index.insert(K::arg(one), census.value(1, 1), &pin).unwrap();
    let update = || drop(index.update(K::arg(one), |_| panic!("mine"), &pin));
    catch_unwind(AssertUnwindSafe(update)).unwrap_err();
    let insert = || drop(index.get_or_insert_with(K::arg(two), || panic!("mine"), &pin));
    catch_unwind(AssertUnwindSafe(insert)).unwrap_err();
    let retain = || _ = index.retain(|_, _| panic!("mine"));
    catch_unwind(AssertUnwindSafe(retain)).unwrap_err();
    assert_eq!((index.len(), index.read(K::arg(one), |value| value.version)), (1, Some(1)));
    // Removed and inserted again inside the closure.
    let old = index.update(
        K::arg(one),
        |value| {
            if value.version == 1 {
                index.remove(K::arg(one), &pin);
                index.insert(K::arg(one), census.value(1, 2), &pin).unwrap();
            }
            census.value(1, value.version + 10)
        },
        &pin,
    );
    let now = index.read(K::arg(one), |value| value.version);
    assert_eq!((old.unwrap().unwrap().version, now), (2, Some(12)));
    drop(pin);
    drop(index);
    census.all_dropped_once();
}

fn a_refused_value_is_dropped_and_the_index_is_as_before<K: Kind>() {
    let census = Census::new();
    let options = Options { limit_bytes: Some(16 << 10), huge_pages: false, ..Options::default() };
    let index = Of::<K, Counted>::with_options(options).unwrap();
    let pin = index.pin();
    let insert = |number| index.insert(key!(K, number), census.value(number, 0), &pin).map(|_| ());
    let refused = (0..).find(|&number| insert(number).is_err()).unwrap();
    assert!(matches!(insert(refused), Err(Error::MemoryLimit { .. })));
    let key = &K::key(refused);
    assert!(index.get_or_insert_with(K::arg(key), || census.value(refused, 0), &pin).is_err());
    assert!(index.upsert(K::arg(key), |_| census.value(refused, 0), &pin).is_err());
    assert!(index.try_insert(K::arg(key), census.value(refused, 0), &pin).is_err());
    assert_eq!(index.len() as u64, refused);
    let there = index.iter(&pin).map(|(key, value)| (K::number(&key), value.version));
    assert!(there.eq((0..refused).map(|number| (number, 0))));
    drop(pin);
    drop(index);
    census.all_dropped_once();
}
