//! What a concurrent B-link tree is, whatever its nodes hold: the skeleton of the tree of words
//! ([`tree`](crate::tree)) and of that of byte strings ([`byte_tree`](crate::byte_tree)).
//!
//! Nothing here knows how a node is laid out. The trees import these files, never the other way round, and
//! keep to themselves what runs in each operation: gets, edits that need no split, and groups of them.

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
pub(crate) use levels::{Levels, stats};
pub(crate) use merge::{Family, Merge, Outcome, merge_around};
pub(crate) use mode::Held;
pub use mode::{Exclusive, Mode, Shared};
pub use options::BlinkOptions;
pub(crate) use root::{LEVELS_MAX, Root};
pub(crate) use spares::Spares;
pub(crate) use tries::Listing;
pub use tries::Tries;
