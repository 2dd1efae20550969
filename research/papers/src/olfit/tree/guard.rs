//! Guards of latches, the tree's and nodes'. Each reports to the tracing hook that its latch is taken by a
//! locked step, that it is waited for, that it is released.

use super::OlfitTree;
use crate::olfit::node::{Kind, NodeLatch, Scheme, TreeLatch, WordOf};
use crate::olfit::shared_latch::{Alone, SharedLatch, Together};
use core::marker::PhantomData;
use latchless_core::latch::{Latched, OptimisticLatch};
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::Trace;
use latchless_core::sync::{Atom, AtomicU64, Backoff, BitsWord, Origin};

/// The atomic that a node's latch is.
pub(super) type AtomOf<K> = <WordOf<K> as BitsWord>::Atom;
/// The guard of a node's latch.
pub(super) type NodeGuard<'a, K> = Guard<'a, AtomOf<K>, <K as Kind>::Trace>;

/// A latch that is held.
#[derive(Debug)]
pub(super) struct Guard<'a, A: Atom, T: Trace> {
    held: Option<Held<'a, A>>,
    address: usize,
    touch: PhantomData<T>,
}

#[derive(Debug)]
enum Held<'a, A: Atom> {
    Version(Latched<'a, A>),
    Alone(#[expect(dead_code, reason = "held until it is dropped")] Alone<'a, A>),
    Together(#[expect(dead_code, reason = "held until it is dropped")] Together<'a, A>),
}

impl<'a, A: Atom, T: Trace> Guard<'a, A, T> {
    fn new(held: Held<'a, A>, address: *const u8) -> Self {
        Self { held: Some(held), address: address.addr(), touch: PhantomData }
    }

    /// Content changes from here on: readers that read the previous version must retry.
    #[inline(always)]
    pub(super) fn changing(&mut self) {
        if let Some(Held::Version(latched)) = &mut self.held {
            latched.changing();
        }
    }

    /// Returns whether this is the latch at an address.
    pub(super) fn is_at(&self, address: *const u8) -> bool {
        self.address == address.addr()
    }

    /// Takes an optimistic latch, waiting for it.
    #[inline(always)]
    fn latch(latch: &'a OptimisticLatch<A>, origin: &Origin) -> Self {
        let address = core::ptr::from_ref(latch).cast();
        Self::new(
            Held::Version(wait::<A, T, _>(
                (address, origin),
                || latch.try_latch(),
                || latch.stable_version().is_some(),
            )),
            address,
        )
    }

    /// Takes a shared latch together with others.
    #[inline(always)]
    fn together(latch: &'a SharedLatch<A>, origin: &Origin) -> Self {
        let address = core::ptr::from_ref(latch).cast();
        Self::new(
            Held::Together(wait::<A, T, _>((address, origin), || latch.try_together(), || latch.is_open())),
            address,
        )
    }

    /// Takes a shared latch alone.
    #[inline(always)]
    fn alone(latch: &'a SharedLatch<A>, origin: &Origin) -> Self {
        let address = core::ptr::from_ref(latch).cast();
        let attempt = || {
            let held = latch.try_alone();
            if held.is_none() {
                latch.wish();
            }
            held
        };
        // Another thread's turn cleared the request: it is set again, or readers would keep entering.
        let alone = wait::<A, T, _>((address, origin), attempt, || latch.is_free() || latch.is_open());
        Self::new(Held::Alone(alone), address)
    }
}

impl<A: Atom, T: Trace> Drop for Guard<'_, A, T> {
    #[inline(always)]
    fn drop(&mut self) {
        let address = core::ptr::without_provenance(self.address);
        match &self.held {
            // A plain store: no other thread writes the word meanwhile.
            Some(Held::Version(_)) => T::write(address, A::BYTES),
            _ => T::exchange(address),
        }
        self.held = None;
    }
}

/// Tries until it works. A try is a locked step, which takes the latch's line away from all others; so
/// in between it only looks, until another try may work.
#[inline(always)]
fn wait<A: Atom, T: Trace, R>(
    (address, origin): (*const u8, &Origin),
    attempt: impl Fn() -> Option<R>,
    may_work: impl Fn() -> bool,
) -> R {
    let mut backoff = Backoff::default();
    loop {
        T::exchange(address);
        if let Some(held) = attempt() {
            return held;
        }
        loop {
            wait_for::<T>(address, &mut backoff, origin);
            T::read(address, A::BYTES);
            if may_work() {
                break;
            }
        }
    }
}

/// Waits before a word is read again: in a model for another worker to change it, otherwise a while.
#[inline(always)]
pub(super) fn wait_for<T: Trace>(address: *const u8, backoff: &mut Backoff, origin: &Origin) {
    T::wait(address);
    if !T::LISTENING {
        backoff.wait_at(origin);
    }
}

/// The kind of an access to the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// Being in the tree: holding its latch, if it has one, and keeping what leaves it from being used again.
#[derive(Debug)]
#[must_use = "who doesn't stay inside needn't come in"]
pub(super) struct Inside<'a, K: Kind> {
    _latch: Option<Guard<'a, AtomicU64, K::Trace>>,
    _pin: Option<crate::common::units::Pin<'a, K::Trace>>,
}

impl<K: Kind> OlfitTree<K> {
    /// Enters the tree.
    #[inline(always)]
    pub(super) fn enter(&self, access: Access) -> Inside<'_, K> {
        let (latch, writes) = (&self.tree_latch.0, access == Access::Write);
        let latch = match K::Scheme::TREE_LATCH {
            TreeLatch::Everybody if !writes => Some(Guard::together(latch, self.arena.origin())),
            TreeLatch::Everybody => Some(Guard::alone(latch, self.arena.origin())),
            TreeLatch::Writers if writes => Some(Guard::alone(latch, self.arena.origin())),
            _ => None,
        };
        // A thread that waits for the latch needn't keep anything back.
        Inside { _latch: latch, _pin: self.arena.pin::<K::Trace>() }
    }

    /// Latches a node for changing it.
    #[inline(always)]
    pub(super) fn latch(&self, node: NodeRef) -> NodeGuard<'_, K> {
        let word = self.node_of(node).latch_word();
        match K::Scheme::NODE_LATCH {
            NodeLatch::Shared => Guard::alone(SharedLatch::of(word), self.arena.origin()),
            _ => Guard::latch(OptimisticLatch::of(word), self.arena.origin()),
        }
    }

    /// Latches the node like [`OlfitTree::latch`], if the latch is free.
    pub(super) fn try_latch(&self, node: NodeRef) -> Option<NodeGuard<'_, K>> {
        let (word, address) = (self.node_of(node).latch_word(), self.node_of(node).latch_address());
        K::Trace::exchange(address);
        let held = match K::Scheme::NODE_LATCH {
            NodeLatch::Shared => SharedLatch::of(word).try_alone().map(Held::Alone),
            _ => OptimisticLatch::of(word).try_latch().map(Held::Version),
        };
        held.map(|held| Guard::new(held, address))
    }

    /// Latches a node for reading it or for going further down, under LC.
    #[inline(always)]
    pub(super) fn latch_together(&self, node: NodeRef) -> NodeGuard<'_, K> {
        Guard::together(SharedLatch::of(self.node_of(node).latch_word()), self.arena.origin())
    }

    /// Latches the reference to the root, under VN.
    pub(super) fn latch_root(&self) -> Guard<'_, AtomicU64, K::Trace> {
        Guard::latch(&self.root_latch, self.arena.origin())
    }
}
