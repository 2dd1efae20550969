//! OLFIT and its rivals (Cha, Hwang, Kim, Kwon: *Cache-Conscious Concurrency Control of Main-Memory
//! Indexes on Shared-Memory Multiprocessor Systems*, VLDB 2001): the B+-Tree and the full CSB+-Tree, each
//! under the paper's five concurrency-control schemes and under none.
//!
//! | member | scheme |
//! |---|---|
//! | `b-no`, `csb-no` | NO: none; one thread at a time |
//! | `b-ol`, `csb-ol` | OL: OLFIT. One word per node that is a latch for writers and a version for readers; high keys and links; emptied nodes wait for readers (§5.3) |
//! | `b-ol-at-once`, `csb-ol-at-once` | the same, but emptied nodes are used again at once, and readers see by fences and versions that they came too late |
//! | `b-ol-prefetched`, `csb-ol-prefetched` | OL whose descents prefetch whole children; not in the paper |
//! | `b-lc`, `csb-lc` | LC: lock coupling; shared latches hand over hand, the leaf alone; a second descent with latches held alone if the leaf isn't safe (Bayer and Schkolnick) |
//! | `b-tl`, `csb-tl` | TL: one reader-writer latch |
//! | `b-vn`, `csb-vn` | VN: readers latch nothing; an update copies the node (CSB+: the group) and swaps the copy in, under the latches of node and parent |
//! | `b-vt`, `csb-vt` | VT: the same, but writers have one latch |
//!
//! # Structure
//! - One tree algorithm ([`crate::olfit::tree`]): reach the leaf, climb to the lowest node with room,
//!   change from there down, publish. A scheme is a table of constants ([`Scheme`]): which latches nodes
//!   and tree have, whether nodes have links, whether changes are made on copies, and when memory is
//!   reused. VN and VT run the same splits as the others, on copies.
//! - One node ([`crate::olfit::node`]): an array of atomics as wide as a lane, of 64 to 512 bytes. The
//!   words that a scheme needs determine how many entries have room; with 128 bytes and 4-byte keys and
//!   references these are the numbers of the paper's Table 1.
//! - One arena ([`crate::common::units`]): nodes, or whole node groups, are never unmapped; each thread
//!   has a separate pool, so that versions aren't charged for allocation (§6).
//! - Every access is reported to the tracing hook, latches included, so a model of many processors runs
//!   the real trees; pools and epochs are selected by
//!   [`Trace::worker`](latchless_core::mem::touch::Trace::worker) there.
//!
//! # One value a key, or duplicates
//! By default a key is present once and an insert replaces its value. With [`Options::duplicates`], as in
//! the paper's measurements, an insert always adds an entry; then
//! - `get` and `remove` apply to *one* entry of the key, the first one; `remove_entry` removes one with a
//!   given value; the order of one key's entries is unspecified;
//! - scans return each entry, those of one key consecutively, and count each.
//!
//! # Guarantees
//! Single operations are linearizable. A scan isn't: it sees each key's entries as they were at some
//! moment during the scan, each key that is present throughout exactly once, in order, and only entries
//! that existed. Under OL a reader reads a node [`READ_TRIES`](crate::olfit::tree::READ_TRIES) times
//! before it takes its latch, so writers can't block it forever. A panic can't leave a latch held: no code
//! of the caller runs under one. Versions of 32 bits may in theory wrap while a reader sleeps; see
//! [`OptimisticLatch`](latchless_core::latch::OptimisticLatch) for the odds.

mod catalogue;
mod map;
pub mod node;
mod options;
mod ordered;
mod reading;
pub mod shared_latch;
pub mod tree;

pub use catalogue::{Member, build, build_traced};
pub use map::{OlfitMap, Quiet};
pub use options::Options;
pub use reading::Reading;

/// A paused scan over a map of the family: see [`OlfitMap::scanner`].
pub type Scan<'a, K, V, D> = crate::common::scan::Scan<'a, K, V, OlfitTree<D>>;
/// An iterator over a range of a map of the family: see [`OlfitMap::range`].
pub type Entries<'a, K, V, D> = crate::common::scan::Entries<'a, K, V, OlfitTree<D>>;

use crate::olfit::tree::OlfitTree;

pub use crate::olfit::node::{
    BPlus, Concurrent, CsbPlus, Family, Kind, LockCoupling, Olfit, OlfitAtOnce, OlfitPrefetched, OneLatch,
    Scheme, VersionedNodes, VersionedTree, Without,
};
