//! The list alone, without an index layer, compared with `BTreeMap`.

use super::*;
use crate::pi::crew::one_by_one;
use crate::pi::mem::budget::Budget;
use crate::pi::mem::placement::Placement;
use crate::pi::routed::Heights;
use latchless_core::base::error::Error;
use latchless_core::mem::touch::NoTrace;
use std::collections::BTreeMap;

static NO_LIMIT: Budget = Budget::new(None, 0);

fn form(nodes: usize, seed: u64) -> Form {
    Form::new(nodes, 25, Heights::new(seed)).unwrap()
}

/// `len` keys, each so much above the one before, with their numbers as values.
fn from_sorted(len: usize, step: u64, segment_nodes: usize, parts: usize) -> Segments<u64> {
    let entry_at = |nth: usize| (nth as u64 * step, nth as u64);
    Segments::from_sorted(len, &entry_at, form(segment_nodes, 1), (parts, &one_by_one)).unwrap()
}

/// The anchor of a key, from the list itself.
fn anchor_of(list: &Segments<u64>, key: u64) -> Anchor {
    let mut anchor = Anchor::HEAD;
    crate::pi::routed::Source::each(&list.parts(1), 0, &mut |tall, _, word| {
        if tall <= key {
            anchor = Anchor::from_word(word);
        }
    });
    anchor
}

fn same(list: &Segments<u64>, model: &BTreeMap<u64, u64>) {
    list.check().unwrap();
    let mut found = Vec::new();
    list.visit_up::<NoTrace>(Anchor::HEAD, (0, u64::MAX), |key, value| {
        found.push((key, value));
        true
    });
    assert!(found.iter().copied().eq(model.iter().map(|(&key, &value)| (key, value))));
    let mut down = Vec::new();
    list.visit_down::<NoTrace>(anchor_of(list, u64::MAX), (0, u64::MAX), |key, value| {
        down.push((key, value));
        true
    });
    down.reverse();
    assert_eq!(down, found);
    assert_eq!(list.len(), model.len());
}

fn edit(list: &mut Segments<u64>, model: &mut BTreeMap<u64, u64>, key: u64, put: Option<u64>) {
    let anchor = anchor_of(list, key);
    let mut finger = Finger::default();
    let (before, drift) = match put {
        Some(value) => list.all().put::<NoTrace>(anchor, &mut finger, (key, value), &NO_LIMIT).unwrap(),
        None => list.all().take::<NoTrace>(anchor, &mut finger, key),
    };
    let expected = match put {
        Some(value) => model.insert(key, value),
        None => model.remove(&key),
    };
    assert_eq!(before, expected);
    list.changed(drift);
    assert_eq!(list.get::<NoTrace>(anchor, key), put);
}

#[test]
fn edits_layouts_and_what_is_left() {
    for segment_nodes in [1, 3, 20] {
        let mut list = Segments::<u64>::new(form(segment_nodes, 5)).unwrap();
        let mut model = BTreeMap::new();
        let mut state = 1u64;
        for step in 0..if cfg!(miri) { 60 } else { 1500 } {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Both ends of the lanes, and keys that return.
            let key = match state >> 60 {
                0 => 0,
                1 => u64::MAX,
                _ => state >> 33 & 0xff,
            };
            edit(&mut list, &mut model, key, (state >> 40 & 3 != 0).then_some(step));
            if step % 97 == 0 {
                same(&list, &model);
                let anew = list.lend().unwrap().laid_out(1 + step as usize % 3, &one_by_one).unwrap();
                assert_eq!(anew.drift(), 0);
                same(&anew, &model);
                list = anew;
            }
        }
        same(&list, &model);
        for key in model.keys().copied().collect::<Vec<_>>() {
            edit(&mut list, &mut model, key, None);
        }
        let empty = list.lend().unwrap().laid_out(2, &one_by_one).unwrap();
        same(&empty, &model);
        assert_eq!((empty.segments(), empty.longest()), (1, 1), "the head alone is left");
    }
}

#[test]
fn a_lent_list_stands_still_and_shares_what_does_not_change() {
    let mut list = from_sorted(500, 2, 16, 1);
    let mut model: BTreeMap<u64, u64> = (0..500).map(|nth| (nth * 2, nth)).collect();
    let before = model.clone();
    let lent = list.lend().unwrap();
    for key in 300..340 {
        edit(&mut list, &mut model, key, (key % 3 > 0).then_some(key));
    }
    same(&lent, &before);
    same(&list, &model);
    let anew = list.lend().unwrap().laid_out(1, &one_by_one).unwrap();
    same(&anew, &model);
    let shared = |a: &Segments<u64>, b: &Segments<u64>| {
        let of = |list: &Segments<u64>| list.addresses().map(|range| range.start).collect::<Vec<_>>();
        let theirs = of(b);
        of(a).iter().filter(|at| theirs.contains(at)).count()
    };
    assert!(shared(&anew, &list) > list.segments() / 2, "most segments are as they were");
    assert!(shared(&anew, &list) < list.segments());
    assert!(shared(&lent, &list) < list.segments(), "what changed was copied first");
}

/// Rounds of changes that leave one segment in ten unchanged must not keep all memory of earlier layouts.
#[test]
fn what_stays_in_an_emptied_quarry_is_gathered() {
    let len = if cfg!(miri) { 1_200 } else { 120_000 };
    let form = form(100, 1).on(Placement { huge_pages: true, node: None });
    let mut list = Segments::<u64>::from_sorted(len, &|nth| (nth as u64, 0), form, (1, &one_by_one)).unwrap();
    let (segments, loaded) = (list.segments(), list.memory_bytes());
    assert!(loaded < len * 40, "{loaded} bytes for {len} nodes");
    for round in 0..4 {
        let mut talls: Vec<(u64, Anchor)> = Vec::new();
        let source = list.parts(1);
        crate::pi::routed::Source::each(&source, 0, &mut |tall, _, word| {
            talls.push((tall, Anchor::from_word(word)));
        });
        for &(key, anchor) in talls.iter().filter(|(_, anchor)| anchor.segment() % 10 != 3) {
            // A key that is removed and inserted again: the segment has drifted and has its previous
            // content.
            let mut finger = Finger::default();
            for put in [false, true] {
                let drift = match put {
                    true => {
                        list.all().put::<NoTrace>(anchor, &mut finger, (key, round), &NO_LIMIT).unwrap().1
                    }
                    false => list.all().take::<NoTrace>(anchor, &mut finger, key).1,
                };
                list.changed(drift);
            }
        }
        list = list.lend().unwrap().laid_out(1, &one_by_one).unwrap();
        list.check().unwrap();
        assert_eq!((list.segments(), list.len()), (segments, len));
        assert!(list.memory_bytes() < loaded * 3 / 2, "{} of {loaded} bytes", list.memory_bytes());
    }
}

#[test]
fn ranges_end_where_they_should() {
    let list = &mut from_sorted(300, 3, 10, 3);
    for (low, high) in [(0, 899), (1, 2), (5, 100), (297, 299), (890, 899), (700, 200)] {
        let expected: Vec<u64> =
            (0..300).map(|nth| nth * 3).filter(|key| (low..=high).contains(key)).collect();
        let (first, last) = (anchor_of(list, low), anchor_of(list, high));
        for limit in [1, 7, usize::MAX] {
            let mut found = Vec::new();
            list.all().range::<NoTrace>(first, (low, high), limit, &mut found);
            let keys: Vec<u64> = found.iter().map(|entry| entry.0).collect();
            assert_eq!(keys, expected[..expected.len().min(limit)]);
        }
        let mut down = Vec::new();
        list.visit_down::<NoTrace>(last, (low, high), |key, _| {
            down.push(key);
            down.len() < 9
        });
        assert!(down.iter().eq(expected.iter().rev().take(9)));
    }
}

#[test]
fn runs_are_owned_by_one_alone() {
    let mut list = from_sorted(300, 1, 10, 1);
    let all = list.all();
    let (count, middle) = (all.numbers().end, all.numbers().end / 2);
    let (left, mut right) = all.split(middle);
    assert_eq!((left.numbers(), right.numbers()), (0..middle, middle..count));
    let (anchor, key) = (right.first_anchor(), right.first_key().unwrap());
    assert_eq!(right.get::<NoTrace>(anchor, &mut Finger::default(), key), Some(key));
    let of_the_left = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
        right.get::<NoTrace>(Anchor::HEAD, &mut Finger::default(), 0)
    }));
    assert!(of_the_left.is_err(), "the other owner's nodes can't be reached");
}

#[test]
fn refused_memory_changes_nothing() {
    let mut list = Segments::<u64>::new(form(10, 1)).unwrap();
    let budget = Budget::new(Some(300), 0);
    let put = |list: &mut Segments<u64>, key| {
        let anchor = anchor_of(list, key);
        list.all().put::<NoTrace>(anchor, &mut Finger::default(), (key, key), &budget)
    };
    let inserted = (1..).take_while(|&key| put(&mut list, key).is_ok()).count();
    assert!(inserted > 3 && matches!(put(&mut list, 99), Err(Error::MemoryLimit { .. })));
    list.changed(Drift { inserted, drifted: inserted, ..Drift::default() });
    list.check().unwrap();
}
