//! `std::collections::BTreeMap`, keys in boxes of their own length.

use super::peer::{Peer, Session, upwards};
use latchless_core::Result;
use std::collections::BTreeMap;

/// The standard library's map.
#[derive(Debug, Default)]
pub struct BTree(BTreeMap<Box<[u8]>, u64>);

impl Peer for BTree {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn session(&mut self) -> impl Session {
        Requests(&mut self.0)
    }

    fn load<'k>(&mut self, entries: impl Iterator<Item = (&'k [u8], u64)>) -> Result<()> {
        self.0 = entries.map(|(key, value)| (Box::from(key), value)).collect();
        Ok(())
    }
}

struct Requests<'a>(&'a mut BTreeMap<Box<[u8]>, u64>);

impl Session for Requests<'_> {
    fn get(&self, key: &[u8]) -> Option<u64> {
        self.0.get(key).copied()
    }

    fn insert(&mut self, key: &[u8], value: u64) -> Result<Option<u64>> {
        Ok(self.0.insert(Box::from(key), value))
    }

    fn remove(&mut self, key: &[u8]) -> Option<u64> {
        self.0.remove(key)
    }

    fn scan(&self, from: &[u8], mut each: impl FnMut(&[u8], u64) -> bool) -> Result<()> {
        let _ = self.0.range::<[u8], _>(upwards(from)).all(|(key, &value)| each(key, value));
        Ok(())
    }
}
