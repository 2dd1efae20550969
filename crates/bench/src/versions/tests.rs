//! All subjects beside a model, and a subject that answers wrongly.

use super::keys::{Key, Keys, Set};
use super::life::{Contestant, Life};
use super::step::Step;
use super::subject::{Batch, Digest, Form, RANGE, Subject};
use super::{Args, Contestants, all, rounds};
use crate::rounds::Rounds;
use latchless::Result;
use latchless_terminal::output::Format;
use latchless_workload::BytesKeySet;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The versions, as a storage engine sorts them.
type Versions<K> = BTreeMap<(K, Reverse<u64>), u64>;

/// A sorted map of all versions. One that errs finds the newest version at every number.
struct Model<K, const ERRS: bool> {
    /// The newest number, and the versions.
    state: Mutex<(u64, Versions<K>)>,
}

impl<K: Key, const ERRS: bool> Model<K, ERRS> {
    fn insert_as(&self, entries: &[(&K, u64)]) {
        let mut state = self.state.lock().unwrap();
        state.0 += 1;
        let number = state.0;
        state.1.extend(entries.iter().map(|&(key, value)| ((key.clone(), Reverse(number)), value)));
    }

    fn seen(&self, low: &K, number: u64, most: usize) -> Vec<(K, u64)> {
        let number = if ERRS { u64::MAX } else { number };
        let (mut seen, state) = (Vec::<(K, u64)>::new(), self.state.lock().unwrap());
        for ((key, written), &value) in state.1.range((low.clone(), Reverse(u64::MAX))..) {
            if seen.len() == most && seen.last().is_none_or(|(last, _)| last != key) {
                break;
            }
            if written.0 <= number && seen.last().is_none_or(|(last, _)| last != key) {
                seen.push((key.clone(), value));
            }
        }
        seen
    }
}

impl<K: Key, const ERRS: bool> Subject<K> for Model<K, ERRS> {
    const NAME: &'static str = "model";
    type Moment = u64;

    fn create() -> Result<Self> {
        Ok(Self { state: Mutex::new((0, BTreeMap::new())) })
    }

    fn insert(&self, key: &K, value: u64) -> Result<()> {
        self.insert_as(&[(key, value)]);
        Ok(())
    }

    fn insert_together(&self, entries: &[(&K, u64)]) -> Result<bool> {
        self.insert_as(entries);
        Ok(true)
    }

    fn overwrite(&self, key: &K, value: u64) -> Result<bool> {
        self.state.lock().unwrap().1.retain(|(own, _), _| own != key);
        self.insert_as(&[(key, value)]);
        Ok(true)
    }

    fn moment(&self) -> Option<u64> {
        Some(self.state.lock().unwrap().0)
    }

    fn prune(&self, &oldest: &u64) -> Result<Option<usize>> {
        let (versions, mut seen) = (&mut self.state.lock().unwrap().1, None);
        let before = versions.len();
        versions.retain(|(key, number), _| {
            let is_needed = seen.as_ref() != Some(key);
            if number.0 <= oldest {
                seen = Some(key.clone());
            }
            is_needed
        });
        Ok(Some(before - versions.len()))
    }

    fn get(&self, key: &K) -> Option<u64> {
        self.get_at(key, &u64::MAX)
    }

    fn get_at(&self, key: &K, &moment: &u64) -> Option<u64> {
        self.seen(key, moment, 1).into_iter().find(|(own, _)| own == key).map(|(_, value)| value)
    }

    fn get_many(&self, batch: &Batch<'_, '_, K>, moment: Option<&u64>, digest: &mut Digest) -> Result<()> {
        batch.keys.iter().for_each(|key| digest.add(self.get_at(key, moment.unwrap_or(&u64::MAX))));
        Ok(())
    }

    fn range(&self, low: &K, moment: Option<&u64>, _: Form, digest: &mut Digest) {
        let seen = self.seen(low, *moment.unwrap_or(&u64::MAX), RANGE);
        seen.into_iter().for_each(|(_, value)| digest.add(Some(value)));
    }
}

fn args() -> Args {
    Args {
        records: 1000,
        keys: Set::Random,
        race: Rounds { rounds: 1, format: Format::Csv, markdown: false },
    }
}

fn has_all_steps<K: Key>(keys: &Keys<K>, mut subjects: Contestants<K>) {
    subjects.push(Box::new(Life::<K, Model<K, false>>::new()));
    let medians = rounds(&args(), keys, &mut subjects).unwrap();
    let rows = medians.rows().to_markdown();
    assert_eq!(rows.lines().count(), 2 + Step::ALL.len() + 2, "{rows}");
}

#[test]
fn all_subjects_answer_as_a_model_does() {
    has_all_steps(&Keys::numbers(1000, false).unwrap(), all());
    has_all_steps(&Keys::numbers(1000, true).unwrap(), all());
    has_all_steps(&Keys::bytes(1000, BytesKeySet::Url).unwrap(), all());
    has_all_steps(&Keys::bytes(1000, BytesKeySet::Nested).unwrap(), all());
}

#[test]
fn a_wrong_answer_ends_the_run() {
    let keys = Keys::numbers(1000, false).unwrap();
    let wrong: Box<dyn Contestant<u64>> = Box::new(Life::<u64, Model<u64, true>>::new());
    let mut subjects = all();
    subjects.push(wrong);
    let error = rounds(&args(), &keys, &mut subjects).err().expect("unequal answers").to_string();
    assert!(error.contains("model give unequal answers: get at a number, an older one"), "{error}");
}
