//! Which keys get leaves of records, which changes turn these into leaves of slots, and lookups at a key's
//! likely place.

use super::super::change::Shared;
use super::super::finder::Start;
use super::super::get::{Own, find_near, get_near};
use super::super::leaf_copy::{Bounds, LeafCopy};
use super::super::node::Toward;
use super::super::take::OneWord;
use super::super::tests::tree;
use super::super::tree::ByteTree;
use super::super::{GROUP, Kept};
use crate::blink::{BlinkOptions, Edit, Levels};
use core::ops::{Bound, ControlFlow};
use latchless_core::base::bytes_value::{Kind, Raw};
use latchless_core::search::Scalar;
use latchless_core::testing::{Rng, sample};
use std::collections::BTreeMap;

/// How a number is written as a key.
type Write = fn(u64) -> Vec<u8>;

/// Keys of one length, in no order.
const WRITTEN: [(&str, Write); 5] = [
    ("of 8 bytes", |number| scattered(number).to_be_bytes().to_vec()),
    ("of 9 bytes", |number| [&scattered(number).to_be_bytes()[..], &[7]].concat()),
    ("of 16 bytes", |number| {
        [scattered(number), scattered(number + (1 << 40))].map(u64::to_be_bytes).concat()
    }),
    ("of 3 bytes", |number| scattered(number).to_be_bytes()[..3].to_vec()),
    ("texts", |number| format!("{:016x}-{number:014}", scattered(number)).into_bytes()),
];

fn scattered(number: u64) -> u64 {
    Rng(number + 1).next()
}

fn put(tree: &ByteTree, key: &[u8], value: u64) {
    assert!(tree.edit(key, Edit::Put(value)).unwrap().before.is_none(), "{key:?}");
}

fn each_leaf<'a>(tree: &'a ByteTree, mut see: impl FnMut(Shared<'a>)) {
    let mut node = tree.store.descend::<Scalar>(0, &[], Toward::Key).expect("there is a leaf");
    while !node.is_nil() {
        see(tree.store.at(node).1);
        node = tree.store.at(node).1.link();
    }
}

/// How many leaves are of records, and how many aren't.
fn count(tree: &ByteTree) -> (usize, usize) {
    let (mut records, mut slots) = (0, 0);
    each_leaf(tree, |leaf| *if leaf.shape().is_of_records() { &mut records } else { &mut slots } += 1);
    (records, slots)
}

#[test]
fn keys_of_one_length_come_to_leaves_of_records() {
    for (name, key) in WRITTEN {
        let keys = if cfg!(miri) { 120 } else { 4000 };
        let tree = tree();
        // Three bytes may be the same ones twice.
        let own: BTreeMap<_, _> = (0..keys).map(|number| (key(number), number)).collect();
        own.iter().for_each(|(key, &value)| put(&tree, key, value));
        let (records, slots) = count(&tree);
        // Positions don't separate all leaves of four keys, and such leaves have no long suffixes.
        let most = if cfg!(latchless_small_nodes) { if name == "texts" { 0 } else { 1 } } else { 9 };
        assert!(records >= most * slots, "{name}: {records} and {slots}");
        assert!(own.iter().all(|(key, &value)| tree.get(key) == Some(value)), "{name}");
        tree.check_invariants().unwrap();
    }
}

/// Scans copy the first leaf from their start on.
#[test]
fn scans_that_begin_amid_records_are_as_in_the_model() {
    for (name, key) in WRITTEN {
        // Enough leaves for a table of positions.
        let keys = if cfg!(miri) {
            60
        } else if cfg!(latchless_small_nodes) {
            3000
        } else {
            60_000
        };
        let tree = tree();
        let model: BTreeMap<_, _> = (0..keys).map(|number| (key(number), number)).collect();
        model.iter().for_each(|(key, &value)| put(&tree, key, value));
        // Lookups build the position table, by which a scan finds its start within a leaf.
        assert!(model.iter().all(|(key, &value)| tree.get(key) == Some(value)), "{name}");
        let (mut random, mut leaf) = (Rng(17), LeafCopy::default());
        for step in 0..if cfg!(miri) { 9 } else { 2000 } {
            // Some are there, and some aren't.
            let low = key(random.below(keys + keys / 4));
            let Some((high, _)) = model.range(low.clone()..).nth(1 + random.below(200) as usize) else {
                continue;
            };
            let low = if step % 3 == 0 { Bound::Excluded(&low[..]) } else { Bound::Included(&low[..]) };
            let high = if step % 5 < 2 { Bound::Excluded(&high[..]) } else { Bound::Included(&high[..]) };
            let wanted = model.range::<[u8], _>((low, high)).map(|(key, &value)| (key.clone(), value));
            let mut seen = Vec::new();
            // One copy for all scans: where a leaf isn't copied, it has what the last one left there.
            let _ = tree.visit(Bounds { low, high }, &mut leaf, &mut OneWord, &mut |key, value, _| {
                seen.push((key.to_vec(), value));
                ControlFlow::<()>::Continue(())
            });
            assert!(wanted.eq(seen), "{name}: {low:?} {high:?}");
        }
    }
}

#[test]
fn keys_that_do_not_suit_records_make_slots_of_them() {
    let alike = |number: u64| [5, number].map(u64::to_be_bytes).concat();
    for (name, other) in [("a longer one", vec![9; 17]), ("an empty one", Vec::new()), ("a head", alike(1))] {
        let tree = tree();
        let mut model: BTreeMap<_, _> = (0..3).map(|number| (WRITTEN[2].1(number), number)).collect();
        model.insert(alike(0), 3);
        model.iter().for_each(|(key, &value)| put(&tree, key, value));
        let mut number = 4;
        while count(&tree).0 == 0 {
            put(&tree, &WRITTEN[2].1(number), number);
            model.insert(WRITTEN[2].1(number), number);
            number += 1;
        }
        let slots = count(&tree).1;
        put(&tree, &other, 77);
        model.insert(other, 77);
        assert!(count(&tree).1 > slots, "{name}: no leaf has changed");
        assert!(model.iter().all(|(key, &value)| tree.get(key) == Some(value)), "{name}");
        tree.check_invariants().unwrap();
    }
}

#[test]
fn values_of_more_than_a_word_are_no_records() {
    for (kind, value) in [(Kind::Words(2), Raw::Words(&[1, 2])), (Kind::Bytes, Raw::Bytes(b"short"))] {
        let options = BlinkOptions { huge_pages: false, ..BlinkOptions::default() };
        let (tree, mut kept) = (ByteTree::new(options, kind).unwrap(), Kept::of(kind));
        for number in 0..if cfg!(miri) { 100 } else { 1000 } {
            tree.edit_wide(&WRITTEN[0].1(number), Edit::Put(value), &mut kept).unwrap();
        }
        assert_eq!(count(&tree).0, 0, "{kind:?}");
        tree.check_invariants().unwrap();
    }
}

/// Few keys, so that all are in a leaf or two, which fill and empty at their ends and in the middle.
#[test]
fn records_come_and_go_at_either_end() {
    let written: [Write; 3] = [
        |number| number.to_be_bytes().to_vec(),
        |number| [number, 3].map(u64::to_be_bytes).concat(),
        |number| [&number.to_be_bytes()[..], &[1; 30]].concat(),
    ];
    for (own, key) in written.into_iter().enumerate().step_by(sample(2)) {
        let (tree, mut model, mut random) = (tree(), BTreeMap::new(), Rng(own as u64));
        for step in 0..if cfg!(miri) { 300 } else { 20_000u64 } {
            // Now here, now there.
            let at = match step / 40 % 4 {
                0 => 1_000_000 + step,
                1 => 1_000_000 - step,
                2 => 1_000_000 + random.below(400),
                _ => {
                    let ends = [model.first_key_value(), model.last_key_value()];
                    ends[random.below(2) as usize].map_or(0, |(&number, _)| number)
                }
            };
            let is_going = step / 40 % 4 == 3 || model.len() > 300;
            let before = if is_going { model.remove(&at) } else { model.insert(at, step) };
            let edit = if is_going { Edit::Remove } else { Edit::Put(step) };
            assert_eq!(tree.edit(&key(at), edit).unwrap().before, before);
            if step % 16 == 0 {
                tree.check_invariants().unwrap();
                assert!(model.iter().all(|(&number, &value)| tree.get(&key(number)) == Some(value)));
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "is about large trees")]
fn lookups_look_where_keys_are_likely_to_stand() {
    const KEYS: u64 = if cfg!(latchless_small_nodes) { 3000 } else { 90_000 };
    let written = if cfg!(latchless_small_nodes) { 0..3 } else { 0..5 };
    for (name, key) in WRITTEN[written].iter().copied().step_by(2) {
        let tree = tree();
        (0..KEYS).for_each(|number| put(&tree, &key(number), number));
        (0..2).for_each(|_| (0..KEYS).for_each(|number| assert_eq!(tree.get(&key(number)), Some(number))));
        let is_near = |number: &u64| {
            let key = key(*number);
            tree.finder.start_by_position(&tree.store, &key).is_some_and(|Start { leaf, share, .. }| {
                let near = share.and_then(|share| find_near::<Scalar>(&tree.store, leaf, &key, share));
                near.is_some_and(|near| get_near(&tree, Own, leaf, near, &key, &mut OneWord).is_some())
            })
        };
        let near = (0..KEYS).filter(is_near).count() as f64 / KEYS as f64;
        assert!(near > 0.8, "{name}: {near}");
        assert!(tree.store.usual().records().is_some(), "{name}");
        // Keys that have others' heads.
        for number in (0..KEYS).step_by(7) {
            let mut key = key(number);
            *key.last_mut().unwrap() ^= 1;
            assert_eq!(tree.get(&key), None, "{name}");
        }
        // Leaves split, and guesses are of before; and many keys aren't there.
        for number in KEYS..KEYS * 3 / 2 {
            assert_eq!(tree.get(&key(number)), None);
            put(&tree, &key(number), number);
        }
        for first in (0..KEYS * 2).step_by(GROUP) {
            let keys: [_; GROUP] = core::array::from_fn(|at| key(first + at as u64));
            let mut answers = [None; GROUP];
            tree.get_group(&keys.each_ref().map(|key| &key[..]), &mut answers);
            for (at, answer) in (first..).zip(answers) {
                let expected = (at < KEYS * 3 / 2).then_some(at);
                assert_eq!((answer, tree.get(&key(at))), (expected, expected), "{name}: {at}");
            }
        }
        tree.check_invariants().unwrap();
    }
}

#[test]
#[cfg_attr(miri, ignore = "is about large trees")]
fn keys_that_stand_elsewhere_are_not_looked_for_where_they_are_likely_to() {
    const KEYS: u64 = if cfg!(latchless_small_nodes) { 3000 } else { 90_000 };
    let (tree, key) = (tree(), WRITTEN[0].1);
    (0..KEYS).for_each(|number| put(&tree, &key(number), number));
    assert!(tree.store.usual().records().is_some());
    (0..1 << 17).for_each(|_| tree.finder.count_nearness(&tree.store, false));
    assert!(tree.store.usual().records().is_none());
    (KEYS..KEYS * 51 / 50).for_each(|number| put(&tree, &key(number), number));
    assert!(tree.store.usual().records().is_none(), "whether it is worth it was forgotten");
    // Until there is another table.
    (KEYS * 51 / 50..KEYS * 5).for_each(|number| put(&tree, &key(number), number));
    assert!(tree.store.usual().records().is_some());
    assert!((0..KEYS * 5).step_by(3).all(|number| tree.get(&key(number)) == Some(number)));
}
