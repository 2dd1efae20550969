//! Modes of access to a tree: shared with other threads, or exclusive.

use crate::node::watch::Watched;
use latchless_core::latch::{Latched, OptimisticLatch};
use latchless_core::sync::{Origin, Word};

/// Whether latches are taken and versions validated.
pub trait Mode: Copy + Send + Sync + 'static {
    /// Whether other threads may access the tree.
    const SHARED: bool;
    /// A held latch.
    type Held<'a>: Held;
    /// Takes the latch of a node, the first of these words, of a tree that was made in the process `origin`.
    fn latch<'a>(words: &'a [Word], origin: &Origin) -> Self::Held<'a>;
}

/// A latch that is held, or that needn't be.
pub trait Held {
    /// Announces that content changes from here on. Call it before the first change: a panic after a change
    /// must not leave new content under an old version.
    fn changing(&mut self);
    /// Returns whether the node is marked: a tree gives the mark its meaning.
    fn is_marked(&self) -> bool;
    /// Sets or clears the mark.
    fn set_mark(&mut self, marked: bool);
}

/// Other threads may access the tree: writers latch, readers validate.
#[derive(Debug, Clone, Copy)]
pub struct Shared;

/// The caller has exclusive access: the same structure and algorithms without latches and validation. Using
/// it while other threads access the tree is memory-safe, but gives wrong results.
#[derive(Debug, Clone, Copy)]
pub struct Exclusive;

impl Mode for Shared {
    const SHARED: bool = true;
    type Held<'a> = Watched<'a, Latched<'a>>;

    #[inline(always)]
    fn latch<'a>(words: &'a [Word], origin: &Origin) -> Self::Held<'a> {
        Watched::new(words, OptimisticLatch::of(&words[0]).latch_if_alone_cheaply(origin))
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

/// No latch is held, except in debug builds, because nodes assert it when they are changed.
#[derive(Debug)]
pub struct Free<'a> {
    #[cfg(debug_assertions)]
    latch: Latched<'a>,
    #[cfg(not(debug_assertions))]
    latch: &'a OptimisticLatch,
}

impl<'a> Free<'a> {
    #[inline(always)]
    fn new(latch: &'a OptimisticLatch) -> Self {
        #[cfg(debug_assertions)]
        let latch = latch.try_latch().expect("the caller has the tree to itself");
        Self { latch }
    }
}

impl Mode for Exclusive {
    const SHARED: bool = false;
    type Held<'a> = Watched<'a, Free<'a>>;

    #[inline(always)]
    fn latch<'a>(words: &'a [Word], _: &Origin) -> Self::Held<'a> {
        Watched::new(words, Free::new(OptimisticLatch::of(&words[0])))
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
