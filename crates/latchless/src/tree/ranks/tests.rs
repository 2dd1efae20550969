//! Which buckets a change makes dirty, when they are rebuilt, and the content of a table.

use super::*;
use crate::tree::{BlinkOptions, BlinkTree, Edit, Exclusive, Mode, Shared};
use latchless_core::testing::Rng;

const KEYS: u64 = if cfg!(latchless_small_nodes) { 1_000 } else { 10_000 };

/// Builds a tree of every tenth key, and counts it.
fn counted<M: Mode>() -> BlinkTree<u64> {
    let options = BlinkOptions { huge_pages: false, ..BlinkOptions::default() };
    let mut tree = BlinkTree::<u64>::new(options).unwrap();
    let entry = |at: usize| (10 * at as u64, 1);
    let one = core::num::NonZeroUsize::MIN;
    tree.bulk_load(KEYS as usize, entry, latchless_core::base::fill::FillFactor::FULL, one).unwrap();
    // The first count visits some leaves before it uses buckets.
    (0..2).for_each(|_| assert_eq!(tree.count::<M>(0, u64::MAX), KEYS as usize));
    tree
}

fn put(tree: &BlinkTree<u64>, key: u64) {
    tree.edit::<Shared>(key, Edit::Put(key)).unwrap();
}

fn dirty_buckets<B: Bits>(tree: &BlinkTree<B>) -> Vec<usize> {
    let (table, _guard) = tree.ranks().kept_counts(tree.store()).expect("nobody has it");
    (0..table.len()).filter(|&bucket| table.is_dirty(bucket)).collect()
}

fn form<B: Bits>(tree: &BlinkTree<B>) -> u64 {
    tree.ranks().made.get().map_or(0, |tables| tables.form.load_relaxed())
}

#[test]
fn a_change_makes_its_own_buckets_dirty_until_they_are_counted() {
    fn follows<M: Mode>() {
        let tree = counted::<M>();
        assert_eq!(dirty_buckets(&tree), []);
        // A changed value doesn't affect counts.
        tree.edit::<M>(500, Edit::Put(7)).unwrap();
        assert_eq!(dirty_buckets(&tree), []);
        tree.edit::<M>(500, Edit::Remove).unwrap();
        let dirty = dirty_buckets(&tree);
        assert!((1..=2).contains(&dirty.len()), "{dirty:?}");
        let (table, guard) = tree.ranks().kept_counts(tree.store()).unwrap();
        assert!(dirty.contains(&table.bucket_of(500)));
        drop(guard);
        tree.check_invariants().unwrap();
        // A disjoint range leaves them dirty.
        assert_eq!(tree.count::<M>(KEYS * 5, u64::MAX), KEYS as usize / 2);
        assert_eq!(dirty_buckets(&tree), dirty);
        assert_eq!(tree.count::<M>(0, u64::MAX), KEYS as usize - 1);
        assert_eq!(dirty_buckets(&tree), []);
        tree.check_invariants().unwrap();
    }
    follows::<Shared>();
    follows::<Exclusive>();
}

#[test]
fn a_query_that_waits_in_vain_counts_leaf_by_leaf() {
    let tree = counted::<Shared>();
    put(&tree, 501);
    let (_, guard) = tree.ranks().kept_counts(tree.store()).unwrap();
    assert_eq!(tree.count::<Shared>(0, u64::MAX), KEYS as usize + 1);
    assert_eq!(tree.nth::<Shared>(52).map(|entry| entry.0), Some(510));
    drop(guard);
    assert!(!dirty_buckets(&tree).is_empty());
}

#[test]
fn buckets_are_cut_anew_when_one_has_grown_or_most_are_empty() {
    let tree = counted::<Shared>();
    let first = form(&tree);
    for key in 10 * KEYS..20 * KEYS {
        put(&tree, key);
        if key % 50 == 0 {
            assert_eq!(tree.count::<Shared>(0, key), (key + 1 - 9 * KEYS) as usize);
        }
    }
    let grown = form(&tree);
    assert_ne!(grown, first);
    tree.remove_range::<Shared>(10, 19 * KEYS);
    assert_eq!(tree.count::<Shared>(0, u64::MAX), KEYS as usize);
    assert_ne!(form(&tree), grown);
    tree.check_invariants().unwrap();
    tree.remove_range::<Shared>(10, u64::MAX);
    assert_eq!((tree.count::<Shared>(0, u64::MAX), form(&tree)), (1, 0));
    tree.check_invariants().unwrap();
}

#[test]
fn a_table_finds_the_bucket_of_every_key() {
    let (table, mut rng) = (Table::new(4 * BUCKETS_PER_BLOCK).unwrap(), Rng(1));
    for len in [1, 2, 63, 64, 65, 200, 256, 300] {
        let mut starts: Vec<u64> = (0..len).map(|_| rng.next()).collect();
        starts[0] = 0;
        starts.sort_unstable();
        table.begin();
        // A key that occurs twice, or out of order, is left out; so is one for which there is no room.
        starts.iter().for_each(|&start| [start, start, 0].into_iter().for_each(|key| table.add(key)));
        starts.truncate(4 * BUCKETS_PER_BLOCK);
        assert_eq!(table.len(), starts.len());
        let drawn: Vec<u64> = (0..50).map(|_| rng.next()).collect();
        let beside =
            starts.iter().flat_map(|&start| [start.saturating_sub(1), start, start.saturating_add(1)]);
        for key in beside.chain(drawn) {
            let bucket = starts.partition_point(|&start| start <= key) - 1;
            assert_eq!(table.bucket_of(key), bucket);
            let (low, high) = table.keys::<u64>(bucket..bucket + 1);
            assert!(low <= key && key <= high);
        }
        assert_eq!(table.keys::<u64>(0..table.len()), (0, u64::MAX));
    }
}

#[test]
fn dirty_buckets_are_taken_side_by_side() {
    let table = &Table::new(4 * BUCKETS_PER_BLOCK).unwrap();
    table.begin();
    (1..200).for_each(|start| table.add(start));
    let take = |buckets: Range<usize>| {
        let parts =
            by_block(buckets).flat_map(|part| core::iter::from_fn(move || table.take_dirty(part.clone())));
        parts.collect::<Vec<_>>()
    };
    assert_eq!(take(10..130), [10..64, 64..128, 128..130]);
    assert_eq!(take(10..130), []);
    table.make_dirty(20..23);
    table.make_dirty(22..22);
    table.make_dirty(62..66);
    table.make_dirty(40..41);
    assert_eq!((take(0..10).len(), take(21..65)), (1, vec![21..23, 40..41, 62..64, 64..65]));
    assert_eq!((take(0..66), take(100..200)), (vec![20..21, 65..66], vec![130..192, 192..200]));
    (0..200).for_each(|bucket| table.set_count(bucket, bucket));
    (0..200).step_by(2).for_each(|bucket| table.set_count(bucket, 1));
    let expected = |range: Range<usize>| range.map(|at| if at % 2 == 0 { 1 } else { at }).sum::<usize>();
    for range in [0..200, 0..64, 3..7, 60..130, 5..5] {
        assert_eq!(by_block(range.clone()).map(|part| table.sum(part)).sum::<usize>(), expected(range));
    }
}
