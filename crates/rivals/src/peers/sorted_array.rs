//! A sorted array: the best case of data that is never updated.

use crate::peer::{Ask, Peer};
use latchless_core::base::key::Bits;
use latchless_core::{Direction, Error, Result};

/// Keys and values side by side, each in one array. Updates move everything after them.
#[derive(Debug, Default)]
pub struct SortedArray<B> {
    keys: Vec<B>,
    values: Vec<B>,
}

impl<B: Bits> Peer<B> for SortedArray<B> {
    const NAME: &'static str = "sorted-array";
    type Pin<'a> = ();

    fn pin(&self) -> Self::Pin<'_> {}

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn get(&self, key: B, (): &()) -> Option<B> {
        self.keys.binary_search(&key).ok().map(|at| self.values[at])
    }

    fn insert(&mut self, key: B, value: B) -> Result<Option<B>> {
        match self.keys.binary_search(&key) {
            Ok(at) => Ok(Some(core::mem::replace(&mut self.values[at], value))),
            Err(at) => {
                let refused = |_| Error::OutOfMemory { requested_bytes: B::BYTES };
                self.keys.try_reserve(1).map_err(refused)?;
                self.values.try_reserve(1).map_err(refused)?;
                self.keys.insert(at, key);
                self.values.insert(at, value);
                Ok(None)
            }
        }
    }

    fn remove(&mut self, key: B) -> Option<B> {
        let at = self.keys.binary_search(&key).ok()?;
        self.keys.remove(at);
        Some(self.values.remove(at))
    }

    fn load(&mut self, entries: impl Iterator<Item = (B, B)>) -> Result<()> {
        (self.keys, self.values) = entries.unzip();
        Ok(())
    }

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        let Ask { low, high, direction, .. } = ask;
        let start = self.keys.partition_point(|&key| key < low);
        // Forwards, the end is found as the scan gets there: one search, not two.
        let mut upwards = self.keys[start..].iter().zip(&self.values[start..]);
        let _ = match direction {
            Direction::Forward => upwards.all(|(&key, &value)| key <= high && each(key, value)),
            Direction::Reverse => {
                let end = self.keys.partition_point(|&key| key <= high);
                let rest = self.keys[start..end].iter().zip(&self.values[start..end]);
                rest.rev().all(|(&key, &value)| each(key, value))
            }
        };
        Ok(())
    }

    fn count(&self, low: B, high: B) -> Result<usize> {
        let start = self.keys.partition_point(|&key| key < low);
        Ok(self.keys[start..].partition_point(|&key| key <= high))
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some((self.keys.capacity() + self.values.capacity()) * B::BYTES)
    }
}
