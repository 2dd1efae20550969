//! Inserts and removals of entries.

use super::hold::{Held, Restart, Seen};
use super::{OlcTree, READ_TRIES};
use crate::spiderman::page::{Form, Page};
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Work;
use latchless_core::sync::Backoff;

/// The result of an attempt to insert an entry.
pub(super) enum Put {
    /// With the previous value.
    Done(Option<u64>),
    /// The leaf has no room.
    Full,
}

/// The result of a removal from a leaf.
pub(super) struct Taken {
    pub(super) value: u64,
    /// Whether the leaf has so few entries left that it should be merged with another.
    pub(super) leaves_few: bool,
}

impl<T: Form> OlcTree<T> {
    /// Inserts a value under a key and returns the previous one.
    ///
    /// # Errors
    /// When memory is refused; nothing has changed then.
    pub fn put(&self, key: u64, value: u64) -> Result<Option<u64>> {
        T::work(Work::Operation);
        let (mut backoff, mut tries) = (Backoff::default(), 0);
        loop {
            match self.try_put(key, value, tries) {
                Ok(Put::Done(before)) => return Ok(before),
                Ok(Put::Full) => self.make_room(key)?,
                Err(Restart) => {
                    tries += 1;
                    self.step_back(&mut backoff);
                }
            }
        }
    }

    #[inline(always)]
    fn try_put(&self, key: u64, value: u64, tries: u32) -> Result<Put, Restart> {
        if tries < READ_TRIES {
            return self.put_in(self.reach(key)?.leaf, key, value);
        }
        let (leaf, held, _) = self.latch_leaf(key);
        Ok(self.put_held(leaf, held, key, value))
    }

    /// Puts an entry into the leaf that it belongs to.
    #[inline(always)]
    pub(super) fn put_in(&self, leaf: Seen, key: u64, value: u64) -> Result<Put, Restart> {
        let held = self.upgrade(leaf)?;
        Ok(self.put_held(leaf.page, held, key, value))
    }

    /// Inserts at the place of a key, which the caller has found; see [`OlcTree::put_in`].
    #[inline(always)]
    pub(super) fn put_at(&self, leaf: Seen, place: usize, entry: (u64, u64)) -> Result<Put, Restart> {
        let held = self.upgrade(leaf)?;
        Ok(self.put_held_at(self.page(leaf.page), held, place, entry))
    }

    fn put_held(&self, leaf: NodeRef, held: Held<'_, T>, key: u64, value: u64) -> Put {
        let leaf = self.page(leaf);
        let place = leaf.lower(leaf.size(), key);
        self.put_held_at(leaf, held, place, (key, value))
    }

    fn put_held_at(
        &self,
        leaf: Page<'_, T>,
        mut held: Held<'_, T>,
        place: usize,
        (key, value): (u64, u64),
    ) -> Put {
        if let Some(before) = leaf.value_at(place, key) {
            held.changing();
            leaf.set_value(place, value);
            return Put::Done(Some(before));
        }
        if leaf.is_full() {
            return Put::Full;
        }
        held.changing();
        leaf.insert_entry(place, key, value);
        drop(held);
        self.len.add(1);
        Put::Done(None)
    }

    /// Removes a key and returns its value.
    pub fn take(&self, key: u64) -> Option<u64> {
        T::work(Work::Operation);
        let (mut backoff, mut tries) = (Backoff::default(), 0);
        loop {
            match self.try_take(key, tries) {
                Ok(taken) => return self.after_taking(key, taken),
                Err(Restart) => {
                    tries += 1;
                    self.step_back(&mut backoff);
                }
            }
        }
    }

    /// Completes a removal and returns its answer: merges a leaf that has few entries left with another.
    #[inline(always)]
    pub(super) fn after_taking(&self, key: u64, taken: Option<Taken>) -> Option<u64> {
        let taken = taken?;
        if taken.leaves_few {
            self.shrink(key);
        }
        Some(taken.value)
    }

    #[inline(always)]
    fn try_take(&self, key: u64, tries: u32) -> Result<Option<Taken>, Restart> {
        if tries < READ_TRIES {
            return self.take_from(self.reach(key)?.leaf, key);
        }
        let (leaf, held, _) = self.latch_leaf(key);
        let page = self.page(leaf);
        let place = page.lower(page.size(), key);
        Ok(page.value_at(place, key).map(|_| self.take_held(page, held, place)))
    }

    /// Removes a key from the leaf that it belongs to.
    #[inline(always)]
    pub(super) fn take_from(&self, leaf: Seen, key: u64) -> Result<Option<Taken>, Restart> {
        let page = self.page(leaf.page);
        self.take_from_place(leaf, page.lower(page.size(), key), key)
    }

    /// Removes at the place of a key, which the caller has found; see [`OlcTree::take_from`].
    #[inline(always)]
    pub(super) fn take_from_place(
        &self,
        leaf: Seen,
        place: usize,
        key: u64,
    ) -> Result<Option<Taken>, Restart> {
        let page = self.page(leaf.page);
        if page.value_at(place, key).is_none() {
            self.check(leaf)?;
            return Ok(None);
        }
        let held = self.upgrade(leaf)?;
        Ok(Some(self.take_held(page, held, place)))
    }

    fn take_held(&self, leaf: Page<'_, T>, mut held: Held<'_, T>, place: usize) -> Taken {
        let value = leaf.value(place);
        held.changing();
        leaf.remove_entry(place);
        let (left, places) = (leaf.size(), self.layout.places);
        drop(held);
        self.len.add(-1);
        Taken { value, leaves_few: left == 0 || left == places / 4 || left == places / 8 }
    }
}
