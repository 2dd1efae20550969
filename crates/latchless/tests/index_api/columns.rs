//! Batches as columns.

use crate::common::{Rng, scaled, tens, tiny};
use latchless::{Error, FillFactor, Index};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::Bound::{Excluded, Included};

#[test]
fn columns_of_answers_are_those_of_lookups() {
    let mut index = tens(3000, 3);
    let mut rng = Rng(1);
    for len in [0, 1, 127, 128, 129, 3000] {
        let keys: Vec<u64> = (0..len).map(|_| rng.below(3100)).collect();
        let expected = index.get_all(&keys);
        let (mut values, mut found) = (vec![1; len], vec![true; len]);
        let hits = index.get_columns(&keys, &mut values, &mut found);
        assert_eq!(hits, Ok(expected.iter().flatten().count()));
        assert!(
            expected.iter().map(|value| value.unwrap_or(1)).eq(values.clone()),
            "misses keep what they had"
        );
        assert!(expected.iter().map(Option::is_some).eq(found.clone()));
        assert_eq!(index.exclusive().get_columns(&keys, &mut values, &mut found), hits);
    }
}

#[test]
fn inserted_columns_are_counted_and_the_last_of_equal_keys_stays() {
    let (mut index, mut model, mut rng) = (Index::<u64, u64>::new().unwrap(), BTreeMap::new(), Rng(2));
    for round in 0..20u32 {
        let keys: Vec<u64> = (0..scaled(900)).map(|_| rng.below(4000)).collect();
        let values: Vec<u64> = keys.iter().map(|_| rng.next()).collect();
        let before = model.len();
        model.extend(keys.iter().copied().zip(values.iter().copied()));
        let new = Ok(model.len() - before);
        if round.is_multiple_of(2) {
            assert_eq!(index.insert_columns(&keys, &values), new);
        } else {
            assert_eq!(index.exclusive().insert_columns(&keys, &values), new);
        }
        let keys: Vec<u64> = keys.iter().step_by(3).copied().chain([9999]).collect();
        let expected: Vec<_> = keys.iter().map(|key| model.remove(key)).collect();
        let (mut removed, mut found) = (vec![5; keys.len()], vec![false; keys.len()]);
        let hits = index.remove_columns(&keys, &mut removed, &mut found);
        assert_eq!(hits, Ok(expected.iter().flatten().count()));
        assert!(expected.iter().map(|value| value.unwrap_or(5)).eq(removed));
        assert!(expected.iter().map(Option::is_some).eq(found));
    }
    assert!(index.iter().eq(model));
    index.check_invariants().unwrap();
}

#[test]
fn columns_that_run_out_of_memory_say_exactly_what_was_done() {
    for shared in [true, false] {
        let (mut index, mut model, mut rng) = (tiny(), BTreeMap::new(), Rng(4));
        let mut refusals = 0;
        for _ in 0..40 {
            let keys: Vec<u64> = (0..200).map(|_| rng.below(6000)).collect();
            let values: Vec<u64> = keys.iter().map(|_| rng.next()).collect();
            let before = model.len();
            let done = if shared {
                index.insert_columns(&keys, &values)
            } else {
                index.exclusive().insert_columns(&keys, &values)
            };
            let refused = done.as_ref().err().map_or(Vec::new(), |incomplete| {
                assert!(matches!(incomplete.error, Error::MemoryLimit { .. }), "{incomplete}");
                incomplete.refused.clone()
            });
            assert!(refused.is_sorted_by(|a, b| a < b));
            refusals += refused.len();
            for (at, (&key, &value)) in keys.iter().zip(&values).enumerate() {
                if refused.binary_search(&at).is_ok() {
                    assert!(!model.contains_key(&key), "a present key needs no memory");
                } else {
                    model.insert(key, value);
                }
            }
            assert!(done.is_err() || done == Ok(model.len() - before));
            assert!(index.iter().eq(model.clone()));
        }
        index.check_invariants().unwrap();
        assert!(refusals > 1000, "{refusals} refused");
    }
}

#[test]
fn columns_load_in_bulk_and_are_scanned_again() {
    let n = scaled(50_000) as u64;
    let keys: Vec<u64> = (0..n).map(|at| 5 * at).collect();
    let values: Vec<u32> = (0..n as u32).rev().collect();
    for threads in [1, 3] {
        let mut index = Index::<u64, u32>::new().unwrap();
        let threads = NonZero::new(threads).unwrap();
        index.bulk_load_columns(&keys, &values, FillFactor::default(), threads).unwrap();
        index.check_invariants().unwrap();
        let (mut their_keys, mut their_values) = (vec![], vec![]);
        assert_eq!(index.range_columns(.., &mut their_keys, &mut their_values), Ok(n as usize));
        assert_eq!((&their_keys, &their_values), (&keys, &values));
        // Appended to the existing entries.
        assert_eq!(index.exclusive().range_columns(7..=15, &mut their_keys, &mut their_values), Ok(2));
        assert_eq!((&their_keys[n as usize..], &their_values[n as usize..]), (&[10, 15][..], &values[2..4]));
        assert_eq!(index.range_columns(7..7, &mut their_keys, &mut their_values), Ok(0));
        let inverted = index.range_columns((Included(9), Excluded(7)), &mut their_keys, &mut their_values);
        assert_eq!((inverted, their_keys.len()), (Ok(0), n as usize + 2));
    }
}

#[test]
fn columns_that_cannot_be_loaded_leave_the_index_empty() {
    let mut index = tiny();
    let mut load = |keys: &[u64], values: &[u64]| {
        index.bulk_load_columns(keys, values, FillFactor::FULL, NonZero::<usize>::MIN)
    };
    assert_eq!(load(&[1, 2, 3], &[1, 2]), Err(Error::UnequalBuffers { left: 3, right: 2 }));
    assert_eq!(load(&[1, 3, 2], &[0; 3]), Err(Error::Unsorted { position: 2 }));
    assert_eq!(load(&[1, 1, 2], &[0; 3]), Err(Error::DuplicateKey { position: 1 }));
    let many: Vec<u64> = (0..10_000).collect();
    assert!(matches!(load(&many, &many), Err(Error::MemoryLimit { .. })));
    assert_eq!(load(&[4], &[5]), Ok(()));
    assert_eq!(load(&[5], &[5]), Err(Error::NotEmpty { len: 1 }));
    assert!(index.iter().eq([(4, 5)]));
}

#[test]
fn columns_of_unequal_length_are_refused() {
    let index = tens(10, 1);
    let unequal = |right| Error::UnequalBuffers { left: 2, right };
    assert_eq!(index.get_columns(&[1, 2], &mut [0], &mut [false; 2]), Err(unequal(1)));
    assert_eq!(index.get_columns(&[1, 2], &mut [0; 2], &mut [false; 3]), Err(unequal(3)));
    assert_eq!(index.remove_columns(&[1, 2], &mut [0; 3], &mut [false; 2]), Err(unequal(3)));
    assert_eq!(index.remove_columns(&[1, 2], &mut [0; 2], &mut []), Err(unequal(0)));
    let incomplete = index.insert_columns(&[1, 2], &[7]).unwrap_err();
    assert_eq!((incomplete.error, incomplete.refused), (unequal(1), vec![0, 1]));
    assert!(index.iter().eq((0..10).map(|key| (key, 10 * key))), "and nothing was done");
}
