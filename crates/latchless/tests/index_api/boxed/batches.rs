//! Batches, and their refusals.

use super::{Census, Counted};
use latchless::index::{Incomplete, Options};
use latchless::{BoxedIndex, Error, FillFactor};

fn limited(limit_bytes: usize) -> BoxedIndex<u64, Counted> {
    let options = Options { limit_bytes: Some(limit_bytes), huge_pages: false, ..Options::default() };
    BoxedIndex::with_options(options).unwrap()
}

#[test]
fn a_batch_that_is_refused_in_part_says_which_part() {
    for limit in [8 << 10, 16 << 10, 24 << 10] {
        let census = Census::new();
        let index = limited(limit);
        let pin = index.pin();
        let keys = 2000;
        index.insert(7, census.value(7, 1), &pin).unwrap();
        let mut replaced = vec![None; keys as usize];
        let entries: Vec<_> = (0..keys).map(|key| (key, census.value(key, 2))).collect();
        let Incomplete { error, refused } = index.insert_many(entries, &mut replaced, &pin).unwrap_err();
        assert!(matches!(error, Error::MemoryLimit { .. }));
        assert!(refused.is_sorted() && refused.len() + index.len() == keys as usize);
        for key in 0..keys {
            let done = refused.binary_search(&(key as usize)).is_err();
            assert_eq!(index.get(key, &pin).map(|value| value.version), done.then_some(2), "{key}");
            assert_eq!(replaced[key as usize].map(|value| value.version), (key == 7).then_some(1), "{key}");
        }
        index.check_invariants().unwrap();
        drop(pin);
        drop(index);
        census.all_dropped_once();
    }
}

#[test]
fn buffers_of_unequal_length_are_refused_whole() {
    let census = Census::new();
    let index = limited(1 << 20);
    let pin = index.pin();
    let unequal = Error::UnequalBuffers { left: 2, right: 1 };
    let entries = [1, 2].map(|key| (key, census.value(key, 0)));
    let incomplete = index.insert_many(entries, &mut [None], &pin).unwrap_err();
    assert_eq!(incomplete, Incomplete { error: unequal.clone(), refused: vec![0, 1] });
    assert_eq!(index.remove_many(&[1, 2], &mut [None], &pin), Err(unequal));
    assert!(index.is_empty());
    drop(pin);
    census.all_dropped_once();
}

#[test]
fn a_load_that_is_refused_leaves_the_index_empty() {
    let census = Census::new();
    let mut index = limited(64 << 10);
    let entries = |keys: std::ops::Range<u64>| keys.map(|key| (key, census.value(key, 0)));
    let refused = index.bulk_load(entries(0..5000), FillFactor::FULL);
    assert!(matches!(refused, Err(Error::MemoryLimit { .. })) && index.is_empty());
    let unsorted = entries(0..3).chain(entries(2..4));
    let refused = index.bulk_load(unsorted, FillFactor::FULL);
    assert_eq!((refused, index.len()), (Err(Error::DuplicateKey { position: 3 }), 0));
    census.all_dropped_once();
    index.bulk_load(entries(0..50), FillFactor::FULL).unwrap();
    assert_eq!(index.bulk_load(entries(50..60), FillFactor::FULL), Err(Error::NotEmpty { len: 50 }));
    assert!(index.keys().eq(0..50));
    index.check_invariants().unwrap();
    drop(index);
    census.all_dropped_once();
}
