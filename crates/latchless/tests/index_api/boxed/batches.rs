//! Batches, and their refusals.

use super::{Census, Kind, limited, over_every_kind};
use latchless::index::Incomplete;
use latchless::{Error, FillFactor};

over_every_kind!(
    a_batch_that_is_refused_in_part_says_which_part,
    buffers_of_unequal_length_are_refused_whole,
    a_load_that_is_refused_leaves_the_index_empty,
);

fn a_batch_that_is_refused_in_part_says_which_part<K: Kind>() {
    for limit in [12 << 10, 16 << 10, 24 << 10] {
        let census = Census::new();
        let index = limited::<K, _>(limit);
        let keys: Vec<K> = (0..2000).map(K::key).collect();
        index.insert(K::key(7).probe(), census.value(7, 1)).unwrap();
        let mut replaced = vec![None; keys.len()];
        let entries: Vec<_> =
            keys.iter().zip(0..).map(|(key, number)| (key.probe(), census.value(number, 2))).collect();
        let Incomplete { error, refused } = index.insert_many(&entries, &mut replaced).unwrap_err();
        drop(entries);
        assert!(matches!(error, Error::MemoryLimit { .. }));
        assert!(refused.is_sorted() && refused.len() + index.len() == keys.len());
        for (number, key) in keys.iter().enumerate() {
            let done = refused.binary_search(&number).is_err();
            let now = index.get(key.probe()).map(|value| value.version);
            assert_eq!(now, done.then_some(2), "{number}");
            let before = replaced[number].as_ref().map(|value| value.version);
            assert_eq!(before, (number == 7).then_some(1), "{number}");
        }
        index.check_invariants().unwrap();
        drop((index, replaced));
        census.all_dropped_once();
    }
}

fn buffers_of_unequal_length_are_refused_whole<K: Kind>() {
    let census = Census::new();
    let index = limited::<K, _>(1 << 20);
    let unequal = Error::UnequalBuffers { left: 2, right: 1 };
    let keys = [1, 2].map(K::key);
    let keys = [keys[0].probe(), keys[1].probe()];
    let incomplete = index.insert_many(&keys.map(|key| (key, census.value(1, 0))), &mut [None]).unwrap_err();
    assert_eq!(incomplete, Incomplete { error: unequal.clone(), refused: vec![0, 1] });
    assert_eq!(index.remove_many(&keys, &mut [None]), Err(unequal.clone()));
    assert_eq!(index.get_many(&keys, &mut [None]), Err(unequal));
    assert!(index.is_empty());
    census.all_dropped_once();
}

fn a_load_that_is_refused_leaves_the_index_empty<K: Kind>() {
    let census = Census::new();
    let mut index = limited::<K, _>(64 << 10);
    let entries = |keys: std::ops::Range<u64>| {
        keys.map(|number| (K::key(number), census.value(number, 0))).collect::<Vec<_>>()
    };
    let refused = index.bulk_load(&entries(0..5000), FillFactor::FULL);
    assert!(matches!(refused, Err(Error::MemoryLimit { .. })) && index.is_empty());
    let unsorted = [entries(0..3), entries(2..4)].concat();
    let refused = index.bulk_load(&unsorted, FillFactor::FULL);
    assert_eq!((refused, index.len()), (Err(Error::DuplicateKey { position: 3 }), 0));
    drop(unsorted);
    census.all_dropped_once_by(|| index.flush());
    index.bulk_load(&entries(0..50), FillFactor::FULL).unwrap();
    assert_eq!(index.bulk_load(&entries(50..60), FillFactor::FULL), Err(Error::NotEmpty { len: 50 }));
    assert!(index.keys().map(|key| key.number()).eq(0..50));
    index.check_invariants().unwrap();
    drop(index);
    census.all_dropped_once();
}
