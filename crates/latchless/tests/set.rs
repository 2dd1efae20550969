//! `IndexSet` for every kind of key, against `BTreeSet`.

use core::cmp::Reverse;
use core::fmt::Debug;
use latchless::{Error, IndexSet, KeyFor};
use latchless_core::testing::Rng;
use std::collections::BTreeSet;

/// Makes random changes to a set and compares all answers; the keys are made of numbers.
fn agrees<K: KeyFor<()> + Ord + Clone + Debug>(
    key: impl Fn(u64) -> K,
    probe: impl for<'q> Fn(&'q K) -> K::Probe<'q>,
) {
    let (set, mut model) = (IndexSet::<K>::new().unwrap(), BTreeSet::new());
    let mut rng = Rng(18);
    for _ in 0..if cfg!(miri) { 60 } else { 2_000 } {
        let own = key(rng.next() % 200);
        match rng.next() % 8 {
            0..4 => assert_eq!(set.insert(probe(&own)), Ok(model.insert(own.clone()))),
            4..7 => assert_eq!(set.remove(probe(&own)), model.remove(&own)),
            _ if rng.next().is_multiple_of(8) => {
                assert_eq!((set.pop_first(), set.pop_last()), (model.pop_first(), model.pop_last()));
            }
            _ => {}
        }
        assert_eq!(set.contains(probe(&own)), model.contains(&own));
        assert_eq!(set.floor(probe(&own)).as_ref(), model.range(..=&own).next_back());
        assert_eq!(set.lower(probe(&own)).as_ref(), model.range(..&own).next_back());
        assert_eq!(set.ceiling(probe(&own)).as_ref(), model.range(&own..).next());
        assert_eq!(set.higher(probe(&own)).as_ref(), model.range(&own..).find(|key| **key != own));
        assert_eq!((set.len(), set.is_empty()), (model.len(), model.is_empty()));
        assert_eq!((set.first().as_ref(), set.last().as_ref()), (model.first(), model.last()));
    }
    set.as_index().check_invariants().unwrap();
    assert!(set.iter().eq(model.iter().cloned()) && set.iter().rev().eq(model.iter().rev().cloned()));
    assert_eq!(format!("{set:?}"), format!("{model:?}"));
    let (low, high) = (key(50).min(key(120)), key(50).max(key(120)));
    assert!(set.range(probe(&low)..probe(&high)).eq(model.range(&low..&high).cloned()));
    assert_eq!(set.count(probe(&low)..), model.range(&low..).count());
    assert!(matches!(set.try_range(probe(&high)..probe(&low)), Err(Error::InvertedRange)));

    let other: IndexSet<K> = (0..200).step_by(3).map(&key).collect();
    let others: BTreeSet<K> = (0..200).step_by(3).map(&key).collect();
    assert!(set.union(&other).eq(model.union(&others).cloned()));
    assert!(set.intersection(&other).eq(model.intersection(&others).cloned()));
    assert!(set.difference(&other).eq(model.difference(&others).cloned()));
    assert!(other.difference(&set).eq(others.difference(&model).cloned()));
    assert!(set.symmetric_difference(&other).eq(model.symmetric_difference(&others).cloned()));

    let mut copy = set.clone();
    assert!(copy.is_subset(&set) && copy.is_superset(&set) && (copy.is_empty() || !copy.is_disjoint(&set)));
    copy.extend(other.iter());
    assert!(copy.iter().eq(model.union(&others).cloned()));
    assert_eq!(copy.is_subset(&other), model.is_subset(&others));
    assert_eq!(copy.remove_range(probe(&low)..), Ok(model.union(&others).filter(|key| **key >= low).count()));
    assert!(copy.iter().all(|key| key < low));
    copy.clear();
    assert!(copy.is_empty() && copy.is_disjoint(&set) && copy.is_subset(&set));
}

#[test]
fn sets_of_words() {
    agrees::<i64>(|number| number as i64 - 100, |key| *key);
    agrees::<Reverse<(u16, bool)>>(|number| Reverse((number as u16 / 2, number % 2 == 0)), |key| *key);
    let words = IndexSet::from([3u8, 1, 3]);
    assert_eq!(words.into_iter().rev().collect::<Vec<_>>(), [3, 1]);
}

#[test]
fn sets_of_byte_strings() {
    // Prefixes of one another, and zero bytes.
    agrees::<Vec<u8>>(|number| vec![number as u8 % 3; number as usize / 3], |key| key);
    agrees::<(String, i128)>(
        |number| ("\0".repeat(number as usize / 40), i128::from(number) - 100),
        |key| (&key.0, key.1),
    );
    let set = IndexSet::<String>::default();
    assert_eq!(
        (set.insert("a"), set.insert("a"), set.remove("a"), set.remove("a")),
        (Ok(true), Ok(false), true, false)
    );
}

#[test]
fn a_set_is_an_index_without_values() {
    let set: IndexSet<u32> = (0..1000).collect();
    let index: latchless::Index<u32, ()> = set.into();
    assert_eq!(index.rank(500), 500);
    assert_eq!(IndexSet::from(index).len(), 1000);
}
