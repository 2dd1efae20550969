//! The scenes of an index of keys of any length, some of which are stored outside of nodes of four entries.

use crate::history::Ask::{self, Floor, Get, GetMany, Put, Remove, Replace, Scan};
use crate::scenes::{State, play_on};
use crate::schedules::{every, some};
use crate::subject::{Bytes, Subject, Versions};

const FULL_LEAF: State = State { put: &[10, 20, 30, 40], removed: &[] };
const TWO_FULL: State = State { put: &[10, 20, 30, 40, 50, 60, 70, 80], removed: &[] };
const TWO_HALVES: State = State { put: TWO_FULL.put, removed: &[30, 40, 70, 80] };

/// A writer and a reader in every schedule with two preemptions.
fn beside_a_reader<S: Subject>(state: State, writer: &'static [Ask], reader: &'static [Ask]) {
    let schedules = every(2, move || play_on::<S>(state, &[writer, reader]));
    println!("{writer:?} beside {reader:?}: {schedules} schedules");
}

/// Two writers and a reader, in random schedules.
fn two_writers(state: State, one: &'static [Ask], other: &'static [Ask]) {
    some(1000, move || play_on::<Bytes>(state, &[one, other, &[Get(20), Floor(65), Scan(8, 62)]]));
}

#[test]
fn a_reader_beside_an_update_and_a_removal() {
    beside_a_reader::<Bytes>(FULL_LEAF, &[Replace(20, 7), Remove(10)], &[Get(20), Get(10)]);
}

/// Entries move during a search for the nearest one.
#[test]
fn the_nearest_key_beside_a_new_one() {
    let state = State { put: &[10, 30], removed: &[] };
    beside_a_reader::<Bytes>(state, &[Put(20, 7)], &[Floor(35), Floor(15)]);
}

/// The last leaf is empty until it is merged away; an insert in the meantime must not be missed.
#[test]
fn the_nearest_key_beyond_a_leaf_that_is_empty_for_a_moment() {
    let state = State { put: TWO_FULL.put, removed: &[50, 60, 70] };
    some(3000, move || {
        play_on::<Bytes>(state, &[&[Remove(80)], &[Floor(85)], &[Put(60, 1), Replace(40, 7)]]);
    });
}

/// The blocks of the removed key are reused for the inserted one.
#[test]
fn a_long_key_that_is_replaced_by_another_one() {
    beside_a_reader::<Bytes>(FULL_LEAF, &[Remove(20), Put(22, 7)], &[Get(20), Get(22)]);
}

#[test]
fn a_reader_beside_a_split() {
    some(2000, || play_on::<Bytes>(FULL_LEAF, &[&[Put(25, 7)], &[Get(30), Floor(29)]]));
}

#[test]
fn a_range_beside_a_split() {
    some(2000, || play_on::<Bytes>(FULL_LEAF, &[&[Put(25, 7), Put(26, 8)], &[Scan(5, 45)]]));
}

#[test]
fn a_batch_beside_a_merge() {
    some(2000, || play_on::<Bytes>(TWO_HALVES, &[&[Remove(60), Remove(50)], &[GetMany(&[10, 50, 60, 20])]]));
}

#[test]
fn the_nearest_key_beside_a_merge() {
    some(2000, || play_on::<Bytes>(TWO_HALVES, &[&[Remove(60), Remove(50)], &[Floor(85), Floor(55)]]));
}

#[test]
fn two_splits_of_one_leaf() {
    two_writers(TWO_FULL, &[Put(25, 1)], &[Put(26, 2)]);
}

#[test]
fn splits_of_neighbours() {
    two_writers(TWO_FULL, &[Put(25, 1)], &[Put(55, 2), Remove(25)]);
}

#[test]
fn a_merge_and_a_split() {
    two_writers(TWO_HALVES, &[Remove(60), Remove(50)], &[Put(11, 1), Put(12, 2), Put(13, 3)]);
}

/// The leaf that one writer has found is merged away meanwhile, and reused further right.
#[test]
fn a_writer_whose_leaf_is_another_one_by_then() {
    two_writers(TWO_HALVES, &[Put(55, 1)], &[Remove(60), Put(70, 2), Put(80, 3)]);
}

#[test]
fn merges_from_both_sides() {
    two_writers(TWO_HALVES, &[Remove(60), Remove(50)], &[Remove(10), Remove(20), Put(61, 7)]);
}

/// The versions of a key are in two leaves after the split.
#[test]
fn the_newest_version_beside_a_split() {
    const FULL: State = State { put: &[40, 30, 20, 10], removed: &[] };
    let threads: [&[Ask]; 2] = [&[Put(25, 7), Put(45, 8)], &[Floor(29), Floor(50)]];
    let schedules = every(1, move || play_on::<Versions>(FULL, &threads));
    println!("{schedules} schedules");
}

/// A newer version is inserted into the leaf that a search has passed, and then the one in the next leaf is
/// removed.
#[test]
fn the_newest_version_moves_to_a_leaf_that_was_passed() {
    const TWO: State = State { put: &[80, 70, 60, 50, 40, 30, 20, 10], removed: &[60, 50] };
    beside_a_reader::<Versions>(TWO, &[Put(60, 1), Remove(40)], &[Floor(65)]);
}
