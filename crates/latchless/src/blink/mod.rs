//! What a concurrent B-link tree is, whatever its nodes hold: the skeleton of the tree of words
//! ([`tree`](crate::tree)) and of that of byte strings ([`byte_tree`](crate::byte_tree)).
//!
//! Nothing here knows how a node is laid out. The trees import these files, never the other way round, and
//! keep to themselves what runs in each operation: gets, edits that need no split, and groups of them.

mod arena;
mod change;
mod mode;
mod tries;

pub use arena::SharedArena;
pub(crate) use change::{Change, Put, Remove, Step};
pub use change::{Edit, Edited};
pub(crate) use mode::Held;
pub use mode::{Exclusive, Mode, Shared};
pub(crate) use tries::Listing;
pub use tries::Tries;
