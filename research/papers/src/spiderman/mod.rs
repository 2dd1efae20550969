//! Spiderman (Vu: *Software Prefetching and Request Multiplexing to Mask Memory Accesses in B+trees*,
//! 2023): batches of requests on a B+-Tree with optimistic lock coupling, whose descents take turns while
//! memory is loaded.
//!
//! | member | meaning |
//! |---|---|
//! | `olc` | the paper's baseline: one request after the other |
//! | `spiderman` | batches, with all proposals of the paper's author (§5.2) |
//! | `art` | an adaptive radix tree under the same latches ([`trie`]), as a rival |
//! | `spiderman-naive` | batches as the paper has them: prefetch options 1, 2 and 3, sixteen requests, idle slots, and a second descent from the root |
//!
//! # Structure
//! - The tree ([`crate::spiderman::tree`]): pages of 4096 bytes with 255 pairs, a latch and version per
//!   page.
//! - The walk ([`crate::spiderman::tree::PageWalk`]): a descent in steps, with the prefetch options of §3.3
//!   ([`Prefetch`]).
//! - Another index ([`trie`]): the author's future work.
//! - The executor ([`crate::common::interleave::interleave`]): one function for any tree that implements a
//!   walk, such as OLFIT's trees and the pB+-Tree family.
//!
//! # Guarantees
//! Single operations are linearizable. A batch is served in its order, each request separately: its
//! results are those of one request after the other, and other threads may see some of its entries and not
//! yet the others. Scans see each key that is present throughout exactly once, in order, and only entries
//! that existed.

mod catalogue;
mod latches;
mod map;
mod ordered;
pub mod page;
pub mod prefetch;
pub mod tree;
pub mod trie;

pub use catalogue::{Member, build, build_traced};
pub use map::{Batching, Options, SpidermanMap};

use crate::spiderman::tree::OlcTree;

pub use crate::common::interleave::BatchSize;
pub use crate::common::walk::Rounds;
pub use crate::spiderman::prefetch::Prefetch;

/// A paused scan over a map: see [`SpidermanMap::scanner`].
pub type Scan<'a, K, V, T> = crate::common::scan::Scan<'a, K, V, OlcTree<T>>;
/// An iterator over a range of a map: see [`SpidermanMap::range`].
pub type Entries<'a, K, V, T> = crate::common::scan::Entries<'a, K, V, OlcTree<T>>;
