//! Ordered indexes in main memory. The one to use is [`Index`]: an ordered map that many threads read
//! and change at once.
//!
//! ```
//! use latchless::Index;
//!
//! let prices = Index::<u64, u32>::new()?;
//! for (item, price) in [(101, 7), (99, 5), (105, 3), (250, 9)] {
//!     prices.insert(item, price)?; // Through `&self`, from any thread.
//! }
//! assert_eq!(prices.get(99), Some(5));
//! assert_eq!(prices.floor(104), Some((101, 7)));
//! assert_eq!(prices.upsert(99, |price| price.unwrap_or(0) + 1)?, Some(5));
//! for (item, price) in prices.range(100..200)? {
//!     println!("item {item} costs {price}");
//! }
//! // Many lookups at once take a fraction of the time of as many single ones.
//! assert_eq!(prices.get_all(&[250, 251, 99]), [Some(9), None, Some(6)]);
//! # Ok::<(), latchless::Error>(())
//! ```
//!
//! Keys are of fixed width ([`Key`]), values `Copy` and of at most eight bytes ([`Value`]); for values
//! of any other type there is [`BoxedIndex`]. [`mod@index`] says what operations cost, what is
//! guaranteed when threads meet, and how one thread alone saves the latches. `docs/api-parity.md`
//! stands the API beside those of `BTreeMap` and `SkipMap`.
//!
//! # How it is built
//! The index and those of the papers that it learnt from ([`variants`]) are made of floors, each
//! importing only from the ones before it:
//!
//! | floor | meaning |
//! |---|---|
//! | [`sync`] | the atomics that latches are made of |
//! | [`base`] | keys and their order-keeping bits, values, requests and replies, the [`OrderedIndex`](base::index::OrderedIndex) trait, errors |
//! | [`mem`] | cache lines, prefetch, the node arenas, slots for values of any type, the touch hook of the memory-hierarchy model |
//! | [`search`] | in-node search kernels and their run-time dispatch |
//! | [`latch`] | the optimistic latch, a version word a node; the shared latch |
//! | [`node`] | what a node looks like: shape, layout, inner nodes, leaves, node groups |
//! | [`walk`] | one descent, step by step; what it asks for ahead of use |
//! | [`layer`] | index layers: the lanes of the Cache-Sensitive Skip List, PI's entries with routing tables |
//! | [`chain`] | what strings leaves together: jump-pointer arrays, the sweeping path |
//! | [`tree`] | the tree algorithms, one a file; [`tree::blink`] is the concurrent tree under [`Index`], [`tree::olfit`] runs under six concurrency-control schemes, [`tree::olc`] under optimistic lock coupling |
//! | [`batch`] | the order of a batch by key, where it may be cut, its edits side by side; many walks interleaved |
//! | [`variants`] | the indexes of the papers, assembled from the floors |
//! | [`mod@index`] | [`Index`]: the operations, iterators, cursors and batches over the concurrent tree |

/// The README's example is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

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
pub mod layer;
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
pub mod walk;

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
#[cfg(not(loom))]
pub use index::{BoxedIndex, Index, TryInsertError};
