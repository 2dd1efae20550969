//! The data list of CSSL (§3.2): all entries in ascending order of keys, singly linked, changed by many
//! threads without latches.
//!
//! # Nodes
//! Three words as wide as a lane: key, value, link. The first node of all, the *head*, has no entry.
//!
//! # Thread safety
//! Every thread here is pinned in the epoch that guards the nodes' arena ([`crate::cssl::guarded`]), from
//! before a node was found until its last use. Then:
//! 1. A key never changes while its node is reachable. Values change under a claim (`latch/link.rs`, which
//!    has the rules for links).
//! 2. A thread that goes right from a node that was alive at the start sees every entry after it that is
//!    present throughout: links out of dead nodes lead on, and nodes that are inserted later are inserted
//!    after a living one.
//! 3. A node from which a walk starts, an *anchor*, must be seen alive first: the nodes after a dead one
//!    may have changed without it. A thread that finds it dead starts further left; the head never dies.
//! 4. A dead node is unlinked by updates that pass it, and retired by the thread that did so, unless it is
//!    placed: then layers refer to it, and it is retired when those are replaced.

mod edit;
mod walk;

use crate::common::units::UnitArena;
use crate::cssl::link::Link;
use latchless_core::base::error::Result;
use latchless_core::base::key::Bits;
use latchless_core::mem::line::prefetch_read;
use latchless_core::mem::node_ref::NodeRef;
use latchless_core::mem::touch::{NoTrace, Trace, Work};
use latchless_core::sync::{BitsWord, perturb};

pub use edit::{Outcome, Removed};

/// Words of a node.
const NODE_WORDS: usize = 3;

/// Bytes of a node with lanes `B`.
pub const fn node_bytes<B: Bits>() -> usize {
    NODE_WORDS * B::BYTES
}

/// The atomic that a link among lanes `B` is.
type AtomOf<B> = <<B as Bits>::Word as BitsWord>::Atom;

/// The anchor isn't alive: begin further left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeadAnchor;

/// A list's nodes. See the module's head.
#[derive(Debug)]
pub struct List<'a, B: Bits> {
    arena: &'a UnitArena<B::Word>,
    head: NodeRef,
}

impl<B: Bits> Clone for List<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Bits> Copy for List<'_, B> {}

/// One node.
struct Node<'a, B: Bits> {
    words: &'a [B::Word; NODE_WORDS],
}

impl<B: Bits> Clone for Node<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Bits> Copy for Node<'_, B> {}

impl<'a, B: Bits> Node<'a, B> {
    #[inline(always)]
    fn key(self) -> B {
        self.words[0].load_relaxed()
    }

    #[inline(always)]
    fn value(self) -> B {
        self.words[1].follow()
    }

    /// Sets the value of a node that is claimed, or that isn't reachable yet.
    #[inline(always)]
    fn set_value(self, value: B) {
        self.words[1].publish(value);
    }

    #[inline(always)]
    fn link(self) -> &'a Link<AtomOf<B>> {
        Link::of(&self.words[2])
    }

    /// Initializes the words of a node that isn't reachable yet.
    fn begin(self, key: B, value: B, next: Option<u32>, placed: bool) {
        self.words[0].store_relaxed(key);
        self.words[1].store_relaxed(value);
        self.link().begin(next, placed);
    }
}

impl<'a, B: Bits> List<'a, B> {
    /// Returns the list that begins with this node, whose arena allocates nodes of [`node_bytes`].
    #[inline(always)]
    pub fn of(arena: &'a UnitArena<B::Word>, head: NodeRef) -> Self {
        Self { arena, head }
    }

    /// Creates an empty list and returns its first node.
    ///
    /// # Errors
    /// When memory is refused.
    pub fn begin(arena: &UnitArena<B::Word>) -> Result<NodeRef> {
        let head = arena.allocate::<NoTrace>(0)?;
        List { arena, head }.node(head).begin(B::MIN, B::MIN, None, false);
        Ok(head)
    }

    /// Fills an empty list that isn't shared yet with adjacent, placed nodes. Returns the first one.
    ///
    /// # Errors
    /// When memory is refused; the list is then as before.
    pub fn load(&self, entries: impl ExactSizeIterator<Item = (B, B)>) -> Result<NodeRef> {
        let len = entries.len();
        let first = self.arena.allocate_run(len)?;
        for (at, (key, value)) in entries.enumerate() {
            let next = (at + 1 < len).then(|| first.offset(at + 1).to_word());
            self.node(first.offset(at)).begin(key, value, next, true);
        }
        self.node(self.head).link().begin((len > 0).then(|| first.to_word()), false);
        Ok(first)
    }

    #[inline(always)]
    fn node(&self, at: NodeRef) -> Node<'a, B> {
        let words = self.arena.words(at);
        Node { words: words.first_chunk().expect("the arena's nodes have as many words") }
    }

    /// The key of a node that is no head.
    #[inline(always)]
    pub fn key(&self, at: NodeRef) -> B {
        self.node(at).key()
    }

    /// A node's value, unless the node is dead.
    #[inline(always)]
    pub fn living_value(&self, at: NodeRef) -> Option<B> {
        let node = self.node(at);
        if node.link().follow().is_dead() {
            return None;
        }
        perturb();
        Some(node.value())
    }

    /// A node's value, dead or alive.
    #[inline(always)]
    pub fn value(&self, at: NodeRef) -> B {
        self.node(at).value()
    }

    /// Returns whether a node is alive.
    #[inline(always)]
    pub fn is_alive(&self, at: NodeRef) -> bool {
        !self.node(at).link().follow().is_dead()
    }

    /// Returns whether layers refer to a node.
    pub fn is_placed(&self, at: NodeRef) -> bool {
        self.node(at).link().follow().is_placed()
    }

    /// Reports that a node is visited and read.
    #[inline(always)]
    pub fn tell_read<T: Trace>(&self, at: NodeRef) {
        T::work(Work::Visit);
        T::read(self.arena.address(at), node_bytes::<B>());
    }

    /// Prefetches a node, but not for searches that are the paper's ([`Trace::BRANCHING`]).
    #[inline(always)]
    pub fn ask<T: Trace>(&self, at: NodeRef) {
        if T::BRANCHING {
            return;
        }
        T::prefetch(self.arena.address(at), node_bytes::<B>());
        prefetch_read(self.arena.address(at));
    }
}

#[cfg(test)]
mod tests;
