//! `artmap`: a concurrent adaptive radix tree, on the heap and in an arena.

use super::peer::{Peer, Reach, Session, Way, upwards};
use artmap::{Arena, ArenaArtMap, ArtMap, Guard};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use latchless_core::{Error, Result};

/// `artmap::ArtMap`.
pub struct Art(ArtMap<Vec<u8>, u64>);

impl Default for Art {
    fn default() -> Self {
        Self(ArtMap::new())
    }
}

impl Reach for Art {
    fn session(&mut self) -> impl Session {
        Requests { map: &self.0, pin: self.0.pin() }
    }
}

impl Peer for Art {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn shared(&self) -> impl Reach + Send {
        Way(|| Requests { map: &self.0, pin: self.0.pin() })
    }
}

struct Requests<'a> {
    map: &'a ArtMap<Vec<u8>, u64>,
    pin: Guard<'a>,
}

impl Session for Requests<'_> {
    fn get(&self, key: &[u8]) -> Option<u64> {
        self.map.get_with_guard(key, &self.pin).map(|entry| *entry.value())
    }

    fn insert(&mut self, key: &[u8], value: u64) -> Result<Option<u64>> {
        Ok(self.map.insert_with_guard(key.to_vec(), value, &self.pin).map(|old| *old.value()))
    }

    fn remove(&mut self, key: &[u8]) -> Option<u64> {
        self.map.remove_by_slice(key).map(|old| *old.value())
    }

    fn scan(&self, from: &[u8], mut each: impl FnMut(&[u8], u64) -> bool) -> Result<()> {
        let mut range = self.map.range_with_guard::<_, [u8]>(upwards(from), &self.pin);
        let _ = range.all(|entry| each(entry.key(), *entry.value()));
        Ok(())
    }
}

/// `artmap::ArenaArtMap`. Its nodes are in the arena, and so is where each key is; the bytes of keys are on
/// the heap.
pub struct ArenaArt {
    map: ArenaArtMap<Vec<u8>, u64>,
    /// Of the keys, those removed among them: nothing is freed before the map is.
    key_bytes: AtomicUsize,
}

impl Default for ArenaArt {
    fn default() -> Self {
        // As large as an arena can be: pages that aren't used aren't there.
        Self { map: ArenaArtMap::new(Arena::with_capacity(usize::MAX)), key_bytes: AtomicUsize::new(0) }
    }
}

impl Reach for ArenaArt {
    fn session(&mut self) -> impl Session {
        ArenaRequests(self)
    }
}

impl Peer for ArenaArt {
    fn len(&self) -> usize {
        self.map.len()
    }

    fn shared(&self) -> impl Reach + Send {
        Way(|| ArenaRequests(self))
    }

    fn memory_bytes(&self) -> Option<usize> {
        Some(self.map.arena().size() + self.key_bytes.load(Relaxed))
    }
}

struct ArenaRequests<'a>(&'a ArenaArt);

impl Session for ArenaRequests<'_> {
    fn get(&self, key: &[u8]) -> Option<u64> {
        self.0.map.get_slice(key)
    }

    fn insert(&mut self, key: &[u8], value: u64) -> Result<Option<u64>> {
        let arena = self.0.map.arena();
        let limit_bytes = arena.capacity();
        let old = self.0.map.try_insert(key.to_vec(), value);
        let old = old.map_err(|full| Error::MemoryLimit { requested_bytes: full.key.len(), limit_bytes })?;
        self.0.key_bytes.fetch_add(key.len(), Relaxed);
        Ok(old.map(|old| *old.value()))
    }

    fn remove(&mut self, key: &[u8]) -> Option<u64> {
        self.0.map.remove(key).map(|old| *old.value())
    }

    fn scan(&self, from: &[u8], mut each: impl FnMut(&[u8], u64) -> bool) -> Result<()> {
        let mut range = self.0.map.range::<_, [u8]>(upwards(from));
        let _ = range.all(|entry| each(entry.key(), *entry.value()));
        Ok(())
    }
}
