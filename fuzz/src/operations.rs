//! A history of operations, compared with `BTreeMap` step by step.

use crate::{Limits, Subject, spread};
use arbitrary::Arbitrary;
use latchless::Direction;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::request::{Reply, Request};
use std::collections::BTreeMap;
use std::ops::Bound::{self, Excluded, Included, Unbounded};

/// An index and its history.
#[derive(Debug, Arbitrary)]
pub struct History<S> {
    subject: S,
    /// Whether updates go through `ConcurrentIndex`, if the index has it.
    shared: bool,
    operations: Vec<Operation>,
}

#[derive(Debug, Arbitrary)]
enum Operation {
    Get(u16),
    Insert(u16, u64),
    Remove(u16),
    /// Many inserts at once, so that a short input fills wide nodes.
    InsertRun(Run),
    RemoveRun(Run),
    /// Many lookups at once, which overlap their misses.
    GetMany(Run),
    /// A batch of requests of all kinds, served in its order.
    Execute(Run),
    Scan {
        from: End,
        to: End,
        reverse: bool,
        page: u8,
    },
    Check,
}

/// `count` keys from `from` on, `step` apart, round the end of the key space.
#[derive(Debug, Arbitrary)]
struct Run {
    from: u16,
    step: u16,
    count: u8,
}

impl Run {
    fn keys(&self) -> impl Iterator<Item = u64> {
        (0..u16::from(self.count)).map(|i| spread(self.from.wrapping_add(self.step.wrapping_mul(i))))
    }
}

#[derive(Debug, Arbitrary)]
enum End {
    Included(u16),
    Excluded(u16),
    Open,
}

impl End {
    fn bound(&self) -> Bound<u64> {
        match *self {
            Self::Included(key) => Included(spread(key)),
            Self::Excluded(key) => Excluded(spread(key)),
            Self::Open => Unbounded,
        }
    }
}

impl<S: Subject> History<S> {
    /// Runs the history.
    ///
    /// # Panics
    /// When the index answers otherwise than `BTreeMap`, breaks an invariant, or refuses without
    /// a reason.
    pub fn run(&self) {
        let Some(index) = self.subject.build() else { return };
        let (limits, shared) = (self.subject.limits(), self.shared);
        let mut pair = Pair { limits, shared, index, model: BTreeMap::new() };
        for operation in &self.operations {
            pair.apply(operation);
        }
        pair.check();
    }
}

/// The index and its model.
struct Pair {
    limits: Limits,
    shared: bool,
    index: Box<dyn OrderedIndex<u64, u64>>,
    model: BTreeMap<u64, u64>,
}

impl Pair {
    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Get(key) => self.get(spread(*key)),
            Operation::Insert(key, value) => self.insert(spread(*key), *value),
            Operation::Remove(key) => self.remove(spread(*key)),
            Operation::InsertRun(run) => run.keys().for_each(|key| self.insert(key, !key)),
            Operation::RemoveRun(run) => run.keys().for_each(|key| self.remove(key)),
            Operation::GetMany(run) => self.get_many(&run.keys().collect::<Vec<u64>>()),
            Operation::Execute(run) => self.execute(run),
            Operation::Scan { from, to, reverse, page } => {
                let direction = if *reverse { Direction::Reverse } else { Direction::Forward };
                self.scan((from.bound(), to.bound()), direction, usize::from(*page).max(1));
            }
            Operation::Check => self.check(),
        }
    }

    fn get(&self, key: u64) {
        assert_eq!(self.index.get(key), self.model.get(&key).copied(), "get {key:#x}");
    }

    fn get_many(&self, keys: &[u64]) {
        let mut answers = vec![None; keys.len()];
        self.index.get_many(keys, &mut answers).expect("as many answers as keys");
        let expected: Vec<Option<u64>> = keys.iter().map(|key| self.model.get(key).copied()).collect();
        assert_eq!(answers, expected, "get {keys:x?}");
    }

    fn execute(&mut self, run: &Run) {
        let request = |(at, key): (usize, u64)| match (at + usize::from(run.count)) % 4 {
            0 => Request::Get(key),
            1 => Request::Insert(key, at as u64),
            2 => Request::Remove(key.rotate_left(4)),
            _ => Request::Scan { from: key, limit: at % 7 + 1 },
        };
        let requests: Vec<Request<u64, u64>> = run.keys().enumerate().map(request).collect();
        let mut replies = Vec::new();
        match self.index.as_concurrent().filter(|_| self.shared) {
            Some(index) => index.execute_shared(&requests, &mut replies),
            None => self.index.execute(&requests, &mut replies),
        }
        assert_eq!(replies.len(), requests.len(), "a reply each");
        for (request, reply) in requests.into_iter().zip(replies) {
            let expected = match request {
                Request::Get(key) => Reply::Got(self.model.get(&key).copied()),
                Request::Insert(key, value) => {
                    if let Reply::Refused(error) = &reply {
                        self.limits.assert_refusal(error);
                        assert!(
                            !self.model.contains_key(&key),
                            "replacing {key:#x} needs no memory: {error}"
                        );
                        continue;
                    }
                    Reply::Inserted(self.model.insert(key, value))
                }
                Request::Remove(key) => Reply::Removed(self.model.remove(&key)),
                Request::Scan { from, limit } => {
                    let found = self.model.range(from..).take(limit);
                    Reply::Scanned(found.map(|(&key, &value)| (key, value)).collect())
                }
            };
            assert_eq!(reply, expected, "{request:?}");
        }
    }

    fn insert(&mut self, key: u64, value: u64) {
        let inserted = match self.index.as_concurrent().filter(|_| self.shared) {
            Some(index) => index.insert_shared(key, value),
            None => self.index.insert(key, value),
        };
        match inserted {
            Ok(old) => assert_eq!(old, self.model.insert(key, value), "insert {key:#x}"),
            Err(error) => {
                self.limits.assert_refusal(&error);
                assert!(!self.model.contains_key(&key), "replacing {key:#x} needs no memory: {error}");
            }
        }
    }

    fn remove(&mut self, key: u64) {
        let removed = match self.index.as_concurrent().filter(|_| self.shared) {
            Some(index) => index.remove_shared(key),
            None => self.index.remove(key),
        };
        assert_eq!(removed, self.model.remove(&key), "remove {key:#x}");
    }

    fn scan(&self, span: (Bound<u64>, Bound<u64>), direction: Direction, page: usize) {
        let Some(mut expected) = self.expected(span) else {
            assert!(self.index.scanner(span, direction).is_err(), "{span:?} is inverted");
            return;
        };
        if let Direction::Reverse = direction {
            expected.reverse();
        }
        let mut scanner = self.index.scanner(span, direction).expect("the range is in order");
        let (mut keys, mut values, mut found) = (vec![0; page], vec![0; page], Vec::new());
        loop {
            let filled = scanner.fill(&mut keys, &mut values).expect("the buffers have room");
            if filled == 0 {
                break;
            }
            found.extend(keys[..filled].iter().copied().zip(values[..filled].iter().copied()));
        }
        assert_eq!(found, expected, "{span:?} {direction:?} by {page}");
        assert_eq!(self.index.count(span), Ok(expected.len()), "count {span:?}");
    }

    /// The entries of a range in ascending order; `None` if its start is after its end.
    fn expected(&self, span: (Bound<u64>, Bound<u64>)) -> Option<Vec<(u64, u64)>> {
        if let (Included(low) | Excluded(low), Included(high) | Excluded(high)) = span {
            if low > high {
                return None;
            }
            // BTreeMap panics on a range that excludes one key twice; it is empty.
            if span == (Excluded(low), Excluded(low)) {
                return Some(Vec::new());
            }
        }
        Some(self.model.range(span).map(|(&key, &value)| (key, value)).collect())
    }

    fn check(&self) {
        self.index.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
        assert_eq!(self.index.len(), self.model.len());
        self.scan((Unbounded, Unbounded), Direction::Forward, 64);
    }
}
