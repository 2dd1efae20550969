//! Versions of pages that were read and latches of pages that are held.

use super::OlcTree;
use crate::spiderman::latches::NodeLatch;
use crate::spiderman::page::Form;
use latchless_core::base::error::Result;
use latchless_core::latch::Version;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::sync::Backoff;

pub(super) use crate::spiderman::latches::{Held, Restart};

/// A page, and the version under which it was found to be the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) page: NodeRef,
    pub(super) version: Version,
}

impl<T: Form> OlcTree<T> {
    #[inline(always)]
    fn latch_of(&self, page: NodeRef) -> NodeLatch<'_, T> {
        NodeLatch::of(&self.arena.words(page)[0])
    }

    /// The version of a page, unless somebody is changing it.
    #[inline(always)]
    pub(super) fn see(&self, page: NodeRef) -> Result<Seen, Restart> {
        Ok(Seen { page, version: self.latch_of(page).see()? })
    }

    /// Returns whether everything that was read of a page since it was seen is of that version.
    #[inline(always)]
    pub(super) fn is_still(&self, seen: Seen) -> bool {
        self.latch_of(seen.page).is_still(seen.version)
    }

    /// Checks the same, as a result; see [`OlcTree::is_still`].
    #[inline(always)]
    pub(super) fn check(&self, seen: Seen) -> Result<(), Restart> {
        if self.is_still(seen) { Ok(()) } else { Err(Restart) }
    }

    /// Latches a page if it is unchanged since it was seen.
    #[inline(always)]
    pub(super) fn upgrade(&self, seen: Seen) -> Result<Held<'_, T>, Restart> {
        self.latch_of(seen.page).upgrade(seen.version)
    }

    /// Latches a page if its latch is free.
    #[inline(always)]
    pub(super) fn try_latch(&self, page: NodeRef) -> Result<Held<'_, T>, Restart> {
        self.latch_of(page).try_latch()
    }

    /// Latches a page, waiting for it.
    pub(super) fn latch(&self, page: NodeRef) -> Held<'_, T> {
        let mut backoff = Backoff::default();
        loop {
            if let Ok(held) = self.try_latch(page) {
                return held;
            }
            T::wait(self.latch_of(page).address());
            if !T::LISTENING {
                backoff.wait_at(self.arena.origin());
            }
        }
    }

    /// Waits a little after others were in the way.
    #[cold]
    pub(super) fn step_back(&self, backoff: &mut Backoff) {
        self.restarts.add(1);
        if !T::LISTENING {
            backoff.wait_at(self.arena.origin());
        }
    }
}
