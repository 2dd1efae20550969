//! A history of `Index`'s own operations, compared with `BTreeMap` step by step: single ones, and batches
//! against single ones. Each is called in the concurrent or in the single-threaded form.

use crate::{Flagship, spread};
use arbitrary::Arbitrary;
use latchless::index::Cursor;
use latchless::{Index, TryInsertError};
use latchless_core::base::request::{Reply, Request};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::ops::ControlFlow;

/// An index and its history.
#[derive(Debug, Arbitrary)]
pub struct Calls {
    subject: Flagship,
    group: u8,
    /// Whether keys are adjacent or spread over all bits.
    dense: bool,
    calls: Vec<(bool, Call)>,
}

#[derive(Debug, Arbitrary)]
enum Call {
    Single(u16, Single),
    InsertMany(Vec<(u16, u8)>),
    RemoveMany(Vec<u16>),
    GetMany(Vec<u16>),
    /// Long batches of a short input.
    InsertRun(Run),
    RemoveRun(Run),
    Execute(Vec<(u16, Request3)>),
    PopFirst,
    PopLast,
    RemoveRange(u16, u16),
    RangeMany(Vec<(u16, u16)>),
    /// The end from which each step is taken.
    Walk(u16, u16, Vec<bool>),
    Cursor(u16, Vec<bool>),
    Retain(u8),
    Clear,
    Check,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Single {
    TryInsert(u8),
    Replace(u8),
    Exchange(u8, u8),
    CompareRemove(u8),
    Update(u8),
    Upsert(u8),
    /// Sets or removes, depending on the present value.
    Compute(u8),
    RemoveIf(u8),
    GetOrInsert(u8),
    Neighbours,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Request3 {
    Get,
    Insert(u8),
    Remove,
    Scan(u8),
}

/// `count` keys from `from` on, `step` apart, round the end of the key space.
#[derive(Debug, Clone, Copy, Arbitrary)]
struct Run {
    from: u16,
    step: u16,
    count: u16,
}

/// The same operation on the index or on its single-threaded form.
macro_rules! on {
    ($pair:expr, $alone:expr, |$index:ident| $call:expr) => {
        if $alone {
            let $index = &mut $pair.index.exclusive();
            $call
        } else {
            let $index = &$pair.index;
            $call
        }
    };
}

impl Calls {
    /// Runs the history.
    ///
    /// # Panics
    /// When the index answers otherwise than `BTreeMap`, breaks an invariant, or refuses without
    /// a reason.
    pub fn run(&self) {
        let group = NonZeroUsize::new(usize::from(self.group));
        let Some(index) = self.subject.build_with(group) else { return };
        let mut pair = Pair { calls: self, index, model: BTreeMap::new() };
        for (alone, call) in &self.calls {
            pair.apply(*alone, call);
        }
        pair.check();
    }
}

/// The index and its model.
struct Pair<'a> {
    calls: &'a Calls,
    index: Index<u64, u64>,
    model: BTreeMap<u64, u64>,
}

impl Pair<'_> {
    fn key(&self, small: u16) -> u64 {
        if self.calls.dense { u64::from(small) } else { spread(small) }
    }

    fn apply(&mut self, alone: bool, call: &Call) {
        match call {
            Call::Single(key, single) => self.single(alone, self.key(*key), *single),
            Call::InsertMany(entries) => {
                let entry = |&(key, value): &(u16, u8)| (self.key(key), u64::from(value));
                self.insert_many(alone, &entries.iter().map(entry).collect::<Vec<_>>());
            }
            Call::RemoveMany(keys) => self.remove_many(alone, &self.keys(keys)),
            Call::GetMany(keys) => self.get_many(alone, &self.keys(keys)),
            Call::InsertRun(run) => {
                let entries: Vec<(u64, u64)> =
                    self.run_keys(run).into_iter().map(|key| (key, !key)).collect();
                self.insert_many(alone, &entries);
            }
            Call::RemoveRun(run) => self.remove_many(alone, &self.run_keys(run)),
            Call::Execute(requests) => self.execute(alone, requests),
            Call::PopFirst => assert_eq!(on!(self, alone, |index| index.pop_first()), self.model.pop_first()),
            Call::PopLast => assert_eq!(on!(self, alone, |index| index.pop_last()), self.model.pop_last()),
            Call::RemoveRange(low, high) => self.remove_range(alone, self.key(*low), self.key(*high)),
            Call::RangeMany(ranges) => self.range_many(alone, ranges),
            Call::Walk(low, high, steps) => self.walk(alone, self.key(*low), self.key(*high), steps),
            Call::Cursor(key, steps) => self.cursor(self.key(*key), steps),
            Call::Retain(modulus) => {
                let keep = |key: u64, _| key % (u64::from(*modulus) + 2) != 1;
                let before = self.model.len();
                self.model.retain(|&key, &mut value| keep(key, value));
                assert_eq!(on!(self, alone, |index| index.retain(keep)), before - self.model.len());
            }
            Call::Clear => {
                on!(self, alone, |index| index.clear());
                self.model.clear();
            }
            Call::Check => self.check(),
        }
    }

    fn keys(&self, small: &[u16]) -> Vec<u64> {
        small.iter().map(|&key| self.key(key)).collect()
    }

    fn run_keys(&self, run: &Run) -> Vec<u64> {
        let small = |i: u16| run.from.wrapping_add(run.step.wrapping_mul(i));
        (0..run.count % 2048).map(|i| self.key(small(i))).collect()
    }

    fn single(&mut self, alone: bool, key: u64, single: Single) {
        let before = self.model.get(&key).copied();
        let next = |value: u8| move |old: u64| old.wrapping_add(u64::from(value));
        match single {
            Single::TryInsert(value) => match on!(self, alone, |index| index.try_insert(key, value.into())) {
                Ok(()) => assert_eq!(self.model.insert(key, value.into()), None),
                Err(TryInsertError::Present { present, .. }) => assert_eq!(Some(present), before),
                Err(TryInsertError::Refused { error, .. }) => self.refused(key, &error),
            },
            Single::Replace(value) => {
                assert_eq!(on!(self, alone, |index| index.replace(key, value.into())), before);
                self.model.entry(key).and_modify(|old| *old = value.into());
            }
            Single::Exchange(expected, value) => {
                let told =
                    on!(self, alone, |index| index.compare_exchange(key, expected.into(), value.into()));
                let holds = before == Some(expected.into());
                assert_eq!(told, if holds { Ok(expected.into()) } else { Err(before) });
                self.model.entry(key).and_modify(|old| *old = if holds { value.into() } else { *old });
            }
            Single::CompareRemove(expected) => {
                let told = on!(self, alone, |index| index.compare_remove(key, expected.into()));
                let holds = before == Some(expected.into());
                assert_eq!(told, if holds { Ok(expected.into()) } else { Err(before) });
                self.model.retain(|&other, _| other != key || !holds);
            }
            Single::Update(value) => {
                let told = on!(self, alone, |index| index.update(key, next(value)));
                self.model.entry(key).and_modify(|old| *old = next(value)(*old));
                assert!(told == before || told == self.model.get(&key).copied(), "{told:?}");
            }
            Single::Upsert(value) => {
                let told = on!(self, alone, |index| index.upsert(key, |old| old.map_or(7, next(value))));
                self.compute(key, told, before, Some(before.map_or(7, next(value))));
            }
            Single::Compute(value) => {
                let change = |old: Option<u64>| old.is_none_or(|old| old > 99).then_some(u64::from(value));
                let told = on!(self, alone, |index| index.compute(key, change));
                self.compute(key, told, before, change(before));
            }
            Single::RemoveIf(least) => {
                let condition = |value: u64| value >= u64::from(least);
                let holds = before.is_some_and(condition);
                assert_eq!(
                    on!(self, alone, |index| index.remove_if(key, condition)),
                    before.filter(|_| holds)
                );
                self.model.retain(|&other, _| other != key || !holds);
            }
            Single::GetOrInsert(value) => {
                match on!(self, alone, |index| index.get_or_insert(key, value.into())) {
                    Ok(found) => assert_eq!(found, *self.model.entry(key).or_insert(value.into())),
                    Err(error) => self.refused(key, &error),
                }
            }
            Single::Neighbours => self.neighbours(alone, key),
        }
        assert_eq!(on!(self, alone, |index| index.get(key)), self.model.get(&key).copied(), "{single:?}");
    }

    /// The result of a closure on `before`, from the index and from the model.
    fn compute(
        &mut self,
        key: u64,
        told: latchless::Result<Option<u64>>,
        before: Option<u64>,
        now: Option<u64>,
    ) {
        match told {
            Ok(told) => {
                assert!(told == before || told == now, "{told:?}, {before:?} to {now:?}");
                match now {
                    Some(value) => self.model.insert(key, value),
                    None => self.model.remove(&key),
                };
            }
            Err(error) => self.refused(key, &error),
        }
    }

    fn refused(&self, key: u64, error: &latchless::Error) {
        self.calls.subject.limits.assert_refusal(error);
        assert!(!self.model.contains_key(&key), "changing {key:#x} needs no memory: {error}");
    }

    fn neighbours(&mut self, alone: bool, key: u64) {
        let entry = |found: Option<(&u64, &u64)>| found.map(|(&key, &value)| (key, value));
        let expected = [
            entry(self.model.range(..=key).next_back()),
            entry(self.model.range(key..).next()),
            entry(self.model.range(..key).next_back()),
            entry(self.model.range((Excluded(key), Unbounded)).next()),
            entry(self.model.first_key_value()),
            entry(self.model.last_key_value()),
        ];
        let found = on!(self, alone, |index| [
            index.floor(key),
            index.ceiling(key),
            index.lower(key),
            index.higher(key),
            index.first(),
            index.last()
        ]);
        assert_eq!(found, expected, "beside {key:#x}");
    }

    fn insert_many(&mut self, alone: bool, entries: &[(u64, u64)]) {
        let mut replaced = vec![None; entries.len()];
        let refused = match on!(self, alone, |index| index.insert_many(entries, &mut replaced)) {
            Ok(()) => Vec::new(),
            Err(incomplete) => {
                self.calls.subject.limits.assert_refusal(&incomplete.error);
                incomplete.refused.to_vec()
            }
        };
        for (at, &(key, value)) in entries.iter().enumerate() {
            if refused.contains(&at) {
                assert!(!self.model.contains_key(&key), "replacing {key:#x} needs no memory");
            } else {
                assert_eq!(replaced[at], self.model.insert(key, value), "insert {key:#x}");
            }
        }
    }

    fn remove_many(&mut self, alone: bool, keys: &[u64]) {
        let mut removed = vec![None; keys.len()];
        on!(self, alone, |index| index.remove_many(keys, &mut removed)).expect("as many answers as keys");
        let expected: Vec<Option<u64>> = keys.iter().map(|key| self.model.remove(key)).collect();
        assert_eq!(removed, expected, "remove {keys:x?}");
    }

    fn get_many(&mut self, alone: bool, keys: &[u64]) {
        let mut answers = vec![None; keys.len()];
        on!(self, alone, |index| index.get_many(keys, &mut answers)).expect("as many answers as keys");
        let expected: Vec<Option<u64>> = keys.iter().map(|key| self.model.get(key).copied()).collect();
        assert_eq!(answers, expected, "get {keys:x?}");
    }

    fn execute(&mut self, alone: bool, requests: &[(u16, Request3)]) {
        let request = |&(key, request): &(u16, Request3)| match (self.key(key), request) {
            (key, Request3::Get) => Request::Get(key),
            (key, Request3::Insert(value)) => Request::Insert(key, value.into()),
            (key, Request3::Remove) => Request::Remove(key),
            (from, Request3::Scan(limit)) => Request::Scan { from, limit: usize::from(limit) + 1 },
        };
        let requests: Vec<Request<u64, u64>> = requests.iter().map(request).collect();
        let mut replies = Vec::new();
        on!(self, alone, |index| index.execute(&requests, &mut replies));
        assert_eq!(replies.len(), requests.len());
        for (request, reply) in requests.into_iter().zip(replies) {
            match (request, reply) {
                (Request::Insert(key, _), Reply::Refused(error)) => self.refused(key, &error),
                (request, reply) => assert_eq!(reply, self.expected_reply(request), "{request:?}"),
            }
        }
    }

    fn expected_reply(&mut self, request: Request<u64, u64>) -> Reply<u64, u64> {
        match request {
            Request::Get(key) => Reply::Got(self.model.get(&key).copied()),
            Request::Insert(key, value) => Reply::Inserted(self.model.insert(key, value)),
            Request::Remove(key) => Reply::Removed(self.model.remove(&key)),
            Request::Scan { from, limit } => {
                let entries = self.model.range(from..).take(limit);
                Reply::Scanned(entries.map(|(&key, &value)| (key, value)).collect())
            }
        }
    }

    fn remove_range(&mut self, alone: bool, low: u64, high: u64) {
        let removed = on!(self, alone, |index| index.remove_range(low..=high));
        if low > high {
            assert!(removed.is_err());
            return;
        }
        let before = self.model.len();
        self.model.retain(|key, _| !(low..=high).contains(key));
        assert_eq!(removed, Ok(before - self.model.len()), "{low:#x}..={high:#x}");
    }

    fn range_many(&mut self, alone: bool, ranges: &[(u16, u16)]) {
        let range = |&(a, b): &(u16, u16)| self.key(a.min(b))..self.key(a.max(b));
        let ranges: Vec<_> = ranges.iter().map(range).collect();
        let mut found = vec![Vec::new(); ranges.len()];
        on!(self, alone, |index| index.range_many(&ranges, |range, keys, values| {
            found[range].extend(keys.iter().copied().zip(values.iter().copied()));
            ControlFlow::Continue(())
        }));
        for (range, found) in ranges.into_iter().zip(found) {
            let expected = self.model.range(range.clone()).map(|(&key, &value)| (key, value));
            assert!(found.into_iter().eq(expected), "{range:x?}");
        }
    }

    fn walk(&mut self, alone: bool, low: u64, high: u64, from_the_back: &[bool]) {
        let (low, high) = (low.min(high), low.max(high));
        let mut expected = self.model.range(low..=high).map(|(&key, &value)| (key, value));
        on!(self, alone, |index| {
            let mut entries = index.range(low..=high);
            for &back in from_the_back {
                let (found, expected) = match back {
                    true => (entries.next_back(), expected.next_back()),
                    false => (entries.next(), expected.next()),
                };
                assert_eq!(found, expected, "{low:#x}..={high:#x}");
            }
            assert!(entries.eq(expected), "{low:#x}..={high:#x}");
        });
    }

    fn cursor(&self, key: u64, forward: &[bool]) {
        let mut cursor = Cursor::of(&self.index);
        let entry = |found: Option<(&u64, &u64)>| found.map(|(&key, &value)| (key, value));
        let mut at = entry(self.model.range(key..).next());
        assert_eq!(cursor.seek(key), at, "seek {key:#x}");
        for &forward in forward {
            // Past either end the next step differs; that has its own tests.
            let Some((key, _)) = at else { return };
            at = if forward {
                entry(self.model.range((Excluded(key), Unbounded)).next())
            } else {
                entry(self.model.range((Unbounded, Excluded(key))).next_back())
            };
            let found = if forward { cursor.next() } else { cursor.prev() };
            assert_eq!(found, at, "from {key:#x}");
        }
    }

    fn check(&mut self) {
        self.index.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
        assert_eq!(self.index.len(), self.model.len());
        assert!(self.index.iter().eq(self.model.iter().map(|(&key, &value)| (key, value))));
        assert_eq!(self.index.count((Included(0), Unbounded)), self.model.len());
    }
}
