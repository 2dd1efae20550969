//! A concurrent B-link tree of hinted nodes, read without latches.
//!
//! # Thread safety
//! Everything takes `&self`. Readers don't validate inner nodes. In large trees they start below the root
//! (`directory`) or at a predicted leaf (`guesses`). The leaf's fences and version decide whether it is the
//! right one. A reader that arrives too far left follows links. One that arrives too far right, at a dead
//! leaf, or at one that changes meanwhile, restarts at most [`READ_TRIES`] times, and then takes the leaf's
//! latch. Writers latch leaves; only splits and merges latch inner nodes.
//!
//! # Invariants
//! Those of `blink/mod.rs`, and: nothing is allocated while a latch is held.

mod beside;
mod blink;
mod check;
mod chunks;
mod count;
mod directory;
mod dump;
mod edit;
mod ends;
mod finder;
mod get;
mod group;
mod guesses;
mod latched;
mod latecomers;
mod lend;
mod load;
mod merge;
mod nearest;
mod nearest_each;
mod nth;
mod point;
mod ranks;
mod remove_range;
mod scan;
mod shrink;
mod sides;
mod split;
#[cfg(feature = "steps")]
pub mod steps;
mod store;
mod sum;
mod sweep;
#[cfg(test)]
mod tests;
#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests_fork;
mod tuners;

pub use crate::blink::{BlinkOptions, Edit, Edited, Exclusive, Mode, Shared, Tries};
pub use crate::node::{CHUNK, Chunk, Entries as LeafCopy};
pub use blink::BlinkTree;
pub use chunks::Chunks;
pub use finder::READ_TRIES;
pub(crate) use guesses::{SEGMENTS, Segments, Share, Slots, are_even};
pub use sides::{Beside, Own};
pub use sweep::Sweep;
pub use tuners::Group;
