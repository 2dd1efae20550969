//! The structures of five papers about ordered indexes in main memory, one folder for each.
//!
//! | module | paper |
//! |---|---|
//! | [`pb_tree`] | Chen, Gibbons, Mowry: *Improving Index Performance through Prefetching*, SIGMOD 2001 |
//! | [`olfit`] | Cha, Hwang, Kim, Kwon: *Cache-Conscious Concurrency Control of Main-Memory Indexes on Shared-Memory Multiprocessor Systems*, VLDB 2001 |
//! | [`cssl`] | Sprenger, Zeuch, Leser: *Cache-Sensitive Skip List: Efficient Range Queries on modern CPUs*, 2016 |
//! | [`pi`] | Xie, Cai, Jagadish, Ooi, Wong: *PI: a Parallel in-memory skip list based Index*, 2016 |
//! | [`spiderman`] | Vu: *Software Prefetching and Request Multiplexing to Mask Memory Accesses in B+trees*, 2023 |
//! | [`common`] | code that at least two of them share |
//!
//! All of them implement [`OrderedIndex`](latchless_core::base::index::OrderedIndex). The recommended
//! index is `latchless::Index`, which combines their ideas.
#![cfg_attr(loom, allow(dead_code))]

#[cfg(not(loom))]
pub mod common;
#[cfg(all(feature = "cssl", not(loom)))]
pub mod cssl;
#[cfg(not(loom))]
pub mod error;
#[cfg(all(
    test,
    feature = "cssl",
    feature = "olfit",
    feature = "pb-tree",
    feature = "pi",
    feature = "spiderman",
    not(loom)
))]
mod extremes;
#[cfg(all(feature = "olfit", not(loom)))]
pub mod olfit;
#[cfg(all(feature = "pb-tree", not(loom)))]
pub mod pb_tree;
#[cfg(all(feature = "pi", not(loom)))]
pub mod pi;
#[cfg(all(feature = "spiderman", not(loom)))]
pub mod spiderman;

#[cfg(not(loom))]
pub use error::{Error, Result};

// Under loom only the model-checked protocols are compiled: its atomics are larger than a node's words.
#[cfg(loom)]
#[path = "common/epochs.rs"]
pub mod epochs;
#[cfg(loom)]
#[path = "cssl/link.rs"]
pub mod link;
#[cfg(loom)]
#[path = "olfit/shared_latch.rs"]
pub mod shared_latch;
