//! The tree compared with `BTreeMap`, on pages of seven pairs; outdated walks and hints.

use super::*;
use crate::common::pages::{PageEnd, Pages};
use crate::common::walk::{Aim, Step, Walk};
use crate::spiderman::page::CodeBase;
use crate::spiderman::prefetch::Prefetch;
use latchless_core::base::error::Error;
use latchless_core::base::fill::FillFactor;
use latchless_core::mem::touch::NoTrace;
use latchless_core::testing::sample;
use std::collections::BTreeMap;

type Tree = OlcTree<NoTrace>;

fn limited<T: Form>(limit_bytes: Option<usize>) -> OlcTree<T> {
    OlcTree::new(OlcOptions { page_bytes: 128, limit_bytes, huge_pages: false, references: u32::MAX })
        .unwrap()
}

fn tree() -> Tree {
    limited(None)
}

/// Numbers below `end`, none of which follows from the one before at sight.
fn drawn(state: &mut u64, end: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % end
}

fn loaded<T: Form>(keys: u64) -> OlcTree<T> {
    let mut tree = limited(None);
    tree.bulk_load(keys as usize, |at| (10 * at as u64, at as u64), FillFactor::FULL).unwrap();
    tree.check_invariants().unwrap();
    tree
}

/// Returns all entries of a range, in pages of that many.
fn scanned<T: Form>(tree: &OlcTree<T>, mut low: u64, high: u64, room: usize) -> Vec<(u64, u64)> {
    let (mut page, mut found) = (tree.empty_page(room), Vec::new());
    loop {
        let more = tree.page_up(low, high, &mut page);
        assert!(page.keys().len() <= room);
        found.extend(page.keys().iter().copied().zip(page.values().iter().copied()));
        match more {
            PageEnd::All => return found,
            PageEnd::UpTo(next) => low = next,
        }
    }
}

/// Leads one key to its leaf.
fn landed<T: Form>(tree: &OlcTree<T>, prefetch: Prefetch, key: u64, aim: Aim) -> Option<Landed> {
    let walk = PageWalk::new(tree, prefetch, true);
    let mut place = walk.enter(key, aim);
    for _ in 0..1000 {
        if let Step::Landed(anchor) = walk.step(&mut place, key) {
            return anchor;
        }
    }
    panic!("a walk ends")
}

#[test]
fn histories_are_those_of_a_sorted_map() {
    are_those_of_a_sorted_map(&tree());
}

#[test]
fn histories_of_the_code_bases_pages_are_those_of_a_sorted_map() {
    are_those_of_a_sorted_map::<CodeBase<NoTrace>>(&limited(None));
}

fn are_those_of_a_sorted_map<T: Form>(tree: &OlcTree<T>) {
    let (mut model, mut state) = (BTreeMap::new(), 7);
    for step in 0..if cfg!(miri) { 200 } else { 6000 } {
        let key = drawn(&mut state, 400);
        // Phases of growing and of shrinking.
        if drawn(&mut state, 10) < if step / 500 % 2 == 0 { 8 } else { 2 } {
            assert_eq!(tree.put(key, step), Ok(model.insert(key, step)));
        } else {
            assert_eq!(tree.take(key), model.remove(&key));
        }
        let probe = drawn(&mut state, 400);
        assert_eq!(tree.get(probe), model.get(&probe).copied());
        if !cfg!(miri) || step % 20 == 0 {
            tree.check_invariants().unwrap_or_else(|broken| panic!("step {step}: {broken}"));
        }
        if step % 100 == 0 {
            let (low, high) = (drawn(&mut state, 200), 200 + drawn(&mut state, 200));
            let expected: Vec<_> = model.range(low..=high).map(|(&key, &value)| (key, value)).collect();
            for room in [1, 5, 256] {
                assert_eq!(scanned(tree, low, high, room), expected);
            }
            assert_eq!(Pages::count(tree, low, high), expected.len());
        }
    }
    for key in model.into_keys() {
        tree.take(key).unwrap();
    }
    tree.check_invariants().unwrap();
    let stats = tree.stats();
    assert_eq!((stats.levels, stats.leaves, tree.len()), (1, 1, 0), "pages are given back");
}

#[test]
fn the_papers_pages_do_as_well() {
    let options = OlcOptions { page_bytes: 4096, limit_bytes: None, huge_pages: false, references: u32::MAX };
    let tree = OlcTree::<NoTrace>::new(options).unwrap();
    let keys = if cfg!(miri) { 300 } else { 40_000 };
    for key in 0..keys {
        assert_eq!(tree.put(key * 7919 % keys, key), Ok(None));
    }
    tree.check_invariants().unwrap();
    assert!(tree.stats().leaf_fill > 0.5);
    for key in 0..keys {
        assert!(tree.take(key * 31 % keys).is_some());
    }
    tree.check_invariants().unwrap();
    assert_eq!(tree.stats().leaves, 1);
}

#[test]
fn ascending_keys_leave_leaves_nearly_full() {
    let tree = tree();
    (0..if cfg!(miri) { 200 } else { 1000 }).for_each(|key| assert_eq!(tree.put(key, key), Ok(None)));
    tree.check_invariants().unwrap();
    assert!(tree.stats().leaf_fill > 0.8, "{:?}", tree.stats());
}

#[test]
fn bulk_loads_of_every_size_are_trees() {
    for keys in (0..120).chain([343, 344, 1000]).step_by(sample(29)) {
        for fill in [0.01, 0.6, 1.0] {
            let mut tree = tree();
            let fill = FillFactor::new(fill).unwrap();
            tree.bulk_load(keys, |at| (at as u64, at as u64), fill).unwrap();
            tree.check_invariants().unwrap_or_else(|broken| panic!("{keys} at {}: {broken}", fill.share()));
            assert_eq!(scanned(&tree, 0, u64::MAX, 100).len(), keys);
        }
    }
    let refused = limited::<NoTrace>(Some(1 << 10)).bulk_load(1000, |at| (at as u64, 0), FillFactor::FULL);
    assert!(matches!(refused, Err(Error::MemoryLimit { .. })));
}

#[test]
fn every_set_of_options_leads_to_the_leaf() {
    let keys = if cfg!(miri) { 200 } else { 3000 };
    lead_to_the_leaf(&loaded::<NoTrace>(keys), keys);
    lead_to_the_leaf(&loaded::<CodeBase<NoTrace>>(keys), keys);
}

fn lead_to_the_leaf<T: Form>(tree: &OlcTree<T>, keys: u64) {
    let options = |bits: u16| (1..=Prefetch::LAST).filter(|option| bits >> (option - 1) & 1 == 1).collect();
    let sets = (0..1 << Prefetch::LAST).map(options);
    let sets = sets.filter_map(|options: Vec<u8>| Prefetch::of(&options).ok());
    for prefetch in sets.step_by(sample(9)) {
        let middle = 5 * keys - 5;
        for (key, aim) in [(0, Aim::Look), (10, Aim::Change), (middle, Aim::Run(40)), (u64::MAX, Aim::Look)] {
            let leaf = landed(tree, prefetch, key, aim).expect("nobody is in the way");
            assert_eq!(tree.get_from(leaf, key), tree.get(key), "{prefetch}, {key}");
        }
    }
}

#[test]
fn a_walk_takes_option_3_in_one_turn_as_algorithm_4_is_printed() {
    let tree: Tree = loaded(3000);
    let turns = |options: &[u8]| {
        let walk = PageWalk::new(&tree, Prefetch::of(options).unwrap(), true);
        let mut place = walk.enter(10, Aim::Look);
        (1..100).find(|_| matches!(walk.step(&mut place, 10), Step::Landed(_))).unwrap()
    };
    // Below the root a page's header, its middle key and the rest each take a turn, or all of them one.
    let below = tree.levels() - 1;
    assert_eq!((turns(&[1, 3]) - turns(&[1, 3, 9]), turns(&[1]) - turns(&[1, 9])), (2 * below, below));
}

#[test]
fn a_tree_can_be_reported_after_it_was_filled() {
    let tree: OlcTree<CodeBase<latchless_core::mem::touch::Branching>> =
        loaded::<CodeBase<NoTrace>>(300).reporting_to();
    tree.check_invariants().unwrap();
    assert_eq!((tree.put(5, 5), tree.get(2990), tree.len()), (Ok(None), Some(299), 301));
}

#[test]
fn hints_that_come_too_late_do_no_harm() {
    let (loads, changes) = if cfg!(miri) { (80, 60) } else { (700, 200) };
    let tree: Tree = loaded(loads);
    let mut model: BTreeMap<u64, u64> = (0..loads).map(|at| (10 * at, at)).collect();
    let mut state = 3;
    for round in 0..if cfg!(miri) { 2 } else { 60 } {
        let keys: Vec<u64> = (0..40).map(|_| drawn(&mut state, 10 * loads + 200)).collect();
        let hints: Vec<Landed> =
            keys.iter().map(|&key| landed(&tree, Prefetch::BEST, key, Aim::Change).unwrap()).collect();
        // The operations in between split leaves, merge them, and reuse freed ones.
        for _ in 0..changes {
            let near = keys[drawn(&mut state, 40) as usize] + drawn(&mut state, 30);
            if round % 2 == 0 {
                assert_eq!(tree.put(near, round), Ok(model.insert(near, round)));
            } else if let Some((&key, _)) = model.range(near..).next() {
                assert_eq!(tree.take(key), model.remove(&key));
            }
        }
        for (nth, (&key, &hint)) in keys.iter().zip(&hints).enumerate() {
            match nth % 4 {
                0 => assert_eq!(tree.get_from(hint, key), model.get(&key).copied()),
                1 => assert_eq!(tree.put_from(hint, key, 1), Ok(model.insert(key, 1))),
                2 => assert_eq!(tree.take_at(hint, key), model.remove(&key)),
                _ => {
                    let mut page = tree.empty_page(9);
                    tree.scan_from(Some(hint), key, u64::MAX, &mut page);
                    let expected: Vec<u64> = model.range(key..).take(9).map(|(&key, _)| key).collect();
                    assert_eq!(page.keys(), expected);
                }
            }
        }
        tree.check_invariants().unwrap();
    }
}

#[test]
fn a_leaf_that_was_split_leads_to_its_right() {
    let tree: Tree = loaded(7);
    let hint = landed(&tree, Prefetch::NONE, 60, Aim::Look).unwrap();
    (0..6).for_each(|key| assert_eq!(tree.put(41 + key, key), Ok(None)));
    let before = tree.restarts.load_relaxed();
    assert!(tree.stats().leaves > 1, "it was split");
    assert_eq!(tree.get_from(hint, 45), Some(4));
    assert_eq!(tree.get_from(hint, 30), Some(3));
    assert_eq!(tree.put_from(hint, 50, 9), Ok(Some(5)));
    assert_eq!(tree.restarts.load_relaxed(), before, "nobody had to go down again");
    assert_eq!(tree.get_from(hint, 1_000), None, "behind the last key only the way down tells");
}

#[test]
fn a_walk_that_others_overtake_says_so() {
    let tree: Tree = loaded(if cfg!(miri) { 60 } else { 700 });
    let walk = PageWalk::new(&tree, Prefetch::BEST, true);
    let mut place = walk.enter(3000, Aim::Look);
    // The root changes under it, again and again.
    let mut steps = 0;
    let outcome = loop {
        let all: Vec<(u64, u64)> = scanned(&tree, 0, u64::MAX, 256);
        all.iter().for_each(|&(key, _)| _ = tree.take(key));
        all.iter().rev().for_each(|&(key, value)| _ = tree.put(key, value));
        steps += 1;
        if let Step::Landed(anchor) = walk.step(&mut place, 3000) {
            break anchor;
        }
        assert!(steps < 100, "a walk ends");
    };
    assert_eq!(outcome, None);
}

#[test]
fn reverse_pages_end_where_the_next_begins() {
    let tree: Tree = loaded(200);
    for room in [1, 3, 100] {
        let (mut page, mut high, mut found) = (tree.empty_page(room), 1500, Vec::new());
        loop {
            let more = tree.page_down(333, high, &mut page);
            found.extend(page.keys().iter().rev().copied());
            match more {
                PageEnd::All => break,
                PageEnd::UpTo(next) => high = next,
            }
        }
        let expected: Vec<u64> = (34..=150).rev().map(|at| 10 * at).collect();
        assert_eq!(found, expected, "by {room}");
    }
}

#[test]
fn latched_ways_find_what_others_do() {
    let tree: Tree = loaded(500);
    for key in [0, 5, 2500, 4990, 9999] {
        let (leaf, held, low) = tree.latch_leaf(key);
        drop(held);
        let reached = tree.reach(key).unwrap();
        assert_eq!((leaf, low), (reached.leaf.page, reached.low));
    }
    assert!(tree.check_invariants().is_ok(), "and leave no latch held");
    let mut drawing = String::new();
    tree.dump(&mut drawing).unwrap();
    assert!(drawing.starts_with("500 entries, 4 levels\ninner"), "{drawing}");
}

#[test]
fn refused_memory_loses_nothing() {
    let tree: Tree = limited(Some(3 << 10));
    let (mut model, mut state) = (BTreeMap::new(), 5);
    for _ in 0..3 {
        let error = loop {
            let key = drawn(&mut state, 1 << 30);
            match tree.put(key, !key) {
                Ok(before) => assert_eq!(before, model.insert(key, !key)),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, Error::MemoryLimit { .. }), "{error}");
        tree.check_invariants().unwrap();
        let expected: Vec<_> = model.iter().map(|(&key, &value)| (key, value)).collect();
        assert_eq!(scanned(&tree, 0, u64::MAX, 64), expected);
        for _ in 0..model.len() / 2 {
            let (key, value) = model.pop_first().unwrap();
            assert_eq!(tree.take(key), Some(value));
        }
    }
}
