//! One thread: every operation, and every read of every snapshot, against copies of a `BTreeMap`.

use core::fmt::Debug;
use core::ops::Bound::{Excluded, Included, Unbounded};
use latchless::index::Options;
use latchless::versions::{
    CommitError, Pruned, Retention, Snapshot, Transaction, Version, VersionedIndex, WriteBatch,
};
use latchless::{Error, IndexKey, IndexValue, KeyFor};
use latchless_core::testing::Rng;
use std::collections::BTreeMap;
use std::sync::Arc;

type Moment<K, V> = (Snapshot<K, V>, BTreeMap<K, V>);

/// Compares all reads of a snapshot with a map.
fn is_same<K, V>((snapshot, map): &Moment<K, V>, some: &[K])
where
    K: KeyFor<Version<V>> + Ord + Clone + Debug,
    V: IndexValue + PartialEq + Debug,
{
    let own = |(key, value): (&K, &V)| (key.clone(), value.clone());
    assert!(snapshot.iter().eq(map.iter().map(own)));
    assert!(snapshot.iter().rev().eq(map.iter().rev().map(own)));
    let folded = snapshot.fold(.., Vec::new(), |mut keys, key, _| {
        keys.push(key);
        keys
    });
    assert!(folded.iter().eq(map.keys()));
    assert_eq!(
        (snapshot.first(), snapshot.last()),
        (map.iter().next().map(own), map.iter().next_back().map(own))
    );
    let probes: Vec<_> = some.iter().map(K::probe).collect();
    let mut answers = vec![None; some.len()];
    snapshot.get_many(&probes, &mut answers).unwrap();
    assert!(answers.iter().eq(some.iter().map(|key| map.get(key).cloned()).collect::<Vec<_>>().iter()));
    for (key, answer) in some.iter().zip(answers) {
        let probe = key.probe();
        assert_eq!((snapshot.get(probe), snapshot.contains_key(probe)), (answer.clone(), answer.is_some()));
        let below = |end| map.range((Unbounded, end)).next_back().map(own);
        let above = |end| map.range((end, Unbounded)).next().map(own);
        assert_eq!(snapshot.floor(probe), below(Included(key.clone())));
        assert_eq!(snapshot.lower(probe), below(Excluded(key.clone())));
        assert_eq!(snapshot.ceiling(probe), above(Included(key.clone())));
        assert_eq!(snapshot.higher(probe), above(Excluded(key.clone())));
        assert_eq!(snapshot.count(..probe), map.range(..key.clone()).count());
    }
}

/// Makes a batch of random changes, and makes them in the map.
fn random_batch<K, V>(
    rng: &mut Rng,
    map: &mut BTreeMap<K, V>,
    key: &impl Fn(u64) -> K,
    new: &V,
) -> WriteBatch<K, V>
where
    K: IndexKey + Ord + Clone,
    for<'v> V: IndexValue<Given<'v> = V>,
{
    let mut batch = WriteBatch::new();
    let (low, high) = (key(rng.next() % 60), key(rng.next() % 60));
    for _ in 0..rng.next() % 6 {
        let (own, is_removal) = (key(rng.next() % 60), rng.next().is_multiple_of(3));
        if is_removal {
            batch.remove(own.probe());
            map.remove(&own);
        } else {
            batch.insert(own.probe(), new.clone());
            map.insert(own, new.clone());
        }
    }
    if rng.next().is_multiple_of(4) {
        batch.remove_range(low.probe()..high.probe());
        map.retain(|key, _| !(&low..&high).contains(&key));
    }
    batch
}

/// Makes random changes, keeps some snapshots with the map of their moment, and compares everything.
fn agrees<K, V>(retention: Retention, key: impl Fn(u64) -> K, value: impl Fn(u64) -> V)
where
    K: KeyFor<Version<V>> + Ord + Clone + Debug,
    V: IndexValue + PartialEq + Debug,
    for<'v> V: IndexValue<Given<'v> = V>,
{
    let index = Arc::new(VersionedIndex::with_options(Options::default(), retention).unwrap());
    let (mut map, mut moments): (BTreeMap<K, V>, Vec<Moment<K, V>>) = Default::default();
    let mut rng = Rng(19);
    let some: Vec<K> = (0..60).map(&key).collect();
    for step in 0..if cfg!(miri) { 60 } else { 3000 } {
        let (own, new) = (key(rng.next() % 60), value(step));
        let newest = index.newest();
        match rng.next() % 12 {
            0..4 => {
                let before = index.insert(own.probe(), new.clone()).unwrap();
                assert_eq!((before, index.newest()), (map.insert(own, new), newest + 1));
            }
            4..6 => {
                let before = map.remove(&own);
                let commits = u64::from(before.is_some());
                assert_eq!(index.remove(own.probe()), Ok(before));
                assert_eq!(index.newest(), newest + commits);
            }
            6..8 => {
                let batch = random_batch(&mut rng, &mut map, &key, &new);
                assert_eq!(index.commit(batch), Ok(newest + 1));
            }
            8 => moments.push((index.snapshot_owned(), map.clone())),
            9 if !moments.is_empty() => drop(moments.swap_remove(rng.next() as usize % moments.len())),
            10 if step % 8 == 0 => {
                let Pruned { versions, keys } = index.prune().unwrap();
                assert!(versions >= keys);
                assert_eq!(index.prune(), Ok(Pruned::default()), "all was pruned before");
            }
            _ => {
                let mut transaction = index.begin();
                assert_eq!(transaction.get(own.probe()), map.get(&own).cloned());
                transaction.insert(own.probe(), new.clone());
                assert_eq!(transaction.get(own.probe()), Some(new.clone()));
                if rng.next().is_multiple_of(2) {
                    assert_eq!(transaction.commit(), Ok(newest + 1));
                    map.insert(own, new);
                }
            }
        }
        assert_eq!(index.len(), map.len());
        assert!(some.iter().all(|key| index.get(key.probe()) == map.get(key).cloned()));
        if step % 50 == 0 {
            moments.iter().for_each(|moment| is_same(moment, &some));
        }
    }
    moments.push((index.snapshot_owned(), map));
    moments.iter().for_each(|moment| is_same(moment, &some));
    index.check_invariants().unwrap();
}

#[test]
fn snapshots_of_number_keys_are_maps_of_their_moments() {
    agrees(Retention::Snapshots, |number| number * 7, |step| step);
    agrees(Retention::All, |number| number * 7, |step| step);
}

#[test]
fn snapshots_of_strings_are_maps_of_their_moments() {
    agrees(Retention::Snapshots, |number| format!("key {number}"), |step| step);
    agrees(Retention::All, |number| (number / 9, format!("{}", number % 9)), Arc::new);
}

#[test]
fn every_number_since_the_last_pruning_can_be_read() {
    let table = VersionedIndex::<u64, u64>::with_options(Options::default(), Retention::All).unwrap();
    for number in 1..=100 {
        assert_eq!(table.insert(number % 10, number).unwrap(), number.checked_sub(10).filter(|&n| n > 0));
    }
    let early = table.snapshot_at(15).unwrap();
    table.prune_before(50).unwrap();
    for number in (50..=100).chain([15]) {
        let snapshot = table.snapshot_at(number).unwrap();
        assert!((0..10).all(|key| snapshot.get(key).is_some_and(|at| at <= number && at + 10 > number)));
    }
    for number in [0, 14, 16, 49, 101] {
        let refused = table.snapshot_at(number).unwrap_err();
        assert_eq!((refused.number, refused.oldest, refused.newest), (number, 50, 100));
    }
    drop(early);
    assert!(table.snapshot_at(15).is_err());
}

#[test]
fn a_commit_that_the_index_refuses_changes_nothing() {
    let options = Options { limit_bytes: Some(256 << 10), huge_pages: false, ..Options::default() };
    let index = VersionedIndex::<u64, u64>::with_options(options, Retention::Snapshots).unwrap();
    for key in 0..100 {
        index.insert(key, 1).unwrap();
    }
    let before = index.snapshot();
    for _ in 0..3 {
        let batch: WriteBatch<u64, u64> = (0..1_000_000).map(|key| (key, 2)).collect();
        assert!(matches!(index.commit(batch), Err(Error::MemoryLimit { .. })));
        assert_eq!((index.newest(), index.len()), (100, 100));
        assert!(index.snapshot().iter().eq((0..100).map(|key| (key, 1))));
        assert!((0..100).all(|key| index.get(key) == Some(1)) && index.get(100).is_none());
    }
    index.prune().unwrap();
    assert_eq!(index.insert(0, 3), Ok(Some(1)));
    assert_eq!((before.get(0), index.get(0), index.snapshot().count(..)), (Some(1), Some(3), 100));
}

#[test]
fn a_value_whose_clone_panics_leaves_no_commit_behind() {
    /// Panics when it is cloned for the second commit.
    #[derive(Debug)]
    struct Fragile(std::sync::atomic::AtomicBool);
    impl Clone for Fragile {
        fn clone(&self) -> Self {
            assert!(!self.0.load(std::sync::atomic::Ordering::Relaxed), "a clone");
            Self(false.into())
        }
    }
    impl IndexValue for Fragile {
        type Form = latchless::InBox;
        type Given<'v> = Self;
        type Lent<'v> = &'v Self;
        fn given(value: Self) -> Self {
            value
        }
        fn lend(&self) -> &Self {
            self
        }
    }
    let index = VersionedIndex::<u64, Fragile>::new().unwrap();
    let mut batch = WriteBatch::new();
    batch.insert(1, Fragile(false.into())).insert(2, Fragile(true.into()));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| index.commit(batch)));
    assert!(panicked.is_err());
    assert!(!index.contains_key(1) && index.snapshot().iter().next().is_none() && index.is_empty());
    index.insert(2, Fragile(false.into())).unwrap();
    assert!(!index.contains_key(1) && index.contains_key(2) && index.newest() == 1);
}

#[test]
fn transactions_conflict_only_with_changes_of_what_they_read() {
    let index = VersionedIndex::<u64, u64>::try_from_iter((0..100).map(|key| (key, 0))).unwrap();
    let write_9 = |transaction: &mut Transaction<'_, u64, u64>| {
        transaction.insert(9, 1);
    };
    let commits = |read: fn(&mut Transaction<'_, u64, u64>), change: u64| {
        let mut transaction = index.begin();
        read(&mut transaction);
        index.insert(change, change).unwrap();
        transaction.insert(1000, 1);
        match transaction.commit() {
            Ok(_) => None,
            Err(CommitError::Conflict { key }) => Some(key),
            Err(CommitError::Index(error)) => panic!("{error}"),
        }
    };
    assert_eq!(commits(|transaction| assert!(transaction.get(7).is_some()), 8), None);
    assert_eq!(commits(|transaction| assert!(transaction.get(7).is_some()), 7), Some(7));
    assert_eq!(commits(|transaction| drop(transaction.range(10..20)), 20), None);
    assert_eq!(commits(|transaction| drop(transaction.range(10..=20)), 20), Some(20));
    assert_eq!(commits(|transaction| drop(transaction.range(200..300)), 250), Some(250), "a phantom");
    assert_eq!(
        commits(|transaction| assert!(transaction.get(400).is_none()), 400),
        Some(400),
        "an absent key"
    );
    assert_eq!(commits(|transaction| drop(transaction.range((Excluded(5), Excluded(5)))), 5), None);
    assert_eq!(commits(write_9, 9), None, "a write that reads nothing");
}
