//! Batches, and their refusals.

use super::kinds::{Kind, Of, key, over_every_kind};
use super::{Census, Counted};
use latchless::index::{Incomplete, Options};
use latchless::{Error, FillFactor};

over_every_kind!(
    a_batch_that_is_refused_in_part_says_which_part,
    buffers_of_unequal_length_are_refused_whole,
    a_load_that_is_refused_leaves_the_index_empty,
);

fn limited<K: Kind>(limit_bytes: usize) -> Of<K, Counted> {
    let options = Options { limit_bytes: Some(limit_bytes), huge_pages: false, ..Options::default() };
    Of::<K, Counted>::with_options(options).unwrap()
}

fn a_batch_that_is_refused_in_part_says_which_part<K: Kind>() {
    for limit in [12 << 10, 16 << 10, 24 << 10] {
        let census = Census::new();
        let index = limited::<K>(limit);
        let pin = index.pin();
        let keys = 2000;
        index.insert(key!(K, 7), census.value(7, 1), &pin).unwrap();
        let mut replaced = vec![None; keys as usize];
        let entries: Vec<_> = (0..keys).map(|number| (K::key(number), census.value(number, 2))).collect();
        let Incomplete { error, refused } = index.insert_many(entries, &mut replaced, &pin).unwrap_err();
        assert!(matches!(error, Error::MemoryLimit { .. }));
        assert!(refused.is_sorted() && refused.len() + index.len() == keys as usize);
        for number in 0..keys {
            let done = refused.binary_search(&(number as usize)).is_err();
            let now = index.get(key!(K, number), &pin).map(|value| value.version);
            assert_eq!(now, done.then_some(2), "{number}");
            let before = replaced[number as usize].map(|value| value.version);
            assert_eq!(before, (number == 7).then_some(1), "{number}");
        }
        index.check_invariants().unwrap();
        drop(pin);
        drop(index);
        census.all_dropped_once();
    }
}

fn buffers_of_unequal_length_are_refused_whole<K: Kind>() {
    let census = Census::new();
    let index = limited::<K>(1 << 20);
    let pin = index.pin();
    let unequal = Error::UnequalBuffers { left: 2, right: 1 };
    let entries = [1, 2].map(|number| (K::key(number), census.value(number, 0)));
    let incomplete = index.insert_many(entries, &mut [None], &pin).unwrap_err();
    assert_eq!(incomplete, Incomplete { error: unequal.clone(), refused: vec![0, 1] });
    let keys = [1, 2].map(K::key);
    assert_eq!(index.remove_many(&keys, &mut [None], &pin), Err(unequal.clone()));
    assert_eq!(index.get_many(&keys, &mut [None], &pin), Err(unequal));
    assert!(index.is_empty());
    drop(pin);
    census.all_dropped_once();
}

fn a_load_that_is_refused_leaves_the_index_empty<K: Kind>() {
    let census = Census::new();
    let mut index = limited::<K>(64 << 10);
    let entries = |keys: std::ops::Range<u64>| keys.map(|number| (K::key(number), census.value(number, 0)));
    let refused = index.bulk_load(entries(0..5000), FillFactor::FULL);
    assert!(matches!(refused, Err(Error::MemoryLimit { .. })) && index.is_empty());
    let unsorted = entries(0..3).chain(entries(2..4));
    let refused = index.bulk_load(unsorted, FillFactor::FULL);
    assert_eq!((refused, index.len()), (Err(Error::DuplicateKey { position: 3 }), 0));
    census.all_dropped_once();
    index.bulk_load(entries(0..50), FillFactor::FULL).unwrap();
    assert_eq!(index.bulk_load(entries(50..60), FillFactor::FULL), Err(Error::NotEmpty { len: 50 }));
    assert!(index.keys().map(|key| K::number(&key)).eq(0..50));
    index.check_invariants().unwrap();
    drop(index);
    census.all_dropped_once();
}
