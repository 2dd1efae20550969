//! The parts that latchless' indexes are made of. **There is no stability promise**: depend on `latchless`.
//!
//! | module | meaning |
//! |---|---|
//! | [`base`] | keys and their order-keeping bits, values, requests and replies, the [`OrderedIndex`](base::index::OrderedIndex) trait, errors |
//! | [`sync`] | the atomics that latches are made of |
//! | [`latch`] | the optimistic latch: one word that is a latch to writers and a version to readers |
//! | [`mem`] | cache lines, prefetch, regions that grow, pools of nodes, the tracing hook of the memory-hierarchy model |
//! | [`search`] | in-node search kernels and their run-time dispatch |
//! | [`batch`] | the order of a batch by key, and where it may be cut |
//! | [`bulk`] | bulk loads: whether keys ascend, and which entries go to which node of a level |
//! | [`tuner`] | how many requests to have under way at once, found by trying |

// Under loom only what it checks is there: its atomics are larger than a node's words.
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
