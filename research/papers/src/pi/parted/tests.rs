//! Layers in parts compared with whole ones, over lists that change and are laid out again.

use super::*;
use crate::common::operation::Search;
use crate::common::walk::{Aim, Step};
use crate::pi::crew::{one_by_one, side_by_side};
use crate::pi::mem::budget::Budget;
use crate::pi::mem::placement::Placement;
use crate::pi::routed::{Heights, RoutedOptions};
use crate::pi::segments::{Finger, Form};
use latchless_core::mem::touch::NoTrace;
use latchless_core::search::{Dispatch, Kernel, Scalar};
use latchless_core::testing::Rng;

static NO_LIMIT: Budget = Budget::new(None, 0);

fn planned(part_segments: usize, pieces: usize) -> Planned {
    Planned { part_segments, paper: Placement::default(), pieces }
}

/// A list of `len` keys with so much between them, in segments of about four nodes.
fn list<B: Bits>(len: usize, step: u64) -> Segments<B> {
    let form = Form::new(4, 25, Heights::new(7)).unwrap();
    let entry_at = |nth: usize| (B::truncate(nth as u64 * step), B::truncate(nth as u64));
    Segments::from_sorted(len, &entry_at, form, (1, &one_by_one)).unwrap()
}

fn built<B: Bits, const M: usize>(list: &Segments<B>, earlier: Option<&Parted<B, M>>) -> Parted<B, M> {
    let layer = Parted::build(list, planned(6, 2), earlier, &side_by_side).unwrap();
    layer.check(list).unwrap();
    layer
}

/// Puts keys or removes them, led by the layer.
fn edit<B: Bits, const M: usize>(list: &mut Segments<B>, layer: &Parted<B, M>, key: B, put: bool) {
    let anchor = Anchor::from_word(anchor_of(layer, key));
    let finger = &mut Finger::default();
    let drift = match put {
        true => list.all().put::<NoTrace>(anchor, finger, (key, key), &NO_LIMIT).unwrap().1,
        false => list.all().take::<NoTrace>(anchor, finger, key).1,
    };
    list.changed(drift);
}

fn anchor_of<B: Bits, const M: usize>(layer: &Parted<B, M>, key: B) -> u32 {
    let mut anchor = [0];
    layer.anchors::<NoTrace>(Dispatch::best(), &[key], &mut anchor, 1, false);
    anchor[0]
}

fn anew<B: Bits>(list: &mut Segments<B>) -> Segments<B> {
    list.lend().unwrap().laid_out(2, &one_by_one).unwrap()
}

fn step_by_step<B: Bits, const M: usize, S: Search>(layer: &Parted<B, M>, key: B) -> u32 {
    let mut place = layer.begin::<NoTrace>(key, Aim::Look);
    loop {
        if let Step::Landed(anchor) = layer.step::<S, NoTrace>(&mut place, key) {
            return anchor.expect("a layer is never changed under a walk");
        }
    }
}

/// Every way through the layer leads a key to the same place as a whole layer over the same list.
fn leads_as_a_whole_one<B: Bits, const M: usize>(layer: &Parted<B, M>, list: &Segments<B>, keys: &[B]) {
    let whole = Routed::<B, M>::build(&list.parts(1), RoutedOptions::default(), &one_by_one).unwrap();
    let mut expected = vec![0; keys.len()];
    whole.anchors::<NoTrace>(Dispatch::best(), keys, &mut expected, 1, false);
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        for (group, prefetch) in [(1, true), (7, true), (64, false)] {
            let mut anchors = vec![0; keys.len()];
            let dispatch = Dispatch::of(kernel).unwrap();
            layer.anchors::<NoTrace>(dispatch, keys, &mut anchors, group, prefetch);
            assert_eq!(anchors, expected, "{kernel}, groups of {group}");
        }
    }
    for (&key, &anchor) in keys.iter().zip(&expected) {
        assert_eq!(step_by_step::<B, M, Scalar>(layer, key), anchor);
    }
}

/// Rounds of changes here or everywhere, each followed by a rebuild.
fn follows_its_list<B: Bits, const M: usize>() {
    let (len, rounds) = if cfg!(miri) { (60, 4) } else { (1500, 40) };
    let mut list = list::<B>(len, 10);
    let mut layer = built::<B, M>(&list, None);
    let mut rng = Rng(M as u64);
    let most = len as u64 * 10;
    let (mut shared, mut parts) = (0, Vec::new());
    for round in 0..rounds {
        // Single places, growth at one, removals of a stretch, everywhere, and nothing at all.
        let from = rng.below(most) / 10 * 10;
        let changes = [1, 150, 300, 200, 0][round % 5].min(len as u64);
        for nth in 0..changes {
            let key = match round % 5 {
                1 => from + nth,
                3 => rng.below(most + 100),
                _ => (from + nth * 5) % (most + 100),
            };
            edit(&mut list, &layer, B::truncate(key), round % 5 != 2 && rng.below(8) > 0);
        }
        edit(&mut list, &layer, B::MAX, round % 2 == 0);
        list = anew(&mut list);
        list.check().unwrap();
        let earlier = layer;
        layer = built(&list, Some(&earlier));
        let same =
            |slot: &&Slot<B, M>| earlier.slots.iter().any(|earlier| Arc::ptr_eq(&earlier.part, &slot.part));
        let kept = layer.slots.iter().filter(same).count();
        assert_eq!(layer.built_parts(), layer.parts() - kept);
        shared += kept;
        parts.push(layer.parts());
        let keys = (0..100).map(|_| B::truncate(rng.below(most + 200)));
        let keys: Vec<B> = keys.chain([B::MIN, B::MAX]).collect();
        leads_as_a_whole_one(&layer, &list, &keys);
        // A key that is led to a wrong segment would break the list's order.
        list.check().unwrap();
    }
    assert!(cfg!(miri) || shared > 0 && parts.iter().max() > parts.first() && parts.first() > Some(&8));
}

#[test]
fn with_four_keys_an_entry() {
    follows_its_list::<u32, 4>();
    follows_its_list::<u64, 4>();
}

#[test]
fn with_eight_keys_an_entry() {
    follows_its_list::<u32, 8>();
    follows_its_list::<u64, 8>();
}

#[test]
fn with_sixteen_keys_an_entry() {
    follows_its_list::<u32, 16>();
    follows_its_list::<u64, 16>();
}

#[test]
fn what_moves_along_the_list_is_not_written_again() {
    let mut list = list::<u64>(if cfg!(miri) { 200 } else { 4000 }, 1000);
    let mut layer = built::<u64, 8>(&list, None);
    let parts = layer.parts();
    assert_eq!(layer.built_parts(), parts);
    // Segments are inserted in front of nearly all others.
    (1..90).for_each(|key| edit(&mut list, &layer, key, true));
    let segments = list.segments();
    list = anew(&mut list);
    assert!(list.segments() > segments + 5);
    layer = built(&list, Some(&layer));
    assert!(layer.parts() > parts && layer.built_parts() <= 6, "{} were built", layer.built_parts());
    let first_of_last = layer.slots.last().map(|slot| slot.segments().end);
    assert_eq!(first_of_last, Some(list.segments()));
    // Nothing has changed: only the top and the table are written.
    let bytes = layer.built_bytes();
    layer = built(&anew(&mut list), Some(&layer));
    assert!(layer.built_parts() == 0 && layer.built_bytes() < bytes);
}

#[test]
fn a_run_that_has_become_too_short_is_joined_to_its_neighbour() {
    for gone in [0, 3, 99] {
        let mut list = list::<u64>(800, 10);
        let mut layer = built::<u64, 8>(&list, None);
        let gone = gone.min(layer.parts() - 1);
        let (run, parts) = (layer.slots[gone].segments(), layer.parts());
        // All keys of a run but those of its first segment.
        let first = |nth: usize| list.footing(nth..nth + 1).unwrap().first_key();
        let from = first(run.start + 1).unwrap();
        let to = if gone + 1 < parts { first(run.end).unwrap() } else { 8000 };
        (from..to).for_each(|key| edit(&mut list, &layer, key, false));
        list = anew(&mut list);
        layer = built(&list, Some(&layer));
        assert_eq!((layer.parts(), layer.built_parts()), (parts - 1, 1), "without part {gone}");
    }
}

#[test]
fn lists_that_shrink_and_grow_have_parts_of_their_size() {
    let len = if cfg!(miri) { 200 } else { 600 };
    let mut list = list::<u32>(len, 5);
    let mut layer = built::<u32, 4>(&list, None);
    for (keys, put) in [(0..len - 10, false), (0..len, false), (0..len, true), (0..len / 2, false)] {
        for nth in keys {
            edit(&mut list, &layer, nth as u32 * 5, put);
        }
        list = anew(&mut list);
        layer = built(&list, Some(&layer));
    }
    assert!(layer.parts() > 1);
}

/// Rounds that leave one part in ten unchanged must not keep all memory of earlier rounds.
#[test]
#[cfg_attr(miri, ignore = "parts have to fill large pages")]
fn the_memory_of_parts_that_went_comes_back() {
    let paper = Placement { huge_pages: true, node: None };
    let len = 2_000_000;
    let form = Form::new(100, 1, Heights::new(1)).unwrap().on(paper);
    let mut list =
        Segments::<u64>::from_sorted(len, &|nth| (nth as u64 * 2, 0), form, (1, &one_by_one)).unwrap();
    let planned = Planned { part_segments: 16, paper, pieces: 1 };
    let mut layer = Parted::<u64, 8>::build(&list, planned, None, &one_by_one).unwrap();
    let loaded = layer.memory_bytes();
    assert!(loaded > 6 << 20);
    for round in 0..4u64 {
        let changed = |&nth: &usize| nth % 10 != 3;
        let starts: Vec<usize> = layer.slots.iter().map(|slot| slot.segments().start).collect();
        for nth in (0..starts.len()).filter(changed) {
            let key = layer.slots[nth].part.footing.first_key().unwrap() + 2 * round + 1;
            edit(&mut list, &layer, key, true);
        }
        list = anew(&mut list);
        layer = Parted::build(&list, planned, Some(&layer), &one_by_one).unwrap();
        let bytes = layer.memory_bytes();
        assert!(bytes < loaded * 3 / 2, "{bytes} of {loaded} bytes after round {round}");
    }
    layer.check(&list).unwrap();
}

#[test]
fn a_layer_over_another_list_is_found_out() {
    let mut list = list::<u64>(300, 10);
    let layer = built::<u64, 8>(&list, None);
    edit(&mut list, &layer, 1001, true);
    let other = anew(&mut list);
    layer.check(&list).unwrap();
    assert!(layer.check(&other).is_err(), "a part's run has changed");
    let mut moved = built::<u64, 8>(&other, Some(&layer));
    moved.slots.last_mut().unwrap().first += 1;
    assert!(moved.check(&other).is_err(), "a part names another run");
    let mut without = built::<u64, 8>(&other, Some(&layer));
    without.slots.pop();
    assert!(without.check(&other).is_err(), "a run has no part");
}

#[test]
fn the_levels_of_the_top_become_shorter_by_an_entry_s_keys() {
    let heights: Vec<usize> = (0..20).map(|nth| height_of(nth, 4)).collect();
    assert_eq!(heights[..9], [LEVELS_MAX + 1, 2, 2, 2, 3, 2, 2, 2, 3]);
    assert_eq!((heights[16], height_of(64, 8), height_of(usize::MAX, 16)), (4, 4, 2));
}
