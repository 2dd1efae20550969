//! CSSL with lanes of either width, over parts so small that they are rebuilt all the time, or in one array.

use crate::subject::{Subject, updates_are_shared};
use latchless::{Direction, FillFactor, Result};
use latchless_core::base::error::Broken;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::index::{ConcurrentIndex, Scanner, Span};
use latchless_papers::cssl::{CsslMap, Options};
use std::ops::Bound;

fn in_parts() -> Options {
    Options { part_keys: Some(24), huge_pages: false, ..Options::default() }
}

/// Stretches of two dozen keys.
pub fn parts() -> Box<dyn Subject> {
    Box::new(CsslMap::<u64, u64>::with_options(&in_parts()).expect("an empty list finds room"))
}

/// The paper's one array, p = 1/2.
pub fn whole() -> Box<dyn Subject> {
    let options = Options { part_keys: None, skip: 2, ..in_parts() };
    Box::new(CsslMap::<u64, u64>::with_options(&options).expect("an empty list finds room"))
}

/// Stretches of two dozen keys of 32 bits.
pub fn narrow() -> Box<dyn Subject> {
    Box::new(Narrow(CsslMap::with_options(&in_parts()).expect("an empty list finds room")))
}

/// In parts, with a memory limit, or with few references.
pub fn limited(bytes: Option<usize>, references: Option<u32>) -> Box<dyn Subject> {
    let options = Options { limit_bytes: bytes, node_references: references, ..in_parts() };
    Box::new(CsslMap::<u64, u64>::with_options(&options).expect("an empty list finds room"))
}

impl Subject for CsslMap<u64, u64> {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        self
    }

    fn nearest(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        match direction {
            Direction::Forward => self.range(key..).ok()?.next(),
            Direction::Reverse => self.range_reverse(..=key).ok()?.next(),
        }
    }
}

/// Lanes of 32 bits behind keys and values of 64, which tests keep below 2^32.
struct Narrow(CsslMap<u32, u32>);

fn lane(wide: u64) -> u32 {
    u32::try_from(wide).expect("tests use small numbers")
}

fn narrow_span(span: Span<u64>) -> Span<u32> {
    let bound = |bound: Bound<u64>| bound.map(lane);
    (bound(span.0), bound(span.1))
}

impl Subject for Narrow {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        self
    }
}

struct Widened<'a>(Box<dyn Scanner<u32, u32> + 'a>);

impl Scanner<u64, u64> for Widened<'_> {
    fn fill(&mut self, keys: &mut [u64], values: &mut [u64]) -> Result<usize> {
        let (mut own_keys, mut own_values) = (vec![0; keys.len()], vec![0; values.len()]);
        let filled = self.0.fill(&mut own_keys, &mut own_values)?;
        keys.iter_mut().zip(own_keys).for_each(|(to, from)| *to = from.into());
        values.iter_mut().zip(own_values).for_each(|(to, from)| *to = from.into());
        Ok(filled)
    }

    fn fill_values(&mut self, values: &mut [u64]) -> Result<usize> {
        let mut own = vec![0; values.len()];
        let filled = self.0.fill_values(&mut own)?;
        values.iter_mut().zip(own).for_each(|(to, from)| *to = from.into());
        Ok(filled)
    }
}

impl OrderedIndex<u64, u64> for Narrow {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.0.get(lane(key)).map(u64::from)
    }

    fn scan(
        &self,
        span: Span<u64>,
        direction: Direction,
        keys: &mut [u64],
        values: &mut [u64],
    ) -> Result<usize> {
        Widened(OrderedIndex::scanner(&self.0, narrow_span(span), direction)?).fill(keys, values)
    }

    fn scanner<'a>(
        &'a self,
        span: Span<u64>,
        direction: Direction,
    ) -> Result<Box<dyn Scanner<u64, u64> + 'a>> {
        Ok(Box::new(Widened(OrderedIndex::scanner(&self.0, narrow_span(span), direction)?)))
    }

    fn count(&self, span: Span<u64>) -> Result<usize> {
        self.0.count(narrow_span(span))
    }

    fn bulk_load(&mut self, entries: &[(u64, u64)], fill: FillFactor) -> Result<()> {
        let entries: Vec<(u32, u32)> = entries.iter().map(|&(key, value)| (lane(key), lane(value))).collect();
        OrderedIndex::bulk_load(&mut self.0, &entries, fill)
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.0.memory_bytes())
    }

    fn check_invariants(&self) -> std::result::Result<(), Broken> {
        self.0.check_invariants()
    }

    updates_are_shared!();
}

impl ConcurrentIndex<u64, u64> for Narrow {
    fn insert_shared(&self, key: u64, value: u64) -> Result<Option<u64>> {
        Ok(self.0.insert(lane(key), lane(value))?.map(u64::from))
    }

    fn remove_shared(&self, key: u64) -> Option<u64> {
        self.0.remove(lane(key)).map(u64::from)
    }
}
