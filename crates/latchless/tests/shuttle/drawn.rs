//! Two writers, and three threads: random schedules, because there are too many to run all.

use crate::history::Ask::{self, FloorMany, Get, PopLast, Put, Remove, RemoveRange, Scan};
use crate::scenes::{State, play};
use crate::schedules::{every, some};

const TWO_FULL: State = State { put: &[10, 20, 30, 40, 50, 60, 70, 80], removed: &[] };
const TWO_HALVES: State = State { put: TWO_FULL.put, removed: &[30, 40, 70, 80] };
const FULL_AND_HALF: State = State { put: TWO_FULL.put, removed: &[60, 80] };

/// Two writers in every schedule with one preemption, and in some random ones, also with a reader.
fn two_writers(state: State, one: &'static [Ask], other: &'static [Ask]) {
    let schedules = every(1, move || play(state, &[one, other]));
    println!("{one:?} beside {other:?}: {schedules} schedules");
    some(1000, move || play(state, &[one, other, &[Get(20), Scan(8, 62)]]));
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
fn a_loan_and_a_removal_from_the_debtor() {
    two_writers(FULL_AND_HALF, &[Put(25, 1)], &[Remove(50), Put(51, 3)]);
}

#[test]
fn a_merge_and_a_split() {
    two_writers(TWO_HALVES, &[Remove(60)], &[Put(11, 1), Put(12, 2), Put(13, 3)]);
}

/// The leaf that one writer has found is merged away meanwhile, and reused further right.
#[test]
fn a_writer_whose_leaf_is_another_one_by_then() {
    two_writers(TWO_HALVES, &[Put(55, 1)], &[Remove(60), Put(70, 2), Put(80, 3)]);
}

#[test]
fn merges_from_both_sides() {
    two_writers(TWO_HALVES, &[Remove(60)], &[Remove(10), Put(61, 7)]);
}

#[test]
fn a_range_that_is_removed_while_it_fills() {
    two_writers(TWO_HALVES, &[RemoveRange(10, 29)], &[Put(15, 1), Put(16, 2)]);
}

/// The last leaf is empty until it is merged away. A key that is inserted there before the last entry of the
/// leaf to its left is popped would have had to be popped.
#[test]
fn a_pop_beyond_a_leaf_that_is_empty_for_a_moment() {
    const ONE_AFTER_FULL: State = State { put: TWO_FULL.put, removed: &[60, 70, 80] };
    let threads: [&[Ask]; 3] = [&[Remove(50)], &[PopLast], &[Put(55, 1), Get(40)]];
    some(5000, move || play(ONE_AFTER_FULL, &threads));
}

/// A leaf that is latched and not changed fails one validation; the next one succeeds.
#[test]
fn floors_of_a_batch_beside_removals_of_nothing() {
    let threads: [&[Ask]; 2] = [&[Remove(15), Remove(25), Remove(35)], &[FloorMany(&[35, 12])]];
    some(5000, move || play(TWO_FULL, &threads));
}

/// Every tenth key.
const TENS: [u64; 120] = {
    let mut keys = [0; 120];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = 10 * (at as u64 + 1);
        at += 1;
    }
    keys
};

/// A tree of so many leaves that each split runs a piece of a survey.
const SURVEYED: State = State { put: &TENS, removed: &[50, 130, 210, 290] };

/// Pieces of surveys during splits, merges and lookups: new tables are built while their leaves change, and
/// replace the old ones.
#[test]
fn pieces_of_a_survey_beside_splits_and_merges() {
    some(300, || {
        play(
            SURVEYED,
            &[
                &[Put(11, 1), Put(12, 1), Put(101, 1), Put(102, 1), Put(191, 1), Put(192, 1), Get(250)],
                &[Put(391, 2), Put(392, 2), Put(301, 2), Put(302, 2), Get(10), Get(390)],
                &[Remove(60), Remove(70), Get(11), Remove(140), Remove(150), Remove(160), Get(400)],
            ],
        );
    });
}

/// Three writers that grow a tree and shrink it again.
#[test]
fn a_tree_that_grows_and_shrinks() {
    const NONE: State = State { put: &[], removed: &[] };
    some(500, || {
        play(
            NONE,
            &[
                &[Put(1, 1), Put(4, 1), Put(7, 1), Remove(4), Remove(1)],
                &[Put(2, 2), Put(5, 2), Put(8, 2), Remove(8), Remove(2)],
                &[Put(3, 3), Put(6, 3), Get(5), Remove(6)],
            ],
        );
    });
}
