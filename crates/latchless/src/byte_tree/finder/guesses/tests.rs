//! Lines of guesses, and tables that come, grow and go.

use super::*;
use crate::blink::{BlinkOptions, Edit, Levels};
use crate::byte_tree::text::Seed;
use crate::byte_tree::{ByteTree, KeyRoom, OneWord};
use latchless_core::base::bytes_value::Kind;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::Direction;
use latchless_core::search::Scalar;

fn leaf(number: u32) -> NodeRef {
    NodeRef::from_word(number)
}

fn words() -> [Word; LINE_WORDS] {
    [const { Word::new(0) }; LINE_WORDS]
}

#[test]
fn a_line_tells_twelve_keys_apart() {
    let words = words();
    let line = |mark| Line { words: &words, mark };
    for mark in 0..GUESSES as u8 {
        line(mark * 20).write(leaf(u32::from(mark) + 1), NodeRef::NIL);
    }
    for mark in 0..GUESSES as u8 {
        let leaves: Vec<_> = line(mark * 20).leaves().collect();
        assert!(leaves.contains(&leaf(u32::from(mark) + 1)), "mark {mark}: {leaves:?}");
        assert!(leaves.len() <= 2, "a mark says yes too often: {leaves:?}");
    }
    assert_eq!(line(7).leaves().count(), 0);
}

#[test]
fn a_wrong_guess_is_written_anew_in_its_place() {
    let words = words();
    let line = Line { words: &words, mark: 9 };
    line.write(leaf(5), NodeRef::NIL);
    line.write(leaf(5), NodeRef::NIL);
    line.write(leaf(6), leaf(5));
    assert_eq!(line.leaves().collect::<Vec<_>>(), [leaf(6)]);
    // Another key with the same mark.
    line.write(leaf(7), NodeRef::NIL);
    assert_eq!(line.leaves().collect::<Vec<_>>(), [leaf(6), leaf(7)]);
}

#[test]
fn a_full_line_takes_a_new_guess_now_and_then() {
    let words = words();
    for mark in 0..GUESSES as u8 {
        Line { words: &words, mark }.write(leaf(1), NodeRef::NIL);
    }
    let line = Line { words: &words, mark: 200 };
    let tries = (1..=1000).find(|_| {
        line.write(leaf(2), NodeRef::NIL);
        line.leaves().next().is_some()
    });
    assert!(tries.is_some_and(|tries| tries <= REPLACED), "{tries:?}");
}

/// A tree of this many keys of twelve bytes.
fn tree_of(keys: usize) -> ByteTree {
    let options = BlinkOptions { huge_pages: false, ..BlinkOptions::default() };
    let tree = ByteTree::new(options, Kind::Word).unwrap();
    tree.finder.positions.forbid();
    for number in 0..keys as u64 {
        tree.edit(&key(number), Edit::Put(number)).unwrap();
    }
    tree
}

fn key(number: u64) -> [u8; 12] {
    let mut key = *b"............";
    key[..8].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    key
}

fn look_for(tree: &ByteTree, numbers: core::ops::Range<u64>, is_there: bool) {
    for number in numbers {
        assert_eq!(tree.get(&key(number)), is_there.then_some(number));
    }
}

/// The share of keys whose leaf the table predicts.
fn guessed(tree: &ByteTree, keys: u64) -> f64 {
    let is_guessed = |&number: &u64| {
        let key = key(number);
        let hash = tree.store.hash(&key);
        let has = |leaf| tree.store.at(leaf).1.find::<Scalar>(&key, Seed::tag(hash)).is_some();
        tree.finder.guesses.line(hash).is_some_and(|line| line.leaves().any(has))
    };
    (0..keys).filter(is_guessed).count() as f64 / keys as f64
}

const KEYS: usize = if cfg!(latchless_small_nodes) { 2000 } else { FEWEST_KEYS + 1000 };

#[test]
fn lookups_that_find_make_a_table_and_fill_it() {
    let tree = tree_of(KEYS);
    assert_eq!(tree.finder.guesses.bytes(), 0, "nobody has looked anything up");
    look_for(&tree, 0..KEYS as u64, true);
    assert!(tree.finder.guesses.bytes() > 0);
    look_for(&tree, 0..KEYS as u64, true);
    let share = guessed(&tree, KEYS as u64);
    assert!(share > 0.85, "{share}");
    let misled = tree.store.counts().misled();
    look_for(&tree, 0..KEYS as u64, true);
    // Other keys have the same mark in one line of twenty.
    assert!(tree.store.counts().misled() - misled < KEYS as u64 / 10);
    tree.check_invariants().unwrap();
}

#[test]
fn a_table_is_in_use_when_its_memory_is_ready_and_not_before() {
    let (guesses, keys) = (Guesses::none(false, true, &Arc::new(Budget::new(None))), 40_000 * KEYS_A_LINE);
    for _ in 0..2 {
        while guesses.bytes() == 0 {
            assert!(guesses.grow(keys));
            let is_in_use = guesses.bytes() > 0;
            let mut segments = guesses.segments.iter();
            assert!(!(is_in_use && segments.any(|(_, words)| words.is_unready())));
            std::thread::sleep(core::time::Duration::from_millis(1));
        }
        let segments = guesses.segments.iter();
        assert_eq!(guesses.bytes(), segments.map(|(_, words)| words.bytes()).sum());
        // Returned segments have to be requested again.
        guesses.is_unready.store_relaxed(1);
        guesses.drop_all();
        assert_eq!(guesses.is_unready.load_relaxed(), 0);
    }
}

#[test]
fn guesses_follow_splits_and_removals() {
    let tree = tree_of(KEYS);
    (0..3).for_each(|_| look_for(&tree, 0..KEYS as u64, true));
    // Most leaves split.
    for number in KEYS as u64..2 * KEYS as u64 {
        tree.edit(&key(number), Edit::Put(number)).unwrap();
    }
    (0..3).for_each(|_| look_for(&tree, 0..2 * KEYS as u64, true));
    assert!(guessed(&tree, 2 * KEYS as u64) > 0.8);
    // Most leaves merge.
    for number in 0..2 * KEYS as u64 {
        if number % 8 != 0 {
            assert_eq!(tree.edit(&key(number), Edit::Remove).unwrap().before, Some(number));
        }
    }
    for number in 0..2 * KEYS as u64 {
        assert_eq!(tree.get(&key(number)), (number % 8 == 0).then_some(number));
    }
    tree.check_invariants().unwrap();
}

#[test]
fn lookups_in_vain_give_the_table_up_and_clearing_does() {
    let mut tree = tree_of(KEYS);
    look_for(&tree, 0..KEYS as u64, true);
    assert!(tree.finder.guesses.bytes() > 0);
    look_for(&tree, 2 * KEYS as u64..3 * KEYS as u64, false);
    assert_eq!(tree.finder.guesses.bytes(), 0);
    look_for(&tree, 0..KEYS as u64, true);
    assert!(tree.finder.guesses.bytes() > 0);
    tree.clear();
    assert_eq!(tree.finder.guesses.bytes(), 0);
    look_for(&tree, 0..100, false);
}

#[test]
fn guesses_of_an_emptied_tree_do_not_outlive_a_load() {
    let mut tree = tree_of(KEYS);
    (0..2).for_each(|_| look_for(&tree, 0..KEYS as u64, true));
    while tree.pop(Direction::Forward, &mut KeyRoom::default(), &mut OneWord).is_some() {}
    assert!(tree.finder.guesses.bytes() > 0, "no guess was looked at");
    tree.load(FillFactor::FULL, &mut |_, _| false).unwrap();
    look_for(&tree, 0..KEYS as u64, false);
}

#[test]
fn there_is_no_table_beyond_the_memory_limit() {
    let tree = tree_of(KEYS);
    tree.budget().set_limit(tree.held_bytes());
    look_for(&tree, 0..KEYS as u64, true);
    assert_eq!(tree.finder.guesses.bytes(), 0);
    let balance = tree.finder.guesses.balance.load_relaxed() as i64;
    assert!(balance < Guesses::enough_for(KEYS), "each lookup tries again: {balance}");
    tree.budget().set_limit(2 * tree.held_bytes());
    look_for(&tree, 0..KEYS as u64, true);
    assert!(tree.finder.guesses.bytes() > 0);
}
