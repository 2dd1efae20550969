//! Histories of requests and answers with their times, and the check whether they are linearizable.

use crate::subject::Subject;
use std::collections::{BTreeMap, BTreeSet};

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    Get(u64),
    Floor(u64),
    Put(u64, u64),
    Replace(u64, u64),
    Remove(u64),
    /// Both ends are inclusive. The keys lie in one leaf: larger ranges aren't removed in one step.
    RemoveRange(u64, u64),
    /// Both ends are inclusive. Leaf by leaf: each key is a separate request.
    Scan(u64, u64),
    /// A batch: each key is a separate request.
    GetMany(&'static [u64]),
    /// A batch of floors.
    FloorMany(&'static [u64]),
    /// The nearest entry on either side; of two equally far ones the lower one.
    Nearest(u64),
    /// A batch of nearest entries.
    NearestMany(&'static [u64]),
    PopLast,
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    Value(Option<u64>),
    Entry(Option<(u64, u64)>),
    Count(usize),
}

/// One request of one moment, between `begin` and `end`.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    pub ask: Ask,
    pub told: Told,
    pub begin: usize,
    pub end: usize,
}

impl Ask {
    /// Returns the keys that it names.
    pub fn keys(self) -> Vec<u64> {
        match self {
            Self::Get(key)
            | Self::Floor(key)
            | Self::Nearest(key)
            | Self::Put(key, _)
            | Self::Replace(key, _)
            | Self::Remove(key) => {
                vec![key]
            }
            Self::RemoveRange(low, high) | Self::Scan(low, high) => vec![low, high],
            Self::GetMany(keys) | Self::FloorMany(keys) | Self::NearestMany(keys) => keys.to_vec(),
            Self::PopLast => Vec::new(),
        }
    }

    /// Runs the request, and returns its parts that are each of one moment. `keys` are all that may be
    /// present.
    pub fn of(self, index: &impl Subject, keys: &BTreeSet<u64>) -> Vec<(Self, Told)> {
        let told = match self {
            Self::Get(key) => Told::Value(index.get(key)),
            Self::Floor(key) => Told::Entry(index.floor(key)),
            Self::Nearest(key) => Told::Entry(index.nearest(key)),
            Self::PopLast => Told::Entry(index.pop_last()),
            Self::Put(key, value) => Told::Value(index.insert(key, value)),
            Self::Replace(key, value) => Told::Value(index.replace(key, value)),
            Self::Remove(key) => Told::Value(index.remove(key)),
            Self::RemoveRange(low, high) => Told::Count(index.remove_range(low, high)),
            Self::Scan(low, high) => {
                let found = index.range(low, high);
                assert!(found.is_sorted_by(|a, b| a.0 < b.0), "{found:?}");
                let found: BTreeMap<_, _> = found.into_iter().collect();
                let inside = |key: &u64| (low..=high).contains(key) && keys.contains(key);
                assert!(found.keys().all(inside), "{found:?}");
                let of = |&key: &u64| (Self::Get(key), Told::Value(found.get(&key).copied()));
                return keys.range(low..=high).map(of).collect();
            }
            Self::GetMany(keys) => {
                return keys
                    .iter()
                    .zip(index.get_two_together(keys))
                    .map(|(&key, found)| (Self::Get(key), Told::Value(found)))
                    .collect();
            }
            Self::FloorMany(keys) => {
                let floors = keys.iter().zip(index.floors_together(keys));
                return floors.map(|(&key, found)| (Self::Floor(key), Told::Entry(found))).collect();
            }
            Self::NearestMany(keys) => {
                let nearest = keys.iter().zip(index.nearest_together(keys));
                return nearest.map(|(&key, found)| (Self::Nearest(key), Told::Entry(found))).collect();
            }
        };
        vec![(self, told)]
    }

    /// Returns the answer without other threads.
    fn of_model(self, model: &mut BTreeMap<u64, u64>) -> Told {
        match self {
            Self::Get(key) => Told::Value(model.get(&key).copied()),
            Self::Floor(key) => {
                Told::Entry(model.range(..=key).next_back().map(|(&key, &value)| (key, value)))
            }
            Self::Nearest(key) => {
                // Of equal ones the first, and entries are in order.
                let nearest = model.iter().min_by_key(|&(&other, _)| other.abs_diff(key));
                Told::Entry(nearest.map(|(&key, &value)| (key, value)))
            }
            Self::PopLast => Told::Entry(model.pop_last()),
            Self::Put(key, value) => Told::Value(model.insert(key, value)),
            Self::Replace(key, value) => {
                Told::Value(model.get_mut(&key).map(|own| std::mem::replace(own, value)))
            }
            Self::Remove(key) => Told::Value(model.remove(&key)),
            Self::RemoveRange(low, high) => {
                let before = model.len();
                model.retain(|&key, _| key < low || key > high);
                Told::Count(before - model.len())
            }
            Self::Scan(..) | Self::GetMany(_) | Self::FloorMany(_) | Self::NearestMany(_) => {
                unreachable!("these are several questions")
            }
        }
    }

    fn only_looks(self) -> bool {
        matches!(self, Self::Get(_) | Self::Floor(_) | Self::Nearest(_))
    }
}

/// Returns whether the events could have happened one after the other, from `model` to `end`, so that none
/// follows one that began after it had ended.
pub fn is_linearizable(model: &BTreeMap<u64, u64>, events: &[Event], end: &BTreeMap<u64, u64>) -> bool {
    let Some(first_end) = events.iter().map(|event| event.end).min() else { return model == end };
    let may_be_first = |event: &Event| event.begin <= first_end;
    let without = |at: usize| {
        let mut left = events.to_vec();
        left.swap_remove(at);
        left
    };
    let told_now = |event: &Event| {
        let mut model = model.clone();
        (event.ask.of_model(&mut model) == event.told).then_some(model)
    };
    // A read whose answer is right now might as well have happened now.
    let looks = |event: &Event| event.ask.only_looks() && may_be_first(event) && told_now(event).is_some();
    if let Some(at) = events.iter().position(looks) {
        return is_linearizable(model, &without(at), end);
    }
    events
        .iter()
        .enumerate()
        .filter(|(_, event)| may_be_first(event) && !event.ask.only_looks())
        .any(|(at, event)| told_now(event).is_some_and(|model| is_linearizable(&model, &without(at), end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(ask: Ask, told: Option<u64>, begin: usize, end: usize) -> Event {
        Event { ask, told: Told::Value(told), begin, end }
    }

    #[test]
    fn what_nobody_could_be_told_one_after_the_other_is_found_out() {
        let (start, end) = (BTreeMap::from([(1, 1), (2, 2)]), BTreeMap::from([(1, 1), (2, 9)]));
        let put = event(Ask::Put(2, 9), Some(2), 0, 5);
        for (looks, fine) in [
            (vec![event(Ask::Get(2), Some(2), 1, 2), event(Ask::Get(2), Some(9), 3, 4)], true),
            (vec![event(Ask::Get(2), Some(9), 1, 2), event(Ask::Get(2), Some(2), 3, 4)], false),
            (vec![event(Ask::Get(2), Some(2), 6, 7)], false),
            (vec![event(Ask::Get(2), None, 1, 7)], false),
            (vec![event(Ask::Get(1), Some(1), 1, 2), event(Ask::Get(3), None, 3, 9)], true),
        ] {
            let events: Vec<_> = looks.into_iter().chain([put]).collect();
            assert_eq!(is_linearizable(&start, &events, &end), fine, "{events:?}");
        }
        assert!(!is_linearizable(&start, &[put], &start), "what was put in is there at the end");
    }
}
