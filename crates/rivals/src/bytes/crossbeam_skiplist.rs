//! `crossbeam-skiplist`: a lock-free skip list, driven through its guarded form.

use super::peer::{Peer, Reach, Session, Way, upwards};
use core::cell::Cell;
use crossbeam_epoch::Guard;
use crossbeam_skiplist::SkipList;
use latchless_core::Result;

/// `crossbeam_skiplist::SkipList` on the default collector.
pub struct Skip(SkipList<Box<[u8]>, u64>);

impl Default for Skip {
    fn default() -> Self {
        Self(SkipList::new(crossbeam_epoch::default_collector().clone()))
    }
}

impl Reach for Skip {
    fn session(&mut self) -> impl Session {
        Requests { list: &self.0, pin: crossbeam_epoch::pin() }
    }
}

impl Peer for Skip {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn shared(&self) -> impl Reach + Send {
        Way(|| Requests { list: &self.0, pin: crossbeam_epoch::pin() })
    }
}

struct Requests<'a> {
    list: &'a SkipList<Box<[u8]>, u64>,
    pin: Guard,
}

impl Session for Requests<'_> {
    fn get(&self, key: &[u8]) -> Option<u64> {
        self.list.get(key, &self.pin).map(|entry| *entry.value())
    }

    fn insert(&mut self, key: &[u8], value: u64) -> Result<Option<u64>> {
        let old = Cell::new(None);
        // The comparison sees the value that is about to be replaced: no second walk for it.
        let replace = |found: &u64| {
            old.set(Some(*found));
            true
        };
        self.list.compare_insert(Box::from(key), value, replace, &self.pin).release(&self.pin);
        Ok(old.get())
    }

    fn remove(&mut self, key: &[u8]) -> Option<u64> {
        let entry = self.list.remove(key, &self.pin)?;
        let value = *entry.value();
        entry.release(&self.pin);
        Some(value)
    }

    fn scan(&self, from: &[u8], mut each: impl FnMut(&[u8], u64) -> bool) -> Result<()> {
        let mut range = self.list.range::<[u8], _>(upwards(from), &self.pin);
        let _ = range.all(|entry| each(entry.key(), *entry.value()));
        Ok(())
    }
}
