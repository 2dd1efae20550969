//! The building blocks of latchless' indexes. **Depend on `latchless`**: what it re-exports from here is as
//! stable as `latchless` is, and all else may change in any release. `latchless` requires exactly its own
//! version of this crate, so that cargo never builds one with another.
//!
//! | module | meaning |
//! |---|---|
//! | [`base`] | keys and their order-preserving bits, values, requests and replies, the [`OrderedIndex`](base::index::OrderedIndex) trait, errors |
//! | [`sync`] | the atomics that latches are built on |
//! | [`latch`] | the optimistic latch: one word that is a latch for writers and a version for readers |
//! | [`mem`] | cache lines, prefetch, growing regions, node pools, the tracing hook of the memory-hierarchy model |
//! | [`search`] | in-node search kernels and their run-time dispatch |
//! | [`batch`] | the order of a batch by key, and the places where it may be cut |
//! | [`bulk`] | bulk loads: checks of the order, and the distribution of entries to the nodes of each level |
//! | [`tuner`] | the number of requests that descend together, found by measurement |

// Under loom only the modules that it checks exist: its atomics are larger than a node's words.
#[cfg(not(loom))]
pub mod base;
#[cfg(not(loom))]
pub mod batch;
#[cfg(not(loom))]
pub mod bulk;
pub mod latch;
#[cfg(not(loom))]
pub mod mem;
#[cfg(not(loom))]
pub mod search;
pub mod sync;
#[cfg(all(any(test, feature = "testing"), not(loom)))]
#[doc(hidden)]
pub mod testing;
#[cfg(not(loom))]
pub mod tuner;

#[cfg(not(loom))]
pub use base::bytes_key::BytesKey;
#[cfg(not(loom))]
pub use base::bytes_value::{BytesValue, WideValue};
#[cfg(not(loom))]
pub use base::error::{Error, Result};
#[cfg(not(loom))]
pub use base::fill::FillFactor;
#[cfg(not(loom))]
pub use base::index::Direction;
#[cfg(not(loom))]
pub use base::key::Key;
#[cfg(not(loom))]
pub use base::value::{Fits, Value};
