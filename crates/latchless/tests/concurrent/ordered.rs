//! Ordered maps with concurrent writers: the flagship in all its forms, and the reference, behind the
//! interface that `straddling.rs` and `passing.rs` use.

use crate::flagship::Tree;
use crate::reference::Reference;
use crate::subject::{Subject, next_to};
use crate::subjects::PLAIN_PAGES;
use latchless::index::Slot;
use latchless::{Direction, Index};

/// A map under test, shared by threads. Keys and values stay below 2^32.
pub trait Ordered: Send + Sync {
    fn get(&self, key: u64) -> Option<u64>;
    fn put(&self, key: u64, value: u64) -> Option<u64>;
    fn remove(&self, key: u64) -> Option<u64>;

    /// `ceiling` or `floor`.
    fn nearest(&self, from: u64, direction: Direction) -> Option<(u64, u64)>;

    /// `higher` or `lower`.
    fn beside(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        self.nearest(next_to(key, direction), direction)
    }

    /// `first` or `last`: the search goes forward for the first entry.
    fn end(&self, direction: Direction) -> Option<(u64, u64)>;

    /// `pop_first` or `pop_last`.
    fn pop(&self, direction: Direction) -> Option<(u64, u64)>;

    /// Returns whether a leaf ends between these keys, if the map can tell.
    fn parts(&self, _low: u64, _high: u64) -> Option<bool> {
        None
    }

    /// Checks the whole structure, which must be at rest.
    fn check(&self);
}

impl<S: Subject> Ordered for S {
    fn get(&self, key: u64) -> Option<u64> {
        self.look(key)
    }

    fn put(&self, key: u64, value: u64) -> Option<u64> {
        Subject::put(self, key, value)
    }

    fn remove(&self, key: u64) -> Option<u64> {
        self.take(key)
    }

    fn nearest(&self, from: u64, direction: Direction) -> Option<(u64, u64)> {
        Subject::nearest(self, from, direction)
    }

    fn beside(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        Subject::beside(self, key, direction)
    }

    fn end(&self, direction: Direction) -> Option<(u64, u64)> {
        Subject::end(self, direction)
    }

    fn pop(&self, direction: Direction) -> Option<(u64, u64)> {
        Subject::pop(self, direction)
    }

    fn parts(&self, low: u64, high: u64) -> Option<bool> {
        self.leaf_end(low).map(|end| end < high)
    }

    fn check(&self) {
        self.index().check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
    }
}

impl Ordered for Index<u64, Slot<u64>> {
    fn get(&self, key: u64) -> Option<u64> {
        self.get_with(key, |value| *value)
    }

    fn put(&self, key: u64, value: u64) -> Option<u64> {
        self.insert(key, value).expect("there is memory").map(Slot::into_inner)
    }

    fn remove(&self, key: u64) -> Option<u64> {
        Index::remove(self, key).map(Slot::into_inner)
    }

    fn nearest(&self, from: u64, direction: Direction) -> Option<(u64, u64)> {
        let found = if direction == Direction::Forward { self.ceiling(from) } else { self.floor(from) };
        found.map(|(key, value)| (key, value.0))
    }

    fn end(&self, direction: Direction) -> Option<(u64, u64)> {
        let found = if direction == Direction::Forward { self.first() } else { self.last() };
        found.map(|(key, value)| (key, value.0))
    }

    fn pop(&self, direction: Direction) -> Option<(u64, u64)> {
        let found = if direction == Direction::Forward { self.pop_first() } else { self.pop_last() };
        found.map(|(key, value)| (key, value.0))
    }

    fn check(&self) {
        self.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
    }
}

/// The index, through its batches of neighbours: each key occurs several times, so that it is answered in a
/// group, or in a run of ascending keys.
#[derive(Debug)]
struct InBatches(Index<u64, u64>);

impl InBatches {
    fn many(
        key: u64,
        ask: impl Fn(&[u64], &mut [Option<(u64, u64)>]) -> latchless::Result<()>,
    ) -> Option<(u64, u64)> {
        const ASCENDING: usize = 40;
        // Alternately.
        let len = if key.is_multiple_of(2) { 2 } else { ASCENDING };
        let mut answers = [None; ASCENDING];
        ask(&[key; ASCENDING][..len], &mut answers[..len]).expect("equally long");
        // Each of them is of a different moment.
        answers[len - 1]
    }
}

impl Ordered for InBatches {
    fn get(&self, key: u64) -> Option<u64> {
        let (mut values, mut found) = ([0], [false]);
        self.0.get_columns(&[key], &mut values, &mut found).expect("equally long");
        found[0].then_some(values[0])
    }

    fn put(&self, key: u64, value: u64) -> Option<u64> {
        self.0.insert(key, value).expect("there is memory")
    }

    fn remove(&self, key: u64) -> Option<u64> {
        let (mut values, mut found) = ([0], [false]);
        self.0.remove_columns(&[key], &mut values, &mut found).expect("equally long");
        found[0].then_some(values[0])
    }

    fn nearest(&self, from: u64, direction: Direction) -> Option<(u64, u64)> {
        Self::many(from, |keys, answers| match direction {
            Direction::Forward => self.0.ceiling_many(keys, answers),
            Direction::Reverse => self.0.floor_many(keys, answers),
        })
    }

    fn beside(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        Self::many(key, |keys, answers| match direction {
            Direction::Forward => self.0.higher_many(keys, answers),
            Direction::Reverse => self.0.lower_many(keys, answers),
        })
    }

    fn end(&self, direction: Direction) -> Option<(u64, u64)> {
        self.nearest(if direction == Direction::Forward { 0 } else { u64::MAX }, direction)
    }

    fn pop(&self, direction: Direction) -> Option<(u64, u64)> {
        Subject::pop(&self.0, direction)
    }

    fn parts(&self, low: u64, high: u64) -> Option<bool> {
        Ordered::parts(&self.0, low, high)
    }

    fn check(&self) {
        Ordered::check(&self.0);
    }
}

/// Creates a map.
pub type MakeOrdered = fn() -> Box<dyn Ordered>;

/// Every ordered map that supports concurrent writers. The reference validates the tests.
pub const ORDERED: [(&str, MakeOrdered); 6] = [
    ("reference", || Box::new(Reference::default())),
    ("index", || Box::new(Index::<u64, u64>::with_options(PLAIN_PAGES).expect("one leaf finds room"))),
    ("index in batches", || {
        Box::new(InBatches(Index::with_options(PLAIN_PAGES).expect("one leaf finds room")))
    }),
    ("tree of 64-bit lanes", || Box::new(Tree::<u64>::default())),
    ("tree of 32-bit lanes", || Box::new(Tree::<u32>::default())),
    ("boxed index", || {
        Box::new(Index::<u64, Slot<u64>>::with_options(PLAIN_PAGES).expect("one leaf finds room"))
    }),
];

/// Runs a test on every map, or on the one that `LATCHLESS_SUBJECT` names.
pub fn on_every_ordered(test: impl Fn(MakeOrdered)) {
    let only = std::env::var("LATCHLESS_SUBJECT").ok();
    for (name, make) in ORDERED.into_iter().skip(usize::from(cfg!(miri))) {
        if only.as_ref().is_none_or(|only| only == name) {
            println!("{name}");
            test(make);
        }
    }
}
