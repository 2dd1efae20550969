//! Tests of the directory. They need large trees, for which Miri takes minutes, and there is no unsafe code
//! here.

use super::*;
use crate::node::{Inner, Leaf};
use crate::tree::{BlinkOptions, BlinkTree, Edit, Exclusive, Group, Mode, Shared};
use core::num::NonZeroUsize;
use latchless_core::base::fill::FillFactor;

const LEN: usize = if cfg!(latchless_small_nodes) { 4_000 } else { 60_000 };

/// Distributions of keys: the `at`th key of each, ascending.
const SPREADS: [fn(u64) -> u64; 4] = [
    |at| 3 * at,
    // Users with 64 entries each.
    |at| ((at / 64).wrapping_mul(0x1357_9BDF) << 24) | (at % 64),
    // Each power of two has as many keys as any other.
    |at| (1 << (at / 2000)) * (4096 + at % 2000 * 2),
    // A few far keys.
    |at| if at < LEN as u64 - 10 { 5 * at } else { u64::MAX - 1000 * (LEN as u64 - at) },
];

/// Builds a tree of these keys by a bulk load, large enough for a directory. Each value is its key.
fn loaded(key: fn(u64) -> u64) -> BlinkTree<u64> {
    let options = BlinkOptions { huge_pages: false, ..BlinkOptions::default() };
    let mut tree = BlinkTree::new(options).unwrap();
    let half = FillFactor::new(0.5).unwrap();
    tree.bulk_load(LEN, |at| (key(at as u64), key(at as u64)), half, NonZeroUsize::MIN).unwrap();
    tree
}

/// Builds a tree of the same keys by single inserts.
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

/// Counts the keys of such a tree whose entry leads to the lowest inner node that covers them.
fn at_the_lowest(tree: &BlinkTree<u64>, key: fn(u64) -> u64) -> usize {
    let covered = |&key: &u64| {
        let start = tree.finder().routing().start(key);
        let (low, high) = tree.store().fences(start.level(), start.node());
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
        // In a tree of small nodes, one insert in four splits a leaf, and one in sixteen an inner node.
        let (most, least) = if cfg!(latchless_small_nodes) { (LEN / 10, 8) } else { (LEN / 20, 9) };
        assert!(misled <= most, "{misled} of {LEN} inserts and as many lookups were misled");
        all_found::<Shared>(&tree, key);
        let lowest = at_the_lowest(&tree, key);
        assert!(lowest >= LEN * least / 10, "only {lowest} of {LEN} keys start at the lowest inner node");
    }
}

#[test]
fn wrong_entries_mislead_no_answer_and_are_corrected() {
    let key = SPREADS[0];
    let tree = loaded(key);
    let routes = tree.finder().directory().routes().unwrap();
    let somewhere = tree.finder().routing().start(key(LEN as u64 / 3));
    let top = Entry::node_at(tree.finder().routing().top().node(), tree.finder().routing().top().level(), 3);
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
    tree.finder().guesses().drop_all();
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
    assert!(tree.finder().directory().routes().is_none());
    assert_eq!(tree.get::<Shared>(3), None);
    assert_eq!(tree.held_bytes(), tree.live_bytes());
}

#[test]
fn a_window_that_moves_on_keeps_its_directory() {
    // Keys come in at one end and leave at the other: the tree never grows, and all its nodes change.
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
    // In small nodes every other insert is into a new leaf.
    let (inserts, lookups) = if cfg!(latchless_small_nodes) { (4, 10) } else { (20, 50) };
    assert!(before <= all / inserts, "{before} of {all} inserts were misled");
    (all - window..all).for_each(|key| assert_eq!(tree.get::<Shared>(key), Some(key)));
    assert!(tree.stats().misled - before <= window / lookups);
}

/// Runs a new survey piece by piece, with `between` after each. Returns the number of pieces.
fn survey_with(tree: &BlinkTree<u64>, mut between: impl FnMut(usize)) -> usize {
    tree.finder().directory().survey_begins();
    let mut pieces = 0;
    while tree.finder().directory().is_due() {
        tree.finder().go_on_with_survey();
        pieces += 1;
        between(pieces);
        assert!(pieces < 100_000, "it ends");
    }
    pieces
}

/// Returns keys of the distribution for a change between two pieces.
fn some_keys(piece: usize) -> impl Iterator<Item = u64> {
    (0..LEN as u64 / 40).map(move |at| (piece as u64 * 7919 + at) % LEN as u64)
}

#[test]
fn a_survey_is_made_in_pieces_and_the_old_tables_serve_meanwhile() {
    let tree = loaded(SPREADS[0]);
    let mut nodes = 0;
    tree.store().visit_lowest(0, usize::MAX, |_, _| nodes += 1);
    let (form, slots) =
        (tree.finder().directory().form.load_relaxed(), tree.finder().guesses().slots().is_some());
    let (mut forms, mut unserved) = (vec![form], 0);
    let pieces = survey_with(&tree, |_| {
        forms.push(tree.finder().directory().form.load_relaxed());
        unserved += usize::from(tree.finder().guesses().slots().is_some() != slots);
        assert_eq!(tree.get::<Shared>(SPREADS[0](77)), Some(SPREADS[0](77)));
    });
    forms.dedup();
    assert_eq!((forms.len(), unserved), (2, 0), "one change of tables, and guesses throughout");
    let tried = 256 * Leaf::<u64>::CAPACITY / 500;
    assert!(
        cfg!(latchless_small_nodes) || pieces >= tried + nodes * Inner::<u64>::CAPACITY / 300,
        "{pieces} pieces for {nodes} nodes"
    );
    assert_eq!(at_the_lowest(&tree, SPREADS[0]), LEN);
    assert_eq!(tree.stats().misled, 0);
}

#[test]
fn a_tree_that_changes_between_the_pieces_of_a_survey_is_described_as_it_is() {
    for key in SPREADS {
        let tree = loaded(key);
        // A stretch of keys is removed and inserted again, so nodes are merged and reused elsewhere.
        survey_with(&tree, |piece| {
            if piece % 2 == 1 {
                some_keys(piece).for_each(|at| _ = tree.edit::<Shared>(key(at), Edit::Remove).unwrap());
                some_keys(piece).for_each(|at| _ = tree.edit::<Shared>(key(at), Edit::Put(key(at))).unwrap());
            }
        });
        let before = tree.stats().misled;
        all_found::<Shared>(&tree, key);
        tree.check_invariants().unwrap();
        let misled = (tree.stats().misled - before) as usize;
        let most = if cfg!(latchless_small_nodes) { LEN / 40 } else { LEN / 50 };
        assert!(misled <= most, "{misled} of {} lookups were misled", 3 * LEN);
        assert!(at_the_lowest(&tree, key) >= LEN * 9 / 10);
    }
}

#[test]
fn leaves_that_split_during_a_survey_are_guessed_after_it() {
    let tree = loaded(SPREADS[0]);
    // Each piece is followed by splits all over the tree.
    let mut fresh = (0..LEN as u64).map(|at| 3 * (at * 7919 % LEN as u64) + 1);
    survey_with(&tree, |_| {
        fresh.by_ref().take(LEN / 60).for_each(|key| _ = tree.edit::<Shared>(key, Edit::Put(key)).unwrap());
    });
    let wrong = |key: u64| {
        let guess = tree.finder().guesses().slots().and_then(|slots| slots.guess(key));
        guess.is_some_and(|(leaf, _)| !tree.store().leaf(leaf).covers(key))
    };
    let wrong = (0..LEN as u64).filter(|&at| wrong(3 * at)).count();
    assert!(tree.finder().guesses().slots().is_some());
    assert!(wrong <= LEN / 200, "{wrong} of {LEN} guesses are wrong");
}

#[test]
fn a_survey_that_is_left_off_is_forgotten_with_the_tree() {
    let mut tree = loaded(SPREADS[0]);
    tree.finder().directory().survey_begins();
    (0..if cfg!(latchless_small_nodes) { 1 } else { 20 }).for_each(|_| tree.finder().go_on_with_survey());
    assert!(tree.finder().directory().is_due());
    tree.clear();
    assert!(!tree.finder().directory().is_due() && tree.finder().guesses().growing().is_none());
    let entry = |at: usize| (SPREADS[0](at as u64), at as u64);
    tree.bulk_load(LEN, entry, FillFactor::FULL, NonZeroUsize::MIN).unwrap();
    assert_eq!(at_the_lowest(&tree, SPREADS[0]), LEN);
    // A load after the tree was emptied in place runs its own survey.
    tree.finder().directory().survey_begins();
    (0..if cfg!(latchless_small_nodes) { 1 } else { 20 }).for_each(|_| tree.finder().go_on_with_survey());
    (0..LEN as u64).for_each(|at| _ = tree.edit::<Shared>(SPREADS[0](at), Edit::Remove).unwrap());
    tree.bulk_load(LEN, entry, FillFactor::FULL, NonZeroUsize::MIN).unwrap();
    assert!(!tree.finder().directory().is_due());
    assert_eq!(at_the_lowest(&tree, SPREADS[0]), LEN);
}
