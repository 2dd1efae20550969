//! Tests of leaf prediction. Slots need a large tree, for which Miri takes minutes, and there is no unsafe
//! code here.

use super::*;
use crate::node::Leaf;
use crate::tree::{BlinkOptions, BlinkTree, Edit, Edited, Exclusive, Group, Shared};
use core::cell::Cell;
use latchless_core::search::Scalar;
use latchless_core::testing::Rng;
use segments::SEGMENTS;
use std::collections::BTreeMap;

/// Builds a tree of these keys by single inserts.
fn grown(keys: impl Iterator<Item = u64>) -> BlinkTree<u64> {
    let options = BlinkOptions { huge_pages: false, ..BlinkOptions::default() };
    let tree = BlinkTree::new(options).unwrap();
    keys.for_each(|key| assert!(tree.edit::<Shared>(key, Edit::Put(key)).unwrap().applied));
    tree
}

/// Returns nodes between which all keys from `first` on lie.
fn range(first: u64) -> [(u64, NodeRef); 2] {
    [(first, NodeRef::NIL), (u64::MAX, NodeRef::NIL)]
}

/// Returns keys that look random.
fn scattered(len: u64) -> impl Iterator<Item = u64> + Clone {
    (0..len).map(|i| {
        (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    })
}

/// Counts the keys with no prediction, with a wrong one, and with a right one that also finds the leaf's
/// line.
fn guessed(tree: &BlinkTree<u64>, keys: impl Iterator<Item = u64>) -> (usize, usize, usize) {
    let slots = tree.finder().guesses().slots().expect("the tree is large");
    let (mut none, mut wrong, mut near) = (0, 0, 0);
    for key in keys {
        let Some((leaf, share)) = slots.guess(key) else {
            none += 1;
            continue;
        };
        let leaf = tree.store().leaf(leaf);
        wrong += usize::from(!leaf.covers(key));
        let line = leaf.named_block::<Scalar>(key) + 1;
        near += usize::from(
            leaf.covers(key)
                && (0..3).contains(&line.wrapping_sub(Leaf::<u64>::first_likely_line(share.sixteenth()))),
        );
    }
    (none, wrong, near)
}

const LEN: u64 = if cfg!(latchless_small_nodes) { 4_000 } else { 60_000 };

fn all_found(tree: &BlinkTree<u64>, keys: impl Iterator<Item = u64> + Clone) {
    for key in keys.clone() {
        assert_eq!(tree.get::<Shared>(key), Some(key), "key {key}");
        assert_eq!(tree.get::<Exclusive>(key ^ 1).is_some(), tree.get::<Shared>(key ^ 1).is_some());
    }
    let keys: Vec<_> = keys.collect();
    tree.get_each::<Shared>(
        keys.len(),
        Group::Auto,
        |at| keys[at],
        |at, found| {
            assert_eq!(found, Some(keys[at]), "key {}", keys[at]);
        },
    );
}

#[test]
#[cfg_attr(latchless_small_nodes, ignore = "is about how well usual nodes are guessed")]
fn most_leaves_and_lines_are_guessed_while_the_tree_grows_and_shrinks() {
    let tree = grown(scattered(LEN));
    let (none, wrong, near) = guessed(&tree, scattered(LEN));
    let len = LEN as usize;
    assert!(none < len / 8, "{none} have no guess");
    assert!(wrong < len / 100, "{wrong} wrong guesses");
    assert!(near > len * 6 / 10, "{near} lines guessed");
    all_found(&tree, scattered(LEN));
    let gone = |i: &u64| !i.is_multiple_of(8);
    scattered(LEN).filter(gone).for_each(|key| {
        tree.edit::<Shared>(key, Edit::Remove).unwrap();
    });
    let left = || scattered(LEN).filter(|key| !gone(key));
    assert!(guessed(&tree, left()).1 < len / 100, "merges write slots too");
    all_found(&tree, left());
}

#[test]
fn keys_in_order_are_guessed_as_far_as_they_were_surveyed() {
    let tree = grown((0..LEN).map(|i| 7 * i));
    let (none, wrong, _) = guessed(&tree, (0..LEN).map(|i| 7 * i));
    assert!(none < LEN as usize / 2 && wrong < LEN as usize / 100, "{none} {wrong}");
    all_found(&tree, (0..LEN).map(|i| 7 * i));
}

/// Large enough for several inner nodes per segment.
const MANY: u64 = if cfg!(latchless_small_nodes) { LEN } else { 4 * LEN };

/// Keys of which each power of two has as many as any other.
fn by_powers() -> impl Iterator<Item = u64> + Clone {
    scattered(MANY).map(|key| (key | 1 << 63) >> (key % 48) << 8)
}

#[test]
#[cfg_attr(latchless_small_nodes, ignore = "is about how well usual nodes are guessed")]
fn keys_that_are_spread_unevenly_are_guessed_by_segments() {
    let keys: std::collections::BTreeSet<_> = by_powers().collect();
    let tree = grown(by_powers());
    assert!(tree.finder().guesses().slots().expect("most keys have a guess").segments.is_some());
    let (none, wrong, near) = guessed(&tree, keys.iter().copied());
    assert!(none < keys.len() / 10, "{none} have no guess");
    assert!(wrong < keys.len() / 100, "{wrong} wrong guesses");
    assert!(near > keys.len() / 2, "{near} lines guessed");
    let before = tree.stats().misled;
    // Some are far from all others, too.
    all_found(&tree, keys.iter().copied());
    for far in [0, 1, 255, u64::MAX] {
        assert_eq!(tree.get::<Shared>(far), None);
    }
    assert!((tree.stats().misled - before) as usize <= keys.len() / 100, "few lookups were misled");
}

#[test]
fn keys_that_are_spread_evenly_need_no_segments() {
    let tree = grown(scattered(MANY));
    assert!(tree.finder().guesses().slots().unwrap().segments.is_none());
}

#[test]
fn places_by_segments_ascend_and_keys_outside_are_far() {
    let mut random = Rng(0x2545_F491_4F6C_DD1D);
    // Nodes whose distances grow, as those of a long tail, and one whose keys are adjacent.
    let mut nodes = vec![(1u64 << 20, NodeRef::NIL)];
    for at in 1..=300 {
        let gap = if at == 150 { 1 } else { random.next() % (1 << (10 + at / 8)) + 1 };
        nodes.push((nodes[at - 1].0 + gap, NodeRef::NIL));
    }
    let segments = Segments::blank();
    segments.cut(&nodes, 2.5);
    let place = |key: u64| segments.place(key);
    let (first, behind) = (nodes[0].0, nodes[300].0);
    assert_eq!(place(first), 0);
    for pair in nodes.windows(2) {
        let inside = pair[0].0 + random.next() % (pair[1].0 - pair[0].0);
        let places = [pair[0].0, inside, pair[1].0 - 1, pair[1].0].map(place);
        assert!(places.is_sorted(), "{pair:?}: {places:?}");
    }
    let slots = (place(behind - 1) >> PLACE_BITS) + 1;
    assert!((750..=750 + SEGMENTS as u128).contains(&slots), "{slots} slots");
    for key in [0, 1, first - 1, 2 * behind, u64::MAX] {
        assert!(place(key) >> PLACE_BITS >= slots, "{key} is outside");
    }
    // The keys of each node have about the same number of slots.
    let wide = (0..SEGMENTS).filter(|at| {
        let (begin, end) = (nodes[at * 300 / SEGMENTS].0, nodes[(at + 1) * 300 / SEGMENTS].0);
        ((place(end) - place(begin)) >> PLACE_BITS).abs_diff(11) <= 3
    });
    assert!(wide.count() >= SEGMENTS - 2);
    // The first segment is so wide that a distance below it, which wraps around, might lie in another one.
    let wide = |at: u64| (1 << 50) + (at.min(4) << 60) + (at << 40);
    let nodes: Vec<_> = (0..=300).map(|at| (wide(at), NodeRef::NIL)).collect();
    let wide = Segments::blank();
    wide.cut(&nodes, 2.5);
    assert!([0, 1, (1 << 50) - 1].into_iter().all(|key| wide.place(key) >> PLACE_BITS > 1000));
}

/// Wrong contents of a slot: nothing, another slot's content, all keys in one leaf.
fn wrong_words(tree: &BlinkTree<u64>, slots: Slots<'_>) -> [u64; 3] {
    let first = tree.store().descend_through::<Scalar>(0, 0).unwrap();
    let somewhere = slots.words[slots.words.len() / 3].load_relaxed();
    [0, somewhere, u64::from(first.to_word()) | u64::MAX << 32]
}

#[test]
fn wrong_slots_mislead_no_answer_and_are_corrected() {
    let tree = grown(scattered(LEN));
    let slots = tree.finder().guesses().slots().unwrap();
    // Dropping a table is another test's subject.
    tree.finder().guesses().patience.store_relaxed(u64::MAX);
    for with in wrong_words(&tree, slots) {
        slots.words.iter().step_by(100).for_each(|word| word.publish(with));
        all_found(&tree, scattered(LEN));
    }
    for key in scattered(LEN) {
        assert_eq!(tree.edit::<Exclusive>(key, Edit::Replace(key)).unwrap().before, Some(key));
    }
    let wrong = guessed(&tree, scattered(LEN)).1;
    assert!(cfg!(latchless_small_nodes) || wrong < LEN as usize / 100, "{wrong} guesses are wrong still");
    tree.check_invariants().unwrap();
}

#[test]
fn a_table_that_misleads_is_dropped() {
    let tree = grown(scattered(LEN));
    let slots = tree.finder().guesses().slots().unwrap();
    let [_, somewhere, _] = wrong_words(&tree, slots);
    slots.words.iter().for_each(|word| word.publish(somewhere));
    let before = tree.stats().misled;
    all_found(&tree, scattered(LEN));
    assert!(tree.finder().guesses().slots().is_none());
    let misled = (tree.stats().misled - before) as usize;
    assert!(misled <= tree.stats().leaves, "{misled} lookups were misled before");
}

#[test]
fn runs_of_keys_have_a_table_only_if_most_have_a_guess() {
    // For each user, so many keys that differ only in the last bits.
    for (items, expected) in [(4, true), (8, true), (64, false), (1000, false)] {
        let keys = || {
            let users = scattered(LEN / items).map(|user| user << 32);
            (0..items).flat_map(move |item| users.clone().map(move |user| user | item))
        };
        let keys: std::collections::HashSet<_> = keys().collect();
        let tree = grown(keys.iter().copied());
        let few = cfg!(latchless_small_nodes);
        assert!(few || tree.finder().guesses().slots().is_some() == expected, "{items} keys of each user");
        let before = tree.stats().misled;
        all_found(&tree, keys.iter().copied());
        let misled = (tree.stats().misled - before) as usize;
        assert!(few || misled <= keys.len() / 50, "{misled} of {} lookups were misled", keys.len());
    }
}

/// Runs a whole cycle of a table, for `leaves` leaves and with a good sample, without a tree. Returns the
/// number of pieces that freeing the unused table took.
fn renew(guesses: &Guesses, leaves: usize, held: &Cell<usize>) -> usize {
    let charge = |bytes| {
        held.set(held.get() + bytes);
        Ok(())
    };
    guesses.lay_out(leaves, &range(1 << 40), charge).expect("there is memory");
    let slots = guesses.growing().unwrap();
    assert!(slots.words.iter().all(|word| word.load_relaxed() == 0), "a new table is empty");
    slots.words.iter().for_each(|word| word.publish(7));
    guesses.settle(Sample::of(10, 9), leaves);
    let free = || guesses.free_piece(|bytes| held.set(held.get() - bytes));
    core::iter::from_fn(|| free().then_some(())).count()
}

#[test]
fn tables_that_were_outgrown_give_their_memory_back_piece_by_piece() {
    for (huge_pages, pieces) in [(true, 2), (false, 10)] {
        let (guesses, held) = (Guesses::none(huge_pages, false), Cell::new(0));
        // Tables of mappings: two megabytes and more.
        for leaves in [150_000, 180_000, 200_000, 170_000] {
            let (before, freed) = (guesses.in_use(), renew(&guesses, leaves, &held));
            assert_ne!(guesses.in_use(), before, "two tables are used in turn");
            assert_eq!(freed >= pieces, before.is_some(), "{freed} pieces");
            let gives_back = cfg!(target_os = "linux");
            assert!(
                !gives_back || held.get() == (2 * leaves + 1) * size_of::<Word>(),
                "{} bytes",
                held.get()
            );
            assert!(guesses.slots().unwrap().words.iter().all(|word| word.load_relaxed() == 7));
        }
    }
}

#[test]
fn a_new_table_that_is_no_good_ends_all_guesses() {
    let (guesses, held) = (Guesses::none(false, false), Cell::new(0));
    renew(&guesses, 1000, &held);
    let charge = |_| Ok(());
    guesses.lay_out(1400, &range(0), charge).unwrap();
    assert!(guesses.slots().is_some() && guesses.growing().is_some(), "the old one serves meanwhile");
    guesses.settle(Sample::of(10, 7), 1400);
    assert!(guesses.slots().is_none() && guesses.growing().is_none());
    while guesses.free_piece(|_| ()) {}
    // Refused memory leaves the table in use.
    renew(&guesses, 1000, &held);
    let refused = |_| Err(latchless_core::base::error::Error::OutOfMemory { requested_bytes: 1 });
    assert_eq!(guesses.lay_out(100_000, &range(0), refused), None);
    assert!(guesses.slots().is_some() && guesses.growing().is_none());
}

#[test]
fn nothing_is_written_to_a_table_before_it_has_its_memory() {
    let guesses = Guesses::none(true, true);
    guesses.lay_out(300_000, &range(0), |_| Ok(())).unwrap();
    assert!(guesses.growing().is_none());
    while guesses.is_unready() {
        assert!(guesses.growing().is_none());
        std::thread::sleep(core::time::Duration::from_millis(1));
    }
    assert!(guesses.growing().is_some());
    guesses.settle(Sample::of(10, 9), 300_000);
    assert!(guesses.slots().is_some() && guesses.growing().is_none());
}

#[test]
fn slots_count_as_memory_until_the_tree_is_cleared() {
    let mut tree = grown(scattered(LEN));
    let made = tree.finder().guesses().made.get().expect("there is a table");
    let slots: usize = made.tables.iter().map(|table| table.charged.load_relaxed() as usize).sum();
    assert!(slots > 0 && tree.held_bytes() >= tree.live_bytes() + slots);
    tree.clear();
    assert!(tree.finder().guesses().slots().is_none());
    assert_eq!(tree.held_bytes(), tree.live_bytes());
    scattered(LEN).for_each(|key| {
        tree.edit::<Exclusive>(key, Edit::Put(key)).unwrap();
    });
    all_found(&tree, scattered(LEN));
    assert!(tree.finder().guesses().slots().is_some());
}

/// Returns whether the ends are known, and are the first and the last leaf.
fn ends_are_known(tree: &BlinkTree<u64>) -> bool {
    [0, u64::MAX].into_iter().all(|end| {
        let leaf = tree.store().descend_through::<Scalar>(0, end).unwrap();
        tree.finder().guesses().at_an_end(end).is_some_and(|(named, _)| named == leaf)
    })
}

#[test]
fn the_ends_are_the_first_and_the_last_leaf_whatever_happens_to_them() {
    let (from, to) = (LEN, 2 * LEN);
    let tree = grown((0..LEN).flat_map(|at| [LEN - 1 - at, LEN + at]));
    assert!(ends_are_known(&tree), "after splits");
    for key in (0..LEN / 2).flat_map(|at| [at, to - 1 - at]) {
        tree.edit::<Shared>(key, Edit::Remove).unwrap();
        let (Some(last), Some(first)) =
            (tree.finder().guesses().at_an_end(u64::MAX), tree.finder().guesses().at_an_end(0))
        else {
            panic!("an end was forgotten")
        };
        assert!(
            tree.store().leaf(last.0).covers(u64::MAX) && tree.store().leaf(first.0).covers(0),
            "after merges"
        );
    }
    // Whatever the words are, lookups are right, and the first one that is misled repairs them.
    let wrong = tree.store().descend_through::<Scalar>(0, from).unwrap();
    for (low, high) in [(0, to), (from + LEN / 4, u64::MAX)] {
        tree.finder().guesses().ends.name(wrong, low, high);
    }
    let left = LEN / 2..to - LEN / 2;
    left.clone().for_each(|key| assert_eq!(tree.get::<Shared>(key), Some(key)));
    [1, to + 5].into_iter().for_each(|key| assert_eq!(tree.get::<Shared>(key), None));
    all_found(&tree, left);
    assert!(ends_are_known(&tree), "after lookups");
}

#[test]
fn keys_beyond_all_others_come_to_their_leaf_at_once() {
    for up in [true, false] {
        let key = move |at: u64| if up { 1 << 40 | at } else { (1 << 40) - at };
        let tree = grown((0..LEN).map(key));
        let before = tree.stats();
        let more = LEN..LEN + LEN / 4;
        more.clone().for_each(|at| {
            let guess = tree.finder().guesses().at_an_end(key(at));
            assert!(guess.is_some_and(|(leaf, _)| tree.store().leaf(leaf).covers(key(at))), "key {at}");
            tree.edit::<Shared>(key(at), Edit::Put(at)).unwrap();
        });
        // A batch as well, even one during which leaves split.
        let batch: Vec<_> = (more.end..more.end + LEN / 4).map(key).collect();
        let edit_at = |at: usize| (batch[at], Edit::Put(7));
        tree.edit_each::<Shared>(batch.len(), Group::Auto, edit_at, |_, done| {
            assert_eq!(done.unwrap().before, None);
        });
        let after = tree.stats();
        assert!(after.misled - before.misled < 10, "{} descents were misled", after.misled - before.misled);
        // Nor do splits walk from node to node to the parent.
        let walked = after.restarts - before.restarts;
        assert!(walked < 10, "{walked} nodes were passed");
    }
}

/// Also where the leaf that is recorded as the last one isn't.
#[test]
#[cfg_attr(latchless_small_nodes, ignore = "needs a leaf of six keys")]
fn a_run_of_edits_ends_with_its_leaf() {
    let tree = grown((0..LEN).map(|at| 2 * at));
    let leaf = tree.store().descend_through::<Scalar>(0, LEN).unwrap();
    let (low, high) = tree.store().leaf(leaf).fences();
    let keys: Vec<_> = (low..=high + 20).filter(|key| key % 2 == 0).collect();
    let inside = keys.iter().filter(|&&key| key <= high).count();
    keys[inside - 6..inside].iter().for_each(|&key| {
        tree.edit::<Shared>(key, Edit::Remove).unwrap();
    });
    tree.finder().guesses().ends.name(leaf, low, u64::MAX);
    // Half of the room that is left.
    let batch = &keys[inside - 3..];
    let (edit_at, mut answers) = (|at: usize| (batch[at], Edit::Put(7)), Vec::new());
    tree.edit_each::<Shared>(batch.len(), Group::Auto, edit_at, |_, done| answers.push(done.unwrap().before));
    let before: Vec<_> = batch.iter().map(|&key| (key > high).then_some(key)).collect();
    assert_eq!(answers, before);
    tree.check_invariants().unwrap();
}

/// A batch at either end, some of whose keys occur twice.
#[test]
fn batches_out_of_order_answer_as_one_edit_after_the_other() {
    let mut random = Rng(7);
    for up in [true, false] {
        let tree = grown((0..LEN).map(|at| (1 << 40) + at));
        let mut model: BTreeMap<u64, u64> = (0..LEN).map(|at| ((1 << 40) + at, (1 << 40) + at)).collect();
        for batch in 0..LEN / 64 {
            let edits: Vec<_> = (0..64)
                .map(|at| {
                    let far = LEN + 64 * batch + at + random.next() % 50;
                    let key = if up { (1 << 40) + far } else { (1 << 40) - far };
                    (key, if at % 2 == 0 { Edit::Put(at) } else { Edit::Add(at) })
                })
                .collect();
            let (mut answers, mut at) = (Vec::new(), 0..);
            tree.edit_each::<Shared>(
                edits.len(),
                Group::Auto,
                |at| edits[at],
                |position, edited| {
                    assert_eq!(Some(position), at.next(), "answers come in the order of the edits");
                    answers.push(edited.unwrap());
                },
            );
            for (&(key, edit), answer) in edits.iter().zip(&answers) {
                let before = model.get(&key).copied();
                let (Edit::Put(value) | Edit::Add(value)) = edit else { unreachable!("no others were made") };
                let applied = before.is_none() || edit == Edit::Put(value);
                assert_eq!(*answer, Edited { before, applied }, "key {key}");
                if applied {
                    model.insert(key, value);
                }
            }
        }
        tree.check_invariants().unwrap();
        assert_eq!(tree.len(), model.len());
    }
}
