//! Rayon's threads.

use crate::common::{Rng, scaled};
use latchless::{Error, Index};
use rayon::prelude::*;
use std::ops::Bound::{Excluded, Included, Unbounded};

#[test]
fn parallel_ranges_hold_what_ranges_hold() {
    let mut rng = Rng(1);
    // Clustered, so that halving the lanes doesn't halve the entries; and both ends.
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
        let expected: Vec<_> = index.range(span).unwrap().collect();
        let found: Vec<_> = index.par_range(span).unwrap().collect();
        assert_eq!(found, expected, "{span:?}: in order, as parts are joined in order");
        let count = index.par_scan(span, || 0, |count, _, _| count + 1, |a, b| a + b).unwrap();
        assert_eq!(count, expected.len());
    }
    assert_eq!(index.par_range((Included(2), Included(1))).err(), Some(Error::InvertedRange));
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
