//! Rayon's threads.

use crate::common::{Rng, scaled, tiny};
use latchless::{Error, Index};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};

#[test]
fn parallel_ranges_hold_what_ranges_hold() {
    let mut rng = Rng(1);
    // Clustered, so that halving the encoded keys doesn't halve the entries; and both ends.
    let mut index: Index<u64, u64> = (0..scaled(30_000) as u64).map(|key| ((1 << 60) + key, key)).collect();
    index.extend((0..scaled(3000)).map(|_| (rng.next(), 0)).chain([(0, 1), (u64::MAX, 2)]));
    let spans = [
        (Unbounded, Unbounded),
        (Included(0), Included(u64::MAX)),
        (Excluded(0), Excluded(u64::MAX)),
        (Included(1 << 60), Excluded((1 << 60) + 1000)),
        (Included(7), Excluded(7)),
    ];
    for span in spans {
        let expected: Vec<_> = index.range(span).collect();
        let found: Vec<_> = index.par_range(span).collect();
        assert_eq!(found, expected, "{span:?}: in order, as parts are joined in order");
        let count = index.par_fold(span, || 0, |count, _, _| count + 1, |a, b| a + b);
        assert_eq!(count, expected.len());
    }
    assert_eq!(index.par_range((Included(2), Included(1))).count(), 0, "inverted");
    assert_eq!((&index).into_par_iter().count(), index.len());
    let small = (&index).into_par_iter().find_any(|&(key, _)| key == 0);
    assert_eq!(small, Some((0, 1)), "ends early");
}

#[test]
fn parallel_lookups_come_in_input_order() {
    let index: Index<u32, u32> = (0..20_000).step_by(2).map(|key| (key, !key)).collect();
    let mut rng = Rng(2);
    let keys: Vec<u32> = (0..scaled(30_000)).map(|_| rng.below(21_000) as u32).collect();
    let mut answers = vec![None; keys.len()];
    index.par_get_many(&keys, &mut answers).unwrap();
    assert_eq!(answers, index.get_all(&keys));
    let unequal = index.par_get_many(&keys, &mut []);
    assert_eq!(unequal, Err(Error::UnequalBuffers { left: keys.len(), right: 0 }));
}

#[test]
fn large_batches_of_updates_are_served_in_input_order() {
    let n = if cfg!(miri) { 200 } else { 40_000 };
    let (index, mut model, mut rng) = (Index::<u64, u64>::new().unwrap(), BTreeMap::new(), Rng(3));
    for _ in 0..3 {
        let entries: Vec<(u64, u64)> = (0..n).map(|_| (rng.below(n as u64 / 3), rng.next())).collect();
        let expected: Vec<_> = entries.iter().map(|&(key, value)| model.insert(key, value)).collect();
        let mut replaced = vec![Some(7); n];
        index.par_insert_many(&entries, &mut replaced).unwrap();
        assert_eq!(replaced, expected);
        let keys: Vec<u64> = (0..n).map(|_| rng.below(n as u64 / 3)).collect();
        let expected: Vec<_> = keys.iter().map(|key| model.remove(key)).collect();
        let mut removed = vec![Some(7); n];
        index.par_remove_many(&keys, &mut removed).unwrap();
        assert_eq!(removed, expected);
        assert!(index.iter().eq(model.clone()));
        index.check_invariants().unwrap();
    }
    let unequal = Error::UnequalBuffers { left: 1, right: 0 };
    assert_eq!(index.par_insert_many(&[(1, 1)], &mut []).unwrap_err().error, unequal);
    assert_eq!(index.par_remove_many(&[1], &mut []), Err(unequal));
}

#[test]
fn a_large_batch_that_runs_out_of_memory_says_exactly_what_was_done() {
    let index = tiny();
    let mut rng = Rng(4);
    let entries: Vec<(u64, u64)> = (0..20_000).map(|at| (rng.below(15_000), at)).collect();
    let mut replaced = vec![Some(7); entries.len()];
    let refused = index.par_insert_many(&entries, &mut replaced).unwrap_err().refused;
    let mut model = BTreeMap::new();
    for (at, &(key, value)) in entries.iter().enumerate() {
        if refused.binary_search(&at).is_ok() {
            assert_eq!(replaced[at], None);
        } else {
            assert_eq!(replaced[at], model.insert(key, value));
        }
    }
    assert!(refused.is_sorted() && model.len() > 500);
    assert!(index.iter().eq(model));
    index.check_invariants().unwrap();
}

#[test]
fn parallel_columns_and_neighbours_are_those_of_one_thread() {
    let n = if cfg!(miri) { 200 } else { 40_000 };
    let (index, mut rng) = (Index::<u64, u64>::new().unwrap(), Rng(5));
    let keys: Vec<u64> = (0..n).map(|_| rng.below(3 * n)).collect();
    let values: Vec<u64> = keys.iter().map(|_| rng.next()).collect();
    let model: BTreeMap<u64, u64> = keys.iter().copied().zip(values.iter().copied()).collect();
    assert_eq!(index.par_insert_columns(&keys, &values), Ok(model.len()));
    assert_eq!(index.par_insert_columns(&keys, &values), Ok(0));
    assert!(index.iter().eq(model));
    let keys: Vec<u64> = (0..n).map(|_| rng.below(3 * n)).collect();
    let mut columns = [(); 2].map(|()| (vec![3; keys.len()], vec![true; keys.len()]));
    let [one, many] = &mut columns;
    let hits = index.get_columns(&keys, &mut one.0, &mut one.1);
    assert_eq!(index.par_get_columns(&keys, &mut many.0, &mut many.1), hits);
    assert_eq!(one, many);
    let mut answers = [(); 2].map(|()| vec![None; keys.len()]);
    let [one, many] = &mut answers;
    index.floor_many(&keys, one).unwrap();
    index.par_floor_many(&keys, many).unwrap();
    assert_eq!(one, many);
    index.ceiling_many(&keys, one).unwrap();
    index.par_ceiling_many(&keys, many).unwrap();
    assert_eq!(one, many);
    index.lower_many(&keys, one).unwrap();
    index.par_lower_many(&keys, many).unwrap();
    assert_eq!(one, many);
    index.higher_many(&keys, one).unwrap();
    index.par_higher_many(&keys, many).unwrap();
    assert_eq!(one, many);
    let unequal = |left| Error::UnequalBuffers { left, right: 0 };
    assert_eq!(index.par_insert_columns(&[1], &[]).unwrap_err().error, unequal(1));
    assert_eq!(index.par_get_columns(&[1, 2], &mut [0; 2], &mut []), Err(unequal(2)));
    assert_eq!(index.par_floor_many(&[1], &mut []), Err(unequal(1)));
}
