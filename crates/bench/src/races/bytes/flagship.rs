//! The recommended index over keys of any length.

use crate::races::catalogue::Options;
use latchless::{Direction, FillFactor, Index, Result};
use latchless_rivals::bytes::{Peer, Reach, Session, Way};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

/// `latchless::Index` over byte strings.
pub struct Flagship(Index<Vec<u8>, u64>);

impl Flagship {
    /// Creates an empty one.
    ///
    /// # Errors
    /// When the system has no memory for a first node.
    pub fn new(options: &Options) -> Result<Self> {
        Ok(Self(Index::with_options(options.for_index())?))
    }
}

impl Reach for Flagship {
    fn session(&mut self) -> impl Session {
        Requests(&self.0)
    }
}

impl Peer for Flagship {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn shared(&self) -> impl Reach + Send {
        Way(|| Requests(&self.0))
    }

    fn load<'k>(&mut self, entries: impl Iterator<Item = (&'k [u8], u64)>) -> Result<()> {
        let entries: Vec<_> = entries.collect();
        self.0.bulk_load_by(entries.len(), |at| entries[at], FillFactor::FULL, NonZeroUsize::MIN)
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.0.memory_bytes())
    }
}

/// A session. Readers hold no guard, so the index is all that it needs.
struct Requests<'a>(&'a Index<Vec<u8>, u64>);

impl Session for Requests<'_> {
    fn get(&self, key: &[u8]) -> Option<u64> {
        self.0.get(key)
    }

    fn get_many(&self, keys: &[&[u8]], answers: &mut [Option<u64>]) -> Result<()> {
        self.0.get_many(keys, answers)
    }

    fn insert(&mut self, key: &[u8], value: u64) -> Result<Option<u64>> {
        self.0.insert(key, value)
    }

    fn insert_many(&mut self, entries: &[(&[u8], u64)], replaced: &mut [Option<u64>]) -> Result<()> {
        self.0.insert_many(entries, replaced).map_err(|incomplete| incomplete.error)
    }

    fn remove(&mut self, key: &[u8]) -> Option<u64> {
        self.0.remove(key)
    }

    fn scan(&self, from: &[u8], mut each: impl FnMut(&[u8], u64) -> bool) -> Result<()> {
        let _ = self.0.scan_lent(from.., Direction::Forward, |key, value| {
            if each(key, value) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        Ok(())
    }
}
