//! Byte strings as keys: nodes with entries of any length, and the tree of them.
//!
//! Bottom up: `text.rs` (strings as words), `shape.rs` (the layout of a node), `long.rs` (strings outside
//! of nodes), `node.rs` and `fences.rs` (reading), `shift.rs` and `change.rs` (changing in place),
//! `records` (leaves of keys of one length), `values.rs` and `take.rs` (forms of values), `image.rs` (nodes
//! in private memory), `usual.rs` and `prefetch.rs` (which lines to prefetch), `store.rs` (all nodes, their
//! latches, and descents), `finder` (shortcuts past inner nodes, and their choice), `tree.rs` (the tree), and
//! one algorithm per file. Imports go down.

mod aside;
mod beside;
mod change;
mod check;
mod count;
mod cut;
mod edit;
mod fences;
mod finder;
mod get;
mod group;
mod image;
mod key_room;
mod leaf_copy;
mod lend;
mod load;
mod long;
mod merge;
mod near;
mod near_group;
mod newest;
mod node;
mod part;
mod pop;
mod prefetch;
mod records;
mod shape;
mod shift;
mod shrink;
mod split;
mod store;
mod strings;
mod take;
#[cfg(test)]
mod tests;
mod text;
#[cfg(any(test, fuzzing))]
pub mod torn;
mod tree;
mod usual;
mod values;
mod walk;
mod wide;

pub use beside::OnSide;
pub use finder::Aim;
pub use group::{EDITS, GROUP};
pub use key_room::KeyRoom;
pub use leaf_copy::{Bounds, LeafCopy};
pub use near::Border;
pub use newest::Newest;
pub use shape::LEN_MAX;
pub use take::{Kept, OneWord, Take};
pub use tree::ByteTree;
