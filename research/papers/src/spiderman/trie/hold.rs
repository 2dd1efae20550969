//! Versions of nodes that were read and latches of nodes that are held.

use super::Trie;
use super::node::Node;
use super::reference::{Kind, Ref, To};
use crate::spiderman::latches::NodeLatch;
use latchless_core::base::error::{Error, Result};
use latchless_core::base::key::Bits;
use latchless_core::latch::Version;
use latchless_core::mem::touch::Trace;
use latchless_core::sync::Backoff;

pub(super) use crate::spiderman::latches::{Held, Restart};

/// Why an update has changed nothing.
#[derive(Debug)]
pub(super) enum Stopped {
    Restart,
    Refused(Error),
}

impl From<Restart> for Stopped {
    fn from(_: Restart) -> Self {
        Self::Restart
    }
}

impl From<Error> for Stopped {
    fn from(refused: Error) -> Self {
        Self::Refused(refused)
    }
}

/// An inner node, or the place above all nodes ([`Ref::NIL`]), and the version under which it was found to be
/// the right one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) node: Ref,
    version: Version,
}

/// The place of a reference to a node: in a node that was seen, under a byte. For the root's place that
/// byte is ignored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder {
    pub(super) seen: Seen,
    pub(super) byte: u8,
}

impl<B: Bits, T: Trace> Trie<B, T> {
    #[inline(always)]
    fn latch_of(&self, node: Ref) -> NodeLatch<'_, T> {
        NodeLatch::of(match node.to() {
            To::Inner(kind, place) => self.inner(kind, place).latch_word(),
            _ => &self.root.latch,
        })
    }

    /// The version of a node, unless somebody is changing it.
    #[inline(always)]
    pub(super) fn see(&self, node: Ref) -> Result<Seen, Restart> {
        Ok(Seen { node, version: self.latch_of(node).see()? })
    }

    /// Sees a node that is the child of another one, if that is unchanged; see [`Trie::see`].
    #[inline(always)]
    pub(super) fn see_below(&self, above: Seen, node: Ref) -> Result<Seen, Restart> {
        let seen = self.see(node)?;
        // It is in the trie at the moment its version is read only if it still is a child then.
        self.check(above)?;
        Ok(seen)
    }

    /// Checks that everything that was read of a node since it was seen is of that version.
    #[inline(always)]
    pub(super) fn check(&self, seen: Seen) -> Result<(), Restart> {
        if self.latch_of(seen.node).is_still(seen.version) { Ok(()) } else { Err(Restart) }
    }

    /// Latches a node if it is unchanged since it was seen.
    pub(super) fn upgrade(&self, seen: Seen) -> Result<Held<'_, T>, Restart> {
        self.latch_of(seen.node).upgrade(seen.version)
    }

    /// Writes a reference to a node where it belongs. For the holder of the latch there.
    pub(super) fn hang(&self, holder: Holder, node: Ref) {
        match holder.seen.node.to() {
            To::Inner(kind, place) => self.inner(kind, place).replace(holder.byte, node),
            _ => {
                T::write(core::ptr::from_ref(&self.root.child).cast(), size_of::<u32>());
                self.root.child.store_relaxed(u64::from(node.to_word()));
            }
        }
    }

    /// Replaces a node by the result of `make`, which is called while both latches are held, and frees it.
    pub(super) fn replace(
        &self,
        holder: Holder,
        old: Seen,
        make: impl FnOnce() -> Ref,
    ) -> Result<(), Restart> {
        let mut above = self.upgrade(holder.seen)?;
        let mut own = self.upgrade(old)?;
        self.hang(holder, make());
        above.changing();
        // It leaves the trie: no thread that has seen it may believe or latch it.
        own.changing();
        drop((above, own));
        self.pools.free::<T>(old.node);
        Ok(())
    }

    /// Waits a little after others were in the way.
    #[cold]
    fn step_back(&self, backoff: &mut Backoff) {
        self.restarts.add(1);
        if !T::LISTENING {
            backoff.wait_at(self.pools.origin());
        }
    }

    /// Tries until others aren't in the way.
    #[inline(always)]
    pub(super) fn until_done<R>(&self, mut attempt: impl FnMut() -> Result<R, Restart>) -> R {
        let mut backoff = Backoff::default();
        loop {
            match attempt() {
                Ok(done) => return done,
                Err(Restart) => self.step_back(&mut backoff),
            }
        }
    }
}

/// A node that isn't reachable yet. It is freed if it isn't used.
#[derive(Debug)]
pub(super) struct Fresh<'a, B: Bits, T: Trace> {
    trie: &'a Trie<B, T>,
    pub(super) node: Ref,
}

impl<B: Bits, T: Trace> Trie<B, T> {
    pub(super) fn fresh_leaf(&self, key: B, value: B) -> Result<Fresh<'_, B, T>> {
        Ok(Fresh { trie: self, node: self.pools.new_leaf::<T>(key, value)? })
    }

    pub(super) fn fresh_inner(&self, kind: Kind, depth: usize) -> Result<Fresh<'_, B, T>> {
        Ok(Fresh { trie: self, node: self.pools.new_inner::<T>(kind, depth)? })
    }
}

impl<'a, B: Bits, T: Trace> Fresh<'a, B, T> {
    /// Returns the node, which is about to be linked into the trie.
    pub(super) fn used(mut self) -> Ref {
        core::mem::replace(&mut self.node, Ref::NIL)
    }

    /// The words of an inner node.
    pub(super) fn inner(&self) -> Option<Node<'a, T>> {
        let To::Inner(kind, place) = self.node.to() else { return None };
        Some(self.trie.inner(kind, place))
    }
}

impl<B: Bits, T: Trace> Drop for Fresh<'_, B, T> {
    fn drop(&mut self) {
        self.trie.pools.free::<T>(self.node);
    }
}
