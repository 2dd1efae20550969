//! `crossbeam-skiplist`: a lock-free skip list, driven through its guarded form.

use crate::peer::{Ask, Peer, SharedPeer, updates_are_shared, walk};
use core::cell::Cell;
use crossbeam_epoch::Guard;
use crossbeam_skiplist::SkipList;
use latchless_core::Result;
use latchless_core::base::key::Bits;

/// `crossbeam_skiplist::SkipList` on the default collector.
pub struct Skip<B>(SkipList<B, B>);

impl<B> Default for Skip<B> {
    fn default() -> Self {
        Self(SkipList::new(crossbeam_epoch::default_collector().clone()))
    }
}

impl<B: Bits> Peer<B> for Skip<B> {
    const NAME: &'static str = "crossbeam-skiplist";
    type Pin<'a> = Guard;

    fn pin(&self) -> Guard {
        crossbeam_epoch::pin()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, key: B, pin: &Guard) -> Option<B> {
        self.0.get(&key, pin).map(|entry| *entry.value())
    }

    fn visit(&self, ask: Ask<B>, mut each: impl FnMut(B, B) -> bool) -> Result<()> {
        let pin = crossbeam_epoch::pin();
        let range = self.0.range(ask.low..=ask.high, &pin);
        walk(range, ask.direction, |entry| each(*entry.key(), *entry.value()))
    }

    updates_are_shared!();
}

impl<B: Bits> SharedPeer<B> for Skip<B> {
    fn insert_shared(&self, key: B, value: B) -> Result<Option<B>> {
        let pin = crossbeam_epoch::pin();
        let old = Cell::new(None);
        // The comparison sees the value that is about to be replaced: no second walk for it.
        let replace = |found: &B| {
            old.set(Some(*found));
            true
        };
        self.0.compare_insert(key, value, replace, &pin).release(&pin);
        Ok(old.get())
    }

    fn remove_shared(&self, key: B) -> Option<B> {
        let pin = crossbeam_epoch::pin();
        let entry = self.0.remove(&key, &pin)?;
        let value = *entry.value();
        entry.release(&pin);
        Some(value)
    }
}
