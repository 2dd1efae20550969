//! How the tree is entered: beside others, or alone.

use crate::node::watch::Watched;
use crate::node::{self, NodeLines};
use latchless_core::latch::Latched;
#[cfg(not(debug_assertions))]
use latchless_core::latch::OptimisticLatch;
use latchless_core::sync::Origin;

/// Whether latches are taken and versions looked at.
pub trait Mode: Copy + Send + Sync + 'static {
    /// Whether others may be in the tree.
    const SHARED: bool;
    /// A latch that is held.
    type Held<'a>: Held;
    /// Takes the latch of a node of a tree that was made there.
    fn latch<'a>(node: &'a NodeLines, origin: &Origin) -> Self::Held<'a>;
}

/// A latch that is held, or that needn't be.
pub trait Held {
    /// From here on content changes. To be said before the first change: a panic after it must not leave new
    /// content under an old version.
    fn changing(&mut self);
    /// Whether the node is marked: see [`ranks`](super::ranks).
    fn is_marked(&self) -> bool;
    /// Marks the node, or takes the mark back.
    fn set_mark(&mut self, marked: bool);
}

/// Beside others: writers latch, readers validate.
#[derive(Debug, Clone, Copy)]
pub struct Shared;

/// Alone, because the caller has the tree to itself: the same structure and the same algorithms, but
/// nothing is latched and nothing validated. Entering it so beside others is memory-safe and gives
/// wrong answers.
#[derive(Debug, Clone, Copy)]
pub struct Exclusive;

impl Mode for Shared {
    const SHARED: bool = true;
    type Held<'a> = Watched<'a, Latched<'a>>;

    #[inline(always)]
    fn latch<'a>(node: &'a NodeLines, origin: &Origin) -> Self::Held<'a> {
        Watched::new(node.as_flattened(), node::latch(node).latch_if_alone_cheaply(origin))
    }
}

impl Held for Latched<'_> {
    #[inline(always)]
    fn changing(&mut self) {
        Latched::changing(self);
    }

    #[inline(always)]
    fn is_marked(&self) -> bool {
        Latched::is_marked(self)
    }

    #[inline(always)]
    fn set_mark(&mut self, marked: bool) {
        Latched::set_mark(self, marked);
    }
}

/// Nothing is held. In debug builds the latch is, because nodes ask for that when they are changed.
#[derive(Debug)]
pub struct Free<'a> {
    #[cfg(debug_assertions)]
    latch: Latched<'a>,
    #[cfg(not(debug_assertions))]
    latch: &'a OptimisticLatch,
}

impl<'a> Free<'a> {
    #[inline(always)]
    fn new(node: &'a NodeLines) -> Self {
        let latch = node::latch(node);
        #[cfg(debug_assertions)]
        let latch = latch.try_latch().expect("the caller has the tree to itself");
        Self { latch }
    }
}

impl Mode for Exclusive {
    const SHARED: bool = false;
    type Held<'a> = Watched<'a, Free<'a>>;

    #[inline(always)]
    fn latch<'a>(node: &'a NodeLines, _: &Origin) -> Self::Held<'a> {
        Watched::new(node.as_flattened(), Free::new(node))
    }
}

impl Held for Free<'_> {
    #[inline(always)]
    fn changing(&mut self) {}

    #[inline(always)]
    fn is_marked(&self) -> bool {
        self.latch.is_marked()
    }

    #[inline(always)]
    fn set_mark(&mut self, marked: bool) {
        self.latch.set_mark(marked);
    }
}

impl<H: Held> Held for Watched<'_, H> {
    #[inline(always)]
    fn changing(&mut self) {
        self.announce().changing();
    }

    #[inline(always)]
    fn is_marked(&self) -> bool {
        self.held().is_marked()
    }

    #[inline(always)]
    fn set_mark(&mut self, marked: bool) {
        self.held_mut().set_mark(marked);
    }
}
