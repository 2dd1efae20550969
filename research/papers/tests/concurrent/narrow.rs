//! An index of 32-bit lanes under keys and values of 64 bits, which tests keep below 2^32.

use crate::subject::updates_are_shared;
use latchless::{Direction, FillFactor, Result};
use latchless_core::base::error::Broken;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::index::{ConcurrentIndex, Scanner, Span};

pub struct Narrow<I>(pub I);

fn lane(wide: u64) -> u32 {
    u32::try_from(wide).expect("tests use small numbers")
}

fn narrow_span(span: Span<u64>) -> Span<u32> {
    (span.0.map(lane), span.1.map(lane))
}

impl<I: OrderedIndex<u32, u32>> OrderedIndex<u64, u64> for Narrow<I> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.0.get(lane(key)).map(u64::from)
    }

    fn page(
        &self,
        span: Span<u64>,
        direction: Direction,
        keys: &mut [u64],
        values: &mut [u64],
    ) -> Result<usize> {
        self.scanner(span, direction)?.fill(keys, values)
    }

    fn scanner<'a>(
        &'a self,
        span: Span<u64>,
        direction: Direction,
    ) -> Result<Box<dyn Scanner<u64, u64> + 'a>> {
        Ok(Box::new(Widened(self.0.scanner(narrow_span(span), direction)?)))
    }

    fn count(&self, span: Span<u64>) -> Result<usize> {
        self.0.count(narrow_span(span))
    }

    fn bulk_load(&mut self, entries: &[(u64, u64)], fill: FillFactor) -> Result<()> {
        let entries: Vec<(u32, u32)> = entries.iter().map(|&(key, value)| (lane(key), lane(value))).collect();
        self.0.bulk_load(&entries, fill)
    }

    fn memory_bytes(&self) -> Option<usize> {
        self.0.memory_bytes()
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        self.0.check_invariants()
    }

    updates_are_shared!();
}

impl<I: OrderedIndex<u32, u32>> Narrow<I> {
    fn shared(&self) -> &dyn ConcurrentIndex<u32, u32> {
        self.0.as_concurrent().expect("a subject takes updates from many threads")
    }
}

impl<I: OrderedIndex<u32, u32>> ConcurrentIndex<u64, u64> for Narrow<I> {
    fn insert_shared(&self, key: u64, value: u64) -> Result<Option<u64>> {
        Ok(self.shared().insert_shared(lane(key), lane(value))?.map(u64::from))
    }

    fn remove_shared(&self, key: u64) -> Option<u64> {
        self.shared().remove_shared(lane(key)).map(u64::from)
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
