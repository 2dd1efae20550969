//! Every operation against `BTreeMap`.

use super::kinds::{Kind, Of, empty, key, over_every_kind};
use super::{Census, Counted};
use crate::common::{Rng, scaled};
use latchless::index::{CompareExchangeError, Pinned};
use latchless::{FillFactor, TryInsertError};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

over_every_kind!(every_value_against_the_model, every_operation_on_strings_against_the_model);

fn every_value_against_the_model<K: Kind>() {
    let census = Census::new();
    let index = empty::<K, Counted>();
    let (mut model, mut rng) = (BTreeMap::new(), Rng(1));
    for version in 0..scaled(20_000) as u64 {
        let (pin, key) = (index.pin(), rng.below(500));
        let own = &K::key(key);
        let at = K::arg(own);
        let value = |value: &Counted| {
            assert!(value.is_whole());
            value.version
        };
        let entry =
            |entry: Option<(K::Key, &Counted)>| entry.map(|(at, found)| (K::number(&at), value(found)));
        match rng.below(12) {
            0..4 => {
                let before = index.insert(at, census.value(key, version), &pin).unwrap();
                assert_eq!(before.map(value), model.insert(key, version));
            }
            4 => assert_eq!(index.remove(at, &pin).map(value), model.remove(&key)),
            5 => {
                let before = index.update(at, |_| census.value(key, version), &pin).unwrap().map(value);
                assert_eq!(before, model.get_mut(&key).map(|old| std::mem::replace(old, version)));
            }
            6 => {
                let standing = index.get_or_insert_with(at, || census.value(key, version), &pin).unwrap();
                assert_eq!(value(standing), *model.entry(key).or_insert(version));
            }
            7 => {
                let below = model.range(..=key).next_back().map(|(&key, &version)| (key, version));
                let above = model.range(key..).next().map(|(&key, &version)| (key, version));
                assert_eq!(entry(index.floor(at, &pin)), below);
                assert_eq!(entry(index.ceiling(at, &pin)), above);
            }
            8 => {
                assert_eq!(entry(index.first(&pin)), model.first_key_value().map(|(&k, &v)| (k, v)));
                assert_eq!(entry(index.last(&pin)), model.last_key_value().map(|(&k, &v)| (k, v)));
                assert_eq!(entry(index.pop_first(&pin)), model.pop_first());
                assert_eq!(entry(index.pop_last(&pin)), model.pop_last());
            }
            9 => {
                let range = index.range(own.clone().., &pin).map(|(_, found)| value(found));
                assert!(range.eq(model.range(key..).map(|(_, &version)| version)));
                assert_eq!(index.count(own.clone()..), model.range(key..).count());
            }
            10 => {
                let keys: Vec<K::Key> = (0..150).map(|_| K::key(rng.below(500))).collect();
                let mut answers = vec![None; keys.len()];
                index.get_many(&keys, &mut answers, &pin).unwrap();
                let expected = keys.iter().map(|key| model.get(&K::number(key)).copied());
                assert!(answers.into_iter().map(|found| found.map(value)).eq(expected));
            }
            _ => {
                assert_eq!(index.get(at, &pin).map(value), model.get(&key).copied());
                assert_eq!(index.read(at, value), model.get(&key).copied());
                assert_eq!(index.contains_key(at), model.contains_key(&key));
            }
        }
        assert_eq!(index.len(), model.len());
    }
    index.check_invariants().unwrap();
    let (made, dropped) = census.counts();
    assert!(made >= dropped + index.len() as u64, "nothing that is in is dropped");
    drop(index);
    census.all_dropped_once();
}

type Model = BTreeMap<u64, String>;

/// An index, its model, and the random source of operations.
struct Trial<K: Kind> {
    index: Of<K, String>,
    model: Model,
    rng: Rng,
}

/// The range of keys: near each other, so that operations collide.
const KEYS: u64 = 300;

impl<K: Kind> Trial<K> {
    fn value(&mut self) -> String {
        "v".repeat(self.rng.below(40) as usize) + &self.rng.below(1000).to_string()
    }

    /// Operations on one key that compute or compare.
    fn one_key(&mut self, pin: &Pinned) {
        let (number, value) = (self.rng.below(KEYS), self.value());
        let (index, model) = (&self.index, &mut self.model);
        let own = &K::key(number);
        let key = K::arg(own);
        let before = model.get(&number).cloned();
        let seen = index.get(key, pin);
        assert_eq!(seen, before.as_ref());
        match self.rng.below(10) {
            0 => {
                let longer = |old: Option<&String>| old.map_or(value.clone(), |old| old.clone() + "+");
                assert_eq!(index.upsert(key, longer, pin).unwrap(), before.as_ref());
                model.insert(number, longer(before.as_ref()));
            }
            1 => {
                let shorter = |old: Option<&String>| match old {
                    Some(old) if old.len() > 5 => Some(old[1..].to_owned()),
                    Some(_) => None,
                    None => value.len().is_multiple_of(2).then(|| value.clone()),
                };
                assert_eq!(index.compute(key, shorter, pin).unwrap(), before.as_ref());
                match shorter(before.as_ref()) {
                    Some(after) => drop(model.insert(number, after)),
                    None => drop(model.remove(&number)),
                }
            }
            2 => {
                let removed = index.remove_if(key, |value| value.len().is_multiple_of(3), pin);
                let expected = before.filter(|value| value.len().is_multiple_of(3));
                assert_eq!(removed, expected.as_ref());
                expected.inspect(|_| drop(model.remove(&number)));
            }
            3 => match index.try_insert(key, value.clone(), pin) {
                Ok(()) => assert_eq!(model.insert(number, value), None),
                Err(TryInsertError::Present { present, .. }) => assert_eq!(Some(present), before.as_ref()),
                Err(TryInsertError::Refused { error, .. }) => panic!("{error}"),
            },
            4 => {
                assert_eq!(index.replace(key, value.clone(), pin).unwrap(), before.as_ref());
                model.entry(number).and_modify(|old| *old = value);
            }
            5 => {
                let outcome = index.compare_remove(key, seen.unwrap_or(&value), pin);
                assert_eq!(outcome, seen.ok_or(None));
                model.remove(&number);
            }
            6 => {
                let outcome = index.compare_exchange(key, seen.unwrap_or(&value), value.clone(), pin);
                assert_eq!(outcome, seen.ok_or(CompareExchangeError::Other(None)));
                model.entry(number).and_modify(|old| *old = value.clone());
            }
            7 => {
                let there = index.get_or_insert(key, value.clone(), pin).unwrap();
                assert_eq!(there, &*model.entry(number).or_insert(value));
            }
            8 => {
                assert_eq!(index.update(key, |old| old.clone() + "!", pin).unwrap(), before.as_ref());
                model.entry(number).and_modify(|old| old.push('!'));
            }
            _ => assert_eq!(index.remove(key, pin), model.remove(&number).as_ref()),
        }
    }

    fn neighbours(&mut self, pin: &Pinned) {
        let number = self.rng.below(KEYS);
        let (index, model) = (&self.index, &self.model);
        let own = &K::key(number);
        let key = K::arg(own);
        let expected = [
            model.range(..number).next_back(),
            model.range(..=number).next_back(),
            model.range(number..).next(),
            model.range(number + 1..).next(),
            model.first_key_value(),
            model.last_key_value(),
        ];
        let expected = expected.map(|found| found.map(|(&number, value)| (number, value)));
        let owned = [
            index.lower(key, pin),
            index.floor(key, pin),
            index.ceiling(key, pin),
            index.higher(key, pin),
            index.first(pin),
            index.last(pin),
        ];
        assert_eq!(owned.map(|found| found.map(|(key, value)| (K::number(&key), value))), expected);
        let lent = [
            index.lower_with(key, pin, |key, value| (K::shown(key), value)),
            index.floor_with(key, pin, |key, value| (K::shown(key), value)),
            index.ceiling_with(key, pin, |key, value| (K::shown(key), value)),
            index.higher_with(key, pin, |key, value| (K::shown(key), value)),
            index.first_with(pin, |key, value| (K::shown(key), value)),
            index.last_with(pin, |key, value| (K::shown(key), value)),
        ];
        assert_eq!(lent, expected);
        let mut cursor = index.cursor(pin);
        let seen = |found: Option<(super::kinds::Shown<'_, K>, _)>| found.map(|(key, _)| K::shown(key));
        assert_eq!(seen(cursor.seek(key)), expected[2].map(|(number, _)| number));
        assert_eq!(seen(cursor.prev()), expected[0].map(|(number, _)| number));
        assert_eq!(seen(cursor.seek_for_prev(key)), expected[1].map(|(number, _)| number));
        assert_eq!(seen(cursor.next()), expected[if expected[1].is_some() { 3 } else { 4 }].map(|(n, _)| n));
    }

    fn ranges(&mut self, pin: &Pinned) {
        let number = self.rng.below(KEYS);
        let (index, model) = (&self.index, &mut self.model);
        let numbered = |(key, value): (K::Key, _)| (K::number(&key), value);
        let all = || model.iter().map(|(&number, value)| (number, value));
        assert!(index.iter(pin).map(numbered).eq(all()));
        assert!(index.iter(pin).rev().map(numbered).eq(all().rev()));
        assert!(index.keys().map(|key| K::number(&key)).eq(model.keys().copied()));
        assert!(index.values(pin).eq(model.values()));
        assert!(index.values(pin).rev().eq(model.values().rev()));
        let from = K::key(number)..;
        let lengths =
            index.fold(from.clone(), 0, |sum, key, value| sum + K::shown(key) as usize * value.len());
        assert_eq!(lengths, model.range(number..).map(|(&key, value)| key as usize * value.len()).sum());
        let mut seen = Vec::new();
        let whole = index.scan(from, |key, value| {
            seen.push((K::shown(key), value.clone()));
            ControlFlow::Continue(())
        });
        assert!(whole.is_continue());
        assert!(seen.into_iter().eq(model.range(number..).map(|(&key, value)| (key, value.clone()))));
        match self.rng.below(4) {
            0 => {
                let end = number + self.rng.below(10);
                let before = model.len();
                model.retain(|&at, _| !(number..end).contains(&at));
                assert_eq!(index.remove_range(K::key(number)..K::key(end)).unwrap(), before - model.len());
            }
            1 => {
                let before = model.len();
                let keep = |at: u64, value: &str| at % 20 != number % 20 || value.len().is_multiple_of(2);
                model.retain(|&at, value| keep(at, value));
                assert_eq!(index.retain(|at, value| keep(K::shown(at), value)), before - model.len());
            }
            2 => {
                let cloned = |(key, value): (K::Key, &String)| (K::number(&key), value.clone());
                assert_eq!(index.pop_first(pin).map(cloned), model.pop_first());
                assert_eq!(index.pop_last(pin).map(cloned), model.pop_last());
            }
            _ => assert_eq!(index.len(), model.len()),
        }
    }

    fn batch(&mut self, pin: &Pinned) {
        let len = self.rng.below(200) as usize;
        let numbers: Vec<u64> = (0..len).map(|_| self.rng.below(KEYS)).collect();
        let keys: Vec<K::Key> = numbers.iter().map(|&number| K::key(number)).collect();
        let (index, model) = (&self.index, &mut self.model);
        let expected: Vec<_> = numbers.iter().map(|number| model.get(number).cloned()).collect();
        assert!(index.get_all(&keys, pin).into_iter().map(|value| value.cloned()).eq(expected));
        let mut answers = vec![None; len];
        if self.rng.below(2) == 0 {
            let value = |number: &u64| format!("{number} of {len}");
            let entries: Vec<_> = keys.into_iter().zip(numbers.iter().map(value)).collect();
            index.insert_many(entries, &mut answers, pin).unwrap();
            let expected = numbers.iter().map(|number| model.insert(*number, value(number)));
            assert!(answers.into_iter().map(|value| value.cloned()).eq(expected));
        } else {
            index.remove_many(&keys, &mut answers, pin).unwrap();
            let expected = numbers.iter().map(|number| model.remove(number));
            assert!(answers.into_iter().map(|value| value.cloned()).eq(expected));
        }
    }

    /// Moves the entries to a new index.
    fn move_house(&mut self) {
        let entries = self.model.clone().into_iter().map(|(number, value)| (K::key(number), value));
        self.index = match self.rng.below(4) {
            0 => core::mem::take(&mut self.index).into_iter().rev().collect(),
            1 => {
                self.index.reset();
                self.index.bulk_load(entries, FillFactor::new(0.7).unwrap()).unwrap();
                return;
            }
            2 => {
                self.index.clear();
                self.index.try_extend(entries).unwrap();
                return;
            }
            _ => Of::<K, String>::from_sorted(entries, FillFactor::FULL).unwrap(),
        };
    }
}

fn every_operation_on_strings_against_the_model<K: Kind>() {
    let mut trial = Trial::<K> { index: empty::<K, _>(), model: Model::new(), rng: Rng(3) };
    for step in 0..scaled(10_000) {
        let pin = Pinned::new();
        let (number, value) = (trial.rng.below(KEYS), trial.value());
        let before = trial.index.insert(key!(K, number), value.clone(), &pin).unwrap();
        assert_eq!(before, trial.model.insert(number, value).as_ref());
        match step % 16 {
            3 => trial.neighbours(&pin),
            6 => trial.ranges(&pin),
            9 if step % 5 == 0 => trial.batch(&pin),
            15 if step % 100 == 15 => trial.move_house(),
            14 => {
                let number = trial.rng.below(KEYS);
                assert_eq!(trial.index.take(key!(K, number)), trial.model.remove(&number));
            }
            _ => trial.one_key(&pin),
        }
        assert_eq!(trial.index.len(), trial.model.len());
    }
    trial.index.check_invariants().unwrap();
    assert!(trial.index.into_iter().map(|(key, value)| (K::number(&key), value)).eq(trial.model));
}
