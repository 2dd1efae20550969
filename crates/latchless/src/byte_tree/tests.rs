//! The tree against a model, for each class of keys, and under other threads.

use super::shape::LEN_MAX;
use super::*;
use crate::blink::{BlinkOptions, Edit, Levels};
use core::ops::{Bound, ControlFlow};
use latchless_core::base::bytes_value::Kind;
use latchless_core::base::bytes_value::Raw;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::fill::FillFactor;
use latchless_core::base::index::Direction;
use latchless_core::search::Scalar;
use latchless_core::testing::Rng;
use std::collections::BTreeMap;

pub(super) type Model = BTreeMap<Vec<u8>, u64>;

pub(super) fn tree() -> ByteTree {
    ByteTree::new(BlinkOptions { huge_pages: false, ..BlinkOptions::default() }, Kind::Word).unwrap()
}

/// Keys with all the differences by which nodes distinguish keys.
pub(super) const CLASSES: [&str; 9] =
    ["short", "zeros", "ones", "shared", "prefixes", "long", "long at the end", "one long", "numbers"];

/// A key of a class; equal numbers give equal keys.
pub(super) fn key_of(class: &str, number: u64) -> Vec<u8> {
    let mut random = Rng(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut letters = |count: usize, of: u64| -> Vec<u8> {
        (0..count).map(|_| b'a' + (random.next() % of) as u8).collect()
    };
    let shared = |len: usize, number: u64| [vec![b's'; len], number.to_be_bytes().to_vec()].concat();
    match class {
        "short" => letters((number % 4) as usize, 6),
        "zeros" => {
            [vec![0; (number % 40) as usize], vec![(number % 3) as u8; (number % 2) as usize]].concat()
        }
        "ones" => vec![0xFF; (number % 300) as usize],
        "shared" => shared([7, 8, 9, 15, 16, 17, 31, 32, 33, 100][(number % 10) as usize], number / 10),
        "prefixes" => shared(20, 0)[..(number % 28) as usize]
            .iter()
            .copied()
            .chain(letters((number % 3) as usize, 2))
            .collect(),
        "long" => [letters(3, 3), vec![b'x'; 180 + (number % 90) as usize], letters(4, 4)].concat(),
        "long at the end" => shared([254, 255, 256, 700][(number % 4) as usize], number),
        "one long" => {
            if number % 50 == 7 {
                vec![b'm'; 1000]
            } else {
                letters(5, 20)
            }
        }
        _ => number.to_be_bytes().to_vec(),
    }
}

pub(super) fn see_all(tree: &ByteTree, bounds: Bounds<'_>, back: bool) -> Vec<(Vec<u8>, u64)> {
    let (mut leaf, mut seen) = (LeafCopy::default(), Vec::new());
    let mut see = |key: &[u8], value, _: &OneWord| {
        seen.push((key.to_vec(), value));
        ControlFlow::<()>::Continue(())
    };
    let _ = if back {
        tree.visit_back(bounds, &mut leaf, &mut OneWord, &mut see)
    } else {
        tree.visit(bounds, &mut leaf, &mut OneWord, &mut see)
    };
    seen
}

pub(super) fn nearest(
    tree: &ByteTree,
    from: Bound<&[u8]>,
    direction: Direction,
    key: &mut Vec<u8>,
) -> Option<u64> {
    let mut room = KeyRoom::default();
    let word = tree.nearest(Border { from, direction }, &mut room, &mut OneWord)?;
    room.bytes().clone_into(key);
    Some(word)
}

/// Loads keys with a word each, which `next` makes and returns.
pub(super) fn load_words(
    tree: &mut ByteTree,
    fill: FillFactor,
    next: &mut dyn FnMut(&mut Vec<u8>) -> Option<u64>,
) -> Result<()> {
    tree.load(fill, &mut |key, value| next(key).map(|word| value.set(Raw::Word(word))).is_some())
}

fn borders<'k>(low: &'k [u8], high: &'k [u8], kind: u64) -> (Bound<&'k [u8]>, Bound<&'k [u8]>) {
    let border = |key, kind| match kind % 3 {
        0 => Bound::Included(key),
        1 => Bound::Excluded(key),
        _ => Bound::Unbounded,
    };
    (border(low, kind), border(high, kind / 3))
}

/// Ranges and neighbours are the model's.
fn compare(tree: &ByteTree, model: &Model, class: &str, random: &mut Rng) {
    let [mut low, mut high] = [(); 2].map(|()| key_of(class, random.next() % 1000));
    if low > high {
        core::mem::swap(&mut low, &mut high);
    }
    let kind = random.next() % 9;
    let (from, to) = borders(&low, &high, kind);
    let is_empty = matches!((from, to), (Bound::Excluded(low), Bound::Excluded(high)) if low == high);
    let expected: Vec<_> = if is_empty {
        Vec::new()
    } else {
        model.range::<[u8], _>((from, to)).map(|(key, &value)| (key.clone(), value)).collect()
    };
    let bounds = Bounds { low: from, high: to };
    assert_eq!(see_all(tree, bounds, false), expected, "{class}: {bounds:?}");
    let mut back = see_all(tree, bounds, true);
    back.reverse();
    assert_eq!(back, expected, "{class}, from the end: {bounds:?}");
    let owned = |entry: Option<(&Vec<u8>, &u64)>| entry.map(|(key, &value)| (key.clone(), value));
    for (from, up, down) in [
        (Bound::Included(&low[..]), Bound::Included(&low[..]), Bound::Included(&low[..])),
        (Bound::Excluded(&low[..]), Bound::Excluded(&low[..]), Bound::Excluded(&low[..])),
        (Bound::Unbounded, Bound::Unbounded, Bound::Unbounded),
    ] {
        let mut key = Vec::new();
        let found = nearest(tree, from, Direction::Forward, &mut key).map(|value| (key.clone(), value));
        assert_eq!(
            found,
            owned(model.range::<[u8], _>((up, Bound::Unbounded)).next()),
            "{class}: after {from:?}"
        );
        let found = nearest(tree, from, Direction::Reverse, &mut key).map(|value| (key.clone(), value));
        assert_eq!(
            found,
            owned(model.range::<[u8], _>((Bound::Unbounded, down)).next_back()),
            "{class}: before {from:?}"
        );
    }
}

#[test]
fn every_class_of_keys_is_as_in_the_model() {
    for class in CLASSES {
        let (mut tree, mut model) = (tree(), Model::new());
        let mut random = Rng(7);
        let rounds = if cfg!(miri) { 300 } else { 30_000 };
        for round in 0..rounds {
            let number = random.next() % if cfg!(miri) { 60 } else { 1000 };
            let (key, value) = (key_of(class, number), random.next());
            let expected = model.get(&key).copied();
            assert_eq!(tree.get(&key), expected, "{class}: {number}");
            // Grows, then shrinks, several times.
            match (round / 3000 % 2, random.next() % 8) {
                (0, 0..=5) | (1, 0..=1) => {
                    let edited = tree.edit(&key, Edit::Put(value)).unwrap();
                    assert_eq!((edited.before, edited.applied), (expected, true));
                    model.insert(key, value);
                }
                (0, 6) => {
                    let edited = tree.edit(&key, Edit::Add(value)).unwrap();
                    assert_eq!((edited.before, edited.applied), (expected, expected.is_none()));
                    model.entry(key).or_insert(value);
                }
                _ => {
                    assert_eq!(tree.edit(&key, Edit::Remove).unwrap().before, expected);
                    model.remove(&key);
                }
            }
            if round % 500 == 499 || (cfg!(miri) && round % 50 == 0) {
                tree.check_invariants().unwrap_or_else(|broken| panic!("{class}, round {round}: {broken}"));
                compare(&tree, &model, class, &mut random);
            }
        }
        pops_and_empties(&mut tree, model, class);
    }
}

fn pops_and_empties(tree: &mut ByteTree, mut model: Model, class: &str) {
    let mut key = KeyRoom::default();
    for round in 0.. {
        let end = if round % 2 == 0 { Direction::Forward } else { Direction::Reverse };
        let expected = if round % 2 == 0 { model.pop_first() } else { model.pop_last() };
        let popped = tree.pop(end, &mut key, &mut OneWord);
        assert_eq!(popped.map(|value| (key.bytes().to_vec(), value)), expected, "{class}");
        if expected.is_none() {
            break;
        }
    }
    tree.check_invariants().unwrap();
    assert_eq!(tree.len(), 0, "{class}");
    // Bounds of leaves of four entries may themselves be too long for a node.
    let stays = if cfg!(latchless_small_nodes) { tree.store.long().live_bytes() } else { 0 };
    assert_eq!(tree.store.long().live_bytes(), stays, "{class}: nothing stays: {:?}", tree.stats());
    tree.clear();
    tree.check_invariants().unwrap();
}

#[test]
fn loads_of_every_class_hold_what_was_given() {
    for class in CLASSES {
        for (count, fill) in [(0, 1.0), (1, 1.0), (5, 0.5), (100, 1.0), (1000, 0.3), (1000, 1.0)] {
            let count = if cfg!(miri) { count / 10 } else { count };
            let model: Model = (0..count).map(|number| (key_of(class, number), number)).collect();
            let mut tree = tree();
            let mut entries = model.iter();
            let mut next = |key: &mut Vec<u8>| {
                let (own, &value) = entries.next()?;
                key.extend_from_slice(own);
                Some(value)
            };
            load_words(&mut tree, FillFactor::new(fill).unwrap(), &mut next).unwrap();
            tree.check_invariants().unwrap_or_else(|broken| panic!("{class}, {count} at {fill}: {broken}"));
            let expected: Vec<_> = model.iter().map(|(key, &value)| (key.clone(), value)).collect();
            assert_eq!(see_all(&tree, Bounds::ALL, false), expected);
            // It grows like any other.
            for number in 0..count / 2 {
                let key = [key_of(class, number), b"+".to_vec()].concat();
                tree.edit(&key, Edit::Put(number)).unwrap();
            }
            tree.check_invariants().unwrap();
            assert!(model.iter().all(|(key, &value)| tree.get(key) == Some(value)));
        }
    }
}

#[test]
fn loads_that_do_not_ascend_are_refused_and_leave_nothing() {
    let load = |keys: &[&[u8]]| {
        let (mut tree, mut keys) = (tree(), keys.iter());
        let outcome = load_words(&mut tree, FillFactor::FULL, &mut |key: &mut Vec<u8>| {
            key.extend_from_slice(keys.next()?);
            Some(0)
        });
        tree.check_invariants().unwrap();
        (outcome, tree.len())
    };
    assert_eq!(load(&[b"a", b"c", b"b"]), (Err(Error::Unsorted { position: 2 }), 0));
    assert_eq!(load(&[b"a", b"a"]), (Err(Error::DuplicateKey { position: 1 }), 0));
    let too_long = vec![0; LEN_MAX + 1];
    let refused = Err(Error::KeyTooLong { len: LEN_MAX + 1, limit: LEN_MAX });
    assert_eq!(load(&[b"", &too_long]), (refused, 0));
}

#[test]
fn a_load_whose_caller_panics_leaves_an_empty_tree() {
    let mut tree = tree();
    for number in 0..3000 {
        tree.edit(&key_of("shared", number), Edit::Put(number)).unwrap();
        tree.edit(&key_of("shared", number), Edit::Remove).unwrap();
    }
    let mut count = 0u64;
    let mut next = |key: &mut Vec<u8>| {
        count += 1;
        assert!(count < 500, "the caller gives up");
        key.extend_from_slice(&count.to_be_bytes());
        Some(count)
    };
    let load = std::panic::AssertUnwindSafe(|| load_words(&mut tree, FillFactor::FULL, &mut next));
    assert!(std::panic::catch_unwind(load).is_err());
    tree.check_invariants().unwrap();
    assert_eq!((tree.len(), tree.get(&1u64.to_be_bytes())), (0, None));
    tree.edit(b"key", Edit::Put(1)).unwrap();
    assert_eq!(tree.get(b"key"), Some(1));
}

#[test]
fn the_longest_keys_are_kept_and_longer_ones_refused() {
    let tree = tree();
    let keys: Vec<_> = (0..3u8).map(|last| [vec![b'k'; LEN_MAX - 1], vec![last]].concat()).collect();
    for (value, key) in keys.iter().enumerate() {
        tree.edit(key, Edit::Put(value as u64)).unwrap();
    }
    tree.check_invariants().unwrap();
    for (value, key) in keys.iter().enumerate() {
        assert_eq!(tree.get(key), Some(value as u64));
        assert_eq!(tree.edit(key, Edit::Remove).unwrap().before, Some(value as u64));
    }
    tree.check_invariants().unwrap();
    let refused = Err(Error::KeyTooLong { len: LEN_MAX + 1, limit: LEN_MAX });
    let too_long = vec![0; LEN_MAX + 1];
    assert_eq!(tree.edit(&too_long, Edit::Put(1)), refused);
    assert_eq!(tree.get(&too_long), None);
}

#[test]
fn groups_answer_as_single_keys_do() {
    let tree = tree();
    let keys: Vec<_> = (0..if cfg!(miri) { GROUP as u64 + 8 } else { 3000 })
        .map(|number| key_of("shared", number))
        .collect();
    for group in keys.chunks(GROUP) {
        let group: Vec<&[u8]> = group.iter().map(|key| &key[..]).collect();
        let mut edits = (0..).map(Edit::Put);
        let mut fresh = 0;
        tree.edit_group(&group, Aim::Add, &mut edits, &mut |edited| {
            fresh += usize::from(edited.before.is_none())
        })
        .unwrap();
        assert_eq!(fresh, group.len());
    }
    tree.check_invariants().unwrap();
    for group in keys.chunks(GROUP) {
        let absent = b"s".to_vec();
        let mut group: Vec<&[u8]> = group.iter().map(|key| &key[..]).collect();
        group[0] = &absent;
        let mut answers = vec![Some(9); group.len()];
        tree.get_group(&group, &mut answers);
        assert!(answers.iter().zip(&group).all(|(&answer, key)| answer == tree.get(key)));
        assert_eq!(answers[0], None);
    }
}

#[test]
fn refused_memory_leaves_the_tree_as_it_was() {
    for limit in (1..60).map(|lines| 2048 * lines) {
        let options = BlinkOptions { limit_bytes: Some(limit), huge_pages: false, ..BlinkOptions::default() };
        let tree = ByteTree::new(options, Kind::Word).unwrap();
        let mut kept = 0;
        for number in 0..4000 {
            match tree.edit(&key_of("long at the end", number), Edit::Put(number)) {
                Ok(_) => kept += 1,
                Err(Error::MemoryLimit { .. }) => break,
                Err(error) => panic!("{error}"),
            }
        }
        assert!(kept < 4000 && tree.len() == kept, "{kept} keys in {limit} bytes");
        tree.check_invariants().unwrap();
        assert!((0..kept as u64).all(|number| tree.get(&key_of("long at the end", number)) == Some(number)));
        if cfg!(miri) && limit > 8192 {
            break;
        }
    }
}

#[test]
fn threads_that_change_their_own_keys_lose_nothing() {
    for class in ["shared", "long", "short"] {
        let tree = tree();
        let rounds = if cfg!(miri) { 60 } else { 20_000 };
        std::thread::scope(|scope| {
            for own in 0..3u64 {
                let tree = &tree;
                scope.spawn(move || {
                    let (mut random, mut model) = (Rng(own + 1), Model::new());
                    for round in 0..rounds {
                        let mut key = key_of(class, random.next() % 400);
                        key.push(b'0' + own as u8);
                        let value = random.next();
                        assert_eq!(tree.get(&key), model.get(&key).copied());
                        if random.next() % 8 < if round / 2000 % 2 == 0 { 6 } else { 2 } {
                            let before = tree.edit(&key, Edit::Put(value)).unwrap().before;
                            assert_eq!(before, model.insert(key, value));
                        } else {
                            assert_eq!(tree.edit(&key, Edit::Remove).unwrap().before, model.remove(&key));
                        }
                    }
                    assert!(model.iter().all(|(key, &value)| tree.get(key) == Some(value)));
                });
            }
            // Untouched keys are seen exactly once.
            let tree = &tree;
            let kept: Vec<_> =
                (0..50u64).map(|at| [b"b".to_vec(), at.to_be_bytes().to_vec()].concat()).collect();
            kept.iter().for_each(|key| assert!(tree.edit(key, Edit::Put(1)).unwrap().applied));
            for round in 0..if cfg!(miri) { 2 } else { 300 } {
                let seen = see_all(tree, Bounds::ALL, round % 2 == 1);
                let ascends = seen.is_sorted_by(|a, b| if round % 2 == 1 { a.0 > b.0 } else { a.0 < b.0 });
                assert!(ascends, "{class}: keys in order, none twice");
                let found = seen.iter().filter(|(key, _)| kept.contains(key)).count();
                assert_eq!(found, kept.len(), "{class}: all that nobody touches");
            }
        });
        tree.check_invariants().unwrap();
    }
}

/// Two trees alternately in one thread, which remembers one end alone; then both trees again.
#[test]
fn keys_in_order_are_as_in_the_model() {
    let steps = if cfg!(miri) { 100 } else { 3000 };
    for class in ["numbers", "shared", "long at the end", "short"] {
        let mut trees = [tree(), tree()];
        for up in [true, false] {
            let (mut model, mut random) = (Model::new(), Rng(11));
            let mut keys: Vec<_> = (0..steps).map(|number| key_of(class, number)).collect();
            keys.sort_unstable_by(|a, b| if up { a.cmp(b) } else { b.cmp(a) });
            for at in 0..keys.len() {
                // Now and then one that is there.
                let earlier = random.below(at as u64 + 1) as usize;
                let (key, value) = (&keys[if at % 16 == 5 { earlier } else { at }], at as u64);
                let (edit, before) = match at % 32 {
                    21 => (Edit::Remove, model.remove(key)),
                    9 => (Edit::Add(value), model.get(key).copied()),
                    _ => (Edit::Put(value), model.insert(key.clone(), value)),
                };
                if edit == Edit::Add(value) {
                    model.entry(key.clone()).or_insert(value);
                }
                // One key in a row to either of them, or several.
                for tree in if at % 128 < 64 { [0, 1] } else { [1, 0] } {
                    assert_eq!(trees[tree].edit(key, edit).unwrap().before, before, "{class}, key {at}");
                }
            }
            for tree in &mut trees {
                tree.check_invariants().unwrap();
                let all = see_all(tree, Bounds::ALL, false);
                assert!(all.iter().map(|(key, value)| (key, value)).eq(&model), "{class}, up: {up}");
                // With few entries per leaf, so many are lent that a guess of one may mislead.
                let is_small = cfg!(latchless_small_nodes);
                assert!(is_small || tree.store.counts().misled() == 0, "nothing was guessed");
                tree.clear();
            }
        }
    }
}

/// Keys that ascend go to the last leaf without a way down, those that descend to the first, in batches as
/// well.
#[test]
fn keys_in_order_begin_at_their_leaf() {
    let key = |number: u64| number.to_be_bytes();
    for up in [true, false] {
        let tree = tree();
        let number = |at: u64| if up { 1 << 40 | at } else { (1 << 40) - at };
        for at in 0..500 {
            tree.edit(&key(number(at)), Edit::Put(at)).unwrap();
            let start = tree.finder.start_at_end(&tree.store).expect("the last key came to an end");
            let (_, leaf) = tree.store.at(start.leaf);
            assert_eq!(leaf.side(&key(number(at + 1))), crate::blink::Side::Here, "key {at}");
        }
        let keys: Vec<_> = (500..500 + GROUP as u64).map(|at| key(number(at))).collect();
        let keys: Vec<_> = keys.iter().map(|key| &key[..]).collect();
        tree.edit_group(&keys, Aim::Add, &mut (0..).map(Edit::Put), &mut |edited| {
            assert!(edited.before.is_none())
        })
        .unwrap();
        assert!(tree.finder.start_at_end(&tree.store).is_some() && tree.len() == 500 + GROUP);
        // Any other key ends it, and one that is there doesn't begin it.
        tree.edit(&key(1 << 40), Edit::Put(0)).unwrap();
        tree.edit(&key(number(200)), Edit::Put(0)).unwrap();
        assert!(tree.finder.start_at_end(&tree.store).is_none());
        tree.check_invariants().unwrap();
    }
}

/// Lookups prefetch these lines of a leaf before its header has arrived.
#[test]
#[cfg_attr(latchless_small_nodes, ignore = "is about leaves with many slots")]
fn leaves_tell_how_many_of_their_lines_say_where_a_key_is() {
    let lines_of = |len: usize, is_loaded: bool| {
        // Of two lengths: keys of one go to leaves of records.
        let key = |number: u64| {
            let more = len - 8 + (number % 2) as usize;
            [&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes()[..], &[7; 64][..more]].concat()
        };
        let mut keys: Vec<_> = (0..2000).map(key).collect();
        keys.sort_unstable();
        let mut tree = tree();
        if is_loaded {
            let mut rest = keys.iter();
            load_words(&mut tree, FillFactor::FULL, &mut |to| {
                to.extend_from_slice(rest.next()?);
                Some(1)
            })
            .unwrap();
        } else {
            keys.iter().for_each(|key| assert!(tree.edit(key, Edit::Put(1)).unwrap().applied));
        }
        let leaf = tree.store.at(tree.store.descend::<Scalar>(0, &keys[1000], node::Toward::Key).unwrap()).1;
        (tree.store.usual().leaf_lines(), leaf.shape().heads().div_ceil(8))
    };
    for is_loaded in [false, true] {
        let [short, long] = [8, 60].map(|len| lines_of(len, is_loaded));
        assert!(short.0.abs_diff(short.1) <= 1 && long.0.abs_diff(long.1) <= 1, "{short:?} {long:?}");
        assert!(short.0 > long.0 && short.0 > 4 && long.0 < 4, "{short:?} {long:?}");
    }
}
