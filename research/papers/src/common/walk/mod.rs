//! One descent in steps.
//!
//! A [`Walk`] leads from the root to an *anchor*, the place where a request is served: a leaf, or an entry
//! of a data list. It proceeds in steps, and each step ends by prefetching the memory that the next one
//! reads. A thread with one walk waits for it; a thread with many advances another one meanwhile
//! (`batch::interleave`, over [`Walks`]).
//!
//! The end of a walk is a hint: the structure may change between two steps and after the last one. A
//! thread that serves a request at an anchor must be able to check that it is still the right one.

mod kernel;
mod rounds;

pub use kernel::KernelWalk;
pub use rounds::{Rounds, Walks, WalksOf};

/// What a request does at its anchor; it determines what a walk prefetches last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Aim {
    /// Read one entry.
    #[default]
    Look,
    /// Put an entry in, or remove one.
    Change,
    /// Read that many entries from there on.
    Run(usize),
}

/// How far a step of a walk has progressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<A> {
    /// On the way: the next step reads the memory that was just prefetched.
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
    /// The target of a walk: a key, as its lane.
    type Key: Copy;
    /// The position of a walk between two steps.
    type Place: Copy;
    /// The end of a walk.
    type Anchor: Copy;

    /// Returns the start of the walk for a request for `key`.
    fn enter(&self, key: Self::Key, aim: Aim) -> Self::Place;

    /// Takes one step: reads what the previous step prefetched, and prefetches what the next one will
    /// read. Must not be called after the walk has ended.
    fn step(&self, place: &mut Self::Place, key: Self::Key) -> Step<Self::Anchor>;

    /// Leads walks to their ends, together. An index that chooses its search kernel at run time does so
    /// here, once for all steps: see [`KernelWalk`].
    #[inline(never)]
    fn lead(&self, walks: &mut WalksOf<Self>, rounds: Rounds) {
        walks.go(self, rounds);
    }
}
