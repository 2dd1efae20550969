//! The neighbours of many keys, and their nearest entries.

use super::engine::BytesEngine;
use super::key_type::KeyType;
use super::strings::Strings;
use super::value::{Found, Value};
use crate::batch::{self, CHUNK};
use crate::failure;
use crate::lookups::{Near, Sides};
use crate::map::{Nearest, Object};
use latchless::bytes::MultiIndex;
use latchless::index::Own;
use latchless::{IndexValue, Result};
use pyo3::prelude::*;
use std::iter::repeat_with;
use std::ops::Range;

/// An entry, if there is one.
type Neighbour<I> = Option<(<I as Beside>::Key, <I as Beside>::Value)>;

/// A key and a row, if there are any.
type Pair = Option<(Vec<u8>, u64)>;

/// An index with neighbours.
pub trait Beside: Sync {
    /// Its keys.
    type Key: AsRef<[u8]>;
    /// Its values, or rows.
    type Value: Value;

    /// The neighbours of keys.
    fn beside(&self, near: Near, keys: &[&[u8]]) -> Result<Vec<Neighbour<Self>>>
    where
        Self: Sized;
    /// The nearest entries of keys, on either side; of two that are equally near those before.
    fn nearest(&self, of: &KeyType, own: Own, keys: &[&[u8]]) -> Result<Vec<Neighbour<Self>>>
    where
        Self: Sized;
}

impl<V: Value> Beside for BytesEngine<V> {
    type Key = V::Key;
    type Value = V;

    fn beside(&self, near: Near, keys: &[&[u8]]) -> Result<Vec<Neighbour<Self>>> {
        let (index, mut entries) = (self.index(), Vec::new());
        entries.resize_with(keys.len(), || None);
        match near {
            Near::Floor => index.floor_many(keys, &mut entries),
            Near::Ceiling => index.ceiling_many(keys, &mut entries),
            Near::Lower => index.lower_many(keys, &mut entries),
            Near::Higher => index.higher_many(keys, &mut entries),
        }?;
        Ok(entries)
    }

    fn nearest(&self, of: &KeyType, own: Own, keys: &[&[u8]]) -> Result<Vec<Neighbour<Self>>> {
        // What isn't measured is farther than all that is: the neighbours of another group.
        let distance = |one: &[u8], other: &[u8]| {
            let far = of.distance(one, other);
            (far.is_none(), far)
        };
        let (mut found_keys, mut values) =
            (vec![V::Key::default(); keys.len()], vec![V::default(); keys.len()]);
        let mut found = vec![false; keys.len()];
        let columns = (&mut found_keys[..], &mut values[..], &mut found[..]);
        self.index().nearest_columns_by(keys, (own, distance), columns)?;
        let entries = found_keys.into_iter().zip(values).zip(found);
        Ok(entries.map(|(entry, found)| found.then_some(entry)).collect())
    }
}

impl Beside for MultiIndex<Vec<u8>> {
    type Key = Vec<u8>;
    type Value = u64;

    fn beside(&self, near: Near, keys: &[&[u8]]) -> Result<Vec<Neighbour<Self>>> {
        Ok(keys.iter().map(|key| pair_beside(self, near, key)).collect())
    }

    fn nearest(&self, of: &KeyType, own: Own, keys: &[&[u8]]) -> Result<Vec<Pair>> {
        nearest_pairs(self, of, own, keys)
    }
}

/// The neighbour of a key: of those before it the last row, of those after it the first one.
pub fn pair_beside(index: &MultiIndex<Vec<u8>>, near: Near, key: &[u8]) -> Option<(Vec<u8>, u64)> {
    match near {
        Near::Floor => index.floor(key),
        Near::Ceiling => index.ceiling(key),
        Near::Lower => index.lower(key),
        Near::Higher => index.higher(key),
    }
}

/// Neighbours that one thread has found.
struct Answers<V: Value> {
    keys: Strings,
    rest: Found<V>,
}

/// The nearest entries of a batch: their keys, their values, and whether there are any.
pub fn near_many<'py, I: Beside>(
    index: &I,
    (of, keys): (&KeyType, &Object<'py>),
    asked: Nearest<'_>,
    missing: &Object<'py>,
) -> PyResult<(Object<'py>, Vec<Found<I::Value>>)> {
    let (strings, sides) = (of.batch(keys)?, asked.sides()?);
    let measures = matches!(sides, Sides::Both(_)) || asked.farthest.is_some();
    if measures && !of.is_measured(asked.grouped) {
        return Err(of.no_distance());
    }
    // Of tuples only those count that have all parts but the last in common.
    let filters = asked.farthest.is_some() || (asked.grouped && matches!(of, KeyType::Tuples(_)));
    let look = |chunk: Range<usize>, answers: &mut Answers<I::Value>| -> Result<()> {
        let keys = strings.read(chunk);
        let mut entries = match sides {
            Sides::One(near) => index.beside(near, &keys)?,
            Sides::Both(own) => index.nearest(of, own, &keys)?,
        };
        if filters {
            let farthest = asked.farthest.unwrap_or(u64::MAX);
            for (entry, key) in entries.iter_mut().zip(&keys) {
                let is_near = |its: &[u8]| of.distance(key, its).is_some_and(|far| far <= farthest);
                entry.take_if(|(its, _)| !is_near(its.as_ref()));
            }
        }
        entries.iter().map(Option::as_ref).try_for_each(|entry| {
            answers.keys.push(entry.map_or(&[], |(key, _)| key.as_ref()))?;
            answers.rest.push(entry.map(|(_, value)| value.lend()))
        })
    };
    let cuts = batch::cuts(strings.len(), asked.threads);
    let states = repeat_with(|| Answers { keys: Strings::default(), rest: Found::default() });
    let (parts, failed) = batch::run_with(keys.py(), (&cuts, CHUNK), states, |chunk, answers| {
        look(chunk, answers).map_err(|error| failure::exception(&error))
    });
    failed.map_or(Ok(()), Err)?;
    let found = parts.iter().map(|part| (&part.state.keys, &part.state.rest.found[..]));
    let keys = of.answers(found, missing)?;
    Ok((keys, parts.into_iter().map(|part| part.state.rest).collect()))
}

/// The nearest pairs of keys. The one after a key is looked up as the next one after the one before it: at that
/// moment there was none between them.
fn nearest_pairs(index: &MultiIndex<Vec<u8>>, of: &KeyType, own: Own, keys: &[&[u8]]) -> Result<Vec<Pair>> {
    let counts = matches!(own, Own::Counts);
    let below = if counts { Near::Floor } else { Near::Lower };
    // No key that is measured is empty.
    let key = |entry: &Pair| entry.as_ref().map_or(Vec::new(), |(key, _)| key.clone());
    let mut nearest = Vec::new();
    nearest.resize_with(keys.len(), || None);
    let mut left: Vec<usize> = (0..keys.len()).collect();
    while !left.is_empty() {
        let asked: Vec<_> = left.iter().map(|&at| keys[at]).collect();
        let before: Vec<_> = index.beside(below, &asked)?.iter().map(key).collect();
        let from: Vec<&[u8]> = before.iter().map(Vec::as_slice).collect();
        let mut after = index.beside(Near::Higher, &from)?;
        for (after, asked) in
            after.iter_mut().zip(&asked).filter(|(after, asked)| !counts && key(after) == **asked)
        {
            *after = index.beside(Near::Higher, &[asked])?.pop().flatten();
        }
        let again = index.beside(below, &asked)?;
        let mut rest = Vec::new();
        for (((at, before), after), again) in left.into_iter().zip(&before).zip(after).zip(again) {
            // Another thread has changed what is before the key: the two sides weren't there together.
            if key(&again) != *before || after.as_ref().is_some_and(|(its, _)| **its <= *keys[at]) {
                rest.push(at);
                continue;
            }
            let far = |entry: &Pair| entry.as_ref().and_then(|(its, _)| of.distance(keys[at], its));
            let is_after = match (far(&again), far(&after)) {
                (Some(below), Some(above)) => above < below,
                (None, above) => above.is_some(),
                (Some(_), None) => false,
            };
            nearest[at] = if is_after { after } else { again };
        }
        left = rest;
    }
    Ok(nearest)
}
