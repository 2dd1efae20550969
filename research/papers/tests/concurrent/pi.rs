//! PI with its queue: callers submit single requests, which are served in batches.

use crate::subject::{Subject, updates_are_shared};
use latchless::{Direction, FillFactor, Result};
use latchless_core::base::error::Broken;
use latchless_core::base::index::OrderedIndex;
use latchless_core::base::index::{ConcurrentIndex, Scanner, Span};
use latchless_papers::pi::{Options, Pi, SubmissionOptions, Submissions};
use std::ops::Bound;
use std::time::Duration;

/// The most entries that a scan requests at once.
const PAGE_MAX: usize = 1 << 16;

pub struct Front(Submissions<u64, u64>);

impl Default for Front {
    /// Small segments, early rebuilds, two threads; no request waits for others, but they come while a
    /// batch is at work.
    fn default() -> Self {
        let options =
            Options { threads: 2, pin: false, segment_nodes: 8, rebuild_from: 60, ..Options::default() };
        let gathering =
            SubmissionOptions { wait: Duration::ZERO, capacity: 5, ..SubmissionOptions::default() };
        let index = Pi::with_options(&options).expect("a head finds room");
        Self(Submissions::new(index, gathering).expect("a thread is granted"))
    }
}

/// The queue is open as long as the front end exists.
const OPEN: &str = "the queue is open";

/// Converts a result of the index itself.
fn from_index<R>(told: latchless_papers::Result<R>) -> Result<R> {
    match told {
        Err(latchless_papers::Error::Index(error)) => Err(error),
        other => Ok(other.expect(OPEN)),
    }
}

impl Subject for Front {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        self
    }

    fn live_bytes(&self) -> Option<usize> {
        let bytes = self.0.with(|index| index.rebuild().map(|()| index.memory_bytes()));
        Some(bytes.expect(OPEN).expect("there is memory"))
    }
}

impl OrderedIndex<u64, u64> for Front {
    updates_are_shared!();

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.0.get(key).expect(OPEN)
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
        Ok(Box::new(Paged { front: &self.0, left: Some(span), direction }))
    }

    fn count(&self, span: Span<u64>) -> Result<usize> {
        self.0.with(move |index| index.count(span)).expect(OPEN)
    }

    fn bulk_load(&mut self, entries: &[(u64, u64)], _: FillFactor) -> Result<()> {
        let entries = entries.to_vec();
        self.0.with(move |index| index.bulk_load(&entries)).expect(OPEN)
    }

    fn memory_bytes(&self) -> Option<usize> {
        self.0.with(|index| index.memory_bytes()).ok()
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        self.0.with(|index| index.check_invariants()).expect(OPEN)
    }
}

impl ConcurrentIndex<u64, u64> for Front {
    fn insert_shared(&self, key: u64, value: u64) -> Result<Option<u64>> {
        from_index(self.0.insert(key, value))
    }

    fn remove_shared(&self, key: u64) -> Option<u64> {
        self.0.remove(key).expect(OPEN)
    }
}

/// A scan that requests each page by itself. Upwards by range queries, which come into batches.
struct Paged<'a> {
    front: &'a Submissions<u64, u64>,
    left: Option<Span<u64>>,
    direction: Direction,
}

impl Paged<'_> {
    fn page(&mut self, room: usize) -> Result<Vec<(u64, u64)>> {
        let Some(span) = self.left else { return Ok(Vec::new()) };
        let (direction, room) = (self.direction, room.min(PAGE_MAX));
        let entries = match (direction, span) {
            (Direction::Forward, (Bound::Included(low), Bound::Included(high))) if low <= high => {
                from_index(self.front.range(low, high, room))?
            }
            _ => from_index(self.front.with(move |index| -> Result<Vec<(u64, u64)>> {
                Ok(match direction {
                    Direction::Forward => index.range(span)?.take(room).collect(),
                    Direction::Reverse => index.range_reverse(span)?.take(room).collect(),
                })
            }))??,
        };
        self.left = entries.last().filter(|_| entries.len() == room).map(|&(last, _)| match direction {
            Direction::Forward => (Bound::Excluded(last), span.1),
            Direction::Reverse => (span.0, Bound::Excluded(last)),
        });
        Ok(entries)
    }
}

impl Scanner<u64, u64> for Paged<'_> {
    fn fill(&mut self, keys: &mut [u64], values: &mut [u64]) -> Result<usize> {
        latchless_core::base::index::check_buffers(keys.len(), values.len())?;
        let page = self.page(keys.len())?;
        page.iter()
            .zip(keys.iter_mut().zip(values))
            .for_each(|(&entry, (key, value))| (*key, *value) = entry);
        Ok(page.len())
    }

    fn fill_values(&mut self, values: &mut [u64]) -> Result<usize> {
        latchless_core::base::index::check_buffers(values.len(), values.len())?;
        let page = self.page(values.len())?;
        page.iter().zip(values).for_each(|(entry, value)| *value = entry.1);
        Ok(page.len())
    }
}
