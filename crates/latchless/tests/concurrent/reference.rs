//! A map under one lock: slow, and correct. The tests are validated with it.

use crate::history::{Edit, Model, Op};
use crate::subject::{Subject, updates_are_shared};
use latchless::{Direction, Error, FillFactor, Result};
use latchless_core::base::error::Broken;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::index::{
    ConcurrentIndex, Scanner, Span, check_buffers, check_side_by_side, check_span,
};
use std::collections::BTreeMap;
use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// `BTreeMap` in an `RwLock`.
#[derive(Default)]
pub struct Reference {
    map: RwLock<BTreeMap<u64, u64>>,
}

impl Reference {
    pub fn read(&self) -> RwLockReadGuard<'_, BTreeMap<u64, u64>> {
        self.map.read().expect("no test panics with the lock held")
    }

    pub fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<u64, u64>> {
        self.map.write().expect("no test panics with the lock held")
    }
}

/// Returns a range that `BTreeMap` accepts: it panics on one that excludes a key twice, which is empty.
fn in_order(span: Span<u64>) -> Option<Span<u64>> {
    match span {
        (Excluded(low), Excluded(high)) if low == high => None,
        _ => Some(span),
    }
}

impl OrderedIndex<u64, u64> for Reference {
    fn len(&self) -> usize {
        self.read().len()
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.read().get(&key).copied()
    }

    fn page(
        &self,
        span: Span<u64>,
        direction: Direction,
        keys: &mut [u64],
        values: &mut [u64],
    ) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        self.scanner(span, direction)?.fill(keys, values)
    }

    fn scanner<'a>(
        &'a self,
        span: Span<u64>,
        direction: Direction,
    ) -> Result<Box<dyn Scanner<u64, u64> + 'a>> {
        check_span(&span)?;
        Ok(Box::new(Paused { reference: self, left: in_order(span), direction }))
    }

    fn count(&self, span: Span<u64>) -> Result<usize> {
        check_span(&span)?;
        Ok(in_order(span).map_or(0, |span| self.read().range(span).count()))
    }

    fn bulk_load(&mut self, entries: &[(u64, u64)], _: FillFactor) -> Result<()> {
        let len = self.len();
        if len > 0 {
            return Err(Error::NotEmpty { len });
        }
        self.write().extend(entries.iter().copied());
        Ok(())
    }

    fn memory_bytes(&self) -> Option<usize> {
        None
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        Ok(())
    }

    updates_are_shared!();
}

impl ConcurrentIndex<u64, u64> for Reference {
    fn insert_shared(&self, key: u64, value: u64) -> Result<Option<u64>> {
        Ok(self.write().insert(key, value))
    }

    fn remove_shared(&self, key: u64) -> Option<u64> {
        self.write().remove(&key)
    }
}

impl Subject for Reference {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        self
    }

    fn offers(&self, _: Edit) -> bool {
        true
    }

    fn edit(&self, key: u64, edit: Edit) -> Option<u64> {
        let mut map = self.write();
        let before = map.get(&key).copied();
        match Op::Edit(edit).after(before) {
            Some(value) => map.insert(key, value),
            None => map.remove(&key),
        };
        before
    }

    fn nearest(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        let map = self.read();
        let found = match direction {
            Direction::Forward => map.range(key..).next(),
            Direction::Reverse => map.range(..=key).next_back(),
        };
        found.map(|(&key, &value)| (key, value))
    }

    fn pop(&self, direction: Direction) -> Option<(u64, u64)> {
        let mut map = self.write();
        if direction == Direction::Forward { map.pop_first() } else { map.pop_last() }
    }

    fn live_bytes(&self) -> Option<usize> {
        Some(self.len() * size_of::<(u64, u64)>())
    }
}

/// A scan that is paused between two keys; the lock is held while a buffer is filled.
struct Paused<'a> {
    reference: &'a Reference,
    left: Option<Span<u64>>,
    direction: Direction,
}

impl Paused<'_> {
    fn next_entries(&mut self, most: usize) -> Vec<(u64, u64)> {
        let Some(span) = self.left else { return Vec::new() };
        let map = self.reference.read();
        let entries = map.range(span).map(|(&key, &value)| (key, value));
        let found: Vec<(u64, u64)> = match self.direction {
            Direction::Forward => entries.take(most).collect(),
            Direction::Reverse => entries.rev().take(most).collect(),
        };
        self.left = found.last().and_then(|&(key, _)| match self.direction {
            Direction::Forward => in_order((Excluded(key), span.1)).filter(|&span| holds_any(span)),
            Direction::Reverse => in_order((span.0, Excluded(key))).filter(|&span| holds_any(span)),
        });
        found
    }
}

/// Returns whether a range that was shortened is still valid.
fn holds_any(span: Span<u64>) -> bool {
    let end = |bound: Bound<u64>| match bound {
        Included(key) | Excluded(key) => Some(key),
        Unbounded => None,
    };
    match (end(span.0), end(span.1)) {
        (Some(low), Some(high)) => low < high,
        _ => true,
    }
}

impl Scanner<u64, u64> for Paused<'_> {
    fn fill(&mut self, keys: &mut [u64], values: &mut [u64]) -> Result<usize> {
        check_side_by_side(keys.len(), values.len())?;
        check_buffers(keys.len(), values.len())?;
        let found = self.next_entries(keys.len());
        for (at, &entry) in found.iter().enumerate() {
            (keys[at], values[at]) = entry;
        }
        Ok(found.len())
    }

    fn fill_values(&mut self, values: &mut [u64]) -> Result<usize> {
        let mut keys = vec![0; values.len()];
        self.fill(&mut keys, values)
    }
}
