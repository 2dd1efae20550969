//! The latches of nodes, every look at one told to the tracing hook: what optimistic lock coupling is made
//! of, in the tree and in the trie.

use core::marker::PhantomData;
use latchless_core::latch::{Latched, OptimisticLatch, Version};
use latchless_core::mem::touch::Trace;
use latchless_core::sync::Word;

/// Others were in the way: what was seen isn't so any more, or is just changing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Restart;

/// A node's first word as its latch.
#[derive(Debug)]
pub(super) struct NodeLatch<'a, T> {
    latch: &'a OptimisticLatch,
    touch: PhantomData<T>,
}

/// A latch that is held.
#[derive(Debug)]
pub(super) struct Held<'a, T: Trace> {
    latched: Latched<'a>,
    address: *const u8,
    touch: PhantomData<T>,
}

impl<T: Trace> Held<'_, T> {
    /// From here on the node changes: readers of the version that was found are to try again.
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

impl<'a, T: Trace> NodeLatch<'a, T> {
    #[inline(always)]
    pub(super) fn of(word: &'a Word) -> Self {
        Self { latch: OptimisticLatch::of(word), touch: PhantomData }
    }

    #[inline(always)]
    pub(super) fn address(&self) -> *const u8 {
        core::ptr::from_ref(self.latch).cast()
    }

    /// The version, unless somebody is changing the node.
    #[inline(always)]
    pub(super) fn see(&self) -> Result<Version, Restart> {
        T::read(self.address(), size_of::<u64>());
        self.latch.stable_version().ok_or_else(|| {
            T::wait(self.address());
            Restart
        })
    }

    /// Whether all that was read of the node since it had this version is of that version.
    #[inline(always)]
    pub(super) fn is_still(&self, version: Version) -> bool {
        T::read(self.address(), size_of::<u64>());
        self.latch.validate(version)
    }

    /// Latches the node if it has this version still.
    #[inline(always)]
    pub(super) fn upgrade(&self, version: Version) -> Result<Held<'a, T>, Restart> {
        T::exchange(self.address());
        self.held(self.latch.try_upgrade(version))
    }

    /// Latches the node if nobody holds it.
    #[inline(always)]
    pub(super) fn try_latch(&self) -> Result<Held<'a, T>, Restart> {
        T::exchange(self.address());
        self.held(self.latch.try_latch())
    }

    #[inline(always)]
    fn held(&self, latched: Option<Latched<'a>>) -> Result<Held<'a, T>, Restart> {
        let latched = latched.ok_or(Restart)?;
        Ok(Held { latched, address: self.address(), touch: PhantomData })
    }
}
