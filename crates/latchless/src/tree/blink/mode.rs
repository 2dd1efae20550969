//! How the tree is entered: beside others, or alone.

use crate::latch::{Latched, OptimisticLatch};
use crate::sync::Origin;

/// Whether latches are taken and versions looked at.
pub trait Mode: Copy + Send + Sync + 'static {
    /// Whether others may be in the tree.
    const SHARED: bool;
    /// A latch that is held.
    type Held<'a>: Held;
    /// Takes a latch that was made there.
    fn latch<'a>(latch: &'a OptimisticLatch, origin: &Origin) -> Self::Held<'a>;
}

/// A latch that is held, or that needn't be.
pub trait Held {
    /// From here on content changes.
    fn changing(&mut self);
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
    type Held<'a> = Latched<'a>;

    #[inline(always)]
    fn latch<'a>(latch: &'a OptimisticLatch, origin: &Origin) -> Latched<'a> {
        latch.latch(origin)
    }
}

impl Held for Latched<'_> {
    #[inline(always)]
    fn changing(&mut self) {
        Latched::changing(self);
    }
}

/// Nothing is held.
#[derive(Debug)]
pub struct Free;

impl Mode for Exclusive {
    const SHARED: bool = false;
    type Held<'a> = Free;

    #[inline(always)]
    fn latch(_: &OptimisticLatch, _: &Origin) -> Free {
        Free
    }
}

impl Held for Free {
    #[inline(always)]
    fn changing(&mut self) {}
}
