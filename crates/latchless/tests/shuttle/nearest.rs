//! The nearest entry, while it moves from one side of the key to the other: one near entry is inserted, and
//! then the other one removed. One of them is present at every moment, so an entry that is farther away is
//! never the answer, not even for a reader that reads one side before and the other side after.
//!
//! If the key's leaf lacks an entry, a batch continues like a single search. So one preemption is enough
//! there.

use crate::history::Ask::{self, Nearest, NearestMany, Put, Remove};
use crate::scenes::{State, play};
use crate::schedules::every;
use latchless::{Index, Stats};
use std::collections::BTreeSet;

/// Entries around a key, of which a near one is about to be inserted on one side, and the near one on the
/// other side to be removed.
#[derive(Clone, Copy)]
struct Crossing {
    state: State,
    write: &'static [Ask],
    /// The number of leaves that the entries are in.
    leaves: usize,
}

/// A reader's requests, and the maximum number of preemptions.
type Look = (&'static [Ask], usize);

/// Runs each writer with each reader.
fn beside_readers(crossings: &[Crossing], looks: &[Look]) {
    for &Crossing { state, write, leaves } in crossings {
        let index = state.make::<Index<u64, u64>>();
        let form = |stats: Stats| (stats.leaves, stats.splits);
        let before = form(index.stats());
        write.iter().for_each(|ask| _ = ask.of(&index, &BTreeSet::new()));
        assert_eq!((before.0, before), (leaves, form(index.stats())), "{write:?} is about entries alone");
        for &(look, preemptions) in looks {
            let schedules = every(preemptions, move || play(state, &[write, look]));
            println!("{write:?} beside {look:?}: {schedules} schedules");
        }
    }
}

#[test]
fn the_nearest_entry_moves_to_the_other_side_in_the_leaf_of_the_key() {
    const TO_THE_LEFT: Crossing = Crossing {
        state: State { put: &[10, 31, 50], removed: &[] },
        write: &[Put(29, 1), Remove(31)],
        leaves: 1,
    };
    const TO_THE_RIGHT: Crossing = Crossing {
        state: State { put: &[10, 29, 50], removed: &[] },
        write: &[Put(31, 1), Remove(29)],
        leaves: 1,
    };
    beside_readers(
        &[TO_THE_LEFT, TO_THE_RIGHT],
        &[(&[Nearest(30)], 2), (&[NearestMany(&[30])], 2), (&[NearestMany(&[30, 31])], 1)],
    );
}

/// The key was the last one of the left leaf, and so belongs to it.
#[test]
fn the_nearest_entry_moves_between_the_leaf_of_the_key_and_the_one_to_its_right() {
    const TO_THE_LEFT: Crossing = Crossing {
        state: State { put: &[10, 20, 30, 40, 50, 60, 70, 80], removed: &[30, 40] },
        write: &[Put(39, 1), Remove(50)],
        leaves: 2,
    };
    const TO_THE_RIGHT: Crossing = Crossing {
        state: State { put: &[10, 20, 39, 40, 50, 60, 70, 80], removed: &[40, 50] },
        write: &[Put(50, 1), Remove(39)],
        leaves: 2,
    };
    beside_readers(&[TO_THE_LEFT, TO_THE_RIGHT], &[(&[Nearest(40)], 2), (&[NearestMany(&[40, 55])], 1)]);
}

/// The key was the first one of the right leaf, and so belongs to it.
#[test]
fn the_nearest_entry_moves_between_the_leaf_of_the_key_and_the_one_to_its_left() {
    const TO_THE_LEFT: Crossing = Crossing {
        state: State { put: &[10, 20, 30, 40, 50, 51, 70, 80], removed: &[40, 50] },
        write: &[Put(40, 1), Remove(51)],
        leaves: 2,
    };
    const TO_THE_RIGHT: Crossing = Crossing {
        state: State { put: &[10, 20, 30, 40, 50, 60, 70, 80], removed: &[50, 60] },
        write: &[Put(51, 1), Remove(40)],
        leaves: 2,
    };
    beside_readers(&[TO_THE_LEFT, TO_THE_RIGHT], &[(&[Nearest(50)], 2), (&[NearestMany(&[50, 35])], 1)]);
}
