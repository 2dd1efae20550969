//! CSSL (Sprenger, Zeuch, Leser: *Cache-Sensitive Skip List: Efficient Range Queries on modern CPUs*,
//! 2016): a skip list for data that is read far more often than changed, and for ranges.
//!
//! | member | meaning |
//! |---|---|
//! | `cssl2`, `cssl5` | the paper's two: p = 1/2 and p = 1/5, all lanes in one array |
//! | `cssl` | p = 1/5, lanes over stretches of some 16,000 keys each, which are rebuilt one by one |
//!
//! # Structure
//! - The data list ([`crate::cssl::list`]): every entry in one sorted list, changed by compare-and-swap.
//!   It alone determines the content.
//! - Fast lanes and proxy lane ([`crate::cssl::lanes`]): dense arrays that lead into it. They are built
//!   over the list, overwritten in place when entries leave, and replaced by rebuilt ones concurrently
//!   with readers and writers ([`CsslMap::rebuild_changed`]).
//! - One epoch ([`crate::cssl::guarded`]) keeps nodes and lanes readable for pinned threads.
//!
//! # Ranges
//! [`Pinned::range`] finds the first and the last element by two interleaved descents.
//! [`Pinned::range_along_lane`] is the paper's way, along lane 1 by SIMD. Either returns a [`Run`], which
//! can be walked, counted and summed. Since positions in the lanes are ranks, counting needs no further
//! work if nothing has changed since the lanes were built.
//!
//! # Guarantees
//! Single operations are linearizable, replacing a value needs no memory, readers never wait. Inserts
//! never wait; replacing or removing a key waits for a thread that is doing the same to that key. A scan
//! isn't atomic: it sees each key that is present throughout exactly once, in order, and only entries that
//! existed; it may or may not see keys that are inserted or removed meanwhile.

mod analysis;
mod batch;
mod catalogue;
mod check;
pub mod drift;
pub mod guarded;
pub mod lanes;
pub mod link;
pub mod list;
mod map;
pub mod marks;
mod options;
mod ordered;
mod parts;
mod pinned;
pub mod pointer;
mod range;
mod rebuild;
mod scan;
mod skip_list;
#[cfg(test)]
mod tests;
mod threads;
mod walk;

pub use analysis::{authors_space_bytes, fast_lane_bytes, lane_space_bytes, space_bytes, space_ratio};
pub use catalogue::{Member, build};
pub use check::Space;
pub use map::CsslMap;
pub use options::Options;
pub use pinned::{Pinned, Run};

use latchless_core::base::key::Key;
use skip_list::SkipList;

/// A paused scan over a map: see [`CsslMap::scanner`].
pub type Scan<'a, K, V> = crate::common::scan::Scan<'a, K, V, SkipList<<K as Key>::Bits>>;
/// An iterator over a range of a map: see [`CsslMap::range`].
pub type Entries<'a, K, V> = crate::common::scan::Entries<'a, K, V, SkipList<<K as Key>::Bits>>;
