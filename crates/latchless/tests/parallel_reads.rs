//! Reads on rayon's threads, for every engine.

#![cfg(feature = "rayon")]

use core::fmt::Debug;
use core::ops::Bound::{Excluded, Included};
use latchless::{Index, IndexValue, KeyFor};
use rayon::prelude::*;
use std::sync::Arc;

/// Compares what rayon's threads read with what one thread reads.
fn reads_agree<K, V>(index: &Index<K, V>, keys: &[K])
where
    K: KeyFor<V> + Clone + PartialEq + Debug + Send,
    V: IndexValue + PartialEq + Debug,
    for<'q> K::Probe<'q>: Sync,
{
    let all: Vec<_> = index.iter().collect();
    assert!(index.into_par_iter().collect::<Vec<_>>() == all);
    let ends = [0, 1, 300, all.len() / 2, all.len() - 1].map(|at| all[at].0.clone());
    for low in &ends {
        for high in &ends {
            let range = (Excluded(low.probe()), Included(high.probe()));
            let expected: Vec<_> = index.range(range).collect();
            assert!(index.par_range(range).collect::<Vec<_>>() == expected, "{low:?} to {high:?}");
            let range = low.probe()..high.probe();
            let count = index.par_fold(range.clone(), || 0, |count, _, _| count + 1, |a, b| a + b);
            assert_eq!(count, index.count(range));
        }
    }
    let probes: Vec<_> = keys.iter().map(K::probe).collect();
    let mut answers = vec![None; keys.len()];
    index.par_get_many(&probes, &mut answers).unwrap();
    assert!(answers == index.get_all(&probes));
    let (mut values, mut found) = (vec![all[0].1.clone(); keys.len()], vec![false; keys.len()]);
    let hits = index.par_get_columns(&probes, &mut values, &mut found).unwrap();
    assert_eq!(hits, answers.iter().flatten().count());
    assert!(answers.iter().map(|answer| answer.as_ref().unwrap_or(&all[0].1)).eq(&values));
    let (mut near, mut expected) = (vec![None; keys.len()], vec![None; keys.len()]);
    index.par_floor_many(&probes, &mut near).unwrap();
    index.floor_many(&probes, &mut expected).unwrap();
    assert!(near == expected);
    index.par_higher_many(&probes, &mut near).unwrap();
    index.higher_many(&probes, &mut expected).unwrap();
    assert!(near == expected);
}

#[test]
fn every_engine_is_read_in_parallel() {
    let len = if cfg!(miri) { 300 } else { 20_000 };
    let (text, number) = (|number: u64| format!("key {number}"), |key: u64| key * key);
    let texts: Vec<String> = (0..len).map(|number| text(number * 2)).collect();
    reads_agree(&(0..len).map(|key| (text(key), key)).collect(), &texts);
    reads_agree(&(0..len).map(|key| (text(key), Arc::new(key))).collect(), &texts);
    let numbers: Vec<u64> = (0..len).map(|key| number(key) + key % 2).collect();
    reads_agree(&(0..len).map(|key| (number(key), key.to_string())).collect(), &numbers);
    reads_agree(&(0..len).map(|key| (number(key), Arc::new(key))).collect(), &numbers);
}

#[test]
fn words_are_divided_at_keys_that_were_stored() {
    // Clustered, so that the middle of the ends is far from that of the entries.
    let clustered = (0..20_000u64).map(|key| ((1 << 60) + key, key)).chain([(0, 1), (u64::MAX, 2)]);
    reads_agree(&clustered.collect(), &(0..500).map(|key| (1 << 60) + 3 * key).collect::<Vec<u64>>());
    reads_agree::<i32, i32>(&(0..2000).map(|key| (key - 1000, key)).collect(), &[-1001, -1, 7, 5000]);
}
