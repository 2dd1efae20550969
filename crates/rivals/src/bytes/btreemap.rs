//! `std::collections::BTreeMap`, with exactly sized boxes as keys.

use super::peer::{Peer, Reach, Session, Way, upwards};
use core::ops::{Deref, DerefMut};
use latchless_core::Result;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

type Map = BTreeMap<Box<[u8]>, u64>;

/// The standard library's map. Several threads go through a lock.
#[derive(Debug, Default)]
pub struct BTree(RwLock<Map>);

impl BTree {
    fn own(&mut self) -> &mut Map {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reach for BTree {
    fn session(&mut self) -> impl Session {
        Requests(self.own())
    }
}

impl Peer for BTree {
    fn len(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn shared(&self) -> impl Reach + Send {
        Way(|| Requests(&self.0))
    }

    fn load<'k>(&mut self, entries: impl Iterator<Item = (&'k [u8], u64)>) -> Result<()> {
        *self.own() = entries.map(|(key, value)| (Box::from(key), value)).collect();
        Ok(())
    }
}

/// Access of one request to the map.
trait Access {
    fn read(&self) -> impl Deref<Target = Map>;
    fn write(&mut self) -> impl DerefMut<Target = Map>;
}

impl Access for &mut Map {
    fn read(&self) -> impl Deref<Target = Map> {
        &**self
    }

    fn write(&mut self) -> impl DerefMut<Target = Map> {
        &mut **self
    }
}

impl Access for &RwLock<Map> {
    fn read(&self) -> impl Deref<Target = Map> {
        RwLock::read(self).unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&mut self) -> impl DerefMut<Target = Map> {
        RwLock::write(self).unwrap_or_else(PoisonError::into_inner)
    }
}

struct Requests<A>(A);

impl<A: Access> Session for Requests<A> {
    fn get(&self, key: &[u8]) -> Option<u64> {
        self.0.read().get(key).copied()
    }

    fn insert(&mut self, key: &[u8], value: u64) -> Result<Option<u64>> {
        Ok(self.0.write().insert(Box::from(key), value))
    }

    fn remove(&mut self, key: &[u8]) -> Option<u64> {
        self.0.write().remove(key)
    }

    fn scan(&self, from: &[u8], mut each: impl FnMut(&[u8], u64) -> bool) -> Result<()> {
        let _ = self.0.read().range::<[u8], _>(upwards(from)).all(|(key, &value)| each(key, value));
        Ok(())
    }
}
