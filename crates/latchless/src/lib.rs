//! Ordered indexes in main memory.
//!
//! Every index here keeps fixed-width keys in order and answers point requests, range scans and
//! updates. They are built from shared floors, each importing only from the ones before it:
//!
//! | floor | meaning |
//! |---|---|
//! | [`sync`] | the atomics that latches are made of |
//! | [`base`] | keys and their order-keeping bits, values, requests and replies, the [`OrderedIndex`] trait, errors |
//! | [`mem`] | cache lines, prefetch, the node arena, the touch hook of the memory-hierarchy model |
//! | [`search`] | in-node search kernels and their run-time dispatch |
//! | [`latch`] | the optimistic latch: a version word a node |
//! | [`node`] | what a node looks like: shape, layout, inner nodes, leaves, node groups |
//! | [`chain`] | what strings leaves together: jump-pointer arrays, the sweeping path |
//! | [`tree`] | the tree algorithms, one a file |
//! | [`batch`] | the order of a batch by key, where it may be cut |
//! | [`variants`] | the indexes of the papers, assembled from the floors |
//!
//! If you want an index to use, start at [`variants::pb_tree`]; everything else is how it is built.

// Under loom only what it checks is there: its atomics are larger than a node's words.
#[cfg(not(loom))]
pub mod base;
#[cfg(not(loom))]
pub mod batch;
#[cfg(not(loom))]
pub mod chain;
#[cfg(not(loom))]
pub mod index;
pub mod latch;
#[cfg(not(loom))]
pub mod mem;
#[cfg(not(loom))]
pub mod node;
#[cfg(not(loom))]
pub mod search;
pub mod sync;
#[cfg(all(test, not(loom)))]
mod testing;
#[cfg(not(loom))]
pub mod tree;
#[cfg(not(loom))]
pub mod variants;

#[cfg(not(loom))]
pub use base::error::{Error, Result};
#[cfg(not(loom))]
pub use base::fill::FillFactor;
#[cfg(not(loom))]
pub use base::index::{Direction, OrderedIndex};
#[cfg(not(loom))]
pub use base::key::Key;
#[cfg(not(loom))]
pub use base::value::{Fits, Value};
#[cfg(not(loom))]
pub use index::{BoxedIndex, Index, TryInsertError};
