//! The index of keys of any length: its keys are this suite's numbers, unchanged for short keys, and
//! surrounded by other bytes for long ones, which are stored outside of nodes.

use crate::history::Edit;
use crate::subject::{Subject, updates_are_shared};
use crate::subjects::PLAIN_PAGES;
use latchless::bytes::{ByteStrings, BytesEntries};
use latchless::{BytesKey, Direction, FillFactor, Result, TryInsertError};
use latchless_core::base::error::Broken;
use latchless_core::base::index::{
    ConcurrentIndex, OrderedIndex, Scanner, Span, check_buffers, check_side_by_side, check_span,
};

/// A key that represents a number.
pub trait Named: BytesKey + Sized + Send + Sync + 'static {
    fn of(number: u64) -> Self;
    fn number(self) -> u64;
}

impl Named for u64 {
    fn of(number: u64) -> Self {
        number
    }

    fn number(self) -> u64 {
        self
    }
}

/// A number surrounded by bytes that all keys have.
#[derive(Debug, Clone, Copy)]
pub struct Long(u64);

/// The number of bytes before the number and after it.
const AROUND: (usize, usize) = (20, 200);

impl BytesKey for Long {
    const FIXED: Option<usize> = Some(AROUND.0 + 8 + AROUND.1);

    fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        let mut bytes = [b'k'; AROUND.0 + 8 + AROUND.1];
        bytes[AROUND.0..AROUND.0 + 8].copy_from_slice(&self.0.to_be_bytes());
        f(&bytes)
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        Self(u64::from_be_bytes(*bytes[AROUND.0..].first_chunk().expect("eight bytes")))
    }
}

impl Named for Long {
    fn of(number: u64) -> Self {
        Self(number)
    }

    fn number(self) -> u64 {
        self.0
    }
}

pub struct Bytes<K: BytesKey>(ByteStrings<K, u64>);

impl<K: Named> Default for Bytes<K> {
    fn default() -> Self {
        Self(ByteStrings::with_options(PLAIN_PAGES).expect("one leaf finds room"))
    }
}

fn keyed<K: Named>(span: Span<u64>) -> Span<K> {
    (span.0.map(K::of), span.1.map(K::of))
}

/// A paused scan: an iterator that yields some entries at a time.
struct Paused<'i, K: BytesKey> {
    entries: BytesEntries<'i, K, u64>,
    direction: Direction,
}

impl<K: Named> Scanner<u64, u64> for Paused<'_, K> {
    fn fill(&mut self, keys: &mut [u64], values: &mut [u64]) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        for at in 0..keys.len() {
            let next = match self.direction {
                Direction::Forward => self.entries.next(),
                Direction::Reverse => self.entries.next_back(),
            };
            let Some((key, value)) = next else { return Ok(at) };
            (keys[at], values[at]) = (key.number(), value);
        }
        Ok(keys.len())
    }

    fn fill_values(&mut self, values: &mut [u64]) -> Result<usize> {
        let mut keys = vec![0; values.len()];
        self.fill(&mut keys, values)
    }
}

impl<K: Named> OrderedIndex<u64, u64> for Bytes<K> {
    updates_are_shared!();

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: u64) -> Option<u64> {
        self.0.get(&K::of(key))
    }

    fn get_many(&self, keys: &[u64], answers: &mut [Option<u64>]) -> Result<()> {
        let keys: Vec<_> = keys.iter().map(|&key| K::of(key)).collect();
        self.0.get_many(&keys, answers)
    }

    fn page(
        &self,
        span: Span<u64>,
        direction: Direction,
        keys: &mut [u64],
        values: &mut [u64],
    ) -> Result<usize> {
        check_buffers(keys.len(), values.len())?;
        Paused { entries: self.0.try_range(keyed::<K>(span))?, direction }.fill(keys, values)
    }

    fn scanner<'a>(
        &'a self,
        span: Span<u64>,
        direction: Direction,
    ) -> Result<Box<dyn Scanner<u64, u64> + 'a>> {
        Ok(Box::new(Paused { entries: self.0.try_range(keyed::<K>(span))?, direction }))
    }

    fn count(&self, span: Span<u64>) -> Result<usize> {
        check_span(&span)?;
        Ok(self.0.count(keyed::<K>(span)))
    }

    fn bulk_load(&mut self, entries: &[(u64, u64)], fill: FillFactor) -> Result<()> {
        self.0.bulk_load(entries.iter().map(|&(key, value)| (K::of(key), value)), fill)
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.0.memory_bytes())
    }

    fn check_invariants(&self) -> Result<(), Broken> {
        self.0.check_invariants()
    }
}

impl<K: Named> ConcurrentIndex<u64, u64> for Bytes<K> {
    fn insert_shared(&self, key: u64, value: u64) -> Result<Option<u64>> {
        self.0.insert(&K::of(key), value)
    }

    fn remove_shared(&self, key: u64) -> Option<u64> {
        self.0.remove(&K::of(key))
    }

    fn insert_many_shared(&self, entries: &[(u64, u64)], replaced: &mut [Option<u64>]) -> Result<()> {
        check_side_by_side(entries.len(), replaced.len())?;
        let entries: Vec<_> = entries.iter().map(|&(key, value)| (K::of(key), value)).collect();
        Ok(self.0.insert_many(&entries, replaced)?)
    }

    fn remove_many_shared(&self, keys: &[u64], removed: &mut [Option<u64>]) -> Result<()> {
        let keys: Vec<_> = keys.iter().map(|&key| K::of(key)).collect();
        self.0.remove_many(&keys, removed)
    }
}

impl<K: Named> Subject for Bytes<K> {
    fn index(&self) -> &dyn OrderedIndex<u64, u64> {
        self
    }

    fn offers(&self, _: Edit) -> bool {
        true
    }

    fn edit(&self, key: u64, edit: Edit) -> Option<u64> {
        let (index, key) = (&self.0, &K::of(key));
        match edit {
            Edit::Put(value) => index.insert(key, value).expect("there is memory"),
            Edit::Add(value) => match index.try_insert(key, value) {
                Ok(()) => None,
                Err(TryInsertError::Present { present, .. }) => Some(present),
                Err(TryInsertError::Refused { error, .. }) => panic!("there is memory: {error}"),
            },
            Edit::Replace(value) => index.replace(key, value),
            Edit::Swap { expected, value } => {
                index.compare_exchange(key, expected, value).map_or_else(|found| found, Some)
            }
            Edit::Remove => index.remove(key),
            Edit::RemoveIf(expected) => index.compare_remove(key, expected).map_or_else(|found| found, Some),
        }
    }

    fn nearest(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        let (index, key) = (&self.0, &K::of(key));
        numbered(if direction == Direction::Forward { index.ceiling(key) } else { index.floor(key) })
    }

    fn beside(&self, key: u64, direction: Direction) -> Option<(u64, u64)> {
        let (index, key) = (&self.0, &K::of(key));
        numbered(if direction == Direction::Forward { index.higher(key) } else { index.lower(key) })
    }

    fn end(&self, direction: Direction) -> Option<(u64, u64)> {
        numbered(if direction == Direction::Forward { self.0.first() } else { self.0.last() })
    }

    fn pop(&self, direction: Direction) -> Option<(u64, u64)> {
        numbered(if direction == Direction::Forward { self.0.pop_first() } else { self.0.pop_last() })
    }

    fn live_bytes(&self) -> Option<usize> {
        // Entries that a node of four stores whole may be too long for one with a shorter prefix: then two
        // of its nodes don't merge (see `byte_tree/merge.rs`).
        let may_stay = cfg!(latchless_small_nodes) && K::FIXED.is_some_and(|len| len > 40);
        (!may_stay).then(|| self.0.live_bytes())
    }
}

fn numbered<K: Named>(entry: Option<(K, u64)>) -> Option<(u64, u64)> {
    entry.map(|(key, value)| (key.number(), value))
}
