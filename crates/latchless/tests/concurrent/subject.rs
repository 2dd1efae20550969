//! The interface of an index under test, and the choice of the indexes.

use crate::history::Edit;
use crate::subjects::{SUBJECTS, part};
use latchless::Direction;
use latchless_core::base::index::OrderedIndex;
use std::cell::Cell;
use std::ops::Bound::{Excluded, Included, Unbounded};

/// An index under test, shared by threads. Values are below 2^32, so that narrow encodings can store them.
pub trait Subject: Send + Sync {
    fn index(&self) -> &dyn OrderedIndex<u64, u64>;

    /// Returns whether the index supports this edit as one atomic step.
    fn offers(&self, edit: Edit) -> bool {
        matches!(edit, Edit::Put(_) | Edit::Remove)
    }

    /// Applies a supported edit and returns the value before it.
    fn edit(&self, key: u64, edit: Edit) -> Option<u64> {
        let index = self.index().as_concurrent().expect("a subject takes updates from many threads");
        match edit {
            Edit::Put(value) => index.insert_shared(key, value).expect("there is memory"),
            Edit::Remove => index.remove_shared(key),
            other => panic!("{other:?} isn't offered"),
        }
    }

    /// Returns the entry at `key` or the next one in that direction, if that is supported.
    fn nearest(&self, _key: u64, _direction: Direction) -> Option<(u64, u64)> {
        None
    }

    /// Returns the next entry after `key` in that direction, if that is supported.
    fn beside(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        self.nearest(next_to(key, direction), direction)
    }

    /// Returns the first entry in that direction, if that is supported.
    fn end(&self, direction: Direction) -> Option<(u64, u64)> {
        self.nearest(if direction == Direction::Forward { 0 } else { u64::from(u32::MAX) }, direction)
    }

    /// Returns the largest key that belongs to the same leaf as `key`, if the index can tell.
    fn leaf_end(&self, _key: u64) -> Option<u64> {
        None
    }

    /// Removes the first entry in that direction, if that is supported.
    fn pop(&self, _direction: Direction) -> Option<(u64, u64)> {
        None
    }

    /// Returns the bytes that are in use now, if the index knows them.
    fn live_bytes(&self) -> Option<usize> {
        None
    }

    /// Returns how often readers have restarted, and the maximum per read, if the index knows them.
    fn restarts(&self) -> Option<(u64, u64)> {
        None
    }

    fn put(&self, key: u64, value: u64) -> Option<u64> {
        self.edit(key, Edit::Put(value))
    }

    fn take(&self, key: u64) -> Option<u64> {
        self.edit(key, Edit::Remove)
    }

    fn look(&self, key: u64) -> Option<u64> {
        self.index().get(key)
    }

    /// Checks the whole structure, which must be at rest, and that it has exactly these entries.
    fn settle(&self, expected: &[(u64, u64)]) {
        self.index().check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
        assert_eq!(self.index().len(), expected.len());
        assert_eq!(self.index().count((Unbounded, Unbounded)), Ok(expected.len()));
        let mut found = Vec::new();
        walk(self.index(), 0, u64::MAX, Direction::Forward, 100, |key, value| found.push((key, value)));
        assert_eq!(found, expected);
        for &(key, value) in expected {
            assert_eq!(self.look(key), Some(value), "{key}");
        }
    }
}

/// Returns the key that follows in that direction.
pub fn next_to(key: u64, direction: Direction) -> u64 {
    if direction == Direction::Forward { key + 1 } else { key - 1 }
}

/// Inside `impl OrderedIndex`: an index that works in shared mode even if it is borrowed by `&mut`.
macro_rules! updates_are_shared {
    () => {
        fn insert(&mut self, key: u64, value: u64) -> latchless::Result<Option<u64>> {
            self.insert_shared(key, value)
        }

        fn remove(&mut self, key: u64) -> Option<u64> {
            self.remove_shared(key)
        }

        fn as_concurrent(&self) -> Option<&dyn latchless_core::base::index::ConcurrentIndex<u64, u64>> {
            Some(self)
        }
    };
}
pub(crate) use updates_are_shared;

/// Visits `low..=high` with a scanner that pauses every `page` entries.
pub fn walk(
    index: &dyn OrderedIndex<u64, u64>,
    low: u64,
    high: u64,
    direction: Direction,
    page: usize,
    mut visit: impl FnMut(u64, u64),
) {
    let high = if high == u64::MAX { Unbounded } else { Included(high) };
    let low = if low.is_multiple_of(2) { Included(low) } else { Excluded(low - 1) };
    let mut scanner = index.scanner((low, high), direction).expect("the range is in order");
    let (mut keys, mut values) = (vec![0; page], vec![0; page]);
    loop {
        let found = scanner.fill(&mut keys, &mut values).expect("the buffers have room");
        if found == 0 {
            return;
        }
        keys[..found].iter().zip(&values[..found]).for_each(|(&key, &value)| visit(key, value));
    }
}

/// Creates a subject.
pub type Make = fn() -> Box<dyn Subject>;

thread_local! {
    /// The [`part`] of the subject that this thread is testing.
    static PART: Cell<usize> = const { Cell::new(1) };
}

/// Returns every subject, or the one of this name.
///
/// # Panics
/// If there is none: otherwise nothing would run, and all tests would pass.
fn asked_for(only: Option<&str>) -> Vec<(&'static str, Make)> {
    let Some(only) = only else {
        // The reference would take most of the time under Miri.
        return SUBJECTS.iter().copied().skip(usize::from(cfg!(miri))).collect();
    };
    let found: Vec<_> = SUBJECTS.iter().copied().filter(|&(name, _)| name == only).collect();
    let names: Vec<_> = SUBJECTS.iter().map(|&(name, _)| name).collect();
    assert!(
        !found.is_empty(),
        "LATCHLESS_SUBJECT={only} is no subject of this build; these are: {}",
        names.join(", ")
    );
    found
}

#[test]
fn one_subject_is_asked_for_by_name_and_all_without() {
    assert!(asked_for(None).len() > 1);
    let only = asked_for(Some("reference"));
    assert_eq!(only.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["reference"]);
}

#[test]
#[should_panic(expected = "LATCHLESS_SUBJECT=idnex is no subject")]
fn a_subject_that_is_not_there_is_an_error_and_not_a_run_of_nothing() {
    asked_for(Some("idnex"));
}

/// Runs a test on a fresh one of every subject, or on the one that `LATCHLESS_SUBJECT` names.
pub fn on_every_subject(test: impl Fn(&dyn Subject)) {
    for (name, make) in asked_for(std::env::var("LATCHLESS_SUBJECT").ok().as_deref()) {
        println!("{name}");
        PART.set(part(name));
        test(&*make());
    }
    PART.set(1);
}

/// The default effort: the usual tests should be short.
const USUAL_EFFORT: f64 = 0.25;

/// Returns the number of steps of a test: `usual`, or the subject's part of it, times the effort in the
/// environment; or `few` under Miri.
pub fn scaled(usual: usize, few: usize) -> usize {
    let effort = std::env::var("LATCHLESS_EFFORT").ok().and_then(|effort| effort.parse().ok());
    let own = (usual / PART.get()).max(1) as f64 * effort.unwrap_or(USUAL_EFFORT);
    if cfg!(miri) { few } else { (own as usize).max(1) }
}
