//! Each structural change, with a reader that is preempted at every step of the writer, and a writer that is
//! preempted at every step of the reader.

use crate::history::Ask::{self, Floor, FloorMany, Get, GetMany, Put, Remove, RemoveRange, Replace, Scan};
use crate::scenes::{State, play};
use crate::schedules::every;
use latchless::Stats;
use std::collections::BTreeSet;

/// A full leaf, and another one to its right.
const TWO_FULL: State = State { put: &[10, 20, 30, 40, 50, 60, 70, 80], removed: &[] };
/// A full leaf, and one to its right that is half empty.
const FULL_AND_HALF: State = State { put: TWO_FULL.put, removed: &[60, 80] };
/// Two leaves of two entries each.
const TWO_HALVES: State = State { put: TWO_FULL.put, removed: &[30, 40, 70, 80] };
/// One leaf that has room.
const ONE: State = State { put: &[10, 20, 30], removed: &[] };
/// Full leaves below two full inner nodes and a root.
const DEEP: State = State {
    put: &[
        10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 160, 161, 162, 163, 164, 165, 166,
        167, 168, 169, 170, 171, 172, 173, 174, 175, 176,
    ],
    removed: &[],
};

/// The requests of readers: around a key that stays, all of them, and one after the other.
const LOOKS: [&[Ask]; 5] = [
    &[Floor(25)],
    &[FloorMany(&[55, 25])],
    &[Scan(8, 62)],
    &[GetMany(&[20, 15, 50])],
    &[Get(50), Get(40), Get(25)],
];

/// Runs the writer with each of the readers in every schedule with one preemption, and with a reader of a
/// key that stays with up to two: a thread is preempted anywhere, and another one anywhere meanwhile.
fn beside_readers(state: State, write: &'static [Ask], happens: fn(&Stats, &Stats) -> bool) {
    beside_readers_once(state, write, happens);
    let schedules = every(2, move || play(state, &[write, &[Get(20)]]));
    println!("{write:?} beside a get: {schedules} schedules");
}

/// Runs the writer with each of the readers, with one preemption. `happens` checks the change of the tree's
/// shape, so that a scene tests what its name says. See [`beside_readers`].
fn beside_readers_once(state: State, write: &'static [Ask], happens: fn(&Stats, &Stats) -> bool) {
    let index = state.make::<latchless::Index<u64, u64>>();
    let before = index.stats();
    write.iter().for_each(|ask| _ = ask.of(&index, &BTreeSet::new()));
    let after = index.stats();
    assert!(happens(&before, &after), "before: {before:?}, after: {after:?}");
    for look in LOOKS.into_iter().chain([&[Get(20)] as &[Ask]]) {
        let schedules = every(1, move || play(state, &[write, look]));
        println!("{write:?} beside {look:?}: {schedules} schedules");
    }
}

fn same_form(before: &Stats, after: &Stats) -> bool {
    (before.leaves, before.splits) == (after.leaves, after.splits)
}

#[test]
fn an_insert_into_a_leaf_with_room() {
    beside_readers(ONE, &[Put(15, 1)], same_form);
}

#[test]
fn a_value_that_changes() {
    beside_readers(ONE, &[Replace(20, 1)], same_form);
}

#[test]
fn a_removal() {
    beside_readers(ONE, &[Remove(10)], same_form);
}

#[test]
fn a_range_that_is_removed() {
    beside_readers(TWO_FULL, &[RemoveRange(10, 19)], same_form);
}

#[test]
fn a_split_below_a_new_root() {
    let full = State { put: &[10, 20, 30, 40], removed: &[] };
    beside_readers(full, &[Put(25, 1)], |before, after| (before.levels, after.levels) == (1, 2));
}

#[test]
fn a_split_beside_a_full_leaf() {
    beside_readers(TWO_FULL, &[Put(25, 1)], |before, after| (before.leaves, after.leaves) == (2, 3));
}

#[test]
fn a_split_of_two_levels() {
    // With many more steps than others.
    beside_readers_once(DEEP, &[Put(25, 1)], |before, after| after.splits - before.splits == 2);
}

#[test]
fn entries_that_are_lent() {
    beside_readers(FULL_AND_HALF, &[Put(25, 1)], same_form);
}

#[test]
fn a_merge_that_gives_up_the_root() {
    beside_readers(TWO_HALVES, &[Remove(60)], |before, after| (before.levels, after.levels) == (2, 1));
}

#[test]
fn a_node_that_is_merged_away_and_used_again() {
    beside_readers(TWO_HALVES, &[Remove(60), Put(11, 1), Put(12, 1)], |before, after| {
        (before.leaves, after.leaves, after.splits - before.splits) == (2, 2, 1)
    });
}
