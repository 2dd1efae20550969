//! Panics and refusals: every value is still dropped once, and the index stays intact.

use super::{Census, Counted};
use latchless::index::Options;
use latchless::{BoxedIndex, Error};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

/// Panics when it is dropped, if its flag is set.
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
    // Removed and inserted again inside the closure.
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
