//! What a concurrent B-link tree is, whatever its nodes hold: the skeleton of the tree of words
//! ([`tree`](crate::tree)) and of that of byte strings ([`byte_tree`](crate::byte_tree)).
//!
//! Nothing here knows how a node is laid out: an algorithm sees nodes through the trait [`Levels`], and what
//! it needs besides through one of its own. The trees import these files, never the other way round, and
//! keep to themselves what runs in each operation: gets, edits that need no split, and groups of them.
//!
//! # Invariants
//! 1. Latches are taken bottom-up, and from left to right within a level, so waits can't form a cycle.
//! 2. A node's place in the tree (a split, a merge, a new root) is changed under its latch, which is held
//!    until its parent has been updated. So a latched tree is complete: every node but the root is the child
//!    of exactly one parent, with its low fence as the separator.
//! 3. Between their fences the nodes of a level cover all keys, and each node links to the next one.
//! 4. The root changes only under its latch.
//! 5. A node is reused on its own level only, and is dead (covers no key) from its removal until its reuse;
//!    both change its version.
//! 6. No code of the caller runs while a latch is held.

mod arena;
mod change;
mod check;
mod counts;
mod covering;
mod levels;
mod merge;
mod mode;
mod options;
mod root;
mod spares;
mod tries;

pub use arena::SharedArena;
pub(crate) use change::{Change, Put, Remove, Step};
pub use change::{Edit, Edited};
pub(crate) use check::{Check, Content, check};
pub(crate) use counts::Counts;
pub(crate) use covering::latch_covering;
pub use levels::Side;
pub(crate) use levels::{Levels, counted, stats};
pub(crate) use merge::{Family, Merge, Outcome, merge_around};
pub(crate) use mode::Held;
pub use mode::{Exclusive, Mode, Shared};
pub use options::BlinkOptions;
pub(crate) use root::{LEVELS_MAX, Root};
pub(crate) use spares::Spares;
pub(crate) use tries::Listing;
pub use tries::{Conflicts, Tries};
