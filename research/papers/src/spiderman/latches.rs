//! The latches of nodes, with every read reported to the tracing hook: the operations of optimistic lock
//! coupling, shared by the tree and the trie.

use core::marker::PhantomData;
use latchless_core::latch::{Latched, OptimisticLatch, Version};
use latchless_core::mem::touch::Trace;
use latchless_core::sync::Word;

/// Another thread interfered: what was read has changed, or is being changed.
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
    /// The node changes from here on: readers of the previous version must retry.
    #[inline(always)]
    pub(super) fn changing(&mut self) {
        self.latched.changing();
    }
}

impl<T: Trace> Drop for Held<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // A plain store: no other thread writes the word meanwhile.
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

    /// Returns whether everything that was read of the node since this version is of this version.
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

    /// Latches the node if the latch is free.
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
