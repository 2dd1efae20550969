//! The nearest entry, while it moves from one side of the key to the other: one near entry is inserted, and
//! then the other one removed. One of them is present at every moment, so an entry that is farther away is
//! never the answer, not even for a reader that reads one side before and the other side after.
//!
//! If the key's leaf lacks an entry, a batch continues like a single search. So one preemption is enough
//! there.

use crate::history::Ask::{self, Nearest, NearestMany, Put, Remove};
use crate::scenes::{State, play_on};
use crate::schedules::every;
use crate::subject::{Bytes, Subject};
use latchless::{Index, Stats};
use std::collections::BTreeSet;

type Words = Index<u64, u64>;

/// Entries around a key, of which a near one is about to be inserted on one side, and the near one on the
/// other side to be removed.
#[derive(Clone, Copy)]
struct Crossing {
    state: State,
    write: &'static [Ask],
    /// The number of leaves that the entries are in.
    leaves: usize,
}

/// Around 30, in one leaf.
const IN_THE_LEAF: [Crossing; 2] = [
    Crossing {
        state: State { put: &[10, 31, 50], removed: &[] },
        write: &[Put(29, 1), Remove(31)],
        leaves: 1,
    },
    Crossing {
        state: State { put: &[10, 29, 50], removed: &[] },
        write: &[Put(31, 1), Remove(29)],
        leaves: 1,
    },
];

/// Around 40. It was the last key of the left leaf, and so belongs to it.
const TO_THE_RIGHT: [Crossing; 2] = [
    Crossing {
        state: State { put: &[10, 20, 30, 40, 50, 60, 70, 80], removed: &[30, 40] },
        write: &[Put(39, 1), Remove(50)],
        leaves: 2,
    },
    Crossing {
        state: State { put: &[10, 20, 39, 40, 50, 60, 70, 80], removed: &[40, 50] },
        write: &[Put(50, 1), Remove(39)],
        leaves: 2,
    },
];

/// Around 50. It was the first key of the right leaf, and so belongs to it.
const TO_THE_LEFT: [Crossing; 2] = [
    Crossing {
        state: State { put: &[10, 20, 30, 40, 50, 51, 70, 80], removed: &[40, 50] },
        write: &[Put(40, 1), Remove(51)],
        leaves: 2,
    },
    Crossing {
        state: State { put: &[10, 20, 30, 40, 50, 60, 70, 80], removed: &[50, 60] },
        write: &[Put(51, 1), Remove(40)],
        leaves: 2,
    },
];

/// A reader's requests, and the maximum number of preemptions.
type Look = (&'static [Ask], usize);

/// Runs each writer with each reader.
fn beside_readers<S: Subject>(crossings: [Crossing; 2], looks: &[Look]) {
    for Crossing { state, write, leaves } in crossings {
        let index = state.make::<S>();
        let form = |stats: Stats| (stats.leaves, stats.splits);
        let before = form(index.stats());
        write.iter().for_each(|ask| _ = ask.of(&index, &BTreeSet::new()));
        assert_eq!((before.0, before), (leaves, form(index.stats())), "{write:?} is about entries alone");
        for &(look, preemptions) in looks {
            let schedules = every(preemptions, move || play_on::<S>(state, &[write, look]));
            println!("{write:?} beside {look:?}: {schedules} schedules");
        }
    }
}

#[test]
fn the_nearest_entry_moves_to_the_other_side_in_the_leaf_of_the_key() {
    beside_readers::<Words>(
        IN_THE_LEAF,
        &[(&[Nearest(30)], 2), (&[NearestMany(&[30])], 2), (&[NearestMany(&[30, 31])], 1)],
    );
}

#[test]
fn the_nearest_entry_moves_between_the_leaf_of_the_key_and_the_one_to_its_right() {
    beside_readers::<Words>(TO_THE_RIGHT, &[(&[Nearest(40)], 2), (&[NearestMany(&[40, 55])], 1)]);
}

#[test]
fn the_nearest_entry_moves_between_the_leaf_of_the_key_and_the_one_to_its_left() {
    beside_readers::<Words>(TO_THE_LEFT, &[(&[Nearest(50)], 2), (&[NearestMany(&[50, 35])], 1)]);
}

#[test]
fn the_nearest_of_bytes_moves_to_the_other_side_in_the_leaf_of_the_key() {
    beside_readers::<Bytes>(IN_THE_LEAF, &[(&[Nearest(30)], 1)]);
}

#[test]
fn the_nearest_of_bytes_moves_between_the_leaf_of_the_key_and_the_one_to_its_right() {
    beside_readers::<Bytes>(TO_THE_RIGHT, &[(&[Nearest(40)], 1)]);
}

#[test]
fn the_nearest_of_bytes_moves_between_the_leaf_of_the_key_and_the_one_to_its_left() {
    beside_readers::<Bytes>(TO_THE_LEFT, &[(&[Nearest(50)], 1)]);
}
