//! Iterators that can be cloned: a clone goes on from the same entry, at both ends. And clones of indexes.

use core::fmt::Debug;
use core::ops::ControlFlow;
use latchless::bytes::MultiIndex;
use latchless::index::Slot;
use latchless::versions::{Version, VersionedIndex};
use latchless::{Direction, Index, IndexSet, IndexValue, KeyFor};
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

/// How many further values an iterator has cloned is seen by the counts of `Arc`s.
#[test]
fn values_are_cloned_some_ahead_and_the_first_one_alone() {
    let values: Vec<Arc<u64>> = (0..300).map(Arc::new).collect();
    let held = || values.iter().filter(|value| Arc::strong_count(value) > 2).count();
    let index: Index<u64, Arc<u64>> = (0..).zip(values.iter().cloned()).collect();
    for direction in [Direction::Forward, Direction::Reverse] {
        let mut entries = index.iter();
        let mut step = || match direction {
            Direction::Forward => entries.next(),
            Direction::Reverse => entries.next_back(),
        };
        let mut most = 0;
        for taken in 0..300 {
            let number = if direction == Direction::Forward { taken } else { 299 - taken };
            let entry = step().expect("one of 300");
            assert_eq!((entry.0, *entry.1), (number, number));
            assert!(taken > 0 || held() == 1, "a range of which one entry is taken clones one value");
            most = most.max(held());
        }
        assert!((16..=33).contains(&most), "{most}");
        assert!(step().is_none() && held() == 0);
    }
}

/// An iterator pins nothing between two steps: values that are removed meanwhile are dropped, but for those
/// that it has read.
#[test]
fn values_that_are_removed_beside_an_iterator_are_dropped() {
    let values: Vec<Arc<u64>> = (0..300).map(Arc::new).collect();
    let index: Index<u64, Slot<Arc<u64>>> = (0..).zip(values.iter().cloned().map(Slot)).collect();
    let mut entries = index.iter();
    let first: Vec<_> = entries.by_ref().take(2).map(|(key, _)| key).collect();
    index.clear();
    // Other tests of this process may read in an index at this moment: what is removed is dropped after that.
    let is_dropped = (0..10_000).any(|_| {
        index.flush();
        std::thread::yield_now();
        values.iter().filter(|value| Arc::strong_count(value) > 1).count() <= 32
    });
    assert!(is_dropped);
    let rest: Vec<_> = entries.map(|(key, value)| (key, **value)).collect();
    assert!(first == [0, 1] && rest.len() <= 32 && rest.iter().all(|(key, value)| key == value));
}

/// Of a snapshot, key and value are lent in both directions, as of its moment.
#[test]
fn a_snapshot_lends_the_entries_of_a_range() {
    let index: VersionedIndex<u64, String> = (0..500).map(|key| (key, key.to_string())).collect();
    let snapshot = index.snapshot();
    for key in (0..500).step_by(3) {
        index.remove(key).unwrap();
        index.insert(key + 1000, "later").unwrap();
        index.insert(key + 1, "changed").unwrap();
    }
    for (at, expected) in [(&snapshot, 100..400), (&index.snapshot(), 100..400)] {
        let entries: Vec<(u64, String)> = at.range(expected.clone()).collect();
        for direction in [Direction::Forward, Direction::Reverse] {
            let mut lent = Vec::new();
            let shown = at.scan_lent(expected.clone(), direction, |key, value| {
                lent.push((key, value.to_owned()));
                ControlFlow::Continue(())
            });
            assert!(shown.is_continue());
            if direction == Direction::Reverse {
                lent.reverse();
            }
            assert_eq!(lent, entries);
        }
        let mut first = None;
        let shown = at.scan_lent(expected, Direction::Reverse, |key, _| {
            first = Some(key);
            ControlFlow::Break(())
        });
        assert!(shown.is_break() && first == entries.last().map(|entry| entry.0));
        assert_eq!(at.count(100..400), entries.len());
    }
}

/// Equal indexes have the same entries; each single difference is seen.
fn compares<K, V>(key: impl Fn(u64) -> K, value: impl Fn(u64) -> V)
where
    K: KeyFor<V> + Debug,
    V: IndexValue + PartialEq + Debug,
{
    let count = if cfg!(miri) { 40 } else { 1000 };
    let index: Index<K, V> = (0..count).map(|number| (key(number), value(number))).collect();
    let copy = index.clone();
    copy.check_invariants().unwrap();
    assert!(copy == index && index == index.try_clone().unwrap());
    assert_eq!(Index::<K, V>::new().unwrap(), Index::<K, V>::default());
    for number in [0, count / 2, count - 1] {
        copy.try_extend([(key(number), value(number + 1))]).unwrap();
        assert!(copy != index, "another value");
        copy.remove(key(number).probe());
        assert!(copy != index, "a key less");
        assert!(index != copy, "a key more");
        copy.try_extend([(key(count + number), value(number))]).unwrap();
        assert!(copy != index, "another key");
        copy.remove(key(count + number).probe());
        copy.try_extend([(key(number), value(number))]).unwrap();
        assert!(copy == index);
    }
    index.clear();
    assert!(copy != index && copy.len() as u64 == count, "they are two");
}

#[test]
fn clones_of_indexes_are_equal_until_one_changes() {
    compares(|number| number, |number| number as u32);
    compares(|number| number as u32, |number| f64::from(number as u32));
    compares(|number| format!("{number:05}"), |number| number.to_string());
    compares(|number| number, Arc::new);
    compares(|number| (number as u16, number.to_string()), Slot);

    let set: IndexSet<String> = (0..100).map(|key| key.to_string()).collect();
    let other = set.clone();
    assert!(set == other && set == set.try_clone().unwrap());
    other.remove("7");
    assert_ne!(set, other);
    assert_ne!(other, set);
    let rows = MultiIndex::from([("a".to_owned(), 1), ("a".to_owned(), 2)]);
    let other = rows.clone();
    assert!(rows == other);
    other.remove("a", 2);
    other.insert("b", 2).unwrap();
    assert!(rows != other);
}

#[test]
fn a_value_that_differs_from_itself_makes_indexes_unequal() {
    let index = Index::<u64, f64>::from([(7, f64::NAN)]);
    assert!(index != index.clone());
    let frozen = index.freeze().unwrap();
    assert!(frozen != frozen.clone());
}
