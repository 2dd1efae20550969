//! A history of `ByteStrings`'s operations, compared with `BTreeMap` step by step: keys of no bytes to more
//! than it takes, and values of one word, of three words, and of any length.

use crate::Limits;
use crate::drawn::{Drawn, End, Keys, Name, Range, Run, contains, lent};
use arbitrary::Arbitrary;
use latchless::bytes::{ByteStrings, Form, Lent};
use latchless::index::Incomplete;
use latchless::{Error, FillFactor, TryInsertError};
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::ops::ControlFlow;

/// An index and its history.
#[derive(Debug, Arbitrary)]
pub struct Calls {
    limits: Limits,
    values: Values,
    keys: Keys,
    calls: Vec<Call>,
}

/// The type of the values.
#[derive(Debug, Arbitrary)]
enum Values {
    Word,
    Words,
    Bytes,
}

#[derive(Debug, Arbitrary)]
enum Call {
    Single(Name, Single),
    InsertMany(Vec<(Name, u16)>),
    InsertColumns(Vec<(Name, u16)>),
    RemoveMany(Vec<Name>),
    GetMany(Vec<Name>),
    /// Long batches of a short input.
    InsertRun(Run),
    RemoveRun(Run),
    GetRun(Run),
    /// A bulk load of an index that is emptied before.
    Load(Run, f64),
    PopFirst,
    PopLast,
    RemoveRange(End, End),
    /// How many entries are seen, from which end.
    Scan(End, End, u8, bool),
    /// The end from which each step is taken.
    Walk(End, End, Vec<bool>),
    Prefix(Name),
    /// From a key, or the one before it; then steps forward or back.
    Cursor(Name, bool, Vec<bool>),
    Clear,
    Check,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Single {
    Insert(u16),
    TryInsert(u16),
    Remove,
    Replace(u16),
    /// Whether the expected value is the one that is there, or the first of these.
    Exchange(bool, u16, u16),
    CompareRemove(bool, u16),
    Update(u16),
    Upsert(u16),
    /// Sets or removes, whether the key is there or not.
    Compute(bool, u16),
    GetOrInsert(u16),
    Neighbours,
}

/// Values of which some kinds are replaced without memory.
trait Value: Drawn {
    fn replace(&self, index: &ByteStrings<Vec<u8>, Self>, key: &[u8]) -> latchless::Result<Option<Self>>;
    fn exchange(
        &self,
        index: &ByteStrings<Vec<u8>, Self>,
        key: &[u8],
        expected: &Self,
    ) -> latchless::Result<Result<Self, Option<Self>>>;
}

macro_rules! values {
    ($($value:ty: |$replaced:pat_param| $of_replaced:expr, $replace:ident, $exchange:ident;)*) => {$(
        impl Value for $value {
            fn replace(&self, index: &ByteStrings<Vec<u8>, Self>, key: &[u8]) -> latchless::Result<Option<Self>> {
                let $replaced = index.$replace(key, self.lend());
                $of_replaced
            }

            fn exchange(
                &self,
                index: &ByteStrings<Vec<u8>, Self>,
                key: &[u8],
                expected: &Self,
            ) -> latchless::Result<Result<Self, Option<Self>>> {
                let $replaced = index.$exchange(key, expected.lend(), self.lend());
                $of_replaced
            }
        }
    )*};
}
values! {
    u64: |found| Ok(found), replace, compare_exchange;
    [u64; 3]: |found| Ok(found), replace, compare_exchange;
    Vec<u8>: |found| found, try_replace, try_compare_exchange;
}

impl Calls {
    /// Runs the history.
    ///
    /// # Panics
    /// When the index answers otherwise than `BTreeMap`, breaks an invariant, or refuses without a reason.
    pub fn run(&self) {
        match self.values {
            Values::Word => self.run_with::<u64>(),
            Values::Words => self.run_with::<[u64; 3]>(),
            Values::Bytes => self.run_with::<Vec<u8>>(),
        }
    }

    fn run_with<V: Value>(&self) {
        let Some(index) = self.limits.built(ByteStrings::with_options(self.limits.options())) else { return };
        let mut pair = Pair::<V> { keys: &self.keys, limits: self.limits, index, model: BTreeMap::new() };
        self.calls.iter().for_each(|call| pair.apply(call));
        pair.check();
    }
}

/// The index and its model.
struct Pair<'a, V: Value> {
    keys: &'a Keys,
    limits: Limits,
    index: ByteStrings<Vec<u8>, V>,
    model: BTreeMap<Vec<u8>, V>,
}

impl<V: Value> Pair<'_, V> {
    fn apply(&mut self, call: &Call) {
        match call {
            Call::Single(name, single) => self.single(&self.keys.key(*name), *single),
            Call::InsertMany(entries) => self.insert_many(&self.entries(entries)),
            Call::InsertColumns(entries) => self.insert_columns(&self.entries(entries)),
            Call::RemoveMany(names) => self.remove_many(&self.named(names)),
            Call::GetMany(names) => self.get_many(&self.named(names)),
            Call::InsertRun(run) => self.insert_many(&self.run_entries(*run)),
            Call::RemoveRun(run) => self.remove_many(&self.keys.run(*run)),
            Call::GetRun(run) => self.get_many(&self.keys.run(*run)),
            Call::Load(run, fill) => self.load(*run, *fill),
            Call::PopFirst => assert_eq!(self.index.pop_first(), self.model.pop_first()),
            Call::PopLast => assert_eq!(self.index.pop_last(), self.model.pop_last()),
            Call::RemoveRange(low, high) => self.remove_range(self.keys.range((*low, *high))),
            Call::Scan(low, high, limit, back) => self.scan(&self.keys.range((*low, *high)), *limit, *back),
            Call::Walk(low, high, steps) => self.walk(&self.keys.range((*low, *high)), steps),
            Call::Prefix(name) => self.prefix(&self.keys.key(*name)),
            Call::Cursor(name, back, steps) => self.cursor(&self.keys.key(*name), *back, steps),
            Call::Clear => {
                self.index.clear();
                self.model.clear();
            }
            Call::Check => self.check(),
        }
    }

    fn entries(&self, entries: &[(Name, u16)]) -> Vec<(Vec<u8>, V)> {
        entries.iter().map(|&(name, value)| (self.keys.key(name), V::drawn(value))).collect()
    }

    fn named(&self, names: &[Name]) -> Vec<Vec<u8>> {
        names.iter().map(|&name| self.keys.key(name)).collect()
    }

    fn run_entries(&self, run: Run) -> Vec<(Vec<u8>, V)> {
        (0..).zip(self.keys.run(run)).map(|(number, key)| (key, V::drawn(number))).collect()
    }

    fn single(&mut self, key: &[u8], single: Single) {
        let before = self.model.get(key).cloned();
        let after = match single {
            Single::Remove | Single::CompareRemove(..) => self.removed(key, single, before),
            Single::Neighbours => {
                self.neighbours(key);
                before
            }
            _ => match self.written(key, single, before.clone()) {
                Ok(after) => after,
                Err(error) => {
                    self.assert_refusal(key, &error);
                    let needs_none = before.is_some() && !V::MAY_NEED_MEMORY;
                    assert!(!needs_none, "replacing {key:x?} needs no memory: {error}");
                    before
                }
            },
        };
        match after {
            Some(value) => self.model.insert(key.to_vec(), value),
            None => self.model.remove(key),
        };
        assert_eq!(self.index.get(key), self.model.get(key).cloned(), "{single:?} of {key:x?}");
        assert_eq!(self.index.contains_key(key), self.model.contains_key(key));
    }

    /// Removes a key, which is never refused; the value that it has then.
    fn removed(&self, key: &[u8], single: Single, before: Option<V>) -> Option<V> {
        let Single::CompareRemove(fits, value) = single else {
            assert_eq!(self.index.remove(key), before);
            return None;
        };
        let expected = before.clone().filter(|_| fits).unwrap_or(V::drawn(value));
        let holds = before.as_ref() == Some(&expected);
        let answer = if holds { Ok(expected.clone()) } else { Err(before.clone()) };
        assert_eq!(self.index.compare_remove(key, expected.lend()), answer);
        before.filter(|_| !holds)
    }

    /// Changes the value of a key; the one that it has then, unless that is refused.
    fn written(&self, key: &[u8], single: Single, before: Option<V>) -> latchless::Result<Option<V>> {
        let index = &self.index;
        let if_present = |value: u16| before.is_some().then(|| V::drawn(value));
        match single {
            Single::Insert(value) => {
                assert_eq!(index.insert(key, V::drawn(value).lend())?, before);
                Ok(Some(V::drawn(value)))
            }
            Single::TryInsert(value) => match index.try_insert(key, V::drawn(value)) {
                Ok(()) => {
                    assert_eq!(before, None);
                    Ok(Some(V::drawn(value)))
                }
                Err(TryInsertError::Present { present, value: own }) => {
                    assert_eq!((Some(present), own), (before.clone(), V::drawn(value)));
                    Ok(before)
                }
                Err(TryInsertError::Refused { error, .. }) => Err(error),
            },
            Single::Replace(value) => {
                assert_eq!(V::drawn(value).replace(index, key)?, before);
                Ok(if_present(value))
            }
            Single::Exchange(fits, expected, value) => {
                let expected = before.clone().filter(|_| fits).unwrap_or(V::drawn(expected));
                let holds = before.as_ref() == Some(&expected);
                let answer = if holds { Ok(expected.clone()) } else { Err(before.clone()) };
                assert_eq!(V::drawn(value).exchange(index, key, &expected)?, answer);
                Ok(if holds { Some(V::drawn(value)) } else { before })
            }
            Single::Update(value) => {
                assert_eq!(index.update(key, |_| V::drawn(value))?, before);
                Ok(if_present(value))
            }
            Single::Upsert(value) => {
                assert_eq!(index.upsert(key, |_| V::drawn(value))?, before);
                Ok(Some(V::drawn(value)))
            }
            Single::Compute(sets, value) => {
                let after = sets.then(|| V::drawn(value));
                assert_eq!(index.compute(key, |_| after.clone())?, before);
                Ok(after)
            }
            Single::GetOrInsert(value) => {
                let after = before.unwrap_or(V::drawn(value));
                assert_eq!(index.get_or_insert_with(key, || V::drawn(value))?, after);
                Ok(Some(after))
            }
            Single::Remove | Single::CompareRemove(..) | Single::Neighbours => Ok(before),
        }
    }

    /// Refusals come from the limits, or the key is too long.
    fn assert_refusal(&self, key: &[u8], error: &Error) {
        match error {
            Error::KeyTooLong { len, limit } => assert!(*len == key.len() && len > limit, "{error}"),
            error => self.limits.assert_refusal(error),
        }
    }

    fn neighbours(&self, key: &[u8]) {
        let entry = |found: Option<(&Vec<u8>, &V)>| found.map(|(key, value)| (key.clone(), value.clone()));
        let model = &self.model;
        let expected = [
            entry(model.range::<[u8], _>((Unbounded, Included(key))).next_back()),
            entry(model.range::<[u8], _>((Included(key), Unbounded)).next()),
            entry(model.range::<[u8], _>((Unbounded, Excluded(key))).next_back()),
            entry(model.range::<[u8], _>((Excluded(key), Unbounded)).next()),
            entry(model.first_key_value()),
            entry(model.last_key_value()),
        ];
        let index = &self.index;
        let found = [
            index.floor(key),
            index.ceiling(key),
            index.lower(key),
            index.higher(key),
            index.first(),
            index.last(),
        ];
        assert_eq!(found, expected, "beside {key:x?}");
    }

    /// The positions of a batch that were refused, which must be for a reason.
    fn refused<T>(&self, done: Result<T, Incomplete>, entries: &[(Vec<u8>, V)]) -> Vec<usize> {
        let Err(Incomplete { error, refused }) = done else { return Vec::new() };
        assert!(refused.is_sorted_by(|a, b| a < b) && !refused.is_empty(), "{refused:?}");
        self.assert_refusal(&entries[refused[0]].0, &error);
        refused
    }

    /// What a batch does to the model, and the values that its entries replaced; none for those refused.
    fn insert_into_model(&mut self, entries: &[(Vec<u8>, V)], refused: &[usize]) -> Vec<Option<V>> {
        let mut replaced = Vec::new();
        for (at, (key, value)) in entries.iter().enumerate() {
            if refused.contains(&at) {
                let needs_none = self.model.contains_key(key) && !V::MAY_NEED_MEMORY;
                assert!(!needs_none, "replacing {key:x?} needs no memory");
                replaced.push(None);
            } else {
                replaced.push(self.model.insert(key.clone(), value.clone()));
            }
        }
        replaced
    }

    fn insert_many(&mut self, entries: &[(Vec<u8>, V)]) {
        let mut replaced = vec![None; entries.len()];
        let refused = self.refused(self.index.insert_many(entries, &mut replaced), entries);
        assert_eq!(replaced, self.insert_into_model(entries, &refused));
    }

    fn insert_columns(&mut self, entries: &[(Vec<u8>, V)]) {
        let (keys, values): (Vec<&[u8]>, Vec<_>) =
            entries.iter().map(|(key, value)| (&key[..], value.lend())).unzip();
        let done = self.index.insert_columns(&keys, &values);
        let refused = self.refused(done.clone(), entries);
        let replaced = self.insert_into_model(entries, &refused);
        if let Ok(new) = done {
            assert_eq!(new, replaced.iter().filter(|replaced| replaced.is_none()).count());
        }
    }

    fn remove_many(&mut self, keys: &[Vec<u8>]) {
        let mut removed = vec![None; keys.len()];
        self.index.remove_many(keys, &mut removed).expect("as many answers as keys");
        let expected: Vec<Option<V>> = keys.iter().map(|key| self.model.remove(key)).collect();
        assert_eq!(removed, expected, "remove {keys:x?}");
    }

    fn get_many(&self, keys: &[Vec<u8>]) {
        let mut answers = vec![None; keys.len()];
        self.index.get_many(keys, &mut answers).expect("as many answers as keys");
        let expected: Vec<Option<V>> = keys.iter().map(|key| self.model.get(key).cloned()).collect();
        assert_eq!(answers, expected, "get {keys:x?}");
    }

    fn load(&mut self, run: Run, fill: f64) {
        self.index.clear();
        self.model.clear();
        let entries: BTreeMap<Vec<u8>, V> = self.run_entries(run).into_iter().collect();
        let fill = FillFactor::new(fill).unwrap_or_default();
        match self.index.bulk_load(entries.iter().map(|(key, value)| (&key[..], value.clone())), fill) {
            Ok(()) => self.model = entries,
            // Of several keys that are too long the first is named.
            Err(Error::KeyTooLong { len, limit }) => assert!(len > limit),
            Err(error) => self.limits.assert_refusal(&error),
        }
        self.check();
    }

    /// The entries of a range.
    fn expected<'m>(&'m self, range: &'m Range) -> impl DoubleEndedIterator<Item = (&'m Vec<u8>, &'m V)> {
        self.model.iter().filter(move |(key, _)| contains(range, key))
    }

    fn remove_range(&mut self, (range, is_inverted): (Range, bool)) {
        let removed = self.index.remove_range::<[u8]>(lent(&range));
        if is_inverted {
            assert_eq!(removed, Err(Error::InvertedRange));
            return;
        }
        let before = self.model.len();
        self.model.retain(|key, _| !contains(&range, key));
        assert_eq!(removed, Ok(before - self.model.len()), "{range:x?}");
    }

    fn scan(&self, (range, is_inverted): &(Range, bool), limit: u8, back: bool) {
        let (limit, mut found) = (usize::from(limit) + 1, Vec::new());
        let see = |key: &[u8], value: Lent<'_, V>| {
            found.push((key.to_vec(), <V::Form as Form<V>>::own(value)));
            if found.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let _ = match back {
            true => self.index.scan_back::<[u8]>(lent(range), see),
            false => self.index.scan::<[u8]>(lent(range), see),
        };
        let owned = |(key, value): (&Vec<u8>, &V)| (key.clone(), value.clone());
        let expected: Vec<(Vec<u8>, V)> = match back {
            true => self.expected(range).rev().take(limit).map(owned).collect(),
            false => self.expected(range).take(limit).map(owned).collect(),
        };
        assert_eq!(found, expected, "{range:x?}, back: {back}");
        assert_eq!(self.index.count::<[u8]>(lent(range)), self.expected(range).count(), "{range:x?}");
        assert_eq!(self.index.try_range::<[u8]>(lent(range)).is_err(), *is_inverted, "{range:x?}");
    }

    fn walk(&self, (range, _): &(Range, bool), from_the_back: &[bool]) {
        let mut entries = self.index.range::<[u8]>(lent(range));
        let mut expected = self.expected(range).map(|(key, value)| (key.clone(), value.clone()));
        for &back in from_the_back {
            let (found, expected) = match back {
                true => (entries.next_back(), expected.next_back()),
                false => (entries.next(), expected.next()),
            };
            assert_eq!(found, expected, "{range:x?}");
        }
        assert!(entries.eq(expected), "{range:x?}");
    }

    fn prefix(&self, prefix: &[u8]) {
        let expected = self.model.iter().filter(|(key, _)| key.starts_with(prefix));
        let expected = expected.map(|(key, value)| (key.clone(), value.clone()));
        assert!(self.index.prefix::<Vec<u8>, [u8]>(prefix).eq(expected), "{prefix:x?}");
    }

    /// Positions are those of the model's entries, from 1 on: 0 is before the first.
    fn cursor(&self, key: &[u8], back: bool, forward: &[bool]) {
        let entries: Vec<(&Vec<u8>, &V)> = self.model.iter().collect();
        let mut cursor = self.index.cursor();
        let mut at = match back {
            true => entries.partition_point(|(other, _)| other[..] <= *key),
            false => entries.partition_point(|(other, _)| other[..] < *key) + 1,
        };
        let own = |(key, value): (&[u8], Lent<'_, V>)| (key.to_vec(), <V::Form as Form<V>>::own(value));
        let mut arrived = if back { cursor.seek_for_prev(key) } else { cursor.seek(key) }.map(own);
        for step in 0..=forward.len() {
            let expected = at.checked_sub(1).and_then(|at| entries.get(at));
            assert_eq!(arrived, expected.map(|&(key, value)| (key.clone(), value.clone())), "from {key:x?}");
            assert_eq!(cursor.current().map(own), arrived, "from {key:x?}");
            let Some(forward) = forward.get(step) else { break };
            (arrived, at) = match forward {
                true => (cursor.next().map(own), (at + 1).min(entries.len() + 1)),
                false => (cursor.prev().map(own), at.saturating_sub(1)),
            };
        }
    }

    fn check(&self) {
        self.index.check_invariants().unwrap_or_else(|broken| panic!("{broken}"));
        assert_eq!(self.index.len(), self.model.len());
        assert!(self.index.iter().eq(self.model.iter().map(|(key, value)| (key.clone(), value.clone()))));
    }
}
