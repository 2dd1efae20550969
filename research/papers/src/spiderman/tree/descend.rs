//! Descents from the root to the leaf that a key belongs to.

use super::hold::{Held, Restart, Seen};
use super::{OlcTree, READ_TRIES};
use crate::spiderman::page::{Form, Page};
use latchless_core::base::error::Result;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Work;
use latchless_core::sync::Backoff;

/// A leaf that a key belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reached {
    pub(super) leaf: Seen,
    /// The last key that belongs to the leaf on the left, if there is one.
    pub(super) low: Option<u64>,
}

/// A child of a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Child {
    pub(super) seen: Seen,
    pub(super) place: usize,
    /// The separator before it.
    pub(super) low: Option<u64>,
}

impl<T: Form> OlcTree<T> {
    /// Reads the current root and the number of levels.
    #[inline(always)]
    pub(super) fn see_root(&self) -> Result<(Seen, usize), Restart> {
        let (root, levels) = self.root();
        let seen = self.see(root)?;
        // It was the root when its version was read; a change of that changes the version.
        if self.root() == (root, levels) { Ok((seen, levels)) } else { Err(Restart) }
    }

    /// The child of an inner page that `key` belongs to.
    #[inline(always)]
    pub(super) fn down(&self, parent: Seen, key: u64) -> Result<Child, Restart> {
        T::work(Work::Visit);
        let page = self.page(parent.page);
        let place = page.child_place(page.size(), key);
        let low = place.checked_sub(1).map(|before| page.key(before));
        let child = page.child(place);
        // The data is valid only if no thread was writing; and the child is the right one at the moment
        // its version is read only if its parent is still unchanged then.
        self.check(parent)?;
        let seen = self.see(child)?;
        self.check(parent)?;
        Ok(Child { seen, place, low })
    }

    /// The leaf that `key` belongs to.
    #[inline(always)]
    pub(super) fn reach(&self, key: u64) -> Result<Reached, Restart> {
        let (mut at, levels) = self.see_root()?;
        let mut low = None;
        for _ in 1..levels {
            let child = self.down(at, key)?;
            (at, low) = (child.seen, child.low.or(low));
        }
        T::work(Work::Visit);
        Ok(Reached { leaf: at, low })
    }

    /// The leaf that `key` belongs to, latched; `low` as in [`Reached`].
    #[cold]
    pub(super) fn latch_leaf(&self, key: u64) -> (NodeRef, Held<'_, T>, Option<u64>) {
        loop {
            let (root, levels) = self.root();
            let (mut at, mut held, mut low) = (root, self.latch(root), None);
            if self.root() != (root, levels) {
                continue;
            }
            for _ in 1..levels {
                let page = self.page(at);
                let place = page.child_place(page.size(), key);
                low = place.checked_sub(1).map(|before| page.key(before)).or(low);
                at = page.child(place);
                // The child is latched before its parent is released.
                held = self.latch(at);
            }
            return (at, held, low);
        }
    }

    /// Returns the result of `look` in the leaf that `key` belongs to; it gets the leaf's `low` as in
    /// [`Reached`]. It may run several times, on a leaf that is being changed; only its last result
    /// counts.
    #[inline(always)]
    pub(super) fn look_at_leaf<R>(&self, key: u64, mut look: impl FnMut(Page<'_, T>, Option<u64>) -> R) -> R {
        let mut backoff = Backoff::default();
        for _ in 0..READ_TRIES {
            if let Ok(reached) = self.reach(key) {
                let found = look(self.page(reached.leaf.page), reached.low);
                if self.is_still(reached.leaf) {
                    return found;
                }
            }
            self.step_back(&mut backoff);
        }
        let (leaf, held, low) = self.latch_leaf(key);
        let found = look(self.page(leaf), low);
        drop(held);
        found
    }

    /// The value under a key.
    #[inline]
    pub fn get(&self, key: u64) -> Option<u64> {
        T::work(Work::Operation);
        self.look_at_leaf(key, |leaf, _| leaf.find(key))
    }
}

impl<T: Form> Page<'_, T> {
    /// The value under a key of a leaf.
    #[inline(always)]
    pub(super) fn find(self, key: u64) -> Option<u64> {
        self.value_at(self.lower(self.size(), key), key)
    }

    /// The value at a place of a leaf, if it is this key's.
    #[inline(always)]
    pub(super) fn value_at(self, place: usize, key: u64) -> Option<u64> {
        (place < self.size() && self.key(place) == key).then(|| self.value(place))
    }
}
