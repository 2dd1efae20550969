//! Cached counts during each structural change: no change may be missing from a count that isn't out of
//! date.

use crate::history::Ask::{self, Put, Remove, RemoveRange};
use crate::scenes::State;
use crate::schedules::{every, some, together};
use latchless::Index;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Two full leaves, and two that are half empty.
const STATE: State =
    State { put: &[10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120], removed: &[80, 90, 100] };

/// Runs a writer and a thread that counts. The writer counts as well, right after its change; as it is the
/// only one, it knows the number of keys.
fn play(state: State, write: &'static [Ask]) {
    let index = Arc::new(state.make::<Index<u64, u64>>());
    let len = index.iter().count();
    // From here on all leaves are counted and marked.
    assert_eq!(index.count(..), len);
    let (writer, counter) = (Arc::clone(&index), Arc::clone(&index));
    let write = move || {
        for ask in write {
            ask.of(&*writer, &BTreeSet::new());
            assert_eq!(writer.count(..), writer.iter().count(), "after {ask:?}");
        }
    };
    let count = move || {
        for high in [200, 55] {
            let around = counter.count(..high);
            assert!(around <= len + 3, "{around} of {len}");
        }
    };
    together([Box::new(write) as Box<dyn FnOnce() + Send>, Box::new(count)]);
    index.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
    assert_eq!(index.count(..), index.iter().count(), "at the end");
}

fn beside_a_count(state: State, write: &'static [Ask]) {
    let schedules = every(1, move || play(state, write));
    println!("{write:?} beside counts: {schedules} schedules");
    some(1000, move || play(state, write));
}

#[test]
fn inserts_and_a_split() {
    beside_a_count(STATE, &[Put(105, 1), Put(25, 1)]);
}

#[test]
fn entries_that_are_lent() {
    beside_a_count(STATE, &[Put(65, 1)]);
}

#[test]
fn removals_and_a_merge() {
    beside_a_count(STATE, &[Remove(70), Remove(110), Remove(120)]);
}

#[test]
fn a_range_that_is_removed() {
    beside_a_count(STATE, &[RemoveRange(20, 59), Put(55, 1)]);
}
