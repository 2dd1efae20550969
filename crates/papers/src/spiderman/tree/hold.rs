//! Versions that were seen and latches that are held, each of them told to the tracing hook.

use super::*;
use latchless_core::latch::{Latched, Version};
use latchless_core::sync::Backoff;

/// Others were in the way: what was seen isn't so any more, or is just changing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Restart;

/// A page, and the version under which it was found to be the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) page: NodeRef,
    pub(super) version: Version,
}

/// The latch of a page.
#[derive(Debug)]
pub(super) struct Held<'a, T: Trace> {
    latched: Latched<'a>,
    address: *const u8,
    touch: PhantomData<T>,
}

impl<T: Trace> Held<'_, T> {
    /// From here on the page changes: readers of the version that was found are to try again.
    #[inline(always)]
    pub(super) fn changing(&mut self) {
        self.latched.changing();
    }
}

impl<T: Trace> Drop for Held<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // A plain store: nobody else writes the word meanwhile.
        T::write(self.address, size_of::<u64>());
    }
}

impl<T: Trace> OlcTree<T> {
    /// The version of a page, unless somebody is changing it.
    #[inline(always)]
    pub(super) fn see(&self, page: NodeRef) -> Result<Seen, Restart> {
        let at = self.page(page);
        T::read(at.header_address(), size_of::<u64>());
        match at.latch().stable_version() {
            Some(version) => Ok(Seen { page, version }),
            None => {
                T::wait(at.header_address());
                Err(Restart)
            }
        }
    }

    /// Whether all that was read of a page since it was seen is of that version.
    #[inline(always)]
    pub(super) fn is_still(&self, seen: Seen) -> bool {
        let at = self.page(seen.page);
        T::read(at.header_address(), size_of::<u64>());
        at.latch().validate(seen.version)
    }

    /// As [`OlcTree::is_still`], as a result.
    #[inline(always)]
    pub(super) fn check(&self, seen: Seen) -> Result<(), Restart> {
        if self.is_still(seen) { Ok(()) } else { Err(Restart) }
    }

    /// Latches a page if it is as it was seen.
    #[inline(always)]
    pub(super) fn upgrade(&self, seen: Seen) -> Result<Held<'_, T>, Restart> {
        let (latch, address) = (self.page(seen.page).latch(), self.page(seen.page).header_address());
        T::exchange(address);
        let latched = latch.try_upgrade(seen.version).ok_or(Restart)?;
        Ok(Held { latched, address, touch: PhantomData })
    }

    /// Latches a page if nobody holds it.
    #[inline(always)]
    pub(super) fn try_latch(&self, page: NodeRef) -> Result<Held<'_, T>, Restart> {
        let (latch, address) = (self.page(page).latch(), self.page(page).header_address());
        T::exchange(address);
        let latched = latch.try_latch().ok_or(Restart)?;
        Ok(Held { latched, address, touch: PhantomData })
    }

    /// Latches a page, waiting for it.
    pub(super) fn latch(&self, page: NodeRef) -> Held<'_, T> {
        let mut backoff = Backoff::default();
        loop {
            if let Ok(held) = self.try_latch(page) {
                return held;
            }
            T::wait(self.page(page).header_address());
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
