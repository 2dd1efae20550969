//! One descent, step by step.
//!
//! A [`Walk`] leads from the root to an *anchor*, the place where a request is served: a leaf, an entry of
//! a data list. It goes in steps, and each step ends by asking for the memory that the next one will read.
//! A thread that leads one key waits for it; a thread that leads many goes on with another meanwhile
//! (`batch::interleave`, over [`Walks`]).
//!
//! What a walk finds is a hint: the structure may change between two steps and after the last one.
//! A thread that serves a request at an anchor must be able to tell whether it is the right one still.

mod kernel;
mod rounds;

pub use kernel::KernelWalk;
pub use rounds::{Rounds, Walks, WalksOf};

/// What a request will do at its anchor: what a walk prefetches last depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Aim {
    /// Look at one entry.
    #[default]
    Look,
    /// Put an entry in, or remove one.
    Change,
    /// Read so many entries from there on.
    Run(usize),
}

/// How far a step of a walk has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<A> {
    /// On the way: the next step reads what was just prefetched.
    On,
    /// To the anchor; or to nowhere, because others changed the structure under the walk.
    Landed(Option<A>),
}

/// An index that can be descended step by step.
///
/// ```
/// use latchless_papers::common::walk::{Aim, Step, Walk};
///
/// /// Blocks of a hundred keys below one root.
/// struct Blocks(u64);
///
/// impl Walk for Blocks {
///     type Key = u64;
///     type Place = Option<u64>;
///     type Anchor = u64;
///
///     fn enter(&self, _: u64, _: Aim) -> Option<u64> {
///         None
///     }
///
///     fn step(&self, place: &mut Option<u64>, key: u64) -> Step<u64> {
///         match *place {
///             None => {
///                 *place = Some((key / 100).min(self.0 - 1));
///                 Step::On
///             }
///             Some(block) => Step::Landed(Some(block)),
///         }
///     }
/// }
///
/// let blocks = Blocks(5);
/// let mut place = blocks.enter(234, Aim::Look);
/// assert_eq!(blocks.step(&mut place, 234), Step::On);
/// assert_eq!(blocks.step(&mut place, 234), Step::Landed(Some(2)));
/// ```
pub trait Walk: Sized + Sync {
    /// What leads the way: a key, as its lane.
    type Key: Copy;
    /// Where a walk is between two steps.
    type Place: Copy;
    /// Where it ends.
    type Anchor: Copy;

    /// Where the way of a request for `key` begins.
    fn enter(&self, key: Self::Key, aim: Aim) -> Self::Place;

    /// Goes one step: reads what the step before prefetched, and prefetches what the next one will read.
    /// Not to be called again once it has landed.
    fn step(&self, place: &mut Self::Place, key: Self::Key) -> Step<Self::Anchor>;

    /// Leads walks to their ends, together. An index that chooses its search kernel at run time does so
    /// here, once for all steps: see [`KernelWalk`].
    #[inline(never)]
    fn lead(&self, walks: &mut WalksOf<Self>, rounds: Rounds) {
        walks.go(self, rounds);
    }
}
