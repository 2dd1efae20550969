//! Ranges of a snapshot that are taken from both ends, in any order, and cloned meanwhile.

use latchless::KeyFor;
use latchless::versions::{Version, VersionedIndex};
use latchless_core::testing::Rng;
use std::collections::VecDeque;

/// Takes all entries of a range of this many keys, each from a random end.
fn taken_from_both_ends<K>(keys: u64, key: fn(u64) -> K, rng: &mut Rng)
where
    K: KeyFor<Version<u64>> + Clone + PartialEq + std::fmt::Debug,
{
    let index = VersionedIndex::<K, u64>::try_from_iter((0..keys).map(|at| (key(at), at))).unwrap();
    let snapshot = index.snapshot();
    // None of this is seen: later versions, removals, and keys that are inserted.
    for at in 0..2 * keys {
        match rng.next() % 3 {
            0 => _ = index.insert(key(at).probe(), 1000 + at).unwrap(),
            1 => _ = index.remove(key(at).probe()).unwrap(),
            _ => {}
        }
    }
    let mut left: VecDeque<(K, u64)> = (0..keys).map(|at| (key(at), at)).collect();
    let mut range = snapshot.iter();
    loop {
        if rng.next().is_multiple_of(16) {
            let (clone, all) = (range.clone(), left.clone());
            assert!(if rng.next().is_multiple_of(2) {
                clone.eq(all)
            } else {
                clone.rev().eq(all.into_iter().rev())
            });
        }
        // Long stretches from one end, and alternating ends.
        let is_front =
            if keys.is_multiple_of(2) { rng.next().is_multiple_of(2) } else { rng.next() % 50 < 49 };
        let (found, wanted) = match is_front {
            true => (range.next(), left.pop_front()),
            false => (range.next_back(), left.pop_back()),
        };
        assert_eq!(found, wanted);
        if found.is_none() {
            assert_eq!((range.next(), range.next_back()), (None, None));
            return;
        }
    }
}

#[test]
fn a_range_is_taken_from_both_ends() {
    let mut rng = Rng(7);
    for keys in [0, 1, 2, 5, 6, 21, 22, 53, 54, 150, 151, 300] {
        taken_from_both_ends(keys, |at| at, &mut rng);
        taken_from_both_ends(keys, |at| format!("{at:04}"), &mut rng);
    }
}

/// A range reads a few entries ahead: none of those that it passes without a value may end it.
#[test]
fn stretches_of_removed_keys_are_passed() {
    let index = VersionedIndex::<u64, u64>::try_from_iter((0..1000).map(|key| (key, key))).unwrap();
    for key in (0..1000u64).filter(|key| !key.is_multiple_of(250)) {
        index.remove(key).unwrap();
    }
    let snapshot = index.snapshot();
    let keys = [0, 250, 500, 750];
    assert!(snapshot.keys().eq(keys) && snapshot.keys().rev().eq(keys.into_iter().rev()));
    assert_eq!((snapshot.first(), snapshot.last()), (Some((0, 0)), Some((750, 750))));
    assert_eq!((snapshot.higher(1), snapshot.lower(249)), (Some((250, 250)), Some((0, 0))));
    assert_eq!(snapshot.range(751..).next(), None);
}
