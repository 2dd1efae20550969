//! Position tables appear, grow, follow the tree, and disappear.

use super::*;
use crate::blink::{BlinkOptions, Edit, Levels};
use crate::byte_tree::node::Toward;
use crate::byte_tree::text::Seed;
use crate::byte_tree::{Border, Bounds, ByteTree, GROUP, KeyRoom, LeafCopy, OneWord};
use latchless_core::base::bytes_value::Kind;
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::Direction;
use latchless_core::search::Scalar;
use std::sync::atomic::{AtomicBool, Ordering};

/// Enough for a table, and for one that is much larger.
const KEYS: u64 = if cfg!(latchless_small_nodes) { 1500 } else { 60_000 };

/// Of this many keys fewer may be misled. Where leaves have four entries, splits and loans are everywhere.
const FEW: u64 = if cfg!(latchless_small_nodes) { KEYS / 10 } else { KEYS / 100 };

/// This many keys have a guess at least where the last ones are always new.
const GROWING: f64 = if cfg!(latchless_small_nodes) { 0.5 } else { 0.7 };

type Write = fn(u64) -> Vec<u8>;

/// A number that looks random, and no other one's.
fn scattered(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 31).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// Keys by name, whose positions predict their leaves.
const EVEN: [(&str, Write); 6] = [
    ("bytes", |number| scattered(number).to_be_bytes().to_vec()),
    ("hexadecimal", |number| format!("{:016x}-{number}", scattered(number)).into_bytes()),
    ("decimal", |number| format!("user-{:04}/{:016}", scattered(number) % 5000, number).into_bytes()),
    ("ascending", |number| format!("key{number:08}").into_bytes()),
    ("descending", |number| format!("key{:08}", 50_000_000 - number).into_bytes()),
    ("bytes that are descending", |number| [b"x\0\0", &(!number).to_be_bytes()[..]].concat()),
];

/// Keys by name, as in `EVEN`, but spread unevenly.
const UNEVEN: [(&str, Write); 2] = [
    ("skewed", |number| {
        let share = scattered(number) as f64 / u64::MAX as f64;
        format!("{:03}:{:016}", (900.0 * share.powi(4)) as u64, scattered(number + 7) >> 11).into_bytes()
    }),
    ("families", |number| {
        let family = if number.is_multiple_of(3) { "order" } else { "account" };
        format!("{family}:{:016}", scattered(number) >> 11).into_bytes()
    }),
];

/// Keys of which some two leaves have the same number.
fn crowded(number: u64) -> Vec<u8> {
    let series = scattered(number % (KEYS / 100));
    [series.to_be_bytes(), number.to_be_bytes()].concat()
}

fn tree() -> ByteTree {
    ByteTree::new(BlinkOptions { huge_pages: false, ..BlinkOptions::default() }, Kind::Word).unwrap()
}

fn put(tree: &ByteTree, key: Write, numbers: core::ops::Range<u64>) {
    numbers.for_each(|number| assert!(tree.edit(&key(number), Edit::Put(number)).unwrap().applied));
}

fn look_for(tree: &ByteTree, key: Write, numbers: core::ops::Range<u64>) {
    numbers.for_each(|number| assert_eq!(tree.get(&key(number)), Some(number)));
}

fn nodes_of(tree: &ByteTree) -> usize {
    tree.store.long().tree_nodes()
}

/// The share of keys whose leaf the table predicts.
fn guessed(tree: &ByteTree, key: Write) -> f64 {
    let is_guessed = |&number: &u64| {
        let (key, tag) = (key(number), Seed::tag(tree.store.hash(&key(number))));
        tree.finder
            .positions
            .guess(&key, Aim::Find)
            .is_some_and(|(leaf, _)| tree.store.at(leaf).1.find::<Scalar>(&key, tag).is_some())
    };
    (0..KEYS).filter(is_guessed).count() as f64 / KEYS as f64
}

#[test]
fn positions_tell_the_leaves_of_numbers_in_any_notation() {
    for (is_uneven, (name, key)) in
        EVEN.map(|own| (false, own)).into_iter().chain(UNEVEN.map(|own| (true, own)))
    {
        let tree = tree();
        put(&tree, key, 0..KEYS);
        assert!(tree.finder.positions.are_any(Aim::Find), "{name}");
        assert_eq!(tree.finder.positions.is_segmented.load_relaxed(), u64::from(is_uneven), "{name}");
        (0..2).for_each(|_| look_for(&tree, key, 0..KEYS));
        let share = guessed(&tree, key);
        // Keys that are added after or before all others are outside of the table until they are many.
        let is_growing = name.ends_with("scending");
        assert!(share > if is_growing { GROWING } else { 0.9 }, "{name}: {share}");
        let misled = tree.store.counts().misled();
        look_for(&tree, key, 0..KEYS);
        let misled = tree.store.counts().misled() - misled;
        assert!(misled < FEW, "{name}: {misled} were misled");
        assert!(is_growing || tree.finder.guesses.bytes() == 0, "{name}: hashes are to tell the same");
        tree.check_invariants().unwrap();
    }
}

#[test]
fn positions_follow_splits_loans_and_merges() {
    let (tree, key) = (tree(), EVEN[0].1);
    put(&tree, key, 0..KEYS);
    (0..2).for_each(|_| look_for(&tree, key, 0..KEYS));
    let misled = tree.store.counts().misled();
    put(&tree, key, KEYS..KEYS * 5 / 4);
    let now = tree.store.counts().misled();
    assert!(now - misled < FEW / 15, "{} were misled by splits and loans", now - misled);
    // Most leaves merge.
    for number in 0..KEYS {
        if number % 8 != 0 {
            assert_eq!(tree.edit(&key(number), Edit::Remove).unwrap().before, Some(number));
        }
    }
    (0..3).for_each(|_| (0..KEYS).step_by(8).for_each(|number| look_for(&tree, key, number..number + 1)));
    let misled = tree.store.counts().misled();
    (0..KEYS).for_each(|number| assert_eq!(tree.get(&key(number)), (number % 8 == 0).then_some(number)));
    assert!(tree.store.counts().misled() - misled < FEW);
    tree.check_invariants().unwrap();
}

/// As when another thread's writing was lost.
#[test]
fn a_slot_that_misled_is_corrected() {
    let (tree, key) = (tree(), EVEN[0].1);
    put(&tree, key, 0..KEYS);
    (0..2).for_each(|_| look_for(&tree, key, 0..KEYS));
    let mut high = [0; SUFFIX_ROOM];
    for number in 0..50 {
        let leaf = tree.store.descend_to_leaf::<Scalar>(&key(number), Toward::Key);
        let right = tree.store.at(leaf).1.link();
        if !right.is_nil() {
            let end = tree.store.at(right).1.whole_high(&mut high);
            tree.finder.positions.name(leaf, &key(number), end);
        }
    }
    (0..2).for_each(|_| look_for(&tree, key, 0..KEYS));
    let misled = tree.store.counts().misled();
    look_for(&tree, key, 0..KEYS);
    let misled = tree.store.counts().misled() - misled;
    assert!(misled < FEW / 10, "{misled} are misled for ever");
}

/// Numbers in no order, so that no series grows.
fn shuffled(number: u64) -> Vec<u8> {
    crowded(scattered(number) % (1 << 40))
}

#[test]
fn what_crowds_has_no_table_until_the_tree_is_much_larger() {
    let tree = tree();
    put(&tree, shuffled, 0..KEYS);
    (0..2).for_each(|_| look_for(&tree, shuffled, 0..KEYS));
    assert!(!tree.finder.positions.are_any(Aim::Find) && !tree.finder.positions.are_any(Aim::Add));
    let not_before = tree.finder.positions.not_before.each_ref().map(Word::load_relaxed);
    let nodes = nodes_of(&tree) as u64;
    assert!(not_before.iter().all(|&fewest| fewest > nodes));
    look_for(&tree, shuffled, 0..KEYS);
    assert_eq!(
        tree.finder.positions.not_before.each_ref().map(Word::load_relaxed),
        not_before,
        "it was tried again"
    );
}

/// Where keys grow at many places, slots lead to where each place grows, whatever lookups think of them.
#[test]
#[cfg_attr(latchless_small_nodes, ignore = "of so few keys there are too few series for a table")]
fn keys_that_grow_at_many_places_come_to_where_the_last_one_did() {
    let tree = tree();
    put(&tree, crowded, 0..KEYS);
    (0..2).for_each(|_| look_for(&tree, crowded, 0..KEYS));
    assert!(tree.finder.positions.are_any(Aim::Add), "the next key of a series has no guess");
    assert!(!tree.finder.positions.are_any(Aim::Find), "lookups of all keys go by positions that don't tell");
    let (misled, splits) = (tree.store.counts().misled(), tree.store.counts().splits());
    let is_guessed = |number: u64| {
        let key = crowded(number);
        let guess = tree.finder.positions.guess(&key, Aim::Add).map(|(leaf, _)| leaf);
        assert!(tree.edit(&key, Edit::Put(number)).unwrap().applied);
        guess == Some(tree.store.descend_to_leaf::<Scalar>(&key, Toward::Key))
    };
    let guessed = (KEYS..KEYS * 5 / 4).filter(|&number| is_guessed(number)).count() as f64;
    let share = guessed / (KEYS / 4) as f64;
    // Some series share a slot, and take it from each other.
    assert!(share > 0.5, "{share}");
    // A split leaves the leaf's slot to the next key.
    let (misled, splits) = (tree.store.counts().misled() - misled, tree.store.counts().splits() - splits);
    assert!(misled < splits + KEYS / 16, "{misled} were misled, {splits} leaves were split");
    // Lookups go by hashes, so they are to find the new keys by these.
    let is_hashed = |number: &u64| {
        let key = crowded(*number);
        tree.finder.guesses.leaf(tree.store.hash(&key))
            == Some(tree.store.descend_to_leaf::<Scalar>(&key, Toward::Key))
    };
    let hashed = (KEYS..KEYS * 5 / 4).filter(is_hashed).count() as u64;
    assert!(hashed > KEYS / 8, "{hashed}");
    // A new layout for keys to come isn't one for lookups.
    tree.finder.positions.lay_out(&tree.store, nodes_of(&tree));
    assert!(tree.finder.positions.are_any(Aim::Add) && !tree.finder.positions.are_any(Aim::Find));
    tree.check_invariants().unwrap();
}

/// Keys that grow beyond the table's range are in a new one.
#[test]
fn keys_that_move_on_have_a_table_again() {
    let (tree, key) = (tree(), EVEN[3].1);
    put(&tree, key, 0..KEYS);
    let range = |tree: &ByteTree| tree.finder.positions.base.load_relaxed();
    let base = range(&tree);
    for number in KEYS..3 * KEYS {
        assert!(tree.edit(&key(number), Edit::Put(number)).unwrap().before.is_none());
        assert!(tree.edit(&key(number - KEYS), Edit::Remove).unwrap().before.is_some());
    }
    assert!(range(&tree) > base, "the table is of keys that aren't there any more");
    (0..3).for_each(|_| look_for(&tree, key, 2 * KEYS..3 * KEYS));
    let misled = tree.store.counts().misled();
    let own = |number: u64| tree.finder.positions.guess(&key(number), Aim::Find).is_some();
    let share = (2 * KEYS..3 * KEYS).filter(|&number| own(number)).count() as f64 / KEYS as f64;
    assert!(share > GROWING, "{share}");
    look_for(&tree, key, 2 * KEYS..3 * KEYS);
    assert!(tree.store.counts().misled() - misled < FEW);
}

#[test]
fn a_guess_that_leads_far_to_the_left_costs_a_descent_and_no_walk() {
    let (tree, key) = (tree(), EVEN[0].1);
    put(&tree, key, 0..KEYS);
    (0..2).for_each(|_| look_for(&tree, key, 0..KEYS));
    let first = tree.store.descend_to_leaf::<Scalar>(&[], Toward::Key);
    let mut keys: Vec<_> = (0..KEYS).map(key).collect();
    keys.sort_unstable();
    let own = &keys[keys.len() / 2];
    let restarts = |search: &dyn Fn()| {
        let slots = tree.finder.positions.slots().expect("a table");
        slots.point(first, tree.finder.positions.numbers.of(own));
        let before = tree.store.counts().restarts();
        search();
        tree.store.counts().restarts() - before
    };
    let from = core::ops::Bound::Included(&own[..]);
    let nearest = || {
        let mut found = KeyRoom::default();
        let border = Border { from, direction: Direction::Reverse };
        assert!(tree.nearest(border, &mut found, &mut OneWord).is_some());
        assert_eq!(found.bytes(), &own[..]);
    };
    assert_eq!(restarts(&nearest), 1);
    let range = || {
        LeafCopy::lend(|leaf| {
            tree.load_first(Bounds { low: from, high: from }, leaf);
            assert_eq!(leaf.within().len(), 1);
        });
    };
    assert_eq!(restarts(&range), 1);
}

#[test]
fn searches_and_ranges_begin_at_the_key_s_position() {
    let (tree, key) = (tree(), EVEN[1].1);
    put(&tree, key, 0..KEYS);
    tree.finder.positions.lay_out(&tree.store, nodes_of(&tree));
    assert!(guessed(&tree, key) < 0.1, "a new table has guesses");
    // Searches alone fill the table.
    let search = |number: u64| {
        let (own, mut found) = (key(number), KeyRoom::default());
        let from = core::ops::Bound::Included(&own[..]);
        let direction = if number.is_multiple_of(2) { Direction::Forward } else { Direction::Reverse };
        let border = Border { from, direction };
        assert_eq!(tree.nearest(border, &mut found, &mut OneWord), Some(number));
        assert_eq!(found.bytes(), own);
    };
    (0..2).for_each(|_| (0..KEYS).for_each(search));
    assert!(guessed(&tree, key) > 0.9);
    let restarts = tree.store.counts().restarts();
    (0..KEYS).for_each(search);
    assert!(tree.store.counts().restarts() - restarts < FEW);
}

#[test]
fn a_load_and_a_removal_of_all_begin_anew() {
    let (mut tree, key) = (tree(), EVEN[2].1);
    put(&tree, key, 0..KEYS);
    assert!(tree.finder.positions.are_any(Aim::Find));
    let mut keys: Vec<_> = (0..KEYS).map(key).collect();
    while tree.pop(Direction::Forward, &mut KeyRoom::default(), &mut OneWord).is_some() {}
    keys.sort_unstable();
    let mut rest = keys.iter();
    tree.load(FillFactor::FULL, &mut |to, value| {
        let Some(key) = rest.next() else { return false };
        to.extend_from_slice(key);
        value.set(latchless_core::base::bytes_value::Raw::Word(7));
        true
    })
    .unwrap();
    assert!(tree.finder.positions.are_any(Aim::Find), "a loaded tree has a table");
    (0..2).for_each(|_| keys.iter().for_each(|key| assert_eq!(tree.get(key), Some(7))));
    assert!(guessed(&tree, key) > 0.9);
    tree.clear();
    assert!(!tree.finder.positions.are_any(Aim::Find) && tree.get(&keys[0]).is_none());
}

#[test]
fn there_is_no_table_beyond_the_memory_limit() {
    let (mut tree, key) = (tree(), EVEN[0].1);
    put(&tree, key, 0..KEYS / 2);
    tree.finder.positions.clear();
    tree.budget().set_limit(tree.held_bytes());
    tree.finder.positions.lay_out_if_outgrown(&tree.store);
    tree.finder.positions.wait_for(1);
    tree.finder.positions.lay_out_if_outgrown(&tree.store);
    assert!(
        !tree.finder.positions.are_any(Aim::Find) && tree.finder.positions.not_before[0].load_relaxed() > 1
    );
    look_for(&tree, key, 0..KEYS / 2);
    tree.budget().set_limit(4 * tree.held_bytes() + Numbers::BYTES_MAX);
    tree.finder.positions.wait_for(1);
    tree.finder.positions.lay_out_if_outgrown(&tree.store);
    assert!(tree.finder.positions.are_any(Aim::Find));
    look_for(&tree, key, 0..KEYS / 2);
}

/// Operations don't wait until its memory is ready.
#[test]
fn a_table_is_in_use_when_its_memory_is_ready_and_not_before() {
    let options = BlinkOptions { huge_pages: false, prefault: true, ..BlinkOptions::default() };
    let (tree, key) = (ByteTree::new(options, Kind::Word).unwrap(), EVEN[0].1);
    put(&tree, key, 0..KEYS);
    for _ in 0..2 {
        tree.finder.positions.publish(0, usize::MAX);
        tree.finder.positions.wait_for(0);
        // As for a tree that is much larger: a table of 64 megabytes isn't ready at once.
        let nodes = 1 << 22;
        for _ in 0..10_000 {
            tree.finder.positions.lay_out(&tree.store, nodes);
            let is_in_use = tree.finder.positions.are_any(Aim::Find);
            let is_unready = tree.finder.positions.tables.iter().any(|(_, words)| words.is_unready());
            assert!(!(is_unready && is_in_use), "a table in use isn't ready");
            if is_in_use {
                break;
            }
            std::thread::sleep(core::time::Duration::from_millis(1));
        }
        assert!(tree.finder.positions.are_any(Aim::Find));
        look_for(&tree, key, 0..KEYS);
    }
}

/// While a layout changes under them, readers may be misled, and are right.
#[test]
fn readers_are_right_while_layouts_change() {
    let (tree, key) = (tree(), EVEN[1].1);
    put(&tree, key, 0..KEYS);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                look_for(&tree, key, 0..KEYS / 50);
                let keys: Vec<_> = (0..GROUP as u64).map(key).collect();
                let keys: Vec<_> = keys.iter().map(|key| &key[..]).collect();
                let mut answers = [None; GROUP];
                tree.get_group(&keys, &mut answers);
                assert!(answers.iter().zip(0..).all(|(answer, number)| *answer == Some(number)));
            }
        });
        for round in 0..200 {
            let mut seen = numbers::Seen::nothing();
            (0..20).for_each(|number| seen.see(&scattered(number + round).to_be_bytes(), 0, true));
            let size = round as usize % 3;
            if round % 2 == 0 {
                tree.finder.positions.numbers.set(&[b'x'; 64][..round as usize % 7], &seen, 1 << 30);
                tree.finder.positions.base.store_relaxed(scattered(round));
                tree.finder.positions.scale.store_relaxed(scattered(round) >> (round % 64));
                tree.finder.positions.publish(
                    if tree.finder.positions.tables.get(size).is_some() { size as u64 + 1 } else { 0 },
                    usize::MAX,
                );
            } else {
                tree.finder.positions.outside.store_relaxed(1 << 40);
                tree.finder.positions.lay_out_if_outgrown(&tree.store);
            }
            std::thread::yield_now();
        }
        done.store(true, Ordering::Relaxed);
    });
    tree.check_invariants().unwrap();
}
