//! Cursors and iterators that own their index, over every engine: one body of tests, against `BTreeMap`.

use crate::common::{Rng, scaled};
use core::fmt::Debug;
use core::ops::Bound::{Excluded, Unbounded};
use latchless::index::Cursor;
use latchless::versions::VersionedIndex;
use latchless::{Index, IndexValue, KeyFor};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Fills an index and a map with keys and values made of numbers.
fn filled<K, V>(key: fn(u64) -> K, value: fn(u64) -> V) -> (Arc<Index<K, V>>, BTreeMap<K, V>)
where
    K: KeyFor<V> + Ord + Clone,
    V: IndexValue,
{
    let map: BTreeMap<K, V> = (0..500).map(|number| (key(3 * number % 1000), value(number))).collect();
    (Arc::new(map.clone().into_iter().collect()), map)
}

/// Where a cursor of a map is: before or after all keys, or on a key.
struct Place<K> {
    at: Option<K>,
    is_past: bool,
}

impl<K: Ord + Clone> Place<K> {
    /// The entry of a move: to a key, to an end, or to a neighbour.
    fn moved<'m, V>(&mut self, map: &'m BTreeMap<K, V>, how: u64, key: &K) -> Option<(&'m K, &'m V)> {
        let forward = how.is_multiple_of(2);
        let found = match (how, &self.at, self.is_past) {
            (0, ..) => map.range(key..).next(),
            (1, ..) => map.range(..=key).next_back(),
            (2, ..) | (4, None, false) => map.iter().next(),
            (3, ..) | (5, None, true) => map.iter().next_back(),
            (4, Some(at), _) => map.range((Excluded(at), Unbounded)).next(),
            (5, Some(at), _) => map.range(..at).next_back(),
            _ => None,
        };
        (self.at, self.is_past) = (found.map(|(key, _)| key.clone()), forward);
        found
    }
}

/// Moves a cursor at random, removes keys at it, and compares each entry.
fn cursors_agree<K, V>(key: fn(u64) -> K, value: fn(u64) -> V)
where
    K: KeyFor<V> + Ord + Clone + Debug,
    V: IndexValue + PartialEq + Debug,
    for<'v> V::Lent<'v>: Debug,
{
    let (index, mut map) = filled(key, value);
    let mut cursor = Cursor::of(Arc::clone(&index));
    let mut place = Place { at: None, is_past: false };
    let mut rng = Rng(23);
    for _ in 0..scaled(3000) {
        let (some, how) = (key(rng.next() % 1000), rng.next() % 8);
        if how >= 6 {
            let removed = place.at.as_ref().and_then(|at| map.remove(at));
            assert_eq!(cursor.remove(), removed);
            assert_eq!((cursor.value_now(), index.len()), (None, map.len()));
            continue;
        }
        let seen = match how {
            0 => cursor.seek(some.probe()),
            1 => cursor.seek_for_prev(some.probe()),
            2 => cursor.seek_first(),
            3 => cursor.seek_last(),
            4 => cursor.next(),
            _ => cursor.prev(),
        };
        let wanted = place.moved(&map, how, &some);
        let shown = wanted.map(|(key, value)| (key.probe(), value.lend()));
        assert_eq!(format!("{seen:?}"), format!("{shown:?}"));
        assert_eq!(cursor.value_now(), wanted.map(|(_, value)| value.clone()));
        assert_eq!(format!("{:?}", cursor.clone().current()), format!("{shown:?}"));
    }
}

/// Takes the entries of ranges from both ends at random.
fn owned_ranges_agree<K, V>(key: fn(u64) -> K, value: fn(u64) -> V)
where
    K: KeyFor<V> + KeyFor<latchless::versions::Version<V>> + Ord + Clone + Debug + Send,
    V: IndexValue + PartialEq + Debug,
{
    let (index, map) = filled(key, value);
    let versions = Arc::new(VersionedIndex::try_from_iter(map.clone()).unwrap());
    let snapshot = versions.snapshot_owned();
    versions.remove(key(3).probe()).unwrap();
    versions.prune().unwrap();
    let mut rng = Rng(29);
    for _ in 0..scaled(60) {
        let (low, high) = (key(rng.next() % 1000), key(rng.next() % 1000));
        let (low, high) = (low.clone().min(high.clone()), low.max(high));
        let mut wanted: std::collections::VecDeque<(K, V)> =
            map.range(&low..&high).map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut range = index.range_owned(low.probe()..high.probe());
        let mut seen = snapshot.clone().into_range(low.probe()..high.probe());
        let by_front = rng.next() % 4;
        while !wanted.is_empty() {
            let (next, other) = (rng.next() % 4 < by_front, (range.clone(), seen.clone()));
            let entry = if next { wanted.pop_front() } else { wanted.pop_back() };
            assert_eq!(if next { range.next() } else { range.next_back() }, entry);
            assert_eq!(if next { seen.next() } else { seen.next_back() }, entry);
            if rng.next().is_multiple_of(16) {
                (range, seen) = other;
                if next { wanted.push_front(entry.unwrap()) } else { wanted.push_back(entry.unwrap()) }
            }
        }
        assert_eq!((range.next(), range.next_back(), range.next()), (None, None, None));
        assert_eq!((seen.next_back(), seen.next(), seen.next_back()), (None, None, None));
    }
    let mut all = index.range_owned(..);
    assert_eq!(all.next(), map.iter().next().map(|(key, value)| (key.clone(), value.clone())));
    let elsewhere = std::thread::spawn(move || all.count()).join().unwrap();
    assert_eq!(elsewhere, map.len() - 1);
}

#[test]
fn cursors_of_every_engine_move_both_ways() {
    cursors_agree(|key| key, |value| value);
    cursors_agree(|key| format!("key {key}"), |value| value);
    cursors_agree(|key| key, |value| value.to_string());
    cursors_agree(|key| (key / 10, format!("{}", key % 10)), Arc::new);
    cursors_agree(|key| key as i32 - 500, |value| Arc::<str>::from(value.to_string()));
}

#[test]
fn owned_ranges_of_every_engine_come_from_both_ends() {
    owned_ranges_agree(|key| key, |value| value);
    owned_ranges_agree(|key| format!("key {key}"), |value| value);
    owned_ranges_agree(|key| key, |value| value.to_string());
    owned_ranges_agree(|key| (key / 10, format!("{}", key % 10)), Arc::new);
}

/// A value that was read and isn't taken costs its reader cache misses.
#[test]
fn owned_ranges_read_few_values_too_many() {
    let shared = Arc::new(());
    let ahead = |mut range: Box<dyn DoubleEndedIterator<Item = (u64, Arc<()>)>>| {
        let stored = Arc::strong_count(&shared);
        let mut held = |taken: usize| {
            assert_eq!(range.by_ref().take(taken).count(), taken);
            Arc::strong_count(&shared) - stored
        };
        [held(1), held(9), held(50)]
    };
    let index = Arc::new((0..100).map(|key| (key, Arc::clone(&shared))).collect::<Index<_, _>>());
    assert_eq!(ahead(Box::new(index.range_owned(..))), [3, 2, 0]);
    assert_eq!(ahead(Box::new(index.range_owned(..).rev())), [3, 2, 0]);
    let versions = Arc::new(VersionedIndex::new().unwrap());
    (0..100).for_each(|key| _ = versions.insert(key, Arc::clone(&shared)).unwrap());
    assert_eq!(ahead(Box::new(versions.snapshot_owned().into_range(..))), [3, 2, 0]);
}
