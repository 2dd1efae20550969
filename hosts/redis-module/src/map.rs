//! A map from fields to values, both byte strings, in the order of the fields. Any number of threads may
//! read it while one changes it.

use crate::charge::Charge;
use latchless::{Error, Index};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A field and its value.
pub type Entry = (Vec<u8>, Vec<u8>);

/// Where a range of fields begins and ends.
pub type Range = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// A selection of entries.
pub enum Wanted {
    Range(Range),
    Prefix(Vec<u8>),
}

/// A map. See the file's head.
pub struct Map {
    entries: Index<Vec<u8>, Arc<[u8]>>,
    /// Bytes of all values.
    values: AtomicUsize,
    /// The share of both in Redis's accounting.
    charge: Charge,
}

impl Map {
    pub fn new() -> Result<Self, Error> {
        Ok(Self { entries: Index::new()?, values: AtomicUsize::new(0), charge: Charge::default() })
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes that the map takes.
    pub fn bytes(&self) -> usize {
        self.entries.memory_bytes() + self.values.load(Ordering::Relaxed)
    }

    /// Whether the field is a new one.
    pub fn set(&self, field: &[u8], value: &[u8]) -> Result<bool, Error> {
        let before = self.entries.insert(field, value.into())?;
        self.values.fetch_add(value.len(), Ordering::Relaxed);
        if let Some(before) = &before {
            self.forget(before);
        }
        self.charge.set(self.bytes());
        Ok(before.is_none())
    }

    pub fn get(&self, field: &[u8]) -> Option<Vec<u8>> {
        self.entries.get_with(field, |value| value.to_vec())
    }

    /// Whether the field was there.
    pub fn remove(&self, field: &[u8]) -> bool {
        let removed = self.entries.remove(field).inspect(|value| self.forget(value)).is_some();
        self.charge.set(self.bytes());
        removed
    }

    fn forget(&self, value: &[u8]) {
        self.values.fetch_sub(value.len(), Ordering::Relaxed);
    }

    /// The entry of a field, or else the last one before it.
    pub fn floor(&self, field: &[u8]) -> Option<Entry> {
        self.entries.floor(field).map(|(field, value)| (field, value.to_vec()))
    }

    /// The entry of a field, or else the first one after it.
    pub fn ceiling(&self, field: &[u8]) -> Option<Entry> {
        self.entries.ceiling(field).map(|(field, value)| (field, value.to_vec()))
    }

    /// The first of the wanted entries, or from the back the last ones.
    pub fn entries(&self, wanted: &Wanted, backward: bool, limit: usize) -> Vec<Entry> {
        let entries = match wanted {
            Wanted::Range(range) => self.entries.range(borrowed(range)),
            Wanted::Prefix(prefix) => self.entries.prefix(prefix),
        };
        let entries = entries.map(|(field, value)| (field, value.to_vec()));
        if backward { entries.rev().take(limit).collect() } else { entries.take(limit).collect() }
    }

    /// How many fields a range has.
    pub fn count(&self, range: &Range) -> usize {
        self.entries.count(borrowed(range))
    }

    /// Removes the fields of a range, and returns how many they were.
    pub fn remove_range(&self, range: &Range) -> usize {
        self.entries.range(borrowed(range)).filter(|(field, _)| self.remove(field)).count()
    }

    /// Shows all entries in order.
    pub fn each(&self, mut see: impl FnMut(&[u8], &[u8])) {
        self.entries.iter().for_each(|(field, value)| see(&field, &value));
    }
}

fn borrowed((begin, end): &Range) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (begin.as_ref().map(Vec::as_slice), end.as_ref().map(Vec::as_slice))
}
