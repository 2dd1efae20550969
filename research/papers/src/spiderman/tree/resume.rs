//! Serving a request at the leaf at the end of its walk, without another descent (which Spiderman's author
//! proposes, §5.2): the leaf is the right one if its version is still the one that the walk saw. If not,
//! it may still be the right one, or the one to its right may be: a key between the first and the last key
//! of a leaf belongs there.

use super::OlcTree;
use super::edit::Put;
use super::hold::{Restart, Seen};
use crate::spiderman::page::Form;
use latchless_core::base::error::Result;
use latchless_core::latch::Version;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Work;

/// The end of a walk: a leaf, its version, and the number of its keys that are smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Landed {
    leaf: NodeRef,
    place: u16,
    version: Version,
}

/// The maximum number of steps to the right of a split leaf in the search for a key.
const MOVES_MAX: usize = 3;

impl Landed {
    #[inline(always)]
    pub(super) fn new(leaf: Seen, place: usize) -> Self {
        Self { leaf: leaf.page, place: place as u16, version: leaf.version }
    }

    #[inline(always)]
    fn place(self) -> usize {
        usize::from(self.place)
    }

    fn seen(self) -> Seen {
        Seen { page: self.leaf, version: self.version }
    }
}

impl<T: Form> OlcTree<T> {
    /// Looks up a key, starting at a leaf; see [`OlcTree::get`].
    #[inline]
    pub fn get_from(&self, landed: Landed, key: u64) -> Option<u64> {
        let found = self.page(landed.leaf).value_at(landed.place(), key);
        if self.is_still(landed.seen()) {
            return found;
        }
        self.get_near(landed.leaf, key)
    }

    #[cold]
    fn get_near(&self, leaf: NodeRef, key: u64) -> Option<u64> {
        if let Ok(near) = self.near(leaf, key) {
            let found = self.page(near.page).find(key);
            if self.is_still(near) {
                return found;
            }
        }
        self.get(key)
    }

    /// Inserts an entry, starting at a leaf; see [`OlcTree::put`].
    ///
    /// # Errors
    /// When memory is refused; nothing has changed then.
    #[inline]
    pub fn put_from(&self, landed: Landed, key: u64, value: u64) -> Result<Option<u64>> {
        let put = self.put_at(landed.seen(), landed.place(), (key, value));
        let put = put.or_else(|Restart| self.put_in(self.near(landed.leaf, key)?, key, value));
        match put {
            Ok(Put::Done(before)) => Ok(before),
            _ => self.put(key, value),
        }
    }

    /// Removes a key, starting at a leaf; see [`OlcTree::take`].
    #[inline]
    pub fn take_at(&self, landed: Landed, key: u64) -> Option<u64> {
        let taken = self.take_from_place(landed.seen(), landed.place(), key);
        let taken = taken.or_else(|Restart| self.take_from(self.near(landed.leaf, key)?, key));
        match taken {
            Ok(taken) => self.after_taking(key, taken),
            Err(Restart) => self.take(key),
        }
    }

    /// Returns the leaf at the end of a walk, if it is unchanged.
    #[inline(always)]
    pub(super) fn still(&self, landed: Landed) -> Option<Seen> {
        self.is_still(landed.seen()).then(|| landed.seen())
    }

    /// The leaf that `key` belongs to, if it is this one or is a little to its right, and holds keys
    /// on either side of it.
    fn near(&self, leaf: NodeRef, key: u64) -> Result<Seen, Restart> {
        T::work(Work::Visit);
        let mut at = leaf;
        for _ in 0..=MOVES_MAX {
            let seen = self.see(at)?;
            let page = self.page(at);
            let (meta, size) = (page.meta(), page.size());
            if meta.is_dead() || meta.level() > 0 || size == 0 || page.key(0) > key {
                return Err(Restart);
            }
            let here = key <= page.key(size - 1);
            self.check(seen)?;
            if here {
                return Ok(seen);
            }
            if meta.link().is_nil() {
                return Err(Restart);
            }
            at = meta.link();
        }
        Err(Restart)
    }
}
