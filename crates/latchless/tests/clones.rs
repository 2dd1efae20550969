//! Iterators that can be cloned: a clone goes on from the same entry, at both ends.

use core::fmt::Debug;
use latchless::bytes::MultiIndex;
use latchless::index::Slot;
use latchless::versions::{Version, VersionedIndex};
use latchless::{Index, IndexSet, IndexValue, KeyFor};
use latchless_core::testing::Rng;
use std::sync::Arc;

/// Takes entries from both ends, and clones the iterator at each step: what a clone yields is what the
/// iterator yields. Returns all of that.
fn goes_on<I>(mut entries: I) -> Vec<I::Item>
where
    I: DoubleEndedIterator<Item: PartialEq + Debug> + Clone,
{
    let mut random = Rng(29);
    let (mut front, mut back) = (Vec::new(), Vec::new());
    for step in 0.. {
        let of_front = random.next().is_multiple_of(2);
        let expected: Vec<_> = if step % 16 == 0 { entries.clone().collect() } else { Vec::new() };
        assert!(
            step % 16 != 0 || entries.clone().rev().eq(entries.clone().collect::<Vec<_>>().into_iter().rev())
        );
        let entry = if of_front { entries.next() } else { entries.next_back() };
        let Some(entry) = entry else {
            assert!(entries.clone().next().is_none() && entries.clone().next_back().is_none());
            break;
        };
        if let Some(next) = if of_front { expected.first() } else { expected.last() } {
            assert_eq!(&entry, next);
        }
        if of_front { front.push(entry) } else { back.push(entry) }
    }
    front.extend(back.into_iter().rev());
    front
}

fn ranges_of<K, V>(key: impl Fn(u64) -> K, value: impl Fn(u64) -> V)
where
    K: KeyFor<V> + KeyFor<Version<V>> + Ord + Clone + Debug,
    V: IndexValue + PartialEq + Debug,
{
    let count = if cfg!(miri) { 40 } else { 500 };
    let index: Index<K, V> = (0..count).map(|number| (key(number), value(number))).collect();
    let all: Vec<_> = index.iter().collect();
    assert_eq!(goes_on(index.iter()), all);
    assert!(goes_on(index.keys()).into_iter().eq(all.iter().map(|(key, _)| key.clone())));
    assert!(goes_on(index.values()).into_iter().eq(all.iter().map(|(_, value)| value.clone())));
    let (low, high) = (&all[all.len() / 5].0, &all[all.len() / 2].0);
    assert_eq!(goes_on(index.range(low.probe()..high.probe())), all[all.len() / 5..all.len() / 2]);
    let versions: VersionedIndex<K, V> = all.iter().cloned().collect();
    let snapshot = versions.snapshot();
    assert!(goes_on(snapshot.iter()) == all && (&snapshot).into_iter().eq(index));
}

#[test]
fn a_clone_of_a_range_goes_on_from_the_same_entry() {
    ranges_of(|number| number * 7, |number| number as u32);
    ranges_of(|number| format!("key {}", number * 7), |number| number.to_string());
    ranges_of(|number| number, |number| (number, 7u64));
    ranges_of(|number| (number / 100, number.to_string()), Arc::new);
    ranges_of(|number| number as i32, Arc::new);
}

#[test]
fn a_clone_of_keys_or_rows_goes_on_from_the_same_one() {
    let [one, other]: [IndexSet<String>; 2] =
        [2, 3].map(|step| (0..200).step_by(step).map(|number: u32| format!("{number:04}")).collect());
    assert_eq!(goes_on(one.iter()).len(), 100);
    let mut both = one.union(&other);
    let first: Vec<String> = both.by_ref().take(30).collect();
    assert!(first.into_iter().chain(both.clone()).eq(one.union(&other)) && both.count() > 90);

    let rows: MultiIndex<u128> = (0..2000).map(|row| (u128::from(row % 10 * (row % 3)), row)).collect();
    assert_eq!(goes_on(rows.keys()), rows.keys().collect::<Vec<_>>());
    assert_eq!(goes_on(rows.iter()), rows.iter().collect::<Vec<_>>());
    assert_eq!(goes_on(rows.rows(&0)), rows.rows(&0).collect::<Vec<_>>());

    let boxed: Index<u64, Slot<String>> = (0..300).map(|key| (key, key.to_string().into())).collect();
    assert_eq!(goes_on(boxed.range(20..270)).len(), 250);
}

#[test]
fn an_index_of_versions_is_made_as_other_maps_are() {
    let index = VersionedIndex::from([(7u64, "b".to_owned()), (3, "a".to_owned())]);
    assert!(index.snapshot().iter().eq([(3, "a".to_owned()), (7, "b".to_owned())]));
    assert!(VersionedIndex::<u64, u64>::default().is_empty());
}
