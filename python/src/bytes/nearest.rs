//! The neighbours of many keys, and the nearest entries of those that are tuples.

use super::composite::TupleType;
use super::engine::BytesEngine;
use super::value::Value;
use crate::lookups::Near;
use latchless::Result;
use latchless::index::Own;

/// An entry, if there is one.
pub type Neighbour<V> = Option<(<V as Value>::Key, V)>;

impl<V: Value> BytesEngine<V> {
    /// The neighbours of keys.
    pub fn beside(&self, near: Near, keys: &[&[u8]]) -> Result<Vec<Neighbour<V>>> {
        let (index, mut entries) = (&self.index, Vec::new());
        entries.resize_with(keys.len(), || None);
        match near {
            Near::Floor => index.floor_many(keys, &mut entries),
            Near::Ceiling => index.ceiling_many(keys, &mut entries),
            Near::Lower => index.lower_many(keys, &mut entries),
            Near::Higher => index.higher_many(keys, &mut entries),
        }?;
        Ok(entries)
    }

    /// The nearest entries of keys, on either side, among those that differ in the last part alone.
    pub fn nearest_in(&self, group: &TupleType, own: Own, keys: &[&[u8]]) -> Result<Vec<Neighbour<V>>> {
        let (below, above) = match own {
            Own::Counts => (Near::Floor, Near::Ceiling),
            Own::IsPassed => (Near::Lower, Near::Higher),
        };
        let key = |entry: &Neighbour<V>| entry.as_ref().map(|(key, _)| key.as_ref().to_vec());
        let mut nearest = self.beside(below, keys)?;
        let (mut left, mut before): (Vec<usize>, Vec<_>) =
            ((0..keys.len()).collect(), nearest.iter().map(key).collect());
        while !left.is_empty() {
            let asked: Vec<_> = left.iter().map(|&at| keys[at]).collect();
            let (after, again) = (self.beside(above, &asked)?, self.beside(below, &asked)?);
            let mut rest = Vec::new();
            for ((at, after), again) in left.into_iter().zip(after).zip(again) {
                // Where another thread has changed what is before a key, the two sides weren't there together.
                let now = key(&again);
                if now != before[at] {
                    before[at] = now;
                    rest.push(at);
                }
                let far = |entry: &Neighbour<V>| {
                    entry.as_ref().and_then(|(its, _)| group.distance(keys[at], its.as_ref()))
                };
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
}
