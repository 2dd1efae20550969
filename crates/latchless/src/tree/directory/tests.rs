//! Tests of the directory. They want large trees, which take an interpreter minutes; there is no unsafe code
//! here.

use super::*;
use core::num::NonZeroUsize;
use latchless_core::base::fill::FillFactor;

const LEN: usize = if cfg!(latchless_small_nodes) { 4_000 } else { 60_000 };

/// Ways in which keys are spread: the `at`th key of each, ascending.
const SPREADS: [fn(u64) -> u64; 4] = [
    |at| 3 * at,
    // Users with 64 entries each.
    |at| ((at / 64).wrapping_mul(0x1357_9BDF) << 24) | (at % 64),
    // Each power of two has as many keys as any other.
    |at| (1 << (at / 2000)) * (4096 + at % 2000 * 2),
    // A few far keys.
    |at| if at < LEN as u64 - 10 { 5 * at } else { u64::MAX - 1000 * (LEN as u64 - at) },
];

/// A tree of so many keys that it has a directory, each with itself as value.
fn loaded(key: fn(u64) -> u64) -> BlinkTree<u64> {
    let options = BlinkOptions { huge_pages: false, ..BlinkOptions::default() };
    let mut tree = BlinkTree::new(options).unwrap();
    let half = FillFactor::new(0.5).unwrap();
    tree.bulk_load(LEN, |at| (key(at as u64), key(at as u64)), half, NonZeroUsize::MIN).unwrap();
    tree
}

/// A tree that the same keys were put into one by one.
fn grown(key: fn(u64) -> u64) -> BlinkTree<u64> {
    let options = BlinkOptions { huge_pages: false, ..BlinkOptions::default() };
    let tree = BlinkTree::new(options).unwrap();
    for at in 0..LEN as u64 {
        let key = key(at * 7919 % LEN as u64);
        assert!(tree.edit::<Shared>(key, Edit::Put(key)).unwrap().applied);
    }
    tree
}

fn all_found<M: Mode>(tree: &BlinkTree<u64>, key: fn(u64) -> u64) {
    let keys: Vec<_> = (0..LEN as u64).map(key).collect();
    for &key in &keys {
        assert_eq!(tree.get::<M>(key), Some(key));
        assert_eq!(tree.get::<M>(key + 1).is_some(), keys.binary_search(&(key + 1)).is_ok());
    }
    tree.get_each::<M>(keys.len(), Group::Auto, |at| keys[at], |at, found| assert_eq!(found, Some(keys[at])));
}

/// Of the keys of such a tree, those whose entry leads to the lowest inner node that covers them.
fn at_the_lowest(tree: &BlinkTree<u64>, key: fn(u64) -> u64) -> usize {
    let covered = |&key: &u64| {
        let start = tree.start(key);
        let (low, high) = tree.fences(start.level(), start.node());
        start.level() == 1 && low <= key && key <= high
    };
    (0..LEN as u64).map(key).filter(covered).count()
}

#[test]
fn every_entry_leads_to_the_lowest_inner_node_however_keys_are_spread() {
    for key in SPREADS {
        let tree = loaded(key);
        assert_eq!(at_the_lowest(&tree, key), LEN);
        all_found::<Shared>(&tree, key);
        all_found::<Exclusive>(&tree, key);
        assert_eq!(tree.stats().misled, 0, "no entry of a new directory is wrong");
        assert!(tree.held_bytes() > tree.live_bytes());
    }
}

#[test]
fn entries_follow_a_tree_that_grows_and_few_operations_are_misled() {
    for key in SPREADS {
        let tree = grown(key);
        all_found::<Shared>(&tree, key);
        let misled = tree.stats().misled as usize;
        assert!(misled <= LEN / 20, "{misled} of {LEN} inserts and as many lookups were misled");
        all_found::<Shared>(&tree, key);
        assert!(at_the_lowest(&tree, key) >= LEN * 9 / 10);
    }
}

#[test]
fn wrong_entries_mislead_no_answer_and_are_corrected() {
    let key = SPREADS[0];
    let tree = loaded(key);
    let routes = tree.directory.routes().unwrap();
    let somewhere = tree.start(key(LEN as u64 / 3));
    let top = Entry::node_at(tree.top().node(), tree.top().level(), 3);
    for with in [0, somewhere.0, top.0, Entry::of_cell(0).0, Entry::of_cell(7).0] {
        let wrong = || routes.entries.iter().for_each(|slot| slot.publish(with));
        wrong();
        all_found::<Shared>(&tree, key);
        wrong();
        all_found::<Exclusive>(&tree, key);
        wrong();
        for key in (0..300).map(|i| i * 7919 % (3 * LEN as u64)) {
            let edited = tree.edit::<Shared>(key, Edit::Replace(key)).unwrap();
            assert_eq!(edited.before, key.is_multiple_of(3).then_some(key));
        }
    }
    tree.check_invariants().unwrap();
    routes.entries.iter().for_each(|slot| slot.publish(somewhere.0));
    tree.guesses.drop_all();
    all_found::<Shared>(&tree, key);
    assert!(at_the_lowest(&tree, key) >= LEN * 9 / 10, "entries are corrected where they misled");
}

#[test]
fn a_directory_outlives_the_tree_that_it_was_made_for() {
    let mut tree = loaded(SPREADS[0]);
    for i in 0..LEN as u64 {
        tree.edit::<Shared>(3 * i, Edit::Remove).unwrap();
    }
    assert_eq!((tree.len(), tree.live_bytes()), (0, 1024));
    for i in (0..LEN as u64).rev() {
        tree.edit::<Exclusive>(3 * i, Edit::Put(3 * i)).unwrap();
    }
    all_found::<Shared>(&tree, SPREADS[0]);
    tree.clear();
    assert!(tree.directory.routes().is_none());
    assert_eq!(tree.get::<Shared>(3), None);
    assert_eq!(tree.held_bytes(), tree.live_bytes());
}

#[test]
fn a_window_that_moves_on_keeps_its_directory() {
    // Keys come at one end and go at the other: the tree never grows, and all its nodes change.
    let options = BlinkOptions { huge_pages: false, ..BlinkOptions::default() };
    let tree = BlinkTree::new(options).unwrap();
    let (window, all) = (LEN as u64 / 2, 4 * LEN as u64);
    for at in 0..all {
        tree.edit::<Shared>(at, Edit::Put(at)).unwrap();
        if let Some(gone) = at.checked_sub(window) {
            tree.edit::<Shared>(gone, Edit::Remove).unwrap();
        }
    }
    let before = tree.stats().misled;
    assert!(before <= all / 20, "{before} of {all} inserts were misled");
    (all - window..all).for_each(|key| assert_eq!(tree.get::<Shared>(key), Some(key)));
    assert!(tree.stats().misled - before <= window / 50);
}
