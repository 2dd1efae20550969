//! Every operation against `BTreeMap`.

use super::{Census, Counted};
use crate::common::{Rng, scaled};
use latchless::index::{CompareExchangeError, Pinned};
use latchless::{BoxedIndex, TryInsertError};
use std::collections::BTreeMap;

#[test]
fn every_operation_against_the_model() {
    let census = Census::new();
    let index = BoxedIndex::<u32, Counted>::new().unwrap();
    let (mut model, mut rng) = (BTreeMap::new(), Rng(1));
    for version in 0..scaled(20_000) as u64 {
        let (pin, key) = (index.pin(), rng.below(500));
        let at = key as u32;
        let value = |value: &Counted| {
            assert!(value.is_whole());
            value.version
        };
        let entry = |entry: Option<(u32, &Counted)>| entry.map(|(key, found)| (u64::from(key), value(found)));
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
                let range = index.range(at.., &pin).map(|(_, found)| value(found));
                assert!(range.eq(model.range(key..).map(|(_, &version)| version)));
                assert_eq!(index.count(at..), model.range(key..).count());
            }
            10 => {
                let keys: Vec<u32> = (0..150).map(|_| rng.below(500) as u32).collect();
                let mut answers = vec![None; keys.len()];
                index.get_many(&keys, &mut answers, &pin).unwrap();
                let expected = keys.iter().map(|&key| model.get(&u64::from(key)).copied());
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
type Index = BoxedIndex<u64, String>;

/// An index, its model, and the random source of operations.
struct Trial {
    index: Index,
    model: Model,
    rng: Rng,
}

impl Trial {
    /// The range of keys: near each other, so that operations collide.
    const KEYS: u64 = 300;

    fn value(&mut self) -> String {
        "v".repeat(self.rng.below(40) as usize) + &self.rng.below(1000).to_string()
    }

    /// Operations on one key that compute or compare.
    fn one_key(&mut self, pin: &Pinned) {
        let (key, value) = (self.rng.below(Self::KEYS), self.value());
        let (index, model) = (&self.index, &mut self.model);
        let before = model.get(&key).cloned();
        let seen = index.get(key, pin);
        assert_eq!(seen, before.as_ref());
        match self.rng.below(10) {
            0 => {
                let longer = |old: Option<&String>| old.map_or(value.clone(), |old| old.clone() + "+");
                assert_eq!(index.upsert(key, longer, pin).unwrap(), before.as_ref());
                model.insert(key, longer(before.as_ref()));
            }
            1 => {
                let shorter = |old: Option<&String>| match old {
                    Some(old) if old.len() > 5 => Some(old[1..].to_owned()),
                    Some(_) => None,
                    None => value.len().is_multiple_of(2).then(|| value.clone()),
                };
                assert_eq!(index.compute(key, shorter, pin).unwrap(), before.as_ref());
                match shorter(before.as_ref()) {
                    Some(after) => drop(model.insert(key, after)),
                    None => drop(model.remove(&key)),
                }
            }
            2 => {
                let removed = index.remove_if(key, |value| value.len().is_multiple_of(3), pin);
                let expected = before.filter(|value| value.len().is_multiple_of(3));
                assert_eq!(removed, expected.as_ref());
                expected.inspect(|_| drop(model.remove(&key)));
            }
            3 => match index.try_insert(key, value.clone(), pin) {
                Ok(()) => assert_eq!(model.insert(key, value), None),
                Err(TryInsertError::Present { present, .. }) => assert_eq!(Some(present), before.as_ref()),
                Err(TryInsertError::Refused { error, .. }) => panic!("{error}"),
            },
            4 => {
                assert_eq!(index.replace(key, value.clone(), pin).unwrap(), before.as_ref());
                model.entry(key).and_modify(|old| *old = value);
            }
            5 => {
                let outcome = index.compare_remove(key, seen.unwrap_or(&value), pin);
                assert_eq!(outcome, seen.ok_or(None));
                model.remove(&key);
            }
            6 => {
                let outcome = index.compare_exchange(key, seen.unwrap_or(&value), value.clone(), pin);
                assert_eq!(outcome, seen.ok_or(CompareExchangeError::Other(None)));
                model.entry(key).and_modify(|old| *old = value.clone());
            }
            7 => {
                let there = index.get_or_insert(key, value.clone(), pin).unwrap();
                assert_eq!(there, &*model.entry(key).or_insert(value));
            }
            8 => {
                assert_eq!(index.update(key, |old| old.clone() + "!", pin).unwrap(), before.as_ref());
                model.entry(key).and_modify(|old| old.push('!'));
            }
            _ => assert_eq!(index.remove(key, pin), model.remove(&key).as_ref()),
        }
    }

    fn ordered(&mut self, pin: &Pinned) {
        let key = self.rng.below(Self::KEYS);
        let (index, model) = (&self.index, &mut self.model);
        let below = |key| model.range(..key).next_back();
        assert_eq!(index.lower(key, pin), below(key).map(|(&key, value)| (key, value)));
        let above = model.range(key + 1..).next();
        assert_eq!(index.higher(key, pin), above.map(|(&key, value)| (key, value)));
        let mut cursor = index.cursor(pin);
        assert_eq!(cursor.seek(key).map(|(key, _)| key), model.range(key..).next().map(|(&key, _)| key));
        assert_eq!(cursor.prev(), below(key).map(|(&key, value)| (key, value)));
        assert!(index.iter(pin).eq(model.iter().map(|(&key, value)| (key, value))));
        assert!(index.iter(pin).rev().eq(model.iter().rev().map(|(&key, value)| (key, value))));
        assert!(index.keys().eq(model.keys().copied()) && index.values(pin).eq(model.values()));
        let lengths = index.fold(key.., 0, |sum, key, value| sum + key as usize * value.len());
        assert_eq!(lengths, model.range(key..).map(|(&key, value)| key as usize * value.len()).sum());
        match self.rng.below(4) {
            0 => {
                let end = key + self.rng.below(10);
                let before = model.len();
                model.retain(|&at, _| !(key..end).contains(&at));
                assert_eq!(index.remove_range(key..end).unwrap(), before - model.len());
            }
            1 => {
                let before = model.len();
                let keep = |at: u64, value: &str| at % 20 != key % 20 || value.len().is_multiple_of(2);
                model.retain(|&at, value| keep(at, value));
                assert_eq!(index.retain(|at, value| keep(at, value)), before - model.len());
            }
            2 => {
                assert_eq!(index.pop_first(pin).map(|(key, value)| (key, value.clone())), model.pop_first());
                assert_eq!(index.pop_last(pin).map(|(key, value)| (key, value.clone())), model.pop_last());
            }
            _ => assert_eq!(index.len(), model.len()),
        }
    }

    fn batch(&mut self, pin: &Pinned) {
        let len = self.rng.below(200) as usize;
        let keys: Vec<u64> = (0..len).map(|_| self.rng.below(Self::KEYS)).collect();
        let (index, model) = (&self.index, &mut self.model);
        let expected: Vec<_> = keys.iter().map(|key| model.get(key).cloned()).collect();
        assert!(index.get_all(&keys, pin).into_iter().map(|value| value.cloned()).eq(expected));
        let mut answers = vec![None; len];
        if self.rng.below(2) == 0 {
            let entries: Vec<(u64, String)> =
                keys.iter().map(|&key| (key, format!("{key} of {len}"))).collect();
            index.insert_many(entries.clone(), &mut answers, pin).unwrap();
            let expected = entries.into_iter().map(|(key, value)| model.insert(key, value));
            assert!(answers.into_iter().map(|value| value.cloned()).eq(expected));
        } else {
            index.remove_many(&keys, &mut answers, pin).unwrap();
            let expected = keys.iter().map(|key| model.remove(key));
            assert!(answers.into_iter().map(|value| value.cloned()).eq(expected));
        }
    }

    /// Moves the entries to a new index.
    fn move_house(&mut self) {
        self.index = match self.rng.below(4) {
            0 => core::mem::take(&mut self.index).into_iter().rev().collect(),
            1 => {
                self.index.reset();
                self.index.bulk_load(self.model.clone(), latchless::FillFactor::new(0.7).unwrap()).unwrap();
                return;
            }
            2 => {
                self.index.clear();
                self.index.try_extend(self.model.clone()).unwrap();
                return;
            }
            _ => BoxedIndex::from_sorted(self.model.clone(), latchless::FillFactor::FULL).unwrap(),
        };
    }
}

#[test]
fn every_operation_on_strings_against_the_model() {
    let mut trial = Trial { index: Index::new().unwrap(), model: Model::new(), rng: Rng(3) };
    for step in 0..scaled(10_000) {
        let pin = Pinned::new();
        let (key, value) = (trial.rng.below(Trial::KEYS), trial.value());
        assert_eq!(
            trial.index.insert(key, value.clone(), &pin).unwrap(),
            trial.model.insert(key, value).as_ref()
        );
        match step % 16 {
            3 => trial.ordered(&pin),
            9 if step % 5 == 0 => trial.batch(&pin),
            15 if step % 100 == 15 => trial.move_house(),
            14 => {
                let key = trial.rng.below(Trial::KEYS);
                assert_eq!(trial.index.take(key), trial.model.remove(&key));
            }
            _ => trial.one_key(&pin),
        }
        assert_eq!(trial.index.len(), trial.model.len());
    }
    trial.index.check_invariants().unwrap();
    assert!(trial.index.into_iter().eq(trial.model));
}
